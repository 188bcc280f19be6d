"""Times as numbers, and numbers as the times they are: seconds since 1970, in UTC where a zone is known."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pyarrow as pa

DATE, TIME, INSTANT = "date", "time", "instant"
TIMES = (DATE, TIME, INSTANT)
"""Kinds of columns: days; times of a clock that nobody names; moments, which are the same everywhere."""

EPOCH = datetime.datetime(1970, 1, 1)
DAY = 86_400.0
EARLIEST, LATEST = -62_135_596_800.0, 253_402_300_799.0
"""The first and last second that a calendar of four-digit years has."""

UNITS = (("days", DAY), ("hours", 3600.0), ("minutes", 60.0), ("seconds", 1.0))


def time_kind(kind: Any) -> str:
    """What an Arrow type holds: a kind of times, or nothing of the sort.

    >>> time_kind(pa.date32()), time_kind(pa.timestamp("ns", "Europe/Berlin")), time_kind(pa.int64())
    ('date', 'instant', '')
    """
    if pa.types.is_dictionary(kind):
        return time_kind(kind.value_type)
    if pa.types.is_date(kind):
        return DATE
    if pa.types.is_timestamp(kind):
        return TIME if kind.tz is None else INSTANT
    return ""


def is_time(kind: str) -> bool:
    """Whether a column of this kind (`date`, `date 31.12.2024`, ...) holds times."""
    return kind.partition(" ")[0] in TIMES


def shown_time(seconds: float, kind: str = TIME) -> str:
    """A time as people write it: a day where the column holds days, else up to what is not zero.

    >>> shown_time(1735603200.0, "date"), shown_time(1735689599.5), shown_time(-1.0, "instant")
    ('2024-12-31', '2024-12-31 23:59:59.5', '1969-12-31 23:59:59Z')
    """
    if not EARLIEST <= seconds <= LATEST:
        return f"{seconds:g} s from 1970"
    when = EPOCH + datetime.timedelta(seconds=float(seconds))
    name = kind.partition(" ")[0]
    if name == DATE:
        return when.date().isoformat()
    clock = when.time().isoformat().rstrip("0").rstrip(".") if when.microsecond else when.time().isoformat()
    zone = "Z" if name == INSTANT else ""
    return f"{when.date().isoformat()} {clock.removesuffix(':00') if not when.microsecond else clock}{zone}"


def shown_duration(seconds: float) -> str:
    """How long something is, in the largest unit that it fills.

    >>> shown_duration(90.0), shown_duration(2.5 * 86400)
    ('1.5 minutes', '2.5 days')
    """
    name, size = next(((name, size) for name, size in UNITS if abs(seconds) >= size), UNITS[-1])
    return f"{seconds / size:.4g} {name}"


def as_times(seconds: Any, kind: str) -> Any:
    """Numbers as an Arrow column of times, missing where they are: whole days where the column holds days."""
    numbers = np.asarray(seconds, dtype=np.float64)
    known = np.isfinite(numbers)
    micros = np.rint(np.where(known, np.clip(numbers, EARLIEST, LATEST), 0.0) * 1e6).astype(np.int64)
    name = kind.partition(" ")[0]
    if name == DATE:
        days = (micros // int(DAY * 1e6)).astype(np.int32)
        return pa.array(days, mask=~known).cast(pa.date32())
    unit, ticks = ("us", micros) if (micros % 1_000_000).any() else ("s", micros // 1_000_000)
    return pa.array(ticks, mask=~known).cast(pa.timestamp(unit, "UTC" if name == INSTANT else None))
