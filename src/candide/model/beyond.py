"""Numbers like none that was learned: farther from all of them than these are from each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from candide.data.batch import Batch
from candide.data.times import is_time, shown_time
from candide.families.base.column_values import ColumnValues
from candide.families.base.competing import CATEGORY
from candide.families.base.explaining import shown_number
from candide.families.base.family import Block
from candide.statistics.cells import Cells


@dataclass(frozen=True)
class Beyond:
    """A number that lies far out, and from where to where those lay that were learned, as they are written."""

    feature: str
    value: str
    least: str
    largest: str
    learned: float

    @property
    def text(self) -> str:
        """In a sentence.

        >>> Beyond("weight", "4000", "61", "302", 450).text
        'weight 4000 lies far beyond all 450 learned values (61 to 302)'
        """
        learned = f"{self.learned:,.15g} learned values ({self.least} to {self.largest})"
        return f"{self.feature} {self.value} lies far beyond all {learned}"


def numbers_beyond(
    row: Batch, blocks: Sequence[Block], cells: Mapping[str, Cells], kinds: Mapping[str, str]
) -> tuple[Beyond, ...]:
    """Those of a single row, in columns that are read as numbers and whose cells are known."""
    columns = tuple(name for b in blocks if b.family.reads != CATEGORY for name in b.columns if name in cells)
    numbers = ColumnValues.of(row, columns, missing_is_value=False).numbers[0].tolist() if columns else []
    found = []
    for name, number in zip(columns, numbers, strict=True):
        least, largest = cells[name].bounds
        if is_far(number, least, largest):
            value, low, high = (as_written(each, kinds.get(name, "")) for each in (number, least, largest))
            found.append(Beyond(name, value, low, high, cells[name].counts.sum().item()))
    return tuple(found)


def is_far(number: float, least: float, largest: float) -> bool:
    """Whether a number is farther from some others than these lie apart; nothing is far that is missing.

    >>> is_far(544.0, 61.0, 302.0), is_far(543.0, 61.0, 302.0), is_far(float("nan"), 61.0, 302.0)
    (True, False, False)
    """
    with np.errstate(over="ignore"):
        spread = np.float64(largest) - np.float64(least)
        return bool(number > largest + spread or number < least - spread)


def as_written(number: float, kind: str) -> str:
    """A number as people write it: as a time where it is one."""
    return shown_time(number, kind) if is_time(kind) else shown_number(number)
