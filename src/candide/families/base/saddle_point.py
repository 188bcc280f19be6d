"""Factorials and deviances of large counts, without differences of large logarithms (Loader 2000).

The log chance of a count is a sum of terms of the size of the answer: how far the count lies from what was expected,
and what Stirling's formula leaves out. Written with log-gamma functions it would be a difference of terms as large as
the count itself, and at 10^9 seven digits would be lost.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import gammaln, xlogy

from candide.data.arrays import AnyArray, FloatArray

LOG_TAU = np.log(2 * np.pi)
FEW, NEAR = 16.0, 0.1
PLAIN = 1e4
"""Up to here differences of log-gamma functions are right to eleven digits after the point, and faster."""


def stirling_error(count: FloatArray) -> FloatArray:
    """log n! - (n log n - n + log(2 pi n) / 2) for n above zero.

    >>> stirling_error(np.array([1.0, 100.0])).round(12).tolist()
    [0.081061466795, 0.000833330556]
    """
    small, large = np.minimum(count, FEW), np.maximum(count, FEW)
    exact = gammaln(small + 1) - (small + 0.5) * np.log(small) + small - 0.5 * LOG_TAU
    inverse = 1 / large**2
    series = (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - inverse / 1188) * inverse) * inverse) * inverse) / large
    return np.where(count > FEW, series, exact)


def deviance(count: FloatArray, expected: FloatArray) -> FloatArray:
    """n log(n / m) - n + m for n and m above zero, accurate however close they are.

    Near each other, by the series of log((1 + v) / (1 - v)) with v = (n - m) / (n + m).
    """
    gap = count - expected
    ratio = gap / (count + expected)
    squared, term = ratio * ratio, 2 * count * ratio
    near = gap * ratio
    for odd in range(3, 19, 2):
        term = term * squared
        near = near + term / odd
    with np.errstate(over="ignore"):
        far = count * np.log(count / expected) - gap
    return np.where(np.abs(ratio) < NEAR, near, far)


def log_poisson(count: FloatArray, rate: FloatArray) -> FloatArray:
    """log of rate^n e^-rate / n!.

    >>> log_poisson(np.array([0.0, 2.0]), np.array([3.0, 0.0])).tolist()
    [-3.0, -inf]
    """
    plain = np.asarray(xlogy(count, rate) - rate - gammaln(count + 1))
    return refined(plain, (count + rate > PLAIN) & (count > 0) & (rate > 0), log_large_poisson, count, rate)


def log_large_poisson(count: FloatArray, rate: FloatArray) -> FloatArray:
    """The same for counts and rates above zero."""
    return np.asarray(-stirling_error(count) - deviance(count, rate) - 0.5 * (np.log(count) + LOG_TAU))


def refined(
    plain: FloatArray, large: AnyArray, formula: Callable[..., FloatArray], *numbers: FloatArray
) -> FloatArray:
    """What log-gamma functions say, and where they would lose digits, what the slower formula says."""
    if large.any():
        plain[large] = formula(*(number[large] for number in np.broadcast_arrays(*numbers)))
    return plain


def log_choice(yes: FloatArray, no: FloatArray, share: FloatArray, other_share: FloatArray) -> FloatArray:
    """log of n! / (yes! no!) share^yes other_share^no, n = yes + no; both above zero, not always whole."""
    tries = yes + no
    corrections = stirling_error(tries) - stirling_error(yes) - stirling_error(no)
    far_off = deviance(yes, tries * share) + deviance(no, tries * other_share)
    return corrections - far_off + 0.5 * (np.log(tries / yes) - np.log(no) - LOG_TAU)
