"""Weight, sum and squares as whole numbers: what follows from them, rounded once, and what no rows could have left.

Every row adds w > 0, w·x and w·x². So whatever rows there are, (Σw)(Σw·x²) ≥ (Σw·x)² (Cauchy and Schwarz), and more
where something is known of the values. Where such an inequality fails, rows were forgotten that were never learned, or
the sums were forged. Where all of them hold nothing is proven: other rows may have left the same sums.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from candide.data.arrays import AnyArray
from candide.data.cached import cached_property
from candide.kernels.logarithm import grid_log
from candide.statistics.weight_grid import FINEST

LIGHTEST_BITS = FINEST
"""A row weighs a multiple of 2^-LIGHTEST_BITS."""

GRID_BITS = 40
LEAST_LOG, LARGEST_LOG = -745, 710
"""Logarithms of doubles are rounded to multiples of 2^-40 and lie between these."""

LOG_SLACK, SHARE_SLACK = 2.0**-38, 1e-9
"""More than what rounding does to mean logarithms, and to the ratios beside them."""

LEAST_NORMAL = 2.0**-1000


@dataclass(frozen=True, eq=False)
class WholeSums:
    """The sums of one column in one class, or arrays of them, over a power of two that makes them whole.

    `weight` is in units of 1 / unit, `total` in units of 2^-bits of that, `square` of 4^-bits, `log` of 2^-log_bits.
    """

    weight: Any
    total: Any
    square: Any
    bits: int
    unit: int = 1
    log: Any = None
    log_bits: int = 0

    @property
    def variance_ratio(self) -> tuple[Any, Any]:
        """(W Q - S²) / W² as two whole numbers."""
        return self._spread, self.weight * self.weight << 2 * self.bits

    @cached_property
    def _spread(self) -> Any:
        return self.weight * self.square - self.total * self.total

    def impossible(self) -> Any:
        """Where no rows, whatever their values and weights, could have left these sums."""
        nothing = (self.total == 0) & (self.square == 0) & (True if self.log is None else self.log == 0)
        return (self.weight < 0) | ((self.weight == 0) & ~np.asarray(nothing)) | (self._spread < 0)

    def within(self, rows: Any, bits: int) -> Any:
        """Where the weight is at most so many times 2^-bits."""
        return self.weight << bits <= rows * self.unit

    def outside(self, low: int, high: int, grid_bits: int | None) -> Any:
        """Where no rows with values from low to high, multiples of 2^-grid_bits if given, could have left these sums.

        Values from a up have Σw(x-a) ≥ 0 and, no row weighing less than the lightest, the square of that is at least
        as many times Σw(x-a)²; values between a and b have Σw(x-a)(b-x) ≥ 0 (Bhatia and Davis 2000); and where values
        are whole, Σw(x-m)(x-m-1) ≥ 0 for the whole number m below the mean.
        """
        weight, total, square = self.weight, self.total, self.square
        first, last = low << self.bits, high << self.bits
        above, lightest = total - first * weight, self.unit >> LIGHTEST_BITS
        wrong = (above < 0) | (last * weight < total)
        wrong |= above * above < lightest * (square - 2 * first * total + first * first * weight)
        wrong |= (first + last) * total - square - first * last * weight < 0
        wrong |= (weight == lightest) & (self._spread != 0)
        return wrong if grid_bits is None else wrong | self._off_grid(grid_bits)

    def _off_grid(self, grid_bits: int) -> Any:
        finer, coarser = max(self.bits - grid_bits, 0), max(grid_bits - self.bits, 0)
        total, square = self.total << coarser, self.square << 2 * coarser
        below = (total >> finer) // (self.weight + (self.weight == 0))
        between = (square >> 2 * finer) - (2 * below + 1) * (total >> finer) + below * (below + 1) * self.weight
        return (total % (1 << finer) != 0) | (square % (1 << 2 * finer) != 0) | (between < 0)

    def logs_outside(self) -> Any:
        """Where the sum of logarithms does not belong to positive numbers of this mean and variance.

        With u = x / mean from a to b, log u lies between (u-1) - (u-1)²/2a and (u-1) - (u-1)²/2b. So the mean logarithm
        is less than the logarithm of the mean by half the relative variance over something from a to b. No row of n is
        farther than √(n-1) deviations from the mean (Samuelson 1968).
        """
        grid = self.log % (1 << max(self.log_bits - GRID_BITS, 0)) != 0
        unit = self.weight << self.log_bits
        far = (self.log < unit * LEAST_LOG) | (self.log > unit * LARGEST_LOG)
        mean = ratios(self.total, self.weight << self.bits)
        with np.errstate(all="ignore"):
            gap = grid_log(np.ravel(mean)).reshape(np.shape(mean)) - ratios(self.log, unit)
            spread, whole = self.variance_ratio
            relative = roots(spread * (spread > 0), whole) / mean
            rows = ratios(self.weight << LIGHTEST_BITS, self.unit)
            reach = relative * np.sqrt(np.maximum(rows - 1, 0.0))
            least = 0.5 * relative**2 / (1 + reach) * (1 - SHARE_SLACK) - LOG_SLACK
            most = 0.5 * relative**2 / (1 - reach - SHARE_SLACK) * (1 + SHARE_SLACK) + LOG_SLACK
            bent = (gap < least) | ((reach < 1 - 2 * SHARE_SLACK) & (gap > most))
        return grid | far | ((self.weight > 0) & (self.total <= 0)) | ((mean > LEAST_NORMAL) & bent)


def true_ratio(above: int, below: int) -> float:
    """above / below rounded once, as Python does for whole numbers of any size.

    >>> true_ratio(1, 3), true_ratio(10**400, 1), true_ratio(0, 0)
    (0.3333333333333333, inf, 0.0)
    """
    if below == 0:
        return 0.0
    try:
        return above / below
    except OverflowError:
        return math.inf if above > 0 else -math.inf


def root_ratio(above: int, below: int) -> float:
    """The square root of above / below, for whole numbers of any size.

    >>> root_ratio(2, 1) == math.sqrt(2), root_ratio(10**800, 10**400)
    (True, 1e+200)
    """
    if below == 0 or above == 0:
        return 0.0
    shift = max(0, 130 - above.bit_length() + below.bit_length())
    shift += shift % 2
    return true_ratio(math.isqrt((above << shift) // below), 1 << (shift // 2))


def ratios(above: AnyArray, below: AnyArray | int) -> AnyArray:
    """`true_ratio` of arrays of whole numbers; all at once, unless one is of nothing or no double.

    >>> ratios(np.array([1, 10**400], dtype=object), np.array([3, 10**399], dtype=object)).tolist()
    [0.3333333333333333, 10.0]
    >>> ratios(np.array([1, 10**400], dtype=object), 0).tolist()
    [0.0, 0.0]
    """
    numbers, wholes = np.asarray(above, dtype=object), np.asarray(below, dtype=object)
    try:
        return np.asarray(numbers / wholes, dtype=np.float64)
    except (OverflowError, ZeroDivisionError):
        return np.asarray(np.vectorize(true_ratio, otypes=[float])(numbers, wholes))


def roots(above: AnyArray, below: AnyArray) -> AnyArray:
    """`root_ratio` of arrays of whole numbers."""
    return np.vectorize(root_ratio, otypes=[float])(above, below)
