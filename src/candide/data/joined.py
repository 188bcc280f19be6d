"""Several batches as one: rows one after the other, with every column and class that any of them has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from candide.data.batch import ArrowColumns, Batch, Columns, MatrixColumns, SparseColumns
from candide.data.values import Coded


def joined_batches(batches: Sequence[Batch]) -> Batch:
    """The rows of several batches in one; a column that some lack is missing there."""
    if len(batches) == 1:
        return batches[0]
    if (alike := stacked([batch.columns for batch in batches])) is not None:
        return Batch(alike, joined_labels([batch.labels for batch in batches]))
    names = tuple(dict.fromkeys(chain.from_iterable(batch.names for batch in batches)))
    full = [batch.with_missing(names) for batch in batches]
    columns = tuple(joined_column([batch.columns.raw(batch.position(name)) for batch in full]) for name in names)
    rows = sum(len(batch) for batch in batches)
    return Batch(ArrowColumns(names, columns, rows), joined_labels([batch.labels for batch in batches]))


def stacked(parts: Sequence[Columns]) -> Columns | None:
    """The rows of arrays, or of sparse matrices, that have the same columns, as one; nothing of anything else."""
    matrices: list[Any] = [part.matrix for part in parts if isinstance(part, (MatrixColumns, SparseColumns))]
    if len(matrices) < len(parts) or len({(type(part), part.names) for part in parts}) > 1:
        return None
    if isinstance(parts[0], MatrixColumns):
        return MatrixColumns(parts[0].names, np.concatenate(matrices))
    from scipy.sparse import vstack

    return SparseColumns(parts[0].names, vstack(matrices, format="csr"))


def joined_column(parts: list[Any]) -> Any:
    """One column: in Arrow memory where the types allow it, else a list of Python values."""
    parts = [pa.array(np.ascontiguousarray(part)) if isinstance(part, np.ndarray) else part for part in parts]
    if all(isinstance(part, (pa.Array, pa.ChunkedArray)) for part in parts):
        tables = [pa.table({"": part}) for part in parts]
        try:
            return pa.concat_tables(tables, promote_options="permissive").column(0)
        except pa.ArrowException:
            pass
    lists = [part if isinstance(part, list) else part.to_pylist() for part in parts]
    return list(chain.from_iterable(lists))


def joined_labels(parts: Iterable[Coded | None]) -> Coded | None:
    """The labels of all rows, over all classes."""
    coded = [part for part in parts if part is not None]
    keys = tuple(sorted({key for part in coded for key in part.keys}))
    indices = {key: index for index, key in enumerate(keys)}
    return Coded(np.concatenate([part.renumbered(indices) for part in coded]), keys) if coded else None
