"""What a user did not ask to change comes back as it was: bytes of text files, types of all others."""

from __future__ import annotations

import csv
import datetime
import decimal
import io
import json
import random
import sqlite3
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc as pa_ipc
import pyarrow.parquet as pa_parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from candide.api import verbs
from candide.api.verbs.digits import to_digits
from candide.data.errors import CandideError

ADDED = ("label", "probability", "decision")
TRAINED = {"x": [1.0, 1.5, 2.0, 7.0, 7.5, 8.0] * 4, "kind": ["a", "a", "b", "c", "c", "b"] * 4}


@pytest.fixture(scope="module")
def model():
    return verbs.fit({**TRAINED, "y": ["u", "u", "u", "v", "v", "v"] * 4}, "y", families="guess", calibrate=False)


@pytest.fixture(scope="module")
def numbered():
    """A model whose labels are numbers."""
    return verbs.fit({**TRAINED, "y": [1, 1, 1, 2, 2, 2] * 4}, "y", families="guess", calibrate=False)


def predicted(model, data: Path, output_format: str | None = None, **options) -> bytes:
    out = io.BytesIO()
    verbs.predict(model, str(data), out, output_format=output_format, **options)
    return out.getvalue()


WRITTEN = '''x,kind,zip,price,flag,id,when,note
1.10,a,01234,1.10,True,906000000000000000001,2026-01-31 12:00,"says ""hi"", twice"
NA,b,00001,5.0,FALSE,906000000000000000002,2026-01-31T12:00:30.5,NA
7e0,"c",98765,+3,true,906000000000000000003,2026-02-01 00:00,"two
lines"
 8 , c ,  7 ,1e3,false,906000000000000000004,,""
'''


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv_comes_back_byte_for_byte(model, tmp_path, delimiter, newline):
    text = WRITTEN.replace("two\nlines", "two lines").replace(",", delimiter).replace("\n", newline)
    path = tmp_path / "rows.csv"
    path.write_bytes(text.encode())
    found = predicted(model, path).decode()
    lines = text.split(newline)[:-1]
    for before, after in zip(lines, found.split(newline)[:-1], strict=True):
        assert after.startswith(before + delimiter)
    assert found.split(newline)[0] == lines[0] + delimiter + delimiter.join(ADDED)
    assert len({line.count(delimiter) for line in found.split(newline)[1:-1] if '"' not in line}) == 1


def test_records_of_several_lines_come_back_whole(model, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(WRITTEN)
    rows = list(csv.reader(io.StringIO(predicted(model, path).decode())))
    before = list(csv.reader(io.StringIO(WRITTEN)))
    assert [row[: len(before[0])] for row in rows] == before
    assert rows[0][-3:] == list(ADDED)
    assert all(row[-3] in ("u", "v") and 0 <= float(row[-2]) <= 1 for row in rows[1:])


def test_the_answers_do_not_depend_on_how_rows_come_back(model, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(WRITTEN)
    by_lines = list(csv.reader(io.StringIO(predicted(model, path).decode())))[1:]
    by_fields = list(csv.reader(io.StringIO(predicted(model, path, "tsv").decode()), delimiter="\t"))[1:]
    by_keys = [json.loads(line) for line in predicted(model, path, "jsonl").splitlines()]
    by_value = verbs.predict(model, str(path)).table.to_pylist()
    for fields, others, keys, values in zip(by_lines, by_fields, by_keys, by_value, strict=True):
        assert fields[-3:] == others[-3:]
        assert fields[-3] == keys["label"] == values["label"]
        assert fields[-1] == keys["decision"] == values["decision"]
        assert keys["probability"] == values["probability"]
        assert float(fields[-2]) == to_digits(np.array([values["probability"]]), 6)[0]


fields = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\r\n\x00"), max_size=6)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(fields, fields, st.booleans()), min_size=1, max_size=6), st.sampled_from(["\n", "\r\n"]))
def test_any_csv_comes_back_byte_for_byte(model, tmp_path_factory, rows, newline):
    path = tmp_path_factory.mktemp("any") / "rows.csv"
    rows = [(first.replace('"', '""'), second.replace('"', '""'), quotes) for first, second, quotes in rows]
    written = [
        f'{number}.50,"{first}",' + (f'"{second}"' if quotes else "plain")
        for number, (first, second, quotes) in enumerate(rows)
    ]
    path.write_text(newline.join(["x,kind,other", *written, ""]), encoding="utf-8", newline="")
    found = predicted(model, path, "csv", delimiter=",").decode().split(newline)
    assert len(found) == len(rows) + 2
    for before, after in zip(written, found[1:], strict=False):
        assert after.startswith(before + ",")


def test_blocks_and_blank_lines_and_a_last_line_without_an_end(model, tmp_path):
    random.seed(3)
    rows = [f"{random.random():.3f},{random.choice('abc')},{'0' * (row % 5)}{row}" for row in range(9000)]
    path = tmp_path / "rows.csv"
    path.write_text("x,kind,id\n\n" + "\n".join(rows[:4000]) + "\n\n\n" + "\n".join(rows[4000:]))
    lines = predicted(model, path).decode().splitlines()
    assert len(lines) == 9001
    assert all(after.startswith(before + ",") for before, after in zip(rows, lines[1:], strict=True))


def test_csv_to_tsv_keeps_the_text_of_every_field(model, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(WRITTEN)
    rows = list(csv.reader(io.StringIO(predicted(model, path, "tsv").decode(), newline=""), delimiter="\t"))
    before = list(csv.reader(io.StringIO(WRITTEN, newline="")))
    assert [row[:8] for row in rows] == before


def test_a_tsv_is_answered_in_tabs_unless_csv_is_asked_for(model, tmp_path):
    path = tmp_path / "rows.tsv"
    path.write_text("x\tkind\n1.10\ta\n")
    assert predicted(model, path).startswith(b"x\tkind\tlabel\tprobability\tdecision\n1.10\ta\tu\t")
    assert predicted(model, path, "csv").startswith(b"x,kind,label,probability,decision\n1.10,a,u,")
    verbs.predict(model, str(path), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().startswith("x,kind,label")


def test_csv_to_json_writes_numbers_as_they_were_written(model, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(WRITTEN)
    first, second, *_ = predicted(model, path, "jsonl").decode().splitlines()
    assert first.startswith('{"x": 1.10, "kind": "a", "zip": "01234", "price": 1.10, "flag": "True", ')
    assert '"id": 906000000000000000001' in first
    assert '"when": "2026-01-31 12:00"' in first
    assert second.startswith('{"x": "NA", "kind": "b", "zip": "00001"')
    assert json.loads(first)["note"] == 'says "hi", twice'


def test_json_lines_come_back_byte_for_byte(model, tmp_path):
    lines = [
        '{"x": 1.10, "id": 906000000000000000001, "kind": "a", "more": {"deep": [1.50, null]}, "s": "\\u00e9\\u202e"}',
        '{ "kind":"b" , "x":2e0, "id":1, "label_of": "z" }',
        "{}",
        '{"x": 7, "late": true}',
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(lines) + "\n\n")
    found = predicted(model, path, "jsonl").decode().splitlines()
    assert len(found) == 4
    for before, after in zip(lines, found, strict=True):
        assert after.startswith(before[:-1])
        assert {*json.loads(after)} == {*json.loads(before), *ADDED}


def test_json_answers_have_the_type_of_the_label(numbered, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"x": 1.0, "kind": "a"}\n{"x": 4.5, "kind": "b"}\n')
    found = [json.loads(line) for line in predicted(numbered, path, "jsonl", rarity=0, confidence=0.9).splitlines()]
    assert [row["decision"] for row in found] == [1, "unsure"]
    assert found[0]["label"] == 1
    table = verbs.predict(numbered, str(path), rarity=0, confidence=0.9).table
    assert table["decision"].to_pylist() == ["1", "unsure"]
    assert table["label"].to_pylist()[0] == 1


def test_json_to_csv_keeps_every_value_as_it_was_written(model, tmp_path):
    path = tmp_path / "rows.jsonl"
    lines = ['{"x": 1.10, "kind": "a", "id": 906000000000000000001, "n": {"y": true}}', '{"x": null, "kind": "b"}']
    path.write_text("\n".join(lines))
    rows = list(csv.reader(io.StringIO(predicted(model, path).decode())))
    assert rows[0] == ["x", "kind", "id", "n.y", *ADDED]
    assert rows[1][:4] == ["1.10", "a", "906000000000000000001", "true"]
    assert rows[2][:4] == ["", "b", "", ""]


def test_a_key_that_an_answer_is_called_like_is_refused_wherever_it_turns_up(model, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"x": 1.0, "kind": "a", "decision": {"by": "me"}}\n')
    assert b'"decision_predicted": "u"' in predicted(model, path, "jsonl")
    path.write_text('{"x": 1.5, "kind": "a"}\n' * 60_000 + '{"x": 1.0, "kind": "a", "label": "mine"}\n')
    with pytest.raises(CandideError, match="brings in a key 'label'"):
        predicted(model, path, "jsonl")


def typed_table() -> pa.Table:
    moment = datetime.datetime(2026, 1, 31, 12, 0, 0, 123456)
    table = pa.table(
        {
            "x": pa.array([1.5, None], pa.float32()),
            "kind": pa.array(["a", "b"]).dictionary_encode(),
            "id": pa.array([2**62 + 1, 7], pa.int64()),
            "small": pa.array([1, None], pa.uint8()),
            "price": pa.array([decimal.Decimal("1.10"), None], pa.decimal128(10, 2)),
            "when": pa.array([moment, None], pa.timestamp("ns", "Europe/Berlin")),
            "day": pa.array([moment.date(), None], pa.date32()),
            "list": pa.array([[1, 2], None], pa.list_(pa.int16())),
            "inner": pa.array([{"a": 1, "b": ["z"]}, None]),
            "bytes": pa.array([b"\x00\xff", None]),
        }
    )
    return table.replace_schema_metadata({"made by": "me"})


@pytest.mark.parametrize("format", ["parquet", "arrow", "stream", "memory"])
def test_parquet_and_arrow_keep_every_type(model, tmp_path, format):
    table, path = typed_table(), tmp_path / f"rows.{format}"
    data = table if format == "memory" else str(path)
    if format == "parquet":
        pa_parquet.write_table(table, path)
    elif format != "memory":
        opened = pa_ipc.new_file if format == "arrow" else pa_ipc.new_stream
        with opened(path, table.schema) as writer:
            writer.write_table(table)
    verbs.predict(model, data, tmp_path / "out.parquet", format=None if format != "stream" else "arrow")
    found = pa_parquet.read_table(tmp_path / "out.parquet")
    assert found.column_names == [*table.column_names, *ADDED]
    assert found.select(table.column_names).equals(table)
    assert verbs.predict(model, data, format=None if format != "stream" else "arrow").table.select(
        table.column_names).schema.types == table.schema.types  # fmt: skip
    if format != "memory":
        assert found.schema.metadata[b"made by"] == b"me"


def test_parquet_to_json_keeps_nested_values_nested(model, tmp_path):
    pa_parquet.write_table(typed_table().select(["x", "kind", "id", "inner", "list"]), tmp_path / "rows.parquet")
    first = json.loads(predicted(model, tmp_path / "rows.parquet", "jsonl").splitlines()[0])
    assert first["inner"] == {"a": 1, "b": ["z"]}
    assert (first["id"], first["list"], first["label"]) == (2**62 + 1, [1, 2], "u")


def test_csv_to_parquet_has_numbers_where_the_model_reads_numbers_and_text_as_written_elsewhere(model, tmp_path):
    (tmp_path / "rows.csv").write_text(WRITTEN)
    verbs.predict(model, str(tmp_path / "rows.csv"), tmp_path / "out.parquet")
    found = pa_parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert [row["x"] for row in found] == [1.1, None, 7.0, 8.0]
    assert found[0]["zip"] == "01234"
    assert found[0]["id"] == "906000000000000000001"


def test_databases_keep_whole_numbers_whole(model, tmp_path):
    with sqlite3.connect(tmp_path / "rows.sqlite") as connection:
        connection.execute("CREATE TABLE t (x REAL, kind TEXT, id INTEGER)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [(1.5, "a", 2**62 + 1), (7.5, "c", 3)])
    connection.close()
    assert verbs.predict(model, str(tmp_path / "rows.sqlite")).table["id"].to_pylist() == [2**62 + 1, 3]
    assert b"4611686018427387905" in predicted(model, tmp_path / "rows.sqlite")


def test_files_read_together_come_back_together(model, tmp_path):
    (tmp_path / "a.csv").write_text("x,kind\r\n1.10,a\r\n")
    (tmp_path / "b.csv").write_text('x,"kind"\n07.0,"c"')
    out = io.BytesIO()
    verbs.predict(model, [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")], out)
    header, first, second, _ = out.getvalue().split(b"\r\n")
    assert header == b"x,kind,label,probability,decision"
    assert first.startswith(b"1.10,a,u,")
    assert second.startswith(b'07.0,"c",v,')


def test_numbers_in_another_dress_are_text_in_json(model, tmp_path):
    (tmp_path / "rows.csv").write_text("x;kind;price\n1,50;a;1.234,50 €\n7,25;c;2.000,00 €\n")
    found = [json.loads(line) for line in predicted(model, tmp_path / "rows.csv", "jsonl").splitlines()]
    assert [(row["x"], row["price"]) for row in found] == [("1,50", "1.234,50 €"), ("7,25", "2.000,00 €")]
    assert [row["label"] for row in found] == ["u", "v"]


def test_a_type_that_parquet_has_not_comes_back_as_its_values(model, tmp_path):
    table = pa.table({"x": [1.5, 1.5], "kind": ["a", "b"]})
    table = table.append_column("often", pa.RunEndEncodedArray.from_arrays([1, 2], ["s", "t"]))
    with pa_ipc.new_file(tmp_path / "rows.arrow", table.schema) as writer:
        writer.write_table(table)
    verbs.predict(model, str(tmp_path / "rows.arrow"), tmp_path / "out.parquet")
    assert pa_parquet.read_table(tmp_path / "out.parquet")["often"].to_pylist() == ["s", "t"]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-8-sig"])
def test_rows_of_another_encoding_come_back_in_utf_8(model, tmp_path, encoding):
    (tmp_path / "rows.csv").write_text("x,kind,straße\n1.10,a,Größe 007\n", encoding=encoding)
    found = predicted(model, tmp_path / "rows.csv", encoding=None if encoding == "utf-8-sig" else encoding)
    assert found.decode().startswith("x,kind,straße,label,probability,decision\n1.10,a,Größe 007,u,")
