"""How a delimited file is written: its delimiter, line ends and header, decided from its beginning."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.csv as pa_csv

from candide.data.advice import Message, SetOption
from candide.data.errors import Location
from candide.sources.records import records_of
from candide.sources.refused import SourceRefused
from candide.sources.source import refuse_repeats

DELIMITERS = (",", "\t", ";", "|")
LOOKED_AT = 1 << 13


@dataclass(frozen=True)
class Header:
    """The column names of a file, and where its rows begin, as a byte and as a line; the record itself, and its end."""

    names: tuple[str, ...]
    start: int
    line: int
    unnamed: tuple[str, ...] = ()
    record: bytes = b""
    line_end: bytes = b"\n"


def newline_of(data: bytes) -> bytes:
    """What ends a line; old files know only the carriage return."""
    return b"\r" if b"\n" not in data and b"\r" in data else b"\n"


def delimiter_of(data: bytes) -> str:
    """The delimiter that gives most lines as many fields as the header has; a comma where none does.

    >>> delimiter_of(b"a;b\\n1,5;2\\n3;4\\n")
    ';'
    """
    best, best_score = ",", (0.0, 0)
    first_line = data.lstrip().split(b"\n", 1)[0].split(b"\r", 1)[0]
    for delimiter in DELIMITERS:
        if delimiter.encode() not in first_line:
            continue
        _, fields, _ = records_of(data[:LOOKED_AT], delimiter)
        fields = fields[fields > 0]
        rows = fields[:-1] if len(fields) > 2 else fields
        score = (round(float((rows == fields[0]).mean()), 1), int(fields[0]))
        if fields[0] > 1 and score > best_score:
            best, best_score = delimiter, score
    return best


def header_of(name: str, data: bytes, delimiter: str) -> Header:
    """The names in the first record. One without a name is called by its place: `column_1`."""
    begin, start = _first_record(name, data, delimiter)
    newline = newline_of(data)
    names = split_record(decoded_record(name, data[begin:start], data.count(newline, 0, begin) + 1), delimiter)
    names = [text.strip() for text in names]
    refuse_repeats([text for text in names if text], name)
    given = {index: f"column_{index + 1}" for index, text in enumerate(names) if not text}
    taken = set(given.values()) & set(names)
    if taken:
        raise SourceRefused(
            f"{name}: a column has no name and '{min(taken)}' is taken.",
            advice="Name it in the header.",
            where=Location(name, column=min(taken)),
        )
    line = data.count(newline, 0, start) + 1
    record = data[begin:start].rstrip(b"\r\n")
    return Header(
        tuple(given.get(index, text) for index, text in enumerate(names)), start, line, tuple(given.values()), record,
        data[begin + len(record) : start] or newline,
    )  # fmt: skip


def _first_record(name: str, data: bytes, delimiter: str) -> tuple[int, int]:
    """Where the first record that is not an empty line begins and ends."""
    begin = len(data) - len(data.lstrip(b"\r\n"))
    end = data.find(newline_of(data), begin) + 1 or len(data)
    if b'"' in data[begin:end]:
        starts, fields, is_open = records_of(data[begin:], delimiter)
        if is_open and len(fields) == 1:
            raise SourceRefused(
                f"{name}: a quote is opened in the header and never closed.", advice="Close it.", where=Location(name)
            )
        end = begin + int(starts[1])
    elif b"\r" in data[begin:end]:
        end = begin + int(records_of(data[begin:end], delimiter)[0][1])
    return begin, end


def decoded_record(name: str, record: bytes, line: int) -> str:
    """A record as text, or the advice to name the encoding."""
    try:
        return record.decode("utf-8")
    except UnicodeDecodeError as problem:
        said = f"{name}, line {line:,}: {not_utf8(record, problem.start)}"
        raise SourceRefused(said, advice=ENCODING_ADVICE, where=Location(name, line=line), expected="UTF-8") from None


ENCODING_ADVICE = Message("Name the encoding of the file, for example ", SetOption("encoding", "latin-1"), ".")


def not_utf8(data: bytes, position: int) -> str:
    """What is wrong with bytes that are not UTF-8, with the text around them."""
    around = data[max(position - 12, 0) : position + 12].decode("latin-1")
    return f"byte 0x{data[position]:02x} near {around!r} is not UTF-8."


def split_record(record: str, delimiter: str) -> list[str]:
    """The fields of one record, as the reader of whole blocks splits it.

    >>> split_record('a,"b, c",d', ",")
    ['a', 'b, c', 'd']
    """
    record = record.rstrip("\r\n")
    if '"' not in record:
        return record.split(delimiter)
    data = record.encode() + b"\n"
    columns = int(records_of(data, delimiter)[1][0])
    table = pa_csv.read_csv(
        pa.BufferReader(data),
        pa_csv.ReadOptions(autogenerate_column_names=True, use_threads=False, block_size=len(data) + 1),
        pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        pa_csv.ConvertOptions(column_types={f"f{index}": pa.string() for index in range(columns)}),
    )
    return [str(column[0].as_py()) for column in table.columns]
