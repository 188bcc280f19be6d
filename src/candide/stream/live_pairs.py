"""A pair of columns in a stream: a row adds to one cell, and is judged straight from the counts."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.data.values import is_missing
from candide.families.base.family import AnyFamily
from candide.families.base.identity import MISSING_VALUE
from candide.families.pairs.column_bins import ColumnBins
from candide.kernels.pair_terms import add_pair_of_row
from candide.model.summary import NO_WEIGHTS
from candide.stream.cells import category_of, number_of
from candide.stream.live import Cell, Live


class BinOfValue:
    """Finds the bin of a single value of a column."""

    def __init__(self, bins: ColumnBins) -> None:
        self.bins = bins
        self.of_key = {key: bins.of_numbers + index for index, group in enumerate(bins.groups) for key in group}

    def __call__(self, value: Any) -> int:
        if is_missing(value):
            return self.of_key.get(MISSING_VALUE, -1)
        key = category_of(value, self.bins.column)
        if key is None or key in self.of_key or key[0] not in ("number", "time"):
            return self.of_key.get(key, -1) if key is not None else -1
        number = number_of(value, self.bins.column)
        return bisect_right(self.bins.edges, number) if self.bins.edges and abs(number) < np.inf else -1


class LivePair(Live):
    """Counts by the cell of all its columns."""

    def __init__(self, family: AnyFamily, columns: list[str], seen: Any) -> None:
        super().__init__(family, columns, seen)
        self.reads_missing = self.family.missing_is_value
        self.bins = [BinOfValue(part) for part in self.family.parts]

    def read(self, cells: list[Cell]) -> IntArray:
        given = {name: value for _, name, value in cells}
        cell = 0
        for find, name, width in zip(self.bins, self.columns, self.family.bins, strict=True):
            place = find(given.get(name))
            if place < 0:
                return np.array([-1])
            cell = cell * width + place
        return np.array([cell])

    def learn(self, values: IntArray, label: int) -> None:
        if values[0] >= 0:
            self.builder.reserve(1, NO_WEIGHTS)
            self.builder.table[values[0], label] += 1

    def score(self, cells: list[Cell], order: IntArray, joint: FloatArray) -> float:
        cell = int(self.read(cells)[0])
        if cell < 0:
            return 0.0
        family, table = self.family, self.builder.table
        strength = float(family.strength)
        add_pair_of_row(table, order, family.bins[-1], float(family.smoothing), strength, cell, joint)
        return 1.0
