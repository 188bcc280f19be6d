"""Rows in whatever memory they came: the same questions, the same answers."""

from __future__ import annotations

import datetime
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from candide.data.batch import Batch
from candide.data.errors import ColumnRefused, RowsRefused

NUMBERS = {"a": [1.0, 0.0, 3.5], "b": [0.0, 2.0, 0.0]}
MATRIX = np.column_stack([NUMBERS["a"], NUMBERS["b"]])

FRAMES = {
    "mapping": NUMBERS,
    "pandas": pd.DataFrame(NUMBERS),
    "polars": pl.DataFrame(NUMBERS),
    "pyarrow": pa.table(NUMBERS),
}
ARRAYS = {
    "numpy": MATRIX,
    "lists": MATRIX.tolist(),
    "fortran order": np.asfortranarray(MATRIX),
    "objects": MATRIX.astype(object),
    "csr": sp.csr_array(MATRIX),
    "csc": sp.csc_matrix(MATRIX),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_frames_keep_their_names(frame):
    batch = Batch.of(frame)
    assert batch.names == ("a", "b")
    assert np.array_equal(batch.numbers(["a", "b"]), MATRIX)
    assert batch.numbers(["b"]).tolist() == [[0.0], [2.0], [0.0]]


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_arrays_are_numbered(array):
    batch = Batch.of(array)
    assert batch.names == ("x0", "x1")
    assert np.array_equal(batch.numbers(["x0", "x1"]), MATRIX)
    assert np.array_equal(batch.numbers(["x1", "x0"]), MATRIX[:, ::-1])
    assert [key[1] for key in batch.categories("x1").keys] == [0, 2]


def test_arrays_are_not_copied():
    assert np.shares_memory(Batch.of(MATRIX).numbers(["x0", "x1"]), MATRIX)
    assert np.shares_memory(Batch.of(MATRIX).rows(1, 3).numbers(["x0", "x1"]), MATRIX)


def test_counts_stay_sparse():
    assert sp.issparse(Batch.of(sp.csr_array(MATRIX)).counts(["x0", "x1"]))
    assert not sp.issparse(Batch.of(MATRIX).counts(["x0", "x1"]))


EVERYTHING = {**FRAMES, **ARRAYS}


@pytest.mark.parametrize("rows", EVERYTHING.values(), ids=EVERYTHING)
def test_parts_put_together_are_the_whole(rows):
    batch = Batch.of(rows, ["x", "y", "x"], [1, 2, 3])
    parts = list(batch.split(2))
    assert [len(part) for part in parts] == [2, 1]
    assert [part.start for part in parts] == [0, 2]
    assert np.array_equal(np.vstack([part.numbers(part.names) for part in parts]), MATRIX)
    assert [code for part in parts for code in part.labels.codes] == [0, 1, 0]
    assert [weight for part in parts for weight in part.weights] == [1, 2, 3]


@pytest.mark.parametrize("rows", EVERYTHING.values(), ids=EVERYTHING)
def test_some_columns_and_columns_added(rows):
    batch = Batch.of(rows)
    second = batch.names[1]
    assert batch.only([second]).numbers([second]).tolist() == [[0.0], [2.0], [0.0]]
    wider = batch.with_missing([second, "new"])
    assert wider.names == (*batch.names, "new")
    assert np.isnan(wider.numbers(["new"])).all()
    assert np.array_equal(wider.numbers(batch.names), MATRIX)


@pytest.mark.parametrize(
    "frame",
    [
        {"x": [1, None, float("nan")]},
        pd.DataFrame({"x": [1, None, float("nan")]}),
        pd.DataFrame({"x": pd.array([1, None, None], dtype="Int64")}),
        pd.DataFrame({"x": [1, None, pd.NA]}, dtype=object),
        pl.DataFrame({"x": [1, None, None]}),
        pa.table({"x": pa.array([1.0, None, math.nan])}),
    ],
    ids=["mapping", "pandas", "pandas Int64", "pandas object", "polars", "pyarrow"],
)
def test_missing_numbers_are_nan_and_missing_categories_have_no_code(frame):
    batch = Batch.of(frame)
    assert np.array_equal(batch.numbers(["x"]), [[1.0], [np.nan], [np.nan]], equal_nan=True)
    assert batch.categories("x").codes.tolist() == [0, -1, -1]


@pytest.mark.parametrize(
    "moments",
    [
        pa.array([0, 86_400], pa.timestamp("s")),
        pa.array([0, 86_400_000], pa.timestamp("ms")),
        pa.array([datetime.date(1970, 1, 1), datetime.date(1970, 1, 2)]),
        pa.array([0, 86_400_000_000], pa.duration("us")),
    ],
)
def test_moments_become_seconds(moments):
    assert Batch.of(pa.table({"x": moments})).numbers(["x"]).tolist() == [[0.0], [86_400.0]]


@pytest.mark.parametrize(
    "cells",
    [[0.5, True], [True, 0.5], [1, True], ["a", b"a"], ["a", 1, None], [datetime.date(2020, 1, 1), "2020-01-01"]],
)
@pytest.mark.parametrize("frame", [dict, lambda rows: pd.DataFrame(rows, dtype=object)], ids=["mapping", "pandas"])
def test_values_of_mixed_types_keep_their_own(frame, cells):
    """Arrow alone would turn True beside 0.5 into 1.0, and a date beside a moment into a date."""
    coded = Batch.of(frame({"x": cells})).categories("x")
    assert len(coded.keys) == len([cell for cell in cells if cell is not None])


def test_strings_that_are_no_unicode_are_categories_too():
    batch = Batch.of({"x": ["\ud800", "fine", "\ud800"]})
    assert batch.categories("x").codes.tolist() == [1, 0, 1]


def test_numbers_beyond_doubles_are_infinite():
    assert Batch.of({"x": [10**400, -(10**400), 1]}).numbers(["x"]).ravel().tolist() == [math.inf, -math.inf, 1.0]


def test_one_label_and_one_weight_a_row():
    with pytest.raises(RowsRefused, match="3 rows but 2 labels"):
        Batch.of(NUMBERS, ["x", "y"])
    with pytest.raises(RowsRefused, match="3 rows but 4 weights"):
        Batch.of(NUMBERS, weights=[1, 1, 1, 1])


@pytest.mark.parametrize("weights", [[1, 2, 3], [1.0, 2.0, 3.0], np.array([1, 2, 3], dtype=np.uint8)])
def test_whole_weights_are_integers_in_any_type(weights):
    batch = Batch.of(NUMBERS, weights=weights)
    assert batch.weights.dtype == np.int64
    assert batch.weights.tolist() == [1, 2, 3]


def test_a_column_that_is_not_there_is_named_with_the_nearest():
    with pytest.raises(ColumnRefused, match=r"'agee' is not in these rows\. Did you mean 'age'"):
        Batch.of({"age": [1], "sex": ["f"]}).numbers(["agee"])
