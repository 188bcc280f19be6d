"""The few bins by which pairs of columns are counted: quantiles of numbers, and values, rare ones together.

They are told by values alone, never by labels: there is nothing to leave out of them.
"""

from __future__ import annotations

import numpy as np

from candide.data.arrays import FloatArray
from candide.data.batch import Batch
from candide.data.values import Coded, Key
from candide.families.base.column_values import ColumnValues
from candide.families.pairs.column_bins import ColumnBins
from candide.model.schema import Choice, Schema
from candide.statistics.column_memory import ColumnMemory

LEAST_BINS, MOST_BINS, BINS_FOR_ROWS = 3, 10, 0.8
"""Numbers have 0.8 times the cube root of the number of rows many bins, but from three to ten."""
MOST_GROUPS = 12
"""Other values have a bin each; of more of them the rarest share one."""


def bins_of_columns(schema: Schema, rows: Batch, weights: FloatArray, missing_is_value: bool) -> list[ColumnBins]:
    """The bins of every column that has a say and may be one of a pair.

    Texts may not, nor what is always the same, nor columns whose family the user named: they are as was said.
    """
    most = bins_for(len(rows))
    columns = [choice.column for choice in schema.choices if choice.family is not None and is_open_column(choice)]
    found = (bins_of(rows, column, weights, most, missing_is_value) for column in columns)
    return [bins for bins in found if bins.bins > 1]


def is_open_column(choice: Choice) -> bool:
    """Whether all is remembered of a column that any family of tables might ask."""
    return choice.remembered is not None and choice.remembered.statistic is ColumnMemory


def bins_for(rows: int) -> int:
    """How many bins numbers have.

    >>> bins_for(60), bins_for(500), bins_for(100_000)
    (3, 6, 10)
    """
    return int(min(MOST_BINS, max(LEAST_BINS, np.rint(BINS_FOR_ROWS * rows ** (1 / 3)))))


def bins_of(rows: Batch, column: str, weights: FloatArray, most: int, missing_is_value: bool) -> ColumnBins:
    """The bins of one column."""
    values = ColumnValues.of(rows, (column,), missing_is_value).without_infinite()
    edges = edges_of(values.numbers[:, 0], weights, most)
    return ColumnBins(column, edges, tuple(group for _, coded in values.others for group in groups_of(coded, weights)))


def edges_of(numbers: FloatArray, weights: FloatArray, most: int) -> tuple[float, ...]:
    """Edges between bins of about equal weight, each in the middle between two numbers; few numbers have a bin each.

    >>> edges_of(np.array([3.0, 1.0, 1.0, 2.0]), np.ones(4), 3), edges_of(np.arange(8.0), np.ones(8), 2)
    ((1.5, 2.5), (3.5,))
    """
    there = ~np.isnan(numbers)
    found, places = np.unique(numbers[there], return_inverse=True)
    if len(found) < 2:
        return ()
    last = np.arange(len(found) - 1)
    if len(found) > most:
        below = np.cumsum(np.bincount(places, weights[there], len(found)))
        last = np.unique(np.searchsorted(below, below[-1] * np.arange(1, most) / most))
        last = last[last < len(found) - 1]
    middle = found[last] / 2 + found[last + 1] / 2
    return tuple(np.unique(np.where(middle > found[last], middle, found[last + 1])).tolist())


def groups_of(coded: Coded, weights: FloatArray) -> list[tuple[Key, ...]]:
    """A group for each value, the rarest of many in one."""
    there = coded.codes >= 0
    seen = np.bincount(coded.codes[there], weights[there], len(coded.keys)).tolist()
    held = sorted((-amount, key) for key, amount in zip(coded.keys, seen, strict=True) if amount > 0)
    keys = [key for _, key in held]
    own = keys if len(keys) <= MOST_GROUPS else keys[: MOST_GROUPS - 1]
    rest = sorted(keys[len(own) :])
    return [*((key,) for key in sorted(own)), *([tuple(rest)] if rest else [])]
