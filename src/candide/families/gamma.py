"""Positive numbers with a hump and a tail: durations, amounts of rain, sizes of claims."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from candide.data.arrays import FloatArray
from candide.families.base.density import Density, Parameters, times_larger
from candide.families.base.density_moments import Moments
from candide.families.base.saddle_point import LOG_TAU, stirling_error
from candide.families.base.streaming import CompiledDensity
from candide.families.base.support import POSITIVE
from candide.kernels.densities import GAMMA
from candide.kernels.gamma_shape import gamma_shapes


@dataclass(frozen=True)
class Gamma(Density):
    """Shape and mean by maximum likelihood, from the mean and the mean logarithm alone (Minka 2002)."""

    rank = 60
    support = POSITIVE
    needs_logs = True
    called = ("shape", "mean")
    formula = "Gamma density of {x} with shape {shape} and mean {mean}"

    @property
    def contest_density(self) -> CompiledDensity:
        return CompiledDensity(GAMMA)

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
    """The shape that leaves such a gap between the logarithm of the mean and the mean logarithm."""
    return gamma_shapes(np.ascontiguousarray(gap).ravel()).reshape(gap.shape)
