"""What follows from the moments of a growing table for one row, all its columns at once; under bells, what it says."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from candide.kernels import compiled
from candide.kernels.running import DEVIATION, MEAN, WEIGHT
from candide.kernels.scoring import ROOT_HALF, far_square

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

HALF_LOG_TAU = 0.9189385332046727
LOG_ROOT_PI = 0.5723649429247001
LEAST_DEVIATION = 1e-300
FAR_STEPS = 1e100
MANY = 20.0
"""Half as many degrees of freedom as make a short series for the ratio of gamma functions exact."""


@compiled
def log_gamma_ratio(half: float) -> float:
    """Give log Γ(half + 1/2) - log Γ(half), as accurate for large numbers as for small (Tricomi and Erdélyi 1951)."""
    if half < MANY:
        return math.lgamma(half + 0.5) - math.lgamma(half)
    inverse = 1.0 / half
    square = inverse * inverse
    series = inverse * (1.0 / 8 - square * (1.0 / 192 - square * (1.0 / 640 - square * (17.0 / 14336))))
    return 0.5 * math.log(half) - series


@compiled
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


@compiled
def blended(own: Floats, everyone: Floats, prior_rows: float) -> tuple[float, float]:
    """Give mean and deviation with so many rows of everyone's mixed in: `density.blend` of float64[moment]."""
    weight = own[WEIGHT]
    prior = 1.0 if weight == 0.0 and prior_rows == 0.0 else prior_rows
    share, rest = weight / (weight + prior), prior / (weight + prior)
    mean = share * own[MEAN] + rest * everyone[MEAN]
    if everyone[WEIGHT] == 0.0:
        return mean, 1.0
    deviation = math.hypot(
        math.sqrt(share) * math.hypot(own[DEVIATION], own[MEAN] - mean),
        math.sqrt(rest) * math.hypot(everyone[DEVIATION], everyone[MEAN] - mean),
    )
    return mean, deviation


@compiled
def blend_columns(columns: Integers, order: Integers, table: Floats, prior_rows: float, out: Floats) -> None:
    """Fill out[moment, i, class] with the moments of columns[i] in each class of `order`, `blended`."""
    for index in range(len(columns)):
        moments = table[:, columns[index]]
        for place in range(len(order)):
            own = moments[:, order[place] + 1]
            mean, deviation = blended(own, moments[:, 0], prior_rows)
            out[WEIGHT, index, place] = own[WEIGHT]
            out[MEAN, index, place] = mean
            out[DEVIATION, index, place] = deviation


@compiled
def add_bells(
    columns: Integers,
    values: Floats,
    order: Integers,
    table: Floats,
    prior_rows: float,
    floor: float,
    is_student: bool,
    joint: Floats,
) -> None:
    """Add to joint[label] the log density of values[i] in columns[i] for each label of `order`.

    `table` is float64[moment, column, entry], entry 0 that of all classes and label + 1 that of a class. Deviations are
    at least the root of `floor` times the whole column's.
    """
    for index in range(len(columns)):
        value, moments = values[index], table[:, columns[index]]
        everyone = moments[:, 0]
        whole = everyone[DEVIATION]
        least = max(math.sqrt(floor) * whole, LEAST_DEVIATION)
        for label in order:
            mean, deviation = blended(moments[:, label + 1], everyone, prior_rows)
            freedom = max(moments[WEIGHT, label + 1] + prior_rows, 1.0)
            if is_student:
                deviation *= math.sqrt(1.0 + 1.0 / freedom)
            deviation = 1.0 if whole == 0.0 else max(deviation, least)
            if is_student:
                joint[label] += log_student(value, freedom, mean, deviation)
            else:
                squares = far_square(value, mean, ROOT_HALF / deviation)
                joint[label] -= math.log(deviation) + HALF_LOG_TAU + squares
