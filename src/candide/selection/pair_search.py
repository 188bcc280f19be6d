"""Which pairs of columns tell more than their parts: the most promising are taken, again and again.

All candidates are ranked by what one Newton step along each would gain, given what is thought of each row so far; the
best join, all are weighed anew, and the rest are ranked by what is still to be explained. With a third column a pair
that has joined is a candidate once more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.grid import quantized
from candide.families.pairs.pair import Pair, crossed_cells
from candide.kernels.pair_screening import count_pair, pair_gains
from candide.kernels.pair_terms import PairCounts, add_pair_terms_without, pair_counts, rows_beside
from candide.selection.pair_weights import PairLoss, chances_of

SIZES = (1, 2, 4, 8, 16, 32)
"""How many pairs there are after each step."""
STILL_RANKED = 128
"""So many candidates are ranked again after the first step."""
MOST_EXTENDED, MOST_CELLS = 8, 100
"""So many pairs, those of most weight, may take in a third column: if they have at most so many cells."""
WORTH_TRYING = 2.0
"""A pair that would gain fewer nats over all rows is not tried."""
SMOOTHING = Pair.smoothing
ALL_ROWS = slice(None)


class Weighed(NamedTuple):
    """Pairs, by the numbers of their columns, with a weight for all that columns say, and then one for each pair.

    Three columns are what the third says beyond the first two together.
    """

    pairs: tuple[tuple[int, ...], ...]
    weights: FloatArray


ALONE = Weighed((), np.ones(1))
"""Columns by themselves."""


class PairEvidence(NamedTuple):
    """What a pair says of rows, [row, class], and how many other rows are in its cell of each."""

    said: FloatArray
    beside: FloatArray


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
        pairs = [(one, other) for one, other in self.candidates.tolist()]
        return PairPath(here, said[None, rows[: here.judging]], pairs, len(rows) / here.judging - 1)

    def at(self, rows: IntArray) -> PairSearch:
        """Some of the rows, in ascending order."""
        bins, judging = np.ascontiguousarray(self.bins[:, rows]), int(np.searchsorted(rows, self.judging))
        by_row = self.start[rows], self.labels[rows], self.weights[rows]
        return PairSearch(bins, self.widths, self.candidates, *by_row, judging)

    def crossed(self, columns: tuple[int, ...]) -> tuple[AnyArray, int]:
        """Some columns as one, whose bins are their cells: the bin of each row, and how many there are."""
        widths = self.widths[list(columns)].tolist()
        if len(columns) == 1:
            return self.bins[columns[0]], widths[0]
        return crossed_cells([self.bins[column] for column in columns], widths).astype(np.int8), math.prod(widths)

    def gains(self, pairs: Sequence[tuple[int, ...]], chances: FloatArray) -> FloatArray:
        """What a Newton step along each pair would gain, on the grid."""
        extended = list(dict.fromkeys(pair[:2] for pair in pairs if len(pair) > 2))
        more = [self.crossed(pair) for pair in extended]
        bins = np.concatenate([self.bins, *(codes[None] for codes, _ in more)])
        widths = np.concatenate([self.widths, np.array([width for _, width in more], dtype=np.int64)])
        number = {pair: len(self.bins) + index for index, pair in enumerate(extended)}
        parts = [pair if len(pair) == 2 else (number[pair[:2]], pair[2]) for pair in pairs]
        found, two = np.zeros(len(pairs)), np.array(parts, dtype=np.int64).reshape(-1, 2)
        pair_gains(bins, widths, two, self.labels, self.weights, chances, SMOOTHING, found)
        return quantized(found)

    def with_third(self, found: Weighed) -> list[tuple[int, ...]]:
        """The pairs of most weight, each with every other column."""
        order = np.argsort(-found.weights[1:], kind="stable").tolist()
        heard = [found.pairs[index] for index in order if found.weights[1 + index] > 0 and len(found.pairs[index]) == 2]
        able = [pair for pair in heard if math.prod(self.widths[list(pair)].tolist()) <= MOST_CELLS]
        columns = sorted({*self.candidates.ravel().tolist()})
        return [(*pair, third) for pair in able[:MOST_EXTENDED] for third in columns if third not in pair]

    def evidence(self, pair: tuple[int, ...], rows: slice | IntArray = ALL_ROWS) -> PairEvidence:
        """What a pair says of some of the rows without each, when all have been counted."""
        (counts, cells), labels, weights = self.counted(pair), self.labels[rows], self.weights[rows]
        here, said = cells[rows], np.zeros((len(labels), self.start.shape[1]))
        add_pair_terms_without(counts, here, labels, weights, said)
        return PairEvidence(said, rows_beside(counts, here, weights))

    def counted(self, pair: tuple[int, ...]) -> tuple[PairCounts, IntArray]:
        """The counts of a pair, and the cell of each row."""
        (first, firsts), (second, seconds) = self.crossed(pair[:-1]), self.crossed(pair[-1:])
        counts = np.zeros((firsts * seconds, self.start.shape[1]))
        cells = count_pair(first, second, seconds, self.labels, self.weights, counts)
        return pair_counts(counts, seconds, SMOOTHING), cells


@dataclass(frozen=True, eq=False)
class PairPath:
    """Ever more pairs, found and weighed by some rows alone."""

    search: PairSearch
    terms: FloatArray
    """What columns and pairs say of the rows that judge, [term, row, class]."""
    ranked: Sequence[tuple[int, ...]]
    """The pairs that are still ranked."""
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
        candidates = [*self.ranked, *search.with_third(found)]
        gains = search.gains(candidates, chances_of(self.terms, start, found.weights))
        order = np.argsort(-gains, kind="stable").tolist()
        promising = [candidates[index] for index in order if gains[index] > WORTH_TRYING]
        ranked = [candidates[index] for index in order if len(candidates[index]) == 2][:STILL_RANKED]
        new = [pair for pair in promising if pair not in found.pairs][: size - len(found.pairs)]
        if not new:
            return replace(self, is_ended=True)
        terms = np.concatenate([self.terms, *(search.evidence(pair, judges).said[None] for pair in new)])
        loss = PairLoss(terms, start, search.labels[judges], search.weights[judges], self.others)
        step = Weighed((*found.pairs, *new), loss.best(found.weights))
        return replace(self, terms=terms, ranked=ranked, steps=(*self.steps, step))
