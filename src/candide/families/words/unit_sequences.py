"""Texts as one sequence of numbered words, or characters, from which runs of any length follow without a letter."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from candide.data.arrays import AnyArray, IntArray
from candide.data.cached import cached_property
from candide.families.words.documents import Documents
from candide.families.words.event_models import NO_INTEGERS
from candide.families.words.options import TextOptions
from candide.families.words.vocabulary import (
    FIRST_SCRATCH,
    Vocabulary,
    letters_of,
    recipe_of,
    scratch_of,
    with_room,
)
from candide.kernels.run_trees import TERM_SHIFT
from candide.kernels.word_leaving import LIST_FULL, Rows
from candide.kernels.word_merging import sort_words
from candide.kernels.word_runs import list_runs, list_units, number_runs, sort_units
from candide.kernels.words import SCRATCH_FULL, Number, Reader

#: A text has about one word in so many bytes; where it has more, there is made more room.
BYTES_A_UNIT = 5


@dataclass(frozen=True, eq=False)
class Runs:
    """The runs of one size: the number of the one that begins at each position, and the two parts of each number."""

    numbers: AnyArray
    parts: AnyArray

    def __len__(self) -> int:
        return len(self.parts)


@dataclass(frozen=True, eq=False)
class UnitSequence:
    """The units of all texts, one after the other, by numbers in bytewise order."""

    units: AnyArray
    starts: IntArray
    missing: AnyArray
    vocabulary: Vocabulary
    is_unspaced: bool
    """Whether there are characters of scripts without spaces that stand together."""
    longer: list[Runs] = field(default_factory=list)
    """Runs of two units, of three, and so on, as far as somebody has asked for them."""

    @classmethod
    def of(cls, documents: Documents, options: TextOptions) -> UnitSequence:
        vocabulary, unspaced = Vocabulary(), np.zeros(1, dtype=np.int64)
        recipe = recipe_of(options)._replace(shortest=1, ngrams=1, hashed=0, unspaced=1)
        starts, room = np.zeros(len(documents) + 1, dtype=np.int64), 1 if options.characters else BYTES_A_UNIT
        units = np.empty(documents.bytes_long // room + 16, dtype=np.int32)
        missing = np.zeros(len(documents), dtype=np.bool_)
        letters, scratch = letters_of(options), scratch_of(FIRST_SCRATCH)
        for piece, rows in documents.with_rows():
            missing[rows] = piece.missing if piece.missing.size else False
            row: Number = 0
            reason: Number = SCRATCH_FULL
            while reason:
                reader = Reader(letters, recipe, vocabulary.terms, scratch)
                here = starts[rows.start : rows.stop + 1]
                row, reason = list_units(piece, row, reader, True, here, units, unspaced)
                if reason == LIST_FULL:
                    units = np.concatenate([units, np.empty_like(units)])
                elif reason == SCRATCH_FULL:
                    scratch = scratch_of(2 * len(scratch.ids))
                vocabulary.make_room(reason)
        order = sort_words(*vocabulary.spelled(np.arange(len(vocabulary)), options.characters))
        ranks = np.empty(len(order), dtype=np.int32)
        ranks[order] = np.arange(len(order))
        return cls(ranks[units[: starts[-1]]], starts, missing, reordered(vocabulary, order), bool(unspaced[0]))

    @cached_property
    def by_unit(self) -> tuple[AnyArray, AnyArray]:
        """All positions sorted by their units, and how many units of the text come before each, up to 255."""
        order, before = np.empty_like(self.units), np.empty(len(self.units), dtype=np.uint8)
        sort_units(self.units, self.starts, len(self.vocabulary), order, before)
        return order, before

    def _numbered(self, before: AnyArray, most: int, size: int, numbers: AnyArray) -> AnyArray:
        """Number the runs of a size, given those that are one unit shorter; their parts."""
        return number_runs(before, most, self.units, self.starts, *self.by_unit, size, numbers)

    def runs(self, size: int) -> Runs:
        """The runs of so many units, at least two."""
        while len(self.longer) < size - 1:
            longer = len(self.longer) + 2
            before = self.longer[-1].numbers if self.longer else self.units
            most = len(self.longer[-1]) if self.longer else len(self.vocabulary)
            numbers = np.zeros_like(self.units)
            self.longer.append(Runs(numbers, self._numbered(before, most, longer, numbers)))
        return self.longer[size - 2]

    def terms(self, shortest: int, longest: int) -> tuple[Rows, Vocabulary]:
        """The runs of the sizes between in each text, and a vocabulary of them and all that they are made of."""
        sizes = range(shortest, longest + 1)
        before = np.cumsum([0, len(self.vocabulary), *(len(self.runs(size)) for size in range(2, longest + 1))])
        numbers = [self.units if size == 1 else self.runs(size).numbers for size in sizes]
        runs = np.stack(numbers) if len(numbers) > 1 else numbers[0][None]
        return self._listed(runs, before[shortest - 1 : longest], shortest), self._vocabulary(longest, before)

    def _listed(self, runs: AnyArray, shifts: IntArray, shortest: int) -> Rows:
        texts, tokens = len(self.starts) - 1, runs.size
        out = Rows(
            np.zeros(texts + 1, dtype=np.int64),
            np.empty(tokens, dtype=np.int32),
            np.empty(tokens, dtype=np.int32),
            np.empty(texts, dtype=np.int64),
            NO_INTEGERS,
            NO_INTEGERS,
        )
        scratch = scratch_of(FIRST_SCRATCH)
        row: Number = 0
        reason: Number = SCRATCH_FULL
        while reason:
            row, reason = list_runs(runs, shifts, shortest, self.starts, self.missing, row, scratch, out)
            if reason == SCRATCH_FULL:
                scratch = scratch_of(2 * len(scratch.ids))
        used = out.indptr[-1]
        return out._replace(terms=out.terms[:used].copy(), amounts=out.amounts[:used].copy())

    def _vocabulary(self, longest: int, before: IntArray) -> Vocabulary:
        if longest == 1:
            return self.vocabulary
        units = self.vocabulary.spelling
        payload, length = (with_room(array, before[longest]) for array in (units.payload, units.length))
        for runs, shift, start in zip(self.longer, before, before[1:longest], strict=False):
            here = payload[start : start + len(runs)]
            here[:] = runs.parts[:, 0]
            here += shift
            here <<= TERM_SHIFT
            here |= runs.parts[:, 1]
        return Vocabulary.of(units.arena, payload, length)


def reordered(vocabulary: Vocabulary, order: IntArray) -> Vocabulary:
    """The same words by other numbers."""
    units = vocabulary.spelling
    return Vocabulary.of(units.arena[: units.sizes[1]].copy(), units.payload[order], units.length[order])
