"""Whole numbers in as few bytes as do: one form for equal numbers, checked when read."""

from __future__ import annotations

from typing import Any

import numpy as np

from candide.data.arrays import AnyArray, IntArray
from candide.store.parts import Parts
from candide.store.refusals import ModelFileRefused

WIDTHS: tuple[np.dtype[Any], ...] = tuple(map(np.dtype, (np.uint8, np.uint16, np.int32, np.int64)))


def narrow(numbers: AnyArray) -> AnyArray:
    """Numbers from zero up in the least_width type that holds them all.

    >>> narrow(np.array([0, 255])).dtype, narrow(np.array([256])).dtype, narrow(np.array([1 << 40])).dtype
    (dtype('uint8'), dtype('uint16'), dtype('int64'))
    """
    return numbers.astype(least_width(numbers))


def least_width(numbers: AnyArray) -> np.dtype[Any]:
    """The least_width type that holds some numbers."""
    largest = int(numbers.max(initial=0))
    return next(width for width in WIDTHS if largest <= np.iinfo(width).max)


def take_narrow(parts: Parts, name: str, length: int | None = None) -> IntArray:
    """The numbers that `narrow` wrote, so many of them where that is known."""
    width = next((width for width in WIDTHS if parts.holds(name, width)), WIDTHS[-1])
    numbers = parts.take(name, width, length)
    if numbers.size and (numbers.min() < 0 or least_width(numbers) != width):
        raise ModelFileRefused(f"its array '{parts.prefix}{name}' is not as narrow as it can be")
    return numbers.astype(np.int64)
