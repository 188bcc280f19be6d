"""Files made to break a reader: each is read, or refused in a sentence that names it, and never a crash."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import functools
import json
import os
import sqlite3
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pytest

from candide import store
from candide.api import verbs
from candide.data.errors import CandideError
from candide.kernels.nesting import DEEPEST, deepest, is_too_deep
from candide.sources import open_source
from candide.store.container import head_with_checksum

THOROUGH = os.environ.get("CANDIDE_THOROUGH") == "1"
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
    assert "on_error='skip'" in sentence
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
from candide.api import verbs
from candide.data.errors import CandideError
good, deep = sys.argv[1:]
plain = {"families": "guess", "smoothing": "default", "calibrate": False}
model = verbs.fit(good, "y", **plain)
for attempt in (lambda: verbs.fit(deep, "y", **plain), lambda: verbs.predict(model, deep)):
    try:
        attempt()
    except CandideError as problem:
        assert "deep.jsonl, line 3" in str(problem), problem
    else:
        raise SystemExit("was not refused")
print(verbs.predict(model, deep, on_error="skip").rows, verbs.fit(deep, "y", on_error="skip", **plain).rows)
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
    path = write(tmp_path / "forged.candide", head_with_checksum(head) + data[end:])
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


class Wrapped(pa.ExtensionType):
    """A type of somebody's own."""

    def __init__(self, storage=None):
        super().__init__(storage or pa.list_(pa.int32()), "tests.wrapped")

    def __arrow_ext_serialize__(self):
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, serialized):
        return cls(storage)


def encoded(values):
    return pa.DictionaryArray.from_arrays(pa.array([0, 1] * 3), pa.array(values))


DEEP = functools.reduce(lambda inside, _: pa.list_(inside), range(50), pa.int64())
LEARNED = {
    "struct": pa.array([{"p": 1, "q": "x"}, {"p": 2, "q": None}] * 3),
    "empty struct": pa.array([{}] * 6, pa.struct([])),
    "codes": encoded(["u", "v"]),
    "codes of numbers": encoded([7, 8]),
    "codes of structs": encoded([{"p": 1}, {"p": 2}]),
    "duration": pa.array([datetime.timedelta(seconds=place) for place in range(6)]),
    "decimal": pa.array([decimal.Decimal("1.5"), decimal.Decimal("2.5")] * 3),
    "wide decimal": pa.array([decimal.Decimal("1.5"), decimal.Decimal(10) ** 45] * 3, pa.decimal256(60, 2)),
    "time": pa.array([datetime.time(1, 2)] * 6),
    "bytes": pa.array([b"\xff\x00", b"a"] * 3),
    "half": pa.array([1.5, 2.5] * 3, pa.float16()),
    "nothing": pa.nulls(6),
    "wrapped": pa.ExtensionArray.from_storage(Wrapped(pa.int64()), pa.array([1, 2] * 3)),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([3, 6], pa.int32()), pa.array([1, 2])),
}
REFUSED = {
    "list": pa.array([[1, 2], None] * 3),
    "list of one length": pa.array([[1, 2]] * 6, pa.list_(pa.int64(), 2)),
    "map": pa.array([[("a", 1)]] * 6, pa.map_(pa.string(), pa.int64())),
    "list of structs": pa.array([[{"a": 1}]] * 6),
    "codes of lists": encoded([[1], [2]]),
    "interval": pa.array([pa.MonthDayNano([1, 2, 3])] * 6),
    "wrapped list": pa.ExtensionArray.from_storage(Wrapped(), pa.array([[1]] * 6, pa.list_(pa.int32()))),
    "union": pa.UnionArray.from_sparse(pa.array([0, 1] * 3, pa.int8()), [pa.array([1] * 6), pa.array(["a"] * 6)]),
    "fifty lists": pa.nulls(6, DEEP),
}
PLAIN = {"families": "guess", "smoothing": "default", "calibrate": False}


def in_arrow_file(path, column):
    table = pa.table({"x": column, "y": ["a", "b"] * 3, "z": [1, 2] * 3})
    with pyarrow.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    return str(path)


@pytest.mark.parametrize("name", LEARNED)
def test_arrow_types_that_stand_for_simple_values_are_learned(tmp_path, name):
    path = in_arrow_file(tmp_path / "rows.arrow", LEARNED[name])
    fitted = verbs.fit(path, "y", **PLAIN)
    assert fitted.rows == 6
    assert verbs.predict(fitted, path).rows == 6


@pytest.mark.parametrize("name", REFUSED)
def test_arrow_types_that_hold_no_single_values_are_refused_by_name(tmp_path, name):
    path = in_arrow_file(tmp_path / "rows.arrow", REFUSED[name])
    known = verbs.fit({"x": [1, 2] * 3, "y": ["a", "b"] * 3}, "y", **PLAIN)
    attempts = [
        lambda: verbs.fit(path, "y", **PLAIN),
        lambda: verbs.fit(path, "x", **PLAIN),
        lambda: verbs.evaluate(path, label="y"),
        lambda: verbs.predict(known, path),
        lambda: verbs.learn(known, path),
    ]
    for attempt in attempts:
        with pytest.raises(CandideError) as problem:
            attempt()
        assert path in str(problem.value)
        assert "'x'" in str(problem.value)


def test_a_column_of_lists_can_be_left_out_and_passes_through(tmp_path):
    path = in_arrow_file(tmp_path / "rows.arrow", REFUSED["list"])
    fitted = verbs.fit(path, "y", **{**PLAIN, "families": {"x": "ignore"}})
    assert verbs.predict(fitted, path).table["x"].to_pylist() == [[1, 2], None] * 3
    with pytest.raises(CandideError, match=r"rows\.arrow: column 'x' holds lists"):
        verbs.learn(verbs.fit({"z": [1, 2] * 3, "y": ["a", "b"] * 3}, "y", **PLAIN), path)
    lines = write(tmp_path / "rows.jsonl", '{"x": [1], "y": "a"}\n{"x": [2, 3], "y": "b"}\n')
    with pytest.raises(CandideError, match=r"rows\.jsonl: column 'x' holds lists"):
        verbs.fit(lines, "y", **PLAIN)


def test_a_header_of_any_width_is_read(tmp_path):
    columns = 200_000 if THOROUGH else 300
    names = [f"{place}_{'long' * 1000}" for place in range(columns)] if columns < 1000 else map(str, range(columns))
    path = write(tmp_path / "wide.csv", ",".join(names) + "\n" + ",".join(["1"] * columns) + "\n")
    source = open_source(path)
    assert (len(source.columns), rows_of(source)) == (columns, 1)


def test_a_header_of_one_name_is_refused_at_once(tmp_path):
    path = write(tmp_path / "same.csv", ",".join(["a"] * 200_000) + "\n")
    assert f"{path} has more than one column named 'a'" in refused(path)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "arrow", "sqlite", "txt"])
def test_a_file_of_nul_bytes_is_refused(tmp_path, ending):
    path = tmp_path / f"nul.{ending}"
    with open(path, "wb") as file:
        file.truncate((500 if THOROUGH else 1) << 20)
    assert str(path) in refused(str(path), label="y")


def test_nul_bytes_after_the_rows_are_a_row_that_cannot_be_read(tmp_path):
    path = write(tmp_path / "tail.csv", b"x,y\n1,a\n2,b\n" + b"\0" * 5_000_000)
    assert f"{path}, line 4: 1 fields" in refused(path, label="y")
    assert rows_of(open_source(path, label="y", on_error="skip")) == 2


def test_a_first_line_of_megabytes_is_read(tmp_path):
    long = json.dumps({"x": "word " * 600_000, "y": "a"})
    path = write(tmp_path / "long.jsonl", f"{long}\n{GOOD.replace('1', json.dumps('b')).replace('2', json.dumps('c'))}")
    assert rows_of(open_source(path, label="y")) == 3


@pytest.mark.parametrize("place", [0, 1])
def test_a_lone_surrogate_is_named_with_its_file(tmp_path, place):
    lines = ['{"x": "a", "y": "a"}', '{"x": "b", "y": "b"}']
    lines.insert(place, '{"x": "\\ud800", "y": "a"}')
    path = write(tmp_path / "half.jsonl", "\n".join(lines))
    assert f"{path}, line {place + 1}: " in refused(path, label="y")
    alone = write(tmp_path / "alone.jsonl", lines[place])
    assert f"{alone}, line 1: " in refused(alone, label="y")
    assert rows_of(open_source(path, label="y", on_error="skip")) == 2


def test_names_that_meet_after_flattening_are_refused_with_the_file(tmp_path):
    path = write(tmp_path / "meet.jsonl", '{"a.b": 1, "a": {"b": 2}, "y": "u"}\n')
    assert f"{path} has more than one column named 'a.b'" in refused(path, label="y")
