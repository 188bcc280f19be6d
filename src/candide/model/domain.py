"""Which numbers a column holds: whole ones, none below zero. What is drawn for it later should be of the kind.

Cells know it of columns whose families were left open. Sums remember no smallest value, and no fractions, since those
could not be forgotten exactly: there it is decided once, from the rows that families are chosen from, and kept with the
choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from candide.data.arrays import BoolArray, FloatArray
from candide.data.batch import Batch, as_numbers
from candide.data.errors import CandideError
from candide.data.times import time_kind
from candide.families.base.profiling import is_numbers
from candide.statistics.cells import Cells

WHOLE, FROM_ZERO, ABOVE_ZERO = "whole", "from 0", "above 0"
HOLDS = ("", WHOLE, FROM_ZERO, ABOVE_ZERO, f"{WHOLE} {FROM_ZERO}", f"{WHOLE} {ABOVE_ZERO}")
"""What a column may be known to hold; nothing is known of other columns."""

TRIES = 50
"""So often is a row drawn anew that a column cannot hold."""


def what_is_held(batch: Batch, names: Sequence[str]) -> dict[str, str]:
    """What each column of numbers holds."""
    found = {}
    for name in names:
        raw = batch.columns.raw(batch.position(name))
        kind = raw.type if isinstance(raw, (pa.Array, pa.ChunkedArray)) else None
        if kind is not None and not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or time_kind(kind)):
            continue
        try:
            numbers = as_numbers(raw, name)
        except (CandideError, ValueError, TypeError):
            continue
        found[name] = held(numbers[np.isfinite(numbers)], signed=kind is not None and bool(time_kind(kind)))
    return {name: holds for name, holds in found.items() if holds}


def held(numbers: FloatArray, signed: bool = False) -> str:
    """What some numbers have in common; times have no zero to speak of.

    >>> held(np.array([3.0, 0.0])), held(np.array([0.5, 2.0])), held(np.array([-1.5]))
    ('whole from 0', 'above 0', '')
    """
    if not len(numbers):
        return ""
    whole = WHOLE if bool((numbers == np.floor(numbers)).all()) else ""
    least = float(numbers.min())
    bound = "" if signed or least < 0 else FROM_ZERO if least == 0 else ABOVE_ZERO
    return f"{whole} {bound}".strip()


def held_by_cells(cells: Cells, signed: bool = False) -> str:
    """What the numbers in some cells have in common.

    >>> held_by_cells(Cells.of(np.array([3.0, 0.5]), np.zeros(2, np.int64), classes=1))
    'above 0'
    """
    if not len(cells):
        return ""
    whole = "" if cells.fractions.any() else WHOLE
    bound = "" if signed or cells.cells[0] < 0 else FROM_ZERO if cells.zeros.any() else ABOVE_ZERO
    return f"{whole} {bound}".strip()


def without_bound(holds: str) -> str:
    """The same, of numbers that may lie below zero."""
    return holds.removesuffix(ABOVE_ZERO).removesuffix(FROM_ZERO).strip()


class Domain(NamedTuple):
    """The numbers that may be drawn for a column: from the least to the largest, and perhaps only whole ones."""

    whole: bool = False
    least: float = -np.inf
    largest: float = np.inf

    @classmethod
    def held(cls, holds: str) -> Domain:
        """What a choice says that its column holds.

        >>> Domain.held("whole above 0"), Domain.held("")
        (Domain(whole=True, least=1.0, largest=inf), Domain(whole=False, least=-inf, largest=inf))
        """
        whole = holds.startswith(WHOLE)
        above = 1.0 if whole else float(np.finfo(np.float64).tiny)
        return cls(whole, above if holds.endswith(ABOVE_ZERO) else 0.0 if holds.endswith(FROM_ZERO) else -np.inf)

    @classmethod
    def of(cls, cells: Cells) -> Domain:
        """What cells hold.

        >>> Domain.of(Cells.of(np.array([3.0, 9.0]), np.zeros(2, np.int64), classes=1))
        Domain(whole=True, least=3.0, largest=9.0)
        """
        return cls(not cells.fractions.any(), *cells.bounds)

    def in_grain(self, values: Any) -> Any:
        """The nearest whole numbers, where only such are held."""
        return np.rint(values) if self.whole and is_numbers(values) and values.dtype.kind == "f" else values

    def lacks(self, values: Any) -> BoolArray:
        """Which values are numbers out of bounds."""
        if not is_numbers(values):
            return np.zeros(len(values), dtype=bool)
        return np.asarray((values < self.least) | (values > self.largest))

    def nearest(self, values: Any) -> Any:
        """The nearest number that is held, in place of those that are not."""
        if not self.lacks(values).any():
            return values
        return np.clip(values, self.least, self.largest).astype(values.dtype)


ANYTHING = Domain()


def drawn_within(
    draw: Callable[[int], Sequence[Any]], rows: int, domains: Sequence[Domain], together: bool
) -> list[Any]:
    """Some columns of so many rows from `draw`: whole where they are, and drawn again where one is out of bounds.

    Values that are drawn `together` are drawn again together. Where that does not help, the nearest number that is held
    stands in.
    """
    columns = [domain.in_grain(values) for domain, values in zip(domains, draw(rows), strict=True)]
    for _ in range(TRIES):
        wrong = [domain.lacks(values) for domain, values in zip(domains, columns, strict=True)]
        if together and wrong:
            wrong = [np.logical_or.reduce(wrong)] * len(wrong)
        most = max((int(places.sum()) for places in wrong), default=0)
        if not most:
            return columns
        for values, again, domain, places in zip(columns, draw(most), domains, wrong, strict=True):
            if places.any():
                values[places] = domain.in_grain(again)[: int(places.sum())]
    return [domain.nearest(values) for domain, values in zip(domains, columns, strict=True)]
