"""The verbs as Python functions, on small tables in memory and on disk."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from candide import store
from candide.api import verbs
from candide.api.verbs.reading import expected_kinds, first_rows
from candide.api.verbs.writing import delimited, json_lines, parquet
from candide.data.errors import (
    CandideError,
    ColumnRefused,
    LabelsRefused,
    OptionRefused,
    RowsRefused,
    SummariesDisagree,
)

ORCHARD = Path(__file__).parents[1] / "examples" / "orchard.csv"
HEADER, *LINES = ORCHARD.read_text().splitlines(keepends=True)


def part(folder: Path, name: str, lines: list[str]) -> Path:
    path = folder / name
    path.write_text("".join([HEADER, *lines]))
    return path


@pytest.fixture(scope="module")
def fitted():
    return verbs.fit(ORCHARD, "fruit")


def test_fit_says_what_it_learned(fitted):
    assert fitted.classes == ("apple", "pear", "plum", "quince")
    assert (fitted.rows, fitted.label) == (600, "fruit")
    assert fitted.provenance["sources"] == [str(ORCHARD)]


def test_saved_and_loaded_is_the_same(fitted, tmp_path):
    fitted.save(tmp_path / "m.candide")
    assert verbs.load(tmp_path / "m.candide") == fitted


def test_shards_fitted_alike_and_merged_are_one_fit(tmp_path):
    first, second = part(tmp_path, "a.csv", LINES[:200]), part(tmp_path, "b.csv", LINES[200:])
    a = verbs.fit(first, "fruit", tmp_path / "a.candide")
    b = verbs.fit(second, like=tmp_path / "a.candide")
    whole = verbs.fit([first, second], like=a)
    merged = verbs.merge([a, b])
    assert store.canonical_bytes(merged.trained) == store.canonical_bytes(verbs.refit(whole).trained)


def test_shards_fitted_apart_are_merged_and_say_what_is_older(tmp_path):
    first, second = part(tmp_path, "a.csv", LINES[:200]), part(tmp_path, "b.csv", LINES[200:])
    merged = verbs.merge([verbs.fit(first, "fruit"), verbs.fit(second, "fruit")])
    whole = verbs.fit([first, second], "fruit")
    assert merged.trained.summary == whole.trained.summary
    (note,) = merged.notes
    assert note.startswith("Families are read off the sum; calibration is still that of 200 rows.")
    again = verbs.refit(merged, [first, second])
    assert store.canonical_bytes(again.trained) == store.canonical_bytes(whole.trained)


def fit_spots(family):
    return verbs.fit(ORCHARD, "fruit", families={"spots": family}, calibrate=False)


def test_merge_refuses_what_does_not_fit_and_says_why(fitted, tmp_path):
    poisson, geometric = (fit_spots(name) for name in ("poisson", "geometric"))
    with pytest.raises(SummariesDisagree, match="'spots' is poisson here and geometric there"):
        verbs.merge([poisson, geometric])
    merged = verbs.merge([fitted, geometric])
    assert {choice.column: choice.family.name for choice in merged.trained.schema.choices}["spots"] == "geometric"
    with pytest.raises(SummariesDisagree, match="learned column 'fruit' but model 2 learned 'colour'"):
        verbs.merge([fitted, verbs.fit(ORCHARD, "colour", on_error="skip", families="guess", calibrate=False)])
    with pytest.raises(OptionRefused, match="at least two"):
        verbs.merge([fitted])


def test_merge_says_which_options_are_kept(fitted):
    uniform = verbs.fit(ORCHARD, "fruit", priors="uniform")
    assert any("kept is 'empirical'" in note for note in verbs.merge([fitted, uniform]).notes)


def test_learn_then_forget_gives_the_same_bytes(fitted, tmp_path):
    more = part(tmp_path, "more.csv", LINES[:77])
    after = verbs.forget(verbs.learn(fitted, more), more)
    assert store.canonical_bytes(after.trained) == store.canonical_bytes(fitted.trained)


def test_forgetting_what_was_never_learned_changes_nothing(fitted, tmp_path):
    fitted.save(tmp_path / "m.candide")
    before = (tmp_path / "m.candide").read_bytes()
    with pytest.raises(CandideError):
        verbs.forget(tmp_path / "m.candide", {"fruit": ["plum"] * 200, "spots": [1] * 200})
    assert (tmp_path / "m.candide").read_bytes() == before


def test_learning_welcomes_new_classes_and_columns_and_says_so(fitted):
    after = verbs.learn(fitted, {"fruit": ["medlar"], "spots": [4], "sweet": [True]})
    assert "medlar" in after.classes
    said = " ".join(after.notes)
    assert "New class: medlar" in said
    assert "New column: sweet" in said
    assert "no column 'colour'" in said


def test_predict_gives_all_columns_back_with_answers(fitted):
    predicted = verbs.predict(fitted, ORCHARD)
    assert predicted.rows == 600 == sum(predicted.decisions.values())
    assert predicted.table.column_names == [*HEADER.strip().split(","), "label", "probability", "decision"]
    assert predicted.table["fruit"].to_pylist() == [line.split(",")[0] for line in LINES]


def test_probabilities_of_all_classes_sum_to_one(fitted):
    table = verbs.predict(fitted, ORCHARD, probabilities=True).table
    every = np.array([table[f"probability_{name}"].to_pylist() for name in fitted.classes])
    np.testing.assert_allclose(every.sum(axis=0), 1)
    np.testing.assert_array_equal(every.max(axis=0), table["probability"].to_numpy())


def test_below_confidence_the_decision_is_unsure(fitted):
    table = verbs.predict(fitted, ORCHARD, confidence=0.9).table
    columns = (table[name].to_pylist() for name in ("label", "probability", "decision"))
    for label, chance, decision in zip(*columns, strict=True):
        assert decision in ("unfamiliar", label if chance >= 0.9 else "unsure")
    assert table["decision"].to_pylist().count("unfamiliar") <= 0.02 * len(table)


def test_impossible_rows_are_unfamiliar():
    model = verbs.fit({"x": ["a", "b"], "z": ["p", "q"], "y": [0, 1]}, "y", families="categorical", smoothing=0)
    assert verbs.predict(model, {"x": ["a"], "z": ["q"]}).table["decision"].to_pylist() == ["unfamiliar"]


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "parquet"])
def test_predictions_are_the_same_in_every_format(fitted, tmp_path, format):
    path = tmp_path / f"answers.{format}"
    verbs.predict(fitted, ORCHARD, path, digits="all" if format in ("csv", "tsv") else None)
    expected = verbs.predict(fitted, ORCHARD).table
    if format == "parquet":
        found = pa.parquet.read_table(path)
    elif format == "jsonl":
        found = pa.Table.from_pylist([json.loads(line) for line in path.read_text().splitlines()])
    else:
        parse = pa.csv.ParseOptions(delimiter="," if format == "csv" else "\t")
        convert = pa.csv.ConvertOptions(strings_can_be_null=True)
        found = pa.csv.read_csv(path, parse_options=parse, convert_options=convert)
    assert found.column_names == expected.column_names
    for name in expected.column_names:
        assert found[name].to_pylist() == expected[name].to_pylist(), name


def test_columns_the_model_does_not_use_pass_through_as_written(fitted, tmp_path):
    path = tmp_path / "ids.csv"
    path.write_text("id,note,spots,weight_g,sugar_percent,colour,stem,orchard,price_cent\n"
                    '007,"a, ""b""",1,55,14.50,purple,no,north,\n')  # fmt: skip
    verbs.predict(fitted, path, tmp_path / "out.csv")
    row = (tmp_path / "out.csv").read_text().splitlines()[1]
    assert row.startswith('007,"a, ""b""",1,55,14.50,purple,no,north,,plum,')


def test_a_file_is_read_as_the_model_knows_its_columns(tmp_path):
    model = verbs.fit({"zip": ["01", "02", "01", "02"], "n": [1.5, 2.5, 3.5, 9], "y": ["a", "b", "a", "b"]}, "y")
    (tmp_path / "new.csv").write_text("zip,n\n01,\n02,\n")
    assert expected_kinds(model.trained) == {"zip": "text", "n": "number", "y": "text"}
    assert verbs.predict(model, tmp_path / "new.csv").table["label"].to_pylist() == ["a", "b"]
    (tmp_path / "bad.csv").write_text("zip,n\n01,1\n02,many\n")
    with pytest.raises(CandideError, match="line 3: column 'n' holds 'many', but a number"):
        verbs.predict(model, tmp_path / "bad.csv")


def test_columns_named_like_answers_are_left_alone():
    model = verbs.fit({"label": ["a", "b"], "x": [1, 2], "probability": [0.5, 1.5]}, "label")
    names = verbs.predict(model, {"label": ["a"], "x": [1], "probability": [0.5]}).table.column_names
    assert names == ["label", "x", "probability", "label_predicted", "probability_predicted", "decision"]


def test_explanations_of_rows_counted_from_one(fitted):
    first, last = verbs.explain(fitted, ORCHARD, rows=[1, 600])
    assert (first.row, last.row) == (1, 600)
    assert first.explanation.answer == verbs.predict(fitted, ORCHARD).table["label"][0].as_py()
    with pytest.raises(RowsRefused, match="no row 601"):
        verbs.explain(fitted, ORCHARD, rows=[601])
    with pytest.raises(OptionRefused, match="counted from 1"):
        verbs.explain(fitted, ORCHARD, rows=[0])


def test_a_text_is_explained_by_its_words():
    model = verbs.fit({"mail": ["win a prize now", "see you at lunch today"] * 10, "y": ["spam", "ham"] * 10}, "y",
                      families={"mail": "text"})  # fmt: skip
    assert verbs.explain(model, text="prize")[0].explanation.answer == "spam"
    why = verbs.explain(model, {"mail": ["prize unheard"], "y": ["ham"]})[0].explanation
    assert (why.unseen, why.ignored) == ((("mail", "unheard"),), ())
    with pytest.raises(OptionRefused, match="0 columns of text"):
        verbs.explain(verbs.fit({"x": [1, 2], "y": [0, 1]}, "y"), text="prize")


def test_evaluation_by_hand():
    model = verbs.fit({"x": ["a", "a", "b", "b"], "y": ["no", "no", "yes", "yes"]}, "y")
    found = verbs.evaluate(model, {"x": ["a", "a", "b"], "y": ["no", "yes", "yes"]})
    assert (found.rows, found.right, found.accuracy) == (3, 2, 2 / 3)
    p = 0.75  # (2 + 1) / (2 + 2)
    assert found.log_loss == pytest.approx(-(2 * math.log(p) + math.log(1 - p)) / 3)
    assert found.brier == pytest.approx((2 * (1 - p) ** 2 + p**2) / 3)
    assert found.by_class["yes"].precision == 1
    assert found.by_class["yes"].recall == 0.5
    assert found.confusion.tolist() == [[1, 0], [1, 1]]


def test_evaluation_agrees_with_scikit_learn(fitted):
    metrics = pytest.importorskip("sklearn.metrics")
    found = verbs.evaluate(fitted, ORCHARD)
    table = verbs.predict(fitted, ORCHARD, probabilities=True).table
    truth, answer = table["fruit"].to_pylist(), table["label"].to_pylist()
    chances = np.array([table[f"probability_{name}"].to_pylist() for name in fitted.classes]).T
    assert found.log_loss == pytest.approx(metrics.log_loss(truth, chances, labels=list(fitted.classes)))
    assert found.macro_f1 == pytest.approx(metrics.f1_score(truth, answer, average="macro"))
    assert found.confusion.tolist() == metrics.confusion_matrix(truth, answer).tolist()


def test_labels_never_learned_count_as_wrong(fitted):
    found = verbs.evaluate(fitted, {**{n: [None] for n in HEADER.strip().split(",")}, "fruit": ["medlar"]})
    assert found.right == 0
    assert found.unknown == ("medlar",)
    assert math.isfinite(found.log_loss)


def test_sample_draws_the_same_rows_for_the_same_seed(fitted):
    first, again = verbs.sample(fitted, 5, seed=3), verbs.sample(fitted, 5, seed=3)
    assert first == again
    assert set(verbs.sample(fitted, 5, "plum")["fruit"].to_pylist()) == {"plum"}
    with pytest.raises(LabelsRefused, match="Did you mean 'plum'"):
        verbs.sample(fitted, 5, "plom")


def test_classes_that_are_numbers_can_be_named_by_text():
    model = verbs.fit({"x": [1, 2, 3, 4], "y": [0, 0, 1, 1]}, "y", priors={"0": 0.3, "1": 0.7})
    assert np.exp(model.trained.predictor.log_prior).tolist() == pytest.approx([0.3, 0.7])
    assert verbs.sample(model, 2, "1")["y"].to_pylist() == [1, 1]


def test_inspect_is_ready_for_json(fitted):
    card = json.loads(json.dumps(verbs.inspect(fitted), default=str))
    assert [one["class"] for one in card["classes"]] == list(fitted.classes)
    assert {c["column"]: c["family"] for c in card["columns"]}["spots"] == "poisson"


def test_a_classifier_is_a_model_too(fitted, tmp_path):
    from candide import load

    fitted.save(tmp_path / "m.candide")
    assert verbs.predict(load(tmp_path / "m.candide"), ORCHARD).rows == 600


def test_what_cannot_be_honoured_is_refused(fitted):
    with pytest.raises(LabelsRefused, match="Which column is to be learned"):
        verbs.fit(ORCHARD)
    with pytest.raises(LabelsRefused, match="a label is a class"):
        verbs.fit(ORCHARD, "sugar_percent", on_error="skip")
    with pytest.raises(OptionRefused, match="takes every option but ledger"):
        verbs.fit(ORCHARD, like=fitted, smoothing=2)
    with pytest.raises(ColumnRefused, match="a column 'taste' that the model does not know"):
        verbs.fit({"taste": ["good"], "fruit": ["plum"]}, like=fitted)
    with pytest.raises(OptionRefused, match="from 0 to 1"):
        verbs.predict(fitted, ORCHARD, confidence=70)
    with pytest.raises(OptionRefused, match="names no format"):
        verbs.predict(fitted, ORCHARD, "answers.xls")
    with pytest.raises(OptionRefused, match="A model is the path"):
        verbs.predict(3, ORCHARD)


def test_families_are_read_off_all_rows_and_texts_off_the_first(monkeypatch, tmp_path):
    from candide.api.verbs import fitting, reading

    monkeypatch.setattr(reading, "ROWS_TO_LOOK_AT", 100)
    path = tmp_path / "long.jsonl"
    said = ["this is {} fine and well", "that was {} nothing like it"]
    rows = ({"x": n if n > 1000 else 1, "note": said[n % 2].format(n), "y": n % 2} for n in range(3_000))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    source = reading.labelled_source(path, "y", None, {})
    sample, rest = first_rows(source)
    assert len(sample) == 100
    assert rest is None
    fitted = fitting.fit(path, "y")
    assert fitted.rows == 3_000
    assert "How texts are read was chosen from 50,000 rows of all over" in fitted.notes[0]
    assert fitted.trained.schema.choices[0].reason != "whole numbers with only 1 different values"


def test_text_is_quoted_only_where_needed():
    table = pa.table({"a,b": ['say "hi"', None, "x\ny"], "c": [1.5, math.nan, 2.0]})
    assert b"".join(delimited([table], ",")).decode() == '"a,b",c\n"say ""hi""",1.5\n,\n"x\ny",2\n'


def test_json_has_no_numbers_that_are_none():
    table = pa.table({"x": [math.inf, math.nan, 1.0], "d": pa.array([0, 1, None], pa.date32())})
    assert [json.loads(line) for line in json_lines(table).splitlines()] == [
        {"x": None, "d": "1970-01-01"}, {"x": None, "d": "1970-01-02"}, {"x": 1.0, "d": None},
    ]  # fmt: skip


def test_parquet_comes_in_pieces(tmp_path):
    tables = [pa.table({"x": [1.0, 2.0]}), pa.table({"x": [3.0]})]
    (tmp_path / "x.parquet").write_bytes(b"".join(parquet(tables)))
    assert pa.parquet.read_table(tmp_path / "x.parquet")["x"].to_pylist() == [1, 2, 3]
