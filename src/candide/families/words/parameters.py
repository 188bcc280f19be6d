"""A word tally turned into what each kept word says: stop words, thresholds and inverse frequencies act here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from candide.data.advice import NamedOption
from candide.data.arrays import AnyArray, FloatArray, IntArray, readonly
from candide.data.cached import cached_property
from candide.data.errors import OptionRefused
from candide.families.words.documents import Documents
from candide.families.words.event_models import MODELS, NO_FLOATS, NO_INTEGERS, Seen
from candide.families.words.numbered_words import NumberedWords, Pairs
from candide.families.words.options import TextOptions
from candide.families.words.term_lists import roomier_reader
from candide.families.words.texts_in_numbers import digests, in_numbers
from candide.families.words.unspaced import closed_up
from candide.families.words.vocabulary import FIRST_SCRATCH, Vocabulary, letters_of, recipe_of, scratch_of
from candide.families.words.word_tally_builder import slots_of, weighting_of
from candide.kernels.scoring_by_number import InNumbers, score_numbered
from candide.kernels.word_merging import Lines
from candide.kernels.word_scoring import Judged, Weights, score_documents, weighed_terms
from candide.kernels.words import SCRATCH_FULL, Letters, Number, Reader, Recipe, Scratch, Terms
from candide.statistics.weight_grid import amounts
from candide.statistics.word_tally import WordTally, running, take_words


class Assessed(NamedTuple):
    """Of documents that were cut once: scores[row, class] by each table, and how much all and unknown terms weigh."""

    scores: tuple[FloatArray, ...]
    length: FloatArray
    unknown: FloatArray


@dataclass(frozen=True, eq=False)
class TextParameters:
    """The kept words, a read-only vocabulary to find them by, and what they say.

    Words are in the order of their numbers, or spelled and the most frequent first. `rows` is the row of each number
    from the `first` on, -1 where it has none; nothing where rows are all of these. Nothing changes after making, so
    threads may score with one of these side by side.
    """

    tally: WordTally
    options: TextOptions
    smoothing: float
    lines: Lines | None
    seen: Seen
    factor: FloatArray
    vocabulary: Vocabulary
    rows: IntArray
    letters: Letters
    recipe: Recipe
    first: int = 0

    @classmethod
    def of(cls, tally: WordTally, options: TextOptions, smoothing: float) -> TextParameters:
        """Let the options and the smoothing meet the counts."""
        words = tally.words_seen
        if isinstance(words, NumberedWords) and options.every_term_speaks and options.model != "bernoulli":
            return cls._by_number(tally, words, options, smoothing)
        return cls.spelled(tally, options, smoothing)

    @classmethod
    def _by_number(
        cls, tally: WordTally, words: NumberedWords, options: TextOptions, smoothing: float
    ) -> TextParameters:
        """Of words that were numbered already, all of which speak: their sums are whole, so the order is nothing."""
        numbers, rows = words.numbers, NO_INTEGERS
        first = len(words.vocabulary) - len(numbers)
        if len(numbers) and numbers[0] < first:  # else they are all from the first on
            rows, first = np.full(len(words.vocabulary), -1, dtype=np.int64), 0
            rows[numbers] = np.arange(len(numbers))
        indptr = np.append(words.indptr[numbers], words.indptr[-1]) if rows.size else words.indptr[first:]
        pairs = Pairs(indptr, words.labels, words.counts)
        seen = seen_of(tally, pairs, NO_FLOATS, float(counting_unit(options, tally.bits)))
        found = words.vocabulary, rows, letters_of(options), recipe_of(options)
        return cls(tally, options, smoothing, None, seen, NO_FLOATS, *found, first)

    @cached_property
    def in_order(self) -> TextParameters:
        """The same, spelled and the most frequent words first: the order in which words are shown and drawn."""
        return self if self.lines is not None else TextParameters.spelled(self.tally, self.options, self.smoothing)

    @classmethod
    def spelled(cls, tally: WordTally, options: TextOptions, smoothing: float) -> TextParameters:
        """Of words as they are spelled, the most frequent first."""
        kept = kept_words(tally, options)
        lines = take_words(tally.lines, kept)
        factor = inverse_frequencies(tally, options)[kept] if options.idf else NO_FLOATS
        vocabulary, rows = numbered(lines, options)
        seen = seen_of(tally, Pairs(*lines[2:5]), factor, float(counting_unit(options, tally.bits)))
        found = vocabulary, rows, letters_of(options), recipe_of(options)
        return cls(tally, options, smoothing, lines, seen, factor, *found)

    def __len__(self) -> int:
        """How many words say something."""
        return self.seen.kept_words

    @cached_property
    def score_weights(self) -> Weights:
        """What words say in the model that was asked for."""
        return self._weights(self.options.model)

    @cached_property
    def likelihood_weights(self) -> Weights:
        """What words say where a likelihood is needed: the multinomial in place of the complement."""
        return self._weights("multinomial") if self.options.model == "complement" else self.score_weights

    @cached_property
    def kept_totals(self) -> FloatArray:
        """How much the kept words of each class weigh together."""
        return self.seen.by_class(self.seen.counts)

    def _weights(self, model: str) -> Weights:
        return MODELS[model](self.seen, self.smoothing)._replace(rows=self.rows, first=self.first, factor=self.factor)

    def add_scores(self, documents: Documents, weights: Weights, joint: FloatArray) -> None:
        """Add what the documents say into joint[row, class]."""
        self._read(documents, Assessed((joint,), NO_FLOATS, NO_FLOATS), (weights,))

    def score_with_length(self, documents: Documents, shape: tuple[int, int]) -> tuple[FloatArray, FloatArray]:
        """What documents say, and how long they are."""
        found = Assessed((np.zeros(shape),), np.zeros(shape[0]), NO_FLOATS)
        self._read(documents, found, (self.score_weights,))
        return found.scores[0], found.length

    def assess(self, documents: Documents, tables: Sequence[Weights], shape: tuple[int, int]) -> Assessed:
        """What one or two tables of weights say of documents that are cut once, and how long they are."""
        rows = shape[0]
        found = Assessed(tuple(np.zeros(shape) for _ in tables), np.zeros(rows), np.zeros(rows))
        self._read(documents, found, tables)
        return found

    def _read(self, documents: Documents, found: Assessed, tables: Sequence[Weights]) -> None:
        """Fill in what is asked for, in one pass."""
        joint, weighting = found.scores[0], weighting_of(self.options.weighting)
        likelihood = found.scores[1] if len(found.scores) > 1 else np.zeros((0, joint.shape[1]))
        judged, reader = Judged(joint, likelihood, found.length, found.unknown), self._reader()
        numbered = self._in_numbers(documents) if documents.is_kept else None
        row: Number = 0
        reason: Number = SCRATCH_FULL
        while numbered is not None and reason:
            row, reason = score_numbered(numbered, row, reader.scratch, weighting, tables[0], tables[-1], judged)
            reader = roomier_reader(reader) if reason else reader
        for piece, rows in documents.with_rows() if numbered is None else ():
            row, reason, here = 0, SCRATCH_FULL, Judged(*(part[rows] for part in judged))
            while reason:
                row, reason = score_documents(piece, row, reader, weighting, tables[0], tables[-1], here)
                reader = roomier_reader(reader) if reason else reader

    def _in_numbers(self, documents: Documents) -> InNumbers | None:
        """The documents in numbers, where other readings may have asked for them."""
        return in_numbers(documents, self.terms, self.options, self.digests) if self.digests else None

    @cached_property
    def digests(self) -> tuple[bytes, ...]:
        """How the vocabulary begins."""
        return digests(self.terms, self.options)

    def _reader(self) -> Reader:
        """What documents are read with: a scratch of its own for each thread."""
        return Reader(self.letters, self.recipe, self.terms, scratch_of(FIRST_SCRATCH))

    @cached_property
    def terms(self) -> Terms:
        """What terms of new texts are found by."""
        return self.vocabulary.read_only(self.recipe)

    def log_unseen(self, unknown: FloatArray) -> FloatArray:
        """What is added to log P of each document for words that say nothing: -log(G + V) a unit of their weight.

        G is the weight of all that was seen, V the number of different words: each unknown one is as likely as a word
        seen once would be, were all classes one.
        """
        return -unknown * np.log(max(self.seen.all_totals.sum() + self.seen.all_words, 1.0))

    def spoken(self, documents: Documents) -> tuple[list[tuple[int, float]], int]:
        """The kept words of a single document with their amounts, and how many tokens it has."""
        scratch, count, tokens = self._cut_one(documents, once=True)
        unit = float(self.options.unit)
        found = zip(self._rows_of(scratch.ids[:count]), scratch.amounts[:count].tolist(), strict=True)
        return [(row, amount / unit) for row, amount in found if row >= 0], tokens

    def numbered_terms(self, documents: Documents) -> list[int]:
        """The row of every term of a single document in the order of cutting, below zero where it says nothing."""
        scratch, count, _ = self._cut_one(documents, once=False)
        return self._rows_of(scratch.ids[:count])

    def _cut_one(self, documents: Documents, once: bool) -> tuple[Scratch, int, int]:
        """A single document in numbers, each different term once where asked; how many, and of how many tokens."""
        reader, weighting = self._reader(), weighting_of(self.options.weighting)
        count: Number = SCRATCH_FULL
        tokens: Number = 0
        while count == SCRATCH_FULL:
            count, tokens = weighed_terms(documents.pieces[0], 0, *reader, weighting, once)
            if count == SCRATCH_FULL:
                reader = roomier_reader(reader)
        return reader.scratch, int(count), int(tokens)

    def _rows_of(self, numbers: IntArray) -> list[int]:
        rows = numbers - self.first
        rows = np.where(rows < 0, -1, self.rows[np.maximum(rows, 0)]) if self.rows.size else rows
        found: list[int] = rows.tolist()
        return found

    def word(self, row: int) -> str:
        """How a kept word is written."""
        spelled = self.spelling(row)
        if self.options.hashed:
            return f"slot {int.from_bytes(spelled, 'big')}"
        return written(spelled, self.options)

    def spelling(self, row: int) -> bytes:
        """A kept word as it is counted."""
        if self.lines is None:
            number = int(self.tally_numbers[row])
            return self.vocabulary.word(number, self.options.characters)
        return self.lines.letters[self.lines.offsets[row] : self.lines.offsets[row + 1]].tobytes()

    @cached_property
    def tally_numbers(self) -> IntArray:
        """The number of each row."""
        return np.flatnonzero(self.rows >= 0) if self.rows.size else np.arange(self.first, self.first + len(self))

    def says(self, row: int, weights: Weights) -> FloatArray:
        """What one occurrence of a kept word says about each class."""
        factor = self.factor[row] if self.factor.size else 1.0
        if weights.table.shape[1]:
            return np.asarray(factor * weights.table[row])
        said = weights.base[row] + weights.default
        pairs = slice(weights.indptr[row], weights.indptr[row + 1])
        said[weights.labels[pairs]] = weights.base[row] + weights.values[pairs]
        return np.asarray(factor * said)

    def shares(self, label: int, weights: Weights) -> FloatArray:
        """What each kept word says about one class."""
        if weights.table.shape[1]:
            return np.asarray(weights.table[:, label])
        said = weights.base + weights.default[label]
        mine = weights.labels == label
        said[self.seen.words[mine]] = weights.base[self.seen.words[mine]] + weights.values[mine]
        return said


def kept_words(tally: WordTally, options: TextOptions) -> IntArray:
    """Which words speak, the most frequent first; ties go to the bytewise first."""
    stopped = listed(tally.lines.offsets, tally.lines.letters, options)
    return speaking(tally.word_totals, stopped, options, bits=tally.bits)


def speaking(
    totals: IntArray, stopped: IntArray, options: TextOptions, ranks: IntArray = NO_INTEGERS, bits: int = 0
) -> IntArray:
    """Which words speak, given how much was seen of each, which are stop words, and their places where not bytewise."""
    order = np.lexsort((ranks, -totals)) if ranks.size else np.argsort(-totals, kind="stable")
    dropped = np.zeros(len(totals), dtype=bool)
    dropped[order[: options.stop_words] if isinstance(options.stop_words, int) else stopped] = True
    order = order[~dropped[order] & (totals[order] >= least_total(options, bits))]
    return order if options.max_terms is None else order[: options.max_terms]


def who_speaks(
    totals: IntArray, stopped: IntArray, options: TextOptions, ranks: IntArray = NO_INTEGERS, bits: int = 0
) -> AnyArray:
    """The same as a truth value for each word, without sorting them where the most frequent need not be known."""
    if options.max_terms is None and not (isinstance(options.stop_words, int) and options.stop_words):
        kept = totals >= least_total(options, bits)
        kept[stopped] = False
        return kept
    kept = np.zeros(len(totals), dtype=np.bool_)
    kept[speaking(totals, stopped, options, ranks, bits)] = True
    return kept


def least_total(options: TextOptions, bits: int) -> int:
    """How much must have been seen of a word that speaks, in units of counting; anything, where min_count is 1."""
    return options.min_count * counting_unit(options, bits) if options.min_count > 1 else 1


def counting_unit(options: TextOptions, bits: int) -> int:
    """How many units of counting make one, where documents weigh whole numbers of 2^-bits."""
    return max(options.unit, 1 << bits)


def written(spelled: bytes, options: TextOptions) -> str:
    """A term as people write it."""
    term = spelled.decode("utf-8", "replace")
    return closed_up(term) if options.words == "default" and not options.characters else term


def listed(offsets: IntArray, letters: AnyArray, options: TextOptions) -> IntArray:
    """Which of some spelled words are on the list of stop words, folded as the texts are."""
    from candide.families.words.word_tally_builder import WordTallyBuilder

    words = options.stop_words
    if not isinstance(words, tuple) or not words:
        return NO_INTEGERS
    builder = WordTallyBuilder(options, 2)
    documents = Documents.of(list(words), "stop_words", lowered=options.lowered_first)
    builder.learn(documents, np.zeros(len(words), dtype=np.int64), NO_INTEGERS)
    known = builder.vocabulary.number(offsets, letters, options.characters, False)
    return np.flatnonzero(known >= 0)


def inverse_frequencies(tally: WordTally, options: TextOptions) -> FloatArray:
    """The factor of each word of a tally."""
    held = tally.lines.frequency if options.weighting != "presence" else tally.word_totals
    return inverse_frequency(amounts(held, tally.bits), amounts(tally.documents, tally.bits))


def inverse_frequency(held: AnyArray, documents: AnyArray) -> FloatArray:
    """log((1 + documents) / (1 + documents with the word)) + 1."""
    return np.asarray(np.log((1.0 + documents.sum()) / (1.0 + held)) + 1.0)


def numbered(lines: Lines, options: TextOptions) -> tuple[Vocabulary, IntArray]:
    """A vocabulary that finds the words, and the row of each of its numbers; no rows where they are the same."""
    if options.hashed:
        rows = np.full(1 << options.hashed, -1, dtype=np.int64)
        rows[slots_of(lines)] = np.arange(len(lines.offsets) - 1)
        return Vocabulary(2), rows
    vocabulary = Vocabulary(len(lines.offsets) * min(options.shortest, 2))
    numbers = vocabulary.number(readonly(lines.offsets), readonly(lines.letters), options.characters, True)
    if len(numbers) == len(vocabulary) and np.array_equal(numbers, np.arange(len(numbers))):
        return vocabulary, NO_INTEGERS
    rows = np.full(len(vocabulary), -1, dtype=np.int64)
    rows[numbers] = np.arange(len(numbers))
    return vocabulary, rows


def seen_of(tally: WordTally, pairs: Pairs, factor: FloatArray, unit: float) -> Seen:
    """The counts of the kept words as the event models take them."""
    return Seen(
        indptr=pairs.indptr,
        labels=pairs.labels,
        counted=pairs.counts,
        unit=unit,
        factor=factor,
        classes=tally.classes,
        documents=amounts(tally.documents, tally.bits).astype(np.float64),
        all_words=len(tally),
        all_totals=tally.class_totals / unit,
    )


def unigrams(parameters: TextParameters) -> IntArray:
    """The kept rows that are single words, or the shortest runs, to draw new texts from; refused where hashed."""
    if parameters.options.hashed:
        raise OptionRefused(
            "Hashed words have no names, so no text can be drawn from them.",
            advice=("Learn it without ", NamedOption("hashed"), " to draw some."),
        )
    lines, gap = parameters.lines, ord(" ")
    assert lines is not None
    if parameters.options.characters:
        return np.arange(len(parameters))
    spaces = running((lines.letters == gap).astype(np.int64))
    return np.flatnonzero(spaces[lines.offsets[1:]] - spaces[lines.offsets[:-1]] == parameters.options.shortest - 1)
