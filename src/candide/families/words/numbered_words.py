"""Counts by the numbers of terms, as texts were cut: spelled and sorted only where somebody needs that."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, IntArray
from candide.families.words.event_models import NO_INTEGERS
from candide.families.words.vocabulary import Vocabulary
from candide.kernels.word_merging import Lines, sort_words
from candide.statistics.word_tally import gathered, running


class Pairs(NamedTuple):
    """How much of each word was seen with each class: word i has indptr[i]:indptr[i + 1], sorted by class."""

    indptr: IntArray
    labels: AnyArray
    counts: IntArray


@dataclass(frozen=True, eq=False)
class NumberedWords:
    """The pairs of each term of a vocabulary, which does not grow any more.

    Term i has indptr[i]:indptr[i + 1], sorted by class; none where it is only there for longer runs to be made of.
    """

    vocabulary: Vocabulary
    by_character: bool
    indptr: IntArray
    labels: AnyArray
    counts: IntArray

    @property
    def numbers(self) -> IntArray:
        """The terms that were counted."""
        return np.flatnonzero(self.indptr[1:] != self.indptr[:-1])

    def relabelled(self, labels: AnyArray, counts: IntArray) -> NumberedWords:
        """The same terms with other pairs, as many for each."""
        return replace(self, labels=labels, counts=counts)

    def joined(self, other: NumberedWords) -> NumberedWords:
        """The counts of both together, no term of which is spelled."""
        vocabulary, numbers = self.vocabulary.joined(other.vocabulary)
        terms = np.concatenate([np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr)),
                                np.repeat(numbers[: len(other.indptr) - 1], np.diff(other.indptr))])
        labels, counts = np.concatenate([self.labels, other.labels]), np.concatenate([self.counts, other.counts])
        pairs = (terms << 32) | labels
        order = np.argsort(pairs, kind="stable")
        first = np.flatnonzero(np.diff(pairs[order], prepend=-1))
        kept = order[first]
        indptr = running(np.bincount(terms[kept], minlength=len(vocabulary)))
        summed = np.add.reduceat(counts[order], first)
        return NumberedWords(vocabulary, self.by_character, indptr, labels[kept], summed)

    def spelled(self) -> Lines:
        """The same in canonical order."""
        used = self.numbers
        order = used[sort_words(*self.vocabulary.spelled(used, self.by_character))]
        offsets, letters = self.vocabulary.spelled(order, self.by_character)
        pairs = gathered(self.indptr, order)
        indptr = running(np.diff(self.indptr)[order])
        return Lines(offsets, letters, indptr, self.labels[pairs], self.counts[pairs], NO_INTEGERS.copy())
