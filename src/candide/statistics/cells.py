"""Where numbers lie, class by class: counts in cells that nest, the same on every machine.

A cell holds the numbers whose ordered 64-bit keys (`candide.kernels.cells`) agree in their leading bits, its `level`.
At level 64 every number has a cell of its own; each level less joins two neighbours. So two counts of different levels
add at the coarser, exactly, whoever chose the levels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray, readonly
from candide.data.cached import cached_property
from candide.data.errors import ForgetRefused
from candide.kernels.cells import (
    EMPTY,
    FRACTION,
    ZERO,
    CellRoom,
    coarser_cells,
    count_cells,
    ends_of_cells,
    enter_cells,
    last_shared_bits,
    middles_of_cells,
    occupied_cells,
    union_of_cells,
)
from candide.statistics.moments import row_major
from candide.statistics.tally import refuse_count_overflow
from candide.statistics.weight_grid import amounts, coarsest, in_finer_units

FINEST_LEVEL, COARSEST_LEVEL = 64, 1
MARKS = 2
CELLS_AT_FIRST = 512
"""A column's level is the finest at which no more cells than this are occupied, when its first rows were learned."""

MOST_CELLS = 8192
"""Numbers that come later keep to that level, unless they occupy more cells than this."""

FEWEST_LINES = 64
"""Lines that cells in the making have to spare at least."""

SMALLEST = float(np.nextafter(0.0, 1.0))
"""The number after zero."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Counts[cell, class] of one column, cells in ascending order, none of them empty.

    >>> few = Cells.of(np.array([1.5, 1.5, -2.0, 7.0]), np.array([0, 1, 0, 0]), classes=2)
    >>> few.lowest.tolist(), few.counts.tolist()
    ([-2.0, 1.5, 7.0], [[1, 0], [1, 1], [1, 0]])
    >>> coarse = few.at_level(13)
    >>> coarse.lowest.tolist(), coarse.highest.tolist()
    ([-2.9999999999999996, 1.5, 6.0], [-2.0, 1.9999999999999998, 7.999999999999999])
    >>> coarse + few - few == coarse
    True
    """

    cells: IntArray
    units: IntArray
    marks: IntArray
    """How many numbers of each class are zero, and how many are not whole."""
    level: int = FINEST_LEVEL
    bits: int = 0
    """Counts are in units of 2^-bits: 1, unless a row had a weight that is not whole."""

    def __post_init__(self) -> None:
        for part in (self.cells, self.units, self.marks):
            part.flags.writeable = False

    @classmethod
    def of(
        cls, values: FloatArray, labels: IntArray, classes: int, weights: AnyArray | None = None, level: int = 0
    ) -> Cells:
        """The cells of finite numbers, NaN being missing, at a level, or at the one that suits them."""
        builder = CellsBuilder(classes, level)
        builder.learn(values, labels, np.zeros(0, np.int64) if weights is None else weights)
        return builder.freeze() if level else builder.freeze().with_at_most(CELLS_AT_FIRST)

    @classmethod
    def empty(cls, classes: int, level: int = FINEST_LEVEL) -> Cells:
        return cls(np.zeros(0, np.int64), np.zeros((0, classes), np.int64), np.zeros((2, classes), np.int64), level)

    @classmethod
    def canonical(cls, cells: IntArray, units: IntArray, marks: IntArray, level: int, bits: int) -> Cells:
        """Cells in ascending order without those that are empty; whole counts where they can be."""
        cells, units = occupied_cells(readonly(cells), readonly(np.ascontiguousarray(units)), np.argsort(cells))
        if not bits:
            return cls(cells, units, marks, level)
        lines, bits = coarsest(np.concatenate([units, marks]), bits)
        return cls(cells, lines[:-MARKS], lines[-MARKS:], level, bits)

    @property
    def classes(self) -> int:
        return int(self.units.shape[1])

    @cached_property
    def counts(self) -> AnyArray:
        """How many numbers of each class lie in each cell."""
        return amounts(self.units, self.bits)

    @property
    def zeros(self) -> IntArray:
        """How many numbers of each class are zero, in units of 2^-bits."""
        return self.marks[ZERO]

    @property
    def fractions(self) -> IntArray:
        """How many numbers of each class are not whole."""
        return self.marks[FRACTION]

    def __len__(self) -> int:
        return len(self.cells)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Cells)
            and (self.level, self.bits) == (other.level, other.bits)
            and np.array_equal(self.cells, other.cells)
            and np.array_equal(self.units, other.units)
            and np.array_equal(self.marks, other.marks)
        )

    def at_level(self, level: int) -> Cells:
        """The same numbers in cells of this level, which is as coarse or coarser."""
        if level > self.level:
            raise ValueError(f"cells of level {self.level} cannot be told apart at level {level}")
        if level == self.level:
            return self
        cells, units = coarser_cells(self.cells, self.units, self.level - level)
        return Cells(cells, units, self.marks, level, self.bits)

    def with_at_most(self, most: int) -> Cells:
        """The same numbers at the finest level at which no more cells are occupied.

        Neighbours fall together once the last bit in which they differ is cut off.
        """
        if len(self) <= most:
            return self
        shared = np.sort(last_shared_bits(self.cells))[::-1]
        return self.at_level(max(self.level - int(shared[most - 1]), COARSEST_LEVEL))

    def spread(self, positions: IntArray, classes: int) -> Cells:
        """The same counts among more classes: class i moves to positions[i]."""
        units, marks = np.zeros((len(self), classes), np.int64), np.zeros((MARKS, classes), np.int64)
        units[:, positions], marks[:, positions] = self.units, self.marks
        return Cells(self.cells, units, marks, self.level, self.bits)

    def only(self, positions: IntArray) -> Cells:
        """The counts of some classes, in the given order."""
        if np.array_equal(positions, np.arange(self.classes)):
            return self
        units, marks = self.units.take(positions, axis=1), self.marks.take(positions, axis=1)
        return Cells.canonical(self.cells, units, marks, self.level, self.bits)

    def __add__(self, other: Cells) -> Cells:
        """Both, at the coarser level; coarser still where that is more cells than anyone needs."""
        for some, others in ((self, other), (other, self)):
            if not len(others) and others.level >= some.level and len(some) <= MOST_CELLS:
                return some
        cells, mine, theirs, level, bits = self._aligned(other)
        refuse_count_overflow(mine, theirs)
        lines = mine + theirs
        return Cells.canonical(cells, lines[:-MARKS], lines[-MARKS:], level, bits).with_at_most(MOST_CELLS)

    def __sub__(self, other: Cells) -> Cells:
        cells, mine, theirs, level, bits = self._aligned(other)
        left = mine - theirs
        if (left < 0).any():
            raise ForgetRefused("The rows to forget hold numbers that were never learned with that label.")
        return Cells.canonical(cells, left[:-MARKS], left[-MARKS:], level, bits)

    def _aligned(self, other: Cells) -> tuple[IntArray, IntArray, IntArray, int, int]:
        """The cells of both, the counts of each in them with the marks last, the level and the bits."""
        level, bits = min(self.level, other.level), max(self.bits, other.bits)
        pair = self.at_level(level), other.at_level(level)
        cells, *lines = union_of_cells(pair[0].cells, pair[1].cells)
        mine, theirs = (np.zeros((len(cells) + MARKS, self.classes), np.int64) for _ in pair)
        for part, line, table in zip(pair, lines, (mine, theirs), strict=True):
            table[line] = in_finer_units(part.units, bits - part.bits)
            table[len(cells) :] = in_finer_units(part.marks, bits - part.bits)
        return cells, mine, theirs, level, bits

    @cached_property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """The smallest and the largest number of each cell."""
        return ends_of_cells(self.cells, FINEST_LEVEL - self.level)

    @property
    def lowest(self) -> FloatArray:
        """The smallest number of each cell."""
        return self.ends[0]

    @property
    def highest(self) -> FloatArray:
        """The largest number of each cell."""
        return self.ends[1]

    @cached_property
    def beyond(self) -> FloatArray:
        """The number that follows the largest of each cell: where the next cell begins, or infinity."""
        with np.errstate(over="ignore"):
            return np.nextafter(self.highest, np.inf)

    @property
    def is_exact(self) -> bool:
        """Whether every number has a cell of its own."""
        return self.level == FINEST_LEVEL

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest number there may be, exact where cells are; NaN where there are none.

        >>> seen = Cells.of(np.array([61.0, 302.0]), np.zeros(2, np.int64), classes=1)
        >>> seen.bounds, seen.at_level(14).bounds
        ((61.0, 302.0), (56.0, 319.0))
        """
        if not len(self):
            return np.nan, np.nan
        low, high = float(self.lowest[0]), float(self.highest[-1])
        if low == 0 and not self.zeros.any():
            low = SMALLEST
        return (low, high) if self.fractions.any() else (float(np.ceil(low)), float(np.floor(high)))

    def quantile(self, share: float) -> float:
        """The number below or at which such a share of all lie, as well as cells can tell; NaN where there are none."""
        below = np.cumsum(self.units.sum(axis=1, dtype=np.float64))
        if not len(self):
            return np.nan
        return float(self.middle[min(int(np.searchsorted(below, share * below[-1])), len(self) - 1)])

    @cached_property
    def middle(self) -> FloatArray:
        """A number to stand for each cell: zero where it holds zeros, and a whole one where all numbers are whole."""
        are_whole, has_zeros = not self.fractions.any(), bool(self.zeros.any())
        return middles_of_cells(self.cells, FINEST_LEVEL - self.level, are_whole, has_zeros)


class CellsBuilder:
    """Cells in the making: `learn` counts in place, at a level that gets coarser only where cells are too many.

    At a level that is given they may be many. Without one, some hundreds will be kept in the end, so no more than a few
    times as many are counted: that keeps them in the processor's cache.
    """

    def __init__(self, classes: int, level: int = 0) -> None:
        self.most = MOST_CELLS if level else CELLS_AT_FIRST
        self.classes = classes
        self._hold(Cells.empty(classes, level or FINEST_LEVEL))

    @classmethod
    def over(cls, seen: Cells) -> CellsBuilder:
        """Go on from cells already there."""
        builder = cls(seen.classes, seen.level)
        builder._hold(seen)
        return builder

    def _hold(self, seen: Cells) -> None:
        self.level, self.bits, self.used = seen.level, seen.bits, len(seen)
        self.room = roomy(seen.cells, seen.units, seen.marks)

    def grow(self, classes: int) -> None:
        """Make room for more classes, doubling so that growth stays cheap."""
        width = self.room.marks.shape[1]
        if classes > width:
            more = ((0, 0), (0, max(classes, 2 * width) - width))
            self.room = self.room._replace(table=np.pad(self.room.table, more), marks=np.pad(self.room.marks, more))
        self.classes = classes

    def in_units(self, bits: int) -> None:
        """Count in units of 2^-bits from now on, if that is finer."""
        if bits > self.bits:
            table, marks = (in_finer_units(part, bits - self.bits) for part in self.room[2:])
            self.room = self.room._replace(table=table, marks=marks)
            self.bits = bits

    def learn(self, values: FloatArray, labels: IntArray, weights: IntArray) -> None:
        """Count numbers; weights are in the units of the builder, or none."""
        self.learn_column(row_major(values[:, None]), 0, labels, weights)

    def learn_column(self, numbers: FloatArray, column: int, labels: IntArray, weights: IntArray) -> None:
        """Count one column of numbers[row, column], which are `row_major`."""
        row, lines = 0, min(len(numbers), 2 * CELLS_AT_FIRST)
        if lines > len(self.room.cells):
            self.room = roomy(self.room.cells[: self.used], self.room.table[: self.used], self.room.marks, lines)
        while True:
            shift = FINEST_LEVEL - self.level
            row, self.used = count_cells(numbers, column, labels, weights, shift, self.room, (row, self.used))
            if row == len(numbers):
                return
            self._make_room()

    def _make_room(self) -> None:
        """More lines for cells, or coarser cells."""
        if self.used < 2 * self.most:
            room = self.room
            self.room = roomy(room.cells, room.table, room.marks, 2 * self.used)
        else:
            self._hold(self.freeze().with_at_most(self.most))

    def freeze(self) -> Cells:
        if not self.used:
            return Cells.empty(self.classes, self.level)
        cells, units = self.room.cells[: self.used], self.room.table[: self.used, : self.classes]
        marks = self.room.marks[:, : self.classes].copy()
        return Cells.canonical(cells, units, marks, self.level, self.bits).with_at_most(MOST_CELLS)


def roomy(cells: IntArray, table: IntArray, marks: IntArray, lines: int = 0) -> CellRoom:
    """Cells with their counts in a hash table that has so many lines, or at least some to spare."""
    lines, width = max(lines, len(cells) + FEWEST_LINES), max(marks.shape[1], 2)
    room = CellRoom(
        np.full(1 << (2 * lines - 1).bit_length(), EMPTY),
        np.zeros(lines, np.int64),
        np.zeros((lines, width), np.int64),
        np.zeros((MARKS, width), np.int64),
    )
    if len(cells):
        room.cells[: len(cells)] = cells
        room.table[: len(cells), : table.shape[1]] = table
        enter_cells(cells, room.places)
    room.marks[:, : marks.shape[1]] = marks
    return room
