"""Columns that name rows rather than describe them: ids, counters, numbers of many digits.

What they teach is of no use for any other row, and a number that only grows would make every later row unfamiliar. All
rules look at which values there are and not at where they stand: a counter is known by its values being handed out
without repeating, so the same rows in any order give the same model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from candide.data.arrays import FloatArray
from candide.data.batch import Batch
from candide.selection.candidates import holds_numbers

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

NO_NUMBERS = np.zeros(0)
CALLED_ID = re.compile(
    r"(?i:(?:^|[^a-z])(?:id|uuid|guid|identifier|identification)(?:$|[^a-z]))|[a-z](?:Id|ID)(?:$|[^a-z])"
)


def identifier_columns(rows: Batch, columns: Iterable[str]) -> list[str]:
    """The columns that name rows, by their values or by what they are called: new rows will have new values."""

    def is_new_in_each(column: Batch) -> bool:
        return bool(names_rows(column) or (is_called_id(column.names[0]) and might_name(column)))

    return [name for name in columns if is_new_in_each(rows.only([name]))]


def names_rows(column: Batch) -> str:
    """Why a column is surely an id, in words; nothing where it is not."""
    (name,) = column.names
    return numbers_that_name(column) if holds_numbers(column) else strings_that_name(column, name)


def numbers_that_name(column: Batch) -> str:
    """Whole numbers that were handed out one by one: chance would repeat some."""
    there = whole_numbers(column)
    if len(there) < FEWEST_VALUES or len(np.unique(there)) < len(there):
        return ""
    if expected_repeats(len(there), float(np.ptp(there)) + 1) < SURELY:
        return ""
    return f"{len(there):,} whole numbers that never repeat, though they lie close together"


def might_name(column: Batch) -> str:
    """Why a column of numbers may be an id, or a measurement: it is called one, or has many digits and no repeats."""
    (name,) = column.names
    there = whole_numbers(column) if holds_numbers(column) else NO_NUMBERS
    if len(there) < FEWEST_VALUES:
        return ""
    different = len(np.unique(there))
    if different >= MOST * len(there) and is_called_id(name):
        return f"{different:,} different numbers in {len(there):,} rows, and called an id"
    if different == len(there) and np.abs(there).max() >= MANY_DIGITS:
        return f"{different:,} numbers of many digits that never repeat"
    return ""


def whole_numbers(column: Batch) -> FloatArray:
    """The numbers that are there, where all are whole and the first rows have as many different ones as ids would."""
    values = column.numbers(column.names)[:, 0]
    head = values[:HEAD][np.isfinite(values[:HEAD])]
    if not (head == np.floor(head)).all() or len(np.unique(head)) < MOST * len(head):
        return NO_NUMBERS
    there = values[np.isfinite(values)]
    return there if bool((there == np.floor(there)).all()) else NO_NUMBERS


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
    rows, _, unique = own_values(column)
    return f"{unique:,} of {rows:,} rows have a value of their own" if unique > HALF * max(rows, FEWEST_VALUES) else ""


def own_values(column: Batch) -> tuple[int, int, int]:
    """How many rows have a value, how many values there are, and how many of them only one row has."""
    (name,) = column.names
    codes = column.categories(name).codes
    counts = np.bincount(codes[codes >= 0])
    return int(counts.sum()), int((counts > 0).sum()), int((counts == 1).sum())


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
