"""The parts of a time that recur: its weekday, hour and month."""

from __future__ import annotations

import calendar

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.data.times import DAY, EARLIEST, LATEST
from candide.data.values import Key
from candide.families.base.support import Support
from candide.statistics.tally import Tally

CALENDAR = Support("a time between the years 1 and 9999", lambda x: (x >= EARLIEST) & (x <= LATEST))
PARTS = {
    "weekday": tuple(calendar.day_name),
    "hour": tuple(f"{hour:02}:00" for hour in range(24)),
    "month": tuple(calendar.month_name)[1:],
}


def parts_of(seconds: FloatArray, part: str) -> IntArray:
    """The number of each time's weekday (Monday is 0), hour or month, from 0 up; -1 where there is no such time."""
    known = CALENDAR.holds(seconds)
    there = np.where(known, seconds, 0.0)
    days = np.floor(there / DAY)
    if part == "weekday":
        found = (days + 3) % 7
    elif part == "hour":
        found = np.floor((there - DAY * days) / 3600.0)
    else:
        found = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12
    return np.where(known, found, -1).astype(np.int64)


def part_key(part: str, number: int) -> Key:
    """A weekday, hour or month as the value that counts of parts know it by.

    >>> part_key("hour", 7)
    ('text', 'hour 07')
    """
    return "text", f"{part} {number:02}"


def part_slots(counted: Tally, part: str) -> dict[int, int]:
    """The lines of a column's counts that are of one part of the calendar, with the number of each."""
    named = {line: str(slot[2]).split() for line, slot in enumerate(counted.open_slots)}
    return {line: int(number) for line, (name, number) in named.items() if name == part}


def time_in(part: str, number: int) -> float:
    """Some time that falls on a weekday, into an hour or a month.

    >>> [int(parts_of(np.array([time_in(part, 3)]), part)[0]) for part in PARTS]
    [3, 3, 3]
    """
    if part == "weekday":
        return DAY * (number + 4)
    return 3600.0 * number if part == "hour" else DAY * (31.0 * number + 1)
