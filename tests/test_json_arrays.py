"""A JSON list of objects is read like one object a line, however it is laid out and cut into blocks."""

from __future__ import annotations

import json
import random

import pytest

from candide.api import verbs
from candide.data.errors import CandideError
from candide.sources import open_source

ROWS = [
    {"x": 1, "deep": {"a": "u", "b": [{"c": 2}]}, "y": "a"},
    {"x": 2.5, "deep": {"a": 'say "hi", [now]', "b": []}, "y": "b"},
    {"x": None, "deep": {"a": "back\\slash\n{", "b": None}, "y": "a"},
]


def write(path, data):
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return str(path)


def rows_of(path, **options):
    source = open_source(path, label="y", **options)
    found = []
    for batch in source.batches():
        columns = [batch.columns.raw(index).to_pylist() for index in range(len(batch.names))]
        found += [dict(zip(batch.names, values, strict=True)) for values in zip(*columns, strict=True)]
    return found, source.rejects.count


def refused(path, **options):
    with pytest.raises(CandideError) as problem:
        rows_of(path, **options)
    assert path in str(problem.value)
    return str(problem.value)


LAYOUTS = {
    "tight": lambda rows: json.dumps(rows, separators=(",", ":")),
    "usual": json.dumps,
    "pretty": lambda rows: json.dumps(rows, indent=2),
    "with spaces around": lambda rows: f"\n\t {json.dumps(rows, indent=1)} \r\n\n",
    "with carriage returns": lambda rows: json.dumps(rows, indent=1).replace("\n", "\r\n"),
    "one a line": lambda rows: "[" + ",\n".join(map(json.dumps, rows)) + "]\n",
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("batch_bytes", [1, 50, 1 << 20])
def test_a_list_is_read_like_lines(tmp_path, layout, batch_bytes):
    lines = write(tmp_path / "a.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS * 5))
    path = write(tmp_path / "a.json", LAYOUTS[layout](ROWS * 5))
    assert rows_of(path, batch_bytes=batch_bytes) == rows_of(lines)
    assert rows_of(write(tmp_path / "no_name", LAYOUTS[layout](ROWS * 5)))[0] == rows_of(lines)[0]


def test_lists_longer_than_a_sample_and_several_files(tmp_path):
    rows = [{"x": index, "text": "word " * 20, "y": "ab"[index % 2]} for index in range(20_000)]
    one = write(tmp_path / "one.json", json.dumps(rows, indent=2))
    two = write(tmp_path / "two.json", json.dumps(rows[:3]))
    assert sum(len(batch) for batch in open_source([one, two], label="y").batches()) == 20_003
    mixed = write(tmp_path / "lines.json", '{"x": 1, "text": "", "y": "a"}\n')
    with pytest.raises(CandideError, match="does not begin with '\\['"):
        rows_of([one, mixed])


WRONG = {
    '[{"y": "a"} {"y": "b"}]': "line 1: two items without a comma",
    '[{"y": "a"}{"y": "b"}]': "two items without a comma",
    '[{"y": "a"},\n,{"y": "b"}]': "line 2: a comma with no item before it",
    '[{"y": "a"},\n]': "line 2: a comma with no item behind it",
    '[{"y": "a"}]\n{"y": "b"}': "line 2: something behind the end",
    '[{"y": "a"}': "never closed",
    '[{"y": "a"}, {"y": "b': "never closed",
    '[{"y": "a"}}]': "a bracket that closes nothing",
    "[]": "no rows",
    "[1, 2]": "is not a JSON object",
}


@pytest.mark.parametrize("text", WRONG)
@pytest.mark.parametrize("batch_bytes", [1, 1 << 20])
def test_lists_that_are_none_are_refused(tmp_path, text, batch_bytes):
    assert WRONG[text] in refused(write(tmp_path / "a.json", text), batch_bytes=batch_bytes)


BAD_ITEMS = ["17", '"text"', "[1]", '{"x": }', '{"x": "line\nend", "y": "a"}', "[" * 500 + "]" * 500]


@pytest.mark.parametrize("item", BAD_ITEMS)
def test_a_bad_item_is_named_by_its_line_or_skipped(tmp_path, item):
    text = '[\n{"x": "1",\n "y": "a"},\n' + item + ',\n{"x": "2", "y": "b"}]'
    path = write(tmp_path / "a.json", text)
    for size in (1, 1 << 20):
        assert f"{path}, line 4: " in refused(path, batch_bytes=size)
        assert rows_of(path, on_error="skip", batch_bytes=size) == ([{"x": "1"}, {"x": "2"}], 1)


def test_brackets_without_end_are_refused(tmp_path):
    refused(write(tmp_path / "a.json", "[" * 1_000_000))
    refused(write(tmp_path / "b.json", '[{"y":' * 100_000))


def test_an_object_over_several_lines_is_no_line(tmp_path):
    text = '{"x": 1, "y": "a"}\n{"x":\n2, "y": "b"}\n{"x": 3, "y": "a"}{"x": 4, "y": "a"}\n'
    path = write(tmp_path / "a.jsonl", text)
    for size in (1, 30, 1 << 20):
        assert rows_of(path, on_error="skip", batch_bytes=size) == ([{"x": 1}], 3)


def test_every_verb_takes_a_list(tmp_path):
    generator = random.Random(0)
    rows = [{"x": generator.random() + (y == "b"), "y": y} for y in "ab" * 30]
    path = write(tmp_path / "a.json", json.dumps(rows, indent=1))
    model = verbs.fit(path, "y", families="guess", smoothing="default", calibrate=False)
    assert model.rows == 60
    assert verbs.predict(model, path, where="y = 'b'").rows == 30
    verbs.predict(model, path, tmp_path / "b.jsonl")
    answered = [json.loads(line) for line in (tmp_path / "b.jsonl").read_text().splitlines()]
    assert [row["x"] for row in answered] == [row["x"] for row in rows]
    assert verbs.learn(model, path).rows == 120
