"""Positive numbers that vary by factors rather than by steps: incomes, prices, file sizes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from candide.data.arrays import FloatArray
from candide.families.base.density import Parameters
from candide.families.base.streaming import CompiledDensity
from candide.families.base.support import LOGS, POSITIVE
from candide.families.gaussian import Gaussian
from candide.kernels.densities import LOGNORMAL
from candide.statistics.sums import Sums, grid_logs

LARGEST_LOG = 700.0


@dataclass(frozen=True)
class Lognormal(Gaussian):
    """A bell curve for the logarithm. What is summed are logarithms rounded to a grid, so that machines agree."""

    rank = 50
    fades = False
    support = POSITIVE
    summed_support = LOGS
    called = ("mean log", "deviation of logs")
    formula = "exp(-(log {x} - {mean log})² / (2 · {deviation of logs}²)) / ({x} · {deviation of logs} · √(2π))"

    @property
    def compiled_density(self) -> CompiledDensity:
        return CompiledDensity(LOGNORMAL, self.floor)

    def summed(self, values: FloatArray) -> FloatArray:
        return grid_logs(values)

    def score(self, parameters: Parameters, values: FloatArray, joint: FloatArray) -> None:
        logs = np.log(values)
        super().score(parameters, logs, joint)
        joint -= np.nansum(logs, axis=1, keepdims=True)

    def log_density(self, value: FloatArray, *parameters: FloatArray) -> FloatArray:
        logs = np.log(value)
        return super().log_density(logs, *parameters) - logs

    def centre_and_spread(self, parameters: Parameters, seen: Sums, classes: int) -> tuple[FloatArray, FloatArray]:
        """Mean and deviation of the numbers themselves: e^(m + s²/2), and the mean times the root of e^s² - 1."""
        mean, deviation = parameters
        squares = np.minimum(deviation**2, LARGEST_LOG)
        middle = np.exp(np.clip(mean + 0.5 * squares, -LARGEST_LOG, LARGEST_LOG))
        return middle, np.exp(np.minimum(np.log(middle) + 0.5 * np.log(np.expm1(squares)), LARGEST_LOG))

    def draw(self, rng: np.random.Generator, rows: int, *parameters: float) -> FloatArray:
        return rng.lognormal(parameters[0], parameters[1], rows)
