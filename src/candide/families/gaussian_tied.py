"""Numbers that cluster around a middle, as widely in every class: what few rows can tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from candide.data.arrays import FloatArray
from candide.families.base.bell import Bell
from candide.families.base.competing import ColumnLook
from candide.families.base.density import Parameters
from candide.families.base.density_moments import Moments
from candide.families.base.family import AnyFamily
from candide.families.base.streaming import CompiledDensity


@dataclass(frozen=True)
class GaussianTied(Bell):
    """Bells of one width, so that a column's evidence is a straight line: linear discriminant analysis of one number.

    A handful of rows says little about a class's own width, and one that looks narrow by chance would be far too sure.
    `drawn` rows of the whole column are mixed into each mean, and one into the width within classes. It stands where
    rows are too few to compare families, and otherwise by request.
    """

    drawn: float = 3.0
    rank = 25

    @classmethod
    def candidates_for(cls, column: ColumnLook) -> list[AnyFamily]:
        """It does not compete: with rows enough, classes tell their own widths."""
        return []

    @property
    def compiled_density(self) -> CompiledDensity | None:
        """None: a class's width hangs on all others."""
        return None

    def parameters(self, seen: Moments) -> Parameters:
        """Means drawn together, and the width within classes for all: squares summed over one fewer row for each class.

        Squares are taken of shares of the whole deviation, so that none overflows.
        """
        rows, whole = over_classes(seen.weight), np.where(seen.whole > 0, seen.whole, 1.0)
        middle = over_classes(seen.weight / np.maximum(rows, 1.0) * seen.mean)
        mean = middle + seen.weight / (seen.weight + self.drawn) * (seen.mean - middle)
        squares = over_classes(seen.weight * np.square(seen.deviation / whole))
        free = over_classes(seen.weight - np.minimum(seen.weight, 1.0))
        width = whole * np.sqrt((squares + 1.0) / (free + 1.0))
        return mean, np.broadcast_to(width, mean.shape)


def over_classes(numbers: FloatArray) -> FloatArray:
    """Numbers of all classes added up, from the smallest, so that the order of the classes leaves no trace."""
    return np.asarray(np.sort(numbers, axis=-1).sum(axis=-1, keepdims=True))
