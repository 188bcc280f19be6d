"""Columns that give the label away: known, perhaps, only once the label is.

Such a column alone tells nearly every row's label, where all others together are far from it. It may be an honest one,
so it is named and kept: only the user knows when its values come to be known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, FloatArray
from candide.data.grid import NEAR
from candide.kernels.mistakes import weight_of_mistakes
from candide.model.summary import Summary
from candide.selection.fit_calibration import calibrated
from candide.selection.leave_one_out import LeftOut

FEWEST_ROWS = 50
NEARLY_NONE = 0.05
"""Alone, a leak leaves at most this share of the mistakes that the prior makes."""

STILL_MANY = 0.25
"""All other columns together leave at least this share of them."""

TIMES_MORE = 5.0
"""And so many times as many as the leak."""


class Leak(NamedTuple):
    """A column that tells the label by itself, and the shares of rows that it and all others tell rightly."""

    column: str
    rows: int
    own_accuracy: float
    others_accuracy: float


def leaks(summary: Summary, rows: LeftOut) -> list[Leak]:
    """Columns with a block of their own that judge left-out rows nearly perfectly, and far better than all others.

    Judged by the rows in which the column has a value, and by how often each class has one: a column that is there
    for one class only tells it by being there.
    """
    suspects = range(len(summary.blocks)) if len(summary.blocks) > 1 else ()
    return [leak for index in suspects if (leak := leak_of(summary, rows, index)) is not None]


def leak_of(summary: Summary, rows: LeftOut, index: int) -> Leak | None:
    """One block on trial: the others are calibrated without it, since beside it they may have had nothing to say."""
    block, there = summary.blocks[index], (rows.lengths[index] > 0) & (rows.weights > 0)
    if len(block.columns) > 1 or block.family.has_length or np.count_nonzero(there) < FEWEST_ROWS:
        return None
    prior = mistakes(rows, rows.prior, there)
    own = mistakes(rows, class_log_shares(rows, there) + rows.terms[index], there)
    if own > NEARLY_NONE * prior:
        return None
    rest = [other for other in range(len(summary.blocks)) if other != index]
    blocks, without = [summary.blocks[other] for other in rest], rows.blocks(rest)
    calibration = calibrated(without, summary.classes, blocks)
    others = mistakes(rows, without.reported(calibration, summary.classes, blocks), there)
    if others < max(STILL_MANY * prior, TIMES_MORE * own) or others == 0:
        return None
    return Leak(block.columns[0], int(np.count_nonzero(there)), 1 - own, 1 - others)


def class_log_shares(rows: LeftOut, wanted: AnyArray) -> FloatArray:
    """Logarithms of the shares of the classes among the wanted rows."""
    counts = np.bincount(rows.labels, rows.weights * wanted, rows.prior.shape[1])
    return np.log(np.maximum(counts, 0.5) / counts.sum())


def mistakes(rows: LeftOut, scores: FloatArray, wanted: AnyArray) -> float:
    """The share of the wanted rows that are judged wrongly by these scores, by weight."""
    weights = rows.weights * wanted
    return weight_of_mistakes(scores, rows.labels, weights, NEAR) / float(weights.sum())
