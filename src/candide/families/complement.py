"""Counts judged by how little they look like every other class: robust where classes are unequal in size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from candide.data.arrays import AnyArray, Counts, FloatArray, IntArray
from candide.data.batch import Batch
from candide.families.base.basis import INVERSE
from candide.families.base.core import Drawn
from candide.families.base.counts import add_counts
from candide.families.base.events import Events
from candide.families.base.explaining import Term
from candide.families.base.leave_one_out import BlockLeftOut, BySubtracting
from candide.families.base.profile import Profile
from candide.families.base.smoothing import log_raised, log_share, log_shares
from candide.families.base.tally_without import as_rows, weights_or_ones
from candide.kernels.leaving import score_others
from candide.statistics.tally import Tally

LEAST_SMOOTHING = 1e-10


@dataclass(frozen=True)
class ComplementWeights:
    """The complement's weights and, for likelihood and sampling, the multinomial's log shares: [column, class]."""

    complement: FloatArray
    multinomial: FloatArray


@dataclass(frozen=True)
class Complement(Events[ComplementWeights]):
    """Minus the log share of each event in all other classes together (Rennie et al. 2003).

    A score, not a likelihood: P(x), novelty and sampling use the multinomial of the same tally. An event that no
    other class has seen would decide alone without smoothing, so the score smooths by at least LEAST_SMOOTHING.
    """

    rank = 140
    is_likelihood = False

    def fit(self, seen: Tally, columns: tuple[str, ...]) -> ComplementWeights:
        weights = self.event_weights(seen.counts, seen.counts.sum(axis=0), len(columns))
        return ComplementWeights(weights, log_shares(seen.counts, self.smoothing))

    def event_weights(self, counts: AnyArray, totals: AnyArray, kinds: int) -> FloatArray:
        return -log_share(others(counts), others(totals), kinds, self._least)

    @property
    def _least(self) -> float:
        return max(float(self.smoothing), LEAST_SMOOTHING)

    def score(self, parameters: ComplementWeights, values: Counts, joint: FloatArray) -> None:
        add_counts(values, parameters.complement, joint)

    def leave_one_out(self, seen: Tally, columns: tuple[str, ...]) -> BlockLeftOut:
        return BySubtracting(self, seen, columns, self.log_likelihood_without)

    def score_without(
        self,
        seen: Tally,
        values: Counts,
        columns: tuple[str, ...],
        labels: IntArray,
        weights: AnyArray,
        joint: FloatArray,
    ) -> None:
        rest, least = others(seen.counts), self._least
        logs, logs_less_one = log_raised(rest, least), log_raised(np.maximum(rest - 1, 0), least)
        rows, each = as_rows(values), weights_or_ones(weights, len(labels))
        score_others(*rows, rest, logs, logs_less_one, least, labels, each, joint)

    def log_likelihood_without(
        self,
        seen: Tally,
        values: Counts,
        columns: tuple[str, ...],
        labels: IntArray,
        weights: AnyArray,
        joint: FloatArray,
    ) -> None:
        self._score_own_left_out(seen, values, labels, weights, joint)

    def terms(
        self, parameters: ComplementWeights, values: Counts, row: Batch, columns: tuple[str, ...], seen: Tally
    ) -> list[Term]:
        return self._counted_terms(parameters.complement, values, columns, others(seen.counts), self._least, INVERSE)

    def profiles(
        self, parameters: ComplementWeights, seen: Tally, columns: tuple[str, ...], prior: FloatArray
    ) -> list[Profile]:
        return [self._events(parameters.complement, parameters.multinomial, seen, columns, prior)]

    def log_likelihood(self, parameters: ComplementWeights, values: Counts, joint: FloatArray) -> None:
        add_counts(values, parameters.multinomial, joint)

    def sample(self, parameters: ComplementWeights, label: int, rows: int, rng: np.random.Generator) -> Drawn:
        return self._sampled(parameters.multinomial, label, rows, rng)


def others(counts: AnyArray) -> AnyArray:
    """What all other classes have counted, where each has counts[..., class]."""
    return counts.sum(axis=-1, keepdims=True) - counts
