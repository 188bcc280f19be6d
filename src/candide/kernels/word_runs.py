"""Runs of words, or characters, numbered from the numbers of their parts: sorted, so that no table is searched.

Texts are one sequence of units, those of text i at starts[i]:starts[i + 1]. A run begins at a position and is as long
as its size; it is the run without its last unit, and that unit. Runs of one size are numbered in the order of the two
numbers, so that runs of bytewise sorted words are sorted too.
"""

from __future__ import annotations

import numpy as np

from candide.data.arrays import AnyArray, IntArray
from candide.kernels import compiled
from candide.kernels.word_counting import Texts, join_equal
from candide.kernels.word_leaving import LIST_FULL, MISSING, Rows
from candide.kernels.words import (
    EMPTY,
    HASH_BITS,
    LONG_WORD,
    ONE,
    RUN_OF_WORDS,
    SCRATCH_FULL,
    ZERO,
    Number,
    Reader,
    Scratch,
    document_terms,
    mixed,
    slot_of,
)

LOW_HALF = (1 << 32) - 1


@compiled
def list_units(
    texts: Texts, row: Number, reader: Reader, learning: bool, starts: IntArray, units: AnyArray, unspaced: IntArray
) -> tuple[Number, Number]:
    """Write the units of the documents from number `row` on, one after the other; where it stopped and why (0: done).

    Those of document i begin at starts[i]. unspaced[0] counts stretches of characters without spaces.
    """
    letters, recipe, terms, scratch = reader
    while row < texts.offsets.size - 1:
        begin, count = starts[row], np.int64(0)
        if texts.missing.size == 0 or not texts.missing[row]:
            start, stop = texts.offsets[row], texts.offsets[row + 1]
            count += document_terms(texts.letters, start, stop, letters, recipe, terms, scratch, learning)
            if count < 0:
                return row, count
            if begin + count > units.size:
                return row, LIST_FULL
            for index in range(count):
                units[begin + index] = scratch.ids[index]
            unspaced[0] += 0 if recipe.by_character else scratch.joined[0]
        starts[row + 1] = begin + count
        row += 1
    return row, 0


@compiled
def sort_units(units: AnyArray, starts: IntArray, most: int, order: AnyArray, before: AnyArray) -> None:
    """Write all positions into `order`, sorted by their units, which are below `most`; equal ones as they stand.

    before[i] is how many units of the same text come before position order[i], or 255 where there are more.
    """
    ends = np.zeros(most + 1, np.int64)
    for position in range(units.size):
        ends[units[position] + 1] += 1
    for unit in range(most):
        ends[unit + 1] += ends[unit]
    for text in range(starts.size - 1):
        for position in range(starts[text], starts[text + 1]):
            place = ends[units[position]]
            order[place] = position
            before[place] = min(position - starts[text], 255)
            ends[units[position]] += 1


@compiled
def number_runs(
    shorter: AnyArray,
    different: int,
    units: AnyArray,
    starts: IntArray,
    order: AnyArray,
    before: AnyArray,
    size: int,
    runs: AnyArray,
) -> AnyArray:
    """Number the runs of a size into runs[position], and give the two parts of each number, int32[run, 2].

    shorter[position] is the number of the run that is one unit shorter, of which there are so many different; `order`
    and `before` are those of `sort_units`. Runs are sorted by the shorter run, then by the last unit, which `order`
    does already: so each goes to the next place of its shorter run.
    """
    places, last = np.zeros(different + 1, np.int64), size - 1
    for text in range(starts.size - 1):
        for position in range(starts[text], starts[text + 1] - last):
            places[shorter[position] + 1] += 1
    for run in range(different):
        places[run + 1] += places[run]
    found = places[different]
    sorted_runs = np.empty(found, np.int64)
    for index in range(order.size):
        if before[index] >= last:
            begin = np.int64(order[index]) - last
            place = places[shorter[begin]]
            sorted_runs[place] = (np.int64(units[begin + last]) << 32) | begin
            places[shorter[begin]] += 1
    parts, number, first = np.empty((found, 2), np.int32), -1, 0
    for run in range(different):
        unit: Number = -1
        for index in range(first, places[run]):
            if sorted_runs[index] >> 32 != unit:
                unit = sorted_runs[index] >> 32
                number += 1
                parts[number, 0] = run
                parts[number, 1] = unit
            runs[sorted_runs[index] & LOW_HALF] = number
        first = places[run]
    return parts[: number + 1].copy()


@compiled
def list_runs(
    runs: AnyArray,
    shifts: IntArray,
    shortest: Number,
    starts: IntArray,
    missing: AnyArray,
    row: Number,
    scratch: Scratch,
    out: Rows,
) -> tuple[Number, Number]:
    """List the different runs of each text from number `row` on, the shorter ones first; where it stopped and why.

    runs[size - shortest, position] is the number of the run that begins there among those of its size, to which
    shifts[size - shortest] is added.
    """
    ids, amounts = scratch.ids, scratch.amounts
    terms, occurrences, indptr, tokens = out.terms, out.amounts, out.indptr, out.tokens
    while row < starts.size - 1:
        begin, count = indptr[row], 0
        for which in range(shifts.size):
            for position in range(starts[row], starts[row + 1] - shortest - which + 1):
                if count >= ids.size:
                    return row, SCRATCH_FULL
                ids[count] = runs[which, position] + shifts[which]
                count += 1
        tokens[row] = count
        distinct = join_equal(count, scratch)
        if distinct < 0:
            return row, distinct
        if begin + distinct > terms.size:
            return row, LIST_FULL
        for index in range(distinct):
            terms[begin + index] = ids[index]
            occurrences[begin + index] = amounts[index]
        indptr[row + 1] = begin + distinct
        if missing.size and missing[row]:
            tokens[row] = MISSING
        row += 1
    return row, 0


@compiled
def find_slots(arena: AnyArray, payload: IntArray, length: AnyArray, slots: AnyArray) -> None:
    """Fill the empty table by which terms are found; see `words` for what their keys are."""
    mask = np.uint64((slots.size >> 1) - 2)
    for term in range(payload.size):
        key = np.uint64(payload[term])
        if length[term] == 0:
            key |= RUN_OF_WORDS
        elif length[term] > 8:
            scattered = ZERO
            for chunk in range((length[term] + 7) >> 3):
                scattered = mixed(scattered ^ arena[payload[term] + chunk])
            key = LONG_WORD | (scattered & HASH_BITS)
        slot = slot_of(key, slots)
        while slots[slot << ONE] != EMPTY:
            slot = (slot + ONE) & mask
        slots[slot << ONE] = key
        slots[(slot << ONE) + ONE] = np.uint64(term)
