"""Behind what a text says: the counts of its words, and the words that said nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.families.base.basis import INVERSE, ODDS, SHARE, CountBasis, and_list, short_number
from candide.families.base.explaining import CHARACTER_RUNS, IGNORED, PAIRS, TRIPLES, UNSEEN, Silence
from candide.families.words.documents import Documents
from candide.families.words.event_models import NO_FLOATS, NO_INTEGERS
from candide.families.words.options import TextOptions
from candide.families.words.parameters import TextParameters, written
from candide.families.words.word_tally_builder import WordTallyBuilder
from candide.statistics.word_tally import WordTally

TEXTS = "texts"


@dataclass(frozen=True)
class WordBasis(CountBasis):
    """The counts behind a term of a text, and how they are told: as what can be counted by hand, never as weights.

    `seen` and `of` are what was seen of the term in each class, and of how much. Where `counted` says what these are
    numbers of (texts, words), they are told as such; elsewhere they are weights, and only their shares are told.

    >>> given = {"counts": np.array([2, 0]), "totals": np.array([9, 7]), "smoothing": 1.0, "slots": 4}
    >>> WordBasis(**given, seen=np.array([2, 0]), of=np.array([9, 7]), counted="words").text(["spam", "ham"])
    '2 of the 9 words of spam and 0 of the 7 of ham'
    >>> WordBasis(**given, seen=np.array([2, 0]), of=np.array([3, 4]), counted="texts").text(["spam", "ham"])
    'in 2 of the 3 texts of spam and 0 of the 4 of ham'
    >>> WordBasis(**given, seen=np.array([0.9, 0.1]), of=np.array([9.0, 3.1])).text(["spam", "ham"])
    '3.1 times as common in spam as in ham'
    """

    seen: FloatArray = field(default_factory=lambda: NO_FLOATS)
    of: FloatArray = field(default_factory=lambda: NO_FLOATS)
    counted: str = ""

    def text(self, classes: Sequence[Any], labels: Sequence[int] | None = None) -> str:
        """What was seen in some of the classes."""
        labels = range(len(classes)) if labels is None else labels
        opening = f"{self.note}: " if self.note else ""
        if not self.counted or not self._is_whole:
            return opening + shares_told([(str(classes[label]), self._share(label)) for label in labels])
        said = [
            f"{short_number(self.seen[label])} of the {short_number(self.of[label])} "
            f"{f'{self.counted} ' if label == labels[0] else ''}of {classes[label]}"
            for label in labels
        ]
        return f"{opening}{'in ' if self.counted == TEXTS else ''}{and_list(said)}"

    @property
    def _is_whole(self) -> bool:
        return not any((numbers % 1).any() for numbers in (self.seen, self.of))

    def _share(self, label: int) -> float:
        return float(self.seen[label] / self.of[label]) if self.of[label] else 0.0

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "seen": self.seen.tolist(), "of": self.of.tolist(), "counted": self.counted}


def shares_told(shares: Sequence[tuple[str, float]]) -> str:
    """How common something is in classes, by its shares: of two as a ratio, of more as they are.

    >>> shares_told([("spam", 0.02), ("ham", 0.0)]), shares_told([("spam", 0.02), ("ham", 0.06)])
    ('seen in spam, never in ham', '3 times as common in ham as in spam')
    >>> shares_told([("spam", 0.02), ("ham", 0.0), ("eggs", 0.006)])
    '2% of spam, 0% of ham and 0.6% of eggs'
    """
    if len(shares) != 2:
        return and_list([f"{100 * share:.2g}% of {name}" for name, share in shares])
    (rare, least), (common, most) = sorted(shares, key=lambda pair: pair[1])
    if not least:
        return f"seen in {common}, never in {rare}" if most else f"never seen in {shares[0][0]} or {shares[1][0]}"
    times = f"{most / least:.2g}"
    return f"{'' if times == '1' else f'{times} times '}as common in {common} as in {rare}"


def count_bases(parameters: TextParameters, spoken: list[tuple[int, float]]) -> list[WordBasis]:
    """What was counted of each term that spoke."""
    options, seen, free = parameters.options, parameters.seen, parameters.smoothing
    rows = np.array([row for row, _ in spoken], dtype=np.int64)
    counts, totals, slots, form = counts_of(parameters, rows), parameters.kept_totals, len(parameters), SHARE
    factors = parameters.factor[rows] if parameters.factor.size else np.ones(len(rows))
    plain = unweighed(counts, factors[:, None])
    times = np.array([amount for _, amount in spoken]) * factors
    if options.model == "bernoulli":
        totals, slots, form = seen.documents, 2, ODDS
    if options.model == "poisson":
        totals, slots = seen.all_totals, seen.all_words
    if options.model == "complement":
        form, totals, counts = INVERSE, totals.sum() - totals, counts.sum(axis=1, keepdims=True) - counts
    of, counted = told_of(parameters)
    unit = TEXTS if form == ODDS else counted_unit(options)
    notes = [parameters.word(int(row)) if options.hashed else "" for row in rows]
    return [
        WordBasis(line, totals, free, slots, unit, float(time), form, note, None, there, of, counted)
        for line, time, note, there in zip(counts, times, notes, plain, strict=True)
    ]


def told_of(parameters: TextParameters) -> tuple[FloatArray, str]:
    """Out of how much the terms of each class are told to be, and what that is a number of: nothing where it weighs."""
    options, seen = parameters.options, parameters.seen
    if options.weighting == "presence":
        return seen.documents, TEXTS
    kept = seen.all_totals
    if len(parameters) < seen.all_words and options.model != "poisson":
        kept = seen.by_class(unweighed(seen.counts, parameters.factor[seen.words] if parameters.factor.size else 1.0))
    which = "" if np.array_equal(kept, seen.all_totals) else "kept "
    return kept, f"{which}{counted_unit(options)}" if options.weighting == "counts" else ""


def unweighed(counts: FloatArray, factor: FloatArray | float) -> FloatArray:
    """Counts without what rare words were multiplied by."""
    return np.asarray(np.round(counts / factor, 9))


def counted_unit(options: TextOptions) -> str:
    """What was counted.

    >>> [counted_unit(TextOptions(ngrams=longest, shortest=first)) for longest, first in ((1, 1), (2, 1), (2, 2))]
    ['words', 'words and runs of words', 'pairs of words']
    >>> counted_unit(TextOptions(characters=True, ngrams=3))
    'runs of characters'
    """
    if options.characters:
        return CHARACTER_RUNS
    if options.shortest == options.longest:
        return ("words", PAIRS, TRIPLES)[options.longest - 1]
    return "words and runs of words" if options.shortest == 1 else "runs of words"


def counts_of(parameters: TextParameters, rows: IntArray) -> FloatArray:
    """counts[word, class] of some kept words, from the pairs that occurred."""
    seen = parameters.seen
    starts, lengths = seen.indptr[rows], seen.indptr[rows + 1] - seen.indptr[rows]
    table = np.zeros((len(rows), seen.classes))
    within = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    pairs = np.repeat(starts, lengths) + within
    table[np.repeat(np.arange(len(rows)), lengths), seen.labels[pairs]] = seen.counts[pairs]
    return table


def unspoken(parameters: TextParameters, values: Documents, column: str, seen: WordTally | None) -> list[Silence]:
    """The words of a single text that say nothing: never learned, or left out. Hashed ones have no names."""
    options = parameters.options
    if options.hashed:
        return []
    builder = WordTallyBuilder(options, 1)
    builder.learn(Documents(values.pieces[:1]), np.zeros(1, dtype=np.int64), NO_INTEGERS)
    there = builder.freeze()
    known = parameters.vocabulary.number(there.lines.offsets, there.lines.letters, options.characters, False)
    words = there.words()
    return [
        Silence(column, written(words[index], options), IGNORED if holds(seen, words[index]) else UNSEEN)
        for index in np.flatnonzero(known < 0).tolist()
    ]


def holds(seen: WordTally | None, word: bytes) -> bool:
    """Whether a tally knows a word, found by halving, as its words are sorted bytewise."""
    if seen is None:
        return False
    low, high = 0, len(seen)
    while low < high:
        middle = (low + high) // 2
        if spelled(seen, middle) < word:
            low = middle + 1
        else:
            high = middle
    return low < len(seen) and spelled(seen, low) == word


def spelled(seen: WordTally, index: int) -> bytes:
    """The word at a place of a tally."""
    start, stop = seen.lines.offsets[index], seen.lines.offsets[index + 1]
    letters: Any = seen.lines.letters[start:stop]
    return bytes(letters.tobytes())
