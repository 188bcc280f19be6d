"""Positive numbers with a hump and a tail: durations, amounts of rain, sizes of claims."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, polygamma

from candide.data.arrays import FloatArray
from candide.families.base.density import Density, Moments, Parameters, times_larger
from candide.families.base.saddle_point import LOG_TAU, stirling_error
from candide.families.base.support import POSITIVE

LARGE = 20.0
SHARPEST = 1e8
NEWTON_STEPS = 4
"""Minka's start is off by 1.5 % at most, and every step squares that: more would only repeat the last bits."""


@dataclass(frozen=True)
class Gamma(Density):
    """Shape and mean by maximum likelihood, from the mean and the mean logarithm alone (Minka 2002)."""

    rank = 60
    support = POSITIVE
    needs_logs = True
    called = ("shape", "mean")
    formula = "Gamma density of {x} with shape {shape} and mean {mean}"

    def parameters(self, seen: Moments) -> Parameters:
        assert seen.log_gap is not None
        shape = shape_from(np.where(seen.mean > 0, seen.log_gap, 1.0))
        return shape, np.where(seen.mean > 0, seen.mean, 1.0)

    def log_density(self, value: FloatArray, *parameters: FloatArray) -> FloatArray:
        """shape * (log u - u + 1) with u = value / mean: around the mean the large terms of a sharp shape cancel."""
        shape, mean = parameters
        ratio = times_larger(value, mean)
        step = np.clip(ratio, 0.5, 2.0) - 1
        far = np.log(value) - np.log(mean) - ratio + 1
        bend = np.where(ratio == 1 + step, np.log1p(step) - step, far)
        return np.asarray(shape * bend - np.log(value) + log_height(shape))

    def draw(self, rng: np.random.Generator, rows: int, *parameters: float) -> FloatArray:
        shape, mean = parameters
        return mean * (rng.standard_gamma(shape, rows) / shape)


def log_height(shape: FloatArray) -> FloatArray:
    """shape * log(shape) - shape - log Gamma(shape), by Stirling's series where its terms would cancel."""
    return np.asarray(0.5 * (np.log(shape) - LOG_TAU) - stirling_error(shape))


def shape_from(gap: FloatArray) -> FloatArray:
    """Solve log(shape) - digamma(shape) = gap by Newton steps on 1/shape; a tiny gap is capped at a sharp shape."""
    gap = np.maximum(gap, 0.5 / SHARPEST)
    shape = (3 - gap + np.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)
    for _ in range(NEWTON_STEPS):
        reached, slope = log_less_digamma(shape)
        shape = 1 / (1 / shape + (reached - gap) / slope)
        shape = np.clip(shape, 1e-8, SHARPEST)
    return shape


def log_less_digamma(shape: FloatArray) -> tuple[FloatArray, FloatArray]:
    """log(a) - digamma(a) and minus its slope along 1/a, by their series where the terms would cancel."""
    small, step = np.minimum(shape, LARGE), 1 / np.maximum(shape, LARGE)
    square = step**2
    value = step * (1 / 2 + step * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240))))
    slope = -(1 / 2 + step * (1 / 6 - square * (1 / 30 - square * (1 / 42 - square / 30))))
    near = np.log(small) - digamma(small), small**2 * (1 / small - polygamma(1, small))
    return np.where(shape > LARGE, value, near[0]), np.where(shape > LARGE, slope, near[1])
