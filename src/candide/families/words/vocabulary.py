"""A vocabulary that grows: terms get numbers as they turn up, and can be spelled again."""

from __future__ import annotations

import numpy as np

from candide.data.advice import SetOption
from candide.data.arrays import AnyArray, IntArray
from candide.data.errors import OverflowRefused
from candide.families.words import alphabet
from candide.families.words.options import TextOptions
from candide.kernels.run_trees import TERM_SHIFT, fill_nodes
from candide.kernels.word_merging import adopt_terms, number_lines, spell, spelled_lengths
from candide.kernels.word_runs import find_slots
from candide.kernels.words import (
    AHEAD,
    ARENA_FULL,
    MOST_TERMS,
    SCRATCH_FULL,
    TERMS_FULL,
    Letters,
    Number,
    Recipe,
    Scratch,
    Terms,
    empty_slots,
    refill,
)
from candide.statistics.word_tally import running

#: Where a script has no spaces, up to so many characters that stand together are a term: three would help no more
#: (`benchmarks/scripts.py`), and runs of words and characters can always be asked for.
LONGEST_UNSPACED = 2
FIRST_TERMS = 1 << 10
ASCII = 128
NO_NODES = np.zeros((0, 3), dtype=np.uint64)
FIRST_SCRATCH = 1 << 12
#: Small vocabularies grow faster, as growing means to begin a document again.
LEAPS_UNTIL = 1 << 16


def letters_of(options: TextOptions) -> Letters:
    """The table of characters a recipe reads by."""
    if options.characters:
        return alphabet.character_letters(options.fold_case, options.fold_accents)
    if options.words == "sklearn":
        return alphabet.sklearn_letters(options.fold_case)
    if options.words == "spaced":
        return alphabet.spaced_letters(options.fold_case, options.fold_accents)
    return alphabet.default_letters(options.fold_case, options.fold_accents)


def recipe_of(options: TextOptions) -> Recipe:
    """The recipe in the kernels' numbers."""
    word_length = 2 if options.words == "sklearn" else 1
    unspaced = LONGEST_UNSPACED if options.shortest == 1 else 1
    by_character, hashed = int(options.characters), options.hashed or 0
    return Recipe(word_length, options.shortest, options.longest, by_character, hashed, unspaced)


def scratch_of(room: int) -> Scratch:
    """Room for a document of so many terms."""
    return Scratch(
        np.zeros(room, dtype=np.int64),
        np.zeros(room, dtype=np.int64),
        np.zeros(4 * room, dtype=np.int64),
        np.zeros(room, dtype=np.uint64),
        np.zeros(AHEAD, dtype=np.uint64),
    )


class Vocabulary:
    """The terms met so far, in order of appearance, or numbered elsewhere."""

    def __init__(self, room: int = FIRST_TERMS) -> None:
        room = 1 << max(room - 1, 1).bit_length()
        self._terms = Terms(
            empty_slots(2 * room),
            np.zeros(room, dtype=np.uint64),
            np.zeros(room, dtype=np.int64),
            np.zeros(room, dtype=np.int64),
            np.zeros(2, dtype=np.int64),
            np.full(ASCII, -1, dtype=np.int64),
            NO_NODES,
        )

    @classmethod
    def of(cls, arena: AnyArray, payload: IntArray, length: IntArray) -> Vocabulary:
        """Of terms that were numbered elsewhere; the table to find them by is made when it is first needed."""
        vocabulary = cls.__new__(cls)
        sizes, one_byte = np.array([len(payload), len(arena)]), np.full(ASCII, -1, dtype=np.int64)
        short = np.flatnonzero(length == 1)
        one_byte[payload[short]] = short
        vocabulary._terms = Terms(np.zeros(0, dtype=np.uint64), arena, payload, length, sizes, one_byte, NO_NODES)
        return vocabulary

    @property
    def terms(self) -> Terms:
        """The terms as kernels find them."""
        if not self._terms.slots.size:
            slots = empty_slots(2 << max(self.room - 1, 1).bit_length())
            find_slots(self._terms.arena, self._terms.payload, self._terms.length, slots)
            self._terms = self._terms._replace(slots=slots)
        return self._terms

    def read_only(self, recipe: Recipe) -> Terms:
        """The terms as those of new texts are found: runs in canonical order by nodes, others by a table."""
        _, arena, payload, length, sizes, _, _ = self._terms
        payload, length = payload[: sizes[0]], length[: sizes[0]]
        units = int(np.count_nonzero(length))
        runs = payload[units:]
        canonical = len(runs) and length[:units].all() and (runs[1:] > runs[:-1]).all()
        if not canonical or (recipe.unspaced > recipe.ngrams and not recipe.by_character):
            return self.terms
        columns = NO_NODES.shape[1] if recipe.by_character else 1
        nodes = np.zeros(((runs[-1] >> TERM_SHIFT) + 2, columns), dtype=np.uint64)
        slots = empty_slots(2 << max(units - 1, 1).bit_length())
        find_slots(arena, payload[:units], length[:units], slots)
        fill_nodes(payload, units, nodes)
        return self._terms._replace(slots=slots, payload=payload, nodes=nodes)

    @property
    def spelling(self) -> Terms:
        """The terms as they are spelled; perhaps without a table to find them by."""
        return self._terms

    def __len__(self) -> int:
        return int(self._terms.sizes[0])

    @property
    def room(self) -> int:
        """How many terms there is room for."""
        return len(self._terms.payload)

    def make_room(self, reason: Number) -> None:
        """Grow what a kernel found too small."""
        if reason == ARENA_FULL:
            self._terms = self.terms._replace(arena=grown(self.terms.arena, 2))
        elif reason == TERMS_FULL:
            if self.room >= MOST_TERMS:
                raise OverflowRefused(
                    f"There are more than {MOST_TERMS:,} different terms.",
                    advice=("Use ", SetOption("hashed", 24), ", or shorter n-grams."),
                )
            factor = 4 if self.room < LEAPS_UNTIL else 2
            slots = empty_slots(2 * factor * self.room)
            refill(self.terms.slots, slots)
            self._terms = self.terms._replace(
                slots=slots, payload=grown(self.terms.payload, factor), length=grown(self.terms.length, factor)
            )

    def number(self, offsets: IntArray, letters: AnyArray, by_character: bool, learning: bool) -> IntArray:
        """The number of each spelled term; unknown ones are learned, or get a number below zero."""
        numbers = np.empty(len(offsets) - 1, dtype=np.int64)
        recipe = Recipe(1, 1, 1, int(by_character), 0, 1)
        scratch = scratch_of(FIRST_SCRATCH)
        line: Number = 0
        reason: Number = SCRATCH_FULL
        while reason:
            line, reason = number_lines(offsets, letters, line, recipe, learning, self.terms, scratch, numbers)
            if reason == SCRATCH_FULL:
                scratch = scratch_of(2 * len(scratch.ids))
            self.make_room(reason)
        return numbers

    def copied(self) -> Vocabulary:
        """The same terms by the same numbers, free to grow."""
        terms, room = self.terms, 1 << max(self.room - 1, 1).bit_length()
        arena = with_room(terms.arena, max(len(terms.arena), 1))
        copy = Vocabulary.of(arena, with_room(terms.payload, room), with_room(terms.length, room))
        copy._terms = copy._terms._replace(slots=terms.slots.copy(), sizes=terms.sizes.copy(), ascii=terms.ascii.copy())
        return copy

    def joined(self, other: Vocabulary) -> tuple[Vocabulary, IntArray]:
        """These terms and those of another, and the numbers that the other's have among them."""
        together, numbers = self.copied(), np.empty(len(other), dtype=np.int64)
        term: Number = 0
        while term < len(other):
            term, reason = adopt_terms(other.spelling, term, numbers, together.terms)
            together.make_room(reason)
        return together, numbers

    def word(self, term: int, by_character: bool) -> bytes:
        """How one term is spelled."""
        units, (_, arena, payload, length, *_) = list[bytes](), self._terms
        while not length[term]:
            term, last = divmod(int(payload[term]), MOST_TERMS)
            units.append(self.word(last, by_character))
        start, chunks = int(payload[term]), (int(length[term]) + 7) // 8
        packed = np.array([start]) if length[term] <= 8 else arena[start : start + chunks]
        units.append(packed.astype("<i8", copy=False).tobytes()[: length[term]])
        return (b"" if by_character else b" ").join(reversed(units))

    def spelled(self, wanted: IntArray, by_character: bool) -> tuple[IntArray, AnyArray]:
        """The wanted terms as Arrow writes strings: offsets and bytes."""
        gap = 0 if by_character else 1
        lengths = np.empty(len(self), dtype=np.int64)
        spelled_lengths(self._terms, gap, lengths)
        offsets = running(lengths[wanted])
        letters = np.empty(offsets[-1], dtype=np.uint8)
        spell(self._terms, gap, wanted, offsets, letters)
        return offsets, letters


def with_room(array: AnyArray, room: int) -> AnyArray:
    """The same entries in memory of their own, with room for so many."""
    larger = np.zeros(room, dtype=array.dtype)
    larger[: len(array)] = array
    return larger


def grown(array: AnyArray, factor: int) -> AnyArray:
    """The same entries with room for more; rows are added to tables."""
    larger = np.zeros((factor * len(array), *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger
