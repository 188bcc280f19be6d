"""The loops that learn from text: documents numbered term by term, weighed, and added to their class.

Counts live in a table [term, class] while classes are few, else in a hash of the (term, class) pairs that occurred.
Amounts are whole numbers: occurrences, presence, or length-normalised weights in units of 2^-32. So are the weights of
documents: in ones, or all in units of 2^-32 where one is not whole.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.kernels import compiled, inlined
from candide.kernels.logarithm import grid_log
from candide.kernels.words import (
    EMPTY,
    MULTIPLIER,
    ONE,
    PAIRS_FULL,
    SCRATCH_FULL,
    Number,
    Reader,
    Scratch,
    document_terms,
    mixed,
)

#: How a document's occurrences become amounts.
COUNTS, PRESENCE, LOG, EVEN = 0, 1, 2, 3
#: Amounts scaled to the length of the document are in units of 2^-32.
UNIT = 4294967296.0
LABEL_BITS = np.uint64(32)
LABEL_MASK = np.uint64(0xFFFFFFFF)
LOW_MASK = 0xFFFFFFFF
HALF_A_UNIT = np.uint64(1 << 31)


class Texts(NamedTuple):
    """Documents in Arrow's layout: document i is letters[offsets[i]:offsets[i + 1]], or none where missing[i] is 1.

    `missing` may be empty: then every document is there.
    """

    letters: AnyArray
    offsets: IntArray
    missing: AnyArray


class TermWeighting(NamedTuple):
    """How occurrences become amounts: a rule, such as COUNTS, and logs[n], log(1 + n) on a fixed grid, float64."""

    rule: Number
    logs: FloatArray


class Tallies(NamedTuple):
    """What learning adds to: table[term, class] or, where it has no columns, pairs of (key, count).

    A pair's key is term << 32 | class, plus one. used[0] is how many pairs there are. documents[class] counts
    documents, frequency[term] those with the term, where it is kept at all: both in the units of their weights.
    """

    table: IntArray
    pairs: AnyArray
    used: IntArray
    documents: IntArray
    frequency: IntArray


@compiled
def join_equal(count: Number, scratch: Scratch) -> Number:
    """Keep each term once, in order of first appearance, with its occurrences in scratch.amounts; how many are left."""
    ids, amounts, joined = scratch.ids, scratch.amounts, scratch.joined
    size, shift = 16, np.uint64(60)
    while size < 2 * count:
        size *= 2
        shift -= ONE
    if size > joined.size:
        return SCRATCH_FULL
    joined[:size] = 0
    mask = np.uint64(size - 1)
    distinct = 0
    for index in range(count):
        term = ids[index]
        slot = (np.uint64(term) * MULTIPLIER) >> shift
        place = joined[slot]
        while place != 0 and ids[place - 1] != term:
            slot = (slot + ONE) & mask
            place = joined[slot]
        if place == 0:
            ids[distinct] = term
            amounts[distinct] = 1
            distinct += 1
            joined[slot] = distinct
        else:
            amounts[place - 1] += 1
    return distinct


@inlined
def damp(distinct: Number, amounts: IntArray, logs: FloatArray) -> None:
    """Turn occurrences into log(1 + occurrences), scaled to a Euclidean length of one, in units of 2^-32.

    logs[n] is log(1 + n) on a fixed grid; only operations whose bits IEEE fixes are used, in order of appearance.
    """
    square = 0.0
    for index in range(distinct):
        value = logs[amounts[index]] if amounts[index] < logs.size else far_log(amounts[index])
        square += value * value
    norm = np.sqrt(square)
    for index in range(distinct):
        value = logs[amounts[index]] if amounts[index] < logs.size else far_log(amounts[index])
        amounts[index] = np.int64(np.rint(value / norm * UNIT))


@compiled
def common_amount(distinct: Number, weighting: TermWeighting) -> Number:
    """What each of a document's different terms adds where all add the same, else 0."""
    if weighting.rule == EVEN:
        return np.int64(np.rint(UNIT / np.sqrt(np.float64(max(distinct, 1)))))
    return np.int64(1 if weighting.rule == PRESENCE else 0)


@compiled
def weigh(distinct: Number, weighting: TermWeighting, amounts: IntArray) -> None:
    """Turn the occurrences of a document's different terms into amounts, as the weighting says."""
    rule = weighting.rule
    if distinct <= 0 or rule == COUNTS:
        return
    if rule == LOG:
        damp(distinct, amounts, weighting.logs)
    else:
        amounts[:distinct] = common_amount(distinct, weighting)


@compiled
def unit_of(weighting: TermWeighting) -> float:
    """What an amount of one stands for."""
    return 1.0 / UNIT if weighting.rule in (LOG, EVEN) else 1.0


@compiled
def weighed_amount(weight: Number, amount: Number, shift: Number) -> Number:
    """What a document of some weight adds where one of weight one adds an amount.

    `shift` is 32 where both are in units of 2^-32, and so shall be what they give: their product is rounded to the
    nearest unit (halves up), and to one unit at least where both are above zero. Else it is 0 and the product exact.
    Each (document, term) is rounded by itself, so that the order of documents is nothing and forgetting is exact; a
    whole weight needs no rounding.
    """
    if shift == 0 or weight == 0 or amount == 0:
        return weight * amount
    part = np.uint64(weight & LOW_MASK) * np.uint64(amount)
    whole = (weight >> 32) * amount + np.int64((part + HALF_A_UNIT) >> LABEL_BITS)
    return whole if whole > 0 else 1


@inlined
def far_log(occurrences: Number) -> float:
    """log(1 + occurrences) beyond the table."""
    return grid_log(np.array([1.0 + occurrences]))[0]


@compiled
def add_pair(term: Number, label: Number, amount: Number, pairs: AnyArray, used: IntArray) -> None:
    """Add to a (term, class) pair, making it where it is new; the caller has seen to it that there is room."""
    key = ((np.uint64(term) << LABEL_BITS) | np.uint64(label)) + ONE
    mask = np.uint64((pairs.size >> 1) - 1)
    slot = mixed(key) & mask
    while pairs[slot << ONE] != key:
        if pairs[slot << ONE] == EMPTY:
            pairs[slot << ONE] = key
            used[0] += 1
            break
        slot = (slot + ONE) & mask
    pairs[(slot << ONE) + ONE] += np.uint64(amount)


@compiled
def learn_documents(
    texts: Texts,
    row: Number,
    labels: IntArray,
    weights: IntArray,
    shift: Number,
    reader: Reader,
    weighting: TermWeighting,
    tallies: Tallies,
) -> tuple[Number, Number]:
    """Learn the documents from number `row` on; where it stopped, and why (0: all done).

    A document is learned whole or not at all, so after making room the caller goes on where this stopped.
    `weights` is empty where every document weighs one; `shift` is as in `weighed_amount`.
    """
    table, pairs, frequency = tallies.table, tallies.pairs, tallies.frequency
    dense = table.shape[1] > 0
    letters, recipe, terms, scratch = reader
    ids, amounts = scratch.ids, scratch.amounts
    once = weighting.rule != COUNTS or frequency.size > 0
    rows = texts.offsets.size - 1
    while row < rows:
        if texts.missing.size and texts.missing[row]:
            row += 1
            continue
        start, stop = texts.offsets[row], texts.offsets[row + 1]
        count = document_terms(texts.letters, start, stop, letters, recipe, terms, scratch, True)
        if count < 0:
            return row, count
        if not dense and 4 * (tallies.used[0] + count) > 3 * (pairs.size >> 1):
            return row, PAIRS_FULL
        label = labels[row]
        weight = weights[row] if weights.size else 1
        if once:
            count = join_equal(count, scratch)
            if count < 0:
                return row, count
            if frequency.size:
                for index in range(count):
                    frequency[ids[index]] += weight
            weigh(count, weighting, amounts)
            for index in range(count):
                amount = weighed_amount(weight, amounts[index], shift)
                if dense:
                    table[ids[index], label] += amount
                else:
                    add_pair(ids[index], label, amount, pairs, tallies.used)
        elif dense:
            for index in range(count):
                table[ids[index], label] += weight
        else:
            for index in range(count):
                add_pair(ids[index], label, weight, pairs, tallies.used)
        tallies.documents[label] += weight
        row += 1
    return row, 0


@compiled
def refill_pairs(old: AnyArray, new: AnyArray, used: IntArray) -> None:
    """Put the pairs of one hash into a larger, empty one; those that fell back to zero are left behind."""
    used[0] = 0
    for entry in range(0, old.size, 2):
        if old[entry] != EMPTY and old[entry + 1] != EMPTY:
            key = old[entry] - ONE
            add_pair(
                np.int64(key >> LABEL_BITS), np.int64(key & LABEL_MASK), np.int64(old[entry + 1]), new, used
            )


@compiled
def add_lines(
    numbers: IntArray, indptr: IntArray, labels: AnyArray, counts: IntArray, sign: Number, tallies: Tallies
) -> None:
    """Add (sign 1) or take away (sign -1) counts by (word, class) pair; word i is term numbers[i]."""
    dense = tallies.table.shape[1] > 0
    for line in range(numbers.size):
        for pair in range(indptr[line], indptr[line + 1]):
            if dense:
                tallies.table[numbers[line], labels[pair]] += sign * counts[pair]
            else:
                add_pair(numbers[line], labels[pair], sign * counts[pair], tallies.pairs, tallies.used)


@compiled
def count_of(term: Number, label: Number, tallies: Tallies) -> Number:
    """How much a (term, class) pair has been seen."""
    if tallies.table.shape[1] > 0:
        return tallies.table[term, label]
    pairs = tallies.pairs
    key = ((np.uint64(term) << LABEL_BITS) | np.uint64(label)) + ONE
    mask = np.uint64((pairs.size >> 1) - 1)
    slot = mixed(key) & mask
    while pairs[slot << ONE] != EMPTY:
        if pairs[slot << ONE] == key:
            return np.int64(pairs[(slot << ONE) + ONE])
        slot = (slot + ONE) & mask
    return 0
