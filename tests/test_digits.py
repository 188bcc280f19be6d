"""Probabilities are written with the digits that people can use, or that they ask for; data pass as they are."""

from __future__ import annotations

import io
from decimal import Decimal

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candide.api import verbs
from candide.api.verbs.digits import MOST, to_digits
from candide.data.errors import OptionRefused

VALUES = ["0.1234567890123", "1e-3", "5.50", "7", "00012.500"]


@pytest.fixture(scope="module")
def model():
    rows = {"x": [0.1, 0.4, 0.2, 5.0, 6.5, 0.7, 7.1, 6.2] * 4, "y": ["a", "a", "a", "b", "b", "b", "b", "a"] * 4}
    return verbs.fit(rows, "y", families="guess", calibrate=False)


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x\n" + "".join(f"{value}\n" for value in VALUES))
    return path


def written(model, rows, format="csv", **options):
    stream = io.BytesIO()
    verbs.predict(model, rows, stream, output_format=format, probabilities=True, **options)
    return stream.getvalue()


def chances(written_rows):
    lines = [line.split(",") for line in written_rows.decode().splitlines()[1:]]
    assert [line[0] for line in lines] == VALUES
    return [[line[2], *line[4:]] for line in lines]


def significant(text):
    return len(Decimal(text).normalize().as_tuple().digits)


def test_six_digits_unless_asked_and_data_pass_as_they_are(model, rows):
    exact = verbs.predict(model, rows, probabilities=True).table
    usual = chances(written(model, rows))
    assert all(significant(text) <= 6 for line in usual for text in line)
    for name, index in (("probability", 0), ("probability_a", 1), ("probability_b", 2)):
        np.testing.assert_allclose([float(line[index]) for line in usual], exact[name].to_numpy(), rtol=5.1e-6)


def test_fewer_more_or_all(model, rows):
    exact = verbs.predict(model, rows, probabilities=True).table["probability_a"].to_pylist()
    assert all(significant(text) <= 2 for line in chances(written(model, rows, digits=2)) for text in line)
    assert [float(line[1]) for line in chances(written(model, rows, digits="all"))] == exact
    assert [float(line[1]) for line in chances(written(model, rows, digits=17))] == exact


def test_json_parquet_and_tables_have_every_digit(model, rows, tmp_path):
    exact = verbs.predict(model, rows).table["probability"].to_pylist()
    verbs.predict(model, rows, tmp_path / "rows.parquet", digits="all")
    assert pq.read_table(tmp_path / "rows.parquet")["probability"].to_pylist() == exact
    for format in ("jsonl", "parquet"):
        with pytest.raises(OptionRefused, match="csv and tsv"):
            written(model, rows, format, digits=3)
    with pytest.raises(OptionRefused, match="csv and tsv"):
        verbs.predict(model, rows, digits=3)


@pytest.mark.parametrize("digits", [0, -1, 18, 2.5, True, "six", "6"])
def test_what_is_no_number_of_digits_is_refused(model, rows, digits):
    with pytest.raises(OptionRefused, match="from 1 to 17"):
        written(model, rows, digits=digits)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.integers(1, MOST))
def test_digits_are_those_of_the_number_rounded_once(values, digits):
    found = to_digits(np.array(values), digits).tolist()
    for value, one in zip(values, found, strict=True):
        near = float(f"{value:.{digits}g}")
        if near == 1.0 and value < 1.0:
            assert one == float(f"0.{'9' * digits}") or digits >= MOST
        else:
            assert one == pytest.approx(near, rel=1.01 * 10.0 ** (1 - digits), abs=0)
            assert digits >= MOST or significant(repr(one)) <= digits
        assert (one == 1.0) == (value == 1.0)
        assert (one == 0.0) == (value == 0.0)
