"""Rows judged without their tenth: for families that also choose when they are fitted.

Leave-one-out holds choices fixed. A histogram chose its intervals with the row among the others, so what it then says
of the row is a little too good, and whatever is fitted on it too sure. Summaries subtract: without a tenth of the rows
the intervals are found anew, ten times, and every row is judged by intervals it had no part in.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.batch import Batch
from candide.engines.protocol import Engine
from candide.families.base.family import AnyFamily, Block
from candide.model.predictor import Priors
from candide.model.summary import Summary, grid_weights
from candide.selection.leave_one_out import LeftOut, leave_each_out

PARTS = 10


def judged(
    summary: Summary,
    rows: Batch,
    engine: Engine,
    priors: Priors = "empirical",
    class_weight: Priors | None = None,
) -> LeftOut:
    """Every row left out; blocks that choose when fitted are fitted without its tenth. Rows are as good as shuffled."""
    left = LeftOut.joined(leave_each_out(summary, [rows], engine, priors, class_weight))
    terms = left.terms
    for place, (block, seen) in enumerate(zip(summary.blocks, summary.statistics, strict=True)):
        if block.family.chooses:
            terms[place] = 0.0
            without_tenths(block, seen, rows, left.labels, terms[place])
    return replace(left, terms=terms)


def without_tenths(block: Block, seen: Any, rows: Batch, labels: IntArray, joint: FloatArray) -> None:
    """Add what a block says of each row when fitted without the row's tenth."""
    family, columns, weights = block.family, block.columns, grid_weights(rows)
    rows = rows.only(columns)
    for part in range(PARTS):
        here = np.arange(part, len(labels), PARTS)
        some = rows.take(here)
        rest = seen - statistic(family, some, columns, labels[here], weights[here] if weights.size else weights, seen)
        said = np.zeros((len(here), joint.shape[1]))
        family.score(family.fit(rest, columns), family.view(some, columns), said)
        joint[here] += said


def statistic(
    family: AnyFamily, rows: Batch, columns: tuple[str, ...], labels: IntArray, weights: AnyArray, like: Any
) -> Any:
    """What some rows leave behind, over the same classes."""
    builder = family.builder(columns, like.classes)
    family.learn(builder, family.read(rows, columns), labels, weights)
    return builder.freeze()
