"""Densities of one number whose parameters follow from weight, mean and deviation: all columns of a row in one loop."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from candide.kernels import compiled, inlined
from candide.kernels.logarithm import grid_log_of
from candide.kernels.scoring import ROOT_HALF, far_square

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

WEIGHT, MEAN, DEVIATION = range(3)
"""The planes of a table of moments."""

OTHER = -1
"""The code of a density that no loop here knows."""
NORMAL, STUDENT, LOGNORMAL, WEIBULL, EXPONENTIAL, POISSON, GEOMETRIC, NEGATIVE_BINOMIAL, GAMMA = range(9)
"""The last is known where the mean of the logarithms is, too: not to a stream."""

HALF_LOG_TAU = 0.9189385332046727
LOG_ROOT_PI = 0.5723649429247001
LEAST = 1e-300
FAR_STEPS = 1e100
FAR_RATIO = 1e280
FAR_POWER = 600.0
MANY = 20.0
"""Half as many degrees of freedom as make a short series for the ratio of gamma functions exact."""
SPREAD_OF_LOGS = 1.2825498301618643
EULER = 0.5772156649015329
SHARPEST = 1e8
NEARLY_POISSON = 1e12
FEW, NEAR, PLAIN = 16.0, 0.1, 1e4
LARGEST_COUNT = 2.0**53
SQUARABLE = 1e-140, 1e140
"""Numbers between these can be squared."""


@compiled
def sums_logs(code: int) -> bool:
    """Tell whether logarithms are summed in place of numbers."""
    return code in (LOGNORMAL, WEIBULL)


@compiled
def takes(code: int, value: float) -> bool:
    """Tell whether a number lies in the support of a density."""
    if not math.isfinite(value):
        return False
    if sums_logs(code):
        return value > 0.0
    if code >= POISSON:
        return 0.0 <= value < LARGEST_COUNT and value == math.floor(value)
    return code != EXPONENTIAL or value >= 0.0


@compiled
def summed_of(code: int, value: float) -> float:
    """Give what is summed of a number."""
    return grid_log_of(value) if sums_logs(code) else value


@compiled
def log_gamma_ratio(half: float) -> float:
    """Give log Γ(half + 1/2) - log Γ(half), as accurate for large numbers as for small (Tricomi and Erdélyi 1951)."""
    if half < MANY:
        return math.lgamma(half + 0.5) - math.lgamma(half)
    inverse = 1.0 / half
    square = inverse * inverse
    series = inverse * (1.0 / 8 - square * (1.0 / 192 - square * (1.0 / 640 - square * (17.0 / 14336))))
    return 0.5 * math.log(half) - series


@inlined
def log_normal(value: float, mean: float, deviation: float) -> float:
    """Give the log density of a bell curve, for any doubles."""
    return -math.log(deviation) - HALF_LOG_TAU - far_square(value, mean, ROOT_HALF / deviation)


@inlined
def log_student(value: float, freedom: float, centre: float, scale: float) -> float:
    """Give the log density of Student's t at a centre and a scale, for any doubles."""
    half_gap = abs(0.5 * value - 0.5 * centre)
    steps = 2.0 * (half_gap / scale)
    if steps > FAR_STEPS:
        tail = 2.0 * (math.log(half_gap) + math.log(2.0) - math.log(scale)) - math.log(freedom)
    else:
        tail = math.log1p(steps * steps / freedom)
    height = log_gamma_ratio(0.5 * freedom) - LOG_ROOT_PI - 0.5 * math.log(freedom) - math.log(scale)
    return height - 0.5 * (freedom + 1.0) * tail


@inlined
def log_weibull(log: float, mean: float, deviation: float) -> float:
    """Give the log density at the number that has this logarithm, from mean and deviation of logarithms."""
    shape = min(SPREAD_OF_LOGS / deviation, SHARPEST)
    steps = shape * (log - mean - EULER / shape)
    near = min(steps, FAR_POWER)
    return math.log(shape) - log + steps - math.exp(near) * (1.0 + (steps - near))


@inlined
def log_exponential(value: float, mean: float) -> float:
    """Give the log density of a waiting time; far out it falls like a logarithm, which keeps the order."""
    ratio = value / mean
    if not ratio < FAR_RATIO:
        ratio = FAR_RATIO * (1.0 + math.log(value) - math.log(mean) - math.log(FAR_RATIO))
    return -ratio - math.log(mean)


@compiled
def times_log(times: float, number: float) -> float:
    """Give times · log(number), nothing for no times."""
    return 0.0 if times == 0.0 else times * np.log(number)


@inlined
def log_geometric(value: float, mean: float) -> float:
    """Give the log chance of so many failures before the first success."""
    stop = 1.0 / (1.0 + mean)
    more = math.log1p(-stop) if stop < 0.5 else np.log(mean / (1.0 + mean))
    return (0.0 if value == 0.0 else value * more) + math.log(stop)


@compiled
def stirling_rest(count: float) -> float:
    """Give log n! - (n log n - n + log(2 pi n) / 2) for n above zero."""
    if count <= FEW:
        return math.lgamma(count + 1.0) - (count + 0.5) * math.log(count) + count - HALF_LOG_TAU
    inverse = 1.0 / (count * count)
    series = 1.0 / 360 - (1.0 / 1260 - (1.0 / 1680 - inverse / 1188) * inverse) * inverse
    return (1.0 / 12 - series * inverse) / count


@compiled
def deviance_of(count: float, expected: float) -> float:
    """Give n log(n / m) - n + m for n and m above zero, accurate however close they are (Loader 2000)."""
    gap = count - expected
    ratio = gap / (count + expected)
    if abs(ratio) >= NEAR:
        return count * math.log(count / expected) - gap
    term, near = 2.0 * count * ratio, gap * ratio
    for odd in range(3, 19, 2):
        term *= ratio * ratio
        near += term / odd
    return near


@inlined
def log_poisson_of(count: float, rate: float) -> float:
    """Give the log of rate^n e^-rate / n!."""
    if count + rate > PLAIN and count > 0.0 and rate > 0.0:
        return -stirling_rest(count) - deviance_of(count, rate) - 0.5 * math.log(count) - HALF_LOG_TAU
    return times_log(count, rate) - rate - math.lgamma(count + 1.0)


@inlined
def log_negative_binomial(count: float, mean: float, variance: float) -> float:
    """Give the log chance of a count by mean and variance: a Poisson's where they vary less."""
    excess = variance - mean
    waited = max(mean * mean / excess, 1e-12) if excess > 0.0 else np.inf
    if not waited < NEARLY_POISSON * (1.0 + mean) or mean <= 0.0:
        return log_poisson_of(count, mean)
    tries = waited + mean
    if waited + count + mean <= PLAIN:
        choices = math.lgamma(waited + count) - math.lgamma(waited) - math.lgamma(count + 1.0)
        return choices + times_log(waited, waited / tries) + times_log(count, mean / tries)
    if count == 0.0:
        return -waited * math.log1p(mean / waited)
    both = waited + count
    corrections = stirling_rest(both) - stirling_rest(waited) - stirling_rest(count)
    far_off = deviance_of(waited, both * (waited / tries)) + deviance_of(count, both * (mean / tries))
    heights = 0.5 * (math.log(both / waited) - math.log(count)) - HALF_LOG_TAU
    return corrections - far_off + heights + math.log(waited / both)


@compiled
def log_gamma(value: float, shape: float, mean: float) -> float:
    """Give the log density of a gamma distribution: shape * (log u - u + 1) with u = value / mean, and the height."""
    ratio = value / mean
    if not ratio < FAR_RATIO:
        ratio = FAR_RATIO * (1.0 + math.log(value) - math.log(mean) - math.log(FAR_RATIO))
    if 0.5 <= ratio <= 2.0:
        bend = math.log1p(ratio - 1.0) - (ratio - 1.0)
    else:
        bend = math.log(value) - math.log(mean) - ratio + 1.0
    return shape * bend - math.log(value) + 0.5 * math.log(shape) - HALF_LOG_TAU - stirling_rest(shape)


@compiled
def length(one: float, other: float) -> float:
    """Give the root of the sum of two squares, wherever they lie."""
    largest = max(abs(one), abs(other))
    if SQUARABLE[0] < largest < SQUARABLE[1]:
        return math.sqrt(one * one + other * other)
    return math.hypot(one, other)


@compiled
def blended(own: Floats, everyone: Floats, prior_rows: float) -> tuple[float, float]:
    """Give mean and deviation with so many rows of everyone's mixed in: `density.blend` of float64[moment]."""
    weight = own[WEIGHT]
    prior = 1.0 if weight == 0.0 and prior_rows == 0.0 else prior_rows
    share, rest = weight / (weight + prior), prior / (weight + prior)
    mean = share * own[MEAN] + rest * everyone[MEAN]
    if everyone[WEIGHT] == 0.0:
        return mean, 1.0
    if rest == 0.0:
        return own[MEAN], own[DEVIATION]
    deviation = length(
        math.sqrt(share) * length(own[DEVIATION], own[MEAN] - mean),
        math.sqrt(rest) * length(everyone[DEVIATION], everyone[MEAN] - mean),
    )
    return mean, deviation


@compiled
def log_density_by(
    code: int, value: float, rows: float, mean: float, deviation: float, whole: float, floor: float
) -> float:
    """Give the log density of a number by the moments of so many rows, and the deviation of the whole column.

    The deviations of bells and of logarithms are at least the root of `floor` times the whole column's.
    """
    if code == POISSON:
        return log_poisson_of(value, mean)
    if code == NEGATIVE_BINOMIAL:
        return log_negative_binomial(value, mean, deviation * deviation)
    if code == GEOMETRIC:
        return log_geometric(value, mean)
    if code == EXPONENTIAL:
        return log_exponential(value, mean if mean > 0.0 else 1.0 if whole == 0.0 else LEAST)
    freedom = max(rows, 1.0)
    if code == STUDENT:
        deviation *= math.sqrt(1.0 + 1.0 / freedom)
    deviation = 1.0 if whole == 0.0 else max(deviation, math.sqrt(floor) * whole, LEAST)
    if code == STUDENT:
        return log_student(value, freedom, mean, deviation)
    if code == NORMAL:
        return log_normal(value, mean, deviation)
    log = math.log(value)
    return log_normal(log, mean, deviation) - log if code == LOGNORMAL else log_weibull(log, mean, deviation)


@inlined
def log_density_of(code: int, value: float, own: Floats, everyone: Floats, prior_rows: float, floor: float) -> float:
    """Give the log density of a number in a class, from float64[moment] of the class and of everyone."""
    mean, deviation = blended(own, everyone, prior_rows)
    return log_density_by(code, value, own[WEIGHT] + prior_rows, mean, deviation, everyone[DEVIATION], floor)


@compiled
def add_densities(
    places: Integers,
    values: Floats,
    order: Integers,
    codes: Integers,
    prior_rows: Floats,
    floors: Floats,
    table: Floats,
    joint: Floats,
) -> int:
    """Add to joint[label] the log density of values[i] in column places[i] for each label of `order`.

    `codes`, `prior_rows` and `floors` have one entry a column; `table` is float64[moment, column, entry], entry 0 that
    of all classes and label + 1 that of a class. A number outside its density's support says nothing. Gives how many
    spoke.
    """
    spoken = 0
    for index in range(len(places)):
        place, value = places[index], values[index]
        code = codes[place]
        if not takes(code, value):
            continue
        spoken += 1
        everyone = table[:, place, 0]
        for label in order:
            own = table[:, place, label + 1]
            joint[label] += log_density_of(code, value, own, everyone, prior_rows[place], floors[place])
    return spoken
