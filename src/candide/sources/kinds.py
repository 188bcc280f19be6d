"""What the values of a column are: numbers, truth values, dates or text; decided once, from a sample of text.

| kind | accepts | Arrow type |
|---|---|---|
| `number` | `12`, `-0.5`, `1e9`, `inf`, spaces around | int64 where all are whole, else float64 |
| `integer` | whole numbers of 64 bits, kept exactly even beyond 2^53 | int64 |
| `truth` | `true` and `false`, also `True` and `TRUE` | bool |
| `date` | `2026-01-31` | date32 |
| `time` | `2026-01-31 12:00`, also with `T`, seconds and up to six decimals | timestamp |
| `instant` | the same with `Z` or `+01:00` behind it | timestamp in UTC |
| `text` | everything | string |

An empty field is missing, whatever the kind. The words in `MISSING` are missing too, but not in text, where "NA" may
be Namibia. Whole and broken numbers are one kind, since 1 and 1.0 are one value: a column of whole numbers
in which 2.5 turns up later is not an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from candide.arrays import AnyArray
from candide.errors import ColumnRefused, suggestion
from candide.sources.refused import SourceRefused

MISSING = ("", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "None")
TRUE = ("true", "True", "TRUE")
FALSE = ("false", "False", "FALSE")
NULL = pa.nulls(1, pa.string())[0]
"""Not `pa.scalar(None)`: taking a Python value makes PyArrow import pandas, which takes half a second."""

LARGEST_EXACT = 2**53

NOTHING = f"^({'|'.join(MISSING)})$"
WHOLE = r"^[-+]?[0-9]+$"
NUMBER = r"^(?i:[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?|[-+]?inf(inity)?)$"
DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?$"
INSTANT = TIME[:-1] + r"(Z|[-+][0-9]{2}(:?[0-9]{2})?)$"


@dataclass(frozen=True)
class Kind:
    """One kind of values: its name, how its text looks and the Arrow type it is read into."""

    name: str
    pattern: str
    arrow: Any
    example: str


KINDS = {
    kind.name: kind
    for kind in (
        Kind("number", NUMBER, pa.float64(), "a number such as 2.5"),
        Kind("integer", WHOLE, pa.int64(), "a whole number of 64 bits"),
        Kind("truth", f"^({'|'.join(TRUE + FALSE)})$", pa.bool_(), "true or false"),
        Kind("date", DATE, pa.date32(), "a date such as 2026-01-31"),
        Kind("time", TIME, pa.timestamp("us"), "a time such as 2026-01-31 12:00"),
        Kind("instant", INSTANT, pa.timestamp("us", "UTC"), "a time with its zone, such as 2026-01-31T12:00Z"),
        Kind("text", "", pa.string(), "text"),
    )
}
TEXT = KINDS["text"]


def kinds_given(types: Mapping[str, str] | None, names: tuple[str, ...]) -> dict[str, Kind]:
    """The kinds a user wrote by hand, checked."""
    given = {}
    for column, kind in (types or {}).items():
        if column not in names:
            raise ColumnRefused(f"There is no column '{column}' to give a type. {suggestion(column, names)}")
        if kind not in KINDS:
            raise SourceRefused(f"'{kind}', given for column '{column}', is no type. {suggestion(str(kind), KINDS)}")
        given[column] = KINDS[kind]
    return given


def decided(texts: Any) -> tuple[Kind, Any]:
    """The kind that all values of a sample fit, and the Arrow type to try first; text when there are none.

    >>> decided(pa.array(["1", "NA", "30"]))[1], decided(pa.array(["1", "x"]))[0].name
    (DataType(int64), 'text')
    """
    values = present(texts)
    if values.null_count == len(values):
        return TEXT, pa.string()
    if matches_all(values, WHOLE):
        return _whole(values)
    for name in ("number", "truth", "date", "time", "instant"):
        kind = KINDS[name]
        if matches_all(values, kind.pattern) and not fitted(values, kind)[1].any():
            return kind, kind.arrow
    return TEXT, pa.string()


def as_expected(kind: Kind, arrow: Any, expected: str | None) -> tuple[Kind, Any]:
    """What a sample looks like, or what its column is known as where the two clash.

    Text may look like numbers; but numbers that look like text have a wrong value somewhere, which is then found.
    """
    if expected is None or (kind is not TEXT and expected != TEXT.name):
        return kind, arrow
    return KINDS[expected], KINDS[expected].arrow


def _whole(values: Any) -> tuple[Kind, Any]:
    """Whole numbers: exact ones where floats could not hold them, floats where 64 bits could not."""
    wholes, misfits = fitted(values, KINDS["integer"])
    if misfits.any():
        return KINDS["number"], pa.float64()
    return (KINDS["integer"] if beyond_floats(wholes) else KINDS["number"]), pa.int64()


def beyond_floats(wholes: Any) -> bool:
    """Whether some whole number is too large for a float to hold exactly."""
    ends = pc.min_max(wholes).as_py()
    return ends["min"] is not None and (ends["max"] > LARGEST_EXACT or ends["min"] < -LARGEST_EXACT)


def present(texts: Any) -> Any:
    """Text without the spaces around it, null where it says that nothing is there."""
    trimmed = pc.utf8_trim(texts, " \t")
    says_nothing = pc.match_substring_regex(trimmed, NOTHING)
    return pc.if_else(says_nothing, NULL, trimmed)


def matches_all(values: Any, pattern: str) -> bool:
    """Whether every value that is there looks as the pattern says."""
    return pc.all(pc.match_substring_regex(values, pattern)).as_py() is not False


def fitted(column: Any, kind: Kind) -> tuple[Any, AnyArray]:
    """A column as the given kind, null where a value does not fit, and which rows those are.

    >>> values, misfits = fitted(pa.array(["1", "", "x"]), KINDS["number"])
    >>> values.to_pylist(), misfits.tolist()
    ([1.0, None, None], [False, False, True])
    """
    if isinstance(column, pa.ChunkedArray):
        column = one_chunk(column)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if kind is TEXT:
        return _as_text(column), np.zeros(len(column), dtype=bool)
    if not is_text(column.type):
        return _cast(column, kind)
    values = present(column.cast(pa.string()))
    looks_right = pc.or_kleene(pc.match_substring_regex(values, kind.pattern), pc.is_null(values))
    return _cast(pc.if_else(looks_right, values, NULL), kind, ~as_truths(looks_right))


def as_truths(column: Any) -> AnyArray:
    """A fresh Arrow column of truths, none missing, as NumPy has them; `to_numpy` would import pandas."""
    ones = column.cast(pa.uint8())
    return np.frombuffer(ones.buffers()[1], np.uint8, len(ones)).astype(bool) if len(ones) else np.zeros(0, dtype=bool)


def _as_text(column: Any) -> Any:
    return column if is_text(column.type) else column.cast(pa.string())


def _cast(values: Any, kind: Kind, misfits: AnyArray | None = None) -> tuple[Any, AnyArray]:
    """Cast at once where every value allows it, else value by value (a date may look right and be 31 February)."""
    misfits = np.zeros(len(values), dtype=bool) if misfits is None else misfits
    try:
        return values.cast(kind.arrow), misfits
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        pass
    kept = []
    for row, value in enumerate(values):
        try:
            kept.append(value.cast(kind.arrow).as_py())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            kept.append(None)
            misfits[row] = True
    return pa.array(kept, kind.arrow), misfits


def settled(column: Any, kind: Kind) -> Any:
    """The same values whatever rows came with them: whole numbers that floats cannot hold become floats.

    A block of whole numbers is read as int64 and a block with 2.5 in it as float64. Up to 2^53 that makes no
    difference; beyond it, rounding always is what makes the answer independent of where the file was cut.
    """
    if kind.name == "number" and pa.types.is_integer(column.type) and beyond_floats(column):
        return column.cast(pa.float64(), safe=False)
    return column


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is one of the string types."""
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def one_chunk(column: Any) -> Any:
    """A column as one Arrow array, without a copy where it already is."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def empty_is_missing(texts: Any) -> Any:
    """The same text, sharing memory, with null where it is empty."""
    lengths = pc.binary_length(texts)
    if len(texts) == 0 or pc.min(lengths).as_py() != 0:
        return texts
    there = pc.and_kleene(lengths.cast(pa.bool_()), pc.is_valid(texts))
    if texts.offset or there.offset:
        return pc.if_else(there, texts, pa.nulls(1, texts.type)[0])
    _, offsets, data = texts.buffers()
    return pa.Array.from_buffers(texts.type, len(texts), [there.buffers()[1], offsets, data])
