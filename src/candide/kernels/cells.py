"""The loops that count numbers in cells: doubles in order, cut to the leading bits.

The bits of a double, read as a whole number, grow with its size. Turned over where the sign is set, they grow with its
value: that is its key. All numbers whose keys agree but for the last `shift` bits share a cell, and cells nest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.kernels import compiled
from candide.kernels.hashing import mix

ALL_BUT_SIGN = np.int64(0x7FFFFFFFFFFFFFFF)
EMPTY = np.int64(-1)
ZERO, FRACTION = 0, 1


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
def numbers_with(keys: IntArray) -> FloatArray:
    """The number of each key."""
    values = np.empty(len(keys), np.float64)
    for index in range(len(keys)):
        values[index] = np.int64(ordered(keys[index])).view(np.float64)
    return values


@compiled
def line_of(cell: Any, room: CellRoom) -> Any:
    """The line of a cell, or -1 - the place in the hash table where it may be entered."""
    mask = len(room.places) - 1
    place = np.int64(mix(np.uint64(cell)) & np.uint64(mask))
    while room.places[place] != EMPTY:
        if room.cells[room.places[place]] == cell:
            return room.places[place]
        place = (place + 1) & mask
    return -1 - place


@compiled
def count_cells(
    values: FloatArray, labels: IntArray, weights: IntArray, shift: int, room: CellRoom, reach: tuple[int, int]
) -> tuple[int, int]:
    """Count one column from row reach[0] on; reach[1] lines are in use. NaN is missing; `weights` may be empty.

    Stops where a new cell would find no line free. Gives the row to go on from and the lines in use.
    """
    row, used = reach
    while row < len(values):
        value = values[row]
        if value == value:
            weight = weights[row] if weights.size else 1
            cell = ordered(np.float64(value + 0.0).view(np.int64)) >> shift
            line = line_of(cell, room)
            if line < 0:
                if used == len(room.cells):
                    break
                room.places[-1 - line] = used
                room.cells[used] = cell
                line = used
                used += 1
            room.table[line, labels[row]] += weight
            if value == 0.0:
                room.marks[ZERO, labels[row]] += weight
            elif value != np.floor(value):
                room.marks[FRACTION, labels[row]] += weight
        row += 1
    return row, used


@compiled
def enter_cells(cells: IntArray, places: IntArray) -> None:
    """Enter different cells, line by line, in an empty hash table with room for them."""
    mask = len(places) - 1
    for line in range(len(cells)):
        place = np.int64(mix(np.uint64(cells[line])) & np.uint64(mask))
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
def add_cells(lines: AnyArray, first: IntArray, table: AnyArray) -> None:
    """Add each of lines[line, class] into table[first[line], class]."""
    for line in range(len(lines)):
        for label in range(lines.shape[1]):
            table[first[line], label] += lines[line, label]
