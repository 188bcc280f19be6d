"""Numbers that move together, each class in its own way: quadratic discriminant analysis."""

from __future__ import annotations

from dataclasses import dataclass

from candide.arrays import FloatArray, IntArray
from candide.bases.discriminant import Discriminant
from candide.statistics.cross_sums import CrossSums


@dataclass(frozen=True)
class GaussianFull(Discriminant):
    """Each class has its own covariance, so the border between two classes is a curve."""

    def covariances(self, seen: CrossSums, exponents: IntArray) -> tuple[FloatArray, FloatArray]:
        return seen.covariance(exponents), seen.weights
