"""How many failures before the first success: 0, 1, 2, ..."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from candide.data.arrays import FloatArray
from candide.families.base.density import Density, Parameters
from candide.families.base.density_moments import Moments
from candide.families.base.streaming import CompiledDensity
from candide.families.base.support import COUNTS
from candide.kernels.densities import GEOMETRIC


@dataclass(frozen=True)
class Geometric(Density):
    """Counts that fall off by a constant factor: tries, repeats, lengths of runs."""

    rank = 100
    is_simple = True
    support = COUNTS
    called = ("chance of one more", "chance to stop")
    formula = "{chance of one more}^{x} · {chance to stop}"

    @property
    def compiled_density(self) -> CompiledDensity:
        return CompiledDensity(GEOMETRIC)

    def parameters(self, seen: Moments) -> Parameters:
        """The chance of one more failure, and of stopping."""
        return seen.mean / (1 + seen.mean), 1 / (1 + seen.mean)

    def log_density(self, value: FloatArray, *parameters: FloatArray) -> FloatArray:
        again, stop = parameters
        with np.errstate(divide="ignore", invalid="ignore"):
            more = np.where(stop < 0.5, np.log1p(-stop), np.log(again))
            return np.asarray(np.where(value == 0, 0.0, value * more) + np.log(stop))

    def draw(self, rng: np.random.Generator, rows: int, *parameters: float) -> FloatArray:
        return rng.geometric(parameters[1], rows).astype(float) - 1
