"""Exact sums of a stream's numbers as digits, whose moments are rounded only where a row has changed them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from candide.data.arrays import BoolArray, FloatArray, IntArray
from candide.data.errors import OverflowRefused
from candide.families.base.density import Density
from candide.families.base.density_moments import Moments, Pool, blend
from candide.families.base.streaming import CompiledDensity
from candide.kernels.densities import OTHER
from candide.kernels.running import HEAVIEST_ENTRY, add_summed, judge_numbers, round_changed, shares_by_numbers
from candide.kernels.slices import INFINITE
from candide.statistics.exact import HEADROOM, Digits, ExactSums
from candide.statistics.logarithms import log_gap
from candide.statistics.sums import Sums, grid_logs

EVERYONE: IntArray = np.zeros(1, np.int64)


class Densities(NamedTuple):
    """Which density each column has, as kernels take it."""

    codes: IntArray
    prior_rows: FloatArray
    floors: FloatArray

    @classmethod
    def of(cls, families: Sequence[Density]) -> Self:
        """Those of the families of some columns."""
        densities = [family.compiled_density or CompiledDensity(OTHER) for family in families]
        return cls(
            np.array([density.code for density in densities], np.int64),
            np.array([family.smoothing for family in families], np.float64),
            np.array([density.floor for density in densities], np.float64),
        )


class RunningSums:
    """Sums in the making that are asked while they learn: of all classes in entry 0, of a class in entry label + 1."""

    def __init__(self, densities: Densities, classes: int, logs: bool = False) -> None:
        shape = (len(densities.codes), classes + 1)
        self.densities = densities
        self.classes = classes
        self.everywhere: IntArray = np.arange(shape[0])
        self.counts: IntArray = np.zeros(shape, np.int64)
        self.total, self.square = Digits(shape), Digits(shape)
        self.logs = RunningSums(densities, classes) if logs else None
        self.gaps: FloatArray = np.zeros(shape)
        self.changed: BoolArray = np.zeros(shape, np.bool_)
        self.table: FloatArray = np.zeros((3, *shape))
        self.additions = 0

    @classmethod
    def over(cls, seen: Sums, families: Sequence[Density]) -> RunningSums:
        """Go on from sums already there, one column of each family."""
        builder = cls(Densities.of(families), seen.classes, seen.log is not None)
        builder.counts = with_everyone(seen.weight).to_float().astype(np.int64)
        builder.total, builder.square = (Digits.over(with_everyone(part)) for part in (seen.total, seen.square))
        if builder.logs is not None and seen.log is not None:
            builder.logs.total = Digits.over(with_everyone(seen.log))
        builder.changed[:] = True
        return builder

    def grow(self, classes: int) -> None:
        """Make room for more classes, doubling so that growth stays cheap."""
        entries = self.counts.shape[1]
        if classes + 1 > entries:
            wider = max(classes + 1, 2 * entries)
            more = ((0, 0), (0, wider - entries))
            self.counts, self.changed = np.pad(self.counts, more), np.pad(self.changed, more)
            self.table, self.gaps = np.pad(self.table, ((0, 0), *more)), np.pad(self.gaps, more)
            self.total.grow(wider)
            self.square.grow(wider)
        if self.logs is not None:
            self.logs.grow(classes)
        self.classes = classes

    def add(self, places: IntArray, values: FloatArray, label: int, sign: int) -> bool:
        """Learn (1) or forget (-1) values[i] in column places[i], NaN where missing; false where one is not taken."""
        self._make_room()
        lowest, highest = self._add(places, values, label, sign)
        if highest == INFINITE:
            return False
        if lowest <= highest:
            self.total.reach(lowest, highest)
            self.square.reach(2 * lowest, 2 * highest)
            self._add(places, values, label, sign)
        if self.logs is not None:
            self.logs.add(places, grid_logs(values), label, sign)
        return True

    def _add(self, places: IntArray, values: FloatArray, label: int, sign: int) -> tuple[int, int]:
        total, square = self.total, self.square
        return add_summed(
            places, values, label + 1, sign, self.densities.codes, self.counts,
            total.digits, total.low, square.digits, square.low, self.changed,
        )  # fmt: skip

    def judge(self, places: IntArray, values: FloatArray, order: IntArray, joint: FloatArray) -> int:
        """Add what values[i] in column places[i] say into joint[class]; how many of them said something."""
        total, square = self.total, self.square
        return judge_numbers(
            places, values, order, *self.densities, self.counts,
            total.digits, total.low, square.digits, square.low, self.changed, self.table, joint,
        )  # fmt: skip

    def shares(
        self, places: IntArray, values: FloatArray, order: IntArray, rows: IntArray, all_rows: float
    ) -> FloatArray:
        """The share of each class of `order` by its rows and by values[i] in column places[i]; NaN if none has any."""
        total, square = self.total, self.square
        return shares_by_numbers(
            places, values, order, rows, math.log(all_rows), *self.densities, self.counts,
            total.digits, total.low, square.digits, square.low, self.changed, self.table,
        )  # fmt: skip

    def _make_room(self) -> None:
        """See to it that carries fit."""
        self.additions += 8
        if self.additions > HEADROOM:
            self.additions = 0
            self.total.settle()
            self.square.settle()
            if self.counts.max(initial=0) >= HEAVIEST_ENTRY - HEADROOM:
                raise OverflowRefused("The rows of a stream must be fewer than 2^31.")

    def moments(self) -> FloatArray:
        """Weight, mean and standard deviation of each (column, entry), each rounded once."""
        if self.logs is not None:
            self._round_gaps(self.logs)
        total, square = self.total, self.square
        digits = total.digits, total.low, square.digits, square.low
        round_changed(self.everywhere, self.counts, *digits, self.changed, self.table)
        return self.table

    def blended(self, columns: IntArray, order: IntArray, prior_rows: float) -> Moments:
        """The moments of some columns in each class, with so many rows of all classes mixed in."""
        self.moments()
        return blend(self._pool(columns, order + 1), self._pool(columns, EVERYONE), prior_rows)

    def _pool(self, columns: IntArray, entries: IntArray) -> Pool:
        where = np.ix_(columns, entries)
        weight, mean, deviation = (plane[where] for plane in self.table)
        return Pool(weight, mean, deviation, None if self.logs is None else self.gaps[where])

    def _round_gaps(self, logs: RunningSums) -> None:
        """Note how far the mean of the logarithms lies below the logarithm of the mean, where sums have changed."""
        for column, entry in np.argwhere(self.changed).tolist():
            weight = int(self.counts[column, entry])
            total, total_bits = whole_number(self.total, column, entry)
            log, log_bits = whole_number(logs.total, column, entry)
            self.gaps[column, entry] = log_gap(total, weight << total_bits, log, weight << log_bits)

    def only(self, labels: IntArray, places: IntArray) -> Sums:
        """The sums of some classes in some columns."""
        digits = [self.total, self.square, *([] if self.logs is None else [self.logs.total])]
        where = np.ix_(places, labels + 1)
        weight = ExactSums.of(self.counts[where].astype(np.float64))
        return Sums(weight, *(ExactSums.settled(part.digits[where], part.low) for part in digits))


def with_everyone(sums: ExactSums) -> ExactSums:
    """Sums[column, class] behind those of all classes, [column, 1 + class]."""
    classes = sums.shape[1]
    everyone = sums.sum(axis=1, keepdims=True).spread(np.zeros(1, np.int64), classes + 1, axis=1)
    return everyone + sums.spread(np.arange(1, classes + 1), classes + 1, axis=1)


def whole_number(sums: Digits, column: int, entry: int) -> tuple[int, int]:
    """A sum as a whole number of units of 2^-bits, and the bits."""
    digits = sums.digits[column, entry].tolist()
    number = sum(digit << (32 * place) for place, digit in enumerate(digits))
    return number << max(32 * sums.low, 0), max(-32 * sums.low, 0)
