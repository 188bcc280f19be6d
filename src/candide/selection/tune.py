"""After learning: calibrate on leave-one-out scores, and note how familiar rows usually are and how well it all did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from candide.data.batch import Batch
from candide.data.metrics import mean_loss
from candide.data.progress import Size, Watch, counted, unwatched
from candide.engines.protocol import Engine
from candide.model.calibration import Calibration
from candide.model.predictor import Priors
from candide.model.quality import Point, Quality
from candide.model.summary import Summary
from candide.model.tuning import UNTUNED, Tuning
from candide.selection.fit_calibration import calibrated
from candide.selection.fit_novelty import novelty_of
from candide.selection.leaks import Leak, leaks
from candide.selection.learning_curve import learning_curve
from candide.selection.leave_one_out import LeaveOneOut, LeftOut, prepared_blocks
from candide.selection.read_off import FEWEST_ROWS
from candide.selection.scored_rows import scored_without

MOST_ROWS = 20_000
CELLS = 30_000_000
"""At most so many rows, and so many (row, class, block) cells, are looked at: the latter are 240 MB."""


def tune(
    summary: Summary,
    batches: Sequence[Batch],
    engine: Engine,
    priors: Priors = "empirical",
    class_weight: Priors | None = None,
    watch: Watch = unwatched,
) -> tuple[Tuning, list[Leak]]:
    """What leave-one-out scores of these rows teach, and which columns they show to give the label away.

    Nothing where rows are few or classes one.
    """
    if sum(len(batch) for batch in batches) < FEWEST_ROWS or len(summary.classes) < 2 or not summary.blocks:
        return UNTUNED, []
    some = [batch if batch.readings is not None else batch.read_once() for batch in affordable(summary, batches)]
    with watch("Leaving rows out", Size(len(some), "batches")) as report:
        is_all = len(some) == 1 and weigh_alike(summary, some[0])
        prepared = prepared_blocks(summary, engine) if len(some) > 1 else {}
        leaving = [LeaveOneOut.of(summary, batch, priors, class_weight, prepared, is_all) for batch in some]
        rows = LeftOut.joined(batch.in_folds(engine=engine) for batch in counted(leaving, report))
    with watch("Calibrating", Size(None, "steps")):
        calibration = calibrated(rows, summary.classes, summary.blocks)
        novelty = novelty_of(summary.blocks, rows, some)
        curve = learning_curve(leaving, calibration, engine, priors, class_weight)
        measured = quality(summary, rows, calibration, curve)
        return Tuning(calibration, novelty, measured, summary.rows), leaks(summary, rows)


def weigh_alike(summary: Summary, rows: Batch) -> bool:
    """Whether rows, all of which the summary has learned, are all that it has learned."""
    alone = Summary.of((), rows)
    return alone.classes == summary.classes and alone.weighed == summary.weighed


def affordable(summary: Summary, batches: Sequence[Batch]) -> Iterator[Batch]:
    """As many of the rows as fit the budget, evenly from all over: they may come in the order of a sorted file."""
    room = max(FEWEST_ROWS, min(MOST_ROWS, CELLS // (len(summary.classes) * len(summary.blocks))))
    total = sum(map(len, batches))
    if total <= room:
        yield from batches
        return
    wanted, start = np.arange(room) * total // room, 0
    for batch in batches:
        here = wanted[(wanted >= start) & (wanted < start + len(batch))] - start
        if len(here):
            yield batch.take(here)
        start += len(batch)


def quality(
    summary: Summary, rows: LeftOut, calibration: Calibration, curve: tuple[Point, ...]
) -> Quality:
    """How well it did without each row, by its own calibration: a handful of numbers among many rows."""
    score = scored_without(rows, summary, calibration, np.arange(len(rows.labels)), suspects=0)
    found = score.evaluation("leave-one-out", None, summary.classes)
    raw = rows.posterior(None, summary.classes, summary.blocks)
    last = Point(summary.rows, found.rows, found.accuracy, found.log_loss)
    return Quality.of(found, mean_loss(raw, rows.labels, rows.weights), (*curve, last))
