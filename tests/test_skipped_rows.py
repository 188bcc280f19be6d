"""Rows that predict cannot read are counted and named; kept on request, so that answers stay beside their rows."""

from __future__ import annotations

import io
import json
import os
import random
from pathlib import Path

import pyarrow.parquet as pa_parquet
import pytest

from candide.api import verbs
from candide.data.errors import CandideError
from commands import candide

GOOD = ["1.0,a", "1.50,b", "7.0,c"]
BAD = ["oops,a", "1,2,3", "5"]
ROWS = [GOOD[0], BAD[0], GOOD[1], BAD[1], BAD[2], GOOD[2]]
JSON_ROWS = ['{"x": 1.0, "kind": "a"}', '{"x": 1.5', '{"x": "oops", "kind": "b"}', "[1, 2]", '{"x": 7.50, "kind": "c"}']


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    rows = {"x": [1.0, 1.5, 2.0, 7.0, 7.5, 8.0] * 4, "kind": ["a", "a", "b", "c", "c", "b"] * 4}
    path = tmp_path_factory.mktemp("model") / "m.candide"
    verbs.fit({**rows, "y": ["u", "u", "u", "v", "v", "v"] * 4}, "y", path, families="guess", calibrate=False)
    return path


@pytest.fixture
def rows(tmp_path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["x,kind", *ROWS, ""]))
    return path


def answered(model, data, **options) -> tuple[list[str], verbs.Predicted]:
    out = io.BytesIO()
    found = verbs.predict(model, str(data), out, **options)
    return out.getvalue().decode().splitlines(), found


def test_skipped_rows_are_counted_and_the_first_is_named(model, rows):
    lines, found = answered(model, rows, on_error="skip")
    assert [line.rsplit(",", 3)[0] for line in lines[1:]] == GOOD
    assert (found.rows, found.skipped) == (3, 3)
    [note] = found.notes
    assert "3 rows were left out" in note
    assert "line 3" in note
    assert "oops" in note
    assert answered(model, rows, on_error="skip")[1].table is None


def test_nothing_is_said_where_nothing_was_skipped(model, tmp_path):
    (tmp_path / "good.csv").write_text("\n".join(["x,kind", *GOOD]))
    _, found = answered(model, tmp_path / "good.csv", on_error="skip")
    assert (found.skipped, found.notes) == (0, ())


def test_kept_rows_come_back_as_they_were_without_an_answer(model, rows):
    lines, found = answered(model, rows, on_error="keep")
    assert len(lines) == 1 + len(ROWS)
    for before, after in zip(ROWS, lines[1:], strict=True):
        assert after == f"{before},,," if before in BAD else after.startswith(f"{before},")
    assert (found.rows, found.skipped) == (3, 3)
    assert "3 rows came back without an answer" in found.notes[0]


@pytest.mark.parametrize("format", ["tsv", "jsonl", "parquet", None])
def test_kept_rows_stay_in_their_places_in_every_format(model, rows, tmp_path, format):
    if format is None:
        labels = verbs.predict(model, str(rows), on_error="keep").table["label"].to_pylist()
    else:
        path = tmp_path / f"out.{format}"
        verbs.predict(model, str(rows), path, on_error="keep")
        if format == "parquet":
            labels = pa_parquet.read_table(path)["label"].to_pylist()
        elif format == "jsonl":
            labels = [json.loads(line)["label"] for line in path.read_text().splitlines()]
            assert json.loads(path.read_text().splitlines()[1])["x"] == "oops"
        else:
            labels = [line.split("\t")[2] or None for line in path.read_text().splitlines()[1:]]
    assert labels == ["u", None, "u", None, None, "v"]


def test_lines_of_json_that_cannot_be_read_come_back_as_they_were(model, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join([*JSON_ROWS, ""]))
    lines, found = answered(model, path, on_error="keep", output_format="jsonl")
    assert found.skipped == 3
    assert [lines[1], lines[3]] == [JSON_ROWS[1], JSON_ROWS[3]]
    assert json.loads(lines[2]) == {"x": "oops", "kind": "b", "label": None, "probability": None, "decision": None}
    assert [json.loads(lines[index])["label"] for index in (0, 4)] == ["u", "v"]
    skipped, _ = answered(model, path, on_error="skip", output_format="jsonl")
    assert skipped == [lines[0], lines[4]]


def test_a_file_without_a_single_good_row_can_still_be_kept(model, tmp_path):
    (tmp_path / "bad.csv").write_text("x,kind\noops,a\noh,b\n")
    lines, found = answered(model, tmp_path / "bad.csv", on_error="keep")
    assert lines[1:] == ["oops,a,,,", "oh,b,,,"]
    assert (found.rows, found.decisions, found.skipped) == (0, {}, 2)
    with pytest.raises(CandideError, match="no rows are left"):
        answered(model, tmp_path / "bad.csv", on_error="skip")


def test_files_of_a_folder_that_are_no_text_are_named(tmp_path):
    texts = verbs.fit({"text": ["win a prize", "see you at noon"] * 9, "y": ["spam", "ham"] * 9}, "y",
                      families={"text": "text"}, calibrate=False)  # fmt: skip
    (tmp_path / "mail").mkdir()
    (tmp_path / "mail" / "a.txt").write_text("a prize")
    (tmp_path / "mail" / "b.txt").write_bytes(b"\xff\xfa")
    table = verbs.predict(texts, str(tmp_path / "mail"), on_error="keep").table
    assert table.select(["file", "label"]).to_pylist() == [
        {"file": "a.txt", "label": "spam"}, {"file": "b.txt", "label": None}]  # fmt: skip


@pytest.mark.parametrize("verb", ["fit", "evaluate", "learn", "explain"])
def test_keeping_is_for_predict_alone(model, rows, verb):
    with pytest.raises(CandideError, match="is for predict"):
        getattr(verbs, verb)(*([str(rows), "kind"] if verb == "fit" else [model, str(rows)]), on_error="keep")


def test_the_shell_says_it_on_standard_error(model, rows):
    done = candide("predict", model, rows, "--on-error", "skip", folder=rows.parent)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 4
    assert done.stderr.startswith("note: 3 rows were left out. The first: ")
    assert "line 3: column 'x' holds 'oops'" in done.stderr


TRIALS = 2000 if os.environ.get("CANDIDE_THOROUGH") else 25
FIELDS = ["1", "01.50", " 7 ", "NA", "", "+2", "a", " c", "oops", "\x1b[2J", "1,2", '"b""c"', '"x,y"', '"q\nr"', '"é"']


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_whatever_is_in_a_file_every_record_comes_back_in_its_place(model, tmp_path, newline):
    chance, path = random.Random(11), tmp_path / "any.csv"
    for _ in range(TRIALS):
        records = [",".join(chance.choices(FIELDS, k=2)) for _ in range(chance.randrange(1, 20))]
        records = [record for record in records if record.strip("\r\n")]
        ends = chance.choice(["", newline])
        path.write_text(newline.join(["x,kind", *records]) + ends, encoding="utf-8", newline="")
        out = io.BytesIO()
        found = verbs.predict(model, str(path), out, on_error="keep")
        assert found.rows + found.skipped == len(records)
        rest = out.getvalue().decode("utf-8").removeprefix(f"x,kind,label,probability,decision{newline}")
        for record in records:
            assert rest.startswith(f"{record},")
            answer, _, rest = rest[len(record) + 1 :].partition(newline)
            assert answer == ",," or answer.split(",")[0] in ("u", "v")
        assert not rest


def test_whatever_is_in_a_line_of_json_it_comes_back_in_its_place(model, tmp_path):
    chance, path = random.Random(12), tmp_path / "any.jsonl"
    lines = [
        '{"x": 1.10, "kind": "a"}', '{"kind":"c","x":7e0 }', '{"x": "oops"}', '{"x": 1', "[]", "null", "{}", "garbage",
        '{"x": 2, "kind": "\\ud800"}', '{"x": 1, "deep": {"er": 1.50}}', '{"x": 1} {"x": 2}',
    ]  # fmt: skip
    for _ in range(TRIALS):
        written = [lines[0]] * 9 + [*chance.choices(lines, k=chance.randrange(12))]
        path.write_text("\n".join(written))
        found, said = answered(model, path, on_error="keep", output_format="jsonl")
        assert said.rows + said.skipped == len(found) == len(written)
        assert all(after.startswith(before[:-1]) for before, after in zip(written, found, strict=True))


@pytest.mark.parametrize("start", ["", " ", "\t", '{"x": 1}\n', "garbage\n"])
def test_a_line_of_null_is_a_row_that_cannot_be_read(model, tmp_path, start):
    """And no reader of JSON takes the process down with it."""
    path = tmp_path / "null.jsonl"
    path.write_text(f"{start}null\n")
    done = candide("predict", model, path, folder=tmp_path)
    assert done.returncode == 2
    assert "not a JSON object" in done.stderr
