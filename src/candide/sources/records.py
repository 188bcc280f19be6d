"""Where the records of a delimited file end, minding quotes: a newline inside a quoted field ends nothing.

The same four states as every CSV reader: a quote opens a quoted field only at the field's start, a doubled quote
inside is a quote, and text after the closing quote belongs to the field.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from candide.data.arrays import AnyArray, IntArray
from candide.kernels import compiled

QUOTE = 34
LINE_FEED = 10
CARRIAGE_RETURN = 13
FEW_BYTES = 1 << 13
"""Up to here the kernel is run as plain Python: a file of one row should not wait for the compiler to wake up."""

FIELD_START, IN_FIELD, IN_QUOTES, AFTER_QUOTE = 0, 1, 2, 3


@compiled
def last_record_end(data: AnyArray, delimiter: int, newline: int) -> int:
    """The place after the last record of uint8 `data` that `newline` ends outside quotes; 0 when there is none."""
    state = FIELD_START
    end = 0
    for position in range(len(data)):
        byte = data[position]
        if state == IN_QUOTES:
            if byte == QUOTE:
                state = AFTER_QUOTE
        elif byte in (LINE_FEED, CARRIAGE_RETURN):
            state = FIELD_START
            if byte == newline:
                end = position + 1
        elif byte == delimiter:
            state = FIELD_START
        elif byte == QUOTE and state != IN_FIELD:
            state = IN_QUOTES
        else:
            state = IN_FIELD
    return end


@compiled
def find_records(data: AnyArray, delimiter: int, starts: IntArray, fields: IntArray) -> tuple[int, bool]:
    """Fill int64 `starts` and `fields` with each record's first byte and number of fields; 0 for an empty line.

    Gives the number of records and whether a quote was still open at the end. Both arrays are allocated by the
    caller, with room for one record more than there are line ends.
    """
    state = FIELD_START
    records = 0
    found = 1
    start = 0
    position = 0
    while position < len(data):
        byte = data[position]
        position += 1
        if state == IN_QUOTES:
            if byte == QUOTE:
                state = AFTER_QUOTE
        elif byte in (LINE_FEED, CARRIAGE_RETURN):
            starts[records] = start
            fields[records] = found if position - 1 > start else 0
            if byte == CARRIAGE_RETURN and position < len(data) and data[position] == LINE_FEED:
                position += 1
            records += 1
            found = 1
            start = position
            state = FIELD_START
        elif byte == delimiter:
            state = FIELD_START
            found += 1
        elif byte == QUOTE and state != IN_FIELD:
            state = IN_QUOTES
        else:
            state = IN_FIELD
    if start < len(data):
        starts[records] = start
        fields[records] = found
        records += 1
    return records, state == IN_QUOTES


def records_of(data: bytes, delimiter: str) -> tuple[IntArray, IntArray, bool]:
    """Where each record starts (and, last, where the data ends), its fields, and whether a quote stays open.

    >>> starts, fields, _ = records_of(b'a,b\\n1,"x\\ny"\\n', ",")
    >>> starts.tolist(), fields.tolist()
    ([0, 4, 12], [2, 2])
    """
    room = data.count(b"\n") + data.count(b"\r") + 1
    starts, fields = np.empty(room + 1, dtype=np.int64), np.empty(room, dtype=np.int64)
    bytes_, find = np.frombuffer(data, np.uint8), find_records
    if len(data) <= FEW_BYTES:
        find = getattr(find_records, "py_func", find_records)
    records, is_open = find(bytes_, ord(delimiter), starts, fields)
    starts[records] = len(data)
    return starts[: records + 1], fields[:records], bool(is_open)


def cut(data: bytes, starts: IntArray, ends: IntArray) -> Any:
    """The bytes from each start to its end, in order, as an Arrow array.

    >>> cut(b"one, two", np.array([0, 5]), np.array([3, 8])).to_pylist()
    [b'one', b'two']
    """
    if not len(starts):
        return pa.array([], pa.large_binary())
    bounds = np.stack([starts, ends], axis=1).ravel()
    with_gaps = pa.Array.from_buffers(
        pa.large_binary(), len(bounds) - 1, [None, pa.py_buffer(bounds), pa.py_buffer(data)]
    )
    return with_gaps.take(pa.array(np.arange(0, len(bounds) - 1, 2)))


def count_byte(data: bytes, byte: bytes, end: int) -> int:
    """How often a byte occurs before `end`; faster than `bytes.count` where it occurs often."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8, end) == byte[0]))


def end_of_records(data: bytes, delimiter: str, newline: bytes) -> int:
    """Where the last whole record ends; 0 when none does."""
    if b'"' not in data:
        return data.rfind(newline) + 1
    return int(last_record_end(np.frombuffer(data, np.uint8), ord(delimiter), newline[0]))
