"""A contest of families for one column, by what is remembered of it: no row is read again.

All rows of a class that have the same value, or numbers in the same cell, are alike, so one of them is left out for
all. A family that chooses when it is fitted, as a histogram does its intervals, is fitted anew without each of ten
folds, into which the rows of every value are dealt: what was chosen from rows must not be judged by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.batch import Batch
from candide.data.grid import quantized_number
from candide.data.metrics import mean_loss
from candide.families.base.alike_rows import AlikeRows
from candide.families.base.block_rows import BlockRows
from candide.families.base.family import AnyFamily, Block
from candide.families.base.leave_one_out import statistic_of
from candide.kernels.hashing import mix_all
from candide.model.predictor import log_normalised
from candide.model.summary import NO_WEIGHTS, Summary
from candide.selection.folds import FOLDS
from candide.selection.leave_one_out import priors_without
from candide.selection.look import RememberedColumn

DEALT_ONE_BY_ONE = 250
"""Rows alike beyond so many are dealt evenly: chance would hardly do otherwise."""

MOST_COMPARED, FEWEST_CELLS = 4_000_000, 64
"""Cells are joined where a contest would compare more (cell, class, class) triples than this, but to no fewer cells."""

MOST_SCORED = 8_000_000
"""Of very many kinds of rows and classes, some kinds judge for all: no more (kind, class) pairs than this."""


@dataclass(frozen=True)
class Result:
    """A candidate and its log loss when it alone, with the prior, judges rows left out."""

    family: AnyFamily
    loss: float


@dataclass(frozen=True, eq=False)
class ColumnContest:
    """Kinds of rows alike: a value, a class, how many rows there are, and the log prior without one of them."""

    values: Batch
    labels: IntArray
    counts: IntArray
    prior: FloatArray

    @classmethod
    def of(cls, column: RememberedColumn, summary: Summary) -> ColumnContest:
        """The rows of a column; the summary counts all rows, those that lack a value too, which then says nothing."""
        cells = column.cells.with_at_most(max(FEWEST_CELLS, MOST_COMPARED // len(summary.classes) ** 2))
        return cls.of_rows(AlikeRows.of_parts(column.name, cells, column.kept.others, summary.weighed), summary)

    @classmethod
    def of_rows(cls, rows: AlikeRows, summary: Summary) -> ColumnContest:
        """Rows alike that are all rows of a summary."""
        counts, classes = whole_counts(rows.weights), len(summary.classes)
        totals = np.bincount(rows.labels, counts, minlength=classes).astype(np.int64)
        prior = priors_without(replace(summary, units=totals, bits=0), np.arange(classes), NO_WEIGHTS)
        return cls(rows.batch.read_once(), rows.labels, counts, prior[rows.labels])

    @property
    def prior_loss(self) -> float:
        """The log loss of the prior alone."""
        return self._mean(np.zeros(self.prior.shape), np.arange(len(self.labels)), self.counts)

    def loss(self, block: Block) -> float:
        """The log loss of a family and the prior on rows left out, on the grid."""
        family, columns = block.family, block.columns
        rows = BlockRows.of(family, columns, self.values, self.labels, self.counts)
        seen = statistic_of(family, columns, rows, self.prior.shape[1])
        if family.chooses:
            return self._loss_in_folds(block, rows, seen)
        some = self._judging()
        asked = rows.take(family, columns, some) if len(some) < len(self.labels) else rows
        said = family.leave_one_out(seen, columns).scores(replace(asked, weights=NO_WEIGHTS)).score
        return self._mean(said, some, self.counts[some])

    def _judging(self) -> IntArray:
        """The kinds of rows that judge: all of them, or some picked by a hash of their number."""
        kinds, most = len(self.labels), max(MOST_SCORED // self.prior.shape[1], FOLDS)
        if kinds <= most:
            return np.arange(kinds)
        return np.sort(np.argsort(mix_all(np.arange(kinds, dtype=np.uint64)))[:most])

    def _loss_in_folds(self, block: Block, rows: BlockRows[Any], seen: Any) -> float:
        family, columns = block.family, block.columns
        judging = np.zeros(len(self.labels), dtype=bool)
        judging[self._judging()] = True
        folds = [(np.flatnonzero(fold), fold[fold > 0]) for fold in dealt(self.counts)]
        kinds, counts, scores = [], [], []
        for here, held in folds:
            some = replace(rows.take(family, columns, here), weights=held)
            rest = seen - statistic_of(family, columns, some, seen.classes)
            asked = np.flatnonzero(judging[here])
            said = np.zeros((len(asked), seen.classes))
            family.score(family.fit(rest, columns), rows.take(family, columns, here[asked]).values, said)
            kinds.append(here[asked])
            counts.append(held[asked])
            scores.append(said)
        return self._mean(np.concatenate(scores), np.concatenate(kinds), np.concatenate(counts))

    def _mean(self, said: FloatArray, kinds: IntArray, counts: IntArray) -> float:
        prior = self.prior[kinds]
        posterior = log_normalised(prior + said, prior)
        return quantized_number(mean_loss(posterior, self.labels[kinds], counts.astype(np.float64)))


def contest(column: RememberedColumn, summary: Summary, entrants: Sequence[AnyFamily]) -> list[Result]:
    """The entrants by their log loss on rows left out, best first; the earlier of equals."""
    usual, found = ColumnContest.of(column, summary), []
    for family in entrants:
        own = family.judging_rows(column.kept, column.name, summary.weighed)
        judged = usual if own is None else ColumnContest.of_rows(own, summary)
        found.append(Result(family, judged.loss(Block(family, (column.name,)))))
    return sorted(found, key=lambda result: result.loss)


def whole_counts(weights: AnyArray) -> IntArray:
    """How many rows there are of each kind: as few as have these proportions, so that rows repeated are no evidence.

    Weights that are not whole are rounded, and light ones made one on average.

    >>> whole_counts(np.array([30, 10])).tolist(), whole_counts(np.array([0.001, 0.003])).tolist()
    ([3, 1], [1, 2])
    """
    if weights.dtype.kind == "i":
        return np.asarray(weights // max(np.gcd.reduce(weights), 1))
    return np.maximum(np.rint(weights / min(1.0, weights.mean())), 1.0).astype(np.int64)


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
