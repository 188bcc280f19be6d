"""Columns that tell when a row was made: dates, instants, seconds since 1970."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from candide.data.arrays import FloatArray
from candide.data.batch import Batch
from candide.data.errors import ColumnRefused
from candide.data.times import time_kind

EARLIEST, LATEST = 631_152_000.0, 4_102_444_800.0
"""The years 1990 and 2100, in seconds since 1970."""

SCALES = (1.0, 1e3, 1e6, 1e9)
"""Seconds, milliseconds, microseconds, nanoseconds."""


def timestamp_columns(rows: Batch) -> list[str]:
    """The columns that hold dates, instants, or numbers that read as such."""
    return [name for name in rows.names if tells_time(rows, name)]


def tells_time(rows: Batch, name: str) -> bool:
    """Whether values are dates or instants by their type, or whole numbers that all lie between 1990 and 2100."""
    raw = rows.columns.raw(rows.position(name))
    if isinstance(raw, (pa.Array, pa.ChunkedArray)):
        if time_kind(raw.type):
            return True
        if not pa.types.is_integer(raw.type) and not pa.types.is_floating(raw.type):
            return False
    elif not isinstance(raw, np.ndarray) or raw.dtype.kind not in "iufM":
        return False
    elif raw.dtype.kind == "M":
        return True
    try:
        return counts_seconds(rows.numbers([name])[:, 0])
    except ColumnRefused:
        return False


def counts_seconds(values: FloatArray) -> bool:
    """Whether numbers, of which at least half differ, all read as instants in one of the usual units.

    >>> counts_seconds(np.array([1.7e9, 1.71e9, 1.72e9])), counts_seconds(np.array([20.5, 1.7e9]))
    (True, False)
    """
    there = values[np.isfinite(values)]
    if not there.size:
        return False
    low, high = float(there.min()), float(there.max())
    if not any(EARLIEST * scale <= low and high <= LATEST * scale for scale in SCALES):
        return False
    return 2 * len(np.unique(there)) > len(there)
