"""A word tally in the making: documents go in, as fast as they can be read; learning one costs one."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.errors import OverflowRefused
from candide.families.words.documents import Documents
from candide.families.words.numbered_words import NumberedWords
from candide.families.words.options import WEIGHTINGS, TextOptions
from candide.families.words.vocabulary import FIRST_SCRATCH, Vocabulary, grown, letters_of, recipe_of, scratch_of
from candide.kernels.logarithm import grid_log
from candide.kernels.word_counting import (
    Tallies,
    TermWeighting,
    add_lines,
    learn_documents,
    refill_pairs,
)
from candide.kernels.word_merging import Lines, count_pairs, pairs_of_table, place_pairs, sort_words
from candide.kernels.words import ARENA_FULL, PAIRS_FULL, SCRATCH_FULL, TERMS_FULL, Number, Reader
from candide.statistics.weight_grid import CEILING, bits_of, in_finer_units, weights_in_units
from candide.statistics.word_tally import WordTally, running

#: Up to this many classes counts are kept in a table, beyond it only the pairs that occurred.
CLASSES_IN_A_TABLE = 32
FIRST_PAIRS = 1 << 12
SLOT_BYTES = 4


@lru_cache(maxsize=1)
def logs() -> FloatArray:
    """log(1 + n) for the occurrences that are common, on the grid on which all machines agree."""
    return grid_log(1.0 + np.arange(1 << 10, dtype=np.float64))


def weighting_of(name: str) -> TermWeighting:
    """The weighting of that name in the kernels' numbers."""
    return TermWeighting(WEIGHTINGS.index(name), logs())


class WordTallyBuilder:
    """Counts by (term, class), changed in place by kernels; `freeze` gives the canonical tally.

    Terms are numbered as they turn up, or by their hash. With few classes counts are a table [term, class], with many a
    hash of the pairs that occurred: memory follows what was seen.
    """

    def __init__(self, options: TextOptions, classes: int) -> None:
        self.options = options
        self.letters, self.recipe = letters_of(options), recipe_of(options)
        self.weighting = weighting_of(options.weighting)
        self.vocabulary = Vocabulary(2 if options.hashed else 1 << 10)
        self.scratch = scratch_of(FIRST_SCRATCH)
        self.classes = classes
        self.bits = 0
        self.count_bound = 0.0
        self.gave_away = False
        dense = classes <= CLASSES_IN_A_TABLE
        self.tallies = Tallies(
            np.zeros((self.room, max(classes, 2) if dense else 0), dtype=np.int64),
            np.zeros(0 if dense else 2 * FIRST_PAIRS, dtype=np.uint64),
            np.zeros(1, dtype=np.int64),
            np.zeros(max(classes, 2), dtype=np.int64),
            np.zeros(self.room if options.keeps_frequency else 0, dtype=np.int64),
        )

    @classmethod
    def over(cls, options: TextOptions, seen: WordTally) -> WordTallyBuilder:
        """Go on from a tally already there."""
        builder = cls(options, seen.classes)
        numbers = builder._numbers(seen.lines, learning=True)
        builder._make_pair_room(len(seen.lines.counts))
        add_lines(numbers, seen.lines.indptr, seen.lines.labels, seen.lines.counts, 1, builder.tallies)
        if builder.tallies.frequency.size:
            builder.tallies.frequency[numbers] += seen.lines.frequency
        builder.tallies.documents[: seen.classes] = seen.documents
        builder.bits, builder.count_bound = seen.bits, float(seen.count_bound)
        return builder

    @property
    def scaled(self) -> bool:
        """Whether pairs are counted in units of 2^-32 whatever documents weigh."""
        return self.options.unit > 1

    @property
    def shift(self) -> int:
        """How far products of weight and amount are shifted: where both are in units of 2^-32, as their sums are."""
        return self.bits if self.scaled else 0

    @property
    def given(self) -> int:
        """How many terms were given a number; none where hashing gives it."""
        return 0 if self.options.hashed else len(self.vocabulary)

    @property
    def room(self) -> int:
        """How many terms there is room for."""
        return 1 << self.options.hashed if self.options.hashed else self.vocabulary.room

    @property
    def reader(self) -> Reader:
        """What documents are read with, as the kernels take it."""
        return Reader(self.letters, self.recipe, self.vocabulary.terms, self.scratch)

    def grow(self, classes: int) -> None:
        """Make room for more classes; beyond some number of them, only pairs that occur are kept."""
        if classes > len(self.tallies.documents):
            documents = np.zeros(max(classes, 2 * len(self.tallies.documents)), dtype=np.int64)
            documents[: len(self.tallies.documents)] = self.tallies.documents
            self.tallies = self.tallies._replace(documents=documents)
        width = self.tallies.table.shape[1]
        if width and classes > CLASSES_IN_A_TABLE:
            self._leave_table()
        elif width and classes > width:
            wider = min(max(classes, 2 * width), CLASSES_IN_A_TABLE)
            table = np.zeros((len(self.tallies.table), wider), dtype=np.int64)
            table[:, :width] = self.tallies.table
            self.tallies = self.tallies._replace(table=table)
        self.classes = classes

    def learn(self, documents: Documents, labels: IntArray, weights: AnyArray) -> None:
        """Add documents with their labels; `weights` is empty where every one weighs one."""
        weights = self._reserve(documents, weights)
        if self.gave_away:
            self.vocabulary, self.gave_away = self.vocabulary.copied(), False
        for piece, rows in documents.with_rows():
            mine = np.ascontiguousarray(labels[rows])
            weighed = np.ascontiguousarray(weights[rows]) if weights.size else weights
            row: Number = 0
            reason: Number = SCRATCH_FULL
            while reason:
                row, reason = learn_documents(
                    piece, row, mine, weighed, self.shift, self.reader, self.weighting, self.tallies
                )
                self._make_room(reason)

    def freeze(self) -> WordTally:
        """The tally of all that was learned: its words unspelled where they have names and nothing else is kept.

        It has the vocabulary then; should more be learned, that goes on with a copy.
        """
        if self.options.hashed or self.options.keeps_frequency or self.bits:
            return self.spelled()
        self.gave_away = True
        sizes = self._sizes(len(self.vocabulary))
        pairs = self._pairs(np.arange(len(sizes)), running(sizes))
        words = NumberedWords(self.vocabulary, self.options.characters, running(sizes), *pairs)
        return WordTally(words, self.tallies.documents[: self.classes].copy(), scaled=self.scaled)

    def spelled(self) -> WordTally:
        """The canonical tally: words sorted, zeros gone, in ones where all is whole."""
        sizes = self._sizes(self.room if self.options.hashed else len(self.vocabulary))
        order, offsets, letters = self._spelled(np.flatnonzero(sizes))
        indptr = running(sizes[order])
        labels, counts = self._pairs(order, indptr)
        frequency = self.tallies.frequency[order] if self.tallies.frequency.size else np.zeros(0, dtype=np.int64)
        lines_out = Lines(offsets, letters, indptr, labels, counts, frequency)
        return WordTally(
            lines_out, self.tallies.documents[: self.classes].copy(), self.bits, self.scaled
        ).canonical()

    def _sizes(self, terms: int) -> IntArray:
        """How many pairs each term has."""
        table, sizes = self.tallies.table, np.zeros(terms, dtype=np.int64)
        if table.shape[1]:
            return np.count_nonzero(table[:terms, : self.classes], axis=1).astype(np.int64)
        count_pairs(self.tallies.pairs, sizes)
        return sizes

    def _pairs(self, order: IntArray, indptr: IntArray) -> tuple[AnyArray, IntArray]:
        """The labels and counts of terms in an order, each with as many as `indptr` says."""
        labels, counts = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1], dtype=np.int64)
        if self.tallies.table.shape[1]:
            pairs_of_table(self.tallies.table, order, self.classes, labels, counts)
        else:
            lines = np.full(self.room, -1, dtype=np.int64)
            lines[order] = np.arange(len(order))
            place_pairs(self.tallies.pairs, lines, indptr, labels, counts)
        return labels, counts

    def _numbers(self, lines: Lines, learning: bool) -> IntArray:
        """The number of each of the tally's words here."""
        if self.options.hashed:
            return slots_of(lines)
        numbers = self.vocabulary.number(lines.offsets, lines.letters, self.options.characters, learning)
        self._follow_vocabulary()
        return numbers

    def _spelled(self, used: IntArray) -> tuple[IntArray, IntArray, AnyArray]:
        """The used terms sorted by their spelling, and that spelling."""
        if self.options.hashed:
            return used, SLOT_BYTES * np.arange(len(used) + 1), used.astype(">u4").view(np.uint8)
        offsets, letters = self.vocabulary.spelled(used, self.options.characters)
        sorting = sort_words(offsets, letters)
        order = used[sorting]
        return order, *self.vocabulary.spelled(order, self.options.characters)

    def _reserve(self, documents: Documents, weights: AnyArray) -> AnyArray:
        """The weights in the units of the counts; refused, before anything is counted, where one could exceed 2^62.

        The first weights that are not whole make the units smaller.
        """
        self._refine(bits_of(weights))
        weights = weights_in_units(weights, len(documents), self.bits)
        heaviest = float(weights.max()) if weights.size else 1.0
        largest = len(documents) * (self.options.unit >> self.shift)
        if not self.scaled:
            largest += documents.bytes_long
        added = heaviest * largest * self.recipe.ngrams
        self.count_bound += added
        if self.count_bound > CEILING:
            added = self._added(documents, weights) if self.bits else added
            self.count_bound = self.spelled().at(self.bits).count_bound + added
        if self.count_bound > CEILING:
            raise OverflowRefused(f"A count could exceed 2^{62 - self.bits}.")
        return weights

    def _added(self, documents: Documents, weights: AnyArray) -> float:
        """How much documents of these weights would add to all counts together, their terms being looked at.

        Worth a look where units are small: as many bytes as the ceiling has units are only a gigabyte.
        """
        from candide.families.words.term_lists import lengths_of

        amounts = lengths_of(documents, self.options) * (self.options.unit >> self.shift)
        return float(amounts @ weights.astype(np.float64) if weights.size else amounts.sum())

    def _refine(self, bits: int) -> None:
        """Count on in smaller units; refused, before anything is changed, where counts are too large for them."""
        finer = bits - self.bits
        if finer <= 0:
            return
        table, pairs = self.tallies.table, self.tallies.pairs.copy()
        if not self.scaled:
            table, pairs[1::2] = in_finer_units(table, finer), in_finer_units(pairs[1::2], finer)
        self.tallies = self.tallies._replace(
            table=table,
            pairs=pairs,
            documents=in_finer_units(self.tallies.documents, finer),
            frequency=in_finer_units(self.tallies.frequency, finer),
        )
        self.bits = bits
        self.count_bound = float(self.spelled().at(bits).count_bound)

    def _make_room(self, reason: Number) -> None:
        """Grow what a kernel found too small."""
        if reason == SCRATCH_FULL:
            self.scratch = scratch_of(2 * len(self.scratch.ids))
        elif reason == PAIRS_FULL:
            self._make_pair_room(len(self.tallies.pairs) // 2)
        elif reason in (TERMS_FULL, ARENA_FULL):
            self.vocabulary.make_room(reason)
            self._follow_vocabulary()

    def _follow_vocabulary(self) -> None:
        """As many rows for counts as there may be terms."""
        factor = self.room // len(self.tallies.table)
        if factor > 1:
            table, frequency = self.tallies.table, self.tallies.frequency
            self.tallies = self.tallies._replace(table=grown(table, factor), frequency=grown(frequency, factor))

    def _make_pair_room(self, more: int) -> None:
        """Room for so many more pairs, where pairs are what is kept."""
        if self.tallies.table.shape[1]:
            return
        entries = len(self.tallies.pairs) // 2
        while 4 * (int(self.tallies.used[0]) + more) > 3 * entries:
            entries *= 2
        if 2 * entries > len(self.tallies.pairs):
            pairs = np.zeros(2 * entries, dtype=np.uint64)
            refill_pairs(self.tallies.pairs, pairs, self.tallies.used)
            self.tallies = self.tallies._replace(pairs=pairs)

    def _leave_table(self) -> None:
        """Keep the pairs that occurred in place of the table."""
        table = self.tallies.table
        order = np.arange(len(table))
        indptr = running(np.count_nonzero(table, axis=1).astype(np.int64))
        labels, counts = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1], dtype=np.int64)
        pairs_of_table(table, order, table.shape[1], labels, counts)
        self.tallies = self.tallies._replace(
            table=np.zeros((len(table), 0), dtype=np.int64), pairs=np.zeros(2 * FIRST_PAIRS, dtype=np.uint64)
        )
        self._make_pair_room(len(counts))
        add_lines(order, indptr, labels, counts, 1, self.tallies)


def slots_of(lines: Lines) -> IntArray:
    """The slot numbers that hashed words are written as."""
    return lines.letters.view(">u4").astype(np.int64)
