"""A column of texts in two models: which words became more of all words, and which less."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from candide.data.arrays import FloatArray
from candide.evaluation.drift.changes import ALONE, WORD, Shift, changed_shares, most_in_each_direction
from candide.evaluation.drift.counts import PairedCounts, in_same_cells
from candide.evaluation.drift.divergence import BEYOND, NO_DIVERGENCE, Divergence
from candide.evaluation.drift.paired_column import PairedColumn, Rows, changed_missing
from candide.statistics.word_tally import WordTally

MOST_WORDS = 4096
"""Of more different words the commonest are compared one by one, and the others as one."""

SCALED_BITS = 32
"""Amounts that a recipe scales are counted in units of 2^-32."""


@dataclass(frozen=True, eq=False)
class WordsColumn(PairedColumn):
    """The words of a text, and the rows that have one; or kinds of event, and no more."""

    words: PairedCounts
    names: tuple[str, ...]
    presence: PairedCounts | None = None

    @classmethod
    def of(cls, before: WordTally, after: WordTally, rows: Rows) -> WordsColumn:
        """From the words of both: the commonest one by one, and the others as one."""
        common = commonest_words(before, after)
        lines = [word_lines(tally, common) for tally in (before, after)]
        texts = [np.ldexp(tally.documents.astype(np.float64), -tally.bits) for tally in (before, after)]
        there = [np.stack([held, np.maximum(of - held, 0)]) for held, of in zip(texts, rows, strict=True)]
        names = tuple(word.decode("utf-8", "replace") for word in common)
        repeated = repetition(sum(float(one.sum()) for one in lines), sum(float(one.sum()) for one in texts))
        return cls(PairedCounts(lines[0], lines[1], 0, repeated), names, PairedCounts(there[0], there[1]))

    @classmethod
    def of_events(cls, before: FloatArray, after: FloatArray, names: tuple[str, ...], rows: Rows) -> WordsColumn:
        """From how often each kind of event was counted, in rows that hold some of each."""
        repeated = repetition(float(before.sum() + after.sum()), float(rows[0].sum() + rows[1].sum()))
        return cls(PairedCounts(before, after, 0, repeated), names)

    def of_class(self, index: int) -> WordsColumn:
        presence = None if self.presence is None else self.presence.of_class(index)
        return WordsColumn(self.words.of_class(index), self.names, presence)

    @property
    def divergence(self) -> Divergence:
        presence = NO_DIVERGENCE if self.presence is None else self.presence.divergence
        return Divergence.weighted([self.words.divergence, presence], [1.0, 1.0])

    @property
    def changes(self) -> tuple[Shift, ...]:
        found = most_in_each_direction(self._words(BEYOND))
        if self.presence is None:
            return found
        return (*changed_missing(self.presence.before.sum(axis=1), self.presence.after.sum(axis=1)), *found)

    @property
    def singled_out(self) -> tuple[Shift, ...]:
        return tuple(self._words(ALONE))

    def _words(self, deviations: float) -> list[Shift]:
        """Words that moved, each by itself: of a long text, a quarter may be one word."""
        before, after = self.words.before.sum(axis=1), self.words.after.sum(axis=1)
        repeated = max(self.words.repeated, self.words.repeated**2 / 4)
        return changed_shares(WORD, self.names, before, after, repeated, deviations)


def commonest_words(before: WordTally, after: WordTally) -> list[bytes]:
    """Those that are most of all words, where the two are as much as each other."""
    totals = [tally.word_totals[:, None].astype(np.float64) for tally in (before, after)]
    names, *shares = in_same_cells((before.words(), after.words()), (totals[0], totals[1]))
    each = sum(share[:, 0] / max(share.sum(), 1) for share in shares)
    order = np.argsort(-np.asarray(each), kind="stable")[:MOST_WORDS]
    return [names[index] for index in sorted(order.tolist())]


def word_lines(tally: WordTally, words: Sequence[bytes]) -> FloatArray:
    """How much of each of these words was seen with each class; the last line is of all others."""
    place = {word: index for index, word in enumerate(words)}
    places = np.array([place.get(word, len(words)) for word in tally.words()], dtype=np.int64)
    pairs = np.repeat(places, np.diff(tally.lines.indptr))
    lines = np.zeros((len(words) + 1, tally.classes))
    np.add.at(lines, (pairs, tally.lines.labels), tally.lines.counts)
    return np.ldexp(lines, -(SCALED_BITS if tally.scaled else tally.bits))


def repetition(words: float, texts: float) -> float:
    """For how many words of a text chance has drawn one: the root of its length.

    Words come in company: one that is in a text is often there again, with others on the same matter. Halves of the
    same mail (840 words each, some of them attachments) lie 11 times as far apart as words drawn one by one would,
    of film reviews (670 words) 2 times, of short messages (16 words) 1.4 times.

    >>> repetition(1600.0, 100.0), repetition(5.0, 10.0)
    (4.0, 1.0)
    """
    return max((words / max(texts, 1.0)) ** 0.5, 1.0)
