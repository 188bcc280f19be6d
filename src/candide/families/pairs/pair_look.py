"""What a pair of columns looks like: the bins of both, and what each two of them say together; or of three."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from candide.data.arrays import AnyArray, FloatArray
from candide.data.cached import cached_property
from candide.families.pairs.column_bins import ColumnBins


@dataclass(frozen=True, eq=False)
class PairLook:
    """Columns with their bins; table[first, second, class] is what they say, counts are the rows behind it.

    `factor` is what calibration multiplies the evidence by. Three columns have a table with one axis more.
    """

    parts: tuple[ColumnBins, ...]
    table: FloatArray
    counts: AnyArray
    factor: float = 1.0

    @property
    def name(self) -> str:
        """All columns."""
        return " and ".join(part.column for part in self.parts)

    @property
    def evidence(self) -> FloatArray:
        """What the pair adds to the reported score of each class."""
        return self.factor * self.table

    @cached_property
    def loudness(self) -> FloatArray:
        """How much each cell says for one class over another, times its rows, [first, second]."""
        return np.asarray(np.ptp(self.evidence, axis=-1) * self.counts.sum(axis=-1))

    @property
    def ranked(self) -> list[tuple[int, ...]]:
        """The cells that rows are in, the loudest first."""
        order = np.argsort(-self.loudness.ravel(), kind="stable")
        cells = zip(*(axis.tolist() for axis in np.unravel_index(order, self.loudness.shape)), strict=True)
        return [cell for cell in cells if self.counts[cell].any()]

    def values_shown(self, cell: tuple[int, ...]) -> list[str]:
        """The bins of a cell as people read them."""
        return [part.shown(place) for part, place in zip(self.parts, cell, strict=True)]

    def cell_named(self, cell: tuple[int, ...]) -> str:
        """A cell as people read it."""
        return " and ".join(self.values_shown(cell))
