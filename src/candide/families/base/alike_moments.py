"""Moments of rows alike in doubles, each row left out: computed once for a column, shared by all densities.

A contest compares losses on a grid far coarser than doubles (`candide.data.grid`), so what is compared need not be the
exact sums that a model keeps.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.kernels.alike_moments import AlikeNumbers, Blended, blended_alike, pooled
from candide.kernels.logarithm import grid_log

LEAST_GAP_IN_DOUBLES = 1e-7
"""A smaller gap between the logarithm of a mean and the mean of logarithms needs more digits than doubles have."""


class MomentsWithout(NamedTuple):
    """Weight, mean, deviation, gap of logarithms and the deviation of all classes, once a row has left.

    [line, class] for the classes that the row does not belong to, or [row, 1] for its own.
    """

    weight: FloatArray
    mean: FloatArray
    deviation: FloatArray
    log_gap: FloatArray | None
    whole: FloatArray


@dataclass(frozen=True, eq=False)
class AlikeMoments:
    """Numbers, one for each line, and rows alike of these lines; what was computed of them is kept."""

    numbers: FloatArray
    lines: IntArray
    labels: IntArray
    weights: AnyArray
    classes: int
    kept: dict[tuple[bool, bool, float], tuple[MomentsWithout, MomentsWithout] | None] = field(default_factory=dict)

    @cached_property
    def of_rows(self) -> FloatArray:
        """The number of each row."""
        return self.numbers[self.lines]

    def without(self, of_logs: bool, gaps: bool, prior_rows: float) -> tuple[MomentsWithout, MomentsWithout] | None:
        """The moments of other classes and of the own when a row is left out, `prior_rows` of everyone's blended in.

        They are those of the numbers or of their logarithms, with the gap of logarithms where it is asked for. Nothing
        where doubles cannot tell them.
        """
        key = of_logs, gaps, prior_rows
        if key not in self.kept:
            self.kept[key] = self._without(grid_log(self.numbers) if of_logs else self.numbers, gaps, prior_rows)
        return self.kept[key]

    def _without(
        self, values: FloatArray, gaps: bool, prior_rows: float
    ) -> tuple[MomentsWithout, MomentsWithout] | None:
        centre = values[len(values) // 2]
        with np.errstate(over="ignore", invalid="ignore"):
            away = values - centre
        power = int(np.frexp(np.abs(away).max())[1])
        if not np.isfinite(away).all():
            return None
        logs = grid_log(self.numbers) if gaps else np.zeros(0)
        near = logs[len(logs) // 2] if gaps else 0.0
        rows = AlikeNumbers(
            np.ldexp(away, -power), logs - near, self.lines, self.labels, self.weights.astype(np.float64)
        )
        pools = pooled(rows, self.classes)
        blended = Blended(
            np.zeros((3, len(values), self.classes)), np.zeros((3, len(self.lines))), np.zeros(len(values))
        )
        blended_alike(rows, pools, prior_rows, blended)
        whole = np.ldexp(blended.whole, power)[:, None]
        weight, own_weight = pools[:1, :-1], pools[0, self.labels][:, None] - 1
        others = unscaled(weight, blended.others, whole, centre, power, near if gaps else None)
        own = unscaled(own_weight, blended.own[..., None], whole[self.lines], centre, power, near if gaps else None)
        return (others, own) if are_wide(others) and are_wide(own) else None


def unscaled(
    weight: FloatArray, blended: FloatArray, whole: FloatArray, centre: float, power: int, near: float | None
) -> MomentsWithout:
    """Moments of the numbers themselves from those of numbers less a centre, in units of a power of two."""
    mean, deviation, log = blended
    mean, deviation = centre + np.ldexp(mean, power), np.ldexp(deviation, power)
    if near is None:
        return MomentsWithout(weight, mean, deviation, None, whole)
    with np.errstate(divide="ignore", invalid="ignore"):
        return MomentsWithout(weight, mean, deviation, (np.log(mean) - near) - log, whole)


def are_wide(moments: MomentsWithout) -> bool:
    """Whether gaps of logarithms, if there are any, are large enough for doubles."""
    return moments.log_gap is None or bool((moments.log_gap > LEAST_GAP_IN_DOUBLES).all())
