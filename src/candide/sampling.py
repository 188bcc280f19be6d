"""Rows to look at before choosing: picked by a hash of what they hold, so that their order does not matter."""

from __future__ import annotations

import zlib

import numpy as np
import pyarrow as pa

from candide.batch import Batch, MatrixColumns, as_numbers
from candide.errors import ColumnRefused
from candide.kernels.hashing import Hashes, add_numbers, add_strings, mix_all
from candide.values import Coded

ROWS_TO_LOOK_AT = 50_000


def picked(batch: Batch, limit: int = ROWS_TO_LOOK_AT) -> Batch:
    """At most `limit` rows: all of them, or those whose content hashes lowest.

    Equal rows are numbered, in any order since they are equal, and the number is hashed too: so the pick depends
    on which rows there are and not on where they stand.
    """
    if len(batch) <= limit:
        return batch
    content = row_hashes(batch)
    order = np.argsort(content)
    starts = np.flatnonzero(np.diff(content[order], prepend=content[order[0]] + np.uint64(1)))
    number = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    lottery = mix_all(content[order] ^ mix_all(number.astype(np.uint64)))
    return batch.take(np.sort(order[np.argpartition(lottery, limit)[:limit]]))


def row_hashes(batch: Batch) -> Hashes:
    """A 64-bit hash of each row's values, whichever order the columns have."""
    totals = np.zeros(len(batch), dtype=np.uint64)
    salts = np.array([zlib.crc32(name.encode("utf8", "surrogatepass")) for name in batch.names], dtype=np.uint64)
    if isinstance(batch.columns, MatrixColumns) and batch.columns.matrix.dtype != object:
        add_numbers(batch.numbers(batch.names), salts, totals)
        return totals
    for place, name in enumerate(batch.names):
        add_column(batch, place, name, salts[place], totals)
    return totals


def add_column(batch: Batch, place: int, name: str, salt: np.uint64, totals: Hashes) -> None:
    """Add the hashes of one column: the bytes of strings, the bits of numbers, the identity of anything else."""
    raw = batch.columns.raw(place)
    if isinstance(raw, pa.ChunkedArray):
        raw = raw.combine_chunks()
    if isinstance(raw, pa.Array) and (pa.types.is_string(raw.type) or pa.types.is_large_string(raw.type)):
        strings = raw.cast(pa.large_string())
        _, offsets, data = strings.buffers()
        ends = np.frombuffer(offsets, dtype=np.int64)[strings.offset : strings.offset + len(strings) + 1]
        add_strings(ends, np.frombuffer(data or b"\0", dtype=np.uint8), salt, totals)
        return
    try:
        add_numbers(as_numbers(raw, name)[:, None], np.array([salt]), totals)
    except (ColumnRefused, ValueError):
        coded = Coded.of(raw)
        known = [zlib.crc32(repr(key).encode("utf8", "surrogatepass")) for key in coded.keys]
        totals += mix_all(np.array([*known, 0], dtype=np.uint64)[coded.codes] ^ salt)
