"""The loops that hash: a 64-bit number for what a row holds, the same on every machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.kernels import compiled

LONGEST_HASHED = 64
Hashes = np.ndarray[Any, np.dtype[np.uint64]]


@compiled
def mix(bits: Any) -> Any:
    """Let every bit of a uint64 move every other (the finaliser of SplitMix64, Steele et al. 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@compiled
def mix_all(bits: Hashes) -> Hashes:
    """`mix` for each element of a new array."""
    mixed = np.empty_like(bits)
    for index in range(len(bits)):
        mixed[index] = mix(bits[index])
    return mixed


@compiled
def deal(counts: IntArray, folds: int) -> IntArray:
    """Deal counts[kind] rows into folds by a hash of their number, all kinds one after the other: int64[fold, kind]."""
    dealt = np.zeros((folds, len(counts)), np.int64)
    number = np.uint64(0)
    for kind in range(len(counts)):
        for _ in range(counts[kind]):
            dealt[np.int64(mix(number) % np.uint64(folds)), kind] += 1
            number += np.uint64(1)
    return dealt


@compiled
def add_numbers(values: FloatArray, salts: Hashes, totals: Hashes) -> None:
    """Add to totals[row] a hash of each of values[row, column], salted by column; -0.0 is 0.0."""
    rows, columns = values.shape
    for row in range(rows):
        for column in range(columns):
            bits = np.float64(values[row, column] + 0.0).view(np.uint64)
            totals[row] += mix(bits ^ salts[column])


@compiled
def add_strings(offsets: AnyArray, data: AnyArray, salt: Any, wholly: bool, totals: Hashes) -> None:
    """Add to totals[row] a hash of the bytes from offsets[row] to offsets[row + 1]: their number and the first ones.

    Where it must tell all strings apart, the others follow, eight at a time.
    """
    for row in range(len(totals)):
        length, end = offsets[row + 1] - offsets[row], offsets[row + 1]
        state, first = salt + np.uint64(length), offsets[row] + min(length, LONGEST_HASHED)
        for index in range(offsets[row], first):
            state = mix(state + np.uint64(data[index]) + np.uint64(1))
        if wholly:
            for start in range(first, end, 8):
                word = np.uint64(0)
                for index in range(start, min(start + 8, end)):
                    word = (word << np.uint64(8)) | np.uint64(data[index])
                state = mix(state + word + np.uint64(1))
        totals[row] += state
