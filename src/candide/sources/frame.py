"""A frame whose rows lie in the parts of a cluster: what is known of it here, and how a part is read there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from candide.data.batch import Batch
from candide.sources.memory import MemorySource
from candide.sources.opening import open_source
from candide.sources.rejects import Place
from candide.sources.source import Report, Size


@dataclass
class FrameSource(MemorySource):
    """Rows of a frame of a cluster. `bring` has its parts come here, one by one, for work that is done here."""

    frame: Any = None
    bring: Callable[[], Iterator[Any]] | None = None
    number_of_parts: int | None = None
    part: int | None = None

    @classmethod
    def of_frame(
        cls, frame: Any, bring: Callable[[], Iterator[Any]], some: Any, options: dict[str, Any], parts: int | None
    ) -> FrameSource:
        """A frame by some of its rows, or none, that have its columns; `options` are those of `open_source`."""
        template = open_source(in_memory(some), **options)
        return cls(**vars(template) | {"frame": frame, "bring": bring, "name": "The frame", "number_of_parts": parts})

    def unattached(self) -> FrameSource:
        """How the parts are read, as it can be sent to them."""
        source = copy(self)
        source.frame, source.bring, source.passes, source.may_be_empty = None, None, [], True
        return source

    def of_part(self, table: Any, number: int) -> FrameSource:
        """The rows of one part, read as all are."""
        part = self.unattached()
        part.batch = Batch.of(in_memory(table))
        part.columns, part.part = part.batch.names, number
        part.narrow(self.selection)
        return part

    @property
    def size(self) -> Size:
        return Size(self.number_of_parts, "parts")

    def place(self, row: int) -> Place:
        return Place(f"Part {self.part} of the frame", "row", row + 1)

    def batches(self, report: Report | None = None) -> Iterator[Batch]:
        if self.bring is None:
            yield from super().batches(report)
            return
        rows = 0
        for number, table in enumerate(self.bring(), start=1):
            for batch in self.of_part(table, number).batches():
                rows += len(batch)
                yield batch
            if report is not None:
                report(1)
        self.refuse_nothing_left(rows)

    def describe(self) -> dict[str, Any]:
        return {"format": "frame", "label": self.label}


def in_memory(rows: Any) -> Any:
    """Rows of a part: a frame as it is, a sequence of objects as a table."""
    return pa.Table.from_pylist(list(rows)) if isinstance(rows, (list, tuple)) else rows
