"""The learning curve of a model: how good its answers are with half of its rows, a quarter, an eighth, ...

Summaries add up, so half the rows are learned by adding the second quarter to the first: all points together cost one
pass of learning. Each point is judged by rows that come after, which it never saw.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from candide.data.arrays import IntArray
from candide.data.batch import Batch
from candide.data.metrics import UNIT
from candide.engines.protocol import Engine
from candide.kernels.hashing import mix_all
from candide.model.calibration import Calibration
from candide.model.predictor import Predictor, Priors
from candide.model.quality import Point
from candide.model.summary import Summary
from candide.selection.scored_rows import scored

FEWEST_LEARNED = 20
ENOUGH_JUDGED = 2000
"""A point is judged by as many rows as it learned, but at least by so many if there are."""


def learning_curve(
    summary: Summary,
    batches: Sequence[Batch],
    calibration: Calibration | None,
    engine: Engine,
    priors: Priors = "empirical",
    class_weight: Priors | None = None,
) -> tuple[Point, ...]:
    """Points at ever half as many of these rows, few rows first; blocks and calibration are the model's own."""
    total = sum(map(len, batches))
    order = np.argsort(mix_all(np.arange(total, dtype=np.uint64)))
    learned, done, points = Summary.empty(summary.blocks, summary.classes), 0, []
    for size in sizes(total, len(summary.classes)):
        learned = learned + engine.summarize(summary.blocks, taken(batches, order[done:size]))
        model = Predictor.fit(learned, priors, class_weight, calibration)
        judges = order[size : size + max(size, ENOUGH_JUDGED)]
        points.append(point(model, size, list(taken(batches, judges)), engine))
        done = size
    return tuple(points)


def sizes(total: int, classes: int) -> list[int]:
    """How many rows the points have learned.

    >>> sizes(300, 2)
    [37, 75, 150]
    """
    found = [total // 2]
    while found[-1] // 2 >= max(FEWEST_LEARNED, 2 * classes):
        found.append(found[-1] // 2)
    return found[::-1]


def taken(batches: Sequence[Batch], indices: IntArray) -> Iterator[Batch]:
    """The rows at some places of all batches together."""
    start = 0
    for batch in batches:
        here = indices[(indices >= start) & (indices < start + len(batch))]
        if len(here):
            yield batch.take(np.sort(here) - start)
        start += len(batch)


def point(model: Predictor, size: int, judges: Sequence[Batch], engine: Engine) -> Point:
    """How good the answers are on rows that were not learned."""
    score = scored(model, judges, engine, np.log(size + 1), suspects=0)
    judged = sum(score.pairs.values())
    right = sum(rows for (truth, answer), rows in score.pairs.items() if truth == answer)
    return Point(size, judged, right / judged, score.loss / UNIT / judged)
