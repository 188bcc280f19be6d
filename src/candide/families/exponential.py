"""Waiting times: how long until the next one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from candide.data.arrays import FloatArray
from candide.families.base.density import Density, Parameters, times_larger
from candide.families.base.density_moments import Moments
from candide.families.base.streaming import CompiledDensity
from candide.families.base.support import NOT_NEGATIVE
from candide.kernels.densities import EXPONENTIAL


@dataclass(frozen=True)
class Exponential(Density):
    """Numbers from zero up whose chance falls off steadily, such as gaps between events."""

    rank = 70
    is_simple = True
    support = NOT_NEGATIVE
    called = ("mean",)
    formula = "e^-({x} / {mean}) / {mean}"

    @property
    def compiled_density(self) -> CompiledDensity:
        return CompiledDensity(EXPONENTIAL)

    def parameters(self, seen: Moments) -> Parameters:
        """The mean, or 1 where a column never left zero."""
        return (np.where(seen.mean > 0, seen.mean, np.where(seen.whole == 0, 1.0, 1e-300)),)

    def log_density(self, value: FloatArray, *parameters: FloatArray) -> FloatArray:
        (mean,) = parameters
        return np.asarray(-times_larger(value, mean) - np.log(mean))

    def draw(self, rng: np.random.Generator, rows: int, *parameters: float) -> FloatArray:
        return rng.exponential(parameters[0], rows)
