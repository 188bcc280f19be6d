"""What is remembered of columns whose families are not decided: all that any family might ask for.

Numbers leave exact sums, sums of the logarithms of those above zero, and cells; other values leave counts of what they
are; times also count the parts of the calendar they fall into. Whatever comes can be learned, and what a family would
have remembered is read off, now or later.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from candide.data.arrays import AnyArray, BoolArray, FloatArray, IntArray
from candide.data.values import Coded
from candide.kernels.counting import count_codes
from candide.statistics.cells import CELLS_AT_FIRST, Cells, CellsBuilder
from candide.statistics.moments import row_major
from candide.statistics.sums import Sums, SumsBuilder, grid_logs
from candide.statistics.tally import Tally, TallyBuilder
from candide.statistics.weight_grid import bits_of, weights_in_units

AFTER_ALL_KINDS = "~"
"""No kind of values comes after this."""

CodedColumn = tuple[str, Coded]
"""A column's name and a code for each row into its values, -1 where it has none."""


@dataclass(frozen=True)
class ColumnMemory:
    """Sums and cells of the numbers of each column, and counts of values that are no numbers, class by class.

    >>> mixed = ColumnMemory.of(np.array([[1.5], [np.nan], [2.0]]), [("size", Coded.of([None, "big", None]))],
    ...     np.array([0, 0, 1]), classes=2)
    >>> mixed.numbers.total.to_float().tolist(), mixed.cells[0].lowest.tolist(), mixed.others.slots
    ([[1.5, 2.0]], [1.5, 2.0], (('size', 'text', 'big'),))
    >>> mixed + mixed - mixed == mixed
    True
    """

    numbers: Sums
    logs: Sums
    """Of the logarithms of numbers above zero."""
    cells: tuple[Cells, ...]
    others: Tally
    """How often each value that is no number was seen: slots are (column, kind, value)."""
    parts: Tally
    """How often times fell on each weekday, hour and month."""

    @classmethod
    def of(
        cls,
        numbers: FloatArray,
        others: Sequence[CodedColumn],
        labels: IntArray,
        classes: int,
        weights: AnyArray | None = None,
    ) -> ColumnMemory:
        """What some rows leave behind."""
        builder = ColumnMemoryBuilder(numbers.shape[1], classes)
        builder.learn(numbers, others, (), labels, np.zeros(0, np.int64) if weights is None else weights)
        return builder.freeze()

    @property
    def classes(self) -> int:
        return self.numbers.classes

    def __add__(self, other: ColumnMemory) -> ColumnMemory:
        return ColumnMemory(
            self.numbers + other.numbers,
            self.logs + other.logs,
            tuple(mine + theirs for mine, theirs in zip(self.cells, other.cells, strict=True)),
            self.others + other.others,
            self.parts + other.parts,
        )

    def __sub__(self, other: ColumnMemory) -> ColumnMemory:
        return ColumnMemory(
            self.numbers - other.numbers,
            self.logs - other.logs,
            tuple(mine - theirs for mine, theirs in zip(self.cells, other.cells, strict=True)),
            self.others - other.others,
            self.parts - other.parts,
        )

    def spread(self, positions: IntArray, classes: int) -> ColumnMemory:
        """The same among more classes: class i moves to positions[i]."""
        return ColumnMemory(
            self.numbers.spread(positions, classes),
            self.logs.spread(positions, classes),
            tuple(cells.spread(positions, classes) for cells in self.cells),
            self.others.spread(positions, classes),
            self.parts.spread(positions, classes),
        )

    def only(self, positions: IntArray) -> ColumnMemory:
        """What some classes left, in the given order."""
        return ColumnMemory(
            self.numbers.only(positions),
            self.logs.only(positions),
            tuple(cells.only(positions) for cells in self.cells),
            self.others.only(positions),
            self.parts.only(positions),
        )

    def widened(self, before: Sequence[str], after: Sequence[str]) -> ColumnMemory:
        """The same where there are more columns."""
        known = dict(zip(before, self.cells, strict=True))
        return ColumnMemory(
            self.numbers.widened(before, after),
            self.logs.widened(before, after),
            tuple(known[name] if name in known else Cells.empty(self.classes) for name in after),
            self.others,
            self.parts,
        )

    def narrowed(self, before: Sequence[str], after: Sequence[str]) -> ColumnMemory:
        """What is remembered of fewer columns."""
        return ColumnMemory(
            self.numbers.narrowed(before, after),
            self.logs.narrowed(before, after),
            tuple(self.cells[before.index(name)] for name in after),
            self.others.narrowed(before, after),
            self.parts.narrowed(before, after),
        )

    def without_sums(self) -> ColumnMemory:
        """The cells and counts alone."""
        nothing = Sums.empty(len(self.cells), self.classes)
        return ColumnMemory(nothing, nothing, self.cells, self.others, self.parts)

    def counts_of(self, index: int, column: str) -> ColumnMemory:
        """The cells and counts of one column, without its sums."""
        nothing = Sums.empty(1, self.classes)
        return ColumnMemory(nothing, nothing, (self.cells[index],), self.values_of(column), self.parts_of(column))

    def first_met(self) -> ColumnMemory:
        """The same with the cells that columns keep once their first rows were learned: some hundreds each."""
        cells = tuple(cells.with_at_most(CELLS_AT_FIRST) for cells in self.cells)
        return ColumnMemory(self.numbers, self.logs, cells, self.others, self.parts)

    def impossible(self) -> str:
        """What it is about this that no rows could have left; nothing where some could."""
        for part in (self.numbers, self.logs, self.others, self.parts):
            if reason := part.impossible():
                return reason
        for index, cells in enumerate(self.cells):
            if not weighs(self.numbers, index, cells.units, cells.bits):
                return "cells that hold other numbers than the sums"
            if not weighs(self.logs, index, above_zero(cells), cells.bits):
                return "logarithms of other numbers than the cells hold"
        return ""

    def held(self, columns: Sequence[str]) -> BoolArray:
        """In which columns some row has a value."""
        named = {slot[0] for slot in self.others.open_slots if slot[1] != "missing"}
        return np.array([len(cells) > 0 or name in named for name, cells in zip(columns, self.cells, strict=True)])

    def values_of(self, column: str) -> Tally:
        """The values of a column that are no numbers."""
        return column_slots(self.others, column)

    def parts_of(self, column: str) -> Tally:
        """The parts of the calendar that the times of a column fell into."""
        return column_slots(self.parts, column)


def column_slots(seen: Tally, column: str) -> Tally:
    """The slots of one column."""
    first = bisect_left(seen.open_slots, (column,))
    last = bisect_left(seen.open_slots, (column, AFTER_ALL_KINDS))
    return Tally(seen.open_slots[first:last], seen.units[first:last], seen.bits)


def above_zero(cells: Cells) -> AnyArray:
    """The counts of numbers above zero, line by line, in units of the cells."""
    return np.concatenate([cells.units[cells.cells >= 0], -cells.zeros[None]])


def weighs(sums: Sums, index: int, units: AnyArray, bits: int) -> bool:
    """Whether what was summed of a column weighs, in every class, as much as all lines of units of 2^-bits."""
    whole, exponent = sums.weight.take(np.array([index]), axis=0).integers()
    up, down = max(exponent + bits, 0), max(-exponent - bits, 0)
    return bool((whole[0] << up == units.sum(axis=0, dtype=object) << down).all())


class ColumnMemoryBuilder:
    """What is remembered of columns in the making; a row costs a row."""

    def __init__(self, columns: int, classes: int, levels: Sequence[int] = (), sums: bool = True) -> None:
        self.columns, self.sums = columns, sums
        self.classes = classes
        self.numbers = SumsBuilder(columns, classes)
        self.logs = SumsBuilder(columns, classes)
        self.cells = [CellsBuilder(classes, level) for level in levels or [0] * columns]
        self.others = TallyBuilder((), classes)
        self.parts = TallyBuilder((), classes)

    @classmethod
    def over(cls, seen: ColumnMemory) -> ColumnMemoryBuilder:
        """Go on from what is remembered already."""
        builder = cls(0, seen.classes)
        builder.columns = len(seen.cells)
        builder.numbers, builder.logs = SumsBuilder.over(seen.numbers), SumsBuilder.over(seen.logs)
        builder.cells = [CellsBuilder.over(cells) for cells in seen.cells]
        builder.others, builder.parts = TallyBuilder.over(seen.others), TallyBuilder.over(seen.parts)
        return builder

    def grow(self, classes: int) -> None:
        """Make room for more classes."""
        for part in (self.numbers, self.logs):
            part.grow(classes)
        for cells in self.cells:
            cells.grow(classes)
        for tally in (self.others, self.parts):
            tally.grow(classes)
        self.classes = classes

    def learn(
        self,
        numbers: FloatArray,
        others: Iterable[CodedColumn],
        parts: Iterable[CodedColumn],
        labels: IntArray,
        weights: AnyArray,
    ) -> None:
        """Add rows: numbers[row, column], NaN where there is none, and the other values and parts of some columns."""
        for tally, columns in ((self.others, others), (self.parts, parts)):
            for name, coded in columns:
                units = tally.reserve(len(coded), weights)
                indices = tally.indices_for([(name, *key) for key in coded.keys])
                count_codes(np.append(indices, -1)[coded.codes], labels, units, tally.table)
        held = np.flatnonzero(~np.isnan(numbers).all(axis=0)) if len(numbers) else np.zeros(0, np.int64)
        if not len(held):
            return
        each, numbers, bits = weights if weights.size else None, row_major(numbers), bits_of(weights)
        if self.sums:
            self.numbers.learn(numbers, labels, each)
            self.logs.learn(grid_logs(numbers), labels, each)
        for index in held.tolist():
            cells = self.cells[index]
            cells.in_units(bits)
            cells.learn_column(numbers, index, labels, weights_in_units(weights, len(labels), cells.bits))

    def freeze(self) -> ColumnMemory:
        return ColumnMemory(
            self.numbers.freeze(),
            self.logs.freeze(),
            tuple(cells.freeze() for cells in self.cells),
            self.others.freeze(),
            self.parts.freeze(),
        )
