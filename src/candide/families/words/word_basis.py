"""Behind what a text says: the counts of its words, and the words that said nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.families.base.basis import INVERSE, ODDS, SHARE, CountBasis
from candide.families.base.explaining import IGNORED, UNSEEN, Silence
from candide.families.words.documents import Documents
from candide.families.words.event_models import NO_INTEGERS
from candide.families.words.options import TextOptions
from candide.families.words.parameters import TextParameters, written
from candide.families.words.word_tally_builder import WordTallyBuilder
from candide.statistics.word_tally import WordTally


def count_bases(parameters: TextParameters, spoken: list[tuple[int, float]]) -> list[CountBasis]:
    """What was counted of each word that spoke."""
    model, seen = parameters.options.model, parameters.seen
    counts = counts_of(parameters, np.array([row for row, _ in spoken], dtype=np.int64))
    totals, slots, free = parameters.kept_totals, len(parameters), parameters.smoothing
    if model == "bernoulli":
        return [CountBasis(line, seen.documents, free, 2, "texts", form=ODDS) for line in counts]
    if model == "poisson":
        totals, slots = seen.all_totals, seen.all_words
    form = SHARE
    if model == "complement":
        form, totals, counts = INVERSE, totals.sum() - totals, counts.sum(axis=1, keepdims=True) - counts
    times = [amount * factor_of(parameters, row) for row, amount in spoken]
    unit = counted_unit(parameters.options)
    return [CountBasis(line, totals, free, slots, unit, time, form) for line, time in zip(counts, times, strict=True)]


def counted_unit(options: TextOptions) -> str:
    """What was counted.

    >>> counted_unit(TextOptions()), counted_unit(TextOptions(ngrams=2))
    ('words', 'words and runs of words')
    >>> counted_unit(TextOptions(characters=True, ngrams=3))
    'runs of characters'
    """
    if options.characters:
        return "runs of characters"
    if options.shortest > 1:
        return "runs of words"
    return "words" if options.longest == 1 else "words and runs of words"


def factor_of(parameters: TextParameters, row: int) -> float:
    """What a word is multiplied by for being rare; 1 where that is not asked for."""
    return float(parameters.factor[row]) if parameters.factor.size else 1.0


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
