"""Numbers that move together, alike in every class: linear discriminant analysis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from candide.arrays import FloatArray, IntArray
from candide.bases.discriminant import Discriminant
from candide.statistics.cross_sums import CrossSums


@dataclass(frozen=True)
class GaussianShared(Discriminant):
    """All classes share one covariance, that within classes, so the border between two classes is straight.

    It is added up from the smallest share to the largest, so that the order of the classes leaves no trace.
    """

    def covariances(self, seen: CrossSums, exponents: IntArray) -> tuple[FloatArray, FloatArray]:
        everyone = max(seen.weights.sum(), 1.0)
        shares = (seen.weights / everyone)[:, None, None] * seen.covariance(exponents)
        within = np.sort(shares, axis=0).sum(axis=0)
        rows = np.full(seen.classes, seen.weights.sum())
        return np.broadcast_to(within, (seen.classes, *within.shape)), rows
