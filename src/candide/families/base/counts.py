"""Counts by column, dense or sparse: read, refused, summed and scored in one way for all who need them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from candide.data.arrays import AnyArray, Counts, FloatArray, IntArray, is_sparse
from candide.data.batch import Batch
from candide.families.base.support import COUNTS, Support, refusal
from candide.kernels.counting import first_bad_count, sum_dense, sum_sparse
from candide.kernels.scoring import add_dense, add_sparse

CACHE_LINE = 64


def read_counts(batch: Batch, columns: tuple[str, ...], family: str) -> Counts:
    """Counts for learning; the first entry that is no count is refused."""
    counts = batch.counts(columns)
    index = first_bad_count(entries(counts))
    if index >= 0:
        row, column = row_and_column(counts, index)
        raise refusal(columns[column], family, COUNTS.needs, batch.start + row, float(entries(counts)[index]))
    return counts


def view_counts(batch: Batch, columns: tuple[str, ...]) -> Counts:
    """Counts for predicting; entries that are no counts say nothing."""
    counts = batch.counts(columns)
    return counts if first_bad_count(entries(counts)) < 0 else inside(COUNTS, counts)


def counts_of_rows(counts: Counts, wanted: slice | IntArray) -> Counts:
    """Those of some rows."""
    by_row: Any = counts
    taken: Counts = by_row[wanted]
    return taken


def entries(counts: Counts) -> AnyArray:
    """The stored numbers, flat."""
    return counts.data if is_sparse(counts) else counts.ravel()


def row_and_column(counts: Counts, index: int) -> tuple[int, int]:
    """Row and column of the entry at a flat place."""
    if is_sparse(counts):
        return int(np.searchsorted(counts.indptr, index, side="right")) - 1, int(counts.indices[index])
    row, column = divmod(index, counts.shape[1])
    return row, column


def inside(support: Support, values: Counts) -> Counts:
    """The same values with those outside the support turned into missing."""
    if not is_sparse(values):
        return support.without_outside(values)
    data = support.without_outside(np.asarray(values.data, dtype=np.float64))
    from scipy.sparse import csr_array

    return csr_array((data, values.indices, values.indptr), shape=values.shape)


def sum_counts(counts: Counts, labels: IntArray, weights: AnyArray, table: AnyArray) -> None:
    """Add each row's counts to its class in table[column, class]."""
    if is_sparse(counts):
        sum_sparse(counts.indptr, counts.indices, counts.data, labels, weights, table)
    else:
        sum_dense(counts, labels, weights, table)


def add_counts(counts: Counts, table: FloatArray, joint: FloatArray) -> None:
    """Add count * table[column, class] over each row's counts into joint[row, class]."""
    if is_sparse(counts):
        add_sparse(counts.indptr, counts.indices, counts.data, table, joint)
    else:
        add_dense(counts, table, joint)


def spoken(counts: Counts) -> list[tuple[int, float]]:
    """The columns of a single row that hold a count, with it."""
    if is_sparse(counts):
        pairs = sorted(zip(counts.indices.tolist(), counts.data.tolist(), strict=True))
    else:
        pairs = list(enumerate(np.asarray(counts)[0].tolist()))
    return [(index, count) for index, count in pairs if count > 0]


def missing_indices(counts: Counts) -> list[int]:
    """The columns of a single row where a count is missing."""
    if is_sparse(counts):
        indices: list[int] = np.sort(counts.indices[np.isnan(counts.data)]).tolist()
        return indices
    return list(np.flatnonzero(np.isnan(np.asarray(counts, dtype=np.float64)[0])).tolist())


def cache_lines(rows: int, width: int, dtype: DTypeLike) -> AnyArray:
    """Zeros [row, at least width] where every row starts on a cache line: a random row touches as few as can be."""
    size = np.dtype(dtype).itemsize
    padded = -(-width * size // CACHE_LINE) * CACHE_LINE
    memory = np.zeros(rows * padded + CACHE_LINE, dtype=np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    return memory[start : start + rows * padded].view(dtype).reshape(rows, padded // size)


def lined_up(table: FloatArray) -> FloatArray:
    """The same table on cache lines, zeros filling the rows up; kernels take it like the table itself."""
    padded = cache_lines(table.shape[0], table.shape[1], table.dtype)
    padded[:, : table.shape[1]] = table
    return padded
