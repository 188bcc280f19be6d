"""Columns in types that are read here: what other libraries hold otherwise is turned into one of them, or named.

Codes, run ends, views and half floats are other ways to write the same values. Lists, maps and structs are no values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from candide.data.arrays import AnyArray
from candide.data.errors import Location, ValuesRefused

READABLE = (
    pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_string,
    pa.types.is_large_string, pa.types.is_string_view, pa.types.is_binary, pa.types.is_large_binary,
    pa.types.is_fixed_size_binary, pa.types.is_date, pa.types.is_time, pa.types.is_timestamp, pa.types.is_duration,
    pa.types.is_null,
)  # fmt: skip
CODED = (pa.string(), pa.large_string(), pa.int64(), pa.float64())
"""What codes may stand for; codes for anything else are undone."""
COARSE_TIMES = ("Y", "M", "W", "D", "h", "m")


def plain_column(column: Any) -> Any:
    """An Arrow column with the same values in a type that is read here; what is no column of values is refused."""
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return plain_column(column.cast(kind.storage_type))
    if pa.types.is_dictionary(kind):
        return column if kind.value_type in CODED else decoded_dictionary(column)
    if pa.types.is_run_end_encoded(kind):
        return plain_column(pc.run_end_decode(column))
    if pa.types.is_float16(kind) or pa.types.is_binary_view(kind):
        return column.cast(pa.float32() if pa.types.is_float16(kind) else pa.large_binary())
    if not any(is_kind(kind) for is_kind in READABLE):
        raise ValuesRefused(f"it holds {kind}, and such a thing is no single value.", expected="single values")
    return column


def decoded_dictionary(column: Any) -> Any:
    """A column of codes with its values in a plain type."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    values = [plain_column(chunk.dictionary) for chunk in chunks]
    values = [part.cast(pa.large_string()) if pa.types.is_string_view(part.type) else part for part in values]
    return pa.chunked_array([part.take(chunk.indices) for part, chunk in zip(values, chunks, strict=True)])


def in_one_type(values: list[Any]) -> Any:
    """Python values as an Arrow array: as they are where they share a type, else as text."""
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError, ValueError):
        return pa.array([None if value is None else str(value) for value in values])


def as_arrow(values: AnyArray) -> Any:
    """One column of a NumPy array as an Arrow array; types that Arrow lacks are read as the nearest it has."""
    kind, unit = values.dtype.kind, np.datetime_data(values.dtype)[0] if values.dtype.kind in "mM" else ""
    if kind == "c":
        raise ValuesRefused("it holds complex numbers, and families are for real ones.", expected="real numbers")
    if unit in COARSE_TIMES:
        if kind == "m" and unit in "YM":
            raise ValuesRefused(
                f"it holds spans of {'years' if unit == 'Y' else 'months'}, which differ in length.",
                expected="spans of one length",
            )
        values = values.astype(f"{kind}8[s]")
    elif kind == "f" and values.dtype.itemsize not in (4, 8):
        values = values.astype(np.float64)
    try:
        return pa.array(np.ascontiguousarray(values), from_pandas=True)
    except (pa.ArrowException, ValueError, TypeError):
        raise ValuesRefused(
            f"it holds {values.dtype}, which is not read here.", where=Location(value=str(values.dtype))
        ) from None
