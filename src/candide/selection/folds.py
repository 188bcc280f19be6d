"""Rows judged without their fold: for families that also choose when they are fitted.

Leave-one-out holds choices fixed. A histogram chose its intervals with the row among the others, so what it then says
of the row is a little too good, and whatever is fitted on it too sure. Summaries subtract: without a fold of the rows
the intervals are found anew, ten times, and every row is judged by intervals it had no part in.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from candide.data.arrays import IntArray
from candide.families.base.block_rows import BlockRows
from candide.families.base.block_scores import BlockScores
from candide.families.base.family import Block
from candide.families.base.leave_one_out import statistic_of

FOLDS = 10
CHOICES = 5
"""How often choices are made anew: each time without two of the folds of families that choose at fit."""

FEW_ROWS = 1000
"""Of so many rows, one says next to nothing about how far to trust evidence, or how much to smooth it."""


def scores_without_folds(block: Block, seen: Any, rows: BlockRows[Any], folds: IntArray) -> BlockScores:
    """All that a block says of each row when fitted without the row's fold; the length is that of the row as it is."""
    family, columns, shape = block.family, block.columns, (len(rows), seen.classes)
    length = np.broadcast_to(family.evidence_length(None, rows.values), shape[:1])
    at_once = family.said_without_folds(seen, rows.values, rows.labels, rows.weights, folds)
    if at_once is not None:
        return BlockScores(*at_once, length, np.zeros(len(rows)))
    score, likelihood, unseen = np.zeros(shape), np.zeros(shape), np.zeros(len(rows))
    for fold in range(FOLDS):
        here = np.flatnonzero(folds == fold)
        some = rows.take(family, columns, here)
        anew, rest = family.chosen_from(seen - statistic_of(family, columns, some, seen.classes), seen)
        said = anew.assess(anew.fit(rest, columns), some.values, (len(here), seen.classes))
        score[here], likelihood[here], unseen[here] = said.score, said.log_likelihood, said.unseen
    return BlockScores(score, likelihood, length, unseen)


def dealt_by_label(labels: IntArray, deal: int = 0) -> IntArray:
    """The fold of each row: those of a class are dealt out in turn; another deal begins each turn so much later.

    >>> dealt_by_label(np.array([0, 1, 0, 1, 1])).tolist()
    [0, 2, 1, 3, 4]
    """
    folds, turn = np.empty(len(labels), dtype=np.int64), np.arange(len(labels))
    folds[np.argsort(labels, kind="stable")] = (turn + deal * (turn // FOLDS)) % FOLDS
    return folds


def choice_folds(folds: IntArray) -> list[IntArray]:
    """The rows without which choices are made, each time."""
    return [np.flatnonzero(folds % CHOICES == index) for index in range(CHOICES)]
