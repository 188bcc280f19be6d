"""All that a model says of some rows, from values that were read once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from candide.data.arrays import BoolArray, FloatArray


class Assessment(NamedTuple):
    """What a model says of some rows, read once: reported[row, class], and of each block how expected they are."""

    reported: FloatArray
    log_marginal: FloatArray
    """log P(values), whatever the class, [block, row]."""
    length: FloatArray
    """How much of each row a block can speak of, [block, row]: none where another block speaks of the same."""
    there: FloatArray
    """How much of each row there is, whether or not it was ever seen, [block, row]."""
    unseen: FloatArray
    """How much of log P is for values or words that were never seen, [block, row]: 0 or less."""

    @property
    def nothing_known(self) -> BoolArray:
        """The rows of which no value was ever seen."""
        return np.asarray(self.length.sum(axis=0) == 0)

    @property
    def impossible(self) -> BoolArray:
        """The rows that no class could hold."""
        return ~np.isfinite(self.reported.max(axis=1))
