"""Lifetimes and strengths: how long a part lasts, how hard the wind blows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from candide.data.arrays import FloatArray
from candide.families.base.density import Density, Parameters, lifted
from candide.families.base.density_moments import Moments
from candide.families.base.streaming import CompiledDensity
from candide.families.base.support import LOGS, POSITIVE
from candide.kernels.densities import WEIBULL
from candide.statistics.sums import grid_logs

SPREAD = np.pi / np.sqrt(6)
"""The deviation of the logarithm where the shape is one; log x = log scale + log(standard exponential) / shape."""

SHARPEST, FAR = 1e8, 600.0


@dataclass(frozen=True)
class Weibull(Density):
    """Positive numbers whose chance to end grows (shape above one) or falls (below one) the longer they last.

    Shape and scale have the mean and the variance of the logarithms: the variance is π² / (6 shape²), the mean lies
    γ / shape below the logarithm of the scale (Menon 1963). So logarithms are summed, rounded to a grid.
    """

    smoothing: float = 1.0
    floor: float = 1e-9
    rank = 65
    support = POSITIVE
    summed_support = LOGS
    called = ("shape", "log of scale")
    formula = "{shape} / {x} · u · e^-u with u = (x / scale)^{shape}, x = {x} and log scale = {log of scale}"

    @property
    def compiled_density(self) -> CompiledDensity:
        return CompiledDensity(WEIBULL, self.floor)

    def summed(self, values: FloatArray) -> FloatArray:
        return grid_logs(values)

    def parameters(self, seen: Moments) -> Parameters:
        shape = np.minimum(SPREAD / lifted(seen.deviation, seen.whole, self.floor), SHARPEST)
        return shape, seen.mean + np.euler_gamma / shape

    def log_density(self, value: FloatArray, *parameters: FloatArray) -> FloatArray:
        """log shape - log x + z - e^z with z = shape * log(x / scale); far out e^z goes on as a line: order is kept."""
        shape, log_scale = parameters
        logs = np.log(value)
        steps = shape * (logs - log_scale)
        near = np.minimum(steps, FAR)
        return np.asarray(np.log(shape) - logs + steps - np.exp(near) * (1 + (steps - near)))

    def draw(self, rng: np.random.Generator, rows: int, *parameters: float) -> FloatArray:
        shape, log_scale = parameters
        return np.exp(log_scale + np.log(rng.standard_exponential(rows)) / shape)
