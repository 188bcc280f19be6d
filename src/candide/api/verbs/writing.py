"""Tables written as they come: csv, tsv, jsonl or parquet, to a file that is whole or not there, or to a stream."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from candide.api.verbs.compressing import compressed, stem_of
from candide.data.advice import NamedOption
from candide.data.errors import CandideError, Location, OptionRefused
from candide.data.readable import in_one_type
from candide.store.atomic import replace_file
from candide.store.refusals import not_written

Output = str | os.PathLike[str] | BinaryIO
TEXTUAL = ("csv", "tsv")
FORMATS = (*TEXTUAL, "jsonl", "parquet")
ENDINGS = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl",
           ".parquet": "parquet", ".pq": "parquet"}  # fmt: skip


RUNS = "^[-=+@\t\r]"
"""How a field begins that spreadsheets take for a formula; a number is none."""

NUMBER = r"^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$"


def format_for(output: Output, asked: str | None) -> str:
    """The format of an output: as asked, else by its name, else csv.

    >>> format_for("answers.jsonl", None), format_for("answers.txt", "tsv")
    ('jsonl', 'tsv')
    """
    if asked is not None:
        if asked not in FORMATS:
            raise OptionRefused.of_name(f"'{asked}' is no format to write.", asked, FORMATS)
        return asked
    if not isinstance(output, (str, os.PathLike)):
        return "csv"
    name = os.fspath(output)
    ending = os.path.splitext(stem_of(name))[1].lower()
    if ending and ending not in ENDINGS and os.path.isfile(name) is False and not name.startswith("/dev/"):
        raise OptionRefused.of_name(
            f"'{name}' names no format that is written here.", ending[1:], FORMATS, where=Location(name)
        )
    return ENDINGS.get(ending, "csv")


def names_format(output: Output, asked: str | None) -> bool:
    """Whether a format was asked for: by an option, or by the name of a file."""
    if asked is not None or not isinstance(output, (str, os.PathLike)):
        return asked is not None
    return os.path.splitext(stem_of(os.fspath(output)))[1].lower() in ENDINGS


def write(pieces: Iterable[bytes], output: Output) -> None:
    """Write pieces one after the other, compressed where the file's name says so.

    A file appears once it is whole; if anything fails, the old one stays.
    """
    if not isinstance(output, (str, os.PathLike)):
        for piece in pieces:
            output.write(piece)
            output.flush()
        return
    to_path(compressed(pieces, os.fspath(output)), output)


def to_path(pieces: Iterable[bytes], output: str | os.PathLike[str]) -> None:
    """Write pieces to a file, a device or a pipe."""
    try:
        if is_special(output):
            with open(output, "wb", buffering=0) as stream:
                write_all(stream, pieces)
        else:
            replace_file(output, pieces)
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise not_written(f"'{os.fspath(output)}'", problem) from problem


def write_text(text: str, output: str | os.PathLike[str]) -> None:
    """Write a text to a file that is whole or not there."""
    to_path([text.encode("utf-8", "replace")], output)


def write_all(stream: Any, pieces: Iterable[Any]) -> None:
    """Every piece, whole."""
    for piece in pieces:
        view = memoryview(piece)
        while view.nbytes:
            view = view[stream.write(view) :]


def is_special(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a device or a pipe, which must be written to and not replaced."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def encoded_tables(tables: Iterable[Any], format: str, safe: bool = False) -> Iterator[bytes]:
    """The bytes of tables in a format."""
    if format == "parquet":
        yield from parquet(tables)
    elif format == "jsonl":
        for table in tables:
            yield json_lines(table)
    else:
        yield from delimited(tables, "," if format == "csv" else "\t", safe)


def delimited(tables: Iterable[Any], delimiter: str, safe: bool = False) -> Iterator[bytes]:
    """A header, then rows; a field has quotes only where it needs them."""

    def lines(columns: Iterable[Any]) -> bytes:
        texts = map(column_as_text, columns)
        return joined_fields([quoted(defused(text) if safe else text, delimiter) for text in texts], delimiter)

    names = None
    for table in tables:
        if names is None:
            names = table.column_names
            yield lines(pa.array([name], pa.large_string()) for name in names)
        if table.num_rows:
            yield lines(table.columns)


def joined_fields(columns: list[Any], delimiter: str) -> bytes:
    """Fields joined to lines, all at once."""
    if len(columns) == 1:
        columns = [pc.if_else(pc.equal(columns[0], ""), '""', columns[0])]
    fields = [column.cast(pa.large_binary()) for column in columns]
    lines = joined_bytes(fields, delimiter.encode())
    return bytes_of_lines(joined_bytes([lines, pa.scalar(b"\n", pa.large_binary())], b""))


def joined_bytes(columns: list[Any], between: bytes) -> Any:
    """Columns of bytes, joined row by row."""
    return pc.binary_join_element_wise(*columns, pa.scalar(between, pa.large_binary()))


def bytes_of_lines(lines: Any) -> bytes:
    """All rows of a column of bytes, one behind the other."""
    _, offsets, data = lines.buffers()
    cuts = np.frombuffer(offsets, np.int64)[lines.offset : lines.offset + len(lines) + 1]
    return bytes(memoryview(data)[int(cuts[0]) : int(cuts[-1])]) if data is not None else b""


def column_as_text(column: Any) -> Any:
    """A column as text, empty where missing."""
    column = one_array(column)
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    try:
        text = column.cast(pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        text = pa.array([None if v is None else str(v) for v in column.to_pylist()], pa.large_string())
    return pc.fill_null(text, pa.scalar("", pa.large_string()))


def refuse_unsafe(safe: bool, format: str | None) -> None:
    """Only in delimited text would a spreadsheet run a field."""
    if safe and format not in TEXTUAL:
        raise OptionRefused(NamedOption("safe"), " is for csv and tsv files, where a spreadsheet would run a field.")


def defused(text: Any) -> Any:
    """Fields that a spreadsheet shows and does not run: an apostrophe stands before whatever looks like a formula.

    >>> defused(pa.array(["=1+1", "@home", "-2.5", "plain"], pa.large_string())).to_pylist()
    ["'=1+1", "'@home", '-2.5', 'plain']
    """
    runs = pc.and_(pc.match_substring_regex(text, RUNS), pc.invert(pc.match_substring_regex(text, NUMBER)))
    mark = pa.scalar("'", pa.large_string())
    return pc.if_else(runs, pc.binary_join_element_wise(mark, text, pa.scalar("", pa.large_string())), text)


def quoted(text: Any, delimiter: str) -> Any:
    """Text with quotes around the fields that hold a delimiter, a quote or a line's end."""
    needs = pc.match_substring_regex(text, f'[{delimiter}"\r\n]|^ | $')
    if not pc.any(needs, min_count=0).as_py():
        return text
    mark = pa.scalar('"', pa.large_string())
    doubled = pc.replace_substring(text, '"', '""')
    return pc.if_else(needs, pc.binary_join_element_wise(mark, doubled, mark, pa.scalar("", pa.large_string())), text)


def json_lines(table: Any) -> bytes:
    """One object a line."""
    return b"".join(line + b"\n" for line in objects_in(table))


def objects_in(table: Any) -> list[bytes]:
    """Each row as an object; what JSON cannot say (dates, infinite numbers) is text or null."""
    names = table.column_names
    columns = [plain_values(column) for column in table.columns]
    dumps = json.JSONEncoder(ensure_ascii=False, default=str).encode
    return [dumps(dict(zip(names, row, strict=True))).encode("utf-8", "replace") for row in zip(*columns, strict=True)]


def plain_values(column: Any) -> list[Any]:
    """Python values, with null for numbers that are none."""
    values: list[Any] = column.to_pylist()
    if pa.types.is_floating(column.type):
        return [value if value is not None and np.isfinite(value) else None for value in values]
    return values


class Gathering:
    """A file in memory that is emptied as it is filled."""

    closed = False

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0

    def write(self, data: Any) -> int:
        part = bytes(data)
        self.parts.append(part)
        self.size += len(part)
        return len(part)

    def tell(self) -> int:
        return self.size

    def flush(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        self.closed = True

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def emptied(self) -> bytes:
        """What was written since last time."""
        parts, self.parts = self.parts, []
        return b"".join(parts)


def parquet_holds(schema: Any) -> bool:
    """Whether Parquet has all these types; a few of Arrow's it has not."""
    import pyarrow.parquet as pa_parquet

    try:
        pa_parquet.ParquetWriter(Gathering(), schema).close()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False
    return True


def parquet(tables: Iterable[Any]) -> Iterator[bytes]:
    """One Parquet file, whose types are those of the first table."""
    import pyarrow.parquet as pa_parquet

    sink = Gathering()
    writer = None
    for table in tables:
        if writer is None:
            schema = table.schema
            writer = pa_parquet.ParquetWriter(sink, schema)
        try:
            writer.write_table(table.cast(schema))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as problem:
            raise CandideError(
                f"A column changes its type between rows, which Parquet cannot hold ({str(problem).splitlines()[0]}).",
                advice="Write csv or jsonl instead.",
            ) from None
        yield sink.emptied()
    if writer is not None:
        writer.close()
    yield sink.emptied()


def one_array(column: Any) -> Any:
    """A column in one piece, its values as they are and not as codes."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def column_of(raw: Any) -> Any:
    """A batch's column in Arrow memory; a mixture of types as text."""
    if isinstance(raw, (pa.Array, pa.ChunkedArray)):
        return raw
    return in_one_type(raw.tolist() if isinstance(raw, np.ndarray) else raw)
