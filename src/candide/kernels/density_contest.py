"""The loops behind densities in a contest: moments of numbers in doubles without one row, and the losses they leave.

A contest compares losses on a grid far coarser than doubles (`candide.data.grid`), so what is compared need not be the
exact sums that a model keeps.

Numbers are centred and scaled by their caller, so that their squares neither overflow nor lose what is small beside a
large mean. Pools are [moment, class] with all classes together in the last place.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.kernels import compiled, inlined
from candide.kernels.counting import places_by_class
from candide.kernels.densities import GAMMA, log_density_by, log_gamma, sums_logs
from candide.kernels.gamma_shape import gamma_shape_of
from candide.kernels.left_out_losses import losses_alike
from candide.kernels.logarithm import grid_log

WEIGHT, MEAN, VARIANCE, LOG = 0, 1, 2, 3
"""Where a pool holds which moment; LOG is the mean of the logarithms."""

KEPT = 1e-3
"""Taking a row out of a variance must leave this share of it, else it is computed anew."""

LEAST_GAP = 1e-7
"""A smaller gap between the logarithm of a mean and the mean of logarithms needs more digits than doubles have."""


class AlikeNumbers(NamedTuple):
    """Numbers float64[line] and their logarithms (empty where nobody asks), and kinds of rows, line by line.

    A kind has lines[kind], labels[kind] and so many rows, weights[kind] as doubles.
    """

    numbers: FloatArray
    logs: FloatArray
    lines: IntArray
    labels: IntArray
    weights: FloatArray


class DensityEntrant(NamedTuple):
    """Which density of `candide.kernels.densities`, how many of everyone's rows each class is lent, and its floor."""

    code: int
    prior_rows: float
    floor: float


class NumberScale(NamedTuple):
    """What was taken from numbers, and from logarithms, and the power of two that numbers were divided by.

    It is the product of two, since one number may be too small for it; to multiply by them is quicker than `ldexp`.
    """

    centre: float
    half: float
    rest: float
    log_centre: float


@inlined
def pooled(rows: AlikeNumbers, classes: int) -> FloatArray:
    """The moments of each class and of all together, float64[4, classes + 1]; zeros where nothing was seen."""
    pools = np.zeros((4, classes + 1))
    totals, rest = np.zeros(len(rows.numbers)), np.zeros(classes + 1)
    for kind in range(len(rows.lines)):
        line, label, weight = rows.lines[kind], rows.labels[kind], rows.weights[kind]
        totals[line] += weight
        pools[WEIGHT, label] += weight
        pools[MEAN, label] += weight * rows.numbers[line]
        if len(rows.logs):
            pools[LOG, label] += weight * rows.logs[line]
    for line in range(len(totals)):
        pools[WEIGHT, classes] += totals[line]
        pools[MEAN, classes] += totals[line] * rows.numbers[line]
        if len(rows.logs):
            pools[LOG, classes] += totals[line] * rows.logs[line]
    for label in range(classes + 1):
        divisor = max(pools[WEIGHT, label], 1.0)
        pools[MEAN, label] /= divisor
        pools[LOG, label] /= divisor
    for kind in range(len(rows.lines)):
        label = rows.labels[kind]
        away = rows.numbers[rows.lines[kind]] - pools[MEAN, label]
        pools[VARIANCE, label] += rows.weights[kind] * away * away
        rest[label] += rows.weights[kind] * away
    for line in range(len(totals)):
        away = rows.numbers[line] - pools[MEAN, classes]
        pools[VARIANCE, classes] += totals[line] * away * away
        rest[classes] += totals[line] * away
    for label in range(classes + 1):
        divisor = max(pools[WEIGHT, label], 1.0)
        missed = rest[label] / divisor
        pools[MEAN, label] += missed
        pools[VARIANCE, label] = max(pools[VARIANCE, label] / divisor - missed * missed, 0.0)
    return pools


@inlined
def moments_anew(rows: AlikeNumbers, members: IntArray, line: int, left: FloatArray) -> None:
    """Fill left[MEAN] and left[VARIANCE] from the kinds of a pool less one row of a line."""
    for step in (MEAN, VARIANCE):
        gone = 1.0
        total = 0.0
        for kind in members:
            here = rows.lines[kind] == line
            weight = rows.weights[kind] - (gone if here else 0.0)
            away = rows.numbers[rows.lines[kind]] - left[MEAN]
            total += weight * (away if step == MEAN else away * away)
            gone = 0.0 if here else gone
        left[step] = total / left[WEIGHT] + (left[MEAN] if step == MEAN else 0.0)


@compiled
def pool_without(rows: AlikeNumbers, pool: FloatArray, line: int, members: IntArray, left: FloatArray) -> None:
    """Fill left[moment] with a pool[moment] less one row of a line; `members` are all kinds of the pool."""
    weight = pool[WEIGHT] - 1.0
    left[:] = 0.0
    left[WEIGHT] = weight
    if weight <= 0.0:
        return
    away = rows.numbers[line] - pool[MEAN]
    left[MEAN] = pool[MEAN] - away / weight
    variance = pool[VARIANCE] - away * away / weight
    if variance > KEPT * pool[VARIANCE]:
        left[VARIANCE] = variance * (1.0 + 1.0 / weight)
    elif pool[VARIANCE] > 0.0:
        moments_anew(rows, members, line, left)
    if len(rows.logs):
        left[LOG] = pool[LOG] - (rows.logs[line] - pool[LOG]) / weight


@inlined
def blended_moments(
    pools: FloatArray, which: int, everyone: FloatArray, prior_rows: float
) -> tuple[float, float, float]:
    """Mean, deviation and mean logarithm of pools[which, moment] that is lent `prior_rows` of everyone's rows."""
    rows = pools[which, WEIGHT]
    prior = 1.0 if rows == 0.0 and prior_rows == 0.0 else prior_rows
    share, lent = rows / (rows + prior), prior / (rows + prior)
    mean = share * pools[which, MEAN] + lent * everyone[MEAN]
    apart, lent_apart = pools[which, MEAN] - mean, everyone[MEAN] - mean
    variance = share * (pools[which, VARIANCE] + apart * apart) + lent * (everyone[VARIANCE] + lent_apart * lent_apart)
    return mean, math.sqrt(variance), share * pools[which, LOG] + lent * everyone[LOG]


@inlined
def taken_from(values: FloatArray, centre: float, power: int) -> FloatArray:
    """Values less a centre, in units of a power of two."""
    away = np.empty(len(values))
    for line in range(len(values)):
        away[line] = math.ldexp(values[line] - centre, -power)
    return away


@inlined
def power_above(values: FloatArray, centre: float) -> int:
    """The power of two above the distance of all values from a centre."""
    farthest = 0.0
    for value in values:
        farthest = max(farthest, abs(value - centre))
    return math.frexp(farthest)[1]


@inlined
def said_by(
    density: DensityEntrant,
    value: float,
    weight: float,
    moments: tuple[float, float, float],
    whole: float,
    scale: NumberScale,
) -> tuple[float, bool]:
    """The log density of a number by mean, deviation and mean logarithm of its class, and whether doubles can tell."""
    mean, deviation = scale.centre + moments[0] * scale.half * scale.rest, moments[1] * scale.half * scale.rest
    if density.code == GAMMA:
        gap = (math.log(mean) - scale.log_centre) - moments[2] if mean > 0.0 else 1.0
        mean = mean if mean > 0.0 else 1.0
        return log_gamma(value, gamma_shape_of(gap), mean), gap > LEAST_GAP
    return log_density_by(density.code, value, weight + density.prior_rows, mean, deviation, whole, density.floor), True


@inlined
def say_alike(
    values: FloatArray,
    rows: AlikeNumbers,
    density: DensityEntrant,
    scale: NumberScale,
    said: FloatArray,
    own: FloatArray,
) -> bool:
    """Fill what values[line] say of other classes, said[line, class], and of their own without themselves, own[kind].

    Gives whether doubles can tell all of it.
    """
    classes, line, is_told, whole = said.shape[1], -1, True, 0.0
    together, without = classes, classes + 1
    pools, everyone = np.zeros((classes + 2, 4)), np.zeros(4)
    pools[: classes + 1] = pooled(rows, classes).T
    left = pools[without]
    order, starts = places_by_class(rows.labels, classes)
    for kind in range(len(rows.lines)):
        label, first = rows.labels[kind], classes
        if rows.lines[kind] != line:
            line, first = rows.lines[kind], 0
            pool_without(rows, pools[together], line, order, everyone)
            whole = math.sqrt(everyone[VARIANCE]) * scale.half * scale.rest
        pool_without(rows, pools[label], line, order[starts[label] : starts[label + 1]], left)
        for other in range(first, classes + 1):  # the last is the own class, without the row
            which = without if other == classes else other
            moments = blended_moments(pools, which, everyone, density.prior_rows)
            tells, can_tell = said_by(density, values[line], pools[which, WEIGHT], moments, whole, scale)
            is_told &= can_tell
            if which == without:
                own[kind] = tells
            else:
                said[line, other] = tells
    return is_told


@compiled
def density_losses(
    numbers: FloatArray,
    lines: IntArray,
    labels: IntArray,
    weights: FloatArray,
    judging: IntArray,
    densities: FloatArray,
    prior: FloatArray,
    prior_without: FloatArray,
) -> FloatArray:
    """The log loss of each kind that judges by each density, float64[density, kind]; NaN where doubles cannot tell.

    Kinds of rows have lines[kind], ascending, labels[kind] and weights[kind]; those beyond numbers[line] say nothing.
    densities[density] are a code, the rows of everyone's that are lent, and a floor. Priors as in `losses_alike`.
    """
    some, classes = 0, len(prior)
    while some < len(lines) and lines[some] < len(numbers):
        some += 1
    said, own, logs = np.zeros((lines[-1] + 1, classes)), np.zeros(len(lines)), np.zeros(0)
    losses = np.full((len(densities), len(judging)), np.nan)
    judged, judged_lines, judged_labels = np.zeros(len(judging)), lines[judging], labels[judging]
    for index in range(len(densities)):
        density = DensityEntrant(int(densities[index, 0]), densities[index, 1], densities[index, 2])
        if len(logs) == 0 and (density.code == GAMMA or sums_logs(density.code)):
            logs = grid_log(numbers)
        values = logs if sums_logs(density.code) else numbers
        middle = len(values) // 2
        power = power_above(values, values[middle])
        half, rest = math.ldexp(1.0, power // 2), math.ldexp(1.0, power - power // 2)
        scale = NumberScale(values[middle], half, rest, logs[middle] if density.code == GAMMA else 0.0)
        near = taken_from(logs, scale.log_centre, 0) if density.code == GAMMA else np.zeros(0)
        rows = AlikeNumbers(
            taken_from(values, scale.centre, power), near, lines[:some], labels[:some], weights[:some]
        )
        if say_alike(numbers, rows, density, scale, said, own):
            for kind in range(len(judging)):
                judged[kind] = own[judging[kind]]
            found = losses_alike(said, judged, judged_lines, judged_labels, prior, prior_without)
            for kind in range(len(judging)):
                losses[index, kind] = found[kind]
    return losses
