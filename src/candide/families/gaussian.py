"""Numbers that cluster around a middle: heights, temperatures, errors of measurement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from candide.arrays import FloatArray
from candide.bases.density import Density, Moments, Parameters, lifted
from candide.kernels.scoring import add_gaussian
from candide.statistics.sums import Sums

HALF_LOG_TAU = 0.5 * np.log(2 * np.pi)


@dataclass(frozen=True)
class Gaussian(Density):
    """The bell curve with each class's own mean and variance (1/N), as textbooks have it.

    The variance is at least `floor` times that of the whole column, so a class whose values are all equal does
    not become infinitely sure.
    """

    smoothing: float = 0.0
    floor: float = 1e-9

    def fit(self, seen: Sums, columns: tuple[str, ...]) -> Parameters:
        mean, deviation = super().fit(seen, columns)
        return mean, lifted(deviation, seen, self.floor)

    def parameters(self, seen: Moments) -> Parameters:
        return seen.mean, seen.deviation

    def score(self, parameters: Parameters, values: FloatArray, joint: FloatArray) -> None:
        add_bells(parameters, values, joint)

    def log_density(self, value: FloatArray, *parameters: FloatArray) -> FloatArray:
        terms = np.zeros((len(value), len(parameters[0])))
        Gaussian.score(self, tuple(parameter[None] for parameter in parameters), value, terms)
        return terms

    def draw(self, rng: np.random.Generator, rows: int, *parameters: float) -> FloatArray:
        return rng.normal(parameters[0], parameters[1], rows)


def add_bells(parameters: Parameters, values: FloatArray, joint: FloatArray) -> bool:
    """Add the log density of values[row, column] into joint[row, class]; say whether all values were finite."""
    mean, deviation = parameters
    return add_gaussian(values, mean, 1 / deviation, -np.log(deviation) - HALF_LOG_TAU, joint)
