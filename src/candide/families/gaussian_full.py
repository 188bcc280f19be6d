"""Numbers that move together, each class in its own way: quadratic discriminant analysis."""

from __future__ import annotations

from dataclasses import dataclass

from candide.data.arrays import FloatArray
from candide.families.base.discriminant import Discriminant


@dataclass(frozen=True)
class GaussianFull(Discriminant):
    """Each class has its own covariance, so the border between two classes is a curve."""

    rank = 120

    def pooled(self, own: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        return own, weights
