"""The loops that bring vocabularies into one canonical form: spelled, sorted bytewise, merged, looked up again.

Words are written as in Arrow: word i is letters[offsets[i]:offsets[i + 1]]. Counts are kept for the (word, class) pairs
that occurred: pairs indptr[i] to indptr[i + 1] belong to word i, sorted by class.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, IntArray
from candide.kernels import compiled, inlined
from candide.kernels.run_trees import TERM_MASK, TERM_SHIFT
from candide.kernels.words import (
    EIGHT,
    NOTHING,
    ONE,
    SCRATCH_FULL,
    UNKNOWN,
    ZERO,
    Number,
    Recipe,
    Scratch,
    Terms,
    number_of_key,
    number_of_long_word,
    number_of_run,
)

SPACE_BYTE = 32


class Lines(NamedTuple):
    """Words with their counts by class, and in how many documents each occurred (empty where not kept)."""

    offsets: IntArray
    letters: AnyArray
    indptr: IntArray
    labels: AnyArray
    counts: IntArray
    frequency: IntArray


@compiled
def spelled_lengths(terms: Terms, gap: Number, lengths: IntArray) -> None:
    """How many bytes each term has when spelled, with `gap` bytes between the words of a run."""
    for term in range(lengths.size):
        length = terms.length[term]
        if length == 0:
            pair = terms.payload[term]
            length = lengths[pair >> TERM_SHIFT] + gap + lengths[pair & TERM_MASK]
        lengths[term] = length


@compiled
def spell(terms: Terms, gap: Number, order: IntArray, offsets: IntArray, letters: AnyArray) -> None:
    """Write the bytes of term order[i] to letters[offsets[i]:]."""
    for line in range(order.size):
        term = order[line]
        end = offsets[line + 1]
        while terms.length[term] == 0:
            pair = terms.payload[term]
            last = pair & TERM_MASK
            end -= terms.length[last]
            write_word(terms, last, letters, end)
            if gap:
                end -= 1
                letters[end] = SPACE_BYTE
            term = pair >> TERM_SHIFT
        write_word(terms, term, letters, end - terms.length[term])


@inlined
def write_word(terms: Terms, term: Number, letters: AnyArray, start: Number) -> None:
    """Write the bytes of a single word."""
    length, index = terms.length[term], terms.payload[term]
    for step in range(length):
        chunk = np.uint64(index) if length <= 8 else terms.arena[index + (step >> 3)]
        letters[start + step] = np.uint8((chunk >> np.uint64(8 * (step & 7))) & np.uint64(0xFF))


@inlined
def prefix(offsets: IntArray, letters: AnyArray, word: Number, depth: Number) -> np.uint64:
    """Eight bytes of a word from `depth` on, big-endian so that numbers sort as bytes do; zeros beyond its end."""
    key = ZERO
    start = offsets[word] + depth
    for index in range(start, start + 8):
        key <<= EIGHT
        if index < offsets[word + 1]:
            key |= np.uint64(letters[index])
    return key


@compiled
def sort_words(offsets: IntArray, letters: AnyArray) -> IntArray:
    """The order that sorts words bytewise: by eight bytes, and equal ones by the next eight, and so on.

    Words are all different and hold no zero byte at their end, so padding with zeros does not confuse them.
    """
    words = offsets.size - 1
    order = np.arange(words)
    starts, stops, depths = [0], [words], [0]
    while len(starts):
        start, stop, depth = starts.pop(), stops.pop(), depths.pop()
        keys = np.empty(stop - start, np.uint64)
        for index in range(start, stop):
            keys[index - start] = prefix(offsets, letters, order[index], depth)
        sorting = np.argsort(keys)
        rearrange(order[start:stop], sorting)
        first = 0
        for index in range(1, stop - start + 1):
            if index == stop - start or keys[sorting[index]] != keys[sorting[first]]:
                if index - first > 1:
                    starts.append(start + first)
                    stops.append(start + index)
                    depths.append(depth + 8)
                first = index
    return order


@compiled
def rearrange(values: AnyArray, order: IntArray) -> None:
    """Put values into an order, in place."""
    former = values.copy()
    for place in range(len(values)):
        values[place] = former[order[place]]


@inlined
def compare_words(mine: Lines, word: Number, theirs: Lines, other: Number) -> Number:
    """Below 0 where my word comes first bytewise, 0 where the two are one, above 0 else."""
    start, begin = mine.offsets[word], theirs.offsets[other]
    length, longness = mine.offsets[word + 1] - start, theirs.offsets[other + 1] - begin
    for index in range(min(length, longness)):
        gap = np.int64(mine.letters[start + index]) - np.int64(theirs.letters[begin + index])
        if gap != 0:
            return gap
    return length - longness


@compiled
def merge_lines(mine: Lines, theirs: Lines, sign: Number, out: Lines) -> tuple[Number, Number, Number]:
    """Add (sign 1) or subtract (sign -1) sorted words with sorted pairs into `out`, which has room for both together.

    Returns how many words and pairs there are, or (-1, my word, their word) at the first pair that would fall below
    zero. Zero pairs and words without pairs are left out.
    """
    words, pairs, bytes_used = 0, 0, 0
    word, other = 0, 0
    most, many = mine.offsets.size - 1, theirs.offsets.size - 1
    keeps_frequency = out.frequency.size > 0
    out.offsets[0] = 0
    out.indptr[0] = 0
    while word < most or other < many:
        order = -1 if other == many else (1 if word == most else compare_words(mine, word, theirs, other))
        a, a_end = (mine.indptr[word], mine.indptr[word + 1]) if order <= 0 else (0, 0)
        b, b_end = (theirs.indptr[other], theirs.indptr[other + 1]) if order >= 0 else (0, 0)
        before = pairs
        while a < a_end or b < b_end:
            left = np.int64(mine.labels[a]) if a < a_end else np.int64(1) << 40
            right = np.int64(theirs.labels[b]) if b < b_end else np.int64(1) << 40
            count = np.int64(0)
            if left <= right:
                count += mine.counts[a]
                a += 1
            if right <= left:
                count += sign * theirs.counts[b]
                b += 1
            if count < 0:
                return -1, word, other
            if count > 0:
                out.labels[pairs] = min(left, right)
                out.counts[pairs] = count
                pairs += 1
        frequency = np.int64(0)
        if keeps_frequency:
            frequency += mine.frequency[word] if order <= 0 else 0
            frequency += sign * theirs.frequency[other] if order >= 0 else 0
            if frequency < 0:
                return -1, word, other
        if pairs > before:
            start, stop = (
                (mine.offsets[word], mine.offsets[word + 1])
                if order <= 0
                else (theirs.offsets[other], theirs.offsets[other + 1])
            )
            source = mine.letters if order <= 0 else theirs.letters
            for index in range(start, stop):
                out.letters[bytes_used] = source[index]
                bytes_used += 1
            if keeps_frequency:
                out.frequency[words] = frequency
            words += 1
            out.offsets[words] = bytes_used
            out.indptr[words] = pairs
        word += 1 if order <= 0 else 0
        other += 1 if order >= 0 else 0
    return words, pairs, 0


@compiled
def number_lines(
    offsets: IntArray,
    letters: AnyArray,
    line: Number,
    recipe: Recipe,
    learning: bool,
    terms: Terms,
    scratch: Scratch,
    numbers: IntArray,
) -> tuple[Number, Number]:
    """The number of every spelled term from `line` on, into `numbers`; where it stopped and why (0: all done).

    Unknown terms are given one when learning, else a number below UNKNOWN.
    """
    tail = scratch.tail
    slots, arena, index, spelled, sizes = terms.slots, terms.arena, terms.payload, terms.length, terms.sizes
    while line < offsets.size - 1:
        position, stop = offsets[line], offsets[line + 1]
        run = np.int64(NOTHING)
        while position < stop:
            key, length = ZERO, 0
            while position < stop:
                byte = np.uint64(letters[position])
                if recipe.by_character:
                    if length and byte & np.uint64(0xC0) != np.uint64(0x80):
                        break
                elif byte == np.uint64(SPACE_BYTE):
                    position += 1
                    break
                if length and length & 7 == 0:
                    if (length >> 3) >= tail.size:
                        return line, SCRATCH_FULL
                    tail[(length >> 3) - 1] = key
                    key = ZERO
                key |= byte << np.uint64(8 * (length & 7))
                length += 1
                position += 1
            if length <= 8:
                term = number_of_key(key, np.int64(key), length, 0, learning, slots, index, spelled, sizes)
            else:
                tail[(length - 1) >> 3] = key
                term = number_of_long_word(tail, length, 0, learning, slots, arena, index, spelled, sizes)
            if UNKNOWN < term < 0:
                return line, term
            if run != NOTHING:
                term = number_of_run(run, term, 0, learning, slots, index, spelled, sizes)
                if UNKNOWN < term < 0:
                    return line, term
            run = np.int64(term)
        numbers[line] = run
        line += 1
    return line, 0


@compiled
def adopt_terms(theirs: Terms, term: Number, numbers: IntArray, mine: Terms) -> tuple[Number, Number]:
    """The number here of every term of another vocabulary from `term` on, given where it is new, into `numbers`.

    Returns where it stopped and why (0: all done). A run is found by the numbers of its parts, which come before it.
    """
    slots, arena, payload, length, sizes = mine.slots, mine.arena, mine.payload, mine.length, mine.sizes
    while term < theirs.sizes[0]:
        bytes_long, begin = theirs.length[term], theirs.payload[term]
        if bytes_long == 0:
            left, right = numbers[begin >> TERM_SHIFT], numbers[begin & TERM_MASK]
            number = number_of_run(left, right, 0, True, slots, payload, length, sizes)
        elif bytes_long <= 8:
            number = number_of_key(np.uint64(begin), begin, bytes_long, 0, True, slots, payload, length, sizes)
        else:
            tail = theirs.arena[begin : begin + ((bytes_long + 7) >> 3)]
            number = number_of_long_word(tail, bytes_long, 0, True, slots, arena, payload, length, sizes)
        if number < 0:
            return term, number
        numbers[term] = number
        term += 1
    return term, 0


@compiled
def class_totals(labels: AnyArray, counts: IntArray, totals: IntArray) -> None:
    """Add every pair's count to its class."""
    for pair in range(labels.size):
        totals[labels[pair]] += counts[pair]


@compiled
def word_totals(indptr: IntArray, counts: IntArray, totals: IntArray) -> None:
    """Add every pair's count to its word."""
    for word in range(totals.size):
        for pair in range(indptr[word], indptr[word + 1]):
            totals[word] += counts[pair]


@compiled
def pairs_of_table(table: IntArray, order: IntArray, classes: Number, labels: AnyArray, counts: IntArray) -> None:
    """Write the pairs of a table's rows, in the given order, one after the other."""
    pairs = 0
    for line in range(order.size):
        for label in range(classes):
            count = table[order[line], label]
            if count != 0:
                labels[pairs] = label
                counts[pairs] = count
                pairs += 1


@compiled
def count_pairs(pairs: AnyArray, sizes: IntArray) -> None:
    """How many pairs each term has, those that fell back to zero left out."""
    for entry in range(0, pairs.size, 2):
        if pairs[entry] != ZERO and pairs[entry + 1] != ZERO:
            sizes[np.int64((pairs[entry] - ONE) >> np.uint64(32))] += 1


@compiled
def place_pairs(pairs: AnyArray, lines: IntArray, indptr: IntArray, labels: AnyArray, counts: IntArray) -> None:
    """Write every pair to the line of its term, sorted by class; indptr is as `count_pairs` makes it."""
    free = indptr[:-1].copy()
    for entry in range(0, pairs.size, 2):
        if pairs[entry] != ZERO and pairs[entry + 1] != ZERO:
            line = lines[np.int64((pairs[entry] - ONE) >> np.uint64(32))]
            labels[free[line]] = np.int32((pairs[entry] - ONE) & np.uint64(0xFFFFFFFF))
            counts[free[line]] = np.int64(pairs[entry + 1])
            free[line] += 1
    sort_pairs(indptr, labels, counts)


@compiled
def sort_pairs(indptr: IntArray, labels: AnyArray, counts: IntArray) -> None:
    """Sort the pairs of every word by class, in place."""
    for line in range(indptr.size - 1):
        start, stop = indptr[line], indptr[line + 1]
        sorted_already = True
        for pair in range(start + 1, stop):
            if labels[pair] < labels[pair - 1]:
                sorted_already = False
                break
        if not sorted_already:
            order = np.argsort(labels[start:stop])
            rearrange(labels[start:stop], order)
            rearrange(counts[start:stop], order)
