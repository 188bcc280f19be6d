"""Which numbers a family can take, and how it says no."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from candide.data.advice import SetOption
from candide.data.arrays import FloatArray
from candide.data.batch import FIRST_ROW, Batch
from candide.data.errors import ColumnRefused, Location
from candide.data.grid import SMALLEST_NORMAL
from candide.statistics.whole_sums import GRID_BITS, LARGEST_LOG, LEAST_LOG, WholeSums

LARGEST = int(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Support:
    """A set of numbers: `holds` tests an array, `needs` finishes the sentence "needs ... in every row".

    All of them lie between `low` and `high`, and where that is given are multiples of 2^-grid_bits: sums obey it.
    """

    needs: str
    holds: Callable[[FloatArray], np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]
    low: int = -LARGEST
    high: int = LARGEST
    grid_bits: int | None = None

    def within(self, values: FloatArray) -> FloatArray:
        """Numbers that were drawn, which doubles may have carried beyond the ends, within them."""
        low, high = float(self.low), float(self.high)
        least = low if self.holds(np.array([low]))[0] else low + SMALLEST_NORMAL
        most = high if self.holds(np.array([high]))[0] else np.nextafter(high, -np.inf)
        return np.clip(np.nan_to_num(values, nan=0.0), least, most)

    def refuse_outside(self, values: FloatArray, batch: Batch, columns: tuple[str, ...], family: str) -> None:
        """Raise on the first number outside; NaN is missing and passes."""
        outside = ~(self.holds(values) | np.isnan(values))
        if outside.any():
            row, column = np.argwhere(outside)[0]
            raise refusal(columns[column], family, self.needs, batch.start + int(row), values[row, column])

    def could_sum_to(self, sums: WholeSums) -> Any:
        """Where numbers of the set may have left these sums."""
        wrong = sums.impossible() | sums.outside(self.low, self.high, self.grid_bits)
        return ~np.asarray(wrong)

    def without_outside(self, values: FloatArray) -> FloatArray:
        """The same values with those outside turned into missing."""
        inside = self.holds(values)
        return values if inside.all() else np.where(inside, values, np.nan)


def refusal(column: str, family: str, needs: str, row: int, value: float) -> ColumnRefused:
    """The sentence for a value that a family cannot take."""
    found = "an infinite number" if np.isinf(value) else f"{value:.17g}"
    advice = (
        ("Make it missing (NaN), or choose another family: ", SetOption("families", key=column), ".")
        if np.isinf(value)
        else ("Choose another family, such as ", SetOption("families", "gaussian", column), ".")
    )
    number = row + FIRST_ROW
    said = f"{column}: '{family}' needs {needs} in every row, but row {number:,} holds {found}."
    where = Location(row=number, column=column, value=float(value))
    return ColumnRefused(said, advice=advice, where=where, expected=needs)


REAL = Support("a finite number", lambda x: np.isfinite(x))
COUNTS = Support("a count (0, 1, 2, ...)", lambda x: (x >= 0) & (x < 2.0**53) & (x == np.floor(x)), 0, 2**53, 0)
POSITIVE = Support("a number above zero", lambda x: (x > 0) & np.isfinite(x), 0)
NOT_NEGATIVE = Support("a number from zero up", lambda x: (x >= 0) & np.isfinite(x), 0)
TRUTHS = Support("0 or 1 (or a truth value)", lambda x: (x == 0) | (x == 1))
LOGS = Support("a logarithm", lambda x: np.isfinite(x), LEAST_LOG, LARGEST_LOG, GRID_BITS)
