"""A frame or an array that is in memory already, as a source like any other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from candide.data.arrays import BoolArray
from candide.data.batch import Batch
from candide.data.values import Coded
from candide.sources.rejects import NO_LABEL, Place, Reject
from candide.sources.selection import Selection
from candide.sources.source import BATCH_ROWS, Piece, Report, Size, Source


@dataclass
class MemorySource(Source):
    """Rows that need no reading; batches share their memory."""

    batch: Batch = field(kw_only=True)
    batch_rows: int = BATCH_ROWS
    wanted: BoolArray | None = None
    """Which of the rows that were given are among the batches, where not all need be."""

    @classmethod
    def of(cls, X: Any, batch_rows: int = BATCH_ROWS) -> MemorySource:
        """Take what `Batch.of` takes."""
        batch = Batch.of(X)
        return cls(columns=batch.names, name="The table in memory", batch=batch, batch_rows=batch_rows)

    @property
    def size(self) -> Size:
        return Size(len(self.batch), "rows")

    def pieces(self) -> Iterator[Piece]:
        raise NotImplementedError("rows in memory are batches already")

    def batches(self, report: Report | None = None) -> Iterator[Batch]:
        """The rows, a part at a time."""
        self.rejects.begin()
        rows = 0
        for part in self._labelled_batch().split(self.batch_rows):
            rows += len(part)
            if report is not None:
                report(len(part))
            yield part
        self.rejects.end()
        self.refuse_nothing_left(rows)

    def narrow(self, selection: Selection) -> None:
        super().narrow(selection)
        if (where := selection.where) is not None:
            index_of = {name: index for index, name in enumerate(self.batch.names)}
            self.wanted = where.holds(len(self.batch), lambda name: self.batch.columns.raw(index_of[name]), self.name)
            self.unwanted = len(self.batch) - int(self.wanted.sum())
            self.batch = self.batch.take(np.flatnonzero(self.wanted))
        if selection.columns is not None:
            self.batch = self.batch.only(self.columns)

    def place(self, row: int) -> Place:
        """Where a row is."""
        return Place("table", "row", row + 1)

    def describe(self) -> dict[str, Any]:
        return {"format": "memory", "rows": len(self.batch), "label": self.label}

    def _labelled_batch(self) -> Batch:
        if self.label is None or self.label not in self.columns:
            return self.batch
        features = self.batch.only(self.names)
        if not self.labelled:
            return features
        labels = Coded.of(self.batch.columns.raw(self.batch.position(self.label)))
        missing = np.flatnonzero((labels.codes < 0) & (not self.keeps_unlabelled))
        if len(missing):
            reason = f"the row has no label in column '{self.label}'."
            self.rejects.add([Reject(self.place(int(row)), reason, NO_LABEL) for row in missing])
        kept = replace(features, labels=labels)
        return kept.take(np.flatnonzero(labels.codes >= 0)) if len(missing) else kept
