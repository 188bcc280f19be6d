"""The loop behind densities left out: moments of one column without each of its rows, in doubles, and what they say."""

from __future__ import annotations

import math

import numpy as np

from candide.data.arrays import AnyArray, BoolArray, FloatArray, IntArray
from candide.kernels import compiled, inlined
from candide.kernels.densities import (
    DEVIATION,
    GAMMA,
    LEAST,
    MEAN,
    SQUARABLE,
    WEIGHT,
    blended,
    log_density_of,
    log_gamma,
    summed_of,
)
from candide.kernels.gamma_shape import gamma_shape_of
from candide.kernels.logarithm import grid_log_of

KEPT = 1e-3
"""Taking a row out in doubles must leave this share of the squares."""

COARSE = 1e-11
"""Which way a mean is rounded matters where doubles are coarser than this share of the deviation."""

EPSILON = 2.0**-52
REST, LOG = 3, 4
"""Where a pool holds the exact mean less the rounded one, after weight, mean and deviation; and the mean logarithm."""

LEAST_GAP_IN_DOUBLES = 1e-5
"""A smaller gap between the logarithm of a mean and the mean of logarithms needs more digits than doubles have."""


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
def pools_of_rows(values: FloatArray, labels: IntArray, weights: AnyArray, code: int, pools: FloatArray) -> bool:
    """Fill the pools[class, 5] that values[row] leave, NaN being missing; whether doubles can tell them.

    The mean is that of a first pass, and what a second pass finds it to be off by is its rest. Logarithms are looked at
    for a gamma only.
    """
    everyone = len(pools) - 1
    for step in range(2):
        for row in range(len(values)):
            value = summed_of(code, values[row])
            if value != value:
                continue
            weight = np.float64(weights[row]) if weights.size else 1.0
            for entry in (labels[row], everyone):
                away = value - pools[entry, MEAN]
                if step == 0:
                    pools[entry, WEIGHT] += weight
                    pools[entry, REST] += weight * value
                    pools[entry, LOG] += weight * grid_log_of(value) if code == GAMMA else 0.0
                else:
                    if away != 0.0 and not SQUARABLE[0] < abs(away) < SQUARABLE[1]:
                        return False
                    pools[entry, REST] += weight * away
                    pools[entry, DEVIATION] += weight * away * away
        for entry in range(len(pools)):
            weight = max(pools[entry, WEIGHT], LEAST)
            rest = pools[entry, REST] / weight
            if not abs(rest) < SQUARABLE[1]:
                return False
            if step == 0:
                pools[entry, MEAN], pools[entry, REST], pools[entry, LOG] = rest, 0.0, pools[entry, LOG] / weight
            else:
                pools[entry, REST] = rest
                pools[entry, DEVIATION] = math.sqrt(max(pools[entry, DEVIATION] / weight - rest * rest, 0.0))
    return True


@inlined
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


@inlined
def gap_and_mean(own: FloatArray, everyone: FloatArray, prior_rows: float) -> tuple[float, float]:
    """The gap between the logarithm of a mean and the mean logarithm, rows of everyone's mixed in; and the mean."""
    prior = 1.0 if own[WEIGHT] == 0.0 and prior_rows == 0.0 else prior_rows
    share, lent = own[WEIGHT] / (own[WEIGHT] + prior), prior / (own[WEIGHT] + prior)
    mean = share * own[MEAN] + lent * everyone[MEAN]
    return math.log(mean) - (share * own[LOG] + lent * everyone[LOG]), mean


@compiled
def add_gammas_without(
    values: FloatArray, labels: IntArray, weights: AnyArray, pools: FloatArray, prior_rows: float, joint: FloatArray
) -> bool:
    """`add_densities_without` of gamma densities, pools float64[class, 5]; whether doubles can tell them."""
    classes, own, everyone = len(pools) - 1, np.zeros(5), np.zeros(5)
    for row in range(len(values)):
        value, label = values[row], labels[row]
        if np.isnan(value):
            continue
        weight, log = np.float64(weights[row]) if weights.size else 1.0, grid_log_of(value)
        for entry, left in ((label, own), (classes, everyone)):
            kept, _ = without_one(pools[entry], value, weight, left)
            if not kept:
                return False
            rest = max(left[WEIGHT], LEAST)
            left[LOG] = pools[entry, LOG] - (log - pools[entry, LOG]) * (weight / rest) if rest > LEAST else 0.0
        for other in range(classes):
            gap, mean = gap_and_mean(own if other == label else pools[other], everyone, prior_rows)
            if not gap > LEAST_GAP_IN_DOUBLES:
                return False
            joint[row, other] += log_gamma(value, gamma_shape_of(gap), mean)
    return True
