"""The loops that count numbers in cells: doubles in order, cut to the leading bits.

The bits of a double, read as a whole number, grow with its size. Turned over where the sign is set, they grow with its
value: that is its key. All numbers whose keys agree but for the last `shift` bits share a cell, and cells nest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.kernels import compiled, inlined

ALL_BUT_SIGN = np.int64(0x7FFFFFFFFFFFFFFF)
EMPTY = np.int64(-1)
ZERO, FRACTION = 0, 1
MINUS_ZERO = np.int64(-1)
"""The key that no number has, since -0.0 is 0.0."""

LARGEST_KEY = np.int64(0x7FEF_FFFF_FFFF_FFFF)
"""Of the largest number; that of the smallest is its complement."""

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""2^64 over the golden ratio: its multiples lie evenly, so neighbours are hashed apart (Knuth 1973, section 6.4)."""


class CellRoom(NamedTuple):
    """Cells in the making, in an open hash table: places[hash] is a line of `cells` and `table`, or EMPTY.

    `marks` counts numbers of each class by what the cells do not tell: line ZERO and line FRACTION.
    """

    places: IntArray
    cells: IntArray
    table: IntArray
    marks: IntArray


@compiled
def ordered(bits: Any) -> Any:
    """The key of a double whose bits, as an int64, these are; and its bits, of a key."""
    return bits ^ ((bits >> np.int64(63)) & ALL_BUT_SIGN)


@compiled
def ordered_keys(values: FloatArray) -> IntArray:
    """The key of each number; -0.0 is 0.0."""
    keys = np.empty(len(values), np.int64)
    for index in range(len(values)):
        keys[index] = ordered(np.float64(values[index] + 0.0).view(np.int64))
    return keys


@compiled
def number_in(cell: Any, shift: Any, step: Any) -> float:
    """The number `step` keys after the first of a cell, whose keys lack their last `shift` bits.

    The outermost cells end with the largest doubles, and -0.0 is no number.
    """
    key = (np.int64(cell) << np.int64(shift)) + np.int64(step)
    key = MINUS_ZERO - 1 if key == MINUS_ZERO else key
    return float(np.int64(ordered(min(max(key, ~LARGEST_KEY), LARGEST_KEY))).view(np.float64))


@compiled
def ends_of_cells(cells: IntArray, shift: int) -> tuple[FloatArray, FloatArray]:
    """The smallest and the largest number of each cell."""
    lowest, highest = np.empty(len(cells)), np.empty(len(cells))
    for index in range(len(cells)):
        lowest[index] = number_in(cells[index], shift, 0)
        highest[index] = number_in(cells[index] + 1, shift, -1)
    return lowest, highest


@compiled
def middles_of_cells(cells: IntArray, shift: int, are_whole: bool, has_zeros: bool) -> FloatArray:
    """A number to stand for each cell: zero where it holds zeros, and a whole one where all numbers are whole."""
    middles = np.empty(len(cells))
    for index in range(len(cells)):
        low, high = number_in(cells[index], shift, 0), number_in(cells[index] + 1, shift, -1)
        middle = min(max(0.5 * low + 0.5 * high, low), high)
        if are_whole:
            middle = np.ceil(low) if np.floor(middle) < low else np.floor(middle)
        middles[index] = 0.0 if has_zeros and cells[index] == 0 else middle
    return middles


@inlined
def places_shift(places: IntArray) -> Any:
    """By how much a hash of 64 bits is shifted to be a place in a table of 2^n of them."""
    shift, size = 64, len(places)
    while size > 1:
        shift, size = shift - 1, size >> 1
    return np.uint64(shift)


@compiled
def count_cells(
    numbers: FloatArray,
    column: int,
    labels: IntArray,
    weights: IntArray,
    shift: int,
    room: CellRoom,
    reach: tuple[int, int],
) -> tuple[int, int]:
    """Count one column of numbers[row, column] from row reach[0] on; reach[1] lines are in use.

    NaN is missing; `weights` may be empty. Stops where a new cell would find no line free. Gives the row to go on from
    and the lines in use.
    """
    row, used = reach
    places, cells, table, marks = room
    mask, hashed = len(places) - 1, places_shift(places)
    while row < len(numbers):
        value = numbers[row, column]
        if value == value:
            cell = ordered(np.float64(value + 0.0).view(np.int64)) >> shift
            place = np.int64((np.uint64(cell) * GOLDEN) >> hashed)
            line = places[place]
            while line != EMPTY and cells[line] != cell:
                place = (place + 1) & mask
                line = places[place]
            if line == EMPTY:
                if used == len(cells):
                    break
                places[place] = line = used
                cells[line] = cell
                used += 1
            label, weight = labels[row], weights[row] if weights.size else 1
            table[line, label] += weight
            if value == 0.0:
                marks[ZERO, label] += weight
            elif value != np.floor(value):
                marks[FRACTION, label] += weight
        row += 1
    return row, used


@compiled
def enter_cells(cells: IntArray, places: IntArray) -> None:
    """Enter different cells, line by line, in an empty hash table with room for them."""
    mask, hashed = len(places) - 1, places_shift(places)
    for line in range(len(cells)):
        place = np.int64((np.uint64(cells[line]) * GOLDEN) >> hashed)
        while places[place] != EMPTY:
            place = (place + 1) & mask
        places[place] = line


@compiled
def last_shared_bits(cells: IntArray) -> IntArray:
    """By how many bits each of some ascending cells must be shifted to fall together with the next."""
    bits = np.zeros(max(len(cells) - 1, 0), np.int64)
    for index in range(len(bits)):
        apart = np.uint64(cells[index] ^ cells[index + 1])
        while apart:
            apart >>= np.uint64(1)
            bits[index] += 1
    return bits


@compiled
def union_of_cells(one: IntArray, other: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """All cells of two ascending lists, ascending, and where among them those of each list are."""
    cells = np.empty(len(one) + len(other), np.int64)
    first, second = np.empty(len(one), np.int64), np.empty(len(other), np.int64)
    left = right = count = 0
    while left < len(one) or right < len(other):
        is_mine = right == len(other) or (left < len(one) and one[left] <= other[right])
        is_theirs = left == len(one) or (right < len(other) and other[right] <= one[left])
        if is_mine:
            cells[count] = one[left]
            first[left] = count
            left += 1
        if is_theirs:
            cells[count] = other[right]
            second[right] = count
            right += 1
        count += 1
    return cells[:count], first, second


@compiled
def coarser_cells(cells: IntArray, units: IntArray, shift: int) -> tuple[IntArray, IntArray]:
    """Ascending cells without their last `shift` bits, and the counts[cell, class] of those that fall together."""
    joined, table = np.empty_like(cells), np.zeros(units.shape, np.int64)
    count = 0
    for line in range(len(cells)):
        cell = cells[line] >> shift
        if count == 0 or joined[count - 1] != cell:
            joined[count] = cell
            count += 1
        for label in range(units.shape[1]):
            table[count - 1, label] += units[line, label]
    return joined[:count].copy(), table[:count].copy()


@compiled
def occupied_cells(cells: IntArray, units: IntArray, order: IntArray) -> tuple[IntArray, IntArray]:
    """Cells and their counts units[cell, class] in another order, without those that hold nothing."""
    kept, table = np.empty(len(order), np.int64), np.empty((len(order), units.shape[1]), np.int64)
    count = 0
    for line in order:
        occupied = np.int64(0)
        for label in range(units.shape[1]):
            table[count, label] = units[line, label]
            occupied |= units[line, label]
        kept[count] = cells[line]
        count += 1 if occupied else 0
    return kept[:count], table[:count]
