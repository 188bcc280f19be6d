"""Positive numbers with a hump and a tail: durations, amounts of rain, sizes of claims."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, gammaln, polygamma

from candide.arrays import FloatArray
from candide.bases.density import Density, Moments, Parameters
from candide.bases.support import POSITIVE

SHARPEST = 1e8


@dataclass(frozen=True)
class Gamma(Density):
    """Shape and scale by maximum likelihood, from the mean and the mean logarithm alone (Minka 2002)."""

    support = POSITIVE
    needs_logs = True

    def parameters(self, seen: Moments) -> Parameters:
        assert seen.mean_log is not None
        mean = np.where(seen.mean > 0, seen.mean, 1.0)
        shape = shape_from(np.where(seen.mean > 0, np.log(mean) - seen.mean_log, 1.0))
        return shape, mean / shape

    def log_density(self, value: FloatArray, *parameters: FloatArray) -> FloatArray:
        shape, scale = parameters
        with np.errstate(over="ignore"):
            ratio = value / scale
        return np.asarray((shape - 1) * (np.log(value) - np.log(scale)) - ratio - gammaln(shape) - np.log(scale))

    def draw(self, rng: np.random.Generator, rows: int, *parameters: float) -> FloatArray:
        return rng.gamma(parameters[0], parameters[1], rows)


def shape_from(gap: FloatArray) -> FloatArray:
    """Solve log(shape) - digamma(shape) = gap by Newton steps on 1/shape; a tiny gap is capped at a sharp shape."""
    gap = np.maximum(gap, 0.5 / SHARPEST)
    shape = (3 - gap + np.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)
    for _ in range(8):
        slope = shape**2 * (1 / shape - polygamma(1, shape))
        shape = 1 / (1 / shape + (np.log(shape) - digamma(shape) - gap) / slope)
        shape = np.clip(shape, 1e-8, SHARPEST)
    return shape
