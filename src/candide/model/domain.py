"""Which numbers a column holds: whole ones, none below zero. What is drawn for it later should be of the kind.

Sums remember no smallest value, and no fractions, since those could not be forgotten exactly. So this is decided once,
from the rows that families are chosen from, and kept with the choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from candide.data.arrays import AnyArray, FloatArray
from candide.data.batch import Batch, as_numbers
from candide.data.errors import CandideError
from candide.data.times import time_kind
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


def holds_whole_numbers(holds: str) -> bool:
    """Whether only whole numbers are held."""
    return holds.startswith(WHOLE)


def without_bound(holds: str) -> str:
    """The same, of numbers that may lie below zero."""
    return holds.removesuffix(ABOVE_ZERO).removesuffix(FROM_ZERO).strip()


def drawn_as_held(draw: Callable[[int], Sequence[Any]], rows: int, holds: Sequence[str]) -> list[Any]:
    """Some columns of so many rows from `draw`: whole where they are, and drawn again where one is out of bounds.

    Where that does not help, the nearest number that is held stands in.
    """
    columns = [in_grain(values, held) for values, held in zip(draw(rows), holds, strict=True)]
    wrong = out_of_bounds(columns, holds, rows)
    for _ in range(TRIES):
        if not wrong.any():
            return columns
        for values, again, held in zip(columns, draw(int(wrong.sum())), holds, strict=True):
            if is_floats(values):
                values[wrong] = in_grain(again, held)
        wrong = out_of_bounds(columns, holds, rows)
    return [nearest(values, held) for values, held in zip(columns, holds, strict=True)]


def is_floats(values: Any) -> bool:
    """Whether values are numbers that may be broken: categories and counts are drawn as they are."""
    return isinstance(values, np.ndarray) and values.dtype.kind == "f"


def in_grain(values: Any, holds: str) -> Any:
    """The nearest whole numbers, where only such are held."""
    return np.rint(values) if holds_whole_numbers(holds) and is_floats(values) else values


def out_of_bounds(columns: Sequence[Any], holds: Sequence[str], rows: int) -> AnyArray:
    """Which rows have a number below what its column holds."""
    wrong = np.zeros(rows, dtype=bool)
    for values, held in zip(columns, holds, strict=True):
        if is_floats(values):
            wrong |= outside(values, held)
    return wrong


def outside(numbers: FloatArray, holds: str) -> AnyArray:
    """Which numbers are below what is held."""
    if holds.endswith(ABOVE_ZERO):
        return numbers <= 0
    return numbers < 0 if holds.endswith(FROM_ZERO) else np.zeros(len(numbers), dtype=bool)


def nearest(values: Any, holds: str) -> Any:
    """The nearest number that is held, in place of those that are not."""
    if not is_floats(values):
        return values
    tiny = float(np.finfo(np.float64).tiny)
    least = 0.0 if holds.endswith(FROM_ZERO) else 1.0 if holds_whole_numbers(holds) else tiny
    return np.where(outside(values, holds), least, values)
