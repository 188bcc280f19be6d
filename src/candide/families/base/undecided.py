"""A column whose family is left open: all that any family might ask is remembered, and the family is read off."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from candide.data.arrays import AnyArray, BoolArray, FloatArray, IntArray
from candide.data.batch import Batch
from candide.families.base.column_values import ColumnValues
from candide.families.base.core import Drawn
from candide.families.base.family import Family
from candide.families.base.support import REAL
from candide.families.categorical import Categorical, Values
from candide.statistics.column_memory import ColumnMemory, ColumnMemoryBuilder
from candide.statistics.tally import Tally
from candide.statistics.weight_grid import in_finer_units

CATEGORIES = Categorical()
AUTO = "auto"
"""What users call it."""


@dataclass(frozen=True)
class Undecided(Family[ColumnMemory, ColumnMemoryBuilder, ColumnValues, dict[str, Values]]):
    """Whatever comes is taken: numbers, words, truths, times, or some of each; only infinite numbers are refused.

    Models read other families off what it remembers (`candide.model.reading`). Asked by itself, it takes every value
    for a category, which is the one thing that all values can be.
    """

    missing_is_value: bool = False
    levels: tuple[int, ...] = field(default=(), compare=False)
    """The level of cells by which each column is counted, where rows learned before have fixed it."""
    sums: bool = field(default=True, compare=False)
    """Whether numbers are summed: not where only choices are made, which ask for cells and counts."""
    statistic = ColumnMemory

    def describe(self) -> dict[str, Any]:
        return {name: option for name, option in super().describe().items() if name not in ("levels", "sums")}

    def counting_like(self, seen: ColumnMemory) -> Undecided:
        """The same family, that counts in cells as fine as those that are there: so they add, and subtract again."""
        return replace(self, levels=tuple(cells.level if len(cells) else 0 for cells in seen.cells))

    def builder(self, columns: tuple[str, ...], classes: int) -> ColumnMemoryBuilder:
        levels = self.levels if len(self.levels) == len(columns) else ()
        return ColumnMemoryBuilder(len(columns), classes, levels, self.sums)

    def builder_over(self, seen: ColumnMemory) -> ColumnMemoryBuilder:
        return ColumnMemoryBuilder.over(seen)

    def read(self, batch: Batch, columns: tuple[str, ...]) -> ColumnValues:
        values = ColumnValues.of(batch, columns, self.missing_is_value)
        REAL.refuse_outside(values.numbers, batch, columns, AUTO)
        return values

    def view(self, batch: Batch, columns: tuple[str, ...]) -> ColumnValues:
        return ColumnValues.of(batch, columns, self.missing_is_value).without_infinite()

    def values_at(self, values: ColumnValues, wanted: slice | IntArray) -> ColumnValues:
        return values.at(wanted)

    def learn(self, builder: ColumnMemoryBuilder, values: ColumnValues, labels: IntArray, weights: AnyArray) -> None:
        builder.learn(values.numbers, values.others, values.parts, labels, weights)

    def identified(self, batch: Batch, columns: tuple[str, ...]) -> ColumnValues:
        return self.read(batch, columns)

    def held(self, seen: ColumnMemory, columns: tuple[str, ...]) -> BoolArray:
        return seen.held(columns)

    def impossible(self, seen: ColumnMemory, columns: tuple[str, ...], rows: Tally) -> str:
        for name, cells in zip(columns, seen.cells, strict=True):
            others = seen.values_of(name)
            bits = max(cells.bits, others.bits, rows.bits)
            counted = in_finer_units(cells.units, bits - cells.bits).sum(axis=0) + others.at(bits).sum(axis=0)
            if (counted > rows.at(bits)[0]).any():
                return f"more values of '{name}' than rows"
        return ""

    def first_met(self, seen: ColumnMemory) -> ColumnMemory:
        return seen.first_met()

    def memory(self, columns: int, classes: int) -> int:
        return 0

    def fit(self, seen: ColumnMemory, columns: tuple[str, ...]) -> dict[str, Values]:
        return CATEGORIES.fit(CATEGORIES.read_off(seen, columns, columns), columns)

    def score(self, parameters: dict[str, Values], values: ColumnValues, joint: FloatArray) -> None:
        columns = tuple(parameters)
        CATEGORIES.score(parameters, CATEGORIES.view(values.batch, columns), joint)

    def evidence_length(self, parameters: dict[str, Values] | None, values: ColumnValues) -> FloatArray:
        return values.length

    def sample(self, parameters: dict[str, Values], label: int, rows: int, rng: np.random.Generator) -> Drawn:
        return CATEGORIES.sample(parameters, label, rows, rng)
