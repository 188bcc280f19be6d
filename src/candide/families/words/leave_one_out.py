"""Documents judged by the counts of all the others: exact leave-one-out for text, with no refits.

The counts are those of a word tally, as here, or of a `TermMatrix`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.data.cached import cached_property
from candide.data.errors import ForgetRefused
from candide.families.base.block_rows import BlockRows
from candide.families.base.block_scores import BlockScores
from candide.families.base.safe_log import safe_log
from candide.families.words.documents import Documents
from candide.families.words.event_models import CLASSES_A_LINE, NO_FLOATS, NO_INTEGERS
from candide.families.words.numbered_words import Pairs
from candide.families.words.options import TextOptions
from candide.families.words.parameters import (
    counting_unit,
    inverse_frequencies,
    least_total,
    listed,
    numbered,
    who_speaks,
)
from candide.families.words.term_lists import rows_of, weighed, weight_units
from candide.families.words.vocabulary import Vocabulary, letters_of, recipe_of
from candide.kernels.shared_terms import ShareTable, leave_out_shared, share_table
from candide.kernels.threads import in_parallel
from candide.kernels.word_leaving import (
    Absence,
    Counted,
    Rows,
    absences,
    leave_out_complements,
    leave_out_presence,
    leave_out_shares,
    sum_kept_words,
    sum_rows,
    unknown_without,
)
from candide.kernels.word_merging import class_totals, word_totals
from candide.kernels.words import Number
from candide.statistics.weight_grid import FINEST, bits_of
from candide.statistics.word_tally import WordTally

NO_LOGS = np.zeros((0, 1))
#: Logarithms of counts are tabled where they are no more than this.
MOST_LOGS = 20_000_000
#: Lines of what terms say of each class have no more cells than this.
MOST_CELLS = 8_000_000
#: So many rows are work for one thread.
ROWS_AT_ONCE = 1024

Judge = Callable[[Rows, IntArray, IntArray, FloatArray], Number]
"""Adds what rows, their labels and weights say into [smoothing, row, class]; how many of them were counted."""


class Alone(NamedTuple):
    """Words that one document holds, left out of the pairs: how many, and how much of them each class has."""

    words: int
    totals: IntArray


@dataclass(frozen=True, eq=False)
class WordCountsWithout:
    """Counts that documents can be taken out of, one at a time.

    A word that only the document held leaves with it, as does one that then falls below `min_count`: it says nothing
    and is no longer one of the words among which chances are shared. What depends on all documents at once stays as
    it was chosen: the words that `max_terms` or a number of `stop_words` keep, and the factors of `idf`.
    """

    options: TextOptions
    counted: Counted

    @classmethod
    def of(
        cls,
        pairs: Pairs,
        documents: IntArray,
        options: TextOptions,
        stopped: IntArray = NO_INTEGERS,
        factor: FloatArray = NO_FLOATS,
        ranks: IntArray = NO_INTEGERS,
        bits: int = 0,
        alone: Alone | None = None,
    ) -> WordCountsWithout:
        """From the pairs of words; `stopped` are the numbers of the stop words, `ranks` where order is not bytewise.

        Where some are left `alone`, every word speaks. Documents, and counts unless their weighting has smaller units,
        are in units of 2^-bits.
        """
        words, classes = len(pairs.indptr) - 1, len(documents)
        totals, all_totals = np.zeros(words, dtype=np.int64), np.zeros(classes, dtype=np.int64)
        word_totals(pairs.indptr, pairs.counts, totals)
        class_totals(pairs.labels, pairs.counts, all_totals)
        kept, scaled = who_speaks(totals, stopped, options, ranks, bits), options.unit > 1
        counted = Counted(
            *pairs, totals, kept, factor, np.zeros(classes, dtype=np.int64), np.zeros(classes), all_totals,
            np.array(documents), int(kept.sum()), int(np.count_nonzero(totals)), least_total(options, bits),
            1.0 / counting_unit(options, bits), 1.0 / options.unit, bits if scaled else 0,
        )  # fmt: skip
        sum_kept_words(counted, counted.class_totals, counted.class_weights)
        return cls(options, counted if alone is None else with_alone(counted, alone))

    def add(
        self,
        rows: Rows,
        labels: IntArray,
        weights: IntArray,
        smoothings: Sequence[float],
        model: str,
        joints: FloatArray,
    ) -> None:
        """Add into joints[smoothing, row, class] what each row says once it is out; rows are weighed already.

        Parts of the rows are asked about side by side, by all smoothings at once.
        """
        labels, size, judge = np.ascontiguousarray(labels), len(labels), self._judge(rows, smoothings, model)

        def part(start: int) -> int:
            here = slice(start, min(start + ROWS_AT_ONCE, size))
            done = judge(standing_together(rows, here), labels[here], weights[here], joints[:, here])
            return size if done == here.stop - start else start + int(done)

        done = min(in_parallel(part, range(0, size, ROWS_AT_ONCE)), default=size)
        if done < size:
            raise ForgetRefused(
                f"Text {done} has words that were never learned with its label. Only rows that were learned can be "
                "left out."
            )

    def unknown_words_log_likelihood(self, rows: Rows, weights: IntArray) -> FloatArray:
        """What is added to log P of each row for its words that no other row holds."""
        found = np.zeros(len(rows.tokens))
        unknown_without(rows, weights, self.counted, found)
        return found

    def assess(
        self,
        rows: Rows,
        labels: IntArray,
        weights: IntArray,
        smoothing: float,
        models: Sequence[str],
        is_auxiliary: bool,
    ) -> BlockScores:
        """All that is said of each row once it is out; `models` and `is_auxiliary` are those of `TextsLeftOut`."""
        found = np.zeros((len(models), len(labels), len(self.counted.documents)))
        for model, said in zip(models, found, strict=True):
            self.add(rows, labels, weights, (smoothing,), model, said[None])
        return self.assessed(rows, weights, [*found], is_auxiliary)

    def assessed(
        self, rows: Rows, weights: IntArray, said: Sequence[FloatArray], is_auxiliary: bool
    ) -> BlockScores:
        """The same, given what each of the models said."""
        likelihood = np.zeros(said[0].shape) if is_auxiliary else said[-1]
        length = lengths_of_rows(rows, self.options)
        return BlockScores(said[0], likelihood, length, self.unknown_words_log_likelihood(rows, weights))

    def _judge(self, rows: Rows, smoothings: Sequence[float], model: str) -> Judge:
        """What adds, for some of the rows, what they say; how many were done, not all where one was never counted."""
        seen, amounts = self.counted, np.array(smoothings, dtype=np.float64)
        if model == "multinomial" and rows.alone.size and min(smoothings) > 0:
            table = self._share_table(rows, amounts)
            return lambda some, labels, weights, joints: leave_out_shared(
                some, labels, weights, seen, amounts, table, joints
            )
        if model in ("multinomial", "poisson"):
            few = len(rows.terms) < len(seen.counts) or len(smoothings) * len(seen.counts) > MOST_LOGS
            logs = NO_LOGS if few else np.column_stack([self._pair_logs(smoothing) for smoothing in smoothings])
            return lambda some, labels, weights, joints: leave_out_shares(
                some, labels, weights, seen, amounts, logs, model == "poisson", joints
            )
        leave_out = self._complements if model == "complement" else self._presence
        return lambda some, labels, weights, joints: min(
            leave_out(some, labels, weights, smoothing, joint)
            for smoothing, joint in zip(smoothings, joints, strict=True)
        )

    def _share_table(self, rows: Rows, smoothings: FloatArray) -> ShareTable:
        """What terms of rows say by each smoothing: in lines where many classes saw them, as long as there is room."""
        seen, cells = self.counted, len(self.counted.documents) * len(smoothings)
        worth_a_line = int(np.count_nonzero(CLASSES_A_LINE * np.diff(seen.indptr) >= len(seen.documents)))
        wide = min(worth_a_line, MOST_CELLS // cells)
        pairs = len(seen.counts) - int(seen.indptr[wide])
        return share_table(rows, seen, smoothings, wide, pairs * len(smoothings) <= MOST_LOGS)

    def _complements(
        self, rows: Rows, labels: IntArray, weights: IntArray, smoothing: float, joint: FloatArray
    ) -> Number:
        return leave_out_complements(rows, labels, weights, self.counted, smoothing, joint)

    def _presence(
        self, rows: Rows, labels: IntArray, weights: IntArray, smoothing: float, joint: FloatArray
    ) -> Number:
        seen, logs = self.counted, self._pair_logs(smoothing)
        absent, everyone = self._pair_absences(smoothing), np.arange(len(seen.documents))
        kinds, which = np.unique(np.column_stack([labels, weights]), axis=0, return_inverse=True)
        absence = self._absences(
            np.concatenate([everyone, kinds[:, 0]]),
            np.concatenate([seen.documents, seen.documents[kinds[:, 0]] - kinds[:, 1]]),
            smoothing,
        )
        own = len(everyone) + which.ravel()
        own_absence = Absence(absence.constant[own], absence.certain[own])
        return leave_out_presence(
            rows, labels, weights, seen, smoothing, logs, absent, absence, own_absence, joint
        )

    def _pair_logs(self, smoothing: float) -> FloatArray:
        seen = self.counted
        counts = (seen.counts * seen.unit).astype(np.float64)
        if seen.factor.size:
            counts *= np.repeat(seen.factor, np.diff(seen.indptr))
        return safe_log(counts + smoothing)

    def _pair_absences(self, smoothing: float) -> FloatArray:
        seen = self.counted
        there = seen.documents[seen.labels]
        absent = np.asarray((there - seen.counts) * seen.unit, dtype=np.float64)
        with np.errstate(invalid="ignore"):
            return np.asarray(safe_log(absent + smoothing) - safe_log(np.asarray(there * seen.unit) + smoothing))

    def _absences(self, labels: IntArray, documents: IntArray, smoothing: float) -> Absence:
        """What the absence of all words says where a class has so many documents, and how many words are certain."""
        seen = self.counted
        speaks = np.repeat(seen.kept, np.diff(seen.indptr))
        of_class, counts = seen.labels[speaks], seen.counts[speaks]
        order = np.lexsort((counts, of_class))
        of_class, counts = of_class[order], counts[order]
        first = np.flatnonzero(np.diff(of_class, prepend=-1) | np.diff(counts, prepend=-1))
        words = np.diff(first, append=len(counts))
        starts = np.searchsorted(of_class[first], np.arange(len(seen.documents) + 1))
        found = Absence(np.empty(len(labels)), np.empty(len(labels), dtype=np.int64))
        absences(starts, counts[first], words, seen.kept_words, seen.unit, smoothing, labels, documents, found)
        return found


def with_alone(counted: Counted, alone: Alone) -> Counted:
    """The counts with words that one document holds among the totals."""
    return counted._replace(
        class_totals=counted.class_totals + alone.totals,
        class_weights=counted.class_weights + alone.totals * counted.unit,
        all_totals=counted.all_totals + alone.totals,
        kept_words=counted.kept_words + alone.words,
        all_words=counted.all_words + alone.words,
    )


def standing_together(rows: Rows, here: slice) -> Rows:
    """Some of the rows that stand together, not copied."""
    return rows._replace(
        indptr=rows.indptr[here.start : here.stop + 1],
        tokens=rows.tokens[here],
        alone=rows.alone[here],
        alone_amounts=rows.alone_amounts[here],
    )


def lengths_of_rows(rows: Rows, options: TextOptions, wanted: IntArray | None = None) -> FloatArray:
    """How much the terms of each row, or of each wanted one, weigh together, weighed as they are."""
    wanted = np.arange(len(rows.tokens)) if wanted is None else wanted
    amounts = np.empty(len(wanted), dtype=np.int64)
    sum_rows(rows, wanted, amounts)
    return amounts / options.unit


@dataclass(frozen=True, eq=False)
class TallyIndex:
    """A tally's words, found by their letters, and the counts that documents are taken out of."""

    vocabulary: Vocabulary
    places: IntArray
    leaving: WordCountsWithout

    @classmethod
    def of(cls, tally: WordTally, options: TextOptions) -> TallyIndex:
        lines = tally.lines
        vocabulary, indices = numbered(lines, options)
        factor = inverse_frequencies(tally, options) if options.idf else NO_FLOATS
        pairs, stopped = Pairs(lines.indptr, lines.labels, lines.counts), listed(lines.offsets, lines.letters, options)
        leaving = WordCountsWithout.of(pairs, tally.documents, options, stopped, factor, bits=tally.bits)
        return cls(vocabulary, indices, leaving)

    def rows(self, documents: Documents) -> Rows:
        """The documents in the tally's words, weighed."""
        options = self.leaving.options
        rows = weighed(
            rows_of(documents, letters_of(options), recipe_of(options), self.vocabulary), options.weighting
        )
        if not self.places.size:
            return rows
        words = np.where(rows.terms < 0, -1, self.places[rows.terms])
        return rows._replace(terms=words.astype(np.int32))


@dataclass(frozen=True, eq=False)
class TextsLeftOut:
    """A tally of texts that they can be taken out of, one at a time; each is cut once for all that is asked.

    `models` are the one that scores, and another for the likelihood where the score is none.
    """

    tally: WordTally
    index: TallyIndex
    smoothing: float
    models: tuple[str, ...]
    is_auxiliary: bool

    @cached_property
    def finest(self) -> TallyIndex:
        """The counts in the smallest units, for rows whose weights are fractions though their sums are whole."""
        return TallyIndex.of(self.tally.at(FINEST), self.index.leaving.options)

    def scores(self, rows: BlockRows[Documents]) -> BlockScores:
        labels, weights = rows.labels, rows.weights
        bits = max(self.tally.bits, bits_of(weights))
        index, units = self.index if bits == self.tally.bits else self.finest, weight_units(weights, len(labels), bits)
        texts = index.rows(rows.values)
        return index.leaving.assess(texts, labels, units, self.smoothing, self.models, self.is_auxiliary)
