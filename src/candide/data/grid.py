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


def first_largest(scores: FloatArray) -> IntArray:
    """The index of the largest number of each row, the first of those that are nearly as large.

    >>> first_largest(np.array([[0.3, 0.1 + 0.2], [0.1, 0.2]])).tolist()
    [0, 1]
    """
    return np.asarray((scores >= scores.max(axis=1, keepdims=True) - NEAR).argmax(axis=1))
