"""The few bins of a column that a pair tells apart: numbers between edges, other values in groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from candide.data.arrays import IntArray
from candide.data.batch import Batch
from candide.data.values import Coded, shown
from candide.families.base.basis import short_number
from candide.families.base.column_values import ColumnValues
from candide.families.base.identity import MISSING_VALUE


@dataclass(frozen=True)
class ColumnBins:
    """Numbers fall between edges, an edge belonging to the bin above it; of other values each group is a bin.

    Written down once, so that rows counted at any time fall into the same bins. A value in no group, and a number where
    there are no edges, is in none.

    >>> ColumnBins("size", edges=(2.5, 10.0)).bins, ColumnBins("colour", groups=((("text", "red"),),)).bins
    (3, 1)
    """

    column: str
    edges: tuple[Any, ...] = ()
    groups: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", tuple(map(float, self.edges)))
        object.__setattr__(self, "groups", tuple(tuple(tuple(key) for key in group) for group in self.groups))

    def describe(self) -> dict[str, Any]:
        """The bins as plain data."""
        groups = [[[kind, repr(value)] for kind, value in group] for group in self.groups]
        return {"column": self.column, "edges": list(self.edges), "groups": groups}

    @property
    def bins(self) -> int:
        """How many bins there are."""
        return self.of_numbers + len(self.groups)

    @property
    def of_numbers(self) -> int:
        """How many of them hold numbers."""
        return len(self.edges) + 1 if self.edges else 0

    def of_rows(self, batch: Batch, missing_is_value: bool) -> IntArray:
        """The bin of each row, -1 where there is none: looked up once for all pairs, where the batch keeps it."""

        def read() -> IntArray:
            return self.codes(ColumnValues.of(batch, (self.column,), missing_is_value).without_infinite(), 0)

        return batch.once(("bins", self, missing_is_value), read)

    def codes(self, values: ColumnValues, index: int) -> IntArray:
        """The bin of each row, where the column is at this place of those that were read; -1 where there is none."""
        numbers, found = values.numbers[:, index], np.full(len(values.numbers), -1)
        if self.edges:
            found = np.where(np.isnan(numbers), -1, np.searchsorted(np.array(self.edges), numbers, side="right"))
        for name, coded in values.others:
            if name == self.column:
                found = np.where(found < 0, self._codes_of_groups(coded), found)
        return found

    def _codes_of_groups(self, coded: Coded) -> IntArray:
        bin_of = {key: self.of_numbers + index for index, group in enumerate(self.groups) for key in group}
        return coded.renumbered(bin_of)

    def code_of(self, written: float | str) -> int:
        """The bin of a value as pictures write it, a number or a name; -1 where there is none.

        >>> ColumnBins("paid", groups=((("truth", True),), (("truth", False),))).code_of("yes")
        0
        """
        if isinstance(written, str):
            value = {"yes": True, "no": False}.get(written, written)
            for index, group in enumerate(self.groups):
                if any(written == shown(key) or key == ("truth", value) for key in group):
                    return self.of_numbers + index
            written = plain_number(written)
        if not self.edges or np.isnan(written):
            return -1
        return int(np.searchsorted(np.array(self.edges), written, side="right"))

    def shown(self, code: int) -> str:
        """A bin as people read it.

        >>> [ColumnBins("size", edges=(2.5, 10.0)).shown(code) for code in range(3)]
        ['below 2.5', '2.5 to 10', '10 or more']
        """
        if code >= self.of_numbers:
            named = ["missing" if key == MISSING_VALUE else shown(key) for key in self.groups[code - self.of_numbers]]
            return named[0] if len(named) == 1 else f"{named[0]} or {len(named) - 1} others"
        edges = [short_number(edge) for edge in self.edges]
        if code == 0:
            return f"below {edges[0]}"
        return f"{edges[-1]} or more" if code == len(edges) else f"{edges[code - 1]} to {edges[code]}"


def plain_number(written: str) -> float:
    """The number that a text is, a truth being one or zero; NaN where it is none."""
    try:
        return float({"yes": "1", "no": "0"}.get(written, written))
    except ValueError:
        return float("nan")
