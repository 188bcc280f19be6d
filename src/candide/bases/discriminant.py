"""Gaussian discriminant analysis: blocks of numbers with a covariance, the lecture's GDA."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from candide.arrays import AnyArray, FloatArray, IntArray
from candide.bases.family import Family, Term, shown_number
from candide.bases.support import REAL
from candide.batch import Batch
from candide.statistics.cross_sums import CrossSums, CrossSumsBuilder

LOG_TAU = np.log(2 * np.pi)
FAR = 1e140
FARTHEST = 1e200


@dataclass(frozen=True)
class Bells:
    """Mean[class, column] and covariance[class, column, column], column j in units of 2^exponents[j]."""

    exponents: IntArray
    mean: FloatArray
    covariance: FloatArray


@dataclass(frozen=True)
class Discriminant(Family):
    """A bell in as many dimensions as the block has columns.

    Learns from rows complete in the block; predicts from whatever is observed, by the bell of those columns.
    `smoothing` rows with the whole block's variances and no correlation are mixed into each covariance, and
    `floor` of those variances is added, so that it can always be inverted.
    """

    smoothing: float = 1.0
    floor: float = 1e-9

    @abstractmethod
    def covariances(self, seen: CrossSums, exponents: IntArray) -> tuple[FloatArray, FloatArray]:
        """Each class's covariance before smoothing, and the number of rows behind it."""

    def builder(self, columns: tuple[str, ...], classes: int) -> CrossSumsBuilder:
        return CrossSumsBuilder(len(columns), classes)

    def builder_over(self, seen: CrossSums) -> CrossSumsBuilder:
        return CrossSumsBuilder.over(seen)

    def read(self, batch: Batch, columns: tuple[str, ...]) -> FloatArray:
        values = batch.numbers(columns)
        REAL.refuse_outside(values, batch, columns, self.name)
        return values

    def view(self, batch: Batch, columns: tuple[str, ...]) -> FloatArray:
        return REAL.without_outside(batch.numbers(columns))

    def learn(self, builder: CrossSumsBuilder, values: FloatArray, labels: IntArray, weights: AnyArray) -> None:
        builder.learn(values, labels, weights if weights.size else None)

    def fit(self, seen: CrossSums, columns: tuple[str, ...]) -> Bells:
        everyone = seen.over_classes()
        exponents = units_of(everyone)
        whole = everyone.covariance(exponents)[0]
        prior = np.diag(np.where(np.diag(whole) > 0, np.diag(whole), 1.0))
        own, rows = self.covariances(seen, exponents)
        free = np.where((rows == 0) & (self.smoothing == 0), 1.0, self.smoothing)
        share = (rows / (rows + free))[:, None, None]
        mean = np.where(seen.weights[:, None] > 0, seen.mean, everyone.mean)
        blended = share * own + (1 - share) * prior + self.floor * prior
        return Bells(exponents, np.ldexp(mean, -exponents), blended)

    def score(self, parameters: Bells, values: FloatArray, joint: FloatArray) -> None:
        observed = ~np.isnan(values)
        patterns, which = np.unique(observed, axis=0, return_inverse=True)
        for place, pattern in enumerate(patterns):
            rows = np.flatnonzero(which == place)
            columns = np.flatnonzero(pattern)
            if len(columns):
                joint[rows] += log_bells(parameters, values[np.ix_(rows, columns)], columns)

    def terms(self, parameters: Bells, values: FloatArray, columns: tuple[str, ...]) -> list[Term]:
        """One term for the whole block: a covariance cannot be split by column."""
        spoke = np.flatnonzero(~np.isnan(values[0]))
        if not len(spoke):
            return []
        name = ", ".join(columns[place] for place in spoke)
        shown = ", ".join(shown_number(values[0, place]) for place in spoke)
        return [Term(name, shown, log_bells(parameters, values[:1, spoke], spoke)[0])]

    def sample(
        self, parameters: Bells, label: int, rows: int, rng: np.random.Generator
    ) -> list[AnyArray | list[Any]]:
        root = np.linalg.cholesky(parameters.covariance[label])
        drawn = parameters.mean[label] + rng.standard_normal((rows, len(root))) @ root.T
        return list(np.ldexp(drawn, parameters.exponents).T)


def units_of(everyone: CrossSums) -> IntArray:
    """A power of two near each column's root mean square; 0 for a column of zeros."""
    squares, exponent = everyone.products.integers()
    rows, row_exponent = everyone.weight.integers()
    first, second = np.triu_indices(everyone.columns)
    diagonal = squares[first == second, 0]
    size = max(int(rows[0]), 1).bit_length() + row_exponent
    halves = [(int(s).bit_length() + exponent - size) // 2 if s else 0 for s in diagonal]
    return np.array(halves, dtype=np.int64)


def log_bells(bells: Bells, values: FloatArray, columns: IntArray) -> FloatArray:
    """log density of values[row, column] under each class, for the columns observed."""
    units = bells.exponents[columns]
    with np.errstate(over="ignore"):
        scaled = np.clip(np.ldexp(values, -units), -FARTHEST, FARTHEST)
    logs = np.empty((len(values), len(bells.mean)))
    for label, (mean, covariance) in enumerate(zip(bells.mean, bells.covariance, strict=True)):
        root = np.linalg.cholesky(covariance[np.ix_(columns, columns)])
        steps = solve_triangular(root, (scaled - mean[columns]).T, lower=True, check_finite=False)
        height = -np.log(np.diag(root)).sum() - units.sum() * np.log(2) - 0.5 * len(columns) * LOG_TAU
        logs[:, label] = height - 0.5 * squared_length(steps)
    return logs


def squared_length(steps: FloatArray) -> FloatArray:
    """The sum of squares of each column, growing like a logarithm where it would overflow: order is kept."""
    largest = np.maximum(np.abs(steps).max(axis=0), 1e-300)
    with np.errstate(divide="ignore"):
        length = np.sqrt(np.square(steps / largest).sum(axis=0))
        near = np.square(np.minimum(largest, FAR) * length)
        far = FAR**2 * (1 + np.log(largest) + np.log(length) - np.log(FAR))
    return np.where(largest * length < FAR, near, far)
