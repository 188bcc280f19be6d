"""Texts straight from the command line, answers under a name of one's own, and fields that no spreadsheet runs."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pyarrow as pa
import pytest

from candide.api import verbs
from candide.data.errors import CandideError
from commands import candide


@pytest.fixture(scope="module")
def spam(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("spam") / "spam.candide"
    texts = ["win a prize now", "see you at noon", "free money, call now", "lunch at noon"] * 6
    verbs.fit({"message": texts, "size": [3, 1, 4, 2] * 6, "y": ["spam", "ham"] * 12}, "y", path,
              families={"message": "text"}, calibrate=False)  # fmt: skip
    return path


def test_texts_of_ones_own_are_answered(spam):
    found = verbs.predict(spam, text="a free prize").table.to_pylist()
    assert [(row["message"], row["label"]) for row in found] == [("a free prize", "spam")]
    several = verbs.predict(spam, text=["a free prize", "noon"])
    assert several.table["label"].to_pylist() == ["spam", "ham"]
    assert [one.explanation.answer for one in verbs.explain(spam, text=["a free prize", "noon"])] == ["spam", "ham"]


def test_the_shell_takes_texts_too(spam):
    words = ["--text", "a free prize", "--text", 'lunch, "noon"', "--format", "jsonl"]
    done = candide("predict", spam, *words, folder=spam.parent)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["message"], row["label"]) for row in rows] == [("a free prize", "spam"), ('lunch, "noon"', "ham")]
    done = candide("explain", spam, "--text", "a free prize", "--text", "noon", folder=spam.parent)
    assert "Text 1: y is spam" in done.stdout
    assert "Text 2: y is ham" in done.stdout


def test_texts_or_rows_but_not_both(spam):
    with pytest.raises(CandideError, match="not both"):
        verbs.predict(spam, {"message": ["x"]}, text="x")
    with pytest.raises(CandideError, match="not both"):
        verbs.predict(spam)
    table = verbs.fit({"x": [1.0, 2.0] * 8, "y": ["u", "v"] * 8}, "y", families="guess", calibrate=False)
    with pytest.raises(CandideError, match="0 columns of text"):
        verbs.predict(table, text="x")


def test_answers_have_one_name_whatever_the_rows_are_called(spam):
    rows = {"message": ["noon"], "size": [1]}
    plain = verbs.predict(spam, rows, answer="verdict", probabilities=True).table.column_names
    assert plain[2:] == ["verdict", "verdict_probability", "verdict_decision", "verdict_probability_ham",
                         "verdict_probability_spam"]  # fmt: skip
    labelled = verbs.predict(spam, {**rows, "label": ["ham"], "y": ["ham"]}, answer="verdict").table.column_names
    assert labelled[4:] == ["verdict", "verdict_probability", "verdict_decision"]
    assert verbs.predict(spam, {**rows, "label": ["ham"]}).table.column_names[3:] == [
        "label_predicted", "probability", "decision"]  # fmt: skip


@pytest.mark.parametrize("taken", ["verdict", "verdict_probability", "verdict_decision"])
def test_a_name_that_is_taken_is_refused(spam, taken):
    with pytest.raises(CandideError, match=f"has a column '{taken}' already"):
        verbs.predict(spam, {"message": ["noon"], "size": [1], taken: ["x"]}, answer="verdict")


def test_the_shell_calls_it_as(spam, tmp_path):
    (tmp_path / "new.csv").write_text("message,size,label\nnoon,1,x\n")
    done = candide("predict", spam, tmp_path / "new.csv", "--as", "verdict", folder=spam.parent)
    assert done.stdout.splitlines()[0] == "message,size,label,verdict,verdict_probability,verdict_decision"
    done = candide("predict", spam, tmp_path / "new.csv", "--as", "size", folder=spam.parent)
    assert (done.returncode, "has a column 'size' already" in done.stderr) == (2, True)
    assert "--answer" in done.stderr
    assert "answer=" not in done.stderr


def test_files_of_a_folder_are_named_beside_their_answers(spam, tmp_path):
    for name, text in {"a.txt": "a free prize", "sub/b.txt": "noon"}.items():
        (tmp_path / "mail" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "mail" / name).write_text(text)
    model = verbs.fit({"text": ["win a prize", "see you at noon"] * 9, "y": ["spam", "ham"] * 9}, "y",
                      families={"text": "text"}, calibrate=False)  # fmt: skip
    out = io.BytesIO()
    verbs.predict(model, str(tmp_path / "mail"), out)
    rows = list(csv.DictReader(io.StringIO(out.getvalue().decode())))
    assert [(row["file"], row["text"], row["label"]) for row in rows] == [
        ("a.txt", "a free prize", "spam"), ("sub/b.txt", "noon", "ham")]  # fmt: skip


FORMULAS = ["=cmd|' /C calc'!A0", "+1+cmd", "-2+3", "@SUM(A1)", "\tx", "\rx"]
HARMLESS = ["-2.5", "+3", "1e-5", "a=b", "", "'quoted"]


def test_cells_that_a_spreadsheet_would_run_stay_unless_safe(spam, tmp_path):
    table = pa.table({"message": [*FORMULAS, *HARMLESS], "size": [1] * 12, "=head": ["=x"] * 12})
    for safe, mark in ((False, ""), (True, "'")):
        out = io.BytesIO()
        verbs.predict(spam, table, out, safe=safe)
        rows = list(csv.reader(io.StringIO(out.getvalue().decode(), newline="")))
        assert rows[0][2] == f"{mark}=head"
        assert [row[0] for row in rows[1:]] == [*(f"{mark}{text}" for text in FORMULAS), *HARMLESS]
        assert {row[2] for row in rows[1:]} == {f"{mark}=x"}


def test_csv_that_is_made_safe_keeps_the_text_of_all_other_fields(spam, tmp_path):
    (tmp_path / "new.csv").write_text('message;size;zip\n"=1+1";1;01234\n"noon, ""now""";2;1.10\n')
    out = io.BytesIO()
    verbs.predict(spam, str(tmp_path / "new.csv"), out, safe=True)
    lines = out.getvalue().decode().splitlines()
    assert lines[1].startswith("'=1+1;1;01234;")
    assert lines[2].startswith('"noon, ""now""";2;1.10;')


def test_labels_are_defused_too(tmp_path):
    rows = {"x": [1.0, 9.0] * 8, "y": ["=evil", "good"] * 8}
    model = verbs.fit(rows, "y", families="guess", calibrate=False)
    out = io.BytesIO()
    verbs.predict(model, {"x": [1.0]}, out, safe=True)
    assert out.getvalue().decode().splitlines()[1].split(",")[1::2] == ["'=evil", "'=evil"]
    out = io.BytesIO()
    verbs.sample(model, 3, "=evil", 1, out, safe=True)
    assert all(line.endswith(",'=evil") for line in out.getvalue().decode().splitlines()[1:])


@pytest.mark.parametrize("format", ["jsonl", "parquet", None])
def test_safe_is_refused_where_no_spreadsheet_would_run_a_field(spam, format):
    with pytest.raises(CandideError, match="is for csv and tsv"):
        verbs.predict(spam, text="x", output=io.BytesIO() if format else None, output_format=format, safe=True)
