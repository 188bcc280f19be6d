"""The loop behind densities left out: the moments of one column without each of its rows, in doubles."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, BoolArray, FloatArray, IntArray
from candide.kernels import compiled

KEPT = 1e-3
"""Taking a row out in doubles must leave this share of the squares."""

COARSE = 1e-11
"""Which way a mean is rounded matters where doubles are coarser than this share of the deviation."""

EPSILON = 2.0**-52
SQUARABLE = 1e-140, 1e140
"""Numbers between these can be squared."""

WEIGHT, MEAN, DEVIATION, REST = 0, 1, 2, 3
"""Where a pool holds which moment; REST is the exact mean less the rounded one."""


class MomentsOfRows(NamedTuple):
    """To be filled: weight, mean and deviation [row, class], the deviation of all classes, and which rows are doubtful.

    Doubtful are rows whose leaving costs doubles more than a few bits.
    """

    weight: FloatArray
    mean: FloatArray
    deviation: FloatArray
    whole: FloatArray
    doubtful: BoolArray


@compiled
def length(one: float, other: float) -> float:
    """The root of the sum of two squares, wherever they lie."""
    largest = max(abs(one), abs(other))
    if SQUARABLE[0] < largest < SQUARABLE[1]:
        return math.sqrt(one * one + other * other)
    return math.hypot(one, other)


@compiled
def without_one(pool: FloatArray, value: float, weight: float, left: FloatArray) -> tuple[bool, bool]:
    """Fill left[WEIGHT, MEAN, DEVIATION] with a pool[moment] less a row; are bits kept, and is the mean sure?"""
    rest = pool[WEIGHT] - weight
    left[WEIGHT], left[MEAN], left[DEVIATION] = rest, 0.0, 0.0
    if rest <= 0.0:
        return True, True
    share, variance = weight / rest, pool[DEVIATION] * pool[DEVIATION]
    away = (value - pool[MEAN]) - pool[REST]
    change = pool[REST] - away * share
    moved = pool[MEAN] + change
    after = variance - share * (away * away)
    if not (after > KEPT * variance or (pool[DEVIATION] == 0.0 and away == 0.0)):
        return False, False
    left[MEAN] = moved
    if pool[DEVIATION] != 0.0:
        left[DEVIATION] = math.sqrt(max(after, 0.0) * (1.0 + share))
    lost = abs(change - (moved - pool[MEAN]))
    return True, abs(lost - 0.5 * np.spacing(abs(moved))) > 4 * EPSILON * abs(change)


@compiled
def moments_without(
    values: FloatArray,
    labels: IntArray,
    weights: AnyArray,
    pools: FloatArray,
    everyone: FloatArray,
    prior_rows: float,
    found: MomentsOfRows,
) -> None:
    """Fill what is left of every class without each row, `prior_rows` rows of all classes lent to each.

    values float64[row] hold no NaN; weights may be empty; pools float64[class, 4] and everyone float64[4].
    """
    classes, own, rest = len(pools), np.zeros(4), np.zeros(4)
    for row in range(len(values)):
        weight = np.float64(weights[row]) if weights.size else 1.0
        kept, sure = without_one(pools[labels[row]], values[row], weight, own)
        kept_all, sure_all = without_one(everyone, values[row], weight, rest)
        found.whole[row] = rest[DEVIATION]
        coarse = False
        for label in range(classes):
            pool = own if label == labels[row] else pools[label]
            prior = 1.0 if pool[WEIGHT] == 0.0 and prior_rows == 0.0 else prior_rows
            mean, deviation = pool[MEAN], pool[DEVIATION]
            if prior != 0.0:
                share, lent = pool[WEIGHT] / (pool[WEIGHT] + prior), prior / (pool[WEIGHT] + prior)
                mean = share * pool[MEAN] + lent * rest[MEAN]
                deviation = length(
                    math.sqrt(share) * length(pool[DEVIATION], pool[MEAN] - mean),
                    math.sqrt(lent) * length(rest[DEVIATION], rest[MEAN] - mean),
                )
            if rest[WEIGHT] == 0.0:
                deviation = 1.0
            found.weight[row, label] = pool[WEIGHT]
            found.mean[row, label] = mean
            found.deviation[row, label] = deviation
            coarse = coarse or np.spacing(abs(mean)) > COARSE * deviation
        found.doubtful[row] = not (kept and kept_all and ((sure and sure_all) or not coarse))
