"""What people bring, in memory: every kind of value works or is refused in a sentence, by every method."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import fractions
import warnings
from collections import OrderedDict

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from candide import NaiveBayes
from candide.api import verbs
from candide.data.errors import CandideError, ColumnRefused, LabelsRefused, RowsRefused

Y = ["a", "b"] * 4
X = [1.0, 9.0] * 4
PLAIN = {"families": "guess", "smoothing": "default", "calibrate": False}


LEVELS = pd.MultiIndex.from_product([["a"], ["x", "y"]])


class Odd:
    def __repr__(self):
        return "Odd()"


def in_pandas(values):
    return pd.DataFrame({"x": X, "c": values})


def in_arrow(values, kind=None):
    return pa.table({"x": X, "c": pa.array(values * 4, kind)})


def in_polars(values, kind=None):
    return pl.DataFrame({"x": X, "c": pl.Series(values * 4, dtype=kind)})


def union():
    kinds, indices = pa.array([0, 1] * 4, pa.int8()), pa.array([0, 0, 1, 1, 2, 2, 3, 3], pa.int32())
    return pa.UnionArray.from_dense(kinds, indices, [pa.array([1, 2, 3, 4]), pa.array(["a", "b", "c", "d"])])


#: Values that are learned, as they are or as what they stand for.
WELCOME = {
    "decimals": lambda: in_pandas([decimal.Decimal("1.5"), decimal.Decimal("sNaN")] * 4),
    "fractions": lambda: in_pandas([fractions.Fraction(1, 2), fractions.Fraction(3)] * 4),
    "NumPy scalars": lambda: in_pandas(pd.Series([np.float32(1.5), np.int8(2)] * 4, dtype=object)),
    "periods": lambda: in_pandas(pd.period_range("2020-01", periods=8, freq="M")),
    "intervals": lambda: in_pandas(pd.arrays.IntervalArray.from_breaks(np.arange(9.0))),
    "cut": lambda: in_pandas(pd.cut(np.arange(8.0), 4)),
    "sparse": lambda: in_pandas(pd.arrays.SparseArray([0, 1.5] * 4)),
    "sparse whole": lambda: in_pandas(pd.arrays.SparseArray([0, 1] * 4)),
    "timedelta": lambda: in_pandas(pd.to_timedelta([1, 2] * 4, unit="h")),
    "timedelta objects": lambda: in_pandas(pd.Series([datetime.timedelta(1), datetime.timedelta(2)] * 4, dtype=object)),
    "instants": lambda: in_pandas(pd.date_range("2020", periods=8, tz="Europe/Berlin")),
    "NaT": lambda: in_pandas([pd.NaT, pd.Timestamp("2020")] * 4),
    "Int64": lambda: in_pandas(pd.array([1, None] * 4, dtype="Int64")),
    "category of floats": lambda: in_pandas(pd.Categorical([1.5, 2.5] * 4)),
    "half floats": lambda: in_pandas(np.array([1, 2] * 4, dtype=np.float16)),
    "huge numbers": lambda: in_pandas([2**70, 2**71] * 4),
    "bytes": lambda: in_pandas([b"u", b"v"] * 4),
    "dates": lambda: in_pandas([datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)] * 4),
    "times of day": lambda: in_pandas([datetime.time(1), datetime.time(2)] * 4),
    "two levels of names": lambda: pd.DataFrame(np.arange(16.0).reshape(8, 2), columns=LEVELS),
    "numbers for names": lambda: pd.DataFrame(np.arange(16.0).reshape(8, 2), columns=[3, 7]),
    "Arrow decimals": lambda: in_arrow([decimal.Decimal("1.5"), None], pa.decimal128(10, 2)),
    "Arrow durations": lambda: in_arrow([1, 2], pa.duration("s")),
    "Arrow times": lambda: in_arrow([1, 2], pa.time32("s")),
    "Arrow half floats": lambda: in_arrow([np.float16(1), np.float16(2)], pa.float16()),
    "Arrow views": lambda: in_arrow(["a", "b"], pa.string_view()),
    "Arrow codes": lambda: pa.table({"x": X, "c": pa.array(["u", "v"] * 4).dictionary_encode()}),
    "Arrow run ends": lambda: pa.table({"x": X, "c": pa.RunEndEncodedArray.from_arrays([4, 8], ["a", "b"])}),
    "Arrow bytes of one length": lambda: in_arrow([b"ab", b"cd"], pa.binary(2)),
    "Arrow batch": lambda: pa.record_batch({"x": X}),
    "polars categories": lambda: in_polars(["u", "v"], pl.Categorical),
    "polars enum": lambda: in_polars(["u", "v"], pl.Enum(["u", "v"])),
    "polars bytes": lambda: in_polars([b"u", b"v"]),
    "polars, lazy": lambda: in_polars(["u", "v"]).lazy(),
    "polars texts": lambda: pl.Series(["hello you", "bye there"] * 4),
    "object array": lambda: np.array([[1.0, "u", True], [9.0, None, np.nan]] * 4, dtype=object),
    "strings": lambda: np.array([["1", "u"], ["2", "v"]] * 4),
    "array of days": lambda: np.array([["2020", "2021"], ["2022", "NaT"]] * 4, dtype="datetime64[D]"),
    "array of spans": lambda: np.array([[1, 2], [3, 4]] * 4, dtype="timedelta64[s]"),
    "long doubles": lambda: np.arange(16, dtype=np.longdouble).reshape(8, 2),
    "unsigned": lambda: np.full((8, 2), 2**64 - 1, dtype=np.uint64),
    "records": lambda: np.array([(1.0, "u"), (9.0, "v")] * 4, dtype=[("x", float), ("c", "U1")]),
    "masked": lambda: np.ma.masked_array(np.arange(16.0).reshape(8, 2), mask=np.arange(16).reshape(8, 2) % 5 == 0),
    "sparse matrix of truths": lambda: sp.csr_matrix(np.arange(16).reshape(8, 2) % 2 == 0),
    "rows as mappings": lambda: [{"x": 1.0, "c": "u"}, OrderedDict(x=9.0)] * 4,
    "rows of numbers and words": lambda: [[1.0, "u"], [9.0, "v"]] * 4,
    "rows as arrays": lambda: [np.array([1.0, 2.0]), np.array([9.0, 1.0])] * 4,
    "rows from a generator": lambda: (row for row in [[1.0], [9.0]] * 4),
    "texts from an iterator": lambda: iter(["hello you", "bye there"] * 4),
    "texts with gaps": lambda: ["hello you", None] * 4,
    "texts with half characters": lambda: ["hello \ud800 you", "bye there"] * 4,
    "columns of years": lambda: {"x": np.array(["2020", "2021"] * 4, dtype="datetime64[Y]")},
}  # fmt: skip

#: Values that are refused when somebody wants to learn them, or to be answered by them.
REFUSED = {
    "lists": lambda: in_pandas([[1, 2], [3]] * 4),
    "arrays": lambda: in_pandas([np.array([1, 2]), np.array([3])] * 4),
    "mappings": lambda: in_pandas([{"k": 1}, {"k": 2}] * 4),
    "sets": lambda: in_pandas([{1}, {2}] * 4),
    "tuples": lambda: in_pandas([(1, 2), (3, 4)] * 4),
    "objects": lambda: in_pandas([Odd(), Odd()] * 4),
    "complex numbers": lambda: in_pandas(np.array([1 + 1j, 2 + 2j] * 4)),
    "Arrow lists": lambda: in_arrow([[1], [2]]),
    "Arrow lists in pandas": lambda: in_pandas(pd.array([[1], [2]] * 4, dtype=pd.ArrowDtype(pa.list_(pa.int64())))),
    "Arrow structs": lambda: in_arrow([{"k": 1}, {"k": 2}]),
    "Arrow maps": lambda: in_arrow([[("k", 1)], [("k", 2)]], pa.map_(pa.string(), pa.int64())),
    "Arrow vectors": lambda: in_arrow([[1, 2], [3, 4]], pa.list_(pa.float32(), 2)),
    "Arrow calendar spans": lambda: in_arrow([(1, 2, 3), (1, 2, 4)], pa.month_day_nano_interval()),
    "Arrow unions": lambda: pa.table({"x": X, "c": union()}),
    "polars lists": lambda: in_polars([[1], [2]]),
    "polars structs": lambda: in_polars([{"k": 1}, {"k": 2}]),
    "polars objects": lambda: in_polars([Odd(), Odd()], pl.Object),
    "columns of lists": lambda: {"x": X, "c": [[1], [2]] * 4},
}

#: What is no set of rows at all.
NO_ROWS = {
    "no texts": lambda: [],
    "no texts in pandas": lambda: pd.Series([], dtype=str),
    "no rows": lambda: pd.DataFrame({"x": []}),
    "no columns": lambda: pd.DataFrame(index=range(8)),
    "rows without columns": lambda: [{}] * 8,
    "a row that is none": lambda: [{"x": 1.0}, 3] * 4,
    "ragged": lambda: [[1.0], [9.0, 2]] * 4,
    "one column of numbers": lambda: pd.Series(X),
    "one column of lists": lambda: pa.chunked_array([[[1], [2]] * 4]),
    "numbers": lambda: X,
    "bytes": lambda: [b"hello", b"you"] * 4,
    "a set": lambda: {"hello", "you"},
    "a string": lambda: "hello",
    "nothing": lambda: None,
    "a number": lambda: 3,
    "an object": lambda: Odd(),
    "too many dimensions": lambda: np.zeros((8, 2, 2)),
    "complex": lambda: np.ones((8, 2), complex),
    "complex and sparse": lambda: sp.csr_matrix(np.ones((8, 2), complex)),
    "one name twice": lambda: pd.DataFrame(np.zeros((8, 2)), columns=["a", "a"]),
    "one name twice, in words": lambda: {1: X, "1": X},
    "one name twice in Arrow": lambda: pa.Table.from_arrays([pa.array(X)] * 2, names=["a", "a"]),
    "a column that is one number": lambda: {"x": 1.0},
    "a column that is one string": lambda: {"x": "abcdefgh"},
    "spans of months": lambda: {"x": X, "c": np.array([1, 2] * 4, dtype="timedelta64[M]")},
    "columns of two lengths": lambda: {"x": X, "c": [1]},
}

SEEN = NaiveBayes(**PLAIN).fit({"x": X, "c": ["u", "v"] * 4}, Y)
METHODS = {
    "fit": lambda rows: NaiveBayes(**PLAIN).fit(rows, Y),
    "partial_fit": lambda rows: NaiveBayes().partial_fit(rows, Y),
    "learn more": lambda rows: NaiveBayes(**PLAIN).fit({"x": X, "c": ["u", "v"] * 4}, Y).partial_fit(rows, Y),
    "forget": lambda rows: NaiveBayes(**PLAIN).fit({"x": X, "c": ["u", "v"] * 4}, Y).forget(rows, Y),
    "predict": SEEN.predict,
    "predict_proba": SEEN.predict_proba,
    "decide": SEEN.decide,
    "explain": SEEN.explain,
    "score_samples": SEEN.score_samples,
    "score": lambda rows: SEEN.score(rows, Y),
    "evaluate": lambda rows: SEEN.evaluate(rows, Y),
    "evaluate leaving out": lambda rows: SEEN.evaluate(rows, Y, leave_one_out=True),
    "verbs.predict": lambda rows: verbs.predict(SEEN, rows),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", [*WELCOME, *REFUSED, *NO_ROWS])
def test_whatever_comes_it_works_or_is_refused_in_a_sentence(name, method):
    make = {**WELCOME, **REFUSED, **NO_ROWS}[name]
    with contextlib.suppress(CandideError):
        METHODS[method](make())


@pytest.mark.parametrize("name", WELCOME)
def test_what_is_welcome_is_learned_answered_explained_drawn_and_forgotten(name):
    make = WELCOME[name]
    model = NaiveBayes(**PLAIN).fit(make(), Y)
    before = model.summary_
    assert model.predict(make()).shape == (8,)
    assert len(model.explain(make())) == 8
    assert model.evaluate(make(), Y).rows == 8
    assert model.sample(3, seed=0).num_rows == 3
    assert model.partial_fit(make(), Y).forget(make(), Y).summary_ == before


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_named_and_can_be_left_out(name):
    make = REFUSED[name]
    with pytest.raises(ColumnRefused, match=r"Column 'c'.*ignore"):
        NaiveBayes().fit(make(), Y)
    with pytest.raises(ColumnRefused, match="Column 'c'"):
        SEEN.predict(make())
    left_out = NaiveBayes({"c": "ignore"}, calibrate=False).fit(make(), Y)
    assert left_out.predict(make()).tolist() == Y
    assert NaiveBayes(**PLAIN).fit({"x": X}, Y).predict(make()).tolist() == Y


@pytest.mark.parametrize("name", NO_ROWS)
def test_what_is_no_set_of_rows_is_refused(name):
    for method in (METHODS["fit"], METHODS["predict"], METHODS["score"]):
        with pytest.raises(CandideError):
            method(NO_ROWS[name]())


def test_an_empty_list_of_texts_is_no_row():
    model = NaiveBayes(**PLAIN).fit(["hello you", "bye there"] * 4, Y)
    with pytest.raises(RowsRefused, match="not a single row"):
        model.predict([])


LABELS = {
    "pandas frame": lambda: pd.DataFrame({"y": Y}),
    "polars frame": lambda: pl.DataFrame({"y": Y}),
    "Arrow table": lambda: pa.table({"y": Y}),
    "pandas series": lambda: pd.Series(Y),
    "pandas categories": lambda: pd.Series(Y, dtype="category"),
    "pandas strings": lambda: pd.Series(Y, dtype="string"),
    "polars series": lambda: pl.Series(Y),
    "polars categories": lambda: pl.Series(Y, dtype=pl.Categorical),
    "Arrow array": lambda: pa.array(Y),
    "tuple": lambda: tuple(Y),
    "array": lambda: np.array(Y),
    "objects": lambda: np.array(Y, dtype=object),
    "column": lambda: np.array(Y)[:, None],
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_come_in_any_memory(name):
    rows = {"x": X}
    model = NaiveBayes(**PLAIN).fit(rows, LABELS[name]())
    assert model.predict(rows).tolist() == Y
    assert model.score(rows, LABELS[name]()) == 1.0
    assert model.evaluate(rows, LABELS[name]()).accuracy == 1.0
    assert model.summary_ == NaiveBayes(**PLAIN).fit(rows, Y).summary_


@pytest.mark.parametrize("y", [pd.DataFrame({"y": Y, "z": Y}), [[1, 2]] * 8, [{"k": 1}] * 8, [1j] * 8, 3, "absent"])
def test_labels_that_are_none_are_refused(y):
    with pytest.raises(CandideError):
        NaiveBayes().fit({"x": X}, y)


def test_intervals_and_spans_are_labels_only_in_words():
    assert NaiveBayes(**PLAIN).fit({"x": X}, pd.Series(pd.cut(X, [0, 5, 10]))).predict({"x": [1.0]}) == ["(0, 5]"]
    with pytest.raises(LabelsRefused):
        NaiveBayes().fit({"x": X}, [Odd()] * 7 + [None])


@pytest.mark.parametrize(
    "value",
    [[1, 2], {"k": 1}, {1}, (1, 2), Odd(), 1j, np.array([1, 2]), fractions.Fraction(1, 2), decimal.Decimal("sNaN"),
     datetime.timedelta(1), np.datetime64("2020"), datetime.date(2020, 1, 1), "\ud800 x y", 2**70, pd.NaT, pd.NA,
     pd.Period("2020"), pd.Interval(0, 1), float("inf"), b"ab", np.bool_(True)],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
@pytest.mark.parametrize("first", [1.5, "word", "several words here", None])
def test_a_row_of_a_stream_is_learned_or_refused_in_a_sentence(first, value):
    def begun():
        model = NaiveBayes()
        return model if first is None else model.learn_one({"c": first}, "a").learn_one({"c": first}, "b")

    for call in (
        lambda model: model.learn_one({"c": value}, "a").forget_one({"c": value}, "a"),
        lambda model: model.predict_one({"c": value}),
        lambda model: model.learn_one({"c": first}, value),
        lambda model: model.learn_one(value, "a"),
    ):
        with contextlib.suppress(CandideError):
            call(begun())


def test_rows_as_mappings_lack_what_they_do_not_name():
    rows = [{"x": 1.0, "c": "u"}, {"x": 9.0}, {"c": "u", "d": True}]
    same = pd.DataFrame({"x": [1.0, 9.0, None], "c": ["u", None, "u"], "d": [None, None, True]})
    left, right = (NaiveBayes(**PLAIN).fit(given, ["a", "b", "a"]) for given in (rows, same))
    assert left.summary_ == right.summary_


def test_a_column_transformer_may_come_first():
    table = pd.DataFrame({"x": X, "c": ["u", "v"] * 4, "n": range(8)})
    first = ColumnTransformer([("scaled", MinMaxScaler(), ["x", "n"])], remainder="passthrough")
    model = make_pipeline(first, NaiveBayes(**PLAIN)).fit(table, Y)
    assert [choice.family.name for choice in model[-1].schema_.choices][-1] == "categorical"
    assert model.score(table, Y) == 1.0


def test_a_score_may_name_the_label_column_and_weigh_rows():
    table = pd.DataFrame({"x": X, "kind": Y})
    model = NaiveBayes(**PLAIN).fit(table, "kind")
    wrong = table.assign(kind=["a", "b"] * 3 + ["b", "a"])
    assert (model.score(table, "kind"), model.score(wrong, "kind")) == (1.0, 0.75)
    assert model.score(wrong, "kind", sample_weight=[1] * 6 + [3, 3]) == 0.5


def test_a_report_takes_labels_for_its_rows(tmp_path):
    pytest.importorskip("matplotlib", reason="draws pictures")
    model = NaiveBayes(**PLAIN).fit({"x": X}, Y)
    with pytest.raises(LabelsRefused, match="label="):
        model.report(tmp_path / "page.html", data={"x": X, "kind": Y})
    model.report(tmp_path / "page.html", {"x": X}, Y)
    model.report(tmp_path / "page.html", {"x": X, "kind": Y}, "kind")
    assert "8 rows" in (tmp_path / "page.html").read_text()
