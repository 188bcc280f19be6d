"""Rows as one block sees them: read once, then parted and asked about as often as one likes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple

from candide.data.arrays import AnyArray, IntArray
from candide.data.batch import Batch
from candide.families.base.core import Core, V


class Learned(NamedTuple):
    """Which of some rows are learned, and as what: a row may be learned in parts, as several classes."""

    positions: IntArray
    labels: IntArray
    weights: AnyArray
    """As in a summary: on the grid, and none where all are one."""

    def first(self, rows: int) -> Learned:
        """The first so many."""
        return Learned(self.positions[:rows], self.labels[:rows], self.weights[:rows])


@dataclass(frozen=True, eq=False)
class BlockRows(Generic[V]):
    """Labelled rows with the values of one block."""

    values: V
    """What the family's `view` gives."""
    labels: IntArray
    """The class number of each row."""
    weights: AnyArray
    """The weight of each row; empty where all are one."""
    batch: Batch | None = None
    """Where values are read again that the family cannot part."""

    @classmethod
    def of(
        cls, family: Core[Any, Any, V, Any], columns: tuple[str, ...], batch: Batch, labels: IntArray, weights: AnyArray
    ) -> BlockRows[V]:
        """The rows of a batch."""
        return cls(family.view(batch, columns), labels, weights, batch)

    def __len__(self) -> int:
        return len(self.labels)

    def learned(self, family: Core[Any, Any, V, Any], columns: tuple[str, ...], some: Learned) -> BlockRows[V]:
        """Some of the rows, as they are learned."""
        return replace(self.take(family, columns, some.positions), labels=some.labels, weights=some.weights)

    def take(self, family: Core[Any, Any, V, Any], columns: tuple[str, ...], wanted: slice | IntArray) -> BlockRows[V]:
        """Some of the rows."""
        labels, weights = self.labels[wanted], self.weights[wanted] if self.weights.size else self.weights
        values = family.values_at(self.values, wanted)
        if values is not None:
            return BlockRows(values, labels, weights)
        assert self.batch is not None
        some = self.batch.rows(wanted.start, wanted.stop) if isinstance(wanted, slice) else self.batch.take(wanted)
        return BlockRows.of(family, columns, some, labels, weights)
