"""A contest of families for one column of numbers, by its cells alone: no row is read again.

All rows of a class whose numbers lie in one cell are alike, so one of them is left out for all. A family that chooses
when it is fitted, as a histogram does its intervals, is fitted anew without each of ten folds, into which the rows of
every cell are dealt: what was chosen from rows must not be judged by them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.data.batch import Batch
from candide.data.grid import quantized_number
from candide.data.metrics import mean_loss
from candide.families.base.block_rows import BlockRows
from candide.families.base.family import Block
from candide.families.base.leave_one_out import statistic_of
from candide.kernels.hashing import mix_all
from candide.model.predictor import log_normalised
from candide.model.summary import NO_WEIGHTS, Summary
from candide.selection.folds import FOLDS
from candide.selection.leave_one_out import known_labels, priors_without
from candide.statistics.cells import Cells

DEALT_ONE_BY_ONE = 250
"""Rows alike beyond so many are dealt evenly: chance would hardly do otherwise."""

MOST_COMPARED, FEWEST_CELLS = 4_000_000, 64
"""Cells are joined where a contest would compare more (cell, class, class) triples than this, but to no fewer cells."""


@dataclass(frozen=True, eq=False)
class CellContest:
    """Kinds of rows alike: a number, a class, how many rows there are, and the log prior without one of them."""

    numbers: Batch
    labels: IntArray
    counts: IntArray
    prior: FloatArray

    @classmethod
    def of(cls, column: Batch) -> CellContest:
        """The rows of one column of numbers, each of weight one; missing numbers say nothing."""
        summary, numbers = Summary.of((), column), column.numbers(column.names)[:, 0]
        there = np.where(np.isfinite(numbers), numbers, np.nan)
        cells = Cells.of(there, known_labels(summary, column), len(summary.classes))
        return cls.of_cells(column.names[0], cells, summary)

    @classmethod
    def of_cells(cls, column: str, cells: Cells, summary: Summary) -> CellContest:
        """The numbers of a column as its cells tell them; the summary counts all rows, those that lack one too."""
        cells = cells.with_at_most(MOST_COMPARED // cells.classes**2)
        kinds = np.concatenate([cells.units, (summary.units - cells.units.sum(axis=0))[None]])
        lines, labels = np.nonzero(kinds)
        prior = priors_without(summary, np.arange(cells.classes), NO_WEIGHTS)
        numbers = Batch.of({column: np.append(cells.middle, np.nan)[lines]}).read_once()
        return cls(numbers, labels, kinds[lines, labels], prior[labels])

    def loss(self, block: Block) -> float:
        """The log loss of a family and the prior on rows left out, on the grid."""
        family, columns = block.family, block.columns
        rows = BlockRows.of(family, columns, self.numbers, self.labels, self.counts)
        seen = statistic_of(family, columns, rows, self.prior.shape[1])
        if family.chooses:
            return self._loss_in_folds(block, rows, seen)
        said = family.leave_one_out(seen, columns).scores(replace(rows, weights=NO_WEIGHTS)).score
        return self._mean(said, np.arange(len(self.labels)), self.counts)

    def _loss_in_folds(self, block: Block, rows: BlockRows[Any], seen: Any) -> float:
        family, columns = block.family, block.columns
        folds = [(np.flatnonzero(fold), fold[fold > 0]) for fold in dealt(self.counts)]
        scores = []
        for here, counts in folds:
            some = replace(rows.take(family, columns, here), weights=counts)
            said = np.zeros((len(here), seen.classes))
            rest = seen - statistic_of(family, columns, some, seen.classes)
            family.score(family.fit(rest, columns), some.values, said)
            scores.append(said)
        kinds, counts = (np.concatenate(parts) for parts in zip(*folds, strict=True))
        return self._mean(np.concatenate(scores), kinds, counts)

    def _mean(self, said: FloatArray, kinds: IntArray, counts: IntArray) -> float:
        prior = self.prior[kinds]
        posterior = log_normalised(prior + said, prior)
        return quantized_number(mean_loss(posterior, self.labels[kinds], counts.astype(np.float64)))


def is_affordable(classes: int) -> bool:
    """Whether so many classes can be compared in cells that are worth it.

    >>> is_affordable(100), is_affordable(1000)
    (True, False)
    """
    return FEWEST_CELLS * classes**2 <= MOST_COMPARED


def dealt(counts: IntArray) -> IntArray:
    """How many rows of each kind fall into each fold, [fold, kind]: by a hash of their number.

    >>> dealt(np.array([3, 1000])).sum(axis=0).tolist()
    [3, 1000]
    """
    evenly = np.maximum(counts - DEALT_ONE_BY_ONE, 0) // FOLDS
    rest = counts - FOLDS * evenly
    folds = (mix_all(np.arange(rest.sum(), dtype=np.uint64)) % np.uint64(FOLDS)).astype(np.int64)
    kinds = np.repeat(np.arange(len(counts)), rest)
    lots = np.bincount(folds * len(counts) + kinds, minlength=FOLDS * len(counts))
    return np.asarray(lots.reshape(FOLDS, len(counts)) + evenly)
