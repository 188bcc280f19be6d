"""Densities in a stream: exact sums as Python's whole numbers, rounded only where a row has changed them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Self

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.families.base.density import Density, Pool
from candide.model.summary import refuse_impossible
from candide.statistics.logarithms import log_gap
from candide.statistics.moments import MomentsBuilder
from candide.statistics.sums import Sums, SumsBuilder, grid_logs
from candide.statistics.tally import Tally
from candide.statistics.whole_sums import LIGHTEST_BITS, WholeSums, root_ratio, true_ratio
from candide.stream.cells import number_of, within_support
from candide.stream.live import Cell, Live

MOST_WAITING = 4096


class Entry:
    """The exact sums of one column in one class: weight, and total, square and logs times a power of two."""

    __slots__ = ("bits", "log", "log_bits", "rounded", "square", "total", "weight")

    def __init__(self, weight: int = 0, total: int = 0, square: int = 0, bits: int = 0) -> None:
        self.weight, self.total, self.square, self.bits = weight, total, square, bits
        self.log = self.log_bits = 0
        self.rounded: tuple[float, float, float, float] | None = None

    def add(self, value: float, log: float, sign: int) -> None:
        """Add a number and its logarithm, or take them away."""
        number, scale = value.as_integer_ratio()
        number *= 1 << self._lowered(scale.bit_length() - 1)
        self.weight += sign
        self.total += sign * number
        self.square += sign * number * number
        if log:
            self._add_log(sign, *log.as_integer_ratio())
        self.rounded = None

    def _lowered(self, bits: int) -> int:
        """See to it that the unit divides 2^-bits; how far the number must still be shifted."""
        if bits > self.bits:
            self.total <<= bits - self.bits
            self.square <<= 2 * (bits - self.bits)
            self.bits = bits
        return self.bits - bits

    def _add_log(self, sign: int, number: int, scale: int) -> None:
        bits = scale.bit_length() - 1
        if bits > self.log_bits:
            self.log <<= bits - self.log_bits
            self.log_bits = bits
        self.log += sign * (number << (self.log_bits - bits))

    def merge(self, other: Entry) -> None:
        """Add the sums of another class."""
        shift = self._lowered(other.bits)
        self.weight += other.weight
        self.total += other.total << shift
        self.square += other.square << (2 * shift)
        self._add_log(1, other.log, 1 << other.log_bits)

    def without(self, value: float, log: float) -> Entry:
        """What would be left without a number."""
        rest = Entry(self.weight, self.total, self.square, self.bits)
        rest.log, rest.log_bits = self.log, self.log_bits
        rest.add(value, log, -1)
        return rest

    def whole(self, logs: bool) -> WholeSums:
        """The same sums in the form in which they are judged."""
        weight, total, square = (part << LIGHTEST_BITS for part in (self.weight, self.total, self.square))
        whole = WholeSums(weight, total, square, self.bits, 1 << LIGHTEST_BITS)
        return replace(whole, log=self.log << LIGHTEST_BITS, log_bits=self.log_bits) if logs else whole

    def moments(self, logs: bool) -> tuple[float, float, float, float]:
        """Weight, mean, standard deviation and gap of logarithms, each rounded once; kept until something is added."""
        if self.rounded is None:
            weight = self.weight
            spread = weight * self.square - self.total * self.total
            self.rounded = (
                float(weight),
                true_ratio(self.total, weight << self.bits),
                root_ratio(spread, (weight * weight) << (2 * self.bits)),
                log_gap(self.total, weight << self.bits, self.log, weight << self.log_bits) if logs else 0.0,
            )
        return self.rounded


class RunningSums(SumsBuilder):
    """Sums in the making that are asked while they learn.

    Rows wait in a list until the sums are frozen; until then the whole numbers of each (column, class) answer.
    """

    def __init__(self, columns: int, classes: int, logs: bool = False) -> None:
        super().__init__(columns, classes, logs)
        self.entries: list[list[Entry]] = [[Entry() for _ in range(classes)] for _ in range(columns)]
        self.overall = [Entry() for _ in range(columns)]
        self.learned: list[tuple[FloatArray, int]] = []
        self.forgotten: list[tuple[FloatArray, int]] = []

    @classmethod
    def over(cls, seen: Sums) -> Self:
        builder = cls(seen.weight.shape[0], seen.classes, seen.log is not None)
        builder.settled = seen
        for column, entries in enumerate(entries_of(seen)):
            builder.entries[column] = entries
            for entry in entries:
                builder.overall[column].merge(entry)
        return builder

    def grow(self, classes: int) -> None:
        for entries in self.entries:
            entries.extend(Entry() for _ in range(classes - len(entries)))
        super().grow(classes)

    def add(self, values: FloatArray, label: int, sign: int) -> None:
        """Learn (1) or forget (-1) one row, NaN where it lacks a column."""
        for column, value, log in self._present(values):
            self.entries[column][label].add(value, log, sign)
            self.overall[column].add(value, log, sign)
        (self.learned if sign > 0 else self.forgotten).append((values, label))
        if len(self.learned) + len(self.forgotten) > MOST_WAITING:
            self._settle()

    def without(self, values: FloatArray, label: int) -> list[WholeSums]:
        """The sums of each column in a class without one row of it."""
        entries = [line[label] for line in self.entries]
        for column, value, log in self._present(values):
            entries[column] = entries[column].without(value, log)
        return [entry.whole(self.logs is not None) for entry in entries]

    def pools(self, columns: list[int], order: list[int]) -> tuple[Pool, Pool]:
        """The moments of some columns, by class and of all classes together."""
        logs = self.logs is not None
        own = [[self.entries[column][label].moments(logs) for label in order] for column in columns]
        return pool_of(own, logs), pool_of([[self.overall[column].moments(logs)] for column in columns], logs)

    def freeze(self) -> Sums:
        self._settle()
        return super().freeze()

    def _present(self, values: FloatArray) -> list[tuple[int, float, float]]:
        numbers = values.tolist()
        logs = grid_logs(values[None, :])[0].tolist() if self.logs is not None else [0.0] * len(numbers)
        return [
            (column, number, log)
            for column, (number, log) in enumerate(zip(numbers, logs, strict=True))
            if number == number
        ]

    def _settle(self) -> None:
        """Bring the rows that wait into the sums."""
        learned, forgotten, self.learned, self.forgotten = self.learned, self.forgotten, [], []
        if learned:
            super().learn(*stacked(learned), None)
        if forgotten:
            values, labels = stacked(forgotten)
            self.settled = super().freeze() - Sums.of(values, labels, self.classes, logs=self.logs is not None)
            self.numbers = MomentsBuilder(self.columns, self.classes)
            self.logs = None if self.logs is None else MomentsBuilder(self.columns, self.classes)


def pool_of(moments: list[list[tuple[float, float, float, float]]], logs: bool) -> Pool:
    """The moments of each [column][class] as arrays."""
    table = np.array(moments)
    return Pool(table[:, :, 0], table[:, :, 1], table[:, :, 2], table[:, :, 3] if logs else None)


def stacked(rows: list[tuple[FloatArray, int]]) -> tuple[FloatArray, IntArray]:
    """Rows and their labels as arrays."""
    return np.array([values for values, _ in rows]), np.array([label for _, label in rows], dtype=np.int64)


def entries_of(seen: Sums) -> list[list[Entry]]:
    """The exact sums of each [column][class] as whole numbers."""
    weights, weight_exponent = seen.weight.integers()
    totals, total_exponent = seen.total.integers()
    squares, square_exponent = seen.square.integers()
    bits = max(0, -total_exponent, -(square_exponent // 2))
    columns = []
    for column in range(seen.weight.shape[0]):
        entries = [
            Entry(
                int(weights[column, label]) << weight_exponent,
                int(totals[column, label]) << (bits + total_exponent),
                int(squares[column, label]) << (2 * bits + square_exponent),
                bits,
            )
            for label in range(seen.classes)
        ]
        columns.append(entries)
    if seen.log is not None:
        logs, log_exponent = seen.log.integers()
        for column, entries in enumerate(columns):
            for label, entry in enumerate(entries):
                entry.log_bits = max(0, -log_exponent)
                entry.log = int(logs[column, label]) << (entry.log_bits + log_exponent)
    return columns


class LiveDensity(Live):
    """Any family of one number at a time; the moments of a (column, class) are rounded anew only after it changed."""

    family: Density
    builder: RunningSums

    def builder_over(self, seen: Sums) -> RunningSums:
        return RunningSums.over(seen)

    def read(self, cells: list[Cell]) -> FloatArray:
        support, family = self.family.support, self.family.name
        row = np.full((1, len(self.columns)), np.nan)
        for index, name, value in cells:
            row[0, index] = within_support(support, number_of(value, name), name, family)
        return np.asarray(self.family.summed(row)[0])

    def learn(self, values: FloatArray, label: int) -> None:
        self.builder.add(values, label, 1)

    def refuse_missing(self, values: FloatArray, label: int, left: Tally) -> None:
        rows = int(left.units[0, label])
        for name, sums in zip(self.columns, self.builder.without(values, label), strict=True):
            if not self.family.could_leave(sums, rows, left.bits):
                refuse_impossible(f"sums of '{name}' that no rows have")

    def take_away(self, values: FloatArray, label: int) -> None:
        self.builder.add(values, label, -1)

    def holds(self, index: int) -> bool:
        return self.builder.overall[index].weight > 0

    def score(self, cells: list[Cell], order: IntArray, joint: FloatArray) -> float:
        holds = self.family.support.holds
        numbers = [(index, number_of(value, name)) for index, name, value in cells]
        spoken = [cell for cell in numbers if math.isfinite(cell[1]) and holds(cell[1])]  # type: ignore[arg-type]
        if not spoken:
            return 0.0
        parameters = self.family.fit_pools(*self.builder.pools([index for index, _ in spoken], order.tolist()))
        joint[order] += self.family.log_density(np.array([[number] for _, number in spoken]), *parameters).sum(axis=0)
        return float(len(spoken))
