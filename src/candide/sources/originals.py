"""Rows as they were before they were read, so that they can come back unchanged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from candide.arrays import AnyArray, IntArray


@dataclass(frozen=True)
class Original:
    """All rows of a piece, also those that could not be read; `kept` are the places of those that could.

    `table` has their columns: of text files the text of each field, else values of unchanged type. `lines` are the
    records of a text file as they were written, as Arrow bytes without the ends of lines. Both are found when asked.
    """

    length: int
    table: Callable[[], Any]
    lines: Callable[[], Any] | None = None
    kept: IntArray | None = None

    @property
    def places(self) -> IntArray:
        """Which of the rows could be read, in order."""
        return np.arange(self.length) if self.kept is None else self.kept

    @property
    def is_whole(self) -> bool:
        """Whether all rows could be read."""
        return self.kept is None or len(self.kept) == self.length

    def take(self, wanted: slice | AnyArray) -> Original:
        """The same with fewer rows that count as read."""
        return replace(self, kept=self.places[wanted])
