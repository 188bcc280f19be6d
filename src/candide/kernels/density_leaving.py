"""The loop behind densities left out: moments of one column without each of its rows, in doubles, and what they say."""

from __future__ import annotations

import math

import numpy as np

from candide.data.arrays import AnyArray, BoolArray, FloatArray, IntArray
from candide.kernels import compiled
from candide.kernels.densities import DEVIATION, MEAN, WEIGHT, blended, log_density_of, summed_of

KEPT = 1e-3
"""Taking a row out in doubles must leave this share of the squares."""

COARSE = 1e-11
"""Which way a mean is rounded matters where doubles are coarser than this share of the deviation."""

EPSILON = 2.0**-52
REST = 3
"""Where a pool holds the exact mean less the rounded one, after weight, mean and deviation."""


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
def is_coarse(pools: FloatArray, own: FloatArray, label: int, everyone: FloatArray, prior_rows: float) -> bool:
    """Whether doubles are so coarse that it matters which way some class's mean is rounded."""
    for other in range(len(pools) - 1):
        mean, deviation = blended(own if other == label else pools[other], everyone, prior_rows)
        if np.spacing(abs(mean)) > COARSE * deviation:
            return True
    return False


@compiled
def add_densities_without(
    values: FloatArray,
    labels: IntArray,
    weights: AnyArray,
    pools: FloatArray,
    code: int,
    floor: float,
    prior_rows: float,
    joint: FloatArray,
    doubtful: BoolArray,
) -> None:
    """Add to joint[row, class] the log density of values[row] without the row, NaN saying nothing.

    Weights may be empty; pools float64[class, 4] have all classes together in the end. `doubtful` tells of rows whose
    leaving would cost doubles more than a few bits: they add nothing.
    """
    classes, own, everyone = len(pools) - 1, np.zeros(4), np.zeros(4)
    for row in range(len(values)):
        value, label = values[row], labels[row]
        doubtful[row] = False
        if np.isnan(value):
            continue
        weight, summed = np.float64(weights[row]) if weights.size else 1.0, summed_of(code, value)
        kept, sure = without_one(pools[label], summed, weight, own)
        kept_all, sure_all = without_one(pools[classes], summed, weight, everyone)
        is_sure = (sure and sure_all) or not is_coarse(pools, own, label, everyone, prior_rows)
        doubtful[row] = not (kept and kept_all and is_sure)
        if not doubtful[row]:
            for other in range(classes):
                pool = own if other == label else pools[other]
                joint[row, other] += log_density_of(code, value, pool, everyone, prior_rows, floor)
