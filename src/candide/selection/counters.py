"""Columns that count upwards without naming rows: batches, days, order lines, years, the time since some start.

Rows that come later lie beyond all values that were learned, which is not strange. As everywhere, rules look at which
values there are and how often, never at the order of rows: what is handed out in turn is used more evenly than chance
would use it, and steps that never repeat were counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.data.batch import Batch
from candide.selection.candidates import holds_numbers
from candide.selection.identifiers import FEWEST_VALUES, SURELY, expected_repeats

FEWEST_TURNS = 20
"""Fewer values may be used evenly by chance, or because somebody planned it so."""

EVENLY = 0.25
"""Counts that vary so little, as a share of what chance would make of them, were handed out in turn."""

ON_STEPS = 1e-6
"""How far, as a share of a step, numbers may lie beside the steps of a ladder."""

YEARS = (1900, 2100)
CALLED_TIME = re.compile(
    r"(?i)(?:^|[^a-z])(?:time|timestamp|date|elapsed|clock|tick|step|seq|sequence|counter|index)s?(?:$|[^a-z])"
)


def counting_columns(rows: Batch, columns: Iterable[str]) -> list[str]:
    """The columns whose values later rows will have left behind."""
    return [name for name in columns if counts_up(rows.only([name]))]


def counts_up(column: Batch) -> bool:
    """Whether values were handed out in turn, or tell a time by how they look or are called."""
    (name,) = column.names
    if not holds_numbers(column):
        codes = column.categories(name).codes
        return in_turn(np.bincount(codes[codes >= 0]))
    numbers = column.numbers([name])[:, 0]
    there = numbers[np.isfinite(numbers)]
    if len(there) < FEWEST_VALUES:
        return False
    different, counts = np.unique(there, return_counts=True)
    if is_calendar(different) or in_turn(counts):
        return True
    if CALLED_TIME.search(name) and 2 * len(different) > len(there):
        return True
    return len(different) == len(there) and never_repeats_on_steps(different)


def in_turn(counts: IntArray) -> bool:
    """Whether many values are used more evenly than chance would use them; the first and the last may have just begun.

    >>> in_turn(np.array([3] + [10] * 30 + [4])), in_turn(np.arange(30))
    (True, False)
    """
    some = np.sort(counts[counts > 0])[2:]
    return bool(len(some) >= FEWEST_TURNS and some.mean() >= 2 and some.var() < EVENLY * some.mean())


def is_calendar(different: FloatArray) -> bool:
    """Whether numbers are years, or dates written as one number, more than one of either.

    >>> is_calendar(np.array([1998.0, 2021.0])), is_calendar(np.array([20210131.0, 20210201.0]))
    (True, True)
    >>> is_calendar(np.array([1.0, 2021.0])), is_calendar(np.array([20210131.0, 20210199.0]))
    (False, False)
    """
    if len(different) < 2 or (different != np.floor(different)).any():
        return False
    months, days = different // 100 % 100, different % 100
    years, is_date = different, (months >= 1) & (months <= 12) & (days >= 1) & (days <= 31)
    if is_date.all() and different[0] >= YEARS[0] * 10_000:
        years = different // 10_000
    return bool(years.min() >= YEARS[0] and years.max() <= YEARS[1])


def never_repeats_on_steps(different: FloatArray) -> bool:
    """Whether numbers that never repeat stand on the steps of one ladder, so close that chance would repeat some."""
    away = different - different[0]
    step = float(np.diff(different).min())
    places = away / step
    if not np.isfinite(places).all() or (np.abs(places - np.rint(places)) > ON_STEPS * np.maximum(places, 1)).any():
        return False
    return expected_repeats(len(different), float(places[-1]) + 1) >= SURELY
