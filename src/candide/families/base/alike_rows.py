"""Rows that are alike as far as one column tells: a value, a class, and how many there are.

What is remembered of a column can be told as such rows. Where every value has a cell of its own they are the rows
themselves, each counted as often as it was learned; else the middle of a cell stands for its numbers.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from candide.data.arrays import AnyArray, IntArray
from candide.data.batch import Batch
from candide.data.values import Key
from candide.statistics.cells import Cells
from candide.statistics.column_memory import ColumnMemory
from candide.statistics.tally import Tally
from candide.statistics.weight_grid import amounts, in_finer_units


@dataclass(frozen=True, eq=False)
class AlikeRows:
    """One row of a single column for each (value, class) that occurred, with its weight."""

    batch: Batch
    labels: IntArray
    weights: AnyArray

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
        lines, labels = np.nonzero(units)
        if len(others.slots):
            numbers = [int(number) if number == np.floor(number) else number for number in cells.middle.tolist()]
            values = [*numbers, *(value_of(slot[1:]) for slot in others.open_slots), None]
            batch = Batch.of({column: [values[line] for line in lines.tolist()]})
        else:
            batch = Batch.of({column: np.append(cells.middle, np.nan)[lines]})
        return cls(batch, labels, amounts(units[lines, labels], bits))


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
