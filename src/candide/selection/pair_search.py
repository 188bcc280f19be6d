"""Which pairs of columns tell more than their parts: the most promising are taken, again and again.

All candidates are ranked by what one Newton step along each would gain, given what is thought of each row so far; the
best join, all are weighed anew, and the rest are ranked by what is still to be explained.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.grid import quantized
from candide.families.pairs.pair import Pair
from candide.kernels.pair_screening import count_pair, pair_gains
from candide.kernels.pair_terms import PairCounts, add_pair_terms_without, pair_counts, rows_beside
from candide.model.predictor import normalised
from candide.selection.pair_weights import PairLoss

SIZES = (1, 2, 4, 8, 16, 32)
"""How many pairs there are after each step."""
STILL_RANKED = 128
"""So many candidates are ranked again after the first step."""
WORTH_TRYING = 2.0
"""A pair that would gain fewer nats over all rows is not tried."""
SMOOTHING = Pair.smoothing


class Weighed(NamedTuple):
    """Pairs, by the numbers of their columns, with a weight for all that columns say, and then one for each pair."""

    pairs: tuple[tuple[int, int], ...]
    weights: FloatArray


ALONE = Weighed((), np.ones(1))
"""Columns by themselves."""


@dataclass(frozen=True, eq=False)
class PairSearch:
    """Rows by the bins of their columns, and what is known of them."""

    bins: AnyArray
    """int8[column, row]: -1 where a value has no bin."""
    widths: IntArray
    """How many bins each column has."""
    candidates: IntArray
    """[pair, 2]: columns that might be a pair."""
    start: FloatArray
    """The log prior, [row, class]."""
    labels: IntArray
    weights: FloatArray
    judging: int
    """So many of the rows, the first of them, judge and weigh pairs; all are counted."""

    def begun(self, said: FloatArray, rows: IntArray) -> PairPath:
        """No pairs yet, to be found and weighed by some rows alone; `said` is what columns say, [row, class]."""
        here = self.at(rows)
        return PairPath(here, said[rows[: here.judging], :, None], self.candidates, len(rows) / here.judging - 1)

    def at(self, rows: IntArray) -> PairSearch:
        """Some of the rows, in ascending order."""
        bins, judging = np.ascontiguousarray(self.bins[:, rows]), int(np.searchsorted(rows, self.judging))
        by_row = self.start[rows], self.labels[rows], self.weights[rows]
        return PairSearch(bins, self.widths, self.candidates, *by_row, judging)

    def gains(self, pairs: IntArray, chances: FloatArray) -> FloatArray:
        """What a Newton step along each pair would gain, on the grid."""
        found = np.zeros(len(pairs))
        pair_gains(self.bins, self.widths, pairs, self.labels, self.weights, chances, SMOOTHING, found)
        return quantized(found)

    def said(self, pair: tuple[int, int]) -> FloatArray:
        """What a pair says of each row without it, [row, class]."""
        (counts, cells), said = self.counted(pair), np.zeros(self.start.shape)
        add_pair_terms_without(counts, cells, self.labels, self.weights, said)
        return said

    def rows_beside(self, pair: tuple[int, int]) -> FloatArray:
        """How many other rows are in a pair's cell of each row."""
        return rows_beside(*self.counted(pair), self.weights)

    def counted(self, pair: tuple[int, int]) -> tuple[PairCounts, IntArray]:
        """The counts of a pair, and the cell of each row."""
        (first, second), classes = pair, self.start.shape[1]
        counts, seconds = np.zeros((self.widths[first] * self.widths[second], classes)), int(self.widths[second])
        cells = count_pair(self.bins[first], self.bins[second], seconds, self.labels, self.weights, counts)
        return pair_counts(counts, seconds, SMOOTHING), cells


@dataclass(frozen=True, eq=False)
class PairPath:
    """Ever more pairs, found and weighed by some rows alone."""

    search: PairSearch
    terms: FloatArray
    """What columns and pairs say of the rows that judge, [row, class, term]."""
    ranked: IntArray
    """The candidates that are still ranked."""
    others: float
    """How many times as many rows there are that have no say."""
    steps: tuple[Weighed, ...] = ()
    is_ended: bool = False

    def longer(self, size: int) -> PairPath:
        """With so many pairs, if as many are promising; ended where no other is."""
        if self.is_ended:
            return self
        search, judges = self.search, slice(0, self.search.judging)
        start, found = search.start[judges], self.steps[-1] if self.steps else ALONE
        gains = search.gains(self.ranked, normalised(start + self.terms @ found.weights, start[0]))
        order = np.argsort(-gains, kind="stable")[:STILL_RANKED]
        ranked, gains = self.ranked[order], gains[order]
        promising = [(int(one), int(other)) for one, other in ranked[gains > WORTH_TRYING].tolist()]
        new = [pair for pair in promising if pair not in found.pairs][: size - len(found.pairs)]
        if not new:
            return replace(self, is_ended=True)
        terms = np.concatenate([self.terms, *(search.said(pair)[judges, :, None] for pair in new)], axis=2)
        loss = PairLoss(terms, start, search.labels[judges], search.weights[judges], self.others)
        step = Weighed((*found.pairs, *new), loss.best(found.weights))
        return replace(self, terms=terms, ranked=ranked, steps=(*self.steps, step))
