"""Rows as they were before they were read, so that they can come back unchanged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from candide.data.arrays import AnyArray, IntArray


@dataclass(frozen=True)
class OriginalRows:
    """All rows of a piece, also those that could not be read; `kept` are the places of those that could.

    `table` has their columns: of text files the text of each field, else values of unchanged type. `lines` are the
    records of a text file as they were written, as Arrow bytes without the ends of lines. Both are found when asked.
    """

    length: int
    table: Callable[[], Any]
    lines: Callable[[], Any] | None = None
    kept: IntArray | None = None

    @property
    def indices(self) -> IntArray:
        """Which of the rows could be read, in order."""
        return np.arange(self.length) if self.kept is None else self.kept

    @property
    def is_whole(self) -> bool:
        """Whether all rows could be read."""
        return self.kept is None or len(self.kept) == self.length

    def take(self, wanted: slice | AnyArray) -> OriginalRows:
        """The same with fewer rows that count as read."""
        return replace(self, kept=self.indices[wanted])

    def where(self, wanted: AnyArray) -> OriginalRows:
        """The same without some of the rows that were read, as if they had never been there."""
        stays = np.ones(self.length, dtype=bool)
        stays[self.indices[~wanted]] = False
        rows = np.flatnonzero(stays)
        return OriginalRows(
            len(rows),
            _taking(self.table, rows),
            None if self.lines is None else _taking(self.lines, rows),
            np.searchsorted(rows, self.indices[wanted]),
        )

    def select(self, names: Sequence[str]) -> OriginalRows:
        """The same with some of the columns, so that no line is what it was."""
        return replace(self, table=lambda: _selected(self.table(), names), lines=None)


def _taking(found: Callable[[], Any], rows: IntArray) -> Callable[[], Any]:
    def taken() -> Any:
        values = found()
        return None if values is None else values.take(pa.array(rows))

    return taken


def _selected(table: Any, names: Sequence[str]) -> Any:
    """The columns of these names, also where a name is that of a part: `price.net` is in `price`."""
    if table is None:
        return None
    return table.select([n for n in table.column_names if any(f"{name}.".startswith(f"{n}.") for name in names)])
