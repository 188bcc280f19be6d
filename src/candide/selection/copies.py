"""Columns that say the same as another: copies of it, and recodings that give every value another name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.data.batch import Batch
from candide.families.base.competing import MANY_VALUES
from candide.selection.candidates import holds_numbers

HEAD = 256
"""Rows come as good as shuffled: columns that part in the first ones need not be looked at any further."""

FEWEST_CHANGES = 10
"""So many rows must have another value than most: columns that are nearly always zero may agree by chance."""

AT_A_TIME = 512
"""So many columns of numbers are ranked at a time."""


class ColumnCodes(NamedTuple):
    """A code for each value of a column, -1 where it is missing, and whether values are numbers, ranked."""

    codes: IntArray
    are_numbers: bool


@dataclass(frozen=True)
class Copy:
    """A column that an earlier one tells everything of: with the same values, or by other names for them."""

    column: str
    of: str
    is_same: bool


def copies(rows: Batch, columns: Sequence[str]) -> list[Copy]:
    """Every column that says what an earlier one said, with the first that said it."""
    head, found = codes_of_head(rows, columns), []
    for alike in groups(columns, lambda name: pattern(*head[name])):
        for same in groups(alike, lambda name: pattern(*codes_of(rows.only([name])))):
            first, *others = same
            if varies(rows.only([first])):
                found += [Copy(name, first, are_equal(rows, first, name)) for name in others]
    return found


def recodings_of_label(rows: Batch, columns: Sequence[str]) -> list[str]:
    """The columns that are the label by other names."""
    assert rows.labels is not None
    head, labels = codes_of_head(rows, columns), rows.labels.codes
    alike = [name for name in columns if goes_with(labels[:HEAD], head[name].codes)]
    return [name for name in alike if goes_with(labels, codes_of(rows.only([name])).codes)]


def goes_with(labels: IntArray, codes: IntArray) -> bool:
    """Whether each value of a column goes with one class, and each class with one value."""
    alike = codes[labels == labels[0]]
    return bool((alike == alike[0]).all()) and np.array_equal(by_first_appearance(codes), by_first_appearance(labels))


def codes_of_head(rows: Batch, columns: Sequence[str]) -> dict[str, ColumnCodes]:
    """The codes of the first rows, of each column; numbers are ranked many columns at a time."""
    head = rows.rows(0, min(HEAD, len(rows)))

    def read() -> dict[str, ColumnCodes]:
        found, numbers = dict[str, ColumnCodes](), list[str]()
        for name in columns:
            if holds_numbers(column := head.only([name])):
                numbers.append(name)
            else:
                found[name] = codes_of(column)
        for start in range(0, len(numbers), AT_A_TIME):
            names = numbers[start : start + AT_A_TIME]
            ranks = ranks_of(np.stack([head.numbers([name])[:, 0] for name in names]))
            found |= {name: ColumnCodes(codes, True) for name, codes in zip(names, ranks, strict=True)}
        return found

    return rows.once(("codes of head", *columns), read)


def groups(names: Iterable[str], key: Callable[[str], Any]) -> list[list[str]]:
    """Names with equal keys together, where there are several."""
    found: dict[Any, list[str]] = {}
    for name in names:
        found.setdefault(key(name), []).append(name)
    return [group for group in found.values() if len(group) > 1]


def pattern(codes: IntArray, are_numbers: bool) -> bytes:
    """What stays the same when values are given other names: which rows share one.

    Of many numbers, or of few rows that mostly differ, their order must stay as well, or be turned round, as from
    Celsius to Fahrenheit: where nearly all differ, or rows were copied, sharing says nothing.
    """
    highest = codes.max(initial=0)
    if highest < min(MANY_VALUES, len(codes) // 2) or not are_numbers:
        return by_first_appearance(codes).tobytes()
    return min(codes.tobytes(), np.where(codes >= 0, highest - codes, -1).tobytes())


def codes_of(column: Batch) -> ColumnCodes:
    """The rank of each value among all, -1 where it is missing."""
    if not holds_numbers(column):
        return ColumnCodes(column.categories(column.names[0]).codes, False)
    return ColumnCodes(ranks_of(column.numbers(column.names).T)[0], True)


def ranks_of(numbers: FloatArray) -> IntArray:
    """The rank of each number among the different ones of its line, -1 where it is missing.

    >>> ranks_of(np.array([[5.0, 0.0, 5.0, np.nan, -0.0]])).tolist()
    [[1, 0, 1, -1, 0]]
    """
    order = np.argsort(numbers, axis=1)  # what is missing comes last
    ascending = np.take_along_axis(numbers, order, axis=1)
    steps = np.cumsum(ascending[:, 1:] != ascending[:, :-1], axis=1)
    ranks = np.zeros(numbers.shape, dtype=np.int64)
    np.put_along_axis(ranks, order[:, 1:], steps, axis=1)
    ranks[np.isnan(numbers)] = -1
    return ranks


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
    return len(column) - int(np.bincount(codes_of(column).codes + 1).max()) >= FEWEST_CHANGES


def are_equal(rows: Batch, one: str, other: str) -> bool:
    """Whether two columns hold the same value in every row."""
    if all(holds_numbers(rows.only([name])) for name in (one, other)):
        pair = rows.only([one, other]).numbers([one, other])
        return bool(np.array_equal(pair[:, 0], pair[:, 1], equal_nan=True))
    first, second = rows.categories(one), rows.categories(other)
    return first.keys == second.keys and bool((first.codes == second.codes).all())
