"""Files made to break a reader: each is read, or refused in a sentence that names it, and never a crash."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from candide import store, verbs
from candide.errors import CandideError
from candide.kernels.nesting import DEEPEST, deepest, is_too_deep
from candide.sources import open_source
from candide.store.container import signed

GOOD = '{"x": 1, "y": "a"}\n{"x": 2, "y": "b"}\n'


def write(path, data):
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return str(path)


def rows_of(source):
    return sum(len(batch) for batch in source.batches())


def refused(*args, **options):
    """The sentence with which opening or reading is refused."""
    with pytest.raises(CandideError) as problem:
        rows_of(open_source(*args, **options))
    return str(problem.value)


def nested(depth, opening):
    closing = "]" if opening == "[" else "}"
    return '{"x": ' + opening * (depth - 1) + "1" + closing * (depth - 1) + ', "y": "a"}\n'


@pytest.mark.parametrize("opening", ["[", '{"a":'])
@pytest.mark.parametrize("depth", [DEEPEST + 1, 1_000, 20_000])
def test_a_line_nested_too_deep_is_a_row_that_cannot_be_read(tmp_path, depth, opening):
    path = write(tmp_path / "deep.jsonl", GOOD + nested(depth, opening) + GOOD)
    sentence = refused(path, label="y")
    assert f"{path}, line 3: " in sentence
    assert f"more than {DEEPEST} deep" in sentence
    assert "--on-error skip" in sentence
    source = open_source(path, label="y", on_error="skip")
    assert (rows_of(source), source.rejects.count) == (4, 1)


def test_depth_that_is_allowed_is_read(tmp_path):
    path = write(tmp_path / "deep.jsonl", nested(DEEPEST, '{"a":') * 3)
    assert rows_of(open_source(path, label="y")) == 3


def test_lines_that_are_deep_only_together_are_not_trusted_to_the_parser(tmp_path):
    path = write(tmp_path / "deep.jsonl", GOOD + '{"x": [[[[[[[[\n' * 500 + GOOD)
    source = open_source(path, label="y", on_error="skip")
    assert (rows_of(source), source.rejects.count) == (4, 500)


NO_CRASH = """
import sys
from candide import verbs
from candide.errors import CandideError
good, deep = sys.argv[1:]
model = verbs.fit(good, "y")
for attempt in (lambda: verbs.fit(deep, "y"), lambda: verbs.predict(model, deep)):
    try:
        attempt()
    except CandideError as problem:
        assert "deep.jsonl, line 3" in str(problem), problem
    else:
        raise SystemExit("was not refused")
print(verbs.predict(model, deep, on_error="skip").rows, verbs.fit(deep, "y", on_error="skip").rows)
"""


def test_brackets_do_not_kill_the_process(tmp_path):
    good = write(tmp_path / "good.jsonl", GOOD * 5)
    deep = write(tmp_path / "deep.jsonl", GOOD + nested(20_000, "[") + GOOD)
    ran = subprocess.run([sys.executable, "-c", NO_CRASH, good, deep], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "4 4\n"), ran.stderr


def test_a_forged_model_file_of_brackets_is_refused(tmp_path):
    fitted = verbs.fit({"x": ["a", "b"] * 3, "y": ["u", "v"] * 3}, "y", tmp_path / "m.candide")
    data = (tmp_path / "m.candide").read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    head = json.loads(data[8:end])
    head["__metadata__"]["provenance"] = '{"a":' * 20_000 + "1" + "}" * 20_000
    path = write(tmp_path / "forged.candide", signed(head) + data[end:])
    with pytest.raises(CandideError, match=r"forged\.candide"):
        store.load(path)
    assert fitted.rows == 6


def slow_depth(data):
    """The obvious twin of the kernel."""
    depth = most = place = 0
    while place < len(data):
        byte = data[place : place + 1]
        if byte == b'"':
            place += 1
            while place < len(data) and data[place : place + 1] != b'"':
                place += 2 if data[place : place + 1] == b"\\" else 1
        depth = max(0, depth + (byte in (b"[", b"{")) - (byte in (b"]", b"}")))
        most = max(most, depth)
        place += 1
    return most


def test_the_nesting_kernel_agrees_with_its_slow_twin():
    generator = np.random.default_rng(0)
    for _ in range(200):
        data = bytes(generator.choice(np.frombuffer(b'[[{{]}"\\a\n', np.uint8), generator.integers(1, 60)))
        assert deepest(np.frombuffer(data, np.uint8)) == slow_depth(data)
    assert not is_too_deep(b"[]" * 1000)


def folder_of_texts(path):
    for label in ("good", "bad"):
        (path / "texts" / label).mkdir(parents=True)
        (path / "texts" / label / "a.txt").write_text("some words")
    return path / "texts"


def test_links_in_a_folder_are_followed_only_when_asked(tmp_path):
    folder = folder_of_texts(tmp_path)
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key.txt").write_text("not yours")
    (folder / "good" / "file-link").symlink_to(secret / "key.txt")
    (folder / "good" / "folder-link").symlink_to(secret)
    (folder / "class-link").symlink_to(secret)
    (folder / "bad" / "round").symlink_to(folder)
    source = open_source(str(folder))
    assert rows_of(source) == 2
    assert "4 links to other places were not followed" in source.notes[0]
    assert any("4 links" in note for note in verbs.fit(str(folder)).notes)
    followed = open_source(str(folder), follow_links=True)
    assert (rows_of(followed), followed.notes) == (4, ())
    table = write(tmp_path / "a.csv", "x,y\n1,a\n")
    assert "this is csv" in refused(table, follow_links=True)


WRITING_QUERIES = {
    "sqlite": [
        "ATTACH '{new}' AS other",
        "VACUUM INTO '{new}'",
        "PRAGMA user_version = 7",
        "PRAGMA query_only",
        "DELETE FROM t",
        "INSERT INTO t VALUES (1, 'z')",
        "CREATE TEMP TABLE u (x)",
        "SELECT load_extension('{new}')",
        "BEGIN",
        "SELECT * FROM t; DELETE FROM t",
        "",
    ],
    "duckdb": [
        "ATTACH '{new}' AS other",
        "COPY t TO '{new}'",
        "COPY (SELECT * FROM t) TO '{new}' (FORMAT csv)",
        "EXPORT DATABASE '{new}'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "PRAGMA enable_profiling",
        "SELECT * FROM read_text('{old}')",
        "SELECT * FROM '{old}'",
        "DELETE FROM t",
        "CREATE TEMP TABLE u (x INTEGER)",
        "SELECT * FROM t; COPY t TO '{new}'",
        "",
    ],
}


def database(path, kind):
    if kind == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect(str(path)) as connection:
            connection.execute("CREATE TABLE t (x INTEGER, y VARCHAR)")
            connection.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
        return str(path)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE t (x INTEGER, y TEXT)")
        connection.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    return str(path)


@pytest.mark.parametrize("kind", WRITING_QUERIES)
def test_a_query_can_only_read_its_database(tmp_path, kind):
    path = database(tmp_path / f"rows.{kind}", kind)
    old = write(tmp_path / "old.csv", "x,y\n1,a\n")
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    for query in WRITING_QUERIES[kind]:
        sentence = refused(path, label="y", sql=query.format(new=tmp_path / "new", old=old))
        assert path in sentence, query
        assert "SELECT" in sentence, query
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    assert rows_of(open_source(path, label="y", sql="WITH u AS (SELECT * FROM t) SELECT x + 1 AS z, y FROM u")) == 2
    assert rows_of(open_source(path, label="y", table="t")) == 2


def test_a_query_that_fails_on_the_way_is_a_sentence(tmp_path):
    path = database(tmp_path / "rows.duckdb", "duckdb")
    sentence = refused(path, label="y", sql="SELECT CAST(y AS INTEGER) AS x, y FROM t")
    assert path in sentence
    assert "the query failed" in sentence
