"""The values of columns as they are: numbers, whatever else there is, and where in the calendar times fall."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.batch import Batch, SparseColumns
from candide.data.readable import plain_column
from candide.data.times import time_kind
from candide.data.values import Coded
from candide.families.base.calendar_parts import PARTS, part_key, parts_of
from candide.families.base.identity import MISSING_VALUE, CodedColumns
from candide.families.base.support import REAL

NUMBER = "number"


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """Numbers[row, column], NaN where there is none; the other values, and the parts of times, of some columns."""

    numbers: FloatArray
    others: CodedColumns
    parts: CodedColumns
    batch: Batch
    """The rows themselves, for the families that the columns turn out to have."""

    @classmethod
    def of(cls, batch: Batch, columns: tuple[str, ...], missing_is_value: bool) -> ColumnValues:
        """Read each column once; infinite numbers are left for the caller to refuse or to pass over."""
        if isinstance(batch.columns, SparseColumns):
            return cls(batch.numbers(columns), [], [], batch)
        types = [column_type(batch.columns.raw(position)) for position in batch.positions(columns)]
        plain = [name for name, kind in zip(columns, types, strict=True) if kind is not None]
        if len(plain) == len(columns):
            numbers = batch.numbers(columns)
        else:
            numbers = np.full((len(batch), len(columns)), np.nan)
            numbers[:, [columns.index(name) for name in plain]] = batch.numbers(plain)
        others: CodedColumns = []
        for index, (name, kind) in enumerate(zip(columns, types, strict=True)):
            if kind is None:
                coded = batch.categories(name)
                if is_mixed(batch.columns.raw(batch.position(name)), coded):
                    coded = without_numbers(coded, numbers[:, index])
                others.append((name, with_missing(coded, numbers[:, index]) if missing_is_value else coded))
            elif missing_is_value:
                others.append((name, with_missing(Coded(np.full(len(batch), -1), ()), numbers[:, index])))
        parts = [
            part
            for index, (name, kind) in enumerate(zip(columns, types, strict=True))
            if kind
            for part in calendar_parts(name, numbers[:, index])
        ]
        return cls(numbers, others, parts, batch)

    def at(self, wanted: slice | IntArray) -> ColumnValues:
        """The values of some rows."""
        if isinstance(wanted, slice):
            some = self.batch.rows(*wanted.indices(len(self.batch))[:2])
        else:
            some = self.batch.take(wanted)
        others, parts = ([(name, coded[wanted]) for name, coded in columns] for columns in (self.others, self.parts))
        return ColumnValues(self.numbers[wanted], others, parts, some)

    def without_infinite(self) -> ColumnValues:
        """The same with infinite numbers turned into missing ones."""
        return ColumnValues(REAL.without_outside(self.numbers), self.others, self.parts, self.batch)

    @property
    def length(self) -> AnyArray:
        """How many columns of each row hold a value."""
        there = (~np.isnan(self.numbers)).sum(axis=1)
        for _, coded in self.others:
            missing = coded.keys.index(MISSING_VALUE) if MISSING_VALUE in coded.keys else -1
            there = there + ((coded.codes >= 0) & (coded.codes != missing))
        return there.astype(np.float64)


def column_type(raw: Any) -> str | None:
    """What kind of times a column of numbers holds, nothing where they are plain; None where it is no such column."""
    if isinstance(raw, np.ndarray):
        return "" if raw.dtype.kind in "iuf" else None
    if not isinstance(raw, (pa.Array, pa.ChunkedArray)):
        return None
    kind = plain_column(raw).type
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    clock = pa.types.is_duration(kind) or pa.types.is_time(kind)
    return time_kind(kind) if numeric or clock or (pa.types.is_temporal(kind) and bool(time_kind(kind))) else None


def is_mixed(raw: Any, coded: Coded) -> bool:
    """Whether numbers stand among values of other kinds, and nobody declared them to be categories."""
    declared = isinstance(raw, (pa.Array, pa.ChunkedArray)) and pa.types.is_dictionary(raw.type)
    return not declared and any(kind == NUMBER for kind, _ in coded.keys)


def without_numbers(coded: Coded, numbers: FloatArray) -> Coded:
    """The values that are no numbers; those that are, are written to their rows."""
    doubles = np.array([as_double(value) if kind == NUMBER else np.nan for kind, value in coded.keys] + [np.nan])
    numbers[:] = doubles[coded.codes]
    kept = {key: index for index, key in enumerate(key for key in coded.keys if key[0] != NUMBER)}
    return Coded(coded.renumbered(kept), tuple(kept))


def as_double(number: float) -> float:
    """A number as a double, infinite where there is none so large."""
    try:
        return float(number)
    except OverflowError:
        return np.inf if number > 0 else -np.inf


def with_missing(coded: Coded, numbers: FloatArray) -> Coded:
    """The same values, with one more for rows that have none at all."""
    codes = np.where((coded.codes < 0) & np.isnan(numbers), 0, np.where(coded.codes < 0, -1, coded.codes + 1))
    return Coded(codes, (MISSING_VALUE, *coded.keys))


def calendar_parts(name: str, seconds: FloatArray) -> Iterator[tuple[str, Coded]]:
    """Each part of the calendar that times fall into."""
    for part, names in PARTS.items():
        yield name, Coded(parts_of(seconds, part), tuple(part_key(part, number) for number in range(len(names))))
