"""The learning curve of a model: how good its answers are with half of its rows, a quarter, an eighth, ...

Summaries add up, so half the rows are learned by adding the second quarter to the first: all points together cost one
pass of learning. Each point is judged by rows that come after, which it never saw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np

from candide.data.arrays import IntArray
from candide.data.metrics import UNIT
from candide.data.values import Coded
from candide.engines.protocol import Engine
from candide.kernels.hashing import mix_all
from candide.model.calibration import Calibration
from candide.model.predictor import Predictor, Priors, log_normalised
from candide.model.quality import Point
from candide.model.scoring import LabelledPosteriors, Score
from candide.model.summary import Summary
from candide.selection.leave_one_out import LeaveOneOut
from candide.selection.scored_rows import CELLS_AT_ONCE

FEWEST_LEARNED = 20
ENOUGH_JUDGED = 2000
"""A point is judged by as many rows as it learned, but at least by so many if there are."""


def learning_curve(
    leaving: Sequence[LeaveOneOut],
    calibration: Calibration,
    engine: Engine,
    priors: Priors = "empirical",
    class_weight: Priors | None = None,
) -> tuple[Point, ...]:
    """Points at ever half as many of these rows, few rows first; blocks and calibration are the model's own."""
    summary, total = leaving[0].summary, sum(len(rows.labels) for rows in leaving)
    order = np.argsort(mix_all(np.arange(total, dtype=np.uint64)))
    learned, done, points = Summary.empty(summary.blocks, summary.classes), 0, []
    for size in sizes(total, len(summary.classes)):
        new = (rows.learned(wanted, engine) for rows, wanted in parted(leaving, order[done:size]))
        learned = reduce(add, new, learned)
        model = Predictor.fit(learned, priors, class_weight, calibration)
        points.append(point(model, size, parted(leaving, order[size : size + max(size, ENOUGH_JUDGED)]), engine))
        done = size
    return tuple(points)


def sizes(total: int, classes: int) -> list[int]:
    """How many rows the points have learned.

    >>> sizes(300, 2)
    [37, 75, 150]
    """
    found, least = list[int](), max(FEWEST_LEARNED, 2 * classes)
    while (total := total // 2) >= least:
        found.append(total)
    return found[::-1]


Some = tuple[LeaveOneOut, IntArray]
"""Rows, and which of them."""


def parted(leaving: Sequence[LeaveOneOut], indices: IntArray) -> list[Some]:
    """Which rows of each are at some places of all together."""
    stops = np.cumsum([0, *(len(rows.labels) for rows in leaving)]).tolist()
    here = [np.sort(indices[(indices >= start) & (indices < stop)]) - start for start, stop in pairwise(stops)]
    return [(rows, wanted) for rows, wanted in zip(leaving, here, strict=True) if len(wanted)]


def point(model: Predictor, size: int, scored: Sequence[Some], engine: Engine) -> Point:
    """How good the answers are on rows that were not learned."""
    at_once = max(1, CELLS_AT_ONCE // len(model.classes))
    pieces = [
        (rows, wanted[start : start + at_once]) for rows, wanted in scored for start in range(0, len(wanted), at_once)
    ]
    score = sum(engine.map(NotLearned(model), pieces), Score(most=0))
    judged = sum(score.pairs.values())
    right = sum(rows for (truth, answer), rows in score.pairs.items() if truth == answer)
    return Point(size, judged, right / judged, score.loss / UNIT / judged)


@dataclass(frozen=True)
class NotLearned:
    """Compares a model's answers with the labels of rows that it has not learned, read before."""

    model: Predictor

    def __call__(self, some: Some) -> Score:
        """How good the answers are."""
        rows, wanted = some
        values = (rows.rows(block).take(block.family, block.columns, wanted).values for block in self.model.blocks)
        log_posterior = log_normalised(self.model.reported_of(values, len(wanted)), self.model.log_prior)
        labels = rows.labels[wanted]
        truths = Coded(labels, self.model.classes)
        weights = rows.row_weights[wanted]
        answers = LabelledPosteriors(self.model.classes, log_posterior, truths, labels, weights, wanted)
        return Score.of(answers, most=0, ranked=False)
