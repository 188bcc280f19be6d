"""After learning: calibrate on leave-one-out scores, and note how familiar rows usually are and how well it all did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from candide.batch import Batch
from candide.choosing.calibrating import calibrated
from candide.choosing.tenths import judged
from candide.familiarity import Familiarity
from candide.leave_one_out import LeftOut
from candide.measures import bin_of, calibration_error, mean_loss
from candide.model import Priors
from candide.summary import Summary
from candide.tuning import UNTUNED, Tuning

FEWEST_ROWS = 50
"""With fewer rows nothing is chosen and nothing calibrated."""

MOST_ROWS = 20_000
CELLS = 30_000_000
"""At most so many rows, and so many (row, class, block) cells, are looked at: the latter are 240 MB."""


def tune(
    summary: Summary, batches: Sequence[Batch], priors: Priors = "empirical", class_weight: Priors | None = None
) -> Tuning:
    """What leave-one-out scores of these rows teach; nothing where rows are few or classes one."""
    if sum(len(batch) for batch in batches) < FEWEST_ROWS or len(summary.classes) < 2 or not summary.blocks:
        return UNTUNED
    some = affordable(summary, batches)
    rows = LeftOut.joined(judged(summary, batch, priors, class_weight) for batch in some)
    calibration = calibrated(rows, summary.classes, summary.blocks)
    familiarity = Familiarity.of(summary.blocks, rows.familiarity, rows.observed, rows.weights)
    raw = rows.posterior(None, summary.classes, summary.blocks)
    reported = rows.posterior(calibration, summary.classes, summary.blocks)
    record = {**figures(reported, rows), "raw_log_loss": mean_loss(raw, rows.labels, rows.weights)}
    return Tuning(calibration, familiarity, record)


def affordable(summary: Summary, batches: Sequence[Batch]) -> Iterator[Batch]:
    """As many of the rows as fit the budget, the first ones: their order is as good as shuffled."""
    room = max(FEWEST_ROWS, min(MOST_ROWS, CELLS // (len(summary.classes) * len(summary.blocks))))
    for batch in batches:
        yield batch.rows(0, min(room, len(batch)))
        room -= min(room, len(batch))
        if not room:
            return


def figures(log_posterior: Any, rows: LeftOut) -> dict[str, Any]:
    """Leave-one-out quality in a few numbers."""
    top = np.exp(log_posterior.max(axis=1))
    right = (log_posterior.argmax(axis=1) == rows.labels) & ~rows.vanished
    place = bin_of(top)
    sums = [np.bincount(place, rows.weights * part, 15) for part in (np.ones_like(top), right, top)]
    return {
        "rows": len(rows.labels),
        "accuracy": float((rows.weights * right).sum() / rows.weights.sum()),
        "log_loss": mean_loss(log_posterior, rows.labels, rows.weights),
        "calibration_error": calibration_error(*sums),
        "vanished": int(rows.vanished.sum()),
    }
