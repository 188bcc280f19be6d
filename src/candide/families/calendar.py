"""When something happens in the week, the day or the year: times that tell by their weekday, hour or month."""

from __future__ import annotations

import calendar
import datetime
from dataclasses import dataclass

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.data.batch import Batch
from candide.data.errors import OptionRefused
from candide.data.times import DAY, EARLIEST, LATEST
from candide.data.values import Coded, Key
from candide.families.base.competing import TIME, ColumnLook
from candide.families.base.core import Drawn
from candide.families.base.family import AnyFamily
from candide.families.base.identity import MISSING_VALUE, CodedColumns
from candide.families.base.support import Support
from candide.families.categorical import Categorical, Values, said

CALENDAR = Support("a time between the years 1 and 9999", lambda x: (x >= EARLIEST) & (x <= LATEST))
PARTS = {
    "weekday": tuple(calendar.day_name),
    "hour": tuple(f"{hour:02}:00" for hour in range(24)),
    "month": tuple(calendar.month_name)[1:],
}


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
        seconds = column.numbers
        if column.kind != TIME or not len(seconds) or not bool(CALENDAR.holds(seconds).all()):
            return []
        year = int(np.median(seconds.astype("datetime64[s]").astype("datetime64[Y]").astype(np.int64))) + 1970
        return [cls(part=part, year=year) for part in PARTS if len(np.unique(parts_of(seconds, part))) > 1]

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


def parts_of(seconds: FloatArray, part: str) -> IntArray:
    """The number of each time's weekday (Monday is 0), hour or month, from 0 up; -1 where there is no time."""
    known = ~np.isnan(seconds)
    there = np.where(known, seconds, 0.0)
    days = np.floor(there / DAY)
    if part == "weekday":
        found = (days + 3) % 7
    elif part == "hour":
        found = np.floor((there - DAY * days) / 3600.0)
    else:
        found = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12
    return np.where(known, found, -1).astype(np.int64)
