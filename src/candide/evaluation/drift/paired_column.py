"""The same column in two models: how far it moved, and what moved."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

import numpy as np

from candide.data.arrays import FloatArray
from candide.evaluation.drift.changes import MISSING, Shift
from candide.evaluation.drift.divergence import Divergence

Rows = tuple[FloatArray, FloatArray]
"""The rows of each class, before and after."""


class PairedColumn(ABC):
    """A column before and after; the two have the same classes."""

    @abstractmethod
    def of_class(self, index: int) -> Self:
        """The column in one class."""

    @property
    @abstractmethod
    def divergence(self) -> Divergence:
        """How far it moved, all classes taken together."""

    @property
    @abstractmethod
    def changes(self) -> tuple[Shift, ...]:
        """What moved, all classes taken together."""

    @property
    def singled_out(self) -> tuple[Shift, ...]:
        """Single values or words that moved so far that it tells by itself, however many did not."""
        return ()


def changed_missing(before: FloatArray, after: FloatArray) -> tuple[Shift, ...]:
    """The share of the last line, which has no value, where that moved beyond chance."""
    pairs = [np.array([one[:-1].sum(), one[-1]]) for one in (before, after)]
    if not Divergence.of(pairs[0], pairs[1]).is_beyond_chance:
        return ()
    shares = [float(one[1] / one.sum()) for one in pairs]
    return (Shift(MISSING, shares[0], shares[1]),)
