"""Documents cut into terms once, so that many recipes can be tried on them without reading them again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray, readonly
from candide.data.errors import OverflowRefused
from candide.families.base.block_rows import Learned
from candide.families.base.block_scores import BlockScores
from candide.families.words.documents import Documents
from candide.families.words.event_models import NO_FLOATS, NO_INTEGERS
from candide.families.words.leave_one_out import Alone, WordCountsWithout, lengths_of_rows, standing_together
from candide.families.words.numbered_words import NumberedWords, Pairs
from candide.families.words.options import TextOptions
from candide.families.words.parameters import inverse_frequency, listed
from candide.families.words.term_lists import TermLists, cut_into_terms, weighed, weight_units
from candide.families.words.vocabulary import Vocabulary
from candide.kernels.learning_in_part import judge_in_steps
from candide.kernels.word_leaving import MISSING, Rows, copy_rows, count_rows, rows_within, tabulate_rows
from candide.kernels.word_merging import pairs_of_table, sort_words
from candide.statistics.weight_grid import CEILING, amounts, bits_of
from candide.statistics.word_tally import WordTally, running

#: Up to so many classes a table of terms by classes is the quickest way to count.
CLASSES_IN_A_TABLE = 8


@dataclass(frozen=True, eq=False)
class TermMatrix:
    """Labelled documents as numbers: how often each holds which term.

    Terms are numbered in no order; `stopped` are the stop words on the list, `ranks` the places in bytewise order,
    where they are needed. What `options` say holds for every recipe tried, except weighting and model. `weights` are in
    units of 2^-bits.

    >>> texts = Documents.of(["good film", "bad film", "good"], "text")
    >>> matrix = TermMatrix.of(texts, np.array([0, 1, 0]), NO_INTEGERS, 2, TextOptions())
    >>> matrix.rows.indptr.tolist(), matrix.terms
    ([0, 2, 4, 5], 3)
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
    lists: TermLists
    """The documents as they were cut."""

    @classmethod
    def of(
        cls, documents: Documents, labels: IntArray, weights: AnyArray, classes: int, options: TextOptions
    ) -> TermMatrix:
        """The documents, cut unless they were before; `weights` is empty where every one weighs one."""
        lists = cut_into_terms(documents, options)
        rows, vocabulary = lists.rows, lists.vocabulary
        bits = bits_of(weights)
        labels, row_weights = np.ascontiguousarray(labels), weight_units(weights, len(labels), bits)
        if options.hashed:
            slots, numbers = np.unique(rows.terms, return_inverse=True)
            rows = rows._replace(terms=numbers.astype(np.int32))
            return cls(rows, len(slots), labels, row_weights, bits, classes, options, NO_INTEGERS, NO_INTEGERS, lists)
        ranked = bool(options.max_terms or (isinstance(options.stop_words, int) and options.stop_words))
        ranks = bytewise_ranks(vocabulary, options.characters) if ranked else NO_INTEGERS
        stopped = stop_words_in(vocabulary, options)
        return cls(rows, len(vocabulary), labels, row_weights, bits, classes, options, stopped, ranks, lists)

    def __len__(self) -> int:
        """How many documents there are."""
        return len(self.labels)

    def learned_in_part(self, learned: Learned, smoothing: float) -> SharesLearnedInPart | TermsLearnedInPart:
        """The matrix once some of its documents were learned, to be asked about others."""
        by_shares = self.learned_in_steps(learned, [len(learned.positions)], smoothing)
        return SharesLearnedInPart(by_shares) if by_shares else TermsLearnedInPart.of(self, learned, smoothing)

    def learned_in_steps(
        self, learned: Learned, steps: Sequence[int], smoothing: float
    ) -> SharesLearnedInSteps | None:
        """The same once ever more of them were learned, where shares of shared terms are all that is asked for."""
        if self.only_shared and self.options.model == "multinomial" and smoothing > 0 and self.has_labels_of(learned):
            return SharesLearnedInSteps(self, learned.positions, np.array(steps), smoothing)
        return None

    def has_labels_of(self, learned: Learned) -> bool:
        """Whether documents are learned with the labels and weights that they have here."""
        some, here = self.learning(learned), learned.positions
        return (
            some.bits == self.bits
            and np.array_equal(some.labels, self.labels[here])
            and np.array_equal(some.weights, self.weights[here])
        )

    @property
    def only_shared(self) -> bool:
        """Whether terms that one document holds may be left out: where all terms speak alike, as long as they are."""
        options = self.options
        return options.every_term_speaks and not options.hashed and not self.bits and options.model != "bernoulli"

    def weighed_rows(self, weighting: str) -> Rows:
        """The documents with amounts as the weighting says, as far as terms are shared where that is enough."""
        return self.lists.shared_terms(weighting) if self.only_shared else weighed(self.rows, weighting)

    def weighed(self, weighting: str) -> WeighedTerms:
        """The documents and their counts, weighed; those counted before where terms are shared and labels the same."""
        known: WeighedTerms | None = self.lists.counted.get(weighting) if self.only_shared else None
        if known is not None and known.has_learned(self):
            return known
        rows = self.weighed_rows(weighting)
        found = WeighedTerms(rows, self.labels, self.weights, self.counted(rows, weighting))
        if self.only_shared:
            self.lists.counted[weighting] = found
        return found

    def learning(self, learned: Learned) -> TermMatrix:
        """The labels and weights of some of the documents, as they are learned; what they hold stays beside."""
        bits = bits_of(learned.weights)
        units = weight_units(learned.weights, len(learned.labels), bits)
        return replace(self, labels=np.ascontiguousarray(learned.labels), weights=units, bits=bits)

    def counted(self, rows: Rows, weighting: str) -> WordCountsWithout:
        """The counts of these rows, weighed as they are."""
        labels, weights, is_shared = self.labels, self.weights, rows.alone.size > 0
        refuse_overflow(rows, weights, self.bits)
        documents = self._documents(rows, labels, weights)
        terms = self.lists.shared.shared if is_shared else self.terms
        factor, options = self._factor(rows, weights, documents), replace(self.options, weighting=weighting)
        shift = self.bits if options.unit > 1 else 0
        pairs = self._pairs(rows, labels, weights, shift, terms)
        alone = self._alone(rows, labels, weights, shift) if is_shared else None
        return WordCountsWithout.of(pairs, documents, options, self.stopped, factor, self.ranks, self.bits, alone)

    def tally(self) -> WordTally | None:
        """All counts as a tally of its own, unspelled; nothing where terms have no names or weights are not plain."""
        options, heaviest = self.options, int(self.weights.max(initial=1))
        most = heaviest * (int(self.rows.amounts.sum()) + options.unit * len(self))
        if options.hashed or options.keeps_frequency or self.bits or most > CEILING or not self.weights.all():
            return None
        rows = weighed(self.rows, options.weighting)
        pairs = self._pairs(rows, self.labels, self.weights, 0, self.terms)
        words = NumberedWords(self.lists.vocabulary, options.characters, *pairs)
        return WordTally(words, self._documents(rows, self.labels, self.weights), scaled=options.unit > 1)

    def _documents(self, rows: Rows, labels: IntArray, weights: IntArray) -> IntArray:
        """The weight of the documents of each class."""
        documents = np.zeros(self.classes, dtype=np.int64)
        np.add.at(documents, labels, np.where(rows.tokens == MISSING, 0, weights))
        return documents

    def _pairs(self, rows: Rows, labels: IntArray, weights: IntArray, shift: int, terms: int) -> Pairs:
        """The counts of all documents together, weighed as these rows are."""
        if self.classes <= CLASSES_IN_A_TABLE:
            table = np.zeros((terms, self.classes), dtype=np.int64)
            tabulate_rows(rows, labels, weights, shift, table)
            indptr = running(np.count_nonzero(table, axis=1))
            of_class, counts = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1], dtype=np.int64)
            pairs_of_table(table, np.arange(terms), self.classes, of_class, counts)
            return Pairs(readonly(indptr), readonly(of_class), readonly(counts))
        indptr = np.zeros(terms + 1, dtype=np.int64)
        of_class, counts = np.empty(len(rows.terms), dtype=np.int32), np.empty(len(rows.terms), dtype=np.int64)
        by_class = np.argsort(labels, kind="stable")
        used = count_rows(rows, labels, weights, shift, by_class, indptr, of_class, counts)
        return Pairs(readonly(indptr), readonly(of_class[:used].copy()), readonly(counts[:used].copy()))

    def _alone(self, rows: Rows, labels: IntArray, weights: IntArray, shift: int) -> Alone:
        """The terms that were left out of the rows; `shift` is as in `weighed_amount`."""
        totals = np.zeros(self.classes, dtype=np.int64)
        units = np.ldexp(weights, -shift) if shift else weights
        np.add.at(totals, labels, np.rint(units * rows.alone_amounts).astype(np.int64))
        return Alone(int(rows.alone[weights > 0].sum()), totals)

    def _factor(self, rows: Rows, weights: IntArray, documents: IntArray) -> FloatArray:
        """The inverse frequency of each term, where the options ask for it."""
        if not self.options.idf:
            return NO_FLOATS
        held = np.zeros(self.terms, dtype=np.int64)
        np.add.at(held, rows.terms, np.repeat(weights, np.diff(rows.indptr)))
        return inverse_frequency(amounts(held, self.bits), amounts(documents, self.bits))


@dataclass(frozen=True, eq=False)
class WeighedTerms:
    """Documents by one weighting, and all their counts, which any of them can be taken out of."""

    rows: Rows
    labels: IntArray
    weights: IntArray
    leaving: WordCountsWithout
    said: dict[tuple[str, float], FloatArray] = field(default_factory=dict)
    """What the first documents said by a model and one smoothing, so that none is asked twice.

    Asked about several smoothings at once, they say the same but for the last bits.
    """

    def has_learned(self, matrix: TermMatrix) -> bool:
        """Whether it is the documents of a matrix, with the same labels and weights, that were counted."""
        return (
            len(self.leaving.counted.documents) == matrix.classes
            and np.array_equal(self.labels, matrix.labels)
            and np.array_equal(self.weights, matrix.weights)
        )

    def left_out(self, model: str, smoothings: Sequence[float], first: int | None = None) -> FloatArray:
        """What documents say about each class by the counts of all others, [smoothing, document, class]; no prior.

        The same numbers as a text block's own leave-one-out by that recipe. Only the `first` so many are judged.
        """
        documents = len(self.labels) if first is None else first
        joints = np.zeros((len(smoothings), documents, len(self.leaving.counted.documents)))
        known = [self.said.get((model, smoothing), joints[0, :0])[:documents] for smoothing in smoothings]
        rest = slice(min(map(len, known), default=0), documents)
        for joint, said in zip(joints, known, strict=True):
            joint[: rest.start] = said[: rest.start]
        if rest.start < documents:
            rows = standing_together(self.rows, rest)
            self.leaving.add(rows, self.labels[rest], self.weights[rest], smoothings, model, joints[:, rest])
        if len(smoothings) == 1:
            self.said[model, smoothings[0]] = joints[0]
        return joints

    def assess(self, smoothing: float, models: Sequence[str], is_auxiliary: bool, first: int) -> BlockScores:
        """All that is said of each of the first so many documents once it is out.

        `models` and `is_auxiliary` are those of `TextsLeftOut`.
        """
        rows, said = few_rows(self.rows, first), [self.left_out(model, (smoothing,), first)[0] for model in models]
        return self.leaving.assessed(rows, self.weights[:first], said, is_auxiliary)

    def rows_for(self, most: int, first: int) -> int:
        """How many of the first documents can be judged by looking at no more than about so many counts."""
        return int(rows_within(few_rows(self.rows, first), self.leaving.counted.indptr, most))

    def lengths(self, first: int) -> FloatArray:
        """How much the terms of each of the first documents weigh together."""
        return lengths_of_rows(few_rows(self.rows, first), self.leaving.options)


@dataclass(frozen=True, eq=False)
class SharesLearnedInSteps:
    """Some of the documents of a matrix, ever more of them, by whose shares of shared terms others are judged."""

    matrix: TermMatrix
    learned: IntArray
    steps: IntArray
    smoothing: float

    def scores(self, wanted: IntArray) -> list[tuple[FloatArray, FloatArray]]:
        """What documents say after each step that were not learned, and how long they are."""
        matrix, options = self.matrix, self.matrix.options
        said = np.zeros((len(self.steps), len(wanted), matrix.classes))
        rows, terms = matrix.weighed_rows(options.weighting), matrix.lists.shared.shared
        given, unit = (rows, terms, matrix.labels, matrix.weights), 1.0 / options.unit
        judge_in_steps(*given, self.learned, self.steps, wanted, self.smoothing, unit, said)
        lengths = lengths_of_rows(rows, options, wanted)
        return [(one, lengths) for one in said]


@dataclass(frozen=True, eq=False)
class SharesLearnedInPart:
    """The same where all was learned in one step."""

    learned: SharesLearnedInSteps

    def scores(self, wanted: IntArray) -> tuple[FloatArray, FloatArray]:
        """What documents say that were not learned, and how long they are."""
        return self.learned.scores(wanted)[0]


@dataclass(frozen=True, eq=False)
class TermsLearnedInPart:
    """The counts of some of the documents of a matrix, by which others are judged: no term is spelled or searched."""

    matrix: TermMatrix
    learned: WordCountsWithout
    smoothing: float

    rows: Rows

    @classmethod
    def of(cls, matrix: TermMatrix, learned: Learned, smoothing: float) -> TermsLearnedInPart:
        weighting = matrix.options.weighting
        rows = matrix.weighed_rows(weighting)
        some = rows_learned(rows, learned.positions)
        return cls(matrix, matrix.learning(learned).counted(some, weighting), smoothing, rows)

    def scores(self, wanted: IntArray) -> tuple[FloatArray, FloatArray]:
        """A document that was not learned is one without weight, taken out."""
        options, labels, rows = self.learned.options, self.matrix.labels[wanted], rows_wanted(self.rows, wanted)
        said = np.zeros((1, len(wanted), self.matrix.classes))
        self.learned.add(rows, labels, np.zeros_like(labels), (self.smoothing,), options.model, said)
        return said[0], lengths_of_rows(rows, options)

    def left_out(self, learned: IntArray) -> FloatArray:
        """What each of the learned documents, given again, says once it is out, [document, class]."""
        matrix, rows = self.matrix, rows_at(self.rows, learned)
        said = np.zeros((1, len(learned), matrix.classes))
        weights, model = matrix.weights[learned], self.learned.options.model
        self.learned.add(rows, matrix.labels[learned], weights, (self.smoothing,), model, said)
        return said[0]


def refuse_overflow(rows: Rows, row_weights: IntArray, bits: int) -> None:
    """Raise where the words of all documents together could be more than fit in 64 bits, however they are weighed."""
    spoken = np.maximum(rows.tokens, 0).astype(np.float64)
    if bits and float(spoken @ row_weights) > CEILING:
        raise OverflowRefused(f"The counts of words could exceed 2^{62 - bits}.")


def few_rows(rows: Rows, first: int) -> Rows:
    """The first of the rows, not copied."""
    used = rows.indptr[first]
    alone = rows.alone[:first], rows.alone_amounts[:first]
    return Rows(rows.indptr[: first + 1], rows.terms[:used], rows.amounts[:used], rows.tokens[:first], *alone)


def rows_wanted(rows: Rows, wanted: IntArray) -> Rows:
    """Some of the rows, copied unless they stand together."""
    if not len(wanted) or (np.diff(wanted) != 1).any():
        return rows_at(rows, wanted)
    return standing_together(rows, slice(int(wanted[0]), int(wanted[-1]) + 1))


def rows_at(rows: Rows, wanted: IntArray) -> Rows:
    """Some of the rows, copied."""
    indptr = running(np.diff(rows.indptr)[wanted])
    terms, amounts_there = np.empty(indptr[-1], dtype=rows.terms.dtype), np.empty(indptr[-1], dtype=np.int64)
    copy_rows(rows, wanted, terms, amounts_there)
    alone = (rows.alone[wanted], rows.alone_amounts[wanted]) if rows.alone.size else (NO_INTEGERS, NO_INTEGERS)
    return Rows(indptr, terms, amounts_there, rows.tokens[wanted], *alone)


def rows_learned(rows: Rows, positions: IntArray) -> Rows:
    """The rows at these positions, copied; the terms that one document holds are so many however often it is there."""
    some = rows_at(rows, positions)
    if not some.alone.size:
        return some
    first = np.zeros(len(positions), dtype=bool)
    first[np.unique(positions, return_index=True)[1]] = True
    return some._replace(alone=np.where(first, some.alone, 0))


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
