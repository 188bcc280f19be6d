"""Every format and every kind of bad data: what is read, what is refused, and in which words."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import random
import sqlite3
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from candide.data.batch import as_numbers
from candide.data.errors import CandideError
from candide.sources import SourceRefused, columnar, open_source
from candide.sources.kinds import KINDS, as_kind, kind_of_sample
from candide.sources.pipes import Pipe
from candide.sources.records import FEW_BYTES, end_of_records, records_of

ROWS = [
    {"age": 31, "fare": 7.25, "sex": "male", "survived": "no"},
    {"age": 22, "fare": 71.5, "sex": "female", "survived": "yes"},
    {"age": None, "fare": 8.0, "sex": "female", "survived": "yes"},
    {"age": 54, "fare": 13.0, "sex": None, "survived": "no"},
]
NAMES = ("age", "fare", "sex")


def write(path, data):
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return str(path)


def as_csv(rows, delimiter=","):
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def as_jsonl(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def read(source):
    """All rows as a dict of plain columns, and the labels."""
    columns, labels = {}, []
    rows = 0
    for batch in source.batches():
        assert batch.start == rows
        rows += len(batch)
        for index, name in enumerate(batch.names):
            columns.setdefault(name, []).extend(plain(batch.columns.raw(index)))
        if batch.labels is not None:
            labels += [batch.labels.keys[code][1] for code in batch.labels.codes]
    return columns, labels


def plain(column):
    return column.to_pylist() if isinstance(column, (pa.Array, pa.ChunkedArray)) else list(column)


def refused(*args, **options):
    """The sentence with which opening or reading is refused."""
    with pytest.raises(CandideError) as problem:
        read(open_source(*args, **options))
    return str(problem.value)


def zstd(data):
    return pa.Codec("zstd").compress(data, asbytes=True)


WRITERS = {
    "rows.csv": lambda path: write(path, as_csv(ROWS)),
    "rows.tsv": lambda path: write(path, as_csv(ROWS, "\t")),
    "semicolons.csv": lambda path: write(path, as_csv(ROWS, ";")),
    "rows.jsonl": lambda path: write(path, as_jsonl(ROWS)),
    "rows.csv.gz": lambda path: write(path, gzip.compress(as_csv(ROWS).encode())),
    "rows.csv.zst": lambda path: write(path, zstd(as_csv(ROWS).encode())),
    "rows.jsonl.gz": lambda path: write(path, gzip.compress(as_jsonl(ROWS).encode())),
    "two_members.csv.gz": lambda path: write(
        path, gzip.compress(as_csv(ROWS).encode()[:30]) + gzip.compress(as_csv(ROWS).encode()[30:])
    ),
    "rows.parquet": lambda path: pa.parquet.write_table(pa.Table.from_pylist(ROWS), path),
    "rows.arrow": lambda path: pa.feather.write_feather(pa.Table.from_pylist(ROWS), str(path)),
    "rows.feather": lambda path: pa.feather.write_feather(pa.Table.from_pylist(ROWS), str(path), compression="lz4"),
    "rows.arrows": lambda path: write_stream(path),
    "rows.parquet.gz": lambda path: compress_after(path, WRITERS["rows.parquet"], gzip.compress),
    "rows.arrow.zst": lambda path: compress_after(path, WRITERS["rows.arrow"], zstd),
    "rows.db": lambda path: write_sqlite(path),
    "no_ending": lambda path: write(path, as_csv(ROWS)),
    "json_without_ending": lambda path: write(path, as_jsonl(ROWS)),
}


def write_stream(path):
    table = pa.Table.from_pylist(ROWS)
    with pa.ipc.new_stream(str(path), table.schema) as out:
        out.write_table(table)


def compress_after(path, writer, compress):
    writer(path)
    path.write_bytes(compress(path.read_bytes()))


def write_sqlite(path, rows=ROWS, table="people"):
    connection = sqlite3.connect(path)
    columns = ", ".join(f'"{name}"' for name in rows[0])
    connection.execute(f'CREATE TABLE "{table}" ({columns})')
    marks = ", ".join("?" for _ in rows[0])
    connection.executemany(f'INSERT INTO "{table}" VALUES ({marks})', [tuple(row.values()) for row in rows])
    connection.commit()
    connection.close()
    return str(path)


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_rows_on_every_pass(tmp_path, name):
    WRITERS[name](tmp_path / name)
    source = open_source(str(tmp_path / name), label="survived")
    assert source.names == NAMES
    expected = {column: [row[column] for row in ROWS] for column in NAMES}
    for _ in range(2):
        columns, labels = read(source)
        assert columns == expected
        assert labels == ["no", "yes", "yes", "no"]
    taken = []
    list(source.batches(taken.append))
    assert source.size.unit in ("bytes", "rows")
    assert source.size.amount in (None, sum(taken))
    json.dumps(source.describe())


def test_a_frame_and_an_array_are_sources_too():
    frame = pd.DataFrame(ROWS)
    source = open_source(frame, label="survived", batch_rows=3)
    assert [len(batch) for batch in source.batches()] == [3, 1]
    assert read(source)[1] == ["no", "yes", "yes", "no"]
    assert [len(b) for b in open_source(np.zeros((5, 2)), batch_rows=2).batches()] == [2, 2, 1]


def test_without_labels_the_label_column_is_left_out(tmp_path):
    path = write(tmp_path / "a.csv", "x,y\n1,\n2,b\n")
    batch = next(open_source(path, label="y", labelled=False).batches())
    assert batch.names == ("x",)
    assert batch.labels is None
    assert open_source(path, label="absent", labelled=False).names == ("x", "y")


def test_several_files_and_globs(tmp_path):
    write(tmp_path / "b.csv", "x,y\n3,c\n")
    write(tmp_path / "a.csv", "x,y\n1,a\n2,b\n")
    write(tmp_path / "c.csv", "x,y\n")
    assert read(open_source(str(tmp_path / "*.csv"), label="y")) == ({"x": [1, 2, 3]}, ["a", "b", "c"])
    both = [str(tmp_path / "b.csv"), tmp_path / "a.csv"]
    assert read(open_source(both, label="y"))[1] == ["c", "a", "b"]
    write(tmp_path / "d.csv", "x,z\n1,2\n")
    assert "d.csv has no column 'y'" in refused(str(tmp_path / "*.csv"), label="y")
    write(tmp_path / "e.jsonl", '{"x": 1}\n')
    assert "one format" in refused([str(tmp_path / "a.csv"), str(tmp_path / "e.jsonl")])


def test_paths_that_lead_nowhere(tmp_path):
    write(tmp_path / "titanic.csv", "x\n1\n")
    assert "Did you mean 'titanic.csv'?" in refused(str(tmp_path / "titanik.csv"))
    assert "no folder" in refused(str(tmp_path / "nowhere" / "a.csv"))
    assert "No file matches" in refused(str(tmp_path / "*.parquet"))
    assert "No file was named" in refused([])


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file(tmp_path):
    path = write(tmp_path / "a.csv", "x\n1\n")
    os.chmod(path, 0)
    assert "permission denied" in refused(path)


def test_a_file_that_cannot_be_opened(tmp_path, monkeypatch):
    path = write(tmp_path / "a.csv", "x\n1\n")

    def denied(*args, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", denied)
    assert f"Cannot read '{path}': permission denied." in refused(path)


def stdin_source(monkeypatch, data, **options):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    return open_source("-", **options)


@pytest.mark.parametrize("squeeze", [bytes, gzip.compress])
def test_standard_input_can_be_read_again(monkeypatch, squeeze):
    text = "x,y\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(300_000))
    source = stdin_source(monkeypatch, squeeze(text.encode()), label="y")
    next(iter(source.batches()))
    once, again = read(source), read(source)
    assert once == again
    assert once[0]["x"] == list(range(300_000))


def test_standard_input_for_one_pass_is_not_kept(monkeypatch):
    text = "x\n" + "".join(f"{i}\n" for i in range(400_000))
    source = stdin_source(monkeypatch, text.encode(), repeatable=False)
    assert read(source)[0]["x"] == list(range(400_000))
    with pytest.raises(SourceRefused, match="cannot be read again"):
        read(source)
    kept = Pipe("standard input", lambda: io.BytesIO(b"x" * 5_000_000), repeatable=False)
    reader = kept.open()
    reader.read(100)
    kept.stop_keeping()
    assert len(reader.read()) == 5_000_000 - 100
    assert kept._spooled == 100


def test_standard_input_in_any_format(monkeypatch, tmp_path):
    for name in ("rows.jsonl", "rows.parquet", "rows.arrow"):
        WRITERS[name](tmp_path / name)
        source = stdin_source(monkeypatch, (tmp_path / name).read_bytes(), label="survived")
        assert read(source)[1] == ["no", "yes", "yes", "no"]
    assert "cannot be read together" in refused(["-", str(tmp_path / "rows.jsonl")])


TRICKY = {
    "crlf": b"a,b\r\n1,x\r\n2,y\r\n",
    "cr": b"a,b\r1,x\r2,y\r",
    "bom": b"\xef\xbb\xbfa,b\n1,x\n",
    "bom before quotes": b'\xef\xbb\xbf"a","b"\n1,x\n',
    "no newline at the end": b"a,b\n1,x\n2,y",
    "quoted newline": b'a,b\n1,"x\ny"\n2,"p\r\nq"\n',
    "doubled quotes": b'a,b\n1,"say ""hi"""\n2,""""\n',
    "quotes inside a field": b'a,b\n1,5" pipe\n2,x"y"z\n',
    "delimiter in quotes": b'a,b\n1,"x,y"\n2,","\n',
    "empty lines": b"\na,b\n\n1,x\n\n\n2,y\n\n",
    "quoted header": b'"a, b","c\nd"\n1,2\n',
    "empty fields": b"a,b,c\n1,,x\n,2.5,\n",
    "spaces": b"a,b\n 1, x y \n 2,z\n",
    "padded floats": b"a,b\n 1.5,x\n 2.5 ,y\n",
    "missing words": b"a,b\n1,x\nNA,y\nNaN,z\nnull,w\n",
    "signs and exponents": b"a,b\n+1,1e5\n-2,.5\n3,5.\n",
    "infinity": b"a\ninf\n-inf\n1\n",
    "truth": b"a,b\ntrue,TRUE\nfalse,False\n",
    "quoted numbers": b'a,b\n"1","2.5"\n"2","3"\n',
    "unicode": "näme,日本\nñ,語\n".encode(),
    "one column": b"a\n1\n2\n",
    "tabs": b"a\tb\n1\tx y\n",
    "semicolons and decimal commas": b"a;b\n1,5;x\n2,5;y\n",
    "large whole numbers": b"id\n9007199254740993\n9223372036854775807\n",
    "too large": b"id\n1\n18446744073709551616000\n",
    "long field": b"a,b\n1," + b"x" * 300_000 + b"\n",
}


@pytest.mark.parametrize("name", TRICKY)
@pytest.mark.parametrize("batch_bytes", [1, 7, 1 << 20])
def test_tricky_but_valid_csv_agrees_with_pandas(tmp_path, name, batch_bytes):
    path = write(tmp_path / "a.csv", TRICKY[name])
    delimiter = {"tabs": "\t", "semicolons and decimal commas": ";"}.get(name, ",")
    expected = pd.read_csv(path, sep=delimiter, decimal="," if delimiter == ";" else ".")
    source = open_source(path, batch_bytes=batch_bytes)
    columns, _ = read(source)
    assert list(columns) == list(expected.columns)
    for column in expected.columns:
        theirs = expected[column]
        ours = columns[column]
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            if one is None or pd.isna(other):
                assert one is None
                assert pd.isna(other)
            else:
                assert one == other or one == float(other)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.integers(-(10**6), 10**6) | st.none(),
            st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8),
        ),
        min_size=1,
        max_size=20,
    ),
    newline=st.sampled_from(["\n", "\r\n"]),
    batch_bytes=st.sampled_from([1, 5, 64, 1 << 20]),
)
def test_what_python_writes_is_what_is_read(tmp_path_factory, rows, newline, batch_bytes):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    with open(path, "w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator=newline)
        writer.writerow(["number", "text", "end"])
        writer.writerows([("" if n is None else n, t, "x") for n, t in rows])
    columns, _ = read(open_source(str(path), batch_bytes=batch_bytes, types={"number": "number", "text": "text"}))
    assert columns["number"] == [number for number, _ in rows]
    assert columns["text"] == [text or None for _, text in rows]


def slow_records(data, delimiter):
    """Letter by letter, as RFC 4180 tells it."""
    starts, fields, start, count, quoted, at_start, index = [], [], 0, 1, False, True, 0
    while index < len(data):
        letter = data[index : index + 1]
        if quoted and letter == b'"' and data[index + 1 : index + 2] == b'"':
            index += 1
        elif letter == b'"' and (quoted or at_start):
            quoted = not quoted
            at_start = False
        elif not quoted and letter in b"\r\n":
            starts.append(start)
            fields.append(count if index > start else 0)
            index += data[index : index + 2] == b"\r\n"
            start, count, at_start = index + 1, 1, True
        elif not quoted and letter == delimiter:
            count, at_start = count + 1, True
        else:
            at_start = at_start and quoted
        index += 1
    if start < len(data):
        starts.append(start)
        fields.append(count)
    return starts, fields, quoted


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from([b"a", b",", b'"', b"\n", b"\r\n"]), max_size=30).map(b"".join))
def test_the_record_kernels_agree_with_their_slow_twin(data):
    starts, fields, is_open = records_of(data, ",")
    assert (starts[:-1].tolist(), fields.tolist(), is_open) == slow_records(data, b",")
    padded = data + b"\n" * FEW_BYTES
    starts, fields, is_open = records_of(padded, ",")
    assert (starts[:-1].tolist(), fields.tolist(), is_open) == slow_records(padded, b",")
    last = starts[-2] if is_open else starts[-1]
    assert end_of_records(padded, ",", b"\n") == last


@pytest.mark.parametrize("seed", range(3))
def test_blocks_of_any_size_give_the_same_rows(tmp_path, seed):
    dice = random.Random(seed)
    rows = [
        {"n": dice.choice([1, 2.5, 10**14, 2**53 + 1, None]), "t": dice.choice(["a", 'b"c', "d\ne", "f,g", None]),
         "y": dice.choice("pq")} for _ in range(500)
    ]  # fmt: skip
    path = write(tmp_path / "a.csv", as_csv(rows))
    whole = read(open_source(path, label="y"))
    for size in (1, 10, 100, 1000):
        assert read(open_source(path, label="y", batch_bytes=size)) == whole
    assert whole[0]["t"] == [row["t"] for row in rows]


def test_kinds_are_decided_from_the_sample(tmp_path):
    text = "i,f,t,d,w,z,id,e,s\n1,1.5,true,2026-01-31,2026-01-31 12:00,2026-01-31T12:00:01.5Z,9007199254740993,,x\n"
    source = open_source(write(tmp_path / "a.csv", text))
    assert source.describe()["types"] == dict(
        i="number", f="number", t="truth", d="date", w="time", z="instant", id="integer", e="text", s="text"
    )
    batch = next(source.batches())
    assert [str(batch.columns.raw(index).type) for index in range(9)] == [
        "int64", "double", "bool", "date32[day]", "timestamp[us]", "timestamp[us, tz=UTC]", "int64", "string", "string",
    ]  # fmt: skip
    assert batch.columns.raw(6).to_pylist() == [9007199254740993]
    assert batch.columns.raw(7).to_pylist() == [None]


@pytest.mark.parametrize(("text", "name"), [("1", "number"), ("2026-02-31", "text"), ("0.1.2", "text"), ("", "text")])
def test_a_kind_needs_every_value_to_fit(text, name):
    kind, arrow = kind_of_sample(pa.array([text]))
    assert kind.name == name
    assert as_kind(pa.array([text]), kind)[0].type in (arrow, kind.arrow)


def test_kinds_given_by_hand(tmp_path):
    path = write(tmp_path / "a.csv", "zip,y\n01234,1\n98765,2\n")
    assert read(open_source(path))[0]["zip"] == [1234, 98765]
    assert read(open_source(path, types={"zip": "text"}))[0]["zip"] == ["01234", "98765"]
    assert "Did you mean 'zip'?" in refused(path, types={"zipp": "text"})
    assert "Did you mean 'number'?" in refused(path, types={"zip": "numbr"})
    lines = write(tmp_path / "a.jsonl", '{"zip": 1, "n": "2"}\n{"zip": 2, "n": "x"}\n')
    assert read(open_source(lines, types={"zip": "text"}))[0]["zip"] == ["1", "2"]
    assert "a.jsonl, line 2: column 'n' holds 'x'" in refused(lines, types={"n": "number"})
    assert all(kind.example for kind in KINDS.values())


LONG = "".join(f"{i},{i / 4},word\n" for i in range(6_000))
IN_BLOCKS = {"batch_bytes": 1 << 15}


@pytest.fixture
def short_sample(monkeypatch):
    """Columns are judged by the first bytes of a file; with fewer of them, rows beyond need no long file."""
    monkeypatch.setattr("candide.sources.file_source.SAMPLE", 1 << 15)


def test_a_fraction_among_whole_numbers_is_no_error(tmp_path, short_sample):
    path = write(tmp_path / "a.csv", "n,f,t\n" + LONG + "2.5,1,x\n" + LONG)
    columns, _ = read(open_source(path, **IN_BLOCKS))
    assert columns["n"][6_000] == 2.5
    assert columns["n"][:6_000] == list(range(6_000)) == columns["n"][6_001:]


@pytest.mark.parametrize(
    ("bad", "parts"),
    [
        ("abc,1,x\n", ["a.csv, line 6,002: column 'n' holds 'abc'", "types={'n': 'text'}"]),
        ("1,x,y\n", ["line 6,002: column 'f' holds 'x', but a number"]),
        ("1,2\n", ["line 6,002: 2 fields, but the header names 3", "quotes"]),
        ("1,2,3,4\n", ["line 6,002: 4 fields"]),
        ("1,2,caf\xe9\n", ["line 6,002: byte 0xe9 near '1,2,caf\xe9", "encoding='latin-1'"]),
    ],
)
def test_a_bad_row_is_named_or_skipped(tmp_path, short_sample, bad, parts):
    data = ("n,f,t\n" + LONG).encode() + bad.encode("latin-1") + LONG.encode()
    path = write(tmp_path / "a.csv", data)
    sentence = refused(path, **IN_BLOCKS)
    assert all(part in sentence for part in parts), sentence
    source = open_source(path, on_error="skip", rejects=tmp_path / "rejects.csv", **IN_BLOCKS)
    for _ in range(2):
        columns, _ = read(source)
        assert len(columns["n"]) == 12_000
        assert source.rejects.count == 1
        with open(tmp_path / "rejects.csv", newline="") as file:
            (row,) = csv.DictReader(file)
        assert row["line"] == "6002"
        assert row["row"].startswith(bad[:3])
        assert row["reason"]


def test_bad_rows_are_named_in_order(tmp_path):
    path = write(tmp_path / "a.csv", "n,y\n1,a\n2\nx,b\n3,\n4,a,b\n5,c\n")
    options = {"label": "y", "types": {"n": "number"}}
    assert "line 3: 1 fields" in refused(path, **options)
    source = open_source(path, on_error="skip", rejects=tmp_path / "r.csv", **options)
    assert read(source) == ({"n": [1, 5]}, ["a", "c"])
    with open(tmp_path / "r.csv", newline="") as file:
        assert [row["line"] for row in csv.DictReader(file)] == ["3", "4", "5", "6"]
    assert source.rejects.count == 4


def test_lines_are_counted_over_quoted_newlines(tmp_path):
    path = write(tmp_path / "a.csv", 'n,t\n1,"a\nb\nc"\n2,d\n3,e,f\n')
    assert "line 6: 3 fields" in refused(path)


def test_rows_without_a_label(tmp_path):
    path = write(tmp_path / "a.csv", "x,y\n1,a\n2,\n3,b\n4,\n")
    sentence = refused(path, label="y")
    assert "line 3: the row has no label in column 'y', as have 1 of the 4 rows" in sentence
    assert "on_error='skip'" in sentence
    source = open_source(path, label="y", on_error="skip")
    assert read(source) == ({"x": [1, 3]}, ["a", "b"])
    assert source.rejects.count == 2
    frame = pd.DataFrame({"x": [1, 2], "y": ["a", None]})
    assert "row 2: the row has no label" in refused(frame, label="y")
    assert read(open_source(frame, label="y", on_error="skip"))[1] == ["a"]
    everyone = write(tmp_path / "b.csv", "x,y\n1,\n2,\n")
    sentence = refused(everyone, label="y", on_error="skip")
    assert "no rows are left, all 2 were skipped" in sentence
    assert "line 2" in sentence
    lines = write(tmp_path / "c.jsonl", '{"x": 1, "y": "a"}\n\n{"x": 2}\n')
    assert "c.jsonl, line 3: the row has no label" in refused(lines, label="y")


def test_a_misspelt_label_column(tmp_path):
    for name in ("rows.csv", "rows.jsonl", "rows.parquet", "rows.db"):
        WRITERS[name](tmp_path / name)
        assert "Did you mean 'survived'?" in refused(str(tmp_path / name), label="surived")


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"a,b\n", "has a header but no rows"),
        (b"a,b\n\n", "has a header but no rows"),
        (b"a,b,a\n1,2,3\n", "more than one column named 'a'"),
        (b'a,b\n1,"x\n2,y\n', "line 2: a quote is opened in this record and never closed"),
        (b'a,"b\n', "a quote is opened in the header and never closed"),
        (b"na\xefve,b\n1,2\n", "a.csv, line 1: byte 0xef"),
        (b"\xff\xfea\0,\0b\0\n\0", "encoding='utf-16'"),
        (b"PK\x03\x04rest", "zip archive"),
        (gzip.compress(b"a,b\n" + random.Random(0).randbytes(9999).hex().encode())[:5000], "damaged"),
        (b",column_1\n1,2\n", "'column_1' is taken"),
    ],
)
def test_files_that_are_refused(tmp_path, data, part):
    path = write(tmp_path / "a.csv", data)
    assert part in refused(path)


def test_columns_without_a_name_are_called_by_their_place(tmp_path):
    source = open_source(write(tmp_path / "a.csv", ",x,\n0,1,2\n"))
    assert source.names == ("column_1", "x", "column_3")
    assert "column_1" in source.describe()["notes"][0]


def test_a_record_too_long_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("candide.sources.blocks.LONGEST_RECORD", 1 << 16)
    path = write(tmp_path / "a.csv", 'a,b\n1,2\n3,"' + "x\n" * 3_000_000)
    assert "line 3: a record of more than 0 MB" in refused(path)


def test_other_encodings(tmp_path):
    text = "näme,y\nMünchen,1\nKöln,2\n"
    for encoding in ("latin-1", "utf-16", "cp1252", "utf-8-sig"):
        path = write(tmp_path / "a.csv", text.encode(encoding))
        assert read(open_source(path, encoding=encoding))[0] == {"näme": ["München", "Köln"], "y": [1, 2]}
    path = write(tmp_path / "a.csv", b"a\nx\x81\n")
    assert "a.csv, near line 2" in refused(path, encoding="cp1252")
    assert "Did you mean 'latin-1'" in refused(path, encoding="latin-99")
    lines = write(tmp_path / "a.jsonl", '{"a": "Köln"}\n'.encode("latin-1"))
    assert read(open_source(lines, encoding="latin-1"))[0] == {"a": ["Köln"]}
    assert "line 1: byte 0xf6" in refused(lines)


def test_delimiters(tmp_path):
    path = write(tmp_path / "a.csv", "a|b\n1,2|3\n4,5|6\n")
    assert read(open_source(path))[0] == {"a": [1.2, 4.5], "b": [3, 6]}
    assert "line 2: 2 fields, but the header names 1" in refused(path, delimiter=",")
    assert "one character" in refused(path, delimiter="||")
    WRITERS["rows.parquet"](tmp_path / "a.parquet")
    assert "delimiter is for csv" in refused(str(tmp_path / "a.parquet"), delimiter=",")


def test_options_that_cannot_be_honoured_are_refused(tmp_path):
    path = write(tmp_path / "a.csv", "a\n1\n")
    assert "for databases" in refused(path, sql="select 1")
    assert "are for files" in refused({"a": [1]}, types={"a": "text"})
    assert "Did you mean 'csv'" in refused(path, format="cvs")
    assert "'stop' or 'skip'" in refused(path, on_error="ignore")
    assert "only written with on_error" in refused(path, rejects="x")
    assert "Cannot write rejects" in refused(path, on_error="skip", rejects=tmp_path / "none" / "r.csv")
    assert "cannot be read as parquet" in refused(path, format="parquet")
    assert "cannot be read as SQLite" in refused(path, format="sqlite")


def test_json_lines_may_bring_new_keys_and_nested_objects(tmp_path):
    head = '{"a": 1, "b": {"c": "x", "d": {"e": true}}}\n' * 30_000
    path = write(tmp_path / "a.jsonl", head + '{"a": 2.5, "new": "n"}\n' + '{"a": null, "b": {"c": ""}}\n')
    source = open_source(path, batch_bytes=1 << 18)
    assert source.names == ("a", "b.c", "b.d.e")
    batches = list(source.batches())
    assert batches[0].names == ("a", "b.c", "b.d.e")
    last = batches[-1]
    assert last.names == ("a", "b.c", "b.d.e", "new")
    ends = [plain(column)[-2:] for column in last.columns.columns]
    assert ends == [[2.5, None], [None, ""], [None, None], ["n", None]]


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ('{"a": "x"}', "line 3,001: key 'a' holds '\"x\"', but a number was expected"),
        ('{"a": 1', "line 3,001: not a JSON object"),
        ("[1]", "line 3,001: '[1]' is not a JSON object"),
        ('{"b": 1}', "key 'b' holds '1', but text was expected"),
        ('{"a": 1, "b": "\\ud800"}', "line 3,001"),
    ],
)
def test_bad_json_lines(tmp_path, short_sample, line, part):
    good = '{"a": 1, "b": "x"}\n' * 3_000
    path = write(tmp_path / "a.jsonl", good + line + "\n" + good)
    assert part in refused(path, **IN_BLOCKS)
    source = open_source(path, on_error="skip", rejects=tmp_path / "r.csv", **IN_BLOCKS)
    assert len(read(source)[0]["a"]) == 6_000
    assert source.rejects.count == 1


def test_json_that_is_no_lines(tmp_path):
    assert "is empty" in refused(write(tmp_path / "b.jsonl", ""))
    assert "line 1: not a JSON object" in refused(write(tmp_path / "c.jsonl", "hello\n"))


def test_a_folder_of_texts(tmp_path):
    for label, name, text in (("ham", "1.txt", "hello"), ("ham", "deep/2.txt", ""), ("spam", "3.txt", "büy now")):
        (tmp_path / "mail" / label / name).parent.mkdir(parents=True, exist_ok=True)
        write(tmp_path / "mail" / label / name, text)
    write(tmp_path / "mail" / "spam" / ".hidden", b"\xff")
    source = open_source(tmp_path / "mail")
    assert (source.names, source.label) == (("text",), "label")
    assert read(source) == read(source) == ({"text": ["hello", "", "büy now"]}, ["ham", "ham", "spam"])
    write(tmp_path / "mail" / "spam" / "4.txt", b"caf\xe9")
    assert "4.txt, line 1: byte 0xe9" in refused(tmp_path / "mail")
    skipping = open_source(tmp_path / "mail", on_error="skip")
    assert len(read(skipping)[1]) == 3
    assert skipping.rejects.count == 1
    assert read(open_source(tmp_path / "mail", encoding="latin-1"))[0]["text"][-1] == "café"


def test_folders_that_are_refused(tmp_path):
    (tmp_path / "flat").mkdir()
    assert "no sub-folders" in refused(tmp_path / "flat")
    write(tmp_path / "flat" / "a.txt", "hi")
    assert "bears its name" in refused(tmp_path / "flat")
    assert read(open_source(tmp_path / "flat", labelled=False))[0] == {"text": ["hi"]}
    (tmp_path / "flat" / "ham").mkdir()
    assert "lies outside the sub-folders" in refused(tmp_path / "flat")
    os.remove(tmp_path / "flat" / "a.txt")
    assert "holds no files" in refused(tmp_path / "flat")


def test_sqlite_tables_and_queries(tmp_path):
    path = write_sqlite(tmp_path / "a.db")
    assert open_source(path).size.amount == 4
    write_sqlite(tmp_path / "a.db", [{"x": 1}], "other")
    assert "'other', 'people'" in refused(path)
    assert "Did you mean 'people'?" in refused(path, table="peple")
    assert "not both" in refused(path, table="people", sql="select 1")
    assert "syntax error" in refused(path, sql="selec 1")
    assert read(open_source(path, table="people", label="survived"))[1] == ["no", "yes", "yes", "no"]
    query = "SELECT age, survived FROM people WHERE fare < 10 ORDER BY fare DESC"
    assert read(open_source(path, sql=query, label="survived")) == ({"age": [None, 31]}, ["yes", "no"])
    assert "has no rows" in refused(path, sql="select * from people where age > 100")
    with pytest.raises(SourceRefused, match="failed"):
        read(open_source(path, sql="drop table people"))


def test_a_sqlite_value_of_another_type(tmp_path):
    path = write_sqlite(tmp_path / "a.db", [{"x": 1, "y": "a"}, {"x": "oops", "y": "b"}, {"x": 2.5, "y": "a"}])
    assert "a.db, row 2: column 'x' holds 'oops'" in refused(path)
    assert read(open_source(path, on_error="skip"))[0]["x"] == [1, 2.5]
    assert read(open_source(path, types={"x": "text"}))[0]["x"] == ["1", "oops", "2.5"]


def test_duckdb(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = str(tmp_path / "a.duckdb")
    connection = duckdb.connect(path)
    connection.execute("CREATE TABLE people (age INTEGER, sex VARCHAR, survived VARCHAR)")
    connection.executemany("INSERT INTO people VALUES (?, ?, ?)", [(1, "m", "no"), (None, "f", "yes")])
    connection.close()
    source = open_source(path, label="survived")
    assert read(source) == read(source) == ({"age": [1, None], "sex": ["m", "f"]}, ["no", "yes"])
    assert source.size.amount == 2
    assert read(open_source(path, sql="SELECT age FROM people WHERE age = 1"))[0] == {"age": [1]}
    assert "no table" in refused(path, table="peple")
    assert "the query failed" in refused(path, sql="SELEC")


def test_duckdb_that_is_not_installed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    path = write(tmp_path / "a.duckdb", b"\0" * 8 + b"DUCK" + b"\0" * 20)
    assert "pip install duckdb" in refused(path)


@pytest.mark.parametrize(("groups", "parts_a_file"), [(1, 5), (2, 3), (9, 1)])
def test_parts_of_a_parquet_file_are_its_rows_in_order(groups, parts_a_file, tmp_path, monkeypatch):
    """Each row in one part, of as many row groups as fill it, and known by its place in the whole file."""
    table = pa.table({"number": list(range(23)), "label": ["a", "b"] * 11 + ["a"]})
    for name in ("one", "two"):
        pa.parquet.write_table(table, tmp_path / f"{name}.parquet", row_group_size=5)
    group = pa.parquet.ParquetFile(tmp_path / "one.parquet").metadata.row_group(0).total_byte_size
    monkeypatch.setattr(columnar, "PART_BYTES", (groups - 1) * group + 1)
    source = open_source(str(tmp_path / "*.parquet"), label="label")
    parts = source.parts()
    assert len(parts) == 2 * parts_a_file
    assert sum(part.size.amount for part in parts) == source.size.amount == 46
    pieces = [piece for part in parts for piece in part.pieces()]
    numbers = [piece.columns[piece.names.index("number")].to_pylist() for piece in pieces]
    assert [number for some in numbers for number in some] == [*range(23), *range(23)]
    assert [piece.place(0).number for piece in pieces] == [some[0] + 1 for some in numbers]


def test_parquet_that_is_damaged_or_nested(tmp_path):
    path = tmp_path / "a.parquet"
    pa.parquet.write_table(pa.table({"a": [{"b": 1, "c": "x"}], "l": [[1, 2]]}), path)
    assert read(open_source(path))[0] == {"a.b": [1], "a.c": ["x"], "l": [[1, 2]]}
    path.write_bytes(path.read_bytes()[:-20])
    assert "cannot be read as parquet" in refused(path)
    pa.parquet.write_table(pa.table({"a": pa.array([], pa.int64())}), path)
    assert "has no rows" in refused(path)
    other = tmp_path / "b.parquet"
    pa.parquet.write_table(pa.table({"a": [1]}), path)
    pa.parquet.write_table(pa.table({"b": [1]}), other)
    assert "same columns" in refused([str(path), str(other)])


def test_text_stays_in_arrow_memory_and_numbers_become_numbers(tmp_path):
    batch = next(open_source(write(tmp_path / "a.csv", "t,n\nhello,1\n,2\n")).batches())
    assert isinstance(batch.columns.raw(0), pa.StringArray)
    batch.columns.raw(0).validate(full=True)
    assert as_numbers(batch.columns.raw(1), "n").tolist() == [1.0, 2.0]


def test_a_pass_given_up_early_leaves_nothing_behind(tmp_path):
    path = write(tmp_path / "a.csv", "n,f,t\n" + LONG * 5)
    source = open_source(path, **IN_BLOCKS)
    for _ in range(3):
        batches = source.batches()
        next(batches)
        batches.close()
    assert len(read(source)[0]["n"]) == 30_000


def test_reading_a_small_file_loads_neither_pandas_nor_other_readers(tmp_path):
    path = write(tmp_path / "a.csv", 'a,b,y\n1,"x",\n2.5,,no\n')
    lines = f"""
        import sys
        from candide.sources import open_source
        list(open_source({path!r}, label="y", labelled=False).batches())
        print([name for name in ("pandas", "pyarrow.parquet", "sqlite3", "sklearn") if name in sys.modules])
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(lines)], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


MEMORY = """
    import resource, sys, threading
    from candide.sources import open_source

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    small, large = sys.argv[1:]
    rows = sum(len(batch) for batch in open_source(small, label="label").batches())
    before = peak()
    rows = sum(len(batch) for batch in open_source(large, label="label").batches())
    print(rows, peak() - before)
"""


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet"])
def test_memory_does_not_follow_the_size_of_the_file(tmp_path, kind):
    line = '{0},{0}.25,red,"a text, with ""quotes"" and some more words to read",yes\n'
    chunk = "".join(line.format(i) for i in range(10_000)).encode()
    header = b"n,f,colour,text,label\n"
    repeats = 120_000_000 // len(chunk)
    small, large = tmp_path / f"small.{kind}", tmp_path / f"large.{kind}"
    for path, times in ((small, 1), (large, repeats)):
        if kind == "parquet":
            text = [f"text {i} with some more words to read, {'x' * 40}" for i in range(10_000)]
            table = pa.table({"n": range(10_000), "text": text, "label": ["yes"] * 10_000})
            with pa.parquet.ParquetWriter(path, table.schema, use_dictionary=False, compression="none") as out:
                for _ in range(times):
                    out.write_table(table)
        elif kind == "csv.gz":
            write(path, gzip.compress(header + chunk, 1) + gzip.compress(chunk, 1) * (times - 1))
        else:
            with open(path, "wb") as out:
                out.write(header)
                for _ in range(times):
                    out.write(chunk)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(MEMORY), str(small), str(large)], capture_output=True, text=True,
        env={**os.environ, "CANDIDE_THREADS": "2"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows, growth = done.stdout.split()
    assert int(rows) == 10_000 * repeats
    assert float(growth) < 80
