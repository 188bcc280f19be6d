"""The columns of a stream whose families are left open: rows wait, and are learned together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from candide.data.batch import Batch
from candide.data.values import is_missing
from candide.families.base.support import REAL, refusal
from candide.families.base.undecided import AUTO, Undecided
from candide.model.summary import NO_WEIGHTS
from candide.statistics.column_memory import ColumnMemory
from candide.stream.cells import category_of

MOST_WAITING = 1024
Row = dict[str, Any]


def refuse_unreadable(row: Mapping[str, Any]) -> None:
    """Raise where a row holds what no column can: an infinite number, or something that is no single value."""
    for name, value in row.items():
        if isinstance(value, float) and math.isinf(value):
            raise refusal(name, AUTO, REAL.needs, 0, value)
        if not isinstance(value, (float, int, str)):
            category_of(value, name)


class OpenColumns:
    """What is remembered of open columns, and the rows that it has yet to learn; classes are numbered as in the stream.

    Families are read off what is frozen; between two readings the blocks of a stream answer by themselves.
    """

    def __init__(self, family: Undecided, columns: Sequence[str], seen: ColumnMemory) -> None:
        self.family = family
        self.columns = list(columns)
        self.settled = seen
        self.waiting: list[tuple[Row, int]] = []

    def taken(self, row: Mapping[str, Any]) -> Row:
        """The values of a row in these columns, missing ones left out."""
        return {name: row[name] for name in self.columns if name in row and not is_missing(row[name])}

    def learn(self, values: Row, label: int) -> None:
        """Let a row wait to be learned."""
        self.waiting.append((values, label))
        if len(self.waiting) >= MOST_WAITING:
            self.freeze(self.settled.classes)

    def without(self, values: Row, label: int, classes: int) -> ColumnMemory:
        """What is left without a row that was learned; refused where it cannot have been."""
        return self.freeze(classes) - self._of([(values, label)], classes)

    def freeze(self, classes: int) -> ColumnMemory:
        """All that was learned, for so many classes."""
        waiting, self.waiting = self.waiting, []
        classes = max([classes, self.settled.classes, *(label + 1 for _, label in waiting)])
        if classes > self.settled.classes:
            self.settled = self.settled.spread(np.arange(self.settled.classes), classes)
        if waiting:
            self.settled = self.settled + self._of(waiting, classes)
        return self.settled

    def widen(self, columns: Sequence[str]) -> None:
        """Take in more columns, which no row had so far."""
        seen = self.freeze(self.settled.classes)
        self.settled = seen.widened(self.columns, [*self.columns, *columns])
        self.columns += columns

    def narrow(self, columns: Sequence[str]) -> None:
        """Keep only these columns."""
        self.settled = self.freeze(self.settled.classes).narrowed(self.columns, columns)
        self.columns = list(columns)

    def _of(self, rows: Sequence[tuple[Row, int]], classes: int) -> ColumnMemory:
        columns = tuple(self.columns)
        batch = Batch.of({name: [values.get(name) for values, _ in rows] for name in columns})
        builder = self.family.builder(columns, classes)
        labels = np.array([label for _, label in rows], dtype=np.int64)
        self.family.learn(builder, self.family.read(batch, columns), labels, NO_WEIGHTS)
        return builder.freeze()
