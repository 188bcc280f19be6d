"""How often something happened: 0, 1, 2, ..."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from candide.data.arrays import FloatArray
from candide.families.base.density import Density, Parameters
from candide.families.base.density_moments import Moments
from candide.families.base.saddle_point import log_poisson
from candide.families.base.streaming import CompiledDensity
from candide.families.base.support import COUNTS
from candide.kernels.densities import POISSON


@dataclass(frozen=True)
class Poisson(Density):
    """Counts of events that come one by one, such as visits a day.

    The rate has a Gamma prior worth `smoothing` rows of the whole column, so a class that never saw the event
    still gives it a chance.
    """

    rank = 80
    is_simple = True
    support = COUNTS
    called = ("rate",)
    formula = "{rate}^{x} · e^-{rate} / {x}!"

    @property
    def compiled_density(self) -> CompiledDensity:
        return CompiledDensity(POISSON)

    def parameters(self, seen: Moments) -> Parameters:
        return (seen.mean,)

    def log_density(self, value: FloatArray, *parameters: FloatArray) -> FloatArray:
        (rate,) = parameters
        return log_poisson(value, rate)

    def draw(self, rng: np.random.Generator, rows: int, *parameters: float) -> FloatArray:
        return rng.poisson(min(parameters[0], float(COUNTS.high)), rows).astype(float)
