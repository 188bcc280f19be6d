"""One JSON object a line. Nested objects become columns with dotted names; a key may turn up in any line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.json as pa_json

from candide.data.advice import Message
from candide.data.cached import cached_property
from candide.data.errors import Location
from candide.kernels.nesting import DEEPEST, is_too_deep
from candide.sources.blocks import RecordBlock
from candide.sources.dialect import ENCODING_ADVICE, not_utf8
from candide.sources.file_source import first_sample
from candide.sources.kinds import KINDS, Kind, beyond_floats, one_chunk, settled
from candide.sources.originals import OriginalRows
from candide.sources.origins import Origin
from candide.sources.refused import SourceRefused, reason_of
from candide.sources.rejects import SKIP, Place, Reject, shortened
from candide.sources.source import Piece, unnested, with_outer

NUMBER, INTEGER = KINDS["number"], KINDS["integer"]
Line = tuple[int, bytes]
ADVICE = Message("Mend the line, or leave such lines out with ", SKIP, ".")


NOTHING_LINE = re.compile(rb"(?:\A|\n)[ \t\r]*null")
"""A line of null, which Arrow takes for a row or, where it comes first, dies of."""


class TooDeep(ValueError):
    """Some lines hold more brackets within brackets than a parser can be trusted with."""


class JsonLines:
    """The columns that a sample of the lines has, and how a block of lines becomes columns.

    A key that the sample has not is a new column from the block in which it turns up, typed as it looks there. A key
    that is absent or null is missing; "" is an empty text, since JSON can tell the two apart.
    """

    newline = b"\n"
    format = "jsonl"
    begins_anywhere = True

    def __init__(self, schema: Any = None, columns: tuple[str, ...] = (), exact: frozenset[str] = frozenset()):
        self.schema = schema if schema is not None else pa.schema([])
        self.columns = columns
        self.returned = with_outer(columns)
        self.exact = exact
        self.kinds: dict[str, Kind] = {}

    @classmethod
    def of(cls, origins: tuple[Origin, ...], encoding: str | None) -> JsonLines:
        """Decide names and types from the beginning of the first file that has lines."""
        guess = cls()
        name, sample, is_all = first_sample(
            origins, encoding, lambda name, data: guess.has_record(data), lambda name, data: bool(data.strip())
        )
        start, number = guess.enter(name, sample)
        rows = sample[start:] if is_all else sample[start : start + guess.end_of_records(sample[start:])]
        lines = guess.lines(RecordBlock(rows, name, number, 0, is_all, is_first=True)).found
        tables = [found for found in guess._tables(lines, name) if not isinstance(found, Reject)]
        if not tables:
            rejects = [found for found in guess._tables(lines[:1], name) if isinstance(found, Reject)]
            raise rejects[0].refused if rejects else SourceRefused(
                f"{name} has no rows that can be read.", where=Location(name)
            )
        first = max((table for table, _ in tables), key=lambda table: table.num_rows)
        flat_table = unnested(first, name)
        exact = {
            column
            for column in flat_table.column_names
            if pa.types.is_integer(flat_table[column].type) and beyond_floats(flat_table[column])
        }
        schema = pa.schema([part for part in first.schema if not pa.types.is_null(part.type)])
        return cls(schema, tuple(flat_table.column_names), frozenset(exact))

    def enter(self, name: str, head: bytes) -> tuple[int, int]:
        return 0, 1

    def has_record(self, head: bytes) -> bool:
        return bool(head[: self.end_of_records(head)].strip())

    def end_of_records(self, data: bytes) -> int:
        return data.rfind(b"\n") + 1

    def lines(self, block: RecordBlock) -> NonEmptyLines:
        """The lines of a block."""
        return NonEmptyLines(block)

    def parse(self, block: RecordBlock) -> list[Piece]:
        """The rows of a block; bad lines as rejects."""
        lines = self.lines(block)
        try:
            return [self._piece(self._read(lines.block.data), lines, slice(None), block.taken)]
        except ValueError:
            pieces: list[Piece] = []
            start = 0
            for found in self._tables(lines.found, block.name):
                taken = 0 if pieces else block.taken
                if isinstance(found, Reject):
                    original = lines.original(slice(start, start + 1), 1).take(slice(0))
                    pieces.append(Piece((), (), 0, lines.place, taken, (found,), original=original))
                    start += 1
                else:
                    table, length = found
                    pieces.append(self._piece(table, lines, slice(start, start + length), taken))
                    start += length
            return pieces

    def describe(self) -> dict[str, Any]:
        return {"format": self.format, "types": {part.name: str(part.type) for part in self.schema}}

    def _piece(self, table: Any, lines: NonEmptyLines, which: slice, taken: int) -> Piece:
        start = which.start or 0
        table = unnested(table, lines.block.name)
        names = tuple(table.column_names)
        columns = tuple(
            settled(one_chunk(column), INTEGER if name in self.exact else NUMBER)
            for name, column in zip(names, table.columns, strict=True)
        )
        return Piece(
            names,
            columns,
            table.num_rows,
            lambda row: lines.place(start + row),
            taken,
            (),
            lambda row: lines.text(start + row),
            lines.original(which, table.num_rows),
        )

    def _tables(self, lines: list[Line], name: str) -> Iterator[tuple[Any, int] | Reject]:
        """Tables of all lines that can be read, in order, and a reject for each line that cannot.

        Lines that cannot be read together are halved until they can: the bad one ends up alone.
        """
        if not lines:
            return
        try:
            yield self._read(b"\n".join(data for _, data in lines)), len(lines)
        except ValueError as problem:
            if len(lines) == 1:
                number, data = lines[0]
                yield self._reject(Place(name, "line", number), data, problem)
                return
            middle = len(lines) // 2
            yield from self._tables(lines[:middle], name)
            yield from self._tables(lines[middle:], name)

    def _read(self, data: bytes) -> Any:
        """A table of some lines; whole numbers give way to broken ones where that helps."""
        if is_too_deep(data):
            raise TooDeep
        if b"null" in data and NOTHING_LINE.search(data):
            raise ValueError("null is no object")
        if not data.isascii():
            data.decode("utf-8")
        try:
            table = _parsed(data, self.schema)
        except ValueError:
            table = _parsed(data, widened(self.schema, self.exact))
        if table.num_rows != count_objects(data):
            raise ValueError("not one object in one line")
        return table

    def _reject(self, place: Place, data: bytes, problem: ValueError) -> Reject:
        text = data.decode("utf-8", "backslashreplace")
        if isinstance(problem, TooDeep):
            reason = f"objects and lists are nested more than {DEEPEST} deep."
            return Reject(place, reason, ADVICE, "", text)
        if isinstance(problem, UnicodeDecodeError):
            return Reject(place, not_utf8(data, problem.start), ENCODING_ADVICE, "", text, expected="UTF-8")
        try:
            found = json.loads(data)
        except ValueError as wrong:
            return Reject(place, f"not a JSON object: {reason_of(wrong)}.", ADVICE, "", text, expected="a JSON object")
        if not isinstance(found, dict):
            return Reject(place, f"{shortened(text)} is not a JSON object.", ADVICE, "", text, expected="a JSON object")
        for name, value in found.items():
            if name in self.schema.names and not is_of_type(value, self.schema.field(name).type):
                expected = type_in_words(self.schema.field(name).type)
                reason = f"key '{name}' holds {shortened(json.dumps(value))}, but {expected} was expected."
                return Reject(place, reason, ADVICE, name, text)
        return Reject(place, f"{reason_of(problem)}.", ADVICE, "", text)


@dataclass
class NonEmptyLines:
    """The lines of a block that are not empty, found only when something must be said about one of them."""

    block: RecordBlock

    @cached_property
    def found(self) -> list[Line]:
        lines = self.block.data.split(b"\n")
        return [(self.block.line + index, line) for index, line in enumerate(lines) if line.strip()]

    def original(self, which: slice, rows: int) -> OriginalRows:
        """Some of the lines as they are."""
        return OriginalRows(rows, lambda: fields_of(self._some(which, rows)), lambda: self._some(which, rows))

    def _some(self, which: slice, rows: int) -> Any:
        """Lines as Arrow bytes; none where a line holds several objects, or an object several lines."""
        found = [line.strip() for _, line in self.found[which]]
        return pa.array(found, pa.large_binary()) if len(found) == rows else None

    def place(self, row: int) -> Place:
        return Place(self.block.name, "line", self.found[min(row, len(self.found) - 1)][0])

    def text(self, row: int) -> str:
        return self.found[min(row, len(self.found) - 1)][1].decode("utf-8", "backslashreplace").rstrip("\r")


def count_objects(data: bytes) -> int:
    """How many lines begin and end with a brace, empty ones left out; -1 where another line is among them.

    A parser is content with objects over several lines, but blocks are cut where lines end.

    >>> count_objects(b'{"a": 1}\\n\\n {"a": {}}'), count_objects(b'{"a":\\n1}')
    (2, -1)
    """
    ends = data.count(b"\n")
    if data[:1] == b"{" and data.count(b"\n{") == ends - 1 and data.count(b"}\n") == ends and data[-1:] == b"\n":
        return ends
    lines = [line for line in map(bytes.strip, data.split(b"\n")) if line]
    return len(lines) if all(line[:1] == b"{" and line[-1:] == b"}" for line in lines) else -1


def fields_of(lines: Any) -> Any:
    """The columns of lines of JSON, every value as it was written; None where there are no lines to tell from."""
    if lines is None:
        return None
    rows = [dict(fields_in(line)) for line in lines.to_pylist()]
    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table({name: pa.array([row.get(name) for row in rows], pa.string()) for name in names})


def fields_in(line: bytes) -> Iterator[tuple[str, str]]:
    """The names and texts of one object, nested ones dotted; nothing from a line that is none.

    >>> list(fields_in(b'{"id": 12345678901234567890123, "price": {"net": 1.10, "paid": true}}'))
    [('id', '12345678901234567890123'), ('price.net', '1.10'), ('price.paid', 'true')]
    """
    try:
        value = json.loads(line, parse_int=WrittenNumber, parse_float=WrittenNumber, parse_constant=WrittenNumber)
        yield from flattened("", value)
    except (ValueError, RecursionError):
        return


class WrittenNumber(str):
    """A number as it is written."""


def flattened(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """The fields in a value: those of an object each, else its text."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flattened(f"{name}.{key}" if name else key, inner)
    elif value is not None and name:
        yield name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _parsed(data: bytes, schema: Any) -> Any:
    if not data.strip():
        return schema.empty_table()
    return pa_json.read_json(
        pa.BufferReader(data),
        pa_json.ReadOptions(use_threads=False, block_size=len(data) + 1),
        pa_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="infer"),
    )


def widened(schema: Any, exact: frozenset[str] = frozenset()) -> Any:
    """The same schema with float64 for whole numbers, nested ones too, except those kept exactly."""
    return pa.schema([part if part.name in exact else part.with_type(_wide(part.type)) for part in schema])


def _wide(kind: Any) -> Any:
    if pa.types.is_struct(kind):
        return pa.struct([part.with_type(_wide(part.type)) for part in kind])
    return pa.float64() if pa.types.is_integer(kind) else kind


def is_of_type(value: Any, kind: Any) -> bool:
    """Whether a JSON value is of the kind that its key had in the sample."""
    if value is None:
        return True
    if pa.types.is_struct(kind):
        inner = {part.name: part.type for part in kind}
        return isinstance(value, dict) and all(is_of_type(v, inner[k]) for k, v in value.items() if k in inner)
    if pa.types.is_list(kind):
        return isinstance(value, list)
    if pa.types.is_boolean(kind):
        return isinstance(value, bool)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, str) and not pa.types.is_timestamp(kind)


def type_in_words(kind: Any) -> str:
    """An Arrow type in words."""
    words = (
        (pa.types.is_struct, "an object"),
        (pa.types.is_list, "a list"),
        (pa.types.is_boolean, "true or false"),
        (pa.types.is_integer, "a number"),
        (pa.types.is_floating, "a number"),
        (pa.types.is_timestamp, "a time such as 2026-01-31T12:00:00"),
    )
    return next((word for is_one, word in words if is_one(kind)), "text")
