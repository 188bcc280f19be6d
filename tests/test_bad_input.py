"""Bad input: an error says what was found, where, what was expected and what to do next, and nothing is lost."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp

from candide import NaiveBayes
from candide.data.errors import (
    CandideError,
    ColumnRefused,
    ForgetRefused,
    LabelsRefused,
    OptionRefused,
    OverflowRefused,
    RowsRefused,
    SummariesDisagree,
)

ROWS = {"age": [31.0, 40.5, 25.0, 33.0], "sex": ["f", "m", "f", "m"]}
LABELS = ["yes", "no", "yes", "no"]
SENTENCES = [f"this is sentence number {number}" for number in range(20)]


def refused(kind, action, *telling):
    """An error of a kind is raised, is a CandideError, and its message holds every telling part."""
    with pytest.raises(kind) as caught:
        action()
    assert isinstance(caught.value, CandideError)
    for part in telling:
        assert part in str(caught.value)


def fitting(X, y, sample_weight=None, **options):
    return lambda: NaiveBayes(**options).fit(X, y, sample_weight)


# Rows, labels and weights that do not fit together.


@pytest.mark.parametrize(
    ("action", "telling"),
    [
        (fitting(ROWS, LABELS[:3]), ("4 rows", "3 labels", "one of each a row")),
        (fitting(ROWS, LABELS, [1, 2]), ("4 rows", "2 weights")),
        (fitting({"a": [1, 2], "b": [1]}, [0, 1]), ("different lengths", "[1, 2]")),
        (fitting([[1, 2], [3]], [0, 1]), ("Rows have different lengths", "None")),
        (fitting({"a": []}, []), ("not a single row", "at least one")),
        (fitting(np.zeros((0, 2)), []), ("not a single row",)),
        (fitting(np.zeros((3, 0)), [0, 1, 0]), ("0 feature(s)", "(3, 0)")),
        (fitting({"y": ["a", "b"]}, "y"), ("0 feature(s)",)),
        (fitting(np.zeros(3), [0, 1, 0]), ("2D array", "1D array", "reshape")),
        (fitting("some words", [0, 1]), ("One string", "list")),
        (fitting(np.array([[1j], [2j]]), [0, 1]), ("Complex", "real numbers")),
        (fitting(ROWS, LABELS, [1, -1, 1, 1]), ("not negative", "forget")),
        (fitting(ROWS, LABELS, [1, np.nan, 1, 1]), ("finite",)),
        (fitting(ROWS, LABELS, ["a", "b", "c", "d"]), ("must be numbers",)),
        (fitting(ROWS, LABELS, [0, 0, 0, 0]), ("non-zero",)),
    ],
)
def test_rows_refused(action, telling):
    refused(RowsRefused, action, *telling)


@pytest.mark.parametrize("weight", [2**62, np.uint64(2**63 + 5)])
def test_weights_beyond_64_bits_are_refused(weight):
    refused(OverflowRefused, fitting(ROWS, LABELS, np.full(4, weight)), "2^62", "Scale the weights down")


# Labels.


@pytest.mark.parametrize(
    ("labels", "telling"),
    [
        (["yes", None, "yes", "no"], ("row 2", "no label", "Drop such rows")),
        ([1, 0, np.nan, 1], ("row 3", "no label")),
        (["yes", 1, "yes", 1], ("number and text", "one type")),
        (np.array(["yes", 1, "yes", 1], dtype=object), ("number and text",)),
        ([True, 2, 3, 3], ("number and truth",)),
        ([1.5, 2.25, 3.1, 4.2], ("Unknown label type", "1.5", "text")),
        ([1.0, np.inf, 1.0, 2.0], ("infinity",)),
        (np.zeros((4, 2)), ("1d array", "(4, 2)")),
        (None, ("target y is None", "label column's name")),
    ],
)
def test_labels_refused(labels, telling):
    refused(LabelsRefused, fitting(ROWS, labels), *telling)


def test_labels_of_no_known_kind_are_refused():
    refused(CandideError, fitting(ROWS, [{}, {}, {}, {}]), "type dict", "text, numbers")


def test_a_class_that_was_not_declared_is_refused():
    refused(LabelsRefused, lambda: NaiveBayes().partial_fit(ROWS, LABELS, classes=["yes"]), "'no'", "classes")


def test_one_class_alone_fits_with_a_warning():
    with pytest.warns(UserWarning, match="only one class, 'yes'"):
        model = NaiveBayes().fit(ROWS, ["yes"] * 4)
    assert model.predict(ROWS).tolist() == ["yes"] * 4
    assert model.predict_proba(ROWS).tolist() == [[1.0]] * 4


# Names.


@pytest.mark.parametrize(
    ("kind", "action", "telling"),
    [
        (OptionRefused, fitting(ROWS, LABELS, families="gausian"), ("'gausian'", "'gaussian'?")),
        (OptionRefused, fitting(ROWS, LABELS, families={"age": "poison"}), ("'poison'", "'poisson'?")),
        (OptionRefused, fitting(ROWS, LABELS, families={"age": 3}), ("name or a Family", "3")),
        (ColumnRefused, fitting(ROWS, LABELS, families={"agee": "poisson"}), ("'agee'", "'age'?")),
        (ColumnRefused, fitting(ROWS, LABELS, smoothing={"agee": 1}), ("'agee'", "'age'?")),
        (ColumnRefused, fitting(ROWS, "sxe"), ("'sxe'", "'sex'?")),
    ],
)
def test_unknown_names_are_refused_with_the_nearest(kind, action, telling):
    refused(kind, action, *telling)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]),
        pa.table([pa.array([1, 3]), pa.array([2, 4])], names=["a", "a"]),
    ],
    ids=["pandas", "pyarrow"],
)
def test_repeated_column_names_are_refused(frame):
    refused(ColumnRefused, fitting(frame, [0, 1]), "'a'", "more than once", "Rename")


# Columns that hold what their family cannot take.


@pytest.mark.parametrize(
    "rows",
    [
        {"x0": [1, "one", 2.5]},
        pd.DataFrame({"x0": [1, "one", 2.5]}, dtype=object),
        np.array([[1], ["one"], [2.5]], dtype=object),
    ],
    ids=["mapping", "pandas", "numpy"],
)
def test_a_column_of_mixed_types_is_refused(rows):
    refused(ColumnRefused, fitting(rows, [0, 1, 0]), "'x0'", "number and text", "'categorical'")


def test_a_column_of_mixed_types_can_be_taken_as_categories():
    model = NaiveBayes(families={"x": "categorical"}).fit({"x": [1, "1", True, 1]}, [0, 1, 2, 0])
    assert model.predict({"x": [1, "1", True]}).tolist() == [0, 1, 2]


@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
def test_an_infinite_number_is_refused_by_row_and_column(infinity):
    rows = np.array([[1.5, 2.0], [2.5, 3.0], [1.0, infinity]])
    refused(ColumnRefused, fitting(rows, [0, 1, 0]), "x1", "row 3", "infinite", "finite number", "NaN")


@pytest.mark.parametrize("family", ["poisson", "multinomial", "complement", "negative_binomial", "geometric"])
@pytest.mark.parametrize("bad", [-2, 2.5])
def test_what_is_no_count_is_refused_by_row_and_column(family, bad):
    rows = {"clicks": [1, 2, 3], "visits": [1, bad, 3]}
    action = fitting(rows, [0, 1, 0], families=family)
    refused(ColumnRefused, action, "visits", family, "a count (0, 1, 2, ...)", f"row 2 holds {bad}", "Choose another")


def test_what_is_no_count_is_refused_in_a_sparse_matrix():
    action = fitting(sp.csr_array([[1, 0], [0, 2.5]]), [0, 1], families="multinomial")
    refused(ColumnRefused, action, "x1", "row 2 holds 2.5")


def test_words_are_refused_where_numbers_are_needed():
    action = fitting(ROWS, LABELS, families="gaussian")
    refused(ColumnRefused, action, "'sex'", "string", "needs numbers", "{'sex': 'categorical'}")


def test_a_number_in_quotes_is_no_number():
    refused(ColumnRefused, fitting({"x": ["12", 3]}, [0, 1], families="gaussian"), "'x'", "'12'", "needs numbers")


def test_a_column_of_text_is_read_as_such_and_can_be_left_out():
    rows, labels = {"review": SENTENCES, "stars": [1.5, 4.5] * 10}, ["bad", "good"] * 10
    assert "review  text" in NaiveBayes().fit(rows, labels).schema_.explain()
    model = NaiveBayes(families={"review": "ignore"}).fit(rows, labels)
    assert model.predict({"review": ["never read"], "stars": [4.5]}).tolist() == ["good"]


# Options.


@pytest.mark.parametrize(
    ("options", "telling"),
    [
        ({"smoothing": -1}, ("smoothing", "from 0 up", "-1")),
        ({"smoothing": float("nan")}, ("smoothing", "nan")),
        ({"smoothing": "lots"}, ("'auto'", "'lots'")),
        ({"smoothing": None}, ("'auto'", "None")),
        ({"priors": {"yes": 0.5, "no": 0.6}}, ("sum to 1", "1.1")),
        ({"priors": {"yes": 1.5, "no": -0.5}}, ("from 0 up", "-0.5")),
        ({"priors": {"yes": float("nan"), "no": 0.5}}, ("sum to 1", "nan")),
        ({"priors": {"yse": 0.5, "no": 0.5}}, ("'yse'", "'yes'?")),
        ({"priors": {"yes": 1.0}}, ("'no'", "every class")),
        ({"priors": "unifrom"}, ("'uniform'", "'unifrom'")),
        ({"class_weight": {"noo": 2.0}}, ("class_weight", "'noo'", "'no'?")),
        ({"class_weight": {"no": -1.0}}, ("class_weight", "not negative")),
        ({"class_weight": "balance"}, ("'balanced'", "'balance'")),
        ({"engine": "sparc"}, ("engine", "'sparc'", "'spark'?")),
        ({"missing": "drop"}, ("'ignore' or 'value'", "'drop'")),
    ],
)
def test_options_refused(options, telling):
    refused(OptionRefused, fitting(ROWS, LABELS, **options), *telling)


def test_priors_that_a_score_cannot_honour_are_refused():
    counts = {"a": [1, 0], "b": [0, 2]}
    refused(OptionRefused, fitting(counts, [0, 1], families="complement", priors="uniform"), "score", "'multinomial'")


# After an error, nothing learned is lost.


@pytest.fixture
def model():
    return NaiveBayes().fit(ROWS, LABELS)


@pytest.mark.parametrize(
    ("kind", "action", "telling"),
    [
        (ColumnRefused, lambda m: m.predict({"age": [3.0]}, strict=True), ("'sex'", "not in these rows", "strict")),
        (ColumnRefused, lambda m: m.predict({"age": [3.0], "sexx": ["f"]}, strict=True), ("'sex'", "'sexx'?")),
        (ColumnRefused, lambda m: m.predict({"age": ["old"], "sex": ["f"]}), ("'age'", "needs numbers")),
        (RowsRefused, lambda m: m.predict({"age": [], "sex": []}), ("not a single row",)),
        (RowsRefused, lambda m: m.predict([[1.0, 2.0, 3.0]]), ("3 features", "expecting 2")),
        (OptionRefused, lambda m: m.predict_proba(ROWS, priors={"yes": 2, "no": 3}), ("sum to 1", "5")),
        (ColumnRefused, lambda m: m.fit({"age": [np.inf, 1.5]}, [0, 1]), ("row 1",)),
        (LabelsRefused, lambda m: m.fit(ROWS, [None] * 4), ("no label",)),
        (ColumnRefused, lambda m: m.partial_fit({"age": [np.inf], "sex": ["f"]}, ["new"]), ("age", "row 1")),
        (ForgetRefused, lambda m: m.forget(ROWS, LABELS, [1.5] * 4), ("fewer rows", "1 too many")),
        (ForgetRefused, lambda m: m.forget(ROWS, ["nobody"] * 4), ("'nobody'", "never learned")),
        (ForgetRefused, lambda m: m.forget(ROWS, LABELS[::-1]), ("forget",)),
        (ForgetRefused, lambda m: m.forget(ROWS, LABELS, [2] * 4), ("fewer rows", "2 too many")),
        (SummariesDisagree, lambda m: m + NaiveBayes().fit({"size": [1.5, 2.5]}, LABELS[:2]), ("'age'", "like the")),
        (LabelsRefused, lambda m: m.sample(1, label="yse"), ("'yse'", "'yes'?")),
        (OptionRefused, lambda m: m.sample(-1), ("from 0 up", "-1")),
    ],
)
def test_an_error_leaves_a_fitted_model_as_it_was(model, kind, action, telling):
    summary, answers = model.summary_, model.predict_joint_log_proba(ROWS)
    refused(kind, lambda: action(model), *telling)
    assert model.summary_ == summary
    assert np.array_equal(model.predict_joint_log_proba(ROWS), answers)


def test_priors_that_turn_out_bad_after_fitting_are_refused_and_can_be_mended(model):
    model.set_params(priors={"yes": 2, "no": 3})
    refused(OptionRefused, lambda: model.predict(ROWS), "sum to 1")
    model.set_params(priors="empirical")
    assert model.predict(ROWS).tolist() == LABELS
