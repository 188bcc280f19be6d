"""Exact sums of products of columns, class by class: what a full covariance needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.cached import cached_property
from candide.data.errors import ColumnRefused, ForgetRefused, Location
from candide.statistics.cross_moments import CrossBuilder
from candide.statistics.exact import ExactSums
from candide.statistics.semidefinite import is_semidefinite
from candide.statistics.sums import Sums, quotient
from candide.statistics.whole_sums import ratios


@dataclass(frozen=True)
class CrossSums:
    """Exact weight[class], sums[column, class] and products[pair, class] over the rows complete in the block.

    Pairs are the upper triangle, row by row: (0, 0), (0, 1), ..., (1, 1), ...
    """

    weight: ExactSums
    total: ExactSums
    products: ExactSums

    @classmethod
    def of(
        cls, values: FloatArray, labels: IntArray, classes: int, weights: AnyArray | None = None
    ) -> CrossSums:
        builder = CrossSumsBuilder(values.shape[1], classes)
        builder.learn(values, labels, weights)
        return builder.freeze()

    @property
    def columns(self) -> int:
        return int(self.total.shape[0])

    @property
    def classes(self) -> int:
        return int(self.total.shape[1])

    def __add__(self, other: CrossSums) -> CrossSums:
        return CrossSums(
            self.weight + other.weight, self.total + other.total, self.products + other.products
        )

    def __sub__(self, other: CrossSums) -> CrossSums:
        left = CrossSums(self.weight - other.weight, self.total - other.total, self.products - other.products)
        if left.impossible():
            raise ForgetRefused(
                "The rows to forget hold numbers that were never learned together: they would leave "
                f"{left.impossible()}.",
            )
        return left

    def impossible(self) -> str:
        """What it is about the sums of each column that no rows could have left; nothing where some could."""
        nothing = self.weight.signs() == 0
        stray = (self.products.signs()[:, nothing] != 0).any()
        return "products without rows" if stray else self.of_columns.impossible()

    @cached_property
    def of_columns(self) -> Sums:
        """The sums of each column by itself."""
        weight = np.broadcast_to(self.weight.digits, (self.columns, *self.weight.digits.shape))
        return Sums(ExactSums(weight, self.weight.low), self.total, self.products.take(_diagonal(self.columns)))

    def semidefinite(self) -> bool:
        """Whether every class has a covariance that some rows could have; it costs about what a fit does."""
        if not self.classes:
            return True
        first, second = np.triu_indices(self.columns)
        scatter, _ = self._covariance_ratio
        matrix = np.empty((self.columns, self.columns), dtype=object)
        for label in range(self.classes):
            matrix[first, second] = matrix[second, first] = scatter[:, label]
            if not is_semidefinite(matrix):
                return False
        return True

    def spread(self, positions: IntArray, classes: int) -> CrossSums:
        """The same sums among more classes: class i moves to positions[i]."""
        return CrossSums(
            self.weight.spread(positions, classes, axis=0),
            self.total.spread(positions, classes, axis=1),
            self.products.spread(positions, classes, axis=1),
        )

    def only(self, positions: IntArray) -> CrossSums:
        """The sums of some classes, in the given order."""
        return CrossSums(
            self.weight.take(positions, axis=0),
            self.total.take(positions, axis=1),
            self.products.take(positions, axis=1),
        )

    def widened(self, before: Sequence[str], after: Sequence[str]) -> CrossSums:
        """Refused: the rows learned so far were complete in the old block, not in the new one."""
        added = next(column for column in after if column not in before)
        raise ColumnRefused(
            f"Column '{added}' cannot join a full-covariance block that has learned already: the products of its "
            "values with the others are unknown.",
            advice="Fit anew, or give the column a family of its own.",
            where=Location(column=added),
        )

    def over_classes(self) -> CrossSums:
        """All classes taken together, as one."""
        return CrossSums(
            self.weight.sum(axis=0, keepdims=True),
            self.total.sum(axis=1, keepdims=True),
            self.products.sum(axis=1, keepdims=True),
        )

    @cached_property
    def weights(self) -> FloatArray:
        """The weight of each class, as doubles."""
        return self.weight.to_float()

    @cached_property
    def mean(self) -> FloatArray:
        """Mean[class, column], correctly rounded; 0 where nothing was seen."""
        return quotient(self.total, self.weight).T

    def covariance(self, exponents: IntArray | None = None) -> FloatArray:
        """Covariance[class, column, column] with 1/N, each entry correctly rounded; 0 where nothing was seen.

        Column j is measured in units of 2^exponents[j], so that columns near 1e300 have a finite covariance too.
        """
        first, second = np.triu_indices(self.columns)
        units = np.zeros(self.columns, dtype=np.int64) if exponents is None else exponents
        shift = (units[first] + units[second]).astype(object)[:, None]
        above, below = self._covariance_ratio
        flat = ratios(above * 2 ** np.maximum(-shift, 0), below * 2 ** np.maximum(shift, 0))
        full = np.empty((self.classes, self.columns, self.columns))
        full[:, first, second] = flat.T
        full[:, second, first] = flat.T
        return full

    @cached_property
    def _covariance_ratio(self) -> tuple[AnyArray, AnyArray]:
        """(W P - S_j S_k) / W^2 as whole numbers for each pair and class."""
        weight, weight_exponent = self.weight.integers()
        total, total_exponent = self.total.integers()
        products, product_exponent = self.products.integers()
        first, second = np.triu_indices(self.columns)
        left, right = weight_exponent + product_exponent, 2 * total_exponent
        shared = min(left, right, 2 * weight_exponent)
        above = (weight * products) * 2 ** (left - shared) - (total[first] * total[second]) * 2 ** (right - shared)
        below = (weight * weight) * 2 ** (2 * weight_exponent - shared)
        return above, below


def _diagonal(columns: int) -> IntArray:
    indices = np.arange(columns)
    return indices * columns - indices * (indices - 1) // 2


class CrossSumsBuilder:
    """Cross sums in the making."""

    def __init__(self, columns: int, classes: int) -> None:
        self.columns = columns
        self.classes = classes
        self.fresh = CrossBuilder(columns, classes)
        self.settled: CrossSums | None = None

    @classmethod
    def over(cls, seen: CrossSums) -> CrossSumsBuilder:
        """Go on from sums already there."""
        builder = cls(seen.columns, seen.classes)
        builder.settled = seen
        return builder

    def learn(self, values: FloatArray, labels: IntArray, weights: AnyArray | None) -> None:
        self.fresh.learn(values, labels, weights)

    def grow(self, classes: int) -> None:
        if classes > self.classes:
            self.fresh.grow(classes)
            self.classes = classes

    def freeze(self) -> CrossSums:
        fresh = CrossSums(*self.fresh.freeze())
        if self.settled is None:
            return fresh
        return self.settled.spread(np.arange(self.settled.classes), self.classes) + fresh
