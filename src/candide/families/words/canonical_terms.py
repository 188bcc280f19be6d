"""Terms in the one order that equal tallies share, whatever their numbers: as model files hold them.

Words, or characters, come first, sorted bytewise; then runs of two by the places of their two parts, then runs of
three, and so on. So a run is told by how many runs each shorter one begins, and by its last unit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, BoolArray, IntArray
from candide.families.words.numbered_words import NumberedWords
from candide.families.words.vocabulary import Vocabulary, with_room
from candide.kernels.run_trees import TERM_MASK, TERM_SHIFT
from candide.kernels.word_merging import Lines, sort_words
from candide.statistics.word_tally import gathered, running


class CanonicalTerms(NamedTuple):
    """All terms that were counted, and those that they are made of.

    `sizes` are how many there are of each length. Unit i is letters[offsets[i]:offsets[i + 1]]; children[term] is how
    many runs a term begins, for all but the longest; last[run] is the unit each run ends with.
    """

    offsets: IntArray
    letters: AnyArray
    sizes: IntArray
    children: IntArray
    last: IntArray


def canonical_terms(words: NumberedWords) -> tuple[CanonicalTerms, IntArray]:
    """The terms in canonical order, and the number that each has in the vocabulary."""
    terms, count = words.vocabulary.spelling, len(words.vocabulary)
    payload, lengths = terms.payload[:count], units_long(terms.payload[:count], terms.length[:count])
    left, right = payload >> TERM_SHIFT, payload & TERM_MASK
    needed, longest = needed_terms(np.diff(words.indptr) > 0, lengths, left, right), int(lengths.max(initial=1))
    places = np.full(count, -1, dtype=np.int64)
    units = np.flatnonzero(needed & (lengths == 1))
    units = units[sort_words(*words.vocabulary.spelled(units, words.by_character))]
    levels, children, last, start = [units], list[IntArray](), list[IntArray](), 0
    places[units] = np.arange(len(units))
    for length in range(2, longest + 1):
        here = np.flatnonzero(needed & (lengths == length))
        here = here[np.argsort((places[left[here]] << TERM_SHIFT) | places[right[here]], kind="stable")]
        children.append(np.bincount(places[left[here]] - start, minlength=len(levels[-1])))
        last.append(places[right[here]])
        start += len(levels[-1])
        places[here] = start + np.arange(len(here))
        levels.append(here)
    levels = [level for level in levels if len(level)] or levels[:1]
    sizes, begun = np.array([len(level) for level in levels]), np.zeros(0, dtype=np.int64)
    spelled = words.vocabulary.spelled(units, words.by_character)
    found = CanonicalTerms(
        *spelled, sizes, np.concatenate([begun, *children[: len(levels) - 1]]), np.concatenate([begun, *last])
    )
    return found, np.concatenate(levels)


def units_long(payload: IntArray, length: AnyArray) -> IntArray:
    """How many words, or characters, each term has: a run has one more than the run without its last."""
    found = (length > 0).astype(np.int64)
    runs = np.flatnonzero(length == 0)
    while len(runs):
        before = found[payload[runs] >> TERM_SHIFT]
        found[runs] = np.where(before > 0, before + 1, 0)
        runs = runs[before == 0]
    return found


def needed_terms(counted: BoolArray, lengths: IntArray, left: IntArray, right: IntArray) -> BoolArray:
    """Which terms were counted, or are part of one that was."""
    needed = counted.copy()
    for length in range(int(lengths.max(initial=1)), 1, -1):
        here = np.flatnonzero(needed & (lengths == length))
        needed[left[here]] = True
        needed[right[here]] = True
    return needed


def vocabulary_of(terms: CanonicalTerms, by_character: bool) -> Vocabulary | None:
    """The terms by their places; nothing where a unit is none."""
    units = Vocabulary(len(terms.offsets))
    numbers = units.number(terms.offsets, terms.letters, by_character, learning=True)
    if len(units) != len(numbers) or not np.array_equal(numbers, np.arange(len(numbers))):
        return None
    found = units.spelling
    left = np.repeat(np.arange(len(terms.children)), terms.children)
    payload = np.concatenate([found.payload[: len(numbers)], (left << TERM_SHIFT) | terms.last])
    length = with_room(found.length[: len(numbers)], len(payload))
    return Vocabulary.of(found.arena[: found.sizes[1]].copy(), payload, length)


def numbered_lines(lines: Lines, by_character: bool) -> NumberedWords:
    """Spelled words by numbers."""
    vocabulary = Vocabulary(len(lines.offsets))
    numbers = vocabulary.number(lines.offsets, lines.letters, by_character, learning=True)
    sizes = np.zeros(len(vocabulary), dtype=np.int64)
    sizes[numbers] = np.diff(lines.indptr)
    lines_of = np.argsort(numbers, kind="stable")
    pairs = gathered(lines.indptr, lines_of)
    return NumberedWords(vocabulary, by_character, running(sizes), lines.labels[pairs], lines.counts[pairs])
