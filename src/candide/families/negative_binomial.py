"""How often something happened, when events come in bursts: 0, 1, 2, ..."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, xlogy

from candide.arrays import FloatArray
from candide.bases.density import Density, Moments, Parameters
from candide.bases.support import COUNTS
from candide.families.poisson import Poisson

NEARLY_POISSON = 1e7


@dataclass(frozen=True)
class NegativeBinomial(Density):
    """Counts that vary more than a Poisson's: fitted by mean and variance, a Poisson where they vary less."""

    support = COUNTS
    called = ("mean", "successes")
    formula = "negative binomial chance of {x} with mean {mean} and {successes} successes"

    def parameters(self, seen: Moments) -> Parameters:
        """The mean, and the number of successes waited for: infinite for a Poisson."""
        excess = seen.variance - seen.mean
        with np.errstate(divide="ignore", invalid="ignore"):
            successes = np.where(excess > 0, seen.mean**2 / excess, np.inf)
        return seen.mean, np.where(successes < NEARLY_POISSON, np.maximum(successes, 1e-12), np.inf)

    def log_density(self, value: FloatArray, *parameters: FloatArray) -> FloatArray:
        mean, successes = parameters
        bursty = np.isfinite(successes)
        waited = np.where(bursty, successes, 1.0)
        choices = -betaln(waited, value + 1) - np.log(waited + value)
        chances = xlogy(waited, waited / (waited + mean)) + xlogy(value, mean / (waited + mean))
        return np.where(bursty, choices + chances, Poisson().log_density(value, mean))

    def draw(self, rng: np.random.Generator, rows: int, *parameters: float) -> FloatArray:
        mean, successes = parameters
        rates = np.full(rows, mean) if np.isinf(successes) else rng.gamma(successes, mean / successes, rows)
        return rng.poisson(np.minimum(rates, float(COUNTS.high))).astype(float)
