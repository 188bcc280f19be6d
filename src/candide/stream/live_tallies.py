"""Categories, truth values and counts in a stream: a row touches its own slots, for every class."""

from __future__ import annotations

from typing import Any

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.data.errors import ForgetRefused
from candide.families.base.events import Events
from candide.families.base.identity import MISSING_VALUE
from candide.families.base.smoothing import log_share
from candide.families.base.support import COUNTS, TRUTHS
from candide.families.categorical import Categorical
from candide.kernels.shares import add_log_shares
from candide.model.summary import NO_WEIGHTS, refuse_impossible
from candide.statistics.tally import Tally, TallyBuilder
from candide.stream.cells import category_of, number_of, within_support
from candide.stream.live import FEW_SLOTS, Cell, Live

NEVER_LEARNED = "Some of the values to forget were never learned with that label. Forget only rows that were learned."
Slot = tuple[str, str, object]


class LiveCategories(Live):
    """Categories: beside the tally, each column's total in each class and how many different values it has."""

    family: Categorical
    builder: TallyBuilder

    def builder_over(self, seen: Tally) -> TallyBuilder:
        builder = TallyBuilder.over(seen)
        self.reads_missing = self.family.missing_is_value
        self.positions = {name: index for index, name in enumerate(self.columns)}
        self.totals = np.zeros((len(self.columns), builder.table.shape[1]), dtype=np.int64)
        self.different = np.zeros(len(self.columns))
        self.seen: list[float] = seen.counts.sum(axis=1).tolist()
        for slot, index in builder.index_of.items():
            self.totals[self.positions[slot[0]]] += builder.table[index]
            self.different[self.positions[slot[0]]] += 1
        return builder

    def grow(self, classes: int) -> None:
        super().grow(classes)
        width = self.builder.table.shape[1]
        if width > self.totals.shape[1]:
            self.totals = np.pad(self.totals, ((0, 0), (0, width - self.totals.shape[1])))

    def widen(self, columns: list[str]) -> None:
        self.columns = [*self.columns, *columns]
        self.positions.update({name: index for index, name in enumerate(self.columns)})
        self.totals = np.pad(self.totals, ((0, len(columns)), (0, 0)))
        self.different = np.pad(self.different, (0, len(columns)))

    def read(self, cells: list[Cell]) -> list[tuple[int, Slot]]:
        self.builder.reserve(1, NO_WEIGHTS)
        return self._slots(cells)

    def _slots(self, cells: list[Cell]) -> list[tuple[int, Slot]]:
        keys = [(index, name, category_of(value, name)) for index, name, value in cells]
        if self.family.missing_is_value:
            absent = set(self.columns) - {name for _, name, _ in cells}
            keys += [(self.positions[name], name, None) for name in absent]
            keys = [(index, name, MISSING_VALUE if key is None else key) for index, name, key in keys]
        return [(index, (name, *key)) for index, name, key in keys if key is not None]

    def learn(self, values: list[tuple[int, Slot]], label: int) -> None:
        builder = self.builder
        for column, slot in values:
            index = builder.index_of.get(slot)
            if index is None:
                index = int(builder.indices_for([slot])[0])
                self.seen.append(0)
            if not self.seen[index]:
                self.different[column] += 1
            self.seen[index] += self.weight
            builder.table[index, label] += self.weight
            self.totals[column, label] += self.weight

    def refuse_missing(self, values: list[tuple[int, Slot]], label: int, left: Tally) -> None:
        builder, totals = self.builder, self.totals[:, label].copy()
        for column, slot in values:
            index = builder.index_of.get(slot)
            if index is None or builder.table[index, label] < 1:
                raise ForgetRefused(NEVER_LEARNED)
            totals[column] -= 1
        refuse_more_than_rows(totals, left.counts[0, label], self.columns)

    def take_away(self, values: list[tuple[int, Slot]], label: int) -> None:
        for column, slot in values:
            index = self.builder.index_of[slot]
            self.builder.table[index, label] -= 1
            self.totals[column, label] -= 1
            self.seen[index] -= 1
            if not self.seen[index]:
                self.different[column] -= 1

    def is_sparse(self) -> bool:
        return self.builder.given > 2 * self.different.sum() + FEW_SLOTS

    def holds(self, index: int) -> bool:
        missing = self.builder.index_of.get((self.columns[index], *MISSING_VALUE), -1)
        return bool(self.different[index] > (missing >= 0 and self.seen[missing] > 0))

    def score(self, cells: list[Cell], order: IntArray, joint: FloatArray) -> float:
        spoken = [(column, self.builder.index_of.get(slot, -1)) for column, slot in self._slots(cells)]
        spoken = [(column, index) for column, index in spoken if index >= 0 and self.seen[index]]
        if not spoken:
            return 0.0
        columns, slots = np.array([column for column, _ in spoken]), np.array([index for _, index in spoken])
        table, smoothing = self.builder.table, float(self.family.smoothing)
        add_log_shares(columns, slots, table, self.totals, self.different, self.scale, smoothing, joint)
        return float(len(spoken))


class LiveTruths(Live):
    """Truth values: the tally itself says everything."""

    builder: TallyBuilder

    def widen(self, columns: list[str]) -> None:
        self.builder = wider(self.builder, 2, len(self.columns), len(columns))
        self.columns = [*self.columns, *columns]

    def read(self, cells: list[Cell]) -> list[int]:
        family = self.family.name
        numbers = [
            (index, within_support(TRUTHS, number_of(value, name), name, family)) for index, name, value in cells
        ]
        self.builder.reserve(1, NO_WEIGHTS)
        return [self._row(index, number) for index, number in numbers if number == number]

    def _row(self, index: int, number: float) -> int:
        return index + len(self.columns) if number else index

    def learn(self, values: list[int], label: int) -> None:
        self.builder.table[values, label] += 1

    def refuse_missing(self, values: list[int], label: int, left: Tally) -> None:
        counts = self.builder.table[:, label].copy()
        counts[values] -= 1
        if (counts < 0).any():
            raise ForgetRefused(NEVER_LEARNED)
        refuse_more_than_rows(counts.reshape(2, -1).sum(axis=0), left.counts[0, label], self.columns)

    def take_away(self, values: list[int], label: int) -> None:
        self.builder.table[values, label] -= 1

    def holds(self, index: int) -> bool:
        return bool(self.builder.table[[index, index + len(self.columns)]].any())

    def score(self, cells: list[Cell], order: IntArray, joint: FloatArray) -> float:
        numbers = [(index, number_of(value, name)) for index, name, value in cells]
        spoken = [(self._row(index, number), index) for index, number in numbers if number in (0.0, 1.0)]
        if not spoken:
            return 0.0
        rows, indices = np.array(spoken).T
        table = self.builder.table[:, : len(joint)]
        totals = table[indices] + table[indices + len(self.columns)]
        joint += log_share(table[rows], totals, 2, self.family.smoothing).sum(axis=0)
        return float(len(spoken))


class LiveCounts(Live):
    """Counts under a multinomial or complement model: beside the tally, the total of each class."""

    family: Events[Any]
    builder: TallyBuilder

    def builder_over(self, seen: Tally) -> TallyBuilder:
        builder = TallyBuilder.over(seen)
        self.totals: IntArray = builder.table.sum(axis=0)
        return builder

    def grow(self, classes: int) -> None:
        super().grow(classes)
        self.totals = np.pad(self.totals, (0, self.builder.table.shape[1] - len(self.totals)))

    def widen(self, columns: list[str]) -> None:
        self.builder = wider(self.builder, 1, len(self.columns), len(columns))
        self.columns = [*self.columns, *columns]

    def read(self, cells: list[Cell]) -> tuple[IntArray, IntArray]:
        numbers = [within_support(COUNTS, number_of(value, name), name, self.family.name) for _, name, value in cells]
        self.builder.reserve(1, NO_WEIGHTS, max((n for n in numbers if n == n), default=0.0))
        return positive_counts([index for index, _, _ in cells], numbers)

    def learn(self, values: tuple[IntArray, IntArray], label: int) -> None:
        self._add(values[0], values[1], label)

    def refuse_missing(self, values: tuple[IntArray, IntArray], label: int, left: Tally) -> None:
        stray = left.units[0, label] == 0 and self.totals[label] != values[1].sum()
        if stray or (self.builder.table[values[0], label] < values[1]).any():
            raise ForgetRefused(NEVER_LEARNED)

    def take_away(self, values: tuple[IntArray, IntArray], label: int) -> None:
        self._add(values[0], -values[1], label)

    def holds(self, index: int) -> bool:
        return True  # a zero is as good as a missing count, so nobody can tell

    def _add(self, indices: IntArray, counts: IntArray, label: int) -> None:
        self.builder.table[indices, label] += counts
        self.totals[label] += counts.sum()

    def score(self, cells: list[Cell], order: IntArray, joint: FloatArray) -> float:
        numbers = [number_of(value, name) for _, name, value in cells]
        known = [n if COUNTS.holds(n) else 0.0 for n in numbers]  # type: ignore[arg-type]
        indices, counts = positive_counts([index for index, _, _ in cells], known)
        if not len(indices):
            return 0.0
        table, totals = self.builder.table[indices, : len(joint)], self.totals[: len(joint)]
        weights = self.family.event_weights(table, totals, len(self.columns))
        joint += (counts[:, None] * weights).sum(axis=0)
        return float(counts.sum())


def refuse_more_than_rows(totals: IntArray, rows: float, columns: list[str]) -> None:
    """Raise where a column would have more values in a class than the class has rows."""
    if (totals > rows).any():
        refuse_impossible(f"more values of '{columns[int(np.argmax(totals))]}' than rows")


def positive_counts(indices: list[int], numbers: list[float]) -> tuple[IntArray, IntArray]:
    """The places that hold a count above zero, with it."""
    pairs = [(index, int(number)) for index, number in zip(indices, numbers, strict=True) if number > 0]
    return (
        np.array([index for index, _ in pairs], dtype=np.int64),
        np.array([count for _, count in pairs], dtype=np.int64),
    )


def wider(builder: TallyBuilder, groups: int, before: int, more: int) -> TallyBuilder:
    """The same counts with columns added at the end of each of the groups that slots come in."""
    after = before + more
    table = np.zeros((groups, after, builder.table.shape[1]), dtype=np.int64)
    table[:, :before] = builder.table[: groups * before].reshape(groups, before, -1)
    larger = TallyBuilder(range(groups * after), builder.classes)
    larger.table, larger.count_bound = table.reshape(groups * after, -1), builder.count_bound
    return larger
