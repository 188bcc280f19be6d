"""Numbers around a middle, with honest doubt about where the middle is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from candide.data.arrays import FloatArray
from candide.families.base.density import Density, Parameters, lifted
from candide.families.base.density_moments import Moments
from candide.families.base.streaming import CompiledDensity
from candide.kernels.densities import STUDENT
from candide.statistics.sums import Sums

FAR = 1e100
LARGE = 20.0
LOG_PI = np.log(np.pi)


@dataclass(frozen=True)
class Student(Density):
    """The posterior predictive of a bell curve whose mean and variance have a normal-inverse-gamma prior.

    The prior is centred on the whole column and weighs `smoothing` rows (Gelman et al. 2013, section 3.3). A class
    with few rows gets heavy tails; with many it becomes the bell curve.
    """

    smoothing: float = 1.0
    floor: float = 1e-9
    rank = 30
    called = ("freedom", "centre", "scale")
    formula = "Student's t of ({x} - {centre}) / {scale} with {freedom} degrees of freedom, / {scale}"

    @property
    def compiled_density(self) -> CompiledDensity:
        return CompiledDensity(STUDENT, self.floor)

    def parameters(self, seen: Moments) -> Parameters:
        """Degrees of freedom, centre and scale.

        The blended moments already are the posterior's: n rows of the class and k of the prior have the mean
        (n m + k M) / (n + k) and n + k times the variance n v + k V + n k / (n + k) (m - M)^2.
        """
        rows = np.maximum(seen.weight + self.smoothing, 1.0)
        return rows, seen.mean, lifted(seen.deviation * np.sqrt(1 + 1 / rows), seen.whole, self.floor)

    def log_density(self, value: FloatArray, *parameters: FloatArray) -> FloatArray:
        freedom, centre, scale = parameters
        half_gap = np.abs(0.5 * value - 0.5 * centre)
        with np.errstate(over="ignore", divide="ignore"):
            steps = 2 * (half_gap / scale)
            far = 2 * (np.log(half_gap) + np.log(2) - np.log(scale)) - np.log(freedom)
            tail = np.where(steps > FAR, far, np.log1p(np.minimum(steps, FAR) ** 2 / freedom))
        height = log_rising_half(0.5 * freedom) - 0.5 * (np.log(freedom) + LOG_PI) - np.log(scale)
        return np.asarray(height - 0.5 * (freedom + 1) * tail)

    def centre_and_spread(self, parameters: Parameters, seen: Sums, classes: int) -> tuple[FloatArray, FloatArray]:
        return parameters[1], parameters[2]

    def draw(self, rng: np.random.Generator, rows: int, *parameters: float) -> FloatArray:
        freedom, centre, scale = parameters
        return centre + scale * rng.standard_t(freedom, rows)


def log_rising_half(number: FloatArray) -> FloatArray:
    """log(Gamma(a + 1/2) / Gamma(a)), by its series where large terms would cancel.

    >>> log_rising_half(np.array([1.0, 1e9])).round(6).tolist()
    [-0.120782, 10.361633]
    """
    small, step = np.minimum(number, LARGE), 1 / np.maximum(number, LARGE)
    square = step * step
    series = -step * (1 / 8 - square * (1 / 192 - square * (1 / 640 - square * (17 / 14336 - square * 31 / 18432))))
    return np.where(number > LARGE, series - 0.5 * np.log(step), gammaln(small + 0.5) - gammaln(small))
