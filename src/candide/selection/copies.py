"""Columns that say the same as another: copies of it, and recodings that give every value another name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from candide.data.arrays import IntArray
from candide.data.batch import Batch
from candide.families.base.competing import MANY_VALUES
from candide.selection.candidates import holds_numbers

HEAD = 256
"""Rows come as good as shuffled: columns that part in the first ones need not be looked at any further."""

FEWEST_CHANGES = 10
"""So many rows must have another value than most: columns that are nearly always zero may agree by chance."""


@dataclass(frozen=True)
class Copy:
    """A column that an earlier one tells everything of: with the same values, or by other names for them."""

    column: str
    of: str
    is_same: bool


def copies(rows: Batch, columns: Sequence[str]) -> list[Copy]:
    """Every column that says what an earlier one said, with the first that said it."""
    head, found = head_of(rows), []
    for alike in groups(columns, lambda name: pattern(head.only([name]))):
        for same in groups(alike, lambda name: pattern(rows.only([name]))):
            first, *others = same
            if varies(rows.only([first])):
                found += [Copy(name, first, are_equal(rows, first, name)) for name in others]
    return found


def recodings_of_label(rows: Batch, columns: Sequence[str]) -> list[str]:
    """The columns that are the label by other names."""
    head = head_of(rows)
    alike = [name for name in columns if goes_with_label(head.only([name]))]
    return [name for name in alike if goes_with_label(rows.only([name]))]


def goes_with_label(column: Batch) -> bool:
    """Whether each value of a column goes with one class, and each class with one value."""
    assert column.labels is not None
    codes, labels = codes_of(column), column.labels.codes
    alike = codes[labels == labels[0]]
    return bool((alike == alike[0]).all()) and np.array_equal(by_first_appearance(codes), by_first_appearance(labels))


def head_of(rows: Batch) -> Batch:
    """The first rows."""
    return rows.rows(0, min(HEAD, len(rows)))


def groups(names: Iterable[str], key: Callable[[str], Any]) -> list[list[str]]:
    """Names with equal keys together, where there are several."""
    found: dict[Any, list[str]] = {}
    for name in names:
        found.setdefault(key(name), []).append(name)
    return [group for group in found.values() if len(group) > 1]


def pattern(column: Batch) -> bytes:
    """What stays the same when values are given other names: which rows share one.

    Of many numbers, or of few rows that mostly differ, their order must stay as well, or be turned round, as from
    Celsius to Fahrenheit: where nearly all differ, or rows were copied, sharing says nothing.
    """
    codes = codes_of(column)
    highest = codes.max(initial=0)
    if highest < min(MANY_VALUES, len(codes) // 2) or not holds_numbers(column):
        return by_first_appearance(codes).tobytes()
    return min(codes.tobytes(), np.where(codes >= 0, highest - codes, -1).tobytes())


def codes_of(column: Batch) -> IntArray:
    """The rank of each value among all, -1 where it is missing."""
    if not holds_numbers(column):
        return column.categories(column.names[0]).codes
    numbers = column.numbers(column.names)[:, 0]
    there = ~np.isnan(numbers)
    codes = np.full(len(numbers), -1, dtype=np.int64)
    codes[there] = np.unique(numbers[there], return_inverse=True)[1]
    return codes


def by_first_appearance(codes: IntArray) -> IntArray:
    """Codes that count values in the order in which rows first show them; missing is a value, too.

    >>> by_first_appearance(np.array([7, 3, 7, -1])).tolist()
    [0, 1, 0, 2]
    """
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    indices = np.empty(len(first), dtype=np.int64)
    indices[np.argsort(first)] = np.arange(len(first))
    return np.asarray(indices[inverse])


def varies(column: Batch) -> bool:
    """Whether enough rows have another value than the commonest."""
    return len(column) - int(np.bincount(codes_of(column) + 1).max()) >= FEWEST_CHANGES


def are_equal(rows: Batch, one: str, other: str) -> bool:
    """Whether two columns hold the same value in every row."""
    if all(holds_numbers(rows.only([name])) for name in (one, other)):
        pair = rows.only([one, other]).numbers([one, other])
        return bool(np.array_equal(pair[:, 0], pair[:, 1], equal_nan=True))
    first, second = rows.categories(one), rows.categories(other)
    return first.keys == second.keys and bool((first.codes == second.codes).all())
