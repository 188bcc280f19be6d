"""Some columns and some rows: `columns` and `where`, for every format and in every verb that reads."""

from __future__ import annotations

import json
import sqlite3

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from candide.api import verbs
from candide.data.errors import CandideError
from candide.sources import open_source
from candide.sources.where import Where

ROWS = [
    {"age": 31, "town": "Oslo", "split": "train", "y": "no"},
    {"age": 22, "town": None, "split": "test", "y": "yes"},
    {"age": None, "town": "O'Brien", "split": "train", "y": "yes"},
    {"age": 54, "town": "Rome", "split": "train", "y": "no"},
    {"age": 40, "town": "Oslo", "split": "test", "y": "no"},
]
FRAME = pd.DataFrame(ROWS)


def sqlite_file(path):
    with sqlite3.connect(path) as connection:
        FRAME.to_sql("t", connection, index=False)
    connection.close()


FILES = {
    "rows.csv": lambda path: FRAME.to_csv(path, index=False),
    "rows.jsonl": lambda path: path.write_text("".join(json.dumps(row) + "\n" for row in ROWS)),
    "rows.parquet": lambda path: pyarrow.parquet.write_table(pa.Table.from_pylist(ROWS), path),
    "rows.arrow": lambda path: pyarrow.feather.write_feather(pa.Table.from_pylist(ROWS), path),
    "rows.sqlite": sqlite_file,
}


@pytest.fixture(params=[*FILES, "frame"])
def data(request, tmp_path):
    if request.param == "frame":
        return FRAME
    FILES[request.param](tmp_path / request.param)
    return str(tmp_path / request.param)


def ages(source):
    found = []
    for batch in source.batches():
        column = batch.columns.raw(batch.position("age"))
        found += column.to_pylist() if hasattr(column, "to_pylist") else column.tolist()
    return [None if age is None or age != age else int(age) for age in found]


CONDITIONS = {
    "split = 'train'": [31, None, 54],
    "split != 'train'": [22, 40],
    "split <> 'train'": [22, 40],
    "split == 'train' and age > 31": [54],
    "age >= 31 AND age <= 40": [31, 40],
    "age < 31.5": [31, 22],
    "age = 22": [22],
    "age is missing": [None],
    "town is missing": [22],
    'town is not missing and "split" = \'test\'': [40],
    "town = 'O''Brien'": [None],
    "town > 'P'": [54],
    "y = 'yes'": [22, None],
    "  age>=54  ": [54],
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_rows_that_meet_a_condition_are_read(data, condition):
    source = open_source(data, label="y", where=condition)
    assert ages(source) == CONDITIONS[condition]
    assert ages(source) == CONDITIONS[condition]
    assert source.rejects.count == 0


def test_only_the_columns_asked_for_are_read_and_the_label(data):
    source = open_source(data, label="y", columns=["town", "age"], where="split = 'test'")
    assert source.columns == ("age", "town", "y")
    assert [batch.names for batch in source.batches()] == [("age", "town")]
    assert open_source(data, columns="age, split").columns == ("age", "split")


REFUSED = {
    "": "a column was expected at the end",
    "age": "needs one of = != < <= > >=",
    "age =": "needs one of",
    "age = train": "text stands in single quotes",
    "age ~ 3": "needs one of",
    "age = 3 or age = 4": "'and' was expected before 'or'",
    "age = 3 and": "a column was expected at the end",
    "'age' = 3": "a column was expected, not 'age'",
    "age = '3": "begins nothing",
    "age is 3": "needs one of",
    "__import__('os').system('true') = 1": "needs one of",
    "agee = 3": "Did you mean 'age'?",
    "split > 3 and age = 'x'": "cannot be compared with 'x'",
}


@pytest.mark.parametrize("condition", REFUSED)
def test_conditions_that_are_refused(tmp_path, condition):
    FILES["rows.parquet"](tmp_path / "rows.parquet")
    with pytest.raises(CandideError) as problem:
        ages(open_source(str(tmp_path / "rows.parquet"), label="y", where=condition))
    assert REFUSED[condition] in str(problem.value)


def test_what_is_not_there_is_refused_by_name(data):
    with pytest.raises(CandideError, match=r"no column 'agee'.*Did you mean 'age'"):
        open_source(data, columns="agee")
    with pytest.raises(CandideError, match="one is empty"):
        open_source(data, columns="age,,town")
    with pytest.raises(CandideError, match="none of 5 rows is one where age > 100"):
        ages(open_source(data, label="y", where="age > 100"))


def test_numbers_dates_and_truths_are_compared_as_what_they_are(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("day,big,flag,y\n2026-01-31,9007199254740993,true,a\n2026-02-01,9007199254740992,false,b\n")
    for condition in ("day < '2026-02-01'", "big = 9007199254740993", "flag = true", "day <= '2026-01-31' and big > 1"):
        source = open_source(str(path), label="y", where=condition)
        assert [list(batch.labels.keys) for batch in source.batches()] == [[("text", "a")]]


def test_what_is_wrong_with_a_column_nobody_wants_does_not_matter(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,odd,y\n" + "1,2,a\n2,3,b\n" * 100_000 + "3,oops,a\n")
    assert sum(len(batch) for batch in open_source(str(path), label="y", columns="x").batches()) == 200_001
    with pytest.raises(CandideError, match="oops"):
        list(open_source(str(path), label="y").batches())


def test_a_condition_is_the_same_in_blocks_of_any_size(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("age,y\n" + "".join(f"{age},{'ab'[age % 2]}\n" for age in range(500)))
    for size in (1, 17, 100, 1 << 20):
        assert ages(open_source(str(path), label="y", where="age >= 250", batch_bytes=size)) == list(range(250, 500))


def test_every_verb_that_reads_takes_them(tmp_path):
    path = tmp_path / "rows.csv"
    pd.DataFrame(ROWS * 20).to_csv(path, index=False)
    choice = {"where": "split = 'train'", "columns": ["age", "town"]}
    fitted = verbs.fit(str(path), "y", families="guess", smoothing="default", calibrate=False, **choice)
    assert (fitted.rows, fitted.trained.schema.columns) == (60, ("age", "town"))
    assert fitted.provenance["read"]["where"] == "split = 'train'"
    learned = verbs.learn(fitted, str(path), columns="age,town", where="split = 'test'")
    assert learned.rows == 100
    assert verbs.forget(learned, str(path), columns="age,town", where="split = 'test'").rows == 60
    assert verbs.evaluate(fitted, str(path), **{**choice, "where": "split = 'test'"}).rows == 40
    families = {"age": "gaussian", "town": "categorical"}
    assert verbs.evaluate(str(path), label="y", families=families, **choice).rows == 60
    predicted = verbs.predict(fitted, str(path), where="split = 'test'")
    assert predicted.table["split"].to_pylist() == ["test"] * 40
    assert len(verbs.explain(fitted, str(path), rows=[1], where="age = 54")) == 1


def test_the_shell_takes_them_too(tmp_path):
    from candide.cli.app import app

    FILES["rows.csv"](tmp_path / "rows.csv")
    run = CliRunner().invoke(
        app,
        ["fit", str(tmp_path / "rows.csv"), "--label", "y", "--columns", "age,town", "--where", "split = 'train'",
         "--plain", "--format", "json"],
    )  # fmt: skip
    assert json.loads(run.output)["rows"] == 3


def test_the_grammar_reads_what_it_says():
    condition = Where.of('"a ""b""" != \'it\'\'s\' and c.d-e is not missing and f = true and g <= -1.5e3')
    assert [(one.column, one.sign, one.value) for one in condition.comparisons] == [
        ('a "b"', "!=", "it's"),
        ("c.d-e", "is not missing", None),
        ("f", "=", True),
        ("g", "<=", -1500.0),
    ]


@pytest.mark.parametrize("output", ["out.csv", "out.tsv", "out.jsonl", "out.parquet"])
def test_predict_gives_back_the_rows_and_columns_that_were_asked_for(data, tmp_path, output):
    model = verbs.fit(FRAME, "y", families="guess", smoothing="default", calibrate=False, columns=["age", "town"])
    for on_error in ("stop", "keep"):
        verbs.predict(model, data, tmp_path / output, where="split = 'test'", columns="age,town", on_error=on_error)
        back = open_source(str(tmp_path / output))
        assert ages(back) == [22, 40]
        assert set(back.columns) == {"age", "town", "label", "probability", "decision"}


def test_rows_that_come_back_by_a_condition_are_what_they_were(tmp_path):
    model = verbs.fit(FRAME, "y", families="guess", smoothing="default", calibrate=False, columns=["age"])
    (tmp_path / "a.csv").write_text("age,id,split\n31,007,test\n22,008,train\nodd,009,test\n1e1,010,test\n")
    kept = ["31,007,test", "odd,009,test", "1e1,010,test"]
    for on_error, expected in (("skip", [kept[0], kept[2]]), ("keep", kept)):
        verbs.predict(model, str(tmp_path / "a.csv"), tmp_path / "b.csv", where="split = 'test'", on_error=on_error)
        lines = (tmp_path / "b.csv").read_text().splitlines()
        assert [",".join(line.split(",")[:3]) for line in lines[1:]] == expected
