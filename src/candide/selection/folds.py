"""Rows judged without their fold: for families that also choose when they are fitted.

Leave-one-out holds choices fixed. A histogram chose its intervals with the row among the others, so what it then says
of the row is a little too good, and whatever is fitted on it too sure. Summaries subtract: without a fold of the rows
the intervals are found anew, ten times, and every row is judged by intervals it had no part in.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.batch import Batch
from candide.families.base.family import AnyFamily, Block
from candide.model.summary import grid_weights

FOLDS = 10


def score_without_folds(block: Block, seen: Any, rows: Batch, labels: IntArray) -> FloatArray:
    """What a block says of each row when fitted without the row's fold, [row, class]."""
    family, columns, weights = block.family, block.columns, grid_weights(rows)
    rows, score = rows.only(columns), np.zeros((len(labels), seen.classes))
    for fold in range(FOLDS):
        here = np.arange(fold, len(labels), FOLDS)
        some = rows.take(here)
        rest = seen - statistic(family, some, columns, labels[here], weights[here] if weights.size else weights, seen)
        said = np.zeros((len(here), seen.classes))
        family.score(family.fit(rest, columns), family.view(some, columns), said)
        score[here] = said
    return score


def statistic(
    family: AnyFamily, rows: Batch, columns: tuple[str, ...], labels: IntArray, weights: AnyArray, like: Any
) -> Any:
    """What some rows leave behind, over the same classes."""
    builder = family.builder(columns, like.classes)
    family.learn(builder, family.read(rows, columns), labels, weights)
    return builder.freeze()
