"""Rows that travel together: named columns, labels and weights, in whatever memory they came.

A frame stays in Arrow memory, an array stays an array, a sparse matrix stays sparse. A `Batch` answers the few
questions that families ask of it: the numbers of some columns, the categories of one, the counts of many.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from candide.data.advice import NamedOption, PythonCode, SetOption, UseVerb
from candide.data.arrays import AnyArray, BoolArray, Counts, FloatArray, is_scipy_sparse
from candide.data.cached import cached_property
from candide.data.errors import (
    ColumnRefused,
    LabelsRefused,
    Location,
    OptionRefused,
    OverflowRefused,
    RowsRefused,
    ValuesRefused,
    suggestion,
)
from candide.data.grid import without_subnormal
from candide.data.readable import as_arrow, plain_column
from candide.data.values import Coded, is_missing, key_of, shown

if TYPE_CHECKING:
    import scipy.sparse as sp

FIRST_ROW = 1
"""Rows are counted from 1 wherever people read of them: messages, explanations, evaluations. Inside, from 0."""

Reading = TypeVar("Reading")

TEXT = "text"
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def refuse_row_below_one(row: int) -> None:
    """Raise where a user asks for a row that cannot be, as rows are counted."""
    if row < FIRST_ROW:
        raise OptionRefused(
            f"Rows are counted from {FIRST_ROW}, so there is no row {row}.",
            where=Location(row=row),
            expected=f"a row from {FIRST_ROW} up",
        )


class Columns(Protocol):
    """Named columns in one kind of memory."""

    @property
    def names(self) -> tuple[str, ...]: ...

    def __len__(self) -> int: ...

    @property
    def nbytes(self) -> int: ...

    def rows(self, wanted: slice | AnyArray) -> Columns: ...

    def numbers(self, positions: Sequence[int]) -> FloatArray: ...

    def counts(self, positions: Sequence[int]) -> Counts: ...

    def raw(self, position: int) -> Any: ...


@dataclass(frozen=True)
class ArrowColumns:
    """Columns of a table; a column that Arrow cannot type is kept as a list of Python values."""

    names: tuple[str, ...]
    columns: tuple[Any, ...]
    length: int

    def __len__(self) -> int:
        return self.length

    @property
    def nbytes(self) -> int:
        return sum(getattr(column, "nbytes", 0) for column in self.columns)

    def rows(self, wanted: slice | AnyArray) -> ArrowColumns:
        if isinstance(wanted, slice):
            start, stop, _ = wanted.indices(self.length)
            return ArrowColumns(self.names, tuple(c[start:stop] for c in self.columns), stop - start)
        return ArrowColumns(self.names, tuple(_taken(c, wanted) for c in self.columns), len(wanted))

    def numbers(self, positions: Sequence[int]) -> FloatArray:
        matrix = np.empty((self.length, len(positions)))
        for index, position in enumerate(positions):
            matrix[:, index] = as_numbers(self.columns[position], self.names[position])
        return matrix

    counts = numbers

    def raw(self, position: int) -> Any:
        return self.columns[position]


@dataclass(frozen=True)
class MatrixColumns:
    """Columns of a two-dimensional NumPy array, never copied as a whole."""

    names: tuple[str, ...]
    matrix: AnyArray

    def __len__(self) -> int:
        return len(self.matrix)

    @property
    def nbytes(self) -> int:
        return int(self.matrix.nbytes)

    def rows(self, wanted: slice | AnyArray) -> MatrixColumns:
        return MatrixColumns(self.names, self.matrix[wanted])

    def numbers(self, positions: Sequence[int]) -> FloatArray:
        block = self.matrix
        if not _is_everything(positions, len(self.names)):
            block = block[:, list(positions)]
        if block.dtype == object:
            return np.column_stack(
                [as_numbers(block[:, i].tolist(), self.names[p]) for i, p in enumerate(positions)]
            ).reshape(len(block), len(positions))
        if block.dtype.kind not in "biuf":
            raise _not_numbers(self.names[positions[0]], block.dtype)
        return without_subnormal(np.asarray(block, dtype=np.float64))

    counts = numbers

    def raw(self, position: int) -> Any:
        return self.matrix[:, position]


@dataclass(frozen=True)
class SparseColumns:
    """Columns of a SciPy sparse matrix; what is not stored is zero."""

    names: tuple[str, ...]
    matrix: sp.csr_array

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def nbytes(self) -> int:
        return int(self.matrix.data.nbytes + self.matrix.indices.nbytes)

    def rows(self, wanted: slice | AnyArray) -> SparseColumns:
        return SparseColumns(self.names, self.matrix[wanted])

    def numbers(self, positions: Sequence[int]) -> FloatArray:
        return without_subnormal(np.asarray(self._block(positions).toarray(), dtype=np.float64))

    def counts(self, positions: Sequence[int]) -> Counts:
        return self._block(positions)

    def raw(self, position: int) -> Any:
        return self.matrix[:, [position]].toarray().ravel()

    def _block(self, positions: Sequence[int]) -> sp.csr_array:
        if _is_everything(positions, len(self.names)):
            return self.matrix
        return self.matrix[:, list(positions)]


class Original(Protocol):
    """Rows as they were before they were read."""

    def take(self, wanted: slice | AnyArray) -> Original:
        """Those of fewer rows."""


@dataclass(frozen=True)
class Batch:
    """Rows that travel together. `start` is the number of the first row in what the user gave; `original` has them as
    they were before they were read, where a source kept that."""

    columns: Columns
    labels: Coded | None = None
    weights: AnyArray | None = None
    start: int = 0
    original: Original | None = None
    readings: dict[Hashable, Any] | None = field(default=None, compare=False, repr=False)
    """What was read of the columns so far, where the batch keeps that."""

    @classmethod
    def of(cls, X: Any, y: Any = None, weights: Any = None, all_labelled: bool = True) -> Batch:
        """Take what users have: a frame, an array, a sparse matrix or a mapping of columns.

        Labels may be missing in some rows only where not all need be labelled.

        >>> Batch.of({"age": [31, None], "sex": ["f", "m"]}, ["yes", "no"]).numbers(["age"]).tolist()
        [[31.0], [nan]]
        """
        columns = columns_of(X)
        labels = None if y is None else labels_of(y, all_labelled)
        batch = cls(columns, labels, None if weights is None else checked_weights(weights))
        for name, given in (("labels", batch.labels), ("weights", batch.weights)):
            if given is not None and len(given) != len(columns):
                raise RowsRefused(
                    f"There are {len(columns)} rows but {len(given)} {name}.",
                    advice="Give one of each a row.",
                    expected="one of each a row",
                )
        return batch

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        return self.columns.names

    def read_once(self) -> Batch:
        """The same rows, kept as they were read: whoever asks for a column a second time is given the first answer.

        For rows that are asked about many times, such as those that families are chosen by.
        """
        return replace(self, readings={})

    def once(self, key: Hashable, read: Callable[[], Reading]) -> Reading:
        """What `read` makes of the columns, made once where the batch keeps what was read."""
        if self.readings is None:
            return read()
        if key not in self.readings:
            self.readings[key] = read()
        found: Reading = self.readings[key]
        return found

    def rows(self, start: int, stop: int) -> Batch:
        """A part of the rows, sharing memory."""
        if start == 0 and stop >= len(self):
            return self
        return replace(self._rows(slice(start, stop)), start=self.start + start)

    def take(self, positions: AnyArray) -> Batch:
        """The rows at these positions, copied."""
        return self._rows(positions)

    def _rows(self, wanted: slice | AnyArray) -> Batch:
        return replace(
            self,
            columns=self.columns.rows(wanted),
            labels=None if self.labels is None else self.labels[wanted],
            weights=None if self.weights is None else self.weights[wanted],
            original=None if self.original is None else self.original.take(wanted),
            readings=None if self.readings is None else {},
        )

    def split(self, size: int, nbytes: int | None = None, fewest: int = 1) -> Iterator[Batch]:
        """Parts of at most `size` rows, and of about so many bytes, but of no fewer rows than said, in order."""
        if nbytes is not None:
            size = max(fewest, min(size, nbytes * len(self) // max(1, self.columns.nbytes)))
        for start in range(0, len(self), size):
            yield self.rows(start, min(start + size, len(self)))

    @cached_property
    def _places(self) -> dict[str, int]:
        """Where each column stands."""
        return {name: index for index, name in enumerate(self.names)}

    def position(self, name: str) -> int:
        try:
            return self._places[name]
        except KeyError:
            raise ColumnRefused(
                f"Column '{name}' is not in these rows.",
                advice=(suggestion(name, self.names), " Fill the column with missing values to predict without it."),
                where=Location(column=name),
            ) from None

    def positions(self, names: Sequence[str]) -> Sequence[int]:
        if tuple(names) == self.names:
            return range(len(names))
        return [self.position(name) for name in names]

    def numbers(self, names: Sequence[str]) -> FloatArray:
        """Some columns as float64[row, column], NaN where missing; a view where memory allows."""
        return self.once(("numbers", *names), lambda: self._numbers(names))

    def _numbers(self, names: Sequence[str]) -> FloatArray:
        if self.readings is None or len(names) < 2 or not isinstance(self.columns, ArrowColumns):
            return self.columns.numbers(self.positions(names))
        return np.hstack([self.numbers([name]) for name in names])

    def counts(self, names: Sequence[str]) -> Counts:
        """Some columns as numbers, left sparse where they are sparse."""
        return self.once(("counts", *names), lambda: self.columns.counts(self.positions(names)))

    def categories(self, name: str) -> Coded:
        """One column as codes into its sorted values."""
        return self.once(("categories", name), lambda: self._coded(name))

    def _coded(self, name: str) -> Coded:
        raw = self.columns.raw(self.position(name))
        try:
            return Coded.of(raw)
        except ValuesRefused as problem:
            raise not_values(name, problem) from None

    def missing(self, name: str) -> BoolArray:
        """Which rows have no value in a column."""
        raw = self.columns.raw(self.position(name))
        if isinstance(raw, (pa.Array, pa.ChunkedArray)):
            return np.asarray(pc.is_null(raw, nan_is_null=True).to_numpy(zero_copy_only=False))
        return np.array([is_missing(value) for value in raw], dtype=bool)

    def has_values(self, name: str) -> bool:
        """Whether some row has a value in a column."""
        return not self.missing(name).all()

    def renamed(self, names: Sequence[str]) -> Batch:
        """The same columns under other names."""
        columns: Any = self.columns
        renamed = replace(columns, names=tuple(names))
        return replace(self, columns=renamed, readings=None if self.readings is None else {})

    def only(self, names: Sequence[str]) -> Batch:
        """Some of the columns."""
        old = tuple(self.columns.raw(index) for index in self.positions(names))
        return replace(self, columns=ArrowColumns(tuple(names), old, len(self)))

    def with_missing(self, names: Sequence[str]) -> Batch:
        """The same rows with the named columns added where absent, all missing."""
        known = set(self.names)
        absent = [name for name in names if name not in known]
        if not absent:
            return self
        old = tuple(self.columns.raw(index) for index in range(len(self.names)))
        empty = pa.nulls(len(self))
        columns = ArrowColumns((*self.names, *absent), (*old, *[empty] * len(absent)), len(self))
        return replace(self, columns=columns)


def columns_of(X: Any) -> Columns:
    """Named columns from a frame, an array, a sparse matrix or a mapping; arrays get names x0, x1, ..."""
    if isinstance(X, Batch):
        return X.columns
    if is_scipy_sparse(X):
        return _columns_of_sparse(X)
    if isinstance(X, Iterator):
        X = list(X)
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):
        X = X.collect()
    if isinstance(X, Mapping):
        return _columns_of_mapping(X)
    if is_plain_text(X):
        return _columns_of_text(X)
    if isinstance(X, list) and isinstance(X[0], Mapping):
        return _columns_of_rows(X)
    if hasattr(X, "columns") and hasattr(X, "dtypes") and hasattr(X, "iloc"):
        return _columns_of_pandas(X)
    if hasattr(X, "__arrow_c_stream__"):
        return _columns_of_arrow(X)
    if isinstance(X, (str, bytes)):
        raise RowsRefused("One string is not a set of rows.", advice=("Put it in a list: ", PythonCode("[text]"), "."))
    if isinstance(X, (set, frozenset)):
        raise RowsRefused("A set has no order, so its rows could not be told apart.", advice="Give a list.")
    return _columns_of_array(X)


def _columns_of_array(X: Any) -> Columns:
    """Numbers stay where they are; of anything else each column gets a type of its own."""
    try:
        matrix = _unmasked(X) if isinstance(X, np.ma.MaskedArray) else np.asarray(X)
        if matrix.dtype.kind in "US" and not isinstance(X, np.ndarray):
            matrix = np.asarray(X, dtype=object)  # rows of numbers beside words are not rows of words
    except ValueError:
        raise RowsRefused(
            "Rows have different lengths.",
            advice="Give each row a value, or None, for every column.",
            expected="rows of one length",
        ) from None
    if matrix.dtype.names is not None and matrix.ndim == 1:
        return _columns_of_mapping({name: matrix[name] for name in matrix.dtype.names})
    if matrix.ndim != 2:
        raise _not_two_dimensional(matrix.ndim)
    if matrix.dtype.kind == "c":
        raise RowsRefused("Complex data not supported.", advice="Give real numbers.", expected="real numbers")
    names = default_names(matrix.shape[1])
    if matrix.dtype.kind in "biuf":
        return MatrixColumns(names, matrix if matrix.dtype.itemsize <= 8 else matrix.astype(np.float64))
    columns = tuple(_typed(matrix[:, index]) for index in range(len(names)))
    return ArrowColumns(names, columns, len(matrix))


def _unmasked(X: Any) -> AnyArray:
    """A masked array with its masked values missing."""
    if X.dtype.kind in "biuf":
        return np.asarray(X.astype(np.float64).filled(np.nan))
    return np.asarray(X.astype(object).filled(None))


def _not_two_dimensional(dimensions: int) -> RowsRefused:
    return RowsRefused(
        f"Expected 2D array, got {dimensions}D array instead.",
        advice=(
            "Reshape your data: ", PythonCode("X.reshape(-1, 1)"), " for one column, ",
            PythonCode("X.reshape(1, -1)"), " for one row.",
        ),
        expected="a 2D array",
    )


def _columns_of_sparse(X: Any) -> SparseColumns:
    from scipy.sparse import csr_array

    if X.dtype.kind not in "biuf":
        raise RowsRefused(
            f"Complex data not supported: a sparse matrix holds real numbers here, not {X.dtype}.",
            where=Location(value=str(X.dtype)),
            expected="real numbers",
        )
    return SparseColumns(default_names(X.shape[1]), csr_array(X))


def _columns_of_rows(rows: list[Any]) -> ArrowColumns:
    """Rows as mappings: a column that some lack is missing there."""
    odd = next((index for index, row in enumerate(rows) if not isinstance(row, Mapping)), None)
    if odd is not None:
        found, number = type(rows[odd]).__name__, odd + FIRST_ROW
        raise RowsRefused(
            f"Row {number:,} is a {found}, but others are mappings.",
            advice="Give all alike.",
            where=Location(row=number),
            expected="a mapping",
        )
    names = dict.fromkeys(name for row in rows for name in row)
    columns = _columns_of_mapping({name: [row.get(name) for row in rows] for name in names})
    return replace(columns, length=len(rows))


def _taken(column: Any, positions: AnyArray) -> Any:
    if isinstance(column, np.ndarray) and column.dtype != object:
        return column[positions]
    if isinstance(column, (list, np.ndarray)):
        return [column[index] for index in positions]
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    return column.take(pa.array(positions))


def is_plain_text(X: Any) -> bool:
    """Whether something is a sequence of strings, without columns: every string is then one text."""
    if isinstance(X, (pa.Array, pa.ChunkedArray)):
        return pa.types.is_string(X.type) or pa.types.is_large_string(X.type) or pa.types.is_string_view(X.type)
    if isinstance(X, (str, bytes)) or getattr(X, "ndim", 1) != 1 or not hasattr(X, "__len__") or hasattr(X, "columns"):
        return False
    if isinstance(X, (set, frozenset)):
        return False
    if isinstance(X, (list, tuple)) and not X:
        return True
    return isinstance(next((text for text in X if not is_missing(text)), None), str)


def _columns_of_text(texts: Any) -> ArrowColumns:
    if hasattr(texts, "__arrow_c_stream__") and not isinstance(texts, pa.ChunkedArray):
        texts = pa.chunked_array(texts)
    elif not isinstance(texts, (pa.Array, pa.ChunkedArray)):
        texts = _typed(texts)
    return ArrowColumns((TEXT,), (texts,), len(texts))


def _columns_of_arrow(X: Any) -> ArrowColumns:
    """An Arrow table, or whatever gives itself as one; polars keeps Python objects, which it can only list."""
    try:
        table = pa.table(X)
    except pa.ArrowInvalid:
        raise _not_two_dimensional(1) from None
    names = tuple(table.column_names)
    _refuse_repeats(names)
    objects = {name for name, kind in zip(names, getattr(X, "dtypes", ()), strict=False) if str(kind) == "Object"}
    columns = (_typed(X[name].to_list()) if name in objects else _entered(table[name]) for name in names)
    return ArrowColumns(names, tuple(columns), table.num_rows)


def _entered(column: Any) -> Any:
    """A column in a type that is read here; one that has none stays, for those who do not ask for it."""
    try:
        return plain_column(column)
    except ValuesRefused:
        return column


def _columns_of_mapping(columns: Mapping[Any, Any]) -> ArrowColumns:
    _refuse_repeats([str(name) for name in columns])
    arrays = {}
    for name, values in columns.items():
        if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
            raise RowsRefused(
                f"Column '{name}' is one {type(values).__name__}.",
                advice="Give a list, with a value a row.",
                where=Location(column=name),
                expected="a value a row",
            )
        try:
            arrays[str(name)] = _typed(values)
        except ValuesRefused as problem:
            raise not_values(str(name), problem) from None
    lengths = {len(array) for array in arrays.values()}
    if len(lengths) > 1:
        raise RowsRefused(f"Columns have different lengths: {sorted(lengths)}.", expected="columns of one length")
    return ArrowColumns(tuple(arrays), tuple(arrays.values()), lengths.pop() if lengths else 0)


def _columns_of_pandas(frame: Any) -> ArrowColumns:
    names = tuple(str(name) for name in frame.columns)
    _refuse_repeats(names)
    arrays = []
    for index in range(len(names)):
        arrays.append(_column_of_pandas(frame.iloc[:, index]))
    return ArrowColumns(names, tuple(arrays), len(frame))


def _column_of_pandas(series: Any) -> Any:
    """A column of pandas: sparse ones filled, periods by their beginning, intervals by their name."""
    kind = type(series.dtype).__name__
    if kind == "SparseDtype":
        series = series.sparse.to_dense()
    elif kind == "PeriodDtype":
        series = series.dt.to_timestamp()
    elif kind == "IntervalDtype" or "Interval" in type(getattr(series.dtype, "categories", None)).__name__:
        return pa.array([None if value != value else str(value) for value in series.tolist()])
    if series.dtype == object:
        return _typed(series.tolist())
    try:
        return _entered(pa.Array.from_pandas(series))
    except (pa.ArrowException, ValueError, TypeError):
        return _typed(series.tolist())


def _typed(values: Any) -> Any:
    """An Arrow array where the values share a type, else the list itself: Arrow would turn True beside 0.5 into 1."""
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "mM":
        return as_arrow(values)
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return _entered(values)
    values = values.tolist() if hasattr(values, "tolist") else list(values)
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) > 1 and not kinds <= {int, float}:
        return values
    try:
        return pa.array(values, from_pandas=True)
    except (ValueError, TypeError, OverflowError, NotImplementedError):
        return values


def _refuse_repeats(names: Sequence[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if repeated:
        raise ColumnRefused(
            f"Column '{repeated[0]}' occurs more than once.",
            advice="Rename one of them.",
            where=Location(column=repeated[0]),
        )


def default_names(columns: int) -> tuple[str, ...]:
    """The names of an array's columns: x0, x1, ..."""
    return tuple(f"x{index}" for index in range(columns))


def is_numbered(names: Sequence[str]) -> bool:
    """Whether the columns have no names of their own, only those given to an array's: x0, x1, ..."""
    return tuple(names) == default_names(len(names))


def _is_everything(positions: Sequence[int], columns: int) -> bool:
    return isinstance(positions, range) and len(positions) == columns


def labels_of(y: Any, all_labelled: bool = True) -> Coded:
    """The label of each row; mixed labels are refused, and missing ones where all must be labelled."""
    if isinstance(y, Coded):
        return y
    if hasattr(y, "columns"):
        y = _only_column(y)
    elif hasattr(y, "iloc"):
        y = _column_of_pandas(y)
    elif hasattr(y, "__arrow_c_stream__"):
        y = pa.chunked_array(y)
    elif not isinstance(y, (pa.Array, pa.ChunkedArray)):
        mixed = isinstance(y, (list, tuple)) and len(set(map(type, y))) > 1
        y = _flat(np.asarray(y, dtype=object if mixed else None))
    try:
        labels = Coded.of(y)
    except ValuesRefused as problem:
        raise LabelsRefused(
            "The labels cannot be learned: ",
            problem.what,
            advice=problem.advice,
            where=problem.where,
            expected=problem.expected,
        ) from None
    if all_labelled and (labels.codes < 0).any():
        where = int(np.argmax(labels.codes < 0))
        raise LabelsRefused(
            f"Input contains NaN: row {where + FIRST_ROW:,} has no label (missing).",
            advice=(
                "Drop such rows before learning, or let them take part: ", SetOption("unlabelled", "em"),
                "; predict needs no labels.",
            ),
            where=Location(row=where + FIRST_ROW),
            expected="one label a row",
        )
    kinds = sorted({kind for kind, _ in labels.keys})
    if len(kinds) > 1:
        raise LabelsRefused(
            f"Labels mix {' and '.join(kinds)}.", advice="Make them all of one type.", expected="labels of one type"
        )
    if any(value in (np.inf, -np.inf) for _, value in labels.keys):
        raise LabelsRefused(
            "Input y contains infinity or a value too large for dtype('float64'): no label at all.",
            expected="a name or a whole number",
        )
    broken = next((value for _, value in labels.keys if isinstance(value, float)), None)
    if broken is not None:
        raise LabelsRefused(
            f"Unknown label type: continuous. A class is a name or a whole number, but a label is {broken:g}.",
            advice=("For numbers as classes, make them text: ", PythonCode("y.astype(str)"), "."),
            where=Location(value=float(broken)),
            expected="a name or a whole number",
        )
    return labels


def _only_column(y: Any) -> Any:
    """The labels of a frame that has one column."""
    columns = columns_of(y)
    if len(columns.names) != 1:
        raise LabelsRefused(
            NamedOption("y"),
            f" should be one column, but it is a table of {len(columns.names)}: one label a row.",
            expected="one label a row",
        )
    return columns.raw(0)


def _flat(y: AnyArray) -> AnyArray:
    if y.ndim == 2 and y.shape[1] == 1:
        return y[:, 0]
    if y.ndim != 1:
        raise LabelsRefused(
            NamedOption("y"),
            f" should be a 1d array, got an array of shape {y.shape} instead: one label a row.",
            expected="one label a row",
        )
    return y


def checked_weights(weights: Any) -> AnyArray:
    """The weight of each row: int64 where all are whole numbers, else float64."""
    weights = np.asarray(weights)
    if weights.ndim != 1:
        raise RowsRefused(
            f"Sample weights must be 1D array or scalar, got shape {weights.shape}.",
            where=Location(value=str(weights.shape)),
            expected="one weight a row",
        )
    if weights.dtype.kind not in "biuf":
        try:
            weights = weights.astype(np.float64)
        except (TypeError, ValueError):
            raise RowsRefused(
                f"Weights must be numbers, not {weights.dtype}.",
                advice="Give one number a row.",
                where=Location(value=str(weights.dtype)),
                expected="numbers",
            ) from None
    if weights.size and not (np.isfinite(weights).all() and weights.min() >= 0):
        raise RowsRefused(
            "Weights must be finite and not negative.",
            advice=("To take rows back, use ", UseVerb("forget"), "."),
            expected="finite weights from 0 up",
        )
    if weights.dtype.kind in "biu":
        if weights.size and weights.max() > 2**62:
            raise OverflowRefused("A weight exceeds 2^62.", expected="weights of at most 2^62")
        return weights.astype(np.int64)
    if (weights < 2**62).all() and (weights == np.floor(weights)).all():
        return weights.astype(np.int64)
    return np.asarray(weights, dtype=np.float64)


def as_numbers(column: Any, name: str) -> FloatArray:
    """One column as float64, NaN where missing; dates become seconds since 1970, subnormal numbers zero."""
    return without_subnormal(_as_numbers(column, name))


def _as_numbers(column: Any, name: str) -> FloatArray:
    if isinstance(column, list):
        return np.array([_as_number(value, name) for value in column], dtype=np.float64)
    if isinstance(column, np.ndarray):
        return np.asarray(column, dtype=np.float64)
    try:
        column = plain_column(column)
    except ValuesRefused as problem:
        raise not_values(name, problem) from None
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if column.null_count == len(column):
        return np.full(len(column), np.nan)
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind) or pa.types.is_time(kind):
        bits = pa.int32() if pa.types.is_time32(kind) else pa.int64()
        return _as_numbers(column.cast(bits), name) * SECONDS[kind.unit]
    if pa.types.is_date(kind):
        return _as_numbers(column.cast(pa.timestamp("s")), name)
    if pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise _not_numbers(name, kind)
    numbers = pc.cast(column, pa.float64(), safe=False)
    return np.asarray(numbers.to_numpy(zero_copy_only=False) if isinstance(numbers, pa.Array) else numbers)


def _as_number(value: Any, name: str) -> float:
    try:
        key = key_of(value)
    except ValuesRefused as problem:
        raise not_values(name, problem) from None
    if key is None:
        return math.nan
    if key[0] not in ("number", "truth"):
        raise _not_numbers(name, f"{shown(key)!r}")
    try:
        return float(key[1])
    except OverflowError:
        return math.inf if key[1] > 0 else -math.inf


def not_values(name: str, problem: ValuesRefused) -> ColumnRefused:
    """What is wrong with the values of a column, and how to do without them."""
    return ColumnRefused(
        f"Column '{name}': ",
        problem.message,
        advice=(
            "Turn it into columns of single values, or leave it out: ", SetOption("families", "ignore", name), ".",
        ),
        where=Location(column=name),
        expected=problem.expected,
    )


def _not_numbers(name: str, found: Any) -> ColumnRefused:
    return ColumnRefused(
        f"Column '{name}' holds {found}, but its family needs numbers.",
        advice=("Choose a family for categories: ", SetOption("families", "categorical", name), "."),
        where=Location(column=name, value=str(found)),
        expected="numbers",
    )
