"""Counts that share one total: how often each word, product or event occurred in a row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from candide.data.arrays import AnyArray, Counts, FloatArray, IntArray
from candide.data.batch import Batch
from candide.families.base.basis import SHARE
from candide.families.base.core import Drawn
from candide.families.base.counts import add_counts
from candide.families.base.events import Events
from candide.families.base.explaining import Term
from candide.families.base.leave_one_out import BlockLeftOut, BySubtracting
from candide.families.base.profile import Profile
from candide.families.base.smoothing import log_share
from candide.statistics.tally import Tally


@dataclass(frozen=True)
class Multinomial(Events[FloatArray]):
    """A row is a bag of events, each drawn from its class's shares (count + smoothing) / (all + smoothing * V).

    The columns of the block are the V kinds of event; a missing count is zero. The factor that counts orderings is
    the same for every class and left out: this is the likelihood of the events one by one.
    """

    rank = 130

    def fit(self, seen: Tally, columns: tuple[str, ...]) -> FloatArray:
        return self.event_weights(seen.counts, seen.counts.sum(axis=0), len(columns))

    def event_weights(self, counts: AnyArray, totals: AnyArray, kinds: int) -> FloatArray:
        return log_share(counts, totals, kinds, self.smoothing)

    def score(self, parameters: FloatArray, values: Counts, joint: FloatArray) -> None:
        add_counts(values, parameters, joint)

    def leave_one_out(self, seen: Tally, columns: tuple[str, ...]) -> BlockLeftOut:
        return BySubtracting(self, seen, columns)

    def score_without(
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
        self, parameters: FloatArray, values: Counts, row: Batch, columns: tuple[str, ...], seen: Tally
    ) -> list[Term]:
        return self._counted_terms(parameters, values, columns, seen.counts, float(self.smoothing), SHARE)

    def profiles(
        self, parameters: FloatArray, seen: Tally, columns: tuple[str, ...], prior: FloatArray
    ) -> list[Profile]:
        return [self._events(parameters, parameters, seen, columns, prior)]

    def sample(self, parameters: FloatArray, label: int, rows: int, rng: np.random.Generator) -> Drawn:
        return self._sampled(parameters, label, rows, rng)
