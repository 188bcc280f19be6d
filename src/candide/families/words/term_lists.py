"""Documents as lists of term numbers: cut into words once, to be weighed and judged as often as one likes."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, BoolArray, FloatArray, IntArray
from candide.data.cached import cached_property
from candide.families.words.documents import Documents
from candide.families.words.event_models import NO_INTEGERS
from candide.families.words.options import TextOptions
from candide.families.words.unit_sequences import UnitSequence
from candide.families.words.vocabulary import FIRST_SCRATCH, Vocabulary, letters_of, recipe_of, scratch_of
from candide.families.words.word_tally_builder import weighting_of
from candide.kernels.shared_terms import number_shared
from candide.kernels.word_counting import Texts
from candide.kernels.word_leaving import LIST_FULL, Rows, list_documents, part_shared, weigh_rows, weigh_shared
from candide.kernels.word_scoring import measure_documents
from candide.kernels.words import SCRATCH_FULL, Letters, Number, Reader, Recipe
from candide.statistics.weight_grid import weights_in_units

#: A text has about one different term in so many bytes; where it has more, there is made more room.
BYTES_A_TERM = 6


class SharedTerms(NamedTuple):
    """The number of each term among those that several documents hold, the most frequent first, -1 for others.

    And how many there are of both.
    """

    places: AnyArray
    shared: int
    alone: int


@dataclass(frozen=True, eq=False)
class TermLists:
    """Documents as the different terms of each, numbered in no order."""

    rows: Rows
    vocabulary: Vocabulary
    weighings: dict[str, Rows] = field(default_factory=dict)
    """The shared terms by the weightings that were asked for."""
    counted: dict[str, Any] = field(default_factory=dict)
    """What was counted of them by each weighting, and said (`term_matrix.WeighedTerms`), with labels that it knows."""

    @cached_property
    def shared(self) -> SharedTerms:
        """The terms that several documents hold."""
        places = np.zeros(len(self.vocabulary), dtype=np.int32)
        return SharedTerms(places, *map(int, number_shared(self.rows, places)))

    @cached_property
    def parted(self) -> tuple[Rows, BoolArray]:
        """The rows without amounts and without terms that no other document holds, and which entries are left."""
        shared, documents, entries = self.shared, len(self.rows.tokens), len(self.rows.terms)
        indptr, alone = np.zeros(documents + 1, dtype=np.int64), np.zeros(documents, dtype=np.int64)
        terms, is_shared = np.empty(entries - shared.alone, dtype=np.int32), np.empty(entries, dtype=np.bool_)
        found = Rows(indptr, terms, NO_INTEGERS, self.rows.tokens, alone, NO_INTEGERS)
        part_shared(self.rows, shared.places, is_shared, found)
        return found, is_shared

    def shared_terms(self, weighting: str) -> Rows:
        """The rows weighed, and without terms that no other document holds."""
        found = self.weighings.get(weighting)
        if found is None:
            parted, is_shared = self.parted
            amounts, alone_amounts = np.empty(len(parted.terms), dtype=np.int64), np.empty_like(parted.alone)
            found = parted._replace(amounts=amounts, alone_amounts=alone_amounts)
            weigh_shared(self.rows, weighting_of(weighting), is_shared, found)
            self.weighings[weighting] = found
        return found

    def keep_only(self, weightings: Collection[str]) -> None:
        """Let go of what was made by other weightings."""
        for kept in (self.weighings, self.counted):
            for weighting in set(kept) - set(weightings):
                del kept[weighting]


def cut_into_terms(documents: Documents, options: TextOptions) -> TermLists:
    """The documents in terms: cut once, whichever weightings, models and smoothings then ask for them."""
    way = way_of_cutting(options)
    if way not in documents.cuts:
        documents.cuts[way] = hashed_terms(documents, options) if options.hashed else spelled_terms(documents, options)
    found: TermLists = documents.cuts[way]
    return found


def hashed_terms(documents: Documents, options: TextOptions) -> TermLists:
    """Terms by their hashes."""
    vocabulary = Vocabulary(2)
    return TermLists(rows_of(documents, letters_of(options), recipe_of(options), vocabulary, learning=True), vocabulary)


def spelled_terms(documents: Documents, options: TextOptions) -> TermLists:
    """Terms by the numbers of their words or characters, which are read once for runs of any length.

    Where characters stand together without spaces, runs that words do not have are found by reading letters.
    """
    recipe = recipe_of(options)
    units = "units", options.words, options.characters, options.fold_case, options.fold_accents
    if units not in documents.cuts:
        documents.cuts[units] = UnitSequence.of(documents, options)
    sequence: UnitSequence = documents.cuts[units]
    if sequence.is_unspaced and recipe.unspaced > recipe.ngrams:
        vocabulary = Vocabulary()
        return TermLists(rows_of(documents, letters_of(options), recipe, vocabulary, learning=True), vocabulary)
    return TermLists(*sequence.terms(recipe.shortest, recipe.ngrams))


def is_cut(documents: Documents, options: TextOptions) -> bool:
    """Whether the documents were cut in this way before."""
    return way_of_cutting(options) in documents.cuts


def way_of_cutting(options: TextOptions) -> Hashable:
    """All that the terms of a text depend on: recipes that agree in it share what was cut."""
    return recipe_of(options), options.words, options.fold_case, options.fold_accents


def rows_of(
    documents: Documents, letters: Letters, recipe: Recipe, vocabulary: Vocabulary, learning: bool = False
) -> Rows:
    """The different terms of each document, their amounts being occurrences; -1 for a term never learned."""
    pieces = [_piece_rows(piece, letters, recipe, vocabulary, learning) for piece, _ in documents.with_rows()]
    if len(pieces) == 1:
        return pieces[0]
    before = np.cumsum([0, *(len(piece.terms) for piece in pieces)])
    starts = [piece.indptr[:-1] + start for piece, start in zip(pieces, before[:-1], strict=True)]
    return Rows(
        np.concatenate([*starts, before[-1:]]).astype(np.int64),
        np.concatenate([np.zeros(0, dtype=np.int32), *(piece.terms for piece in pieces)]),
        np.concatenate([np.zeros(0, dtype=np.int64), *(piece.amounts for piece in pieces)]),
        np.concatenate([np.zeros(0, dtype=np.int64), *(piece.tokens for piece in pieces)]),
        NO_INTEGERS,
        NO_INTEGERS,
    )


def _piece_rows(piece: Texts, letters: Letters, recipe: Recipe, vocabulary: Vocabulary, learning: bool) -> Rows:
    documents = len(piece.offsets) - 1
    room = int(piece.offsets[-1] - piece.offsets[0]) * (recipe.ngrams - recipe.shortest + 1) // BYTES_A_TERM + 16
    out = room_for_rows(documents, room)
    scratch = scratch_of(FIRST_SCRATCH)
    row: Number = 0
    reason: Number = SCRATCH_FULL
    while reason:
        reader = Reader(letters, recipe, vocabulary.terms, scratch)
        row, reason = list_documents(piece, row, reader, learning, out)
        if reason == LIST_FULL:
            out = roomier(out)
        elif reason == SCRATCH_FULL:
            scratch = scratch_of(2 * len(scratch.ids))
        vocabulary.make_room(reason)
    return trimmed(out)


def room_for_rows(documents: int, terms: int) -> Rows:
    """Rows to be filled, with room for so many terms in all."""
    return Rows(
        np.zeros(documents + 1, dtype=np.int64),
        np.empty(terms, dtype=np.int32),
        np.empty(terms, dtype=np.int64),
        np.empty(documents, dtype=np.int64),
        NO_INTEGERS,
        NO_INTEGERS,
    )


def roomier_reader(reader: Reader) -> Reader:
    """The same reader with room for documents twice as long."""
    return reader._replace(scratch=scratch_of(2 * len(reader.scratch.ids)))


def roomier(rows: Rows) -> Rows:
    """The same rows with room for twice as many terms."""
    more = len(rows.terms)
    return rows._replace(
        terms=np.concatenate([rows.terms, np.empty(more, dtype=np.int32)]),
        amounts=np.concatenate([rows.amounts, np.empty(more, dtype=np.int64)]),
    )


def trimmed(rows: Rows) -> Rows:
    """The rows without the room that was not needed."""
    used = rows.indptr[-1]
    return rows._replace(terms=rows.terms[:used], amounts=rows.amounts[:used])


def weighed(rows: Rows, weighting: str) -> Rows:
    """The rows with amounts as the weighting says, in place of occurrences."""
    amounts = np.empty(len(rows.amounts), dtype=np.int64)
    weigh_rows(rows, weighting_of(weighting), amounts)
    return rows._replace(amounts=amounts)


def lengths_of(documents: Documents, options: TextOptions) -> FloatArray:
    """How much all terms of each document weigh, known or not; 0 where it is missing."""
    terms, scratch = Vocabulary(2).terms, scratch_of(FIRST_SCRATCH)
    reader, weighting = Reader(letters_of(options), recipe_of(options), terms, scratch), weighting_of(options.weighting)
    length = np.zeros(len(documents))
    for piece, part in documents.with_rows():
        row: Number = 0
        reason: Number = SCRATCH_FULL
        while reason:
            row, reason = measure_documents(piece, row, reader, weighting, length[part])
            if reason == SCRATCH_FULL:
                reader = roomier_reader(reader)
    return length


def weight_units(weights: AnyArray, rows: int, bits: int) -> IntArray:
    """The weight of each row in units of 2^-bits; one where none is given."""
    units = weights_in_units(weights, rows, bits)
    return np.ascontiguousarray(units) if units.size else np.ones(rows, dtype=np.int64)
