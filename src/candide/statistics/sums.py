"""Exact sums of numbers, class by class: all that most densities need to know of a column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.cached import cached_property
from candide.data.errors import ForgetRefused
from candide.kernels.logarithm import grid_log
from candide.statistics.exact import ExactSums
from candide.statistics.logarithms import log_gap
from candide.statistics.moments import MomentsBuilder
from candide.statistics.whole_sums import LIGHTEST_BITS, WholeSums, ratios, roots, true_ratio


@dataclass(frozen=True)
class Sums:
    """Exact weight, sum and sum of squares of each (column, class), and of logarithms where a family asks.

    Mean and variance are computed in whole numbers and rounded once, so they are the correctly rounded mean and
    variance of the rows, whatever their order.

    >>> clock = Sums.of(np.array([[1.7e9], [1.7e9 + 10]]), np.array([0, 0]), classes=1)
    >>> clock.mean.tolist(), clock.variance.tolist()
    ([[1700000005.0]], [[25.0]])
    """

    weight: ExactSums
    total: ExactSums
    square: ExactSums
    log: ExactSums | None = None

    @classmethod
    def of(
        cls, values: FloatArray, labels: IntArray, classes: int, weights: AnyArray | None = None, logs: bool = False
    ) -> Sums:
        builder = SumsBuilder(values.shape[1], classes, logs)
        builder.learn(values, labels, weights)
        return builder.freeze()

    @classmethod
    def empty(cls, columns: int, classes: int) -> Sums:
        nothing = ExactSums.zeros((columns, classes))
        return cls(nothing, nothing, nothing)

    @property
    def classes(self) -> int:
        return int(self.weight.shape[1])

    def _parts(self) -> tuple[ExactSums, ...]:
        return (self.weight, self.total, self.square) + (() if self.log is None else (self.log,))

    def __add__(self, other: Sums) -> Sums:
        return Sums(*(mine + theirs for mine, theirs in zip(self._parts(), other._parts(), strict=True)))

    def __sub__(self, other: Sums) -> Sums:
        left = Sums(*(mine - theirs for mine, theirs in zip(self._parts(), other._parts(), strict=True)))
        if left.impossible():
            raise ForgetRefused(
                f"The rows to forget hold numbers that were never learned: they would leave {left.impossible()}."
            )
        return left

    def impossible(self) -> str:
        """What it is about these sums that no rows could have left; nothing where some could."""
        return "sums and squares that no rows have" if self.whole.impossible().any() else ""

    @cached_property
    def whole(self) -> WholeSums:
        """The same sums as whole numbers."""
        weight, weight_exponent = self.weight.integers()
        total, total_exponent = self.total.integers()
        square, square_exponent = self.square.integers()
        unit = max(LIGHTEST_BITS, -weight_exponent)
        bits = max(0, -(unit + total_exponent), -((unit + square_exponent) // 2))
        sums = (
            weight << (unit + weight_exponent),
            total << (unit + bits + total_exponent),
            square << (unit + 2 * bits + square_exponent),
        )
        if self.log is None:
            return WholeSums(*sums, bits, 1 << unit)
        log, log_exponent = self.log.integers()
        log_bits = max(0, -(unit + log_exponent))
        return WholeSums(*sums, bits, 1 << unit, log << (unit + log_bits + log_exponent), log_bits)

    def spread(self, positions: IntArray, classes: int) -> Sums:
        """The same sums among more classes: class i moves to positions[i]."""
        if classes == self.classes and np.array_equal(positions, np.arange(classes)):
            return self
        return Sums(*(part.spread(positions, classes, axis=1) for part in self._parts()))

    def only(self, positions: IntArray) -> Sums:
        """The sums of some classes, in the given order."""
        return Sums(*(part.take(positions, axis=1) for part in self._parts()))

    def widened(self, before: Sequence[str], after: Sequence[str]) -> Sums:
        """The same sums where the block has more columns."""
        indices = np.array([after.index(column) for column in before], dtype=np.int64)
        return Sums(*(part.spread(indices, len(after), axis=0) for part in self._parts()))

    def narrowed(self, before: Sequence[str], after: Sequence[str]) -> Sums:
        """The sums of fewer columns."""
        indices = np.array([before.index(column) for column in after], dtype=np.int64)
        return Sums(*(part.take(indices, axis=0) for part in self._parts()))

    def column(self, index: int) -> Sums:
        """The sums of one column."""
        return Sums(*(part.take(np.array([index]), axis=0) for part in self._parts()))

    def over_classes(self) -> Sums:
        """All classes taken together, as one."""
        return Sums(*(part.sum(axis=1, keepdims=True) for part in self._parts()))

    @cached_property
    def mean(self) -> FloatArray:
        """Correctly rounded; 0 where nothing was seen."""
        return quotient(self.total, self.weight)

    @cached_property
    def log_gap(self) -> FloatArray:
        """How far the mean of the logarithms lies below the logarithm of the mean, rounded after the subtraction.

        In a narrow column both are nearly alike, and doubles would lose most of what is left. 0 where nothing was seen.
        """
        assert self.log is not None
        mean, mean_log = whole_fraction(self.total, self.weight), whole_fraction(self.log, self.weight)
        return np.vectorize(log_gap, otypes=[float])(*mean, *mean_log)

    def log_mean_less(self, near: FloatArray) -> FloatArray:
        """The logarithm of the mean less a number near it, rounded after the subtraction; 0 where nothing was seen."""
        scaled = np.vectorize(float.as_integer_ratio, otypes=[object, object])(np.where(np.isfinite(near), near, 0.0))
        return np.vectorize(log_gap, otypes=[float])(*whole_fraction(self.total, self.weight), *scaled)

    @cached_property
    def mean_rest(self) -> FloatArray:
        """The exact mean less the rounded one: much, beside the deviation, where a clock counts seconds since 1970."""
        return np.vectorize(ratio_rest, otypes=[float])(*whole_fraction(self.total, self.weight), self.mean)

    @cached_property
    def variance(self) -> FloatArray:
        """Correctly rounded, with 1/N; infinite where it exceeds the largest double; 0 where nothing was seen."""
        return ratios(*self.whole.variance_ratio)

    @cached_property
    def deviation(self) -> FloatArray:
        """The standard deviation, finite even where the variance is not."""
        return roots(*self.whole.variance_ratio)


def grid_logs(values: FloatArray) -> FloatArray:
    """The logarithms of values[row, column] on the grid that all machines share."""
    return grid_log(values.ravel()).reshape(values.shape)


def whole_fraction(above: ExactSums, below: ExactSums) -> tuple[AnyArray, AnyArray]:
    """above / below as whole numbers."""
    tops, top_exponent = above.integers()
    bottoms, bottom_exponent = below.integers()
    shared = min(top_exponent, bottom_exponent)
    return tops * 2 ** (top_exponent - shared), bottoms * 2 ** (bottom_exponent - shared)


def quotient(above: ExactSums, below: ExactSums) -> FloatArray:
    """Correctly rounded above / below; 0 where below is 0."""
    return ratios(*whole_fraction(above, below))


def ratio_rest(above: int, below: int, rounded: float) -> float:
    """above / below less the number it was rounded to.

    >>> ratio_rest(1, 3, 1 / 3), ratio_rest(0, 0, 0.0)
    (1.850371707708594e-17, 0.0)
    """
    if below == 0 or not math.isfinite(rounded):
        return 0.0
    number, scale = rounded.as_integer_ratio()
    return true_ratio(above * scale - number * below, below * scale)


class SumsBuilder:
    """Sums in the making; learning is in place, so a row costs a row."""

    def __init__(self, columns: int, classes: int, logs: bool = False) -> None:
        self.columns = columns
        self.numbers = MomentsBuilder(columns, classes)
        self.logs = MomentsBuilder(columns, classes) if logs else None
        self.settled: Sums | None = None
        self.classes = classes

    @classmethod
    def over(cls, seen: Sums) -> SumsBuilder:
        """Go on from sums already there."""
        builder = cls(seen.weight.shape[0], seen.classes, seen.log is not None)
        builder.settled = seen
        return builder

    def learn(self, values: FloatArray, labels: IntArray, weights: AnyArray | None) -> None:
        self.numbers.learn(values, labels, weights)
        if self.logs is not None:
            self.logs.learn(grid_logs(values), labels, weights)

    def grow(self, classes: int) -> None:
        if classes > self.classes:
            self.numbers.grow(classes)
            if self.logs is not None:
                self.logs.grow(classes)
            self.classes = classes

    def freeze(self) -> Sums:
        weight, total, square = self.numbers.freeze()
        fresh = Sums(weight, total, square, None if self.logs is None else self.logs.freeze()[1])
        if self.settled is None:
            return fresh
        return self.settled.spread(np.arange(self.settled.classes), self.classes) + fresh
