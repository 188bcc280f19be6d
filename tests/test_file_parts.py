"""One large text file in several parts: cut between records, with the rows, lines and messages of the whole."""

from __future__ import annotations

import gzip
import json

import pytest

from candide.sources import SourceRefused, file_source
from candide.sources.opening import open_source

ROWS = 400
ROOM = {"batch_bytes": 700, "labelled": False}


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(file_source, "PART_BYTES", 1_000)
    monkeypatch.setattr(file_source, "SAMPLE", 700)


def delimited(end: str = "\n") -> str:
    """Rows of which some hold quotes, delimiters and line ends within quotes, and lines that look like others."""
    fields = ["plain", '"a, b"', f'"two{end}lines, 7{end}""said"" 3,4"', '"', "5"]
    fields[3] = f'"{end}{end}1,quoted{end}"'
    return f"number,what{end}" + "".join(f"{n},{fields[n % len(fields)]}{end}" for n in range(ROWS))


def objects() -> str:
    rows = [{"number": n, "what": "two\nlines"} | ({"late": n} if n > 300 else {}) for n in range(ROWS)]
    return "".join(f"{json.dumps(row)}\n" + "\n" * (n % 3 == 0) for n, row in enumerate(rows))


WRITTEN = {
    "lines.csv": delimited().encode(),
    "mark.csv": b"\xef\xbb\xbf" + delimited().encode(),
    "windows.csv": delimited("\r\n").encode(),
    "old.csv": delimited("\r").encode(),
    "unended.csv": delimited().encode().rstrip(),
    "tabs.tsv": delimited().replace(",", "\t").encode(),
    "lines.jsonl": objects().encode(),
}


def rows_of(source):
    """Every row of a source, late columns missing where a batch has not met them."""
    return [
        tuple((name, batch.columns.raw(at)[row].as_py()) for at, name in enumerate(batch.names))
        for batch in source.batches()
        for row in range(len(batch))
    ]


@pytest.mark.parametrize("name", WRITTEN)
def test_a_large_file_is_parted_between_its_records(name, tmp_path):
    (tmp_path / name).write_bytes(WRITTEN[name])
    source = open_source(tmp_path / name, **ROOM)
    parts = source.parts()
    assert len(parts) > 3
    assert sum(part.size.amount for part in parts) <= source.size.amount
    assert [row for part in parts for row in rows_of(part)] == rows_of(source)
    assert len(rows_of(source)) == ROWS


@pytest.mark.parametrize("name", ["lines.csv", "windows.csv", "lines.jsonl"])
def test_a_bad_row_of_a_part_has_the_line_of_the_file(name, tmp_path):
    (tmp_path / name).write_bytes(WRITTEN[name] + (b"1,2,3\n" if name.endswith("csv") else b"[3]\n"))
    source = open_source(tmp_path / name, **ROOM)
    with pytest.raises(SourceRefused) as here:
        rows_of(source)
    with pytest.raises(SourceRefused) as there:
        rows_of(source.parts()[-1])
    assert str(there.value) == str(here.value)
    assert there.value.where.line == here.value.where.line > ROWS


def test_an_open_quote_has_the_line_of_the_file(tmp_path):
    (tmp_path / "open.csv").write_text(delimited() + '401,"never closed\n1,2\n')
    source = open_source(tmp_path / "open.csv", **ROOM)
    with pytest.raises(SourceRefused, match="a quote is opened in this record and never closed") as here:
        rows_of(source)
    with pytest.raises(SourceRefused) as there:
        rows_of(source.parts()[-1])
    assert str(there.value) == str(here.value)


def test_what_cannot_be_cut_is_one_part(tmp_path):
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(WRITTEN["lines.csv"], 0))
    (tmp_path / "wide.csv").write_text(delimited(), encoding="utf-16")
    (tmp_path / "list.json").write_text(json.dumps([{"number": n} for n in range(ROWS)]))
    (tmp_path / "small.csv").write_text("a,b\n1,2\n")
    for name, more in (("rows.csv.gz", {}), ("wide.csv", {"encoding": "utf-16"}), ("list.json", {}), ("small.csv", {})):
        (part,) = open_source(tmp_path / name, **ROOM, **more).parts()
        assert part.byte_range is None
        assert rows_of(part)
