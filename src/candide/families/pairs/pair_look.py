"""What a pair of columns looks like: the bins of both, and what each two of them say together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from candide.data.arrays import AnyArray, FloatArray
from candide.data.cached import cached_property
from candide.families.pairs.column_bins import ColumnBins


@dataclass(frozen=True, eq=False)
class PairLook:
    """Two columns with their bins; table[first, second, class] is what they say, counts are the rows behind it.

    `factor` is what calibration multiplies the evidence by.
    """

    first: ColumnBins
    second: ColumnBins
    table: FloatArray
    counts: AnyArray
    factor: float = 1.0

    @property
    def name(self) -> str:
        """Both columns."""
        return f"{self.first.column} and {self.second.column}"

    @property
    def evidence(self) -> FloatArray:
        """What the pair adds to the reported score of each class."""
        return self.factor * self.table

    @cached_property
    def loudness(self) -> FloatArray:
        """How much each cell says for one class over another, times its rows, [first, second]."""
        return np.asarray(np.ptp(self.evidence, axis=2) * self.counts.sum(axis=2))

    @property
    def ranked(self) -> list[tuple[int, int]]:
        """The cells that rows are in, the loudest first."""
        seconds = self.second.bins
        order = np.argsort(-self.loudness.ravel(), kind="stable").tolist()
        return [cell for cell in (divmod(place, seconds) for place in order) if self.counts[cell].any()]

    def cell_named(self, first: int, second: int) -> str:
        """A cell as people read it."""
        return f"{self.first.shown(first)} and {self.second.shown(second)}"
