"""How a linear layer reads a column: a number by its rank among those learned, another value by which it is."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from candide.data.arrays import FloatArray
from candide.data.cached import cached_property
from candide.families.base.column_values import ColumnValues
from candide.families.pairs.column_bins import ColumnBins, plain_number


@dataclass(frozen=True)
class ColumnScale:
    """Features of a column with a mean of nothing over all rows it was made for, and a mean square of about one.

    A number lies between `knots`, whose normal scores were written down: how far below or above the median it ranks.
    Where there are no knots each bin is a feature, one of two where there are two, and `shares` tell how common they
    are. A missing value has nothing of any feature.

    >>> colour = ColumnScale(ColumnBins("colour", groups=((("text", "red"),), (("text", "green"),))), shares=(0.5, 0.5))
    >>> colour.width, colour.features_of_bins.tolist()
    (1, [[1.0], [-1.0], [0.0]])
    """

    bins: ColumnBins
    knots: tuple[float, ...] = field(default=())
    scores: tuple[float, ...] = field(default=())
    shares: tuple[float, ...] = field(default=())

    @property
    def column(self) -> str:
        """The column."""
        return self.bins.column

    @property
    def width(self) -> int:
        """How many features there are."""
        return 1 if self.knots or self.bins.bins == 2 else self.bins.bins

    @cached_property
    def features_of_bins(self) -> FloatArray:
        """The features of each bin, and at last of no bin."""
        shares = np.array(self.shares)
        features = 2 * (np.eye(len(shares)) - shares) / np.sqrt(max(1, len(shares) - 1))
        return np.vstack([features, np.zeros(len(shares))])[:, : self.width]

    def features(self, values: ColumnValues, index: int) -> FloatArray:
        """The features of each row, where the column is at this place of those that were read."""
        if not self.knots:
            return np.asarray(self.features_of_bins[self.bins.codes(values, index)])
        return self.of_numbers(values.numbers[:, index])[:, None]

    def of_numbers(self, numbers: FloatArray) -> FloatArray:
        """The feature of each number."""
        return np.where(np.isnan(numbers), 0.0, np.interp(numbers, self.knots, self.scores))

    def at(self, written: float | str) -> FloatArray:
        """The features of a value as pictures write it."""
        if not self.knots:
            return np.asarray(self.features_of_bins[self.bins.code_of(written)])
        return self.of_numbers(np.array([plain_number(written) if isinstance(written, str) else float(written)]))
