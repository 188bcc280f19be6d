"""Weights that are not whole: rounded to a grid of 2^-32, and counted in whole units of it, so that counts stay exact.

Why 2^-32: weights around one keep nine decimals and the weights of a million rows that sum to one keep three, while
2^62 units are a thousand million rows. Counts that are all whole are kept as such: without fractions nothing changes,
and two rows of a half are one row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from candide.data.arrays import AnyArray, BoolArray, FloatArray, IntArray
from candide.data.errors import OverflowRefused

CEILING = 2**62
FINEST = 32
"""The bits after the point that a weight may have."""


def on_grid(weights: FloatArray) -> FloatArray:
    """The nearest multiples of 2^-32; a weight above zero stays above zero.

    >>> (on_grid(np.array([0.5, 1e-12])) * 2**32).tolist()
    [2147483648.0, 1.0]
    """
    if weights.max(initial=0.0) >= 2.0 ** (62 - FINEST):
        raise OverflowRefused("A weight exceeds 2^30, beside weights that are not whole.")
    units = np.rint(np.ldexp(weights, FINEST))
    return np.ldexp(np.where(weights > 0, np.maximum(units, 1.0), 0.0), -FINEST)


def weights_in_units(weights: AnyArray, rows: int, bits: int) -> AnyArray:
    """The weights of so many rows in units of 2^-bits; still none where every row weighs one unit."""
    if not bits:
        return weights
    if not weights.size:
        return np.full(rows, 1 << bits, dtype=np.int64)
    if weights.dtype == np.int64:
        return in_finer_units(weights, bits)
    return np.ldexp(weights, bits).astype(np.int64)


def bits_of(weights: AnyArray) -> int:
    """How fine the units must be that count these weights."""
    return FINEST if weights.dtype.kind == "f" and weights.size else 0


def in_finer_units(units: IntArray, bits: int) -> IntArray:
    """The same counts in units smaller by 2^-bits."""
    if bits and units.size and int(units.max()) > CEILING >> bits:
        raise OverflowRefused(
            "Counts of more than 2^30 do not go with weights that are not whole: those are counted in units of 2^-32.",
            advice="Scale the weights down, or round them.",
        )
    return units << bits


def coarsest(units: AnyArray, bits: int) -> tuple[AnyArray, int]:
    """The one form of counts: in ones where all of them are whole."""
    if bits and not (units & ((1 << bits) - 1)).any():
        return units >> bits, 0
    return units, bits


def exceeding(units: IntArray, bits: int, others: IntArray, other_bits: int) -> BoolArray:
    """Which counts in units of 2^-bits are more than others in units of 2^-other_bits; nothing can overflow.

    >>> exceeding(np.array([5, 6, 7]), 1, np.array([3, 3, 3]), 0).tolist()
    [False, False, True]
    """
    rounded_up = -(-units >> max(bits - other_bits, 0))
    return np.asarray(rounded_up > others >> max(other_bits - bits, 0))


def amounts(units: AnyArray, bits: int) -> AnyArray:
    """What units of 2^-bits count: whole numbers as they are, others as the nearest doubles."""
    return np.ldexp(units.astype(np.float64), -bits) if bits else units


def in_ones(units: int, bits: int) -> Any:
    """What so many units of 2^-bits are: a whole number where they are.

    >>> in_ones(6, 1), in_ones(5, 1)
    (3, 2.5)
    """
    return units / 2**bits if units % 2**bits else units >> bits
