"""The shape of a gamma distribution from the gap between the logarithm of its mean and its mean logarithm."""

from __future__ import annotations

import math

import numpy as np

from candide.data.arrays import FloatArray
from candide.kernels import compiled, inlined

SERIES_FROM = 10.0
"""From here up the series of digamma and trigamma are right to the last bits; below, 2 is added until it is reached."""

SHARPEST, BROADEST = 1e8, 1e-8
NEWTON_STEPS, CLOSE = 4, 3e-8
"""Minka's start is off by 1.5 % at most, and every step squares that: once a step is `CLOSE`, more change nothing."""


@inlined
def log_less_digamma(shape: float) -> tuple[float, float]:
    """log(a) - digamma(a), and its slope along 1/a, without the cancellation of large terms."""
    rest, squares, far = 0.0, 0.0, shape
    while far < SERIES_FROM:
        both = 1.0 / (far * (far + 1.0))
        rest += (2.0 * far + 1.0) * both
        squares += (1.0 + 2.0 * far * (far + 1.0)) * both * both
        far += 2.0
    step = 1.0 / far
    square = step * step
    value = step * (1 / 2 + step * (1 / 12 - square * (
        1 / 120 - square * (1 / 252 - square * (1 / 240 - square * (1 / 132 - square * (691 / 32760 - square / 12))))
    )))  # fmt: skip
    slope = 1 / 2 + step * (1 / 6 - square * (
        1 / 30 - square * (1 / 42 - square * (1 / 30 - square * (5 / 66 - square * (691 / 2730 - square * 7 / 6))))
    ))  # fmt: skip
    if far == shape:
        return value, slope
    trigamma = squares + step + square * slope
    return math.log(shape / far) + rest + value, shape * shape * trigamma - shape


@compiled
def gamma_shape_of(gap: float) -> float:
    """Solve log(shape) - digamma(shape) = gap by Newton steps on 1/shape (Minka 2002); a tiny gap is capped."""
    gap = max(gap, 0.5 / SHARPEST)
    shape = (3 - gap + math.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)
    for _ in range(NEWTON_STEPS):
        reached, slope = log_less_digamma(shape)
        step = (gap - reached) / slope
        shape = min(max(1 / (1 / shape + step), BROADEST), SHARPEST)
        if abs(step) * shape < CLOSE:
            break
    return shape


@compiled
def gamma_shapes(gaps: FloatArray) -> FloatArray:
    """`gamma_shape_of` each of float64[n]."""
    shapes = np.empty(len(gaps))
    for index in range(len(gaps)):
        shapes[index] = gamma_shape_of(gaps[index])
    return shapes
