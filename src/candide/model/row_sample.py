"""Rows to look at before choosing: picked by a hash of what they hold, so that their order does not matter."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from candide.data.arrays import FloatArray, IntArray, readonly
from candide.data.batch import Batch, MatrixColumns, as_numbers
from candide.data.errors import ColumnRefused, ValuesRefused
from candide.data.joined import joined_batches
from candide.data.values import Coded
from candide.kernels.hashing import Hashes, add_numbers, add_strings, mix_all
from candide.kernels.occurrences import count_earlier

ROWS_TO_LOOK_AT = 50_000
BYTES_TO_LOOK_AT = 50_000_000
LARGEST_HASH = 2.0**64 - 2048
ALL_BITS, STEADY_BITS = 53, 24
"""Significant bits of numbers that rows are told apart by: all, or as many as no rounding error reaches."""

MOST_KEPT = 3
"""Rows wait to be picked until there are so many times as many as wanted."""

FEWEST_MET, MOST_MET = 1 << 16, 1 << 23
"""Room for the hashes of rows met, half of it in use: 128 MB at the most."""


def picked(batch: Batch, limit: int = ROWS_TO_LOOK_AT) -> Batch:
    """At most `limit` rows and 50 MB: all of them, or those whose content hashes lowest.

    Equal rows are numbered, in any order since they are equal, and the number is hashed too: so the pick depends
    on which rows there are and not on where they stand.
    """
    limit = min(limit, int(len(batch) * BYTES_TO_LOOK_AT / max(batch.columns.nbytes, 1)) + 1)
    if len(batch) <= limit:
        return batch
    content = row_hashes(batch)
    order = np.argsort(content)
    starts = np.flatnonzero(np.diff(content[order], prepend=content[order[0]] + np.uint64(1)))
    number = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    random_keys = mix_all(content[order] ^ mix_all(number.astype(np.uint64)))
    return batch.take(np.sort(order[np.argpartition(random_keys, limit)[:limit]]))


def canonical_rows(batch: Batch) -> Batch:
    """The same rows in an order of their own, by a hash of values, label and weight.

    What is computed from them then has the same bits in whichever order they came; it is also as good as shuffled.
    """
    return batch.take(steady_order(batch))


def steady_order(batch: Batch) -> IntArray:
    """Rows as good as shuffled: by a hash of what they hold that the last digits of numbers do not change.

    Else one unit in the last place of one column would deal all rows anew. What is alike then goes by its last digits.
    """
    exact = labelled_hashes(batch)
    if batch.weights is not None:
        exact += mix_all(np.asarray(batch.weights, dtype=np.float64).view(np.uint64) + np.uint64(1))
    return np.lexsort((exact, mix_all(labelled_hashes(batch, STEADY_BITS))))


class Reservoir:
    """Rows of a long source to look at again: as many as `limit`, picked by a hash of what they hold.

    Equal rows are numbered as they come, and the number is hashed too: so the pick does not depend on their order. Of
    very many different rows those that come last are all taken for new ones.
    """

    def __init__(self, limit: int = ROWS_TO_LOOK_AT) -> None:
        self.limit = limit
        self.seen = 0
        self.pieces: list[tuple[Hashes, Batch]] = []
        self.met = Met()

    @classmethod
    def filled(cls, rows: Batch, seen: int) -> Reservoir:
        """Rows that were picked elsewhere, from so many."""
        reservoir = cls()
        reservoir.seen, reservoir.pieces = seen, [(np.zeros(len(rows), np.uint64), rows)]
        return reservoir

    def watched(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The same batches, a few rows of each kept in passing."""
        for batch in batches:
            content = labelled_hashes(batch)
            random_keys = mix_all(content ^ mix_all(self.met.earlier(content)))
            self.seen += len(batch)
            self._keep(random_keys, batch)
            yield batch

    def _keep(self, random_keys: Hashes, batch: Batch) -> None:
        share = 1.0 if self.seen <= 2 * self.limit else 2 * self.limit / self.seen
        sampled = np.flatnonzero(random_keys <= np.uint64(share * LARGEST_HASH))
        some = len(sampled) < len(batch)
        self.pieces.append((random_keys[sampled], batch.take(sampled)) if some else (random_keys, batch))
        if sum(len(keys) for keys, _ in self.pieces) > MOST_KEPT * self.limit:
            self.pieces = [self.lowest()]

    def rows(self) -> Batch:
        """The rows with the lowest hashes among all that were seen."""
        return self.lowest()[1]

    def lowest(self) -> tuple[Hashes, Batch]:
        """As many rows as are wanted, in one piece, and the hash by which each was picked."""
        keys = np.concatenate([random_keys for random_keys, _ in self.pieces])
        least = np.sort(keys)[min(self.limit, len(keys)) - 1]
        kept = [(random_keys <= least, batch) for random_keys, batch in self.pieces]
        rows = joined_batches([batch.take(np.flatnonzero(low)) for low, batch in kept if low.any()])
        return keys[keys <= least], rows


class Met:
    """The rows that were met, by their hashes: how often each, for the first millions of different ones."""

    def __init__(self) -> None:
        self.known = np.zeros(FEWEST_MET, np.uint64)
        self.counts = np.zeros(FEWEST_MET, np.int64)

    def earlier(self, hashes: Hashes) -> Hashes:
        """How often each row was met before, in order."""
        found, row = np.zeros(len(hashes), np.uint64), 0
        while row < len(hashes):
            room = max(len(self.known) // 2 - int(np.count_nonzero(self.counts)), 0)
            if not room and len(self.known) < MOST_MET:
                self._grow()
                continue
            row = count_earlier(hashes, row, self.known, self.counts, room, found)
        return found

    def _grow(self) -> None:
        known, counts = self.known[self.counts > 0], self.counts[self.counts > 0]
        self.known, self.counts = np.zeros(2 * len(self.known), np.uint64), np.zeros(2 * len(self.counts), np.int64)
        count_earlier(known, 0, self.known, self.counts, len(known) + 1, np.zeros(len(known), np.uint64))
        places = np.flatnonzero(self.counts)
        self.counts[places[np.argsort(self.known[places])]] = counts[np.argsort(known)]


def labelled_hashes(batch: Batch, bits: int = ALL_BITS) -> Hashes:
    """A 64-bit hash of each row's values and label."""
    totals = row_hashes(batch, bits)
    if batch.labels is not None:
        marks = [zlib.crc32(repr(key).encode("utf8", "surrogatepass")) for key in batch.labels.keys]
        totals += mix_all(np.array([*marks, 0], dtype=np.uint64)[batch.labels.codes])
    return totals


def row_hashes(batch: Batch, bits: int = ALL_BITS) -> Hashes:
    """A 64-bit hash of each row's values, numbers rounded to so many bits, whichever order the columns have."""
    totals = np.zeros(len(batch), dtype=np.uint64)
    salts = np.array([zlib.crc32(name.encode("utf8", "surrogatepass")) for name in batch.names], dtype=np.uint64)
    if isinstance(batch.columns, MatrixColumns) and batch.columns.matrix.dtype != object:
        add_numbers(rounded_to_bits(batch.numbers(batch.names), bits), salts, totals)
        return totals
    for index, name in enumerate(batch.names):
        add_column(batch, index, name, salts[index], totals, bits)
    return totals


def rounded_to_bits(numbers: FloatArray, bits: int) -> FloatArray:
    """Numbers rounded to so many significant bits.

    >>> rounded_to_bits(np.array([0.1, np.nextafter(0.1, 1.0)]), 24).tolist() == [0.10000000149011612] * 2
    True
    """
    if bits >= ALL_BITS:
        return numbers
    unit = 1 << (ALL_BITS - bits)
    whole = np.ascontiguousarray(numbers, dtype=np.float64).view(np.int64)
    near = np.where(np.isfinite(numbers), (whole + unit // 2) & -unit, whole)
    return np.asarray(near.view(np.float64))


def add_column(batch: Batch, index: int, name: str, salt: np.uint64, totals: Hashes, bits: int = ALL_BITS) -> None:
    """Add the hashes of one column: the bytes of strings, the bits of numbers, the identity of anything else."""
    raw = batch.columns.raw(index)
    if isinstance(raw, pa.ChunkedArray):
        raw = raw.combine_chunks()
    if isinstance(raw, pa.Array) and (pa.types.is_nested(raw.type) or pa.types.is_interval(raw.type)):
        raw = pa.array(list(map(str, raw.to_pylist())), pa.string())  # lists are only there to be ignored
    if isinstance(raw, pa.Array) and (pa.types.is_string(raw.type) or pa.types.is_large_string(raw.type)):
        strings = raw.cast(pa.large_string())
        _, offsets, data = strings.buffers()
        ends = np.frombuffer(offsets, dtype=np.int64)[strings.offset : strings.offset + len(strings) + 1]
        letters = readonly(np.frombuffer(data or b"\0", dtype=np.uint8))
        add_strings(readonly(ends), letters, salt, bits >= ALL_BITS, totals)
        return
    try:
        add_numbers(rounded_to_bits(as_numbers(raw, name)[:, None], bits), np.array([salt]), totals)
    except (ColumnRefused, ValueError):
        try:
            coded = Coded.of(raw)
        except ValuesRefused:
            return  # the column will be refused, or left out, by whoever decides about it
        known = [zlib.crc32(repr(key).encode("utf8", "surrogatepass")) for key in coded.keys]
        totals += mix_all(np.array([*known, 0], dtype=np.uint64)[coded.codes] ^ salt)
