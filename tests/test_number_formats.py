"""Numbers in another format are numbers, missing is missing, and what is doubtful is said."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from candide import NaiveBayes, store
from candide.api import verbs
from candide.data.errors import CandideError
from candide.sources import open_source
from candide.sources.kinds import parse_kind
from candide.sources.number_format import USUAL, NumberFormat

ROWS = 120


def plain_rows(seed=0):
    """A label, and numbers that tell it."""
    rng = np.random.default_rng(seed)
    labels = np.arange(ROWS) % 2
    numbers = np.round(rng.lognormal(7 + 0.8 * labels, 0.5), 2)
    return numbers, np.array(["low", "high"])[labels]


def written(path, values, labels, delimiter=";"):
    path.write_text("\n".join([f"x{delimiter}y", *(f"{v}{delimiter}{y}" for v, y in zip(values, labels, strict=True))]))
    return str(path)


def written_in(number, form):
    whole, _, broken = f"{number:_.2f}".partition(".")
    text = f"{whole.replace('_', form.thousands)}{form.decimal}{broken}"
    return f"{text} {form.unit}".strip()


def column_of(path, **reading):
    source = open_source(path, **reading)
    (batch,) = source.batches()
    return batch.columns.raw(batch.position("x")).to_pylist()


FORMATS = [
    *(NumberFormat(d, t, u) for d, t in USUAL for u in ("", "€", "%")),
    NumberFormat(",", ""),
    NumberFormat(".", "", "$"),
]


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.example)
def test_numbers_in_any_format_are_the_numbers(tmp_path, form):
    numbers, labels = plain_rows()
    texts = [written_in(n, form) for n in numbers]
    path = written(tmp_path / "a.csv", texts, labels)
    assert column_of(path) == numbers.tolist()
    fitted = verbs.fit(path, "y")
    choice = fitted.trained.schema.choices[0]
    assert choice.reason.startswith("numbers")
    plain = verbs.fit(written(tmp_path / "b.csv", numbers.tolist(), labels), "y")
    assert fitted.trained.summary == plain.trained.summary


@pytest.mark.parametrize("marker", ["?", "-", ".", "n/a", "null", "NULL", "none", "missing", "#N/A", "--", "NA", ""])
def test_the_usual_markers_are_missing_in_numbers_dates_and_dressed_numbers(tmp_path, marker):
    _, labels = plain_rows()
    for texts in (["1.5", "2", "3.25"], ["1,5", "2", "3,25"], ["31.12.2024", "1.2.1969", "3.3.2003"]):
        many = (texts * ROWS)[: ROWS - 1]
        path = written(tmp_path / "a.csv", [*many, marker], labels)
        values = column_of(path)
        assert values[-1] is None
        assert not any(isinstance(value, str) or value is None for value in values[:-1])


def test_a_marker_in_categories_is_a_value_and_the_reason_says_so(tmp_path):
    _, labels = plain_rows()
    path = written(tmp_path / "a.csv", (["red", "blue", "?"] * ROWS)[:ROWS], labels)
    assert set(column_of(path)) == {"red", "blue", "?"}
    assert "'?' counts as a value, not as missing" in verbs.fit(path, "y").trained.schema.choices[0].reason
    assert set(column_of(path, na="?")) == {"red", "blue", None}


def test_thousands_or_decimals_is_decided_by_the_whole_column(tmp_path):
    labels = ["a", "b", "a"]
    assumed = written(tmp_path / "a.csv", ["1,234", "2,345", "999"], labels)
    assert column_of(assumed) == [1234.0, 2345.0, 999.0]
    assert "commas between thousands (assumed" in open_source(assumed).read_as["x"].said
    assert column_of(assumed, types={"x": "number 1234,5"}) == [1.234, 2.345, 999.0]
    assert column_of(assumed, decimal=",") == [1.234, 2.345, 999.0]
    assert column_of(written(tmp_path / "b.csv", ["1,234", "0,345", "9"], labels)) == [1.234, 0.345, 9.0]
    assert column_of(written(tmp_path / "c.csv", ["1,234", "2,3", "9"], labels)) == [1.234, 2.3, 9.0]
    points = written(tmp_path / "d.csv", ["1.234", "2.345", "999"], labels)
    assert column_of(points) == [1.234, 2.345, 999.0]
    assert column_of(points, thousands=".") == [1234.0, 2345.0, 999.0]
    assert column_of(written(tmp_path / "e.csv", ["€ 1.234", "€ 2.345", "€ 9"], labels)) == [1234.0, 2345.0, 9.0]


@pytest.mark.parametrize("values", [["1.2.3", "1.2"], ["12-34", "13-35"], ["1,23,4", "1"], ["€", "€ 1"], ["--5", "5"]])
def test_what_is_no_number_stays_text(tmp_path, values):
    assert column_of(written(tmp_path / "a.csv", values, "ab")) == values


def test_a_currency_may_be_left_out_and_a_percent_sign_may_not(tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text("price;share;y\n1.234,50;5%;a\n€ 99,90;3;b\n7;2%;a\n")
    source = open_source(path, label="y")
    assert [source.reader.kinds[name].name for name in ("price", "share")] == ["number", "text"]
    (batch,) = source.batches()
    assert batch.numbers(["price"])[:, 0].tolist() == [1234.5, 99.9, 7.0]


def test_a_model_reads_later_files_as_the_first(tmp_path):
    numbers, labels = plain_rows()
    form = NumberFormat(",", ".", "€")
    texts = ["k.A.", *(written_in(n, form) for n in numbers[1:])]
    first = written(tmp_path / "a.csv", texts, labels)
    model = tmp_path / "m.candide"
    verbs.fit(first, "y", model, na="k.A.")
    known = store.load(model).schema.kinds["x"]
    assert parse_kind(known).na == ("k.A.",)
    assert parse_kind(known).form == "1.234,5 €"
    before = verbs.load(model)
    doubtful = written(tmp_path / "b.csv", ["1.234", "k.A.", "2.345"], ["low", "high", "low"])
    assert verbs.evaluate(model, doubtful).rows == 3
    plain = verbs.predict(model, written(tmp_path / "c.csv", [1234, "", 2345], ["low", "high", "low"])).table
    assert verbs.predict(model, doubtful).table["probability"] == plain["probability"]
    verbs.learn(model, doubtful)
    assert verbs.load(model).rows == ROWS + 3
    verbs.forget(model, doubtful)
    assert verbs.load(model).trained.summary == before.trained.summary


def test_mostly_numbers_learned_as_categories_is_warned_of_in_every_face(tmp_path):
    numbers, labels = plain_rows()
    texts = [str(n) for n in numbers]
    texts[3], texts[50] = "tbd", "soon"
    fitted = verbs.fit(written(tmp_path / "a.csv", texts, labels), "y")
    warning = fitted.trained.schema.warnings["x"]
    assert "118 of 120 values are numbers" in warning
    assert "na=['soon', 'tbd']" in warning
    assert verbs.inspect(fitted)["columns"][0]["warning"] == warning
    with pytest.warns(UserWarning, match="118 of 120 values are numbers"):
        NaiveBayes().fit(pd.DataFrame({"x": texts}), labels)
    with pytest.warns(UserWarning, match="every value is a number, but a text"):
        NaiveBayes().fit(pa.table({"x": list(map(str, numbers))}), labels)
    mended = verbs.fit(written(tmp_path / "a.csv", texts, labels), "y", na=["tbd", "soon"])
    assert not mended.trained.schema.warnings
    assert mended.trained.schema.choices[0].family.name != "categorical"


@pytest.mark.parametrize("texts", [["1", "0"], ["a", "b"], ["a1", "b2", "c3"], ["1", "2", "3", "none of these"]])
def test_categories_are_not_warned_of(tmp_path, texts):
    _, labels = plain_rows()
    path = written(tmp_path / "a.csv", (texts * ROWS)[:ROWS], labels)
    assert not verbs.fit(path, "y", types={"x": "text"}).trained.schema.warnings
    assert not NaiveBayes().fit({"x": (texts * ROWS)[:ROWS]}, labels).schema_.warnings


def test_a_later_value_that_is_no_number_is_named_with_the_way_out(tmp_path):
    texts = ["1,5"] * 200_000 + ["soon"]
    path = written(tmp_path / "a.csv", texts, ["a", "b"] * 100_000 + ["a"])
    with pytest.raises(CandideError, match=r"line 200,002: column 'x' holds 'soon', but a number such as 1\.234,5"):
        list(open_source(path).batches())
    rows = sum(len(batch) for batch in open_source(path, on_error="skip").batches())
    assert rows == 200_000
    assert sum(len(batch) for batch in open_source(path, na="soon").batches()) == 200_001


def test_words_for_missing_hold_in_every_format(tmp_path):
    table = pa.table({"x": ["red", "unknown", "blue"], "y": ["a", "b", "a"]})
    pd.DataFrame(table.to_pydict()).to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    pq.write_table(table, tmp_path / "a.parquet")
    for name in ("a.jsonl", "a.parquet"):
        assert column_of(str(tmp_path / name), na="unknown") == ["red", None, "blue"]
        with pytest.raises(CandideError, match="decimal and thousands are for csv and tsv"):
            open_source(str(tmp_path / name), decimal=",")
    with pytest.raises(CandideError, match="are for files"):
        open_source({"x": ["red"]}, na="unknown")


@pytest.mark.parametrize(
    ("reading", "said"),
    [
        ({"decimal": ",,"}, "decimal must be one character"),
        ({"decimal": ",", "thousands": ","}, "cannot both be ','"),
        ({"types": {"x": "number 12"}}, "does not show how numbers are written"),
        ({"types": {"x": "date 1/2/2024"}}, "does not show how dates are written"),
        ({"types": {"x": "truth 1,5"}}, "only number, date and time"),
        ({"na": [1]}, "na must be words"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path, reading, said):
    with pytest.raises(CandideError, match=said):
        open_source(written(tmp_path / "a.csv", ["1,5"], "a"), **reading)
