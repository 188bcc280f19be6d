"""Runs of characters found from the numbers of their parts, without a table: in canonical order.

There single units come first, and runs in the order of (the run without its last unit, that unit): the runs that begin
alike and have one unit more stand together. So of each run it is enough to know where they begin, and a bit for each of
the first units that says whether there is one that ends with it; others are searched for among the few that begin
alike. A node is three numbers: those bits, 64 by 64, and the number of the first longer run. Runs of words, of which
many begin alike, are found sooner by a table.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from candide.data.arrays import AnyArray, IntArray
from candide.kernels import compiled

Whole: TypeAlias = int | np.int64

#: A run of words is two numbers in one: the run without its last word, and that word in the lower bits.
TERM_SHIFT = 28
TERM_MASK = (1 << TERM_SHIFT) - 1
#: Each run has a bit for so many of the first units: all characters of most languages.
BITS = 128
ONE, TWO, FOUR, LOW_SIX = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(63)
ODD, PAIRS, HALVES = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
BYTES, TOP_BYTE = np.uint64(0x0101010101010101), np.uint64(56)


@compiled
def bits_set(word: np.uint64) -> np.uint64:
    """How many bits of a word are set (Warren 2002)."""
    word = word - ((word >> ONE) & ODD)
    word = (word & PAIRS) + ((word >> TWO) & PAIRS)
    return (((word + (word >> FOUR)) & HALVES) * BYTES) >> TOP_BYTE


@compiled
def fill_nodes(payload: IntArray, units: int, nodes: AnyArray) -> None:
    """Fill nodes[run] = (bits, bits, first longer run) from payload[run], the shorter run and the last unit.

    The first `units` terms are no runs. The caller gives zeros, a node for each run that might have longer ones, and
    one more.
    """
    before = -1
    for run in range(units, payload.size):
        left, right = payload[run] >> TERM_SHIFT, payload[run] & TERM_MASK
        while before < left:
            before += 1
            nodes[before, 2] = np.uint64(run)
        if right < BITS:
            nodes[left, right >> 6] |= ONE << (np.uint64(right) & LOW_SIX)
    while before + 1 < len(nodes):
        before += 1
        nodes[before, 2] = np.uint64(payload.size)


@compiled
def longer_run(left: Whole, right: Whole, nodes: AnyArray, payload: IntArray) -> Whole:
    """The number of the run that is `left` with one unit more; below zero where there is none."""
    low, high, begin = nodes[left, 0], nodes[left, 1], nodes[left, 2]
    if right < BITS:
        bit = ONE << (np.uint64(right) & LOW_SIX)
        if right < 64:
            return np.int64(begin + bits_set(low & (bit - ONE))) if low & bit else -1
        return np.int64(begin + bits_set(low) + bits_set(high & (bit - ONE))) if high & bit else -1
    first = np.int64(begin + bits_set(low) + bits_set(high))
    last, wanted = np.int64(nodes[left + 1, 2]), (left << TERM_SHIFT) | right
    while first < last:
        middle = (first + last) >> 1
        if payload[middle] < wanted:
            first = middle + 1
        else:
            last = middle
    return first if first < payload.size and payload[first] == wanted else -1
