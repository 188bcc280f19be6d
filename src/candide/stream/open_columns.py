"""The columns of a stream whose families are left open: rows wait, and are learned and forgotten together."""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from candide.data.arrays import IntArray
from candide.data.batch import Batch
from candide.data.cached import cached_property
from candide.data.errors import ForgetRefused
from candide.data.values import is_missing
from candide.families.base.support import REAL, refusal
from candide.families.base.undecided import AUTO, Undecided
from candide.model.summary import NO_WEIGHTS, refuse_impossible
from candide.statistics.cells import FINEST_LEVEL, Cells
from candide.statistics.column_memory import ColumnMemory
from candide.stream.cells import category_of, number_of
from candide.stream.live_sums import are_floats
from candide.stream.live_tallies import NEVER_LEARNED

MOST_WAITING, FEW_VALUES, LARGEST = 1024, 1 << 14, 2**63 - 1
INFINITE_KEYS = (("number", math.inf), ("number", -math.inf))
Row = dict[str, Any]
Slot = tuple[Any, ...]
"""A column with the cell of a number, or with the key of another value."""


def held_values(row: Mapping[str, Any]) -> Row:
    """The values of a row that are not missing; raises where one is infinite, or is no single value."""
    if are_floats(row.values()) and math.isfinite(sum(row.values())):
        return {**row}
    values = {}
    for name, value in row.items():
        kind = type(value)
        if kind is not str and (kind is not float or not math.isfinite(value)):
            if is_infinite(value, name):
                raise refusal(name, AUTO, REAL.needs, 0, math.inf)
            if is_missing(value):
                continue
        values[name] = value
    return values


def is_infinite(value: Any, name: str) -> bool:
    """Whether a value is an infinite number, however it is written."""
    if isinstance(value, (float, int)):
        return math.isinf(number_of(value, name))
    return category_of(value, name) in INFINITE_KEYS


class Settled:
    """What was learned for good, and how often each slot occurs in it."""

    def __init__(self, seen: ColumnMemory, columns: Sequence[str]) -> None:
        self.seen = seen
        self.cells: dict[str, Cells] = dict(zip(columns, seen.cells, strict=True))

    @cached_property
    def lines(self) -> dict[Slot, int]:
        """Where values that are no numbers are counted."""
        return {slot: line for line, slot in enumerate(self.seen.others.open_slots)}

    @cached_property
    def totals(self) -> dict[str, IntArray]:
        """How many values each column has in each class, in the units of a row."""
        others = self.seen.others
        found = {name: cells.units.sum(axis=0) >> cells.bits for name, cells in self.cells.items()}
        for slot, units in zip(others.open_slots, others.units, strict=True):
            found[slot[0]] = found[slot[0]] + (units >> others.bits)
        return found

    def slot(self, name: str, value: Any) -> Slot:
        """The slot of a value."""
        key = category_of(value, name)
        if key is None or key[0] not in ("number", "time") or (name, *key) in self.lines:
            return (name, *(key or ()))
        (bits,) = struct.unpack("<q", struct.pack("<d", number_of(value, name) + 0.0))
        key = bits ^ ((bits >> 63) & LARGEST)  # `kernels.cells.ordered`, which is slower to call for a single number
        return name, key >> (FINEST_LEVEL - self.cells[name].level)

    def times(self, slot: Slot, label: int) -> int:
        """How often a slot was learned with a class."""
        if label >= self.seen.classes:
            return 0
        if len(slot) == 2:
            cells = self.cells[slot[0]]
            line = int(np.searchsorted(cells.cells, slot[1]))
            there = line < len(cells) and cells.cells[line] == slot[1]
            return int(cells.units[line, label]) >> cells.bits if there else 0
        line = self.lines.get(slot, -1)
        return int(self.seen.others.units[line, label]) >> self.seen.others.bits if line >= 0 else 0


class OpenColumns:
    """What is remembered of open columns, and the rows that it has yet to learn or forget.

    Classes are numbered as in the stream. Families are read off what is frozen; between two readings the blocks of a
    stream answer by themselves, which learn the rows that wait once somebody asks: `passed` rows wait no more.
    """

    def __init__(self, family: Undecided, columns: Sequence[str], seen: ColumnMemory) -> None:
        self.family = family
        self.columns = list(columns)
        self.passed = 0
        self.learned: list[tuple[Row, int]] = []
        self._settle(seen)

    def _settle(self, seen: ColumnMemory) -> None:
        """Go on from what is remembered, with no row waiting."""
        self.settled = Settled(seen, self.columns)
        self.passed += len(self.learned)
        self.learned = []
        self.forgotten: list[tuple[Row, int]] = []
        self.changes: Counter[tuple[Slot, int]] | None = None

    def taken(self, values: Row) -> Row:
        """Those values of a row that are in these columns."""
        return {name: value for name, value in values.items() if name in self.settled.cells}

    @property
    def is_full(self) -> bool:
        """Whether no more rows should wait to be learned: more may where they have few values."""
        waiting = len(self.learned)
        return waiting >= MOST_WAITING and waiting * len(self.columns) >= FEW_VALUES

    @property
    def rows(self) -> int:
        """How many rows were learned."""
        return self.passed + len(self.learned)

    def learn(self, values: Row, label: int) -> None:
        """Let a row wait to be learned."""
        self.learned.append((values, label))
        if self.changes is not None:
            self._change(values, label, 1)

    def refuse_missing(self, values: Row, label: int, rows: int) -> None:
        """Raise where a row cannot have been learned; without it there are so many rows of its class left."""
        changes = self._changes()
        for name, value in values.items():
            slot = self.settled.slot(name, value)
            if self.settled.times(slot, label) + changes[slot, label] < 1:
                raise ForgetRefused(NEVER_LEARNED)
        for name in self.columns:
            held = self.settled.totals[name]
            total = (int(held[label]) if label < len(held) else 0) + changes[(name,), label] - (name in values)
            if total > rows:
                refuse_impossible(f"more values of '{name}' than rows")

    def forget(self, values: Row, label: int) -> None:
        """Let a row wait to be forgotten that `refuse_missing` let pass."""
        self._change(values, label, -1)
        self.forgotten.append((values, label))
        if len(self.forgotten) >= MOST_WAITING:
            self.freeze(self.settled.seen.classes)

    def _changes(self) -> Counter[tuple[Slot, int]]:
        """How often slots were learned since, less how often they were forgotten: counted once somebody forgets."""
        if self.changes is None:
            self.changes = Counter()
            for values, label in self.learned:
                self._change(values, label, 1)
        return self.changes

    def _change(self, values: Row, label: int, by: int) -> None:
        changes = self._changes()
        for name, value in values.items():
            changes[self.settled.slot(name, value), label] += by
            changes[(name,), label] += by

    def freeze(self, classes: int) -> ColumnMemory:
        """All that was learned and not forgotten, for so many classes."""
        seen, waiting = self.settled.seen, [*self.learned, *self.forgotten]
        classes = max([classes, seen.classes, *(label + 1 for _, label in waiting)])
        if classes > seen.classes:
            seen = seen.spread(np.arange(seen.classes), classes)
        if self.learned:
            seen = seen + self._of(self.learned, classes)
        if self.forgotten:
            seen = seen - self._of(self.forgotten, classes)
        if seen is not self.settled.seen:
            self._settle(seen)
        return seen

    def widen(self, columns: Sequence[str]) -> None:
        """Take in more columns, which no row had so far."""
        seen = self.freeze(self.settled.seen.classes).widened(self.columns, [*self.columns, *columns])
        self.columns += columns
        self._settle(seen)

    def narrow(self, columns: Sequence[str]) -> None:
        """Keep only these columns."""
        seen = self.freeze(self.settled.seen.classes).narrowed(self.columns, columns)
        self.columns = list(columns)
        self._settle(seen)

    def _of(self, rows: Sequence[tuple[Row, int]], classes: int) -> ColumnMemory:
        columns = tuple(self.columns)
        batch = Batch.of({name: [values.get(name) for values, _ in rows] for name in columns})
        builder = self.family.counting_like(self.settled.seen).builder(columns, classes)
        labels = np.array([label for _, label in rows], dtype=np.int64)
        self.family.learn(builder, self.family.read(batch, columns), labels, NO_WEIGHTS)
        return builder.freeze()
