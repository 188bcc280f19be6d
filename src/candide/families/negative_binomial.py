"""How often something happened, when events come in bursts: 0, 1, 2, ..."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, xlogy

from candide.data.arrays import FloatArray
from candide.families.base.density import Density, Parameters
from candide.families.base.density_moments import Moments
from candide.families.base.saddle_point import PLAIN, log_choice, log_poisson, refined
from candide.families.base.streaming import CompiledDensity
from candide.families.base.support import COUNTS
from candide.kernels.densities import NEGATIVE_BINOMIAL

NEARLY_POISSON = 1e12
"""With so many successes for each event, the difference to a Poisson is below what doubles tell."""


@dataclass(frozen=True)
class NegativeBinomial(Density):
    """Counts that vary more than a Poisson's: fitted by mean and variance, a Poisson where they vary less."""

    rank = 90
    support = COUNTS
    called = ("mean", "successes")
    formula = "negative binomial chance of {x} with mean {mean} and {successes} successes"

    @property
    def compiled_density(self) -> CompiledDensity:
        return CompiledDensity(NEGATIVE_BINOMIAL)

    def parameters(self, seen: Moments) -> Parameters:
        """The mean, and the number of successes waited for: infinite for a Poisson."""
        excess = seen.variance - seen.mean
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            successes = np.where(excess > 0, seen.mean**2 / excess, np.inf)
        return seen.mean, np.maximum(successes, 1e-12)

    def log_density(self, value: FloatArray, *parameters: FloatArray) -> FloatArray:
        mean, successes = parameters
        bursty = (successes < NEARLY_POISSON * (1 + mean)) & (mean > 0)
        waited = np.where(bursty, successes, 1.0)
        choices = gammaln(waited + value) - gammaln(waited) - gammaln(value + 1)
        chances = xlogy(waited, waited / (waited + mean)) + xlogy(value, mean / (waited + mean))
        large = bursty & (waited + value + mean > PLAIN)
        said = refined(choices + chances, large, log_waiting, value, mean, waited)
        return said if bursty.all() else np.where(bursty, said, log_poisson(value, mean))

    def draw(self, rng: np.random.Generator, rows: int, *parameters: float) -> FloatArray:
        mean, successes = parameters
        rates = np.full(rows, mean) if np.isinf(successes) else rng.gamma(successes, mean / successes, rows)
        return rng.poisson(np.minimum(rates, float(COUNTS.high))).astype(float)


def log_waiting(value: FloatArray, mean: FloatArray, waited: FloatArray) -> FloatArray:
    """The same: so many failures and successes in any order, but a success comes last."""
    some, tries = np.maximum(value, 1.0), waited + mean
    several = log_choice(waited, some, waited / tries, mean / tries) + np.log(waited / (waited + some))
    return np.where(value == 0, -waited * np.log1p(mean / waited), several)
