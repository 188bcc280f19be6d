"""Densities in a stream: exact sums as digits, whose moments are rounded only where a row has changed them."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from candide.data.arrays import BoolArray, FloatArray, IntArray
from candide.data.errors import OverflowRefused
from candide.families.base.density import Density, Moments, Pool, blend
from candide.families.base.streaming import Bell
from candide.families.base.support import LOGS, REAL
from candide.kernels.bells import add_bells, blend_columns
from candide.kernels.running import DEVIATION, HEAVIEST_ENTRY, MEAN, WEIGHT, add_one, round_changed
from candide.model.summary import refuse_impossible
from candide.statistics.exact import HEADROOM, Digits, ExactSums
from candide.statistics.logarithms import log_gap
from candide.statistics.sums import Sums, grid_logs
from candide.statistics.tally import Tally
from candide.stream.cells import number_of, within_support
from candide.stream.live import Cell, Live


class RunningSums:
    """Sums in the making that are asked while they learn: of all classes in entry 0, of a class in entry label + 1."""

    def __init__(self, columns: int, classes: int, logs: bool = False) -> None:
        shape = (columns, classes + 1)
        self.classes = classes
        self.counts: IntArray = np.zeros(shape, np.int64)
        self.total, self.square = Digits(shape), Digits(shape)
        self.logs = RunningSums(columns, classes) if logs else None
        self.gaps: FloatArray = np.zeros(shape)
        self.changed: BoolArray = np.zeros(shape, np.bool_)
        self.table: FloatArray = np.zeros((3, *shape))
        self.additions = 0

    @classmethod
    def over(cls, seen: Sums) -> RunningSums:
        """Go on from sums already there."""
        builder = cls(seen.weight.shape[0], seen.classes, seen.log is not None)
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

    def add(self, values: FloatArray, label: int, sign: int) -> None:
        """Learn (1) or forget (-1) one row float64[1, columns], NaN where it lacks a column."""
        self._make_room()
        lowest, highest = self._add(values, label, sign)
        if lowest <= highest:
            self.total.reach(lowest, highest)
            self.square.reach(2 * lowest, 2 * highest)
            self._add(values, label, sign)
        if self.logs is not None:
            self.logs.add(grid_logs(values), label, sign)

    def _add(self, values: FloatArray, label: int, sign: int) -> tuple[int, int]:
        total, square = self.total, self.square
        return add_one(
            values, label + 1, sign, self.counts, total.digits, total.low, square.digits, square.low, self.changed
        )

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
        if self.changed.any():
            if self.logs is not None:
                self._round_gaps(self.logs)
            total, square = self.total, self.square
            digits = total.digits, total.low, square.digits, square.low
            round_changed(self.counts, *digits, self.changed, self.table)
        return self.table

    def blended(self, columns: IntArray, order: IntArray, prior_rows: float) -> Moments:
        """The moments of some columns in each class, with so many rows of all classes mixed in."""
        table = self.moments()
        if self.logs is not None:
            return blend(self._pool(columns, order + 1), self._pool(columns, np.zeros(1, np.int64)), prior_rows)
        out = np.empty((3, len(columns), len(order)))
        blend_columns(columns, order, table, prior_rows, out)
        return Moments(out[WEIGHT], out[MEAN], out[DEVIATION], None, table[DEVIATION, columns, :1])

    def _pool(self, columns: IntArray, entries: IntArray) -> Pool:
        where = np.ix_(columns, entries)
        weight, mean, deviation = (plane[where] for plane in self.table)
        return Pool(weight, mean, deviation, self.gaps[where])

    def _round_gaps(self, logs: RunningSums) -> None:
        """Note how far the mean of the logarithms lies below the logarithm of the mean, where sums have changed."""
        for column, entry in np.argwhere(self.changed).tolist():
            weight = int(self.counts[column, entry])
            total, total_bits = whole_number(self.total, column, entry)
            log, log_bits = whole_number(logs.total, column, entry)
            self.gaps[column, entry] = log_gap(total, weight << total_bits, log, weight << log_bits)

    def freeze(self) -> Sums:
        """The sums of each class."""
        return self.only(np.arange(self.classes))

    def only(self, labels: IntArray) -> Sums:
        """The sums of some classes."""
        digits = [self.total, self.square, *([] if self.logs is None else [self.logs.total])]
        weight = ExactSums.of(self.counts[:, labels + 1].astype(np.float64))
        return Sums(weight, *(part.freeze().take(labels + 1, axis=1) for part in digits))


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


class LiveDensity(Live):
    """Any family of one number at a time; the moments of a (column, class) are rounded anew only after it changed."""

    family: Density
    builder: RunningSums

    def builder_over(self, seen: Sums) -> RunningSums:
        return RunningSums.over(seen)

    @cached_property
    def bell(self) -> Bell | None:
        return self.family.bell

    def read(self, cells: list[Cell]) -> FloatArray:
        support = self.family.support
        row = [math.nan] * len(self.columns)
        for index, name, value in cells:
            number = value if type(value) is float else number_of(value, name)
            is_real = support is REAL and math.isfinite(number)
            row[index] = number if is_real else within_support(support, number, name, self.family.name)
        return np.asarray(self.family.summed(np.array([row])))

    def learn(self, values: FloatArray, label: int) -> None:
        self.builder.add(values, label, 1)

    def refuse_missing(self, values: FloatArray, label: int, left: Tally) -> None:
        self.builder.add(values, label, -1)
        rest = self.builder.only(np.array([label]))
        self.builder.add(values, label, 1)
        rows = Tally(range(1), left.units[:, [label]], left.bits)
        refuse_impossible(self.family.impossible(rest, tuple(self.columns), rows))

    def take_away(self, values: FloatArray, label: int) -> None:
        self.builder.add(values, label, -1)

    def holds(self, index: int) -> bool:
        return bool(self.builder.counts[index, 0] > 0)

    def score(self, cells: list[Cell], order: IntArray, joint: FloatArray) -> float:
        columns, numbers = self._spoken(cells)
        if columns:
            self._add_terms(np.array(columns), np.array(numbers), order, joint)
        return float(len(columns))

    def _spoken(self, cells: list[Cell]) -> tuple[list[int], list[float]]:
        """The columns of a row that hold a number of the support, and the numbers."""
        support, columns, numbers = self.family.support, [], []
        for index, name, value in cells:
            number = value if type(value) is float else number_of(value, name)
            if math.isfinite(number) and (support is REAL or support.holds(number)):  # type: ignore[arg-type]
                columns.append(index)
                numbers.append(number)
        return columns, numbers

    def _add_terms(self, columns: IntArray, numbers: FloatArray, order: IntArray, joint: FloatArray) -> None:
        """Add what numbers in some columns say into joint[class]."""
        family, bell, prior_rows = self.family, self.bell, float(self.family.smoothing)
        if bell is None:
            parameters = family.parameters(self.builder.blended(columns, order, prior_rows))
            joint[order] += family.log_density(numbers[:, None], *parameters).sum(axis=0)
            return
        if family.summed_support is LOGS:
            numbers = np.log(numbers)
            joint[order] -= numbers.sum()
        add_bells(columns, numbers, order, self.builder.moments(), prior_rows, bell.floor, bell.is_student, joint)
