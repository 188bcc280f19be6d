"""One identity for each value, whatever library it came from."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candide.data.errors import CandideError
from candide.data.values import Coded, as_array, key_of, shown


@pytest.mark.parametrize("one", [1, 1.0, np.int8(1), np.float32(1), Decimal(1), Decimal("1.00")])
def test_one_is_one_in_every_type(one):
    assert key_of(one) == ("number", 1)


@pytest.mark.parametrize("other", ["1", True, b"1", np.bool_(True), np.str_("1")])
def test_what_looks_like_one_is_another_value(other):
    assert key_of(other) is not None
    assert key_of(other) != key_of(1)


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan, np.float32("nan"), pd.NA, pd.NaT, Decimal("NaN")])
def test_missing_has_no_identity(missing):
    assert key_of(missing) is None


def test_minus_zero_is_zero():
    assert key_of(-0.0) == key_of(0)


def test_large_numbers_keep_their_identity():
    assert key_of(2**53) != key_of(2**53 + 1)
    assert key_of(10**400) != key_of(10**400 + 1)
    assert key_of(1e300) == key_of(int(1e300))
    assert key_of(float("inf")) == ("number", float("inf"))


@pytest.mark.parametrize(
    "moment", [datetime.datetime(2020, 1, 2, 3, 4), pd.Timestamp("2020-01-02 03:04"), np.datetime64("2020-01-02T03:04")]
)
def test_a_moment_is_the_same_in_every_library(moment):
    assert key_of(moment) == ("time", "2020-01-02T03:04:00")


@pytest.mark.parametrize("odd", [{}, [], object(), 1j])
def test_other_things_are_refused(odd):
    with pytest.raises(CandideError, match=f"type {type(odd).__name__} cannot be a category or a label"):
        key_of(odd)


values = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.just("\ud800"))


@given(st.lists(values))
def test_coding_and_decoding_gives_back_every_key(column):
    coded = Coded.of(column)
    decoded = [None if code < 0 else coded.keys[code] for code in coded.codes]
    assert decoded == [key_of(value) for value in column]
    assert list(coded.keys) == sorted({key for key in decoded if key})


columns_of_one_type = st.one_of(
    st.lists(st.one_of(st.none(), st.text(st.characters(codec="utf-8")))),
    st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1))),
    st.lists(st.one_of(st.none(), st.floats(allow_nan=False))),
    st.lists(st.one_of(st.none(), st.booleans())),
)


@given(columns_of_one_type)
def test_arrow_and_python_columns_are_coded_alike(column):
    plain, arrow = Coded.of(column), Coded.of(pa.array(column))
    chunked = Coded.of(pa.chunked_array([pa.array(column), pa.array([], pa.array(column).type)]))
    for coded in (arrow, chunked):
        assert coded.keys == plain.keys
        assert np.array_equal(coded.codes, plain.codes)


@pytest.mark.parametrize(
    "array",
    [
        np.array([3, 1, 3]),
        np.array([3.0, 1.0, 3.0], dtype=np.float32),
        np.array([3, 1, 3], dtype=np.uint8),
        np.array([3, 1, 3], dtype=object),
        pa.array([3, 1, 3]).dictionary_encode(),
    ],
)
def test_arrays_of_numbers_are_coded_alike(array):
    coded = Coded.of(array)
    assert coded.codes.tolist() == [1, 0, 1]
    assert coded.keys == (("number", 1), ("number", 3))


def test_only_keys_that_occur_are_listed():
    unused = pa.DictionaryArray.from_arrays(pa.array([1, None]), pa.array(["never", "once"]))
    assert Coded.of(unused).keys == (("text", "once"),)


def test_a_part_of_the_rows_keeps_the_numbering():
    coded = Coded.of(["b", "a", "c"])
    assert coded[1:].codes.tolist() == [0, 2]
    assert coded[1:].keys == coded.keys


def test_renumbering_sends_unknown_keys_to_missing():
    coded = Coded.of(["b", None, "a"])
    assert coded.renumbered({("text", "b"): 7}).tolist() == [7, -1, -1]


@pytest.mark.parametrize(
    ("keys", "kind"),
    [
        ([("number", 0), ("number", 1)], "i"),
        ([("truth", False), ("truth", True)], "b"),
        ([("text", "a"), ("text", "b")], "U"),
        ([("bytes", b"a"), ("bytes", b"b")], "O"),
    ],
)
def test_keys_become_an_array_of_their_kind(keys, kind):
    array = as_array(keys)
    assert array.dtype.kind == kind
    assert array.tolist() == [value for _, value in keys]


def test_keys_are_shown_plainly():
    assert [shown(key_of(value)) for value in (3.0, 2.5, "male", True)] == ["3", "2.5", "male", "True"]
