"""Arrow's many types as the few that rows are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from candide.data.errors import Location
from candide.sources.refused import SourceRefused

types = pa.types


def simplified(table: Any) -> Any:
    """The same values in simpler types: what is encoded is decoded, and an extension is what it stores."""
    for index, name in enumerate(table.column_names):
        column = table.column(index)
        while (simpler := _simpler(column)) is not column:
            column = simpler
        if column is not table.column(index) and column.type != table.column(index).type:
            table = table.set_column(index, name, column)
    return table


def _simpler(column: Any) -> Any:
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return _mapped(column, lambda chunk: chunk.storage, kind.storage_type)
    if types.is_dictionary(kind) and types.is_nested(kind.value_type):
        return _mapped(column, lambda chunk: chunk.dictionary.take(chunk.indices), kind.value_type)
    if types.is_run_end_encoded(kind):
        return _mapped(column, pc.run_end_decode, kind.value_type)
    if types.is_decimal(kind) and kind.bit_width < 128:
        return column.cast(pa.decimal128(kind.precision, kind.scale))
    if kind == pa.binary_view():
        return column.cast(pa.binary())
    return column


def _mapped(column: Any, change: Callable[[Any], Any], kind: Any) -> Any:
    return pa.chunked_array([change(chunk) for chunk in column.chunks], kind)


def refuse_unions(schema: Any, name: str) -> None:
    """A column of several types at once cannot even be copied by Arrow."""
    for part in schema:
        if types.is_union(part.type):
            raise SourceRefused(
                f"{name}: column '{part.name}' holds values of several types at once (a union), which are not read.",
                advice="Write the file without it, or with one column for each type.",
                where=Location(name, column=part.name),
                expected="values of one type",
            )


def nested(kind: Any) -> str | None:
    """What a column holds whose values are no single things; None where there is something to learn.

    >>> nested(pa.list_(pa.int64())), nested(pa.int64())
    ('lists', None)
    """
    words = (
        (types.is_map, "maps"),
        (types.is_nested, "lists"),
        (types.is_interval, "spans of months, days and nanoseconds"),
    )
    return next((word for is_one, word in words if is_one(kind)), None) if isinstance(kind, pa.DataType) else None


def duration(kind: Any) -> str | None:
    """What a column of durations holds, which are numbers but no names of classes."""
    return "durations" if types.is_duration(kind) else None
