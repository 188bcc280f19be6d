"""Which numbers a column holds: whole ones, none below zero. What is drawn for it later should be of the kind.

Sums remember no smallest value, and no fractions, since those could not be forgotten exactly. So this is decided once,
from the rows that families are chosen from, and kept with the choice.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from candide.arrays import AnyArray, FloatArray
from candide.batch import Batch, as_numbers
from candide.errors import CandideError
from candide.times import time_kind

WHOLE, FROM_ZERO, ABOVE_ZERO = "whole", "from 0", "above 0"
HOLDS = ("", WHOLE, FROM_ZERO, ABOVE_ZERO, f"{WHOLE} {FROM_ZERO}", f"{WHOLE} {ABOVE_ZERO}")
"""What a column may be known to hold; nothing is known of other columns."""


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


def is_whole(holds: str) -> bool:
    """Whether only whole numbers are held."""
    return holds.startswith(WHOLE)


def outside(numbers: FloatArray, holds: str) -> AnyArray:
    """Which numbers are below what is held."""
    if holds.endswith(ABOVE_ZERO):
        return numbers <= 0
    return numbers < 0 if holds.endswith(FROM_ZERO) else np.zeros(len(numbers), dtype=bool)
