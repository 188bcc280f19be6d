"""One identity for each raw value, whatever library it came from.

A category or a label may be a string, a number, a truth value, bytes or a date. Its `Key` says which, so that
1 and 1.0 are one value while "1" and True are others, and keys of all kinds can be sorted.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from candide.data.arrays import AnyArray, IntArray
from candide.data.errors import Location, ValuesRefused
from candide.data.grid import SMALLEST_NORMAL
from candide.data.readable import as_arrow, plain_column

Key = tuple[str, Any]
USUALLY_MISSING = (
    "", "NA", "N/A", "#N/A", "<NA>", "#NA", "n/a", "na", "N.A.", "n.a.", "NaN", "nan", "NAN", "null", "NULL", "Null",
    "None", "none", "NONE", "missing", "Missing", "MISSING", "nil", "?", "-", "--", "---", ".", "..",
)  # fmt: skip
"""What files write where a number or a date is missing."""

NARROW = 1 << 10
LARGEST = np.iinfo(np.int64).max


def key_of(value: Any) -> Key | None:
    """The identity of one value, or None where the value is missing.

    >>> key_of(1.0) == key_of(1), key_of("1") == key_of(1), key_of(True) == key_of(1)
    (True, False, False)
    >>> key_of(float("nan")) is None, key_of(-5e-324) == key_of(0)
    (True, True)
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, str):
        return ("text", value)
    if isinstance(value, bool):
        return ("truth", value)
    if isinstance(value, Decimal) and value.is_nan():
        return None
    if isinstance(value, (int, float, Decimal, Fraction)):
        return ("number", _plain_number(value)) if value == value else None
    if isinstance(value, datetime.timedelta):
        return ("number", _plain_number(value.total_seconds()))
    if isinstance(value, bytes):
        return ("bytes", value)
    if isinstance(value, (datetime.date, datetime.time)):
        return ("time", value.isoformat())
    raise ValuesRefused(
        f"A value of type {type(value).__name__} cannot be a category or a label.",
        advice="Use text, numbers, truth values, bytes or dates.",
        where=Location(value=type(value).__name__),
        expected="text, numbers, truth values, bytes or dates",
    )


def is_missing(value: Any) -> bool:
    """Whether a value is missing; what cannot be told is there, and is refused by whoever reads it."""
    if isinstance(value, (str, int, bytes)):
        return False
    if value is None or isinstance(value, float):
        return value is None or value != value
    try:
        return key_of(value) is None
    except (ValueError, TypeError):
        return False


def _plain_number(value: int | float | Decimal | Fraction) -> int | float:
    if isinstance(value, (float, Decimal)) and not math.isfinite(value):
        return float(value)
    if value == int(value):
        return int(value)
    number = float(value)
    return number if abs(number) >= SMALLEST_NORMAL else 0


@dataclass(frozen=True)
class Coded:
    """A column of categories or labels: a code a row into a sorted list of keys, -1 where missing."""

    codes: IntArray
    keys: tuple[Key, ...]

    @classmethod
    def of(cls, column: Any) -> Coded:
        """Encode a NumPy array, an Arrow array or a sequence of Python values.

        >>> coded = Coded.of(["b", None, "a", "b"])
        >>> coded.codes.tolist(), [value for _, value in coded.keys]
        ([1, -1, 0, 1], ['a', 'b'])
        """
        if isinstance(column, np.ndarray) and column.dtype.kind in "OSUV":
            column = column.tolist()
        elif isinstance(column, np.ndarray) and is_narrow(column):
            return cls._of_narrow(column)
        elif isinstance(column, np.ndarray):
            column = as_arrow(column)
        if isinstance(column, (pa.Array, pa.ChunkedArray)):
            return cls._of_arrow(column)
        return cls._of_values(column)

    @classmethod
    def _of_narrow(cls, column: AnyArray) -> Coded:
        """Whole numbers close to each other: counted, where others are hashed."""
        low = int(column.min())
        codes = column.astype(np.int64) - low
        seen = np.bincount(codes) > 0
        if not seen.all():
            codes = (np.cumsum(seen) - 1)[codes]
        return cls(codes, tuple(("number", low + index) for index in np.flatnonzero(seen).tolist()))

    @classmethod
    def _of_arrow(cls, column: Any) -> Coded:
        column = plain_column(column)
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        codes = column.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        return cls._sorted(codes, [key_of(value) for value in column.dictionary.to_pylist()])

    @classmethod
    def _of_values(cls, values: Iterable[Any]) -> Coded:
        values = list(values)
        if set(map(type, values)) == {str}:
            numbers = {value: index for index, value in enumerate(dict.fromkeys(values))}
            found = np.fromiter(map(numbers.__getitem__, values), dtype=np.int64, count=len(values))
            return cls._sorted(found, list(map(key_of, numbers)))
        positions: dict[Key | None, int] = {}
        codes = np.array([positions.setdefault(key_of(v), len(positions)) for v in values], dtype=np.int64)
        return cls._sorted(codes, list(positions))

    @classmethod
    def _sorted(cls, codes: IntArray, keys: Sequence[Key | None]) -> Coded:
        """Sort the keys that occur, join the equal ones, and send missing to -1."""
        occurs = np.zeros(len(keys) + 1, dtype=bool)
        occurs[codes] = True
        ordered = sorted({key for key, seen in zip(keys, occurs, strict=False) if seen and key is not None})
        position = {key: index for index, key in enumerate(ordered)}
        renumber = np.array([position.get(key, -1) if key else -1 for key in keys] + [-1], dtype=np.int64)
        if not np.array_equal(renumber[:-1], np.arange(len(keys))):
            codes = renumber[codes]
        return cls(codes, tuple(ordered))

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: slice | AnyArray) -> Coded:
        """The same keys for fewer rows; keys that no longer occur stay listed."""
        return Coded(self.codes[rows], self.keys)

    def renumbered(self, positions: dict[Key, int]) -> IntArray:
        """Codes into another numbering; keys it lacks become -1."""
        return np.array([positions.get(key, -1) for key in self.keys] + [-1], dtype=np.int64)[self.codes]


def is_narrow(column: AnyArray) -> bool:
    """Whether an array holds whole numbers in a range so small that counting them all is cheap."""
    if column.dtype.kind not in "iu" or not column.size or column.max() > LARGEST:
        return False
    return int(column.max()) - int(column.min()) < NARROW


def as_array(keys: Sequence[Key]) -> AnyArray:
    """The plain values of keys of one kind, as a NumPy array: what `classes_` holds.

    >>> as_array([("number", 0), ("number", 2)])
    array([0, 2])
    """
    kinds = {kind for kind, _ in keys}
    values = [value for _, value in keys]
    if kinds <= {"number"} or kinds <= {"truth"} or kinds <= {"text"}:
        return np.array(values)
    mixed = np.empty(len(values), dtype=object)
    mixed[:] = values
    return mixed


def shown(key: Key) -> str:
    """A key as people read it.

    >>> shown(("number", 3)), shown(("text", "male"))
    ('3', 'male')
    """
    return str(key[1])
