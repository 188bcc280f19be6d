"""When something happens in the week, the day or the year: times that tell by their weekday, hour or month."""

from __future__ import annotations

import calendar
import datetime
from dataclasses import dataclass

import numpy as np

from candide.data.arrays import FloatArray
from candide.data.batch import Batch
from candide.data.errors import OptionRefused
from candide.data.values import Coded, Key
from candide.families.base.alike_rows import AlikeRows
from candide.families.base.calendar_parts import CALENDAR, PARTS, part_slots, parts_of, time_in
from candide.families.base.competing import TIME, ColumnLook
from candide.families.base.core import Drawn
from candide.families.base.family import AnyFamily
from candide.families.base.identity import MISSING_VALUE, CodedColumns
from candide.families.categorical import Categorical, Values, said
from candide.statistics.cells import Cells
from candide.statistics.column_memory import ColumnMemory
from candide.statistics.tally import Tally


@dataclass(frozen=True)
class Calendar(Categorical):
    """One part of a time, `weekday`, `hour` or `month`, with a share in each class, as categories have.

    The time itself, early or late, says nothing here. Hours are those of the column's clock; where a zone is known, of
    UTC. New rows are drawn from `year`.

    >>> parts_of(np.array([0.0, 86400.0 + 3600.0]), "weekday").tolist()
    [3, 4]
    """

    part: str = "weekday"
    year: int = 2024
    live = ""
    fades = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.part not in PARTS:
            raise OptionRefused.of_option("part", f"one of {', '.join(PARTS)}", self.part)
        if not 1 <= self.year <= 9999:
            raise OptionRefused.of_option("year", "a whole number from 1 to 9999", self.year)

    @classmethod
    def candidates_for(cls, column: ColumnLook) -> list[AnyFamily]:
        """Each part of the times that differs among them; new rows are drawn from the middle year."""
        if column.kind != TIME or not column.distinct or not bool(CALENDAR.holds(column.values).all()):
            return []
        middle = np.float64(column.cells.quantile(0.5)).astype("datetime64[s]")
        year = int(middle.astype("datetime64[Y]").astype(np.int64)) + 1970
        return [cls(part=part, year=year) for part in PARTS if len(part_slots(column.parts, part)) > 1]

    @property
    def aspect(self) -> str:
        return self.part

    def read(self, batch: Batch, columns: tuple[str, ...]) -> CodedColumns:
        return self._coded(self.identified(batch, columns), columns)

    def identified(self, batch: Batch, columns: tuple[str, ...]) -> FloatArray:
        values = batch.numbers(columns)
        CALENDAR.refuse_outside(values, batch, columns, self.name)
        return values

    def view(self, batch: Batch, columns: tuple[str, ...]) -> CodedColumns:
        return self._coded(CALENDAR.without_outside(batch.numbers(columns)), columns)

    def _coded(self, seconds: FloatArray, columns: tuple[str, ...]) -> CodedColumns:
        keys: tuple[Key, ...] = tuple(("number", number) for number in range(len(PARTS[self.part])))
        if self.missing_is_value:
            keys = (MISSING_VALUE, *keys)
        return [
            (name, Coded(parts_of(seconds[:, index], self.part) + self.missing_is_value, keys))
            for index, name in enumerate(columns)
        ]

    def judging_rows(self, seen: ColumnMemory, column: str, rows: Tally) -> AlikeRows:
        """One time for each weekday, hour or month: cells do not tell which of them their times fall into."""
        counted, nothing = seen.parts_of(column), Cells.empty(seen.classes)
        slots = part_slots(counted, self.part)
        times = tuple((column, "number", time_in(self.part, number)) for number in slots.values())
        return AlikeRows.of_parts(column, nothing, Tally(times, counted.units[list(slots)], counted.bits), rows)

    def _of_column(self, seen: ColumnMemory, index: int, column: str) -> Tally:
        """The counts of its part of the calendar, which are kept for times."""
        counted, missing = seen.parts_of(column), seen.values_of(column)
        slots = part_slots(counted, self.part)
        found = Tally.of(
            tuple((column, "number", number) for number in slots.values()), counted.units[list(slots)], counted.bits
        )
        if not self.missing_is_value:
            return found
        kept = [line for line, slot in enumerate(missing.open_slots) if slot[1:] == MISSING_VALUE]
        return found + Tally.of(tuple(missing.open_slots[line] for line in kept), missing.units[kept], missing.bits)

    def feature(self, column: str) -> str:
        return f"{self.part} of {column}"

    def spelled(self, key: Key) -> str:
        return said(key) if key == MISSING_VALUE else PARTS[self.part][key[1]]

    def sample(self, parameters: dict[str, Values], label: int, rows: int, rng: np.random.Generator) -> Drawn:
        """Times of the year whose part is as often each as the class has it."""
        start = datetime.datetime(self.year, 1, 1, tzinfo=datetime.UTC).timestamp()
        hours = start + 3600.0 * np.arange(24 * (366 if calendar.isleap(self.year) else 365), dtype=np.float64)
        parts = parts_of(hours, self.part)
        drawn: Drawn = []
        for numbers in super().sample(parameters, label, rows, rng):
            times = [None if n is None else rng.choice(hours[parts == n]) + 3600.0 * rng.random() for n in numbers]
            drawn.append(np.array(times, dtype=np.float64))
        return drawn
