"""Runs found from the numbers of their parts, without a table: in canonical order.

There single units come first, and runs in the order of (the run without its last unit, that unit): the runs that begin
alike and have one unit more stand together. So of each run it is enough to know where they begin; which of them ends
with a unit is searched for by halves. Characters are few, and have bits besides: one for each of the first units, that
says whether there is a run that ends with it.

A node is the number of the first longer run and, of characters, those bits, 64 by 64.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from candide.data.arrays import AnyArray, IntArray
from candide.kernels import compiled, inlined

Whole: TypeAlias = int | np.int64

#: A run of words is two numbers in one: the run without its last word, and that word in the lower bits.
TERM_SHIFT = 28
TERM_MASK = (1 << TERM_SHIFT) - 1
#: Each run has a bit for so many of the first units: all characters of most languages.
BITS = 128
NONE, ONE, TWO, FOUR, LOW_SIX = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(63)
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
    """Fill nodes[run] = (first longer run, bits, bits) from payload[run], the shorter run and the last unit.

    The first `units` terms are no runs. The caller gives zeros, a node for each run that might have longer ones, and
    one more; bits are filled where there is room for them.
    """
    before = -1
    for run in range(units, payload.size):
        left, right = payload[run] >> TERM_SHIFT, payload[run] & TERM_MASK
        while before < left:
            before += 1
            nodes[before, 0] = np.uint64(run)
        if right < BITS and nodes.shape[1] > 1:
            nodes[left, 1 + (right >> 6)] |= ONE << (np.uint64(right) & LOW_SIX)
    while before + 1 < len(nodes):
        before += 1
        nodes[before, 0] = np.uint64(payload.size)


@inlined
def run_by_bits(left: Whole, right: Whole, nodes: AnyArray) -> Whole:
    """The number of the run that is `left` with one of the first units more; below zero where there is none.

    Which half of the bits a unit is in, and whether its bit is set, is as good as chance: what a processor would guess
    wrongly half of the time is worked out instead, without a branch.
    """
    begin, low, high = nodes[left, 0], nodes[left, 1], nodes[left, 2]
    bit, is_high = ONE << (np.uint64(right) & LOW_SIX), right >> 6
    word = high if is_high else low
    before = bits_set(low) if is_high else NONE
    run = begin + before + bits_set(word & (bit - ONE))
    return np.int64(run) if word & bit else np.int64(-1)


@inlined
def run_by_search(left: Whole, right: Whole, begin: Whole, nodes: AnyArray, payload: IntArray) -> Whole:
    """The same for a unit that has no bit: by halves of the runs that begin alike, from `begin` on."""
    first, several = np.int64(begin), np.int64(nodes[left + 1, 0]) - np.int64(begin)
    if several <= 0:
        return np.int64(-1)
    wanted = (left << TERM_SHIFT) | right
    while several > 1:
        half = several >> 1
        first = first + half if payload[first + half - 1] < wanted else first
        several -= half
    return first if payload[first] == wanted else np.int64(-1)


@inlined
def after_bits(left: Whole, nodes: AnyArray) -> Whole:
    """The first of the longer runs that end with a unit that has no bit."""
    return np.int64(nodes[left, 0] + bits_set(nodes[left, 1]) + bits_set(nodes[left, 2]))
