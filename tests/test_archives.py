"""Compressed and archived files, read and written."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import random
import zipfile

import pyarrow as pa
import pyarrow.parquet
import pytest

from candide.api import verbs
from candide.data.errors import CandideError
from candide.sources import open_source

CSV = "x,y\n" + "".join(f"{index},{'ab'[index % 2]}\n" for index in range(2_000))
SQUEEZE = {
    ".gz": gzip.compress,
    ".zst": lambda data: pa.Codec("zstd").compress(data, asbytes=True),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}
UNPACK = {
    ".gz": gzip.decompress,
    ".zst": lambda data: pa.CompressedInputStream(pa.BufferReader(data), "zstd").read(),
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
}


def write(path, data):
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return str(path)


def zipped(members, **options):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data, **options)
    return file.getvalue()


def rows_of(path, **options):
    return sum(len(batch) for batch in open_source(path, label="y", **options).batches())


def refused(path, **options):
    with pytest.raises(CandideError) as problem:
        rows_of(path, **options)
    assert path in str(problem.value)
    return str(problem.value)


@pytest.mark.parametrize("ending", SQUEEZE)
@pytest.mark.parametrize("batch_bytes", [1_000, 2 << 20])
def test_compressed_files_are_read(tmp_path, ending, batch_bytes):
    squeezed = SQUEEZE[ending](CSV.encode())
    assert rows_of(write(tmp_path / f"a.csv{ending}", squeezed), batch_bytes=batch_bytes) == 2_000
    assert rows_of(write(tmp_path / "no_name", squeezed)) == 2_000
    twice = squeezed + SQUEEZE[ending](CSV.encode()[4:])
    assert rows_of(write(tmp_path / f"twice.csv{ending}", twice)) == 4_000


@pytest.mark.parametrize("ending", [*SQUEEZE, ".zip"])
def test_damaged_files_are_refused_by_name(tmp_path, ending):
    noise = random.Random(0).randbytes(20_000).hex()
    data = f"x,y\n{noise},a\n{noise},b\n".encode()
    squeezed = zipped({"a.csv": data}) if ending == ".zip" else SQUEEZE[ending](data)
    for cut in (len(squeezed) // 2, len(squeezed) - 5):
        refused(write(tmp_path / f"cut.csv{ending}", squeezed[:cut]))
    if ending == ".zst":
        return  # Arrow writes no checksum, so that changed text is text
    changed = bytearray(squeezed)
    changed[len(changed) // 2] ^= 0xFF
    refused(write(tmp_path / f"changed.csv{ending}", bytes(changed)))


def test_a_zip_archive_is_read_like_its_files(tmp_path):
    one = write(tmp_path / "one.zip", zipped({"data/rows.csv": CSV, "__MACOSX/data/._rows.csv": "x", ".hidden": "x"}))
    assert rows_of(one) == 2_000
    several = {"a.csv": CSV, "b.csv": CSV, "c.csv.gz": gzip.compress(CSV.encode())}
    assert rows_of(write(tmp_path / "three.zip", zipped(several))) == 6_000
    assert rows_of([write(tmp_path / "plain.csv", CSV), one]) == 4_000
    sink = io.BytesIO()
    pyarrow.parquet.write_table(pa.table({"x": [1, 2], "y": ["a", "b"]}), sink)
    assert rows_of(write(tmp_path / "parquet.zip", zipped({"a.parquet": sink.getvalue()}))) == 2
    lines = '{"x": 1, "y": "a"}\n{"x": 2, "y": "b"}\n'
    assert rows_of(write(tmp_path / "lines.zip", zipped({"a.jsonl": lines}))) == 2


def test_a_zip_archive_comes_through_a_pipe(tmp_path):
    read, handle = os.pipe()
    with open(handle, "wb") as file:
        file.write(zipped({"a.csv": CSV}))
    assert rows_of(f"/dev/fd/{read}") == 2_000
    os.close(read)


def test_archives_that_are_refused(tmp_path):
    mixed = write(tmp_path / "mixed.zip", zipped({"a.csv": CSV, "b.jsonl": '{"x": 1, "y": "a"}\n'}))
    assert "b.jsonl' is jsonl" in refused(mixed)
    sheet = zipped({"[Content_Types].xml": "<x/>", "xl/workbook.xml": "<x/>"})
    assert "spreadsheet" in refused(write(tmp_path / "a.xlsx", sheet))
    assert "without files" in refused(write(tmp_path / "none.zip", zipped({"folder/": ""})))
    inner = write(tmp_path / "in.zip", zipped({"a.zip": zipped({"a.csv": CSV})}))
    assert "zip archive inside" in refused(inner)
    database = write(tmp_path / "db.zip", zipped({"a.sqlite": b"SQLite format 3\0" + b"\0" * 100}))
    assert "in an archive" in refused(database)
    locked = bytearray(zipped({"a.csv": CSV}))
    for index in (locked.index(b"PK\x03\x04") + 6, locked.index(b"PK\x01\x02") + 8):
        locked[index] |= 1
    assert "password" in refused(write(tmp_path / "locked.zip", bytes(locked)))


@pytest.mark.parametrize("ending", SQUEEZE)
@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_answers_and_samples_are_written_compressed(tmp_path, ending, format):
    data = write(tmp_path / "a.csv", CSV)
    model = verbs.fit(data, "y", families="guess", smoothing="default", calibrate=False)
    plain, squeezed = tmp_path / f"b.{format}", tmp_path / f"b.{format}{ending}"
    verbs.predict(model, data, plain)
    verbs.predict(model, data, squeezed)
    first = squeezed.read_bytes()
    assert UNPACK[ending](first) == plain.read_bytes()
    verbs.predict(model, data, squeezed)
    assert squeezed.read_bytes() == first
    verbs.sample(model, 5, seed=1, output=squeezed, force=True)
    assert sum(len(batch) for batch in open_source(str(squeezed)).batches()) == 5
