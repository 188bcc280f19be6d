"""The minimum of a smooth loss of some hundred numbers, by Newton's steps: few looks at the rows, and the last digits.

A search that only ever compares values ends some digits before the minimum, and where exactly depends on how a
processor rounds. Newton's steps are drawn to one point from everywhere around it, whatever the last bits were.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from candide.data.arrays import FloatArray

FLAT = 1e-5
"""Where the loss bends less than this, no minimum can be told from its neighbours: little is moved there."""
LONGEST = 1.0
"""No number moves farther in a step; all are held back alike, or the step might lead uphill."""
PATIENCE = 6.0
"""A curvature costs about as much as so many looks at the slope: where it would save more, it is worked out anew."""
UNSEEN = 1e-12
"""By this share of it the loss may seem to rise, since sums are rounded."""


class Bends(NamedTuple):
    """Second derivatives in two parts, [parameter, parameter]: one that never bends downwards, and the rest."""

    upwards: FloatArray
    rest: FloatArray

    def scaled(self, share: float) -> Bends:
        """Those of so much of the loss."""
        return Bends(share * self.upwards, share * self.rest)


class Loss(Protocol):
    """What is to be made small."""

    def value_and_slope(self, point: FloatArray) -> tuple[float, FloatArray]:
        """The loss at a point, and its slopes."""
        ...

    def curvature(self, point: FloatArray) -> Bends:
        """The second derivatives at a point."""
        ...


class Minimum(NamedTuple):
    """Where a loss is least, how small it is there, and how it bends there or close by."""

    point: FloatArray
    value: float
    bends: Bends


def minimum(
    loss: Loss, start: FloatArray, limits: FloatArray, steps: int, close: float, bends: Bends | None = None
) -> Minimum:
    """The minimum next to a start, within `limits[parameter]`: the least and the largest value of each.

    At most so many steps are tried, until one lowers the loss by a share of no more than `close`. A curvature is kept
    as long as it serves; that of a loss much like this one may be given. Where the loss rises, steps are shortened and
    turned downhill (Marquardt 1963); numbers at a limit stay there while the loss falls towards it (Bertsekas 1982).
    """
    low, high = limits.T
    point = np.clip(start, low, high)
    value, slope = loss.value_and_slope(point)
    bends, is_fresh = (loss.curvature(point), True) if bends is None else (bends, False)
    damping, before = 0.0, math.inf
    for _ in range(steps):
        free = (low < high) & ~((point <= low) & (slope > 0)) & ~((point >= high) & (slope < 0))
        step = np.zeros_like(point)
        step[free] = damped_step(bends, free, slope, damping)
        new = np.clip(point - step, low, high)
        lowers = float((point - new) @ slope) / 2
        new_value, new_slope = loss.value_and_slope(new)
        if new_value <= value + UNSEEN * abs(value):
            lowers = lowers if lowers > 0.0 else value - new_value  # where a limit was met
            point, value, slope = new, new_value, new_slope
            if lowers <= close * abs(value) and damping == 0.0:
                break
            damping = damping / 10 if damping > 1e-3 else 0.0
            is_fresh, is_stale = False, steps_left(lowers, before, close * abs(value)) > PATIENCE
            before = lowers
        elif is_fresh:
            damping, is_stale = max(10 * damping, 1e-2), False
        else:
            is_stale = True
        if is_stale:
            bends, is_fresh, before = loss.curvature(point), True, math.inf
    return Minimum(point, value, bends)


def steps_left(lowers: float, before: float, close: float) -> float:
    """How many steps it would still take, if each lowered the loss by the same share of what the one before did.

    >>> steps_left(1.0, 100.0, 1e-4), steps_left(1.0, math.inf, 1e-4), steps_left(1.0, 1.0, 1e-4)
    (2.0, 0.0, inf)
    """
    if before == math.inf:
        return 0.0
    return math.log(close / lowers) / math.log(lowers / before) if 0.0 < close < lowers < before else math.inf


def damped_step(bends: Bends, free: FloatArray, slope: FloatArray, damping: float) -> FloatArray:
    """Newton's step of the free numbers, shortened; by the part that bends upwards where the whole does not."""
    some = np.flatnonzero(free)
    if not len(some):
        return np.zeros(0)
    upwards, rest = (part.take(some, axis=0).take(some, axis=1) for part in bends)
    more = damping * np.diagonal(upwards) + FLAT
    factors, failed = factored(upwards + rest, more)
    if failed:
        factors, _ = factored(upwards, more)
    step = np.asarray(dpotrs(factors, slope[some], lower=1)[0])
    return step * (LONGEST / max(LONGEST, float(np.abs(step).max(initial=0.0))))


def factored(matrix: FloatArray, more: FloatArray) -> tuple[FloatArray, int]:
    """Cholesky's lower factor of a matrix with more on its diagonal, and at which number there is none, 0 for nowhere.

    Asked of LAPACK itself: what is around it costs more than a small matrix does.
    """
    matrix.flat[:: len(matrix) + 1] += more
    factors, failed = dpotrf(matrix, lower=1, clean=0)
    return factors, int(failed)
