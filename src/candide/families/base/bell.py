"""The bell curve at a number, given its middle and its width; families differ in how they find these."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from candide.data.arrays import FloatArray
from candide.families.base.density import Density, Parameters
from candide.kernels.scoring import FAR, ROOT_HALF, add_gaussian
from candide.statistics.sums import Sums

HALF_LOG_TAU = 0.5 * np.log(2 * np.pi)
LEAST_GAP = 1e-300


@dataclass(frozen=True)
class Bell(Density):
    """A density whose parameters are a mean and a deviation."""

    smoothing: float = 0.0
    fades = True
    called = ("mean", "deviation")
    formula = "exp(-({x} - {mean})² / (2 · {deviation}²)) / ({deviation} · √(2π))"

    def score(self, parameters: Parameters, values: FloatArray, joint: FloatArray) -> None:
        add_normal_densities(parameters, values, joint)

    def log_density(self, value: FloatArray, *parameters: FloatArray) -> FloatArray:
        mean, deviation = np.broadcast_arrays(*parameters)
        flat = np.broadcast_to(value, np.broadcast_shapes(value.shape, mean.shape))
        with np.errstate(over="ignore"):
            steps = (flat - mean) * (ROOT_HALF / deviation)
            gap = np.maximum(np.abs(flat * 0.25 - mean * 0.25), LEAST_GAP)
            far = FAR**2 * (1 + (np.log(gap) + np.log(ROOT_HALF / deviation) + np.log(4.0) - np.log(FAR)))
        squares = np.where(np.abs(steps) < FAR, np.minimum(np.abs(steps), FAR) ** 2, far)
        return np.asarray(-np.log(deviation) - HALF_LOG_TAU - squares)

    def centre_and_spread(self, parameters: Parameters, seen: Sums, classes: int) -> tuple[FloatArray, FloatArray]:
        return parameters[0], parameters[1]

    def draw(self, rng: np.random.Generator, rows: int, *parameters: float) -> FloatArray:
        return rng.normal(parameters[0], parameters[1], rows)


def add_normal_densities(parameters: Parameters, values: FloatArray, joint: FloatArray) -> bool:
    """Add the log density of values[row, column] into joint[row, class]; say whether all values were finite."""
    mean, deviation = parameters
    return add_gaussian(values, mean, 1 / deviation, -np.log(deviation) - HALF_LOG_TAU, joint)
