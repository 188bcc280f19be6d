"""Numbers that no processor's last bits can move: kept on a grid, and compared with near-ties as ties.

Processors and mathematical libraries round logarithms and long sums differently, by about 1e-15 of the number. What is
computed from counts is rounded to a grid far coarser than that, and far finer than anyone can see, before it is kept or
compared: then two machines write the same file. A number at the very edge of a cell could still fall to either side,
once in about 1e9 numbers.
"""

from __future__ import annotations

import numpy as np

from candide.data.arrays import FloatArray, IntArray

STEP = 2.0**-20
"""What is kept is a multiple of this: a millionth."""

NEAR = 2.0**-30
"""Numbers that differ by no more than this are taken for equal: a thousand-millionth."""

SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)
"""Doubles nearer to zero have fewer bits."""


def quantized(numbers: FloatArray) -> FloatArray:
    """The numbers rounded to multiples of `STEP`.

    >>> quantized(np.array([0.1 + 0.2, 0.3])).tolist() == [314573 / 2**20] * 2
    True
    """
    return np.asarray(np.rint(numbers / STEP) * STEP)


def quantized_share(numbers: FloatArray) -> FloatArray:
    """The numbers rounded to 20 bits each, however small they are.

    >>> quantized_share(np.array([1e-9 / 3 * 3])) == quantized_share(np.array([1e-9]))
    array([ True])
    """
    shares, powers = np.frexp(numbers)
    return np.asarray(np.ldexp(quantized(shares), powers))


def quantized_number(number: float) -> float:
    """One number rounded to a multiple of `STEP`."""
    return float(np.rint(number / STEP) * STEP)


def without_subnormal(numbers: FloatArray) -> FloatArray:
    """The same numbers, zero where one is too small for all the bits of a double.

    One unit in the last place below zero is such a number: it would close a column to families of numbers from 0 up.

    >>> without_subnormal(np.array([-5e-324, 1e-300, -0.5])).tolist()
    [0.0, 1e-300, -0.5]
    """
    is_tiny = np.abs(numbers) < SMALLEST_NORMAL
    return np.where(is_tiny, 0.0, numbers) if is_tiny.any() and numbers[is_tiny].any() else numbers


def first_largest(scores: FloatArray) -> IntArray:
    """The index of the largest number of each row, the first of those that are nearly as large.

    >>> first_largest(np.array([[0.3, 0.1 + 0.2], [0.1, 0.2]])).tolist()
    [0, 1]
    """
    return np.asarray((scores >= scores.max(axis=1, keepdims=True) - NEAR).argmax(axis=1))
