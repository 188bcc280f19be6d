"""Columns that name rows rather than describe them: ids, counters, numbers of many digits.

What they teach is of no use for any other row, and a number that only grows would make every later row unfamiliar. All
rules look at which values there are and not at where they stand: a counter is known by its values being handed out
without repeating, so the same rows in any order give the same model.
"""

from __future__ import annotations

import re

import numpy as np

from candide.arrays import FloatArray
from candide.batch import Batch
from candide.choosing.candidates import holds_numbers

FEWEST_VALUES = 50
"""Fewer values may all differ by chance."""

NEARLY_ALL, MOST, HALF = 0.95, 0.9, 0.5
"""Shares of different values: enough by itself, enough for a column that is called an id, worth a word."""

SURELY = 10.0
"""Where so many repeats are expected, chance gives none in one of e^10 = 22,000 columns."""

MANY_DIGITS = 1e5
"""Whole numbers that reach this far have six digits or more."""

HEAD = 1000
"""Rows come as good as shuffled, so the first ones tell which columns need not be looked at any further."""

CALLED_ID = re.compile(
    r"(?i:(?:^|[^a-z])(?:id|uuid|guid|identifier|identification)(?:$|[^a-z]))|[a-z](?:Id|ID)(?:$|[^a-z])"
)


def names_rows(column: Batch) -> str:
    """Why a column is taken for an id, in words; nothing where it is not."""
    (name,) = column.names
    if not holds_numbers(column):
        return strings_that_name(column, name)
    values = column.numbers(column.names)[:, 0]
    return "" if repeats_soon(values) else numbers_that_name(values[np.isfinite(values)], name)


def repeats_soon(values: FloatArray) -> bool:
    """Whether the first rows have fewer different numbers than an id would."""
    head = values[:HEAD][np.isfinite(values[:HEAD])]
    return len(np.unique(head)) < MOST * len(head)


def numbers_that_name(there: FloatArray, name: str) -> str:
    """Whole numbers that were handed out one by one; or nearly all different, in a column that is called an id."""
    if len(there) < FEWEST_VALUES or (there != np.floor(there)).any():
        return ""
    different = len(np.unique(there))
    if different == len(there) and expected_repeats(len(there), float(np.ptp(there)) + 1) >= SURELY:
        return f"{different:,} whole numbers that never repeat, though they lie close together"
    if different >= MOST * len(there) and is_called_id(name):
        return f"{different:,} different numbers in {len(there):,} rows, and called an id"
    return ""


def strings_that_name(column: Batch, name: str) -> str:
    """Strings of which (nearly) every row has its own."""
    rows, different, _ = own_values(column)
    if rows >= FEWEST_VALUES and different >= (MOST if is_called_id(name) else NEARLY_ALL) * rows:
        return f"{different:,} different values in {rows:,} rows"
    return ""


def mostly_own_values(column: Batch) -> str:
    """Where more than half of the rows have a string that no other row has, how many those are, in words."""
    if holds_numbers(column):
        return ""
    rows, _, alone = own_values(column)
    return f"{alone:,} of {rows:,} rows have a value of their own" if alone > HALF * max(rows, FEWEST_VALUES) else ""


def own_values(column: Batch) -> tuple[int, int, int]:
    """How many rows have a value, how many values there are, and how many of them only one row has."""
    (name,) = column.names
    codes = column.categories(name).codes
    counts = np.bincount(codes[codes >= 0])
    return int(counts.sum()), int((counts > 0).sum()), int((counts == 1).sum())


def has_many_digits(column: Batch) -> bool:
    """Whether a column holds whole numbers of six digits or more, different in every row: a measurement, or an id."""
    if not holds_numbers(column):
        return False
    values = column.numbers(column.names)[:, 0]
    there = values[np.isfinite(values)]
    if len(there) < FEWEST_VALUES or np.abs(there).max() < MANY_DIGITS or repeats_soon(there):
        return False
    return bool((there == np.floor(there)).all()) and len(np.unique(there)) == len(there)


def is_called_id(name: str) -> bool:
    """Whether a column's name says that it is an id.

    >>> [is_called_id(name) for name in ("id", "customer_id", "PassengerId", "Hospital_identification_number")]
    [True, True, True, True]
    >>> [is_called_id(name) for name in ("idle", "humid", "valid", "width")]
    [False, False, False, False]
    """
    return CALLED_ID.search(name) is not None


def expected_repeats(rows: int, values: float) -> float:
    """How many of so many draws repeat an earlier one, if all values are as likely: others repeat more often.

    >>> round(expected_repeats(100, 100)), round(expected_repeats(100, 10**6), 3)
    (37, 0.005)
    """
    return rows + values * float(np.expm1(rows * np.log1p(-1 / values))) if values > 1 else rows - 1.0
