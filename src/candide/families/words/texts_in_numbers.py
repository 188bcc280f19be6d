"""New texts by the numbers that their words have in a vocabulary: cut once for all readings that begin alike.

A column may be read as words, as pairs and as triples of words. Their vocabularies nest: that of pairs begins with the
words, that of triples with words and pairs. So the words of a text are looked up once, and so are its pairs, whichever
readings ask for them. Vocabularies are told apart by digests of how they begin.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from candide.data.arrays import AnyArray, IntArray
from candide.families.words.documents import Documents
from candide.families.words.options import TextOptions
from candide.families.words.vocabulary import FIRST_SCRATCH, letters_of, recipe_of, scratch_of
from candide.kernels.run_trees import TERM_SHIFT
from candide.kernels.scoring_by_number import InNumbers
from candide.kernels.word_leaving import LIST_FULL
from candide.kernels.word_runs import list_units
from candide.kernels.words import SCRATCH_FULL, Number, Reader, Terms, runs_of_words

#: A text has about one word in so many bytes; where it has more, there is made more room.
BYTES_A_WORD = 4
Units = tuple[IntArray, IntArray, AnyArray]
"""The numbers of all words one after the other, where those of each text begin, and which texts are missing."""


def digests(terms: Terms, options: TextOptions) -> tuple[bytes, ...]:
    """Of the words of a vocabulary, of these and all pairs, and so on; none where runs are not found from numbers."""
    if options.characters or options.hashed or (options.longest > 1) != (len(terms.nodes) > 0):
        return ()
    payload, length = terms.payload[: terms.sizes[0]], terms.length[: terms.sizes[0]]
    end = int(np.count_nonzero(length))
    if options.longest == 1 and end < len(length):
        return ()
    digest, found = blake2b(terms.arena[: terms.sizes[1]].tobytes(), digest_size=16), list[bytes]()
    digest.update(length[:end].tobytes())
    start = 0
    for _ in range(options.longest):
        digest.update(payload[start:end].tobytes())
        found.append(digest.digest())
        start, end = end, end + int(np.searchsorted(payload[end:], end << TERM_SHIFT))
    return tuple(found)


def in_numbers(
    documents: Documents, terms: Terms, options: TextOptions, beginnings: tuple[bytes, ...]
) -> InNumbers | None:
    """The runs of all texts that a recipe asks for; nothing where characters stand together without spaces."""
    units = units_in(documents, terms, options, beginnings[0])
    if units is None:
        return None
    sizes = range(options.shortest, options.longest + 1)
    runs = [runs_in(documents, terms, options, beginnings[:size], units) for size in sizes]
    return InNumbers(np.stack(runs) if len(runs) > 1 else runs[0][None], options.shortest, *units[1:])


def runs_in(
    documents: Documents, terms: Terms, options: TextOptions, beginnings: tuple[bytes, ...], units: Units
) -> IntArray:
    """The number of the run that begins at each word and is as long as there are beginnings."""
    size = len(beginnings)
    if size == 1:
        return units[0]
    key = "runs", *way_of_reading(options), beginnings[-1]
    if key not in documents.cuts:
        shorter = runs_in(documents, terms, options, beginnings[:-1], units)
        runs, count = np.empty_like(shorter), len(shorter) - size + 1  # some begin in one text and end in the next
        runs_of_words(shorter, units[0], size, count, terms.nodes, terms.payload, runs)
        documents.cuts[key] = runs
    found: IntArray = documents.cuts[key]
    return found


def units_in(documents: Documents, terms: Terms, options: TextOptions, beginning: bytes) -> Units | None:
    """The words of all texts, below zero where a vocabulary does not have them."""
    key = "words", *way_of_reading(options), beginning
    if key not in documents.cuts:
        documents.cuts[key] = cut_into_units(documents, terms, options)
    found: Units | None = documents.cuts[key]
    return found


def cut_into_units(documents: Documents, terms: Terms, options: TextOptions) -> Units | None:
    """The same, read from their letters."""
    recipe = recipe_of(options)._replace(shortest=1, ngrams=1, unspaced=1)
    reader = Reader(letters_of(options), recipe, terms, scratch_of(FIRST_SCRATCH))
    starts, unspaced = np.zeros(len(documents) + 1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    units = np.empty(documents.bytes_long // BYTES_A_WORD + 16, dtype=np.int64)
    missing = np.zeros(len(documents), dtype=np.bool_)
    for piece, rows in documents.with_rows():
        missing[rows] = piece.missing if piece.missing.size else False
        row: Number = 0
        reason: Number = SCRATCH_FULL
        while reason:
            here = starts[rows.start : rows.stop + 1]
            row, reason = list_units(piece, row, reader, False, here, units, unspaced)
            if reason == LIST_FULL:
                units = np.concatenate([units, np.empty_like(units)])
            elif reason == SCRATCH_FULL:
                reader = reader._replace(scratch=scratch_of(2 * len(reader.scratch.ids)))
    return None if unspaced[0] else (units[: starts[-1]], starts, missing)


def way_of_reading(options: TextOptions) -> tuple[str, bool, bool]:
    """All that the words of a text depend on."""
    return options.words, options.fold_case, options.fold_accents
