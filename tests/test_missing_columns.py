"""A column that rows lack is missing in them, and said, in every face; strict refuses."""

from __future__ import annotations

import csv
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from candide import MissingColumnWarning, NaiveBayes, families
from candide.api import verbs
from candide.cli.app import app
from candide.data.errors import ColumnRefused, RowsRefused

Y = ["a", "b"] * 10
ROWS = {"size": [1.0, 9.0] * 10, "colour": ["red", "blue"] * 10, "spots": [0, 7] * 10}
PLAIN = {"families": "guess", "smoothing": "default", "calibrate": False}
LACKING = {"size": ROWS["size"], "colour": ROWS["colour"]}
FILLED = {**LACKING, "spots": [None] * 20}

METHODS = {
    "predict": lambda model, rows, **options: model.predict(rows, **options).tolist(),
    "predict_proba": lambda model, rows, **options: model.predict_proba(rows, **options).tolist(),
    "predict_log_proba": lambda model, rows, **options: model.predict_log_proba(rows, **options).tolist(),
    "predict_joint_log_proba": lambda model, rows, **options: model.predict_joint_log_proba(rows, **options).tolist(),
    "score_samples": lambda model, rows, **options: model.score_samples(rows, **options).tolist(),
    "decide": lambda model, rows, **options: model.decide(rows, **options).tolist(),
    "explain": lambda model, rows, **options: [e.to_dict() for e in model.explain(rows, **options)],
    "score": lambda model, rows, **options: model.score(rows, Y, **options),
    "evaluate": lambda model, rows, **options: model.evaluate(rows, Y, **options).to_dict(),
}


@pytest.fixture(scope="module")
def model():
    return NaiveBayes(**PLAIN).fit(ROWS, Y)


@pytest.mark.parametrize("method", METHODS)
def test_a_lacking_column_is_missing_with_one_warning(model, method):
    expected = METHODS[method](model, FILLED)
    with pytest.warns(MissingColumnWarning, match="no column 'spots': it counts as missing") as told:
        found = METHODS[method](model, LACKING)
    assert len(told) == 1
    assert told[0].filename == __file__
    assert found == expected


@pytest.mark.parametrize("method", METHODS)
def test_strict_refuses_and_a_complete_row_passes_without_a_word(model, method):
    with pytest.raises(ColumnRefused, match="'spots' is not in these rows"):
        METHODS[method](model, LACKING, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        METHODS[method](model, FILLED, strict=True)
        METHODS[method](model, {**ROWS, "id": range(20)}, strict=True)


@pytest.mark.parametrize("name", families.names())
def test_every_family_can_be_lacking(name):
    """A family that takes the values says nothing when its column is not there."""
    values = {"flag": [0, 1] * 10, "x": ROWS["size"], "kind": ROWS["colour"], "note": ["a red one", "blue ones"] * 10}
    for column in values:
        try:
            model = NaiveBayes({column: name, "other": "gaussian"}, smoothing="default", calibrate=False).fit(
                {column: values[column], "other": ROWS["size"]}, Y
            )
        except ValueError:
            continue
        with pytest.warns(MissingColumnWarning, match=column):
            assert np.isfinite(model.predict_proba({"other": [1.0, 9.0]})).all()
        return
    pytest.fail(f"no column suits {name}")


def test_rows_with_nothing_the_model_knows_are_refused(model):
    with pytest.raises(ColumnRefused, match="Nor have they any other column"):
        model.predict({"weight": [1.0], "tint": ["red"]})


def test_a_near_name_is_named_and_many_are_counted(model):
    with pytest.warns(MissingColumnWarning, match=r"no column 'colour'.*Did you mean 'color'\?"):
        model.predict({"size": [1.0], "color": ["red"], "spots": [0]})
    wide = NaiveBayes("gaussian", calibrate=False).fit({f"c{index}": ROWS["size"] for index in range(9)}, Y)
    with pytest.warns(MissingColumnWarning, match=r"lack 8 columns of the model \('c1', 'c2', 'c3', \.\.\.\)") as told:
        wide.predict({"c0": [1.0]})
    assert len(told) == 1


def test_a_text_alone_is_answered_by_a_model_that_learned_more_than_text():
    texts = [f"{'good sweet' if label == 'a' else 'bad sour'} fruit number {index}" for index, label in enumerate(Y)]
    table = {"review": texts, "split": ["train", "test"] * 10}
    model = NaiveBayes({"review": "text"}, calibrate=False).fit(table, Y)
    with pytest.warns(MissingColumnWarning, match="'split'"):
        assert model.predict(["good sweet fruit", "bad sour fruit"]).tolist() == ["a", "b"]
    two = NaiveBayes({"one": "text", "two": "text"}, calibrate=False).fit({"one": texts, "two": texts}, Y)
    with pytest.raises(ColumnRefused):
        two.predict(["good"])


def test_an_array_goes_by_position_after_a_frame_and_a_frame_after_an_array():
    frame = pd.DataFrame({"size": ROWS["size"], "spots": ROWS["spots"]})
    by_name, by_place = (NaiveBayes("gaussian", calibrate=False).fit(rows, Y) for rows in (frame, frame.to_numpy()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert by_name.predict(frame.to_numpy()).tolist() == by_place.predict(frame).tolist() == Y
        assert by_name.predict(frame[["spots", "size"]]).tolist() == Y
    before = by_name.summary_
    assert by_name.partial_fit(frame.to_numpy(), Y).forget(frame.to_numpy(), Y).summary_ == before
    with pytest.raises(RowsRefused, match="3 features"):
        by_name.predict(np.zeros((2, 3)))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, columns in (("all", (*ROWS,)), ("lacking", (*LACKING,))):
        with open(f"{name}.csv", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([*columns, "kind"])
            writer.writerows(zip(*(ROWS[column] for column in columns), Y, strict=True))
    verbs.fit("all.csv", "kind", "m.candide", **PLAIN)
    return tmp_path


def test_verbs_answer_without_the_column_and_say_so(folder):
    predicted = verbs.predict("m.candide", "lacking.csv")
    assert any("no column 'spots'" in note for note in predicted.notes)
    assert predicted.table["decision"].to_pylist() == Y
    assert any("no column 'spots'" in note for note in verbs.evaluate("m.candide", "lacking.csv").notes)
    (why,) = verbs.explain("m.candide", "lacking.csv")
    assert any("no column 'spots'" in note for note in why.notes)
    for verb in (verbs.predict, verbs.evaluate, verbs.explain):
        with pytest.raises(ColumnRefused, match="'spots' is not in these rows"):
            verb("m.candide", "lacking.csv", strict=True)
        verb("m.candide", "all.csv", strict=True)


@pytest.mark.parametrize("command", ["predict", "explain", "evaluate"])
def test_the_shell_says_so_beside_the_answers(folder, command):
    told = CliRunner().invoke(app, [command, "m.candide", "lacking.csv"])
    assert told.exit_code == 0, told.exception
    assert "no column 'spots'" in (told.stdout if command == "evaluate" else told.stderr)
    assert "no column 'spots'" not in (told.stderr if command == "evaluate" else told.stdout)
    strict = CliRunner().invoke(app, [command, "m.candide", "lacking.csv", "--strict"])
    assert isinstance(strict.exception, ColumnRefused)
    assert CliRunner().invoke(app, [command, "m.candide", "all.csv", "--strict"]).exit_code == 0


def test_json_lines_may_lack_a_column_too(folder):
    rows = [{"size": size, "colour": colour} for size, colour in zip(*LACKING.values(), strict=True)]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert verbs.predict("m.candide", "rows.jsonl").table["decision"].to_pylist() == Y
