"""Where along a column of numbers to look: points that show every class, and none that the family cannot take."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, FloatArray

EVEN = 100
"""So many points are spread evenly over all classes; up to twice as many stand where single classes are."""

FEWEST = 4
"""A class that has points of its own has at least so many on each side of its middle."""

BEYOND = np.array([1.5, 2.0, 3.0])
"""And some farther out, so that a narrow class is seen to end before the next point that is far away."""

WHOLE_NUMBERS = 200
"""Up to so many whole numbers are all looked at."""

FAR_BELOW, FAR_ABOVE, FAR = 5.0, 3.0, 4.0
"""How many deviations a class reaches: of logarithms, where numbers are positive; and to both sides, elsewhere."""

LARGEST = float(np.finfo(np.float64).max) / 4

Taking = Callable[[FloatArray], AnyArray]


class GridPoints(NamedTuple):
    """Ascending points, what each stands for, and whether they are whole numbers; no widths where all are there."""

    points: FloatArray
    widths: FloatArray | None
    whole: bool


def worth_seeing(middle: FloatArray, spread: FloatArray, takes: Taking) -> GridPoints:
    """GridPoints along a column where class c lies around middle[c] by about spread[c].

    `takes` tells which numbers the family can take, which is how whole numbers and positive ones are known.

    >>> worth_seeing(np.array([2.0]), np.array([1.0]), lambda x: (x >= 0) & (x == np.floor(x))).points.tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]
    """
    middle, spread = np.clip(middle, -LARGEST, LARGEST), np.clip(spread, 0.0, LARGEST)
    is_whole = not takes(np.floor(middle) + 0.5).any() and bool(takes(np.round(middle)).any())
    below_zero = bool(takes(np.array([-1.0]))[0])
    reach = around if below_zero else around_factors
    if is_whole:
        return whole_points(reach(middle, spread, np.linspace(-1.0, 1.0, 2 * FEWEST + 1)), takes)
    found = around_all(reach, middle, spread, takes)
    return GridPoints(found, widths_between(found, None if below_zero else 0.0), False)


def around_all(reach: Callable[..., FloatArray], middle: FloatArray, spread: FloatArray, takes: Taking) -> FloatArray:
    """GridPoints of each class, and an even spread over all of them."""
    spread = np.where(spread > 0, spread, np.maximum(np.abs(middle) * 1e-3, 1e-3))
    ends = reach(middle, spread, np.array([-1.0, 1.0]))
    low, high = ends.min(), ends.max()
    if takes(np.array([0.0]))[0] and not takes(np.array([-1.0]))[0]:
        low = 0.0
    share = np.linspace(0.0, 1.0, EVEN + 1)
    step = steps(len(middle))
    narrow = np.argsort(spread, kind="stable")[: 2 * EVEN // len(step)]
    own = reach(middle[narrow], spread[narrow], step)
    own = own[(own > low) & (own < high)]
    found = np.unique(np.concatenate([(1 - share) * low + share * high, own]))
    taken = found[np.asarray(takes(found), dtype=bool)]
    return taken if len(taken) else np.unique(middle)


def steps(classes: int) -> FloatArray:
    """Steps of a class away from its middle, where 1 is as far as it reaches; the fewer, the more classes there are."""
    half = max(EVEN // max(classes, 1) // 2, FEWEST)
    return np.concatenate([-BEYOND[::-1], np.linspace(-1.0, 1.0, 2 * half + 1), BEYOND])


def around(middle: FloatArray, spread: FloatArray, step: FloatArray) -> FloatArray:
    """GridPoints[class, step] to both sides of the middles."""
    with np.errstate(over="ignore"):
        return np.clip(middle[:, None] + FAR * spread[:, None] * step, -LARGEST, LARGEST)


def around_factors(middle: FloatArray, spread: FloatArray, step: FloatArray) -> FloatArray:
    """The same for numbers from zero up, by factors: as if logarithms had the bell curve of that mean and deviation."""
    mean = np.where(middle > 0, middle, 1e-3)
    with np.errstate(over="ignore"):
        variance = np.log1p(np.minimum(spread / mean, 1e100) ** 2)
    far = np.sqrt(variance)[:, None] * np.where(step < 0, FAR_BELOW, FAR_ABOVE) * step
    return np.exp(np.clip(np.log(mean)[:, None] - 0.5 * variance[:, None] + far, -700.0, np.log(LARGEST)))


def whole_points(near: FloatArray, takes: Taking) -> GridPoints:
    """Every whole number up to where the last class ends, or some of them that stand for their neighbours."""
    high = float(np.ceil(near.max())) + 1
    low = 0.0 if high <= WHOLE_NUMBERS else float(np.floor(near.min()))
    if high - low <= WHOLE_NUMBERS:
        every = low + np.arange(high - low + 1)
        return GridPoints(every[np.asarray(takes(every), dtype=bool)], None, True)
    share = np.linspace(0.0, 1.0, EVEN + 1)
    found = np.unique(np.round(np.concatenate([near.ravel(), (1 - share) * low + share * high])))
    found = found[np.asarray(takes(found), dtype=bool)]
    ends = np.concatenate([found[:1], np.floor(0.5 * found[:-1] + 0.5 * found[1:]) + 1, found[-1:] + 1])
    return GridPoints(found, np.maximum(np.diff(ends), 1.0), True)


def widths_between(points: FloatArray, end: float | None = None) -> FloatArray:
    """Half the way to both neighbours; the first point reaches down to `end`, where the line has one.

    >>> widths_between(np.array([1.0, 2.0, 4.0])).tolist(), widths_between(np.array([1.0, 2.0, 4.0]), 0.0).tolist()
    ([0.5, 1.5, 1.0], [1.5, 1.5, 1.0])
    """
    if len(points) < 2:
        return np.ones(len(points))
    first = points[0] if end is None else min(end, points[0])
    ends = np.concatenate([[first], 0.5 * points[:-1] + 0.5 * points[1:], points[-1:]])
    return np.maximum(np.diff(ends), 1e-300)
