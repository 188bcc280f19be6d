"""Rows that are alike as far as one column tells: a value, a class, and how many there are.

What is remembered of a column can be told as such rows. Where every value has a cell of its own they are the rows
themselves, each counted as often as it was learned; else the middle of a cell stands for its numbers.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.batch import Batch
from candide.data.cached import cached_property
from candide.data.values import Key
from candide.kernels.counting import counts_above_zero
from candide.kernels.merging import counts_without_folds
from candide.statistics.cells import Cells
from candide.statistics.column_memory import ColumnMemory
from candide.statistics.tally import Tally
from candide.statistics.weight_grid import amounts, in_finer_units


@dataclass(frozen=True, eq=False)
class AlikeRows:
    """One row of a single column for each (value, class) that occurred, with its weight.

    A line is a value: `numbers` come first, ascending; then `others`, being missing written as None; the last line is
    for rows without a value. Rows go by line, and by class within one.
    """

    column: str
    numbers: FloatArray
    others: tuple[Any, ...]
    lines: IntArray
    labels: IntArray
    weights: AnyArray
    classes: int

    @classmethod
    def of(cls, seen: ColumnMemory, column: str, index: int) -> AlikeRows:
        """The rows that have a value in a column, the one at this index."""
        return cls.of_parts(column, seen.cells[index], seen.values_of(column))

    @classmethod
    def of_parts(cls, column: str, cells: Cells, others: Tally, rows: Tally | None = None) -> AlikeRows:
        """The rows of a column by its cells and its other values; of `rows` in each class the rest have no value."""
        bits = max(cells.bits, others.bits, 0 if rows is None else rows.bits)
        units = np.concatenate([in_finer_units(cells.units, bits - cells.bits), others.at(bits)])
        if rows is not None:
            units = np.concatenate([units, rows.at(bits) - units.sum(axis=0)])
        lines, labels, counts = counts_above_zero(units)
        values = tuple(value_of(slot[1:]) for slot in others.open_slots)
        return cls(column, cells.middle, values, lines, labels, amounts(counts, bits), cells.classes)

    @cached_property
    def batch(self) -> Batch:
        """The rows as such."""
        if not self.others:
            return Batch.of({self.column: np.append(self.numbers, np.nan)[self.lines]}).read_once()
        numbers = [int(number) if number == np.floor(number) else number for number in self.numbers.tolist()]
        values = [*numbers, *self.others, None]
        return Batch.of({self.column: [values[line] for line in self.lines.tolist()]}).read_once()

    @property
    def values(self) -> int:
        """How many lines there are, that of no value among them."""
        return len(self.numbers) + len(self.others) + 1

    @cached_property
    def counts(self) -> AnyArray:
        """How many rows there are of each line and class, [line, class]."""
        table = np.zeros((self.values, self.classes), self.weights.dtype)
        table[self.lines, self.labels] = self.weights
        return table

    def without_folds(self, held: IntArray, places: IntArray, size: int) -> IntArray:
        """The counts of each place and class without each fold, which holds held[fold, row]: [fold, place, class].

        places[line] is one of so many, or below zero where a line is nowhere.
        """
        counts = np.zeros((len(held), size, self.classes), np.int64)
        counts_without_folds(places[self.lines], self.labels, self.weights, held, counts)
        return counts


class AlikeScores(NamedTuple):
    """What rows alike say when one of them is left out: a line for each value, of which only the own class differs."""

    others: FloatArray
    """What a row of each line says of the classes that it does not belong to, [line, class]."""
    own: FloatArray
    """What each row says of its class without itself, [row]."""
    lines: IntArray
    """The line of each row."""


class FoldScores(NamedTuple):
    """What rows alike say by families fitted without each fold, where values in one part say the same.

    What is the same for all classes may be left away: it tells none of them apart.
    """

    parts: IntArray
    """The part that each line belongs to, [fold, line]; below zero where it says nothing."""
    shares: FloatArray
    """What each part says of each class, [fold, part, class]."""


def value_of(key: Key) -> Any:
    """The value that a key stands for; nothing where that is being missing.

    >>> value_of(("time", "2024-12-31")), value_of(("truth", True)), value_of(("missing", ""))
    (datetime.date(2024, 12, 31), True, None)
    """
    kind, value = key
    if kind == "missing":
        return None
    return time_of(value) if kind == "time" else value


def time_of(written: str) -> Any:
    """A date, a moment or a time of day, from how it is written."""
    readers: tuple[Callable[[str], Any], ...] = (
        datetime.date.fromisoformat, datetime.datetime.fromisoformat, datetime.time.fromisoformat,
    )  # fmt: skip
    for read in readers:
        try:
            return read(written)
        except ValueError:
            continue
    raise ValueError(f"{written!r} is no time")
