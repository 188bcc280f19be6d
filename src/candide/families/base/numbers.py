"""What families of numbers share: how they are read, when they are missing, and what they cannot take."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from candide.data.arrays import BoolArray, FloatArray, IntArray
from candide.data.batch import Batch
from candide.families.base.core import B, P, S
from candide.families.base.explaining import Silence, unheard
from candide.families.base.family import Family
from candide.families.base.support import REAL, Support


class OfNumbers(Family[S, B, FloatArray, P]):
    """Values are numbers[row, column], NaN where one is missing or, when predicting, outside the support."""

    support: ClassVar[Support] = REAL

    def read(self, batch: Batch, columns: tuple[str, ...]) -> FloatArray:
        values = batch.numbers(columns)
        self.support.refuse_outside(values, batch, columns, self.name)
        return values

    def view(self, batch: Batch, columns: tuple[str, ...]) -> FloatArray:
        return self.support.without_outside(batch.numbers(columns))

    def values_at(self, values: FloatArray, wanted: slice | IntArray) -> FloatArray:
        return values[wanted]

    def identified(self, batch: Batch, columns: tuple[str, ...]) -> FloatArray:
        return self.read(batch, columns)

    def evidence_length(self, parameters: P | None, values: FloatArray) -> FloatArray:
        return numbers_there(values)

    def takes(self, numbers: FloatArray) -> BoolArray:
        return np.isfinite(self.view(Batch.of({"number": numbers}), ("number",))[:, 0])

    def silent(
        self, parameters: P, values: FloatArray, row: Batch, columns: tuple[str, ...], seen: S
    ) -> list[Silence]:
        return silent_numbers(values, row, columns)


def numbers_there(values: FloatArray) -> FloatArray:
    """How many numbers of each row are there."""
    return (~np.isnan(values)).sum(axis=1).astype(np.float64)


def silent_numbers(values: FloatArray, row: Batch, columns: tuple[str, ...]) -> list[Silence]:
    """The numbers of a single row that say nothing: missing ones, and those that the family cannot take."""
    taken = values[0]
    if not np.isnan(taken).any():
        return []
    given = row.numbers(columns)[0]
    return [Silence(columns[index], *unheard(given[index])) for index in np.flatnonzero(np.isnan(taken)).tolist()]
