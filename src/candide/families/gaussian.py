"""Numbers that cluster around a middle: heights, temperatures, errors of measurement."""

from __future__ import annotations

from dataclasses import dataclass

from candide.families.base.bell import Bell
from candide.families.base.density import Parameters, lifted
from candide.families.base.density_moments import Moments
from candide.families.base.streaming import CompiledDensity
from candide.kernels.densities import NORMAL


@dataclass(frozen=True)
class Gaussian(Bell):
    """The bell curve with each class's own mean and variance (1/N), as textbooks have it.

    The variance is at least `floor` times that of the whole column, so a class whose values are all equal does
    not become infinitely sure.
    """

    floor: float = 1e-9
    rank = 20

    @property
    def compiled_density(self) -> CompiledDensity:
        return CompiledDensity(NORMAL, self.floor)

    def parameters(self, seen: Moments) -> Parameters:
        return seen.mean, lifted(seen.deviation, seen.whole, self.floor)
