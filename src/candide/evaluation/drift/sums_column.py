"""A column of numbers of which two models remember sums alone, as families given by hand do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from candide.data.arrays import FloatArray
from candide.evaluation.drift.changes import DEVIATION, MEAN, Shift
from candide.evaluation.drift.divergence import Divergence
from candide.evaluation.drift.paired_column import PairedColumn, Rows, changed_missing
from candide.statistics.sums import Sums


@dataclass(frozen=True, eq=False)
class SumsColumn(PairedColumn):
    """Numbers of which only sums are remembered: their means are compared, as those of bells of one deviation."""

    sums: tuple[Sums, Sums]
    rows: Rows

    def of_class(self, index: int) -> SumsColumn:
        one = np.array([index])
        return SumsColumn((self.sums[0].only(one), self.sums[1].only(one)), (self.rows[0][one], self.rows[1][one]))

    @property
    def presence(self) -> tuple[FloatArray, FloatArray]:
        """Rows with a value and without, before and after."""
        held = [float(one.over_classes().weight.to_float()[0, 0]) for one in self.sums]
        found = [np.array([there, max(of.sum() - there, 0.0)]) for there, of in zip(held, self.rows, strict=True)]
        return found[0], found[1]

    @property
    def divergence(self) -> Divergence:
        before, after = self.presence
        if not (before[0] and after[0]):
            return Divergence.of(before, after)
        parts = [Divergence.of(before, after), Divergence.of_bells(self._apart, before[0], after[0])]
        there = 0.5 * float(before[0] / before.sum() + after[0] / after.sum())
        return Divergence.weighted(parts, [1.0, there])

    @property
    def _apart(self) -> float:
        """How many deviations the means are apart."""
        means, deviations = ([getattr(one, name)[0, 0] for one in self._totals] for name in ("mean", "deviation"))
        weights = [one[0] for one in self.presence]
        deviation = float(np.sqrt(np.average(np.square(deviations), weights=weights[::-1])))
        return float(abs(means[1] - means[0]) / deviation) if deviation else float(means[0] != means[1]) * np.inf

    @property
    def _totals(self) -> tuple[Sums, Sums]:
        return self.sums[0].over_classes(), self.sums[1].over_classes()

    @property
    def changes(self) -> tuple[Shift, ...]:
        before, after = self._totals
        told = [
            Shift(what, float(getattr(before, what)[0, 0]), float(getattr(after, what)[0, 0]))
            for what in (MEAN, DEVIATION)
        ]
        return (*changed_missing(*self.presence), *(change for change in told if change.before != change.after))
