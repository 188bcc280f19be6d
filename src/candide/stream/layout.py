"""Where the blocks of a stream find their columns in rows that have the same ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from operator import is_, itemgetter
from typing import Any

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.stream.live import Cell, Live
from candide.stream.live_sums import are_floats, row_numbers
from candide.stream.running_sums import RunningSums

NO_NUMBERS: FloatArray = np.zeros(0)


@dataclass(eq=False, slots=True)
class Layout:
    """What is worked out once for all rows that have the same columns, in the same order."""

    names: list[str]
    """The numbers whose sums lie in one table, `sums`, at these places."""
    places: IntArray
    sums: RunningSums | None
    others: list[tuple[Live, list[tuple[int, str]]]]
    """All other blocks, in the order in which a model adds them up."""
    blocks: list[tuple[Live, list[tuple[int, str]]]]
    """All blocks."""
    unknown: list[str]
    """Columns that the stream has not met."""
    is_open: bool
    """Whether the families of all columns are left open."""
    picked: Callable[[Mapping[str, Any]], tuple[Any, ...]] = field(init=False)
    latest: tuple[tuple[Any, ...], FloatArray] = field(init=False, default=((), NO_NUMBERS))

    def __post_init__(self) -> None:
        self.picked = picking(self.names)

    def numbers(self, row: Mapping[str, Any]) -> FloatArray:
        """The numbers of a row, NaN where missing.

        A row is asked about first and learned then: the numbers of the very same floats are not worked out twice.
        """
        values, (before, numbers) = self.picked(row), self.latest
        if len(values) == len(before) and all(map(is_, values, before)):
            return numbers
        numbers = row_numbers(self.names, values)
        if are_floats(values):
            self.latest = values, numbers
        return numbers

    def cells(self, row: Mapping[str, Any]) -> list[tuple[Live, list[Cell]]]:
        """The cells of a row that each block has to look at, in the order in which a model adds them up."""
        return [(block, row_cells(row, columns)) for block, columns in self.blocks]


def picking(names: list[str]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    """A function from a row to its values in some columns; `itemgetter` gives no tuple for a single one.

    >>> picking(["size"])({"size": 3, "age": 4}), picking(["age", "size"])({"size": 3, "age": 4})
    ((3,), (4, 3))
    """
    if len(names) > 1:
        return itemgetter(*names)
    return partial(values_of, names)


def values_of(names: list[str], row: Mapping[str, Any]) -> tuple[Any, ...]:
    """The values of a row in some columns."""
    return tuple(row[name] for name in names)


def row_cells(row: Mapping[str, Any], columns: list[tuple[int, str]]) -> list[Cell]:
    """The values of a row in some columns of a block."""
    return [(index, name, row[name]) for index, name in columns]
