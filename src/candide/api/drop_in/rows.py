"""The rows of an array, some at a time, in the one form that kernels take: nothing is copied that need not be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.kernels.threads import in_parallel

Result = TypeVar("Result")

PIECE = 1 << 20
"""Values handed to kernels at once: enough that handing them over costs nothing beside the work."""

SPARSE_PIECE = 1 << 22
"""The same of a sparse matrix, whose rows are counted class by class: enough that a class uses its cache many times."""

SPAN = 1 << 20
"""Values worth a table of their own, to be added up with the others."""

MOST_SPANS = 16


@dataclass
class SparseRows:
    """Some rows of a sparse matrix in compressed rows, sharing its memory."""

    indptr: AnyArray
    indices: AnyArray
    data: AnyArray
    shape: tuple[int, int]

    @classmethod
    def of(cls, X: Any, rows: slice) -> SparseRows:
        """Some rows of a matrix; numbers of another kind than float64 are copied."""
        first, last = X.indptr[rows.start], X.indptr[rows.stop]
        data = X.data[first:last].astype(np.float64, copy=False)
        pointers = X.indptr[rows.start : rows.stop + 1] - first
        return cls(pointers, X.indices[first:last], data, (len(pointers) - 1, X.shape[1]))

    def toarray(self) -> FloatArray:
        return sp.csr_array((self.data, self.indices, self.indptr), self.shape).toarray()


def values_in(X: Any) -> int:
    """How many values are stored."""
    return int(X.size if isinstance(X, np.ndarray) else X.data.size)


def row_spans(X: Any, table: int) -> list[slice]:
    """Cut the rows into spans, each with enough values to be worth counting into a table of that many cells.

    The cut depends on the data alone, not on the machine: fractional counts are rounded alike everywhere.
    """
    rows = X.shape[0]
    number = min(MOST_SPANS, max(1, values_in(X) // max(SPAN, table)))
    edges = [rows * index // number for index in range(number + 1)]
    return [slice(start, stop) for start, stop in pairwise(edges)]


def row_pieces(X: Any, span: slice | None = None) -> Iterator[slice]:
    """Cut a span, or all the rows, into pieces of about so many values as kernels are handed at once."""
    start, stop, _ = (span or slice(None)).indices(X.shape[0])
    size = PIECE if isinstance(X, np.ndarray) else SPARSE_PIECE
    step = max(1, size * X.shape[0] // max(1, values_in(X)))
    for first in range(start, stop, step):
        yield slice(first, min(first + step, stop))


def as_floats(X: Any, rows: slice) -> FloatArray | SparseRows:
    """Some rows as float64: a view where they are that already."""
    if isinstance(X, np.ndarray):
        return read_only(np.ascontiguousarray(X[rows], dtype=np.float64))
    return SparseRows.of(X, rows)


def as_integers(X: AnyArray, rows: slice) -> IntArray:
    """Some rows of whole numbers as int64: a view where they are that already."""
    return read_only(np.ascontiguousarray(X[rows], dtype=np.int64))


def read_only(values: AnyArray) -> AnyArray:
    """The same memory, not to be written: one kind of array means one compiled kernel."""
    view = values.view()
    view.flags.writeable = False
    return view


def stored_values(values: AnyArray | SparseRows) -> AnyArray:
    """The stored values in one line."""
    return values.reshape(-1) if isinstance(values, np.ndarray) else values.data


def on_every_core(work: Callable[[slice], Result], parts: list[slice]) -> list[Result]:
    """Do the same work on every part, results in order; a single part needs no threads."""
    if len(parts) == 1:
        return [work(parts[0])]
    return list(in_parallel(work, parts))
