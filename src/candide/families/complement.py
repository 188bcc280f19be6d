"""Counts judged by how little they look like every other class: robust where classes are unequal in size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from candide.arrays import AnyArray, Counts, FloatArray
from candide.bases.family import Term
from candide.bases.smoothed import log_shares
from candide.families.multinomial import Multinomial
from candide.statistics.tally import Tally

LEAST_SMOOTHING = 1e-10


@dataclass(frozen=True)
class Weights:
    """The complement's weights and, for likelihood and sampling, the multinomial's log shares: [column, class]."""

    complement: FloatArray
    multinomial: FloatArray


@dataclass(frozen=True)
class Complement(Multinomial):
    """Minus the log share of each event in all other classes together (Rennie et al. 2003).

    A score, not a likelihood: P(x), familiarity and sampling use the multinomial of the same tally. An event that no
    other class has seen would decide alone without smoothing, so the score smooths by at least LEAST_SMOOTHING.
    """

    is_likelihood = False

    def fit(self, seen: Tally, columns: tuple[str, ...]) -> Weights:
        others = seen.counts.sum(axis=1, keepdims=True) - seen.counts
        least = max(self.smoothing, LEAST_SMOOTHING)
        return Weights(-log_shares(others, least), log_shares(seen.counts, self.smoothing))

    def score(self, parameters: Weights, values: Counts, joint: FloatArray) -> None:
        super().score(parameters.complement, values, joint)

    def terms(self, parameters: Weights, values: Counts, columns: tuple[str, ...]) -> list[Term]:
        return super().terms(parameters.complement, values, columns)

    def log_likelihood(self, parameters: Weights, values: Counts, joint: FloatArray) -> None:
        super().score(parameters.multinomial, values, joint)

    def sample(
        self, parameters: Weights, label: int, rows: int, rng: np.random.Generator
    ) -> list[AnyArray | list[Any]]:
        return super().sample(parameters.multinomial, label, rows, rng)
