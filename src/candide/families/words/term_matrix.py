"""Documents cut into terms once, so that many recipes can be tried on them without reading them again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray, readonly
from candide.data.errors import OverflowRefused
from candide.families.words.documents import Documents
from candide.families.words.event_models import NO_FLOATS, NO_INTEGERS
from candide.families.words.leave_one_out import Pairs, WordCountsWithout, lengths_of_rows
from candide.families.words.options import TextOptions
from candide.families.words.parameters import inverse_frequency, listed
from candide.families.words.term_lists import cut_into_terms, weighed, weight_units
from candide.families.words.vocabulary import Vocabulary
from candide.kernels.word_leaving import MISSING, Rows, count_rows
from candide.kernels.word_merging import sort_words
from candide.statistics.weight_grid import CEILING, amounts, bits_of
from candide.statistics.word_tally import gathered, running


@dataclass(frozen=True, eq=False)
class TermMatrix:
    """Labelled documents as numbers: how often each holds which term.

    Terms are numbered as they turn up; `stopped` are the stop words on the list, `ranks` the places in bytewise order,
    where they are needed. What `options` say holds for every recipe tried, except weighting and model. `weights` are in
    units of 2^-bits.

    >>> texts = Documents.of(["good film", "bad film", "good"], "text")
    >>> matrix = TermMatrix.of(texts, np.array([0, 1, 0]), NO_INTEGERS, 2, TextOptions())
    >>> matrix.rows.terms.tolist(), matrix.terms
    ([0, 1, 2, 1, 0], 3)
    >>> np.exp(matrix.weighed("counts").left_out("multinomial", [1.0])[0, 2]).round(3).tolist()
    [0.4, 0.2]
    """

    rows: Rows
    terms: int
    labels: IntArray
    weights: IntArray
    bits: int
    classes: int
    options: TextOptions
    stopped: IntArray
    ranks: IntArray

    @classmethod
    def of(
        cls, documents: Documents, labels: IntArray, weights: AnyArray, classes: int, options: TextOptions
    ) -> TermMatrix:
        """The documents, cut unless they were before; `weights` is empty where every one weighs one."""
        rows, vocabulary = cut_into_terms(documents, options)
        bits = bits_of(weights)
        labels, row_weights = np.ascontiguousarray(labels), weight_units(weights, len(labels), bits)
        refuse_overflow(rows, row_weights, bits)
        if options.hashed:
            slots, numbers = np.unique(rows.terms, return_inverse=True)
            rows = rows._replace(terms=numbers.astype(np.int32))
            return cls(rows, len(slots), labels, row_weights, bits, classes, options, NO_INTEGERS, NO_INTEGERS)
        ranked = bool(options.max_terms or (isinstance(options.stop_words, int) and options.stop_words))
        ranks = bytewise_ranks(vocabulary, options.characters) if ranked else NO_INTEGERS
        stopped = stop_words_in(vocabulary, options)
        return cls(rows, len(vocabulary), labels, row_weights, bits, classes, options, stopped, ranks)

    def __len__(self) -> int:
        """How many documents there are."""
        return len(self.labels)

    def at(self, wanted: IntArray) -> TermMatrix:
        """Some of the documents; terms keep their numbers."""
        rows = rows_at(self.rows, wanted)
        return replace(self, rows=rows, labels=self.labels[wanted], weights=self.weights[wanted])

    def weighed(self, weighting: str) -> WeighedTerms:
        """The documents and their counts, weighed."""
        rows = weighed(self.rows, weighting)
        documents = np.zeros(self.classes, dtype=np.int64)
        np.add.at(documents, self.labels, np.where(rows.tokens == MISSING, 0, self.weights))
        factor, options = self._factor(rows, documents), replace(self.options, weighting=weighting)
        pairs = self._pairs(rows, self.bits if options.unit > 1 else 0)
        leaving = WordCountsWithout.of(pairs, documents, options, self.stopped, factor, self.ranks, self.bits)
        return WeighedTerms(rows, self.labels, self.weights, leaving)

    def _pairs(self, rows: Rows, shift: int) -> Pairs:
        """The counts of all documents together, weighed as these rows are."""
        indptr = np.zeros(self.terms + 1, dtype=np.int64)
        labels, counts = np.empty(len(rows.terms), dtype=np.int32), np.empty(len(rows.terms), dtype=np.int64)
        by_class = np.argsort(self.labels, kind="stable")
        used = count_rows(rows, self.labels, self.weights, shift, by_class, indptr, labels, counts)
        return Pairs(readonly(indptr), readonly(labels[:used]), readonly(counts[:used]))

    def _factor(self, rows: Rows, documents: IntArray) -> FloatArray:
        """The inverse frequency of each term, where the options ask for it."""
        if not self.options.idf:
            return NO_FLOATS
        held = np.zeros(self.terms, dtype=np.int64)
        np.add.at(held, rows.terms, np.repeat(self.weights, np.diff(rows.indptr)))
        return inverse_frequency(amounts(held, self.bits), amounts(documents, self.bits))


@dataclass(frozen=True, eq=False)
class WeighedTerms:
    """Documents by one weighting, and all their counts, which any of them can be taken out of."""

    rows: Rows
    labels: IntArray
    weights: IntArray
    leaving: WordCountsWithout

    def left_out(self, model: str, smoothings: Sequence[float], first: int | None = None) -> FloatArray:
        """What documents say about each class by the counts of all others, [smoothing, document, class]; no prior.

        The same numbers as a text block's own leave-one-out by that recipe. Only the `first` so many are judged.
        """
        rows = few_rows(self.rows, len(self.labels) if first is None else first)
        documents = len(rows.tokens)
        joints = np.zeros((len(smoothings), documents, len(self.leaving.counted.documents)))
        self.leaving.add(rows, self.labels[:documents], self.weights[:documents], smoothings, model, joints)
        return joints

    def rows_for(self, most: int) -> int:
        """How many of the first documents can be judged by looking at no more than about so many counts."""
        counts_a_term = np.diff(self.leaving.counted.indptr)[self.rows.terms]
        return int(np.searchsorted(running(counts_a_term)[self.rows.indptr], most, side="right")) - 1

    def lengths(self, first: int) -> FloatArray:
        """How much the terms of each of the first documents weigh together."""
        return lengths_of_rows(few_rows(self.rows, first), self.leaving.options)


@dataclass(frozen=True, eq=False)
class TermsLearnedInPart:
    """The counts of some of the documents of a matrix, by which others are judged: no term is spelled or searched."""

    matrix: TermMatrix
    learned: WordCountsWithout
    smoothing: float

    @classmethod
    def of(cls, matrix: TermMatrix, wanted: IntArray, smoothing: float) -> TermsLearnedInPart:
        return cls(matrix, matrix.at(wanted).weighed(matrix.options.weighting).leaving, smoothing)

    def scores(self, wanted: IntArray) -> tuple[FloatArray, FloatArray]:
        """A document that was not learned is one without weight, taken out."""
        options, labels = self.learned.options, self.matrix.labels[wanted]
        rows = weighed(rows_at(self.matrix.rows, wanted), options.weighting)
        said = np.zeros((1, len(wanted), self.matrix.classes))
        self.learned.add(rows, labels, np.zeros_like(labels), (self.smoothing,), options.model, said)
        return said[0], lengths_of_rows(rows, options)


def refuse_overflow(rows: Rows, row_weights: IntArray, bits: int) -> None:
    """Raise where the words of all documents together could be more than fit in 64 bits, however they are weighed."""
    spoken = np.maximum(rows.tokens, 0).astype(np.float64)
    if bits and float(spoken @ row_weights) > CEILING:
        raise OverflowRefused(f"The counts of words could exceed 2^{62 - bits}.")


def few_rows(rows: Rows, first: int) -> Rows:
    """The first of the rows, not copied."""
    used = rows.indptr[first]
    return Rows(rows.indptr[: first + 1], rows.terms[:used], rows.amounts[:used], rows.tokens[:first])


def rows_at(rows: Rows, wanted: IntArray) -> Rows:
    """Some of the rows, copied."""
    entries = gathered(rows.indptr, wanted)
    return Rows(
        running(np.diff(rows.indptr)[wanted]), rows.terms[entries], rows.amounts[entries], rows.tokens[wanted]
    )


def bytewise_ranks(vocabulary: Vocabulary, by_character: bool) -> IntArray:
    """Where each term would stand if they were sorted."""
    ranks = np.empty(len(vocabulary), dtype=np.int64)
    ranks[sort_words(*vocabulary.spelled(np.arange(len(vocabulary)), by_character))] = np.arange(len(vocabulary))
    return ranks


def stop_words_in(vocabulary: Vocabulary, options: TextOptions) -> IntArray:
    """The numbers of the stop words on the list."""
    if not isinstance(options.stop_words, tuple) or not options.stop_words:
        return NO_INTEGERS
    offsets, letters = vocabulary.spelled(np.arange(len(vocabulary)), options.characters)
    return listed(readonly(offsets), readonly(letters), options)
