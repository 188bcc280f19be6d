"""Rows that come back as they were, with answers beside them.

| from | to | the rows |
|---|---|---|
| csv, tsv, ... | the same delimiter | byte for byte |
| csv, tsv, ... | another delimiter | the text of every field |
| csv, tsv, ... | jsonl | numbers and truth values as they were written where JSON can say them, else text |
| jsonl | jsonl | byte for byte, up to the last brace |
| jsonl | csv, tsv | every value as it was written |
| csv, tsv, jsonl | parquet, a table | values as they were read, since typed columns know no spelling |
| parquet, arrow, frames, databases | parquet, a table | values of unchanged type |

A row that could not be read and yet comes back has no answer beside it. Among columns of values that were read from
text, nothing of it is left but its place.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from candide.api.verbs.answers import Answers
from candide.api.verbs.writing import (
    bytes_of_lines,
    column_as_text,
    column_of,
    defused,
    joined_bytes,
    objects_in,
    parquet_holds,
    quoted,
)
from candide.data.advice import SetOption
from candide.data.batch import Batch
from candide.data.errors import Location, RowsRefused
from candide.sources import Source
from candide.sources.arrow_types import simplified
from candide.sources.delimited import Delimited
from candide.sources.file_source import FileSource
from candide.sources.json_lines import JsonLines
from candide.sources.kinds import Kind
from candide.sources.originals import OriginalRows
from candide.sources.source import unnested

JSON_NUMBER = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$"
NEVER = "$^."
JSON_LITERALS = {"number": JSON_NUMBER, "integer": JSON_NUMBER, "truth": "^(true|false)$"}


@dataclass(frozen=True)
class Passing:
    """How the rows of a source come back; `added` names the answers.

    `keeps` is for rows that could not be read: they come back, too.
    """

    source: Source
    added: tuple[str, ...]
    keeps: bool

    @property
    def reader(self) -> Any:
        """What reads a text file; None where rows are typed already."""
        return self.source.reader if isinstance(self.source, FileSource) else None

    def original(self, batch: Batch) -> OriginalRows:
        """The rows as they were: those of a table in memory are as they are."""
        if isinstance(batch.original, OriginalRows):
            return batch.original
        return OriginalRows(len(batch), lambda: as_read(batch, self.source.columns))

    def returning(self, original: OriginalRows, rows: Any) -> Any:
        """Those that come back, of all rows there are."""
        return rows if self.keeps or original.is_whole else rows.take(pa.array(original.indices))

    def in_place(self, original: OriginalRows, columns: Sequence[Any]) -> list[Any]:
        """What there is for the rows that were read, in their places; missing in those of others."""
        if not self.keeps or original.is_whole:
            return list(columns)
        indices = np.full(original.length, -1)
        indices[original.indices] = np.arange(len(original.indices))
        wanted = pa.array(indices, mask=indices < 0)
        return [column.take(wanted) for column in columns]

    def refuse_late(self, batch: Batch) -> None:
        """A header, once written, has room for no other column."""
        late = [name for name in batch.names if name not in set(self.source.columns)]
        if late:
            raise RowsRefused(
                f"{self.source.name} brings in a new column '{late[0]}' after row {batch.start:,}.",
                advice="Give every row the same columns, or name the column in the first rows.",
                where=Location(self.source.name, batch.start, late[0]),
            )


@dataclass(frozen=True)
class AsRecords(Passing):
    """As delimited text; `safe` for a spreadsheet, which would run some fields; `digits` of probabilities, or all."""

    delimiter: str
    safe: bool = False
    digits: int | None = None

    @property
    def is_same(self) -> bool:
        """Whether records can stay as they are."""
        is_text = isinstance(self.reader, Delimited) and self.reader.delimiter == self.delimiter
        return is_text and not self.safe and self.source.selection.columns is None

    def header(self, names: Sequence[str]) -> bytes:
        """The names of all columns; those of the input as they were written."""
        added = [*([] if self.is_same else names), *self.added]
        fields = self._fields(pa.array(added, pa.large_string())).to_pylist()
        own = [self.reader.header] if self.is_same else []
        return self.delimiter.encode().join([*own, *(field.encode() for field in fields)]) + self._line_end

    def rows(self, batch: Batch, answers: Answers) -> tuple[Sequence[str], bytes]:
        """The names of the columns, and the rows."""
        original = self.original(batch)
        names, lines = self._lines(batch, original)
        answered = self.in_place(original, [self._fields(column) for column in answers.texts(self.digits)])
        fields = [pc.fill_null(field, "").cast(pa.large_binary()) for field in answered]
        whole = joined_bytes([self.returning(original, lines), *fields], self.delimiter.encode())
        return names, bytes_of_lines(joined_bytes([whole, pa.scalar(self._line_end, pa.large_binary())], b""))

    @property
    def _line_end(self) -> bytes:
        return self.reader.line_end if self.is_same else b"\n"

    def _lines(self, batch: Batch, original: OriginalRows) -> tuple[Sequence[str], Any]:
        if self.is_same and original.lines is not None:
            return self.source.columns, original.lines()
        self.refuse_late(batch)
        table = unnested(text_table(self, batch, original), self.source.name)
        fields = [self._fields(column_as_text(column)).cast(pa.large_binary()) for column in table.columns]
        return table.column_names, joined_bytes(fields, self.delimiter.encode())

    def _fields(self, texts: Any) -> Any:
        """Texts as fields."""
        return quoted(defused(texts) if self.safe else texts, self.delimiter)


@dataclass(frozen=True)
class AsObjects(Passing):
    """As one JSON object a line."""

    def header(self, names: Sequence[str]) -> bytes:
        """There is none."""
        return b""

    def rows(self, batch: Batch, answers: Answers) -> tuple[Sequence[str], bytes]:
        """No names, and the rows."""
        original = self.original(batch)
        lines = self._lines(batch, original)
        answered = self.in_place(original, answers.literals())
        literals = [pc.fill_null(literal, "null").cast(pa.large_binary()) for literal in answered]
        rows = self._spliced(self.returning(original, lines), literals)
        if self.keeps and not original.is_whole:
            rows = self._with_broken(original, lines, rows)
        return (), bytes_of_lines(rows)

    def _lines(self, batch: Batch, original: OriginalRows) -> Any:
        """The rows as objects, without answers."""
        if isinstance(self.reader, JsonLines):
            self._refuse_taken(batch)
            found = original.lines() if original.lines is not None else None
            return found if found is not None else objects_of(as_read(batch, batch.names))
        return self._of_text(original) if isinstance(self.reader, Delimited) else objects_of(original.table())

    def _of_text(self, original: OriginalRows) -> Any:
        """Fields of text as JSON: the numbers of a column of numbers as they are written."""
        table = original.table()
        literals = [literals_of(table.column(name), self.reader.kinds[name]) for name in table.column_names]
        return joined_bytes([scalar("{"), *keyed(table.column_names, literals), scalar("}")], b"")

    def _spliced(self, lines: Any, literals: Sequence[Any]) -> Any:
        """Objects with further keys before their last brace."""
        opened = pc.binary_slice(lines, 0, -1)
        is_empty = pc.match_substring_regex(opened, r"^\{\s*$")
        comma = pc.if_else(is_empty, scalar(""), scalar(", "))
        return joined_bytes([opened, comma, *keyed(self.added, literals), scalar("}\n")], b"")

    def _with_broken(self, original: OriginalRows, lines: Any, rows: Any) -> Any:
        """A line that is no object comes back as it is: nothing can be written into it."""
        found = rows.to_pylist()
        for index in sorted({*range(original.length)} - {*original.indices.tolist()}):
            line = lines[index].as_py()
            found[index] = found[index] if is_object(line) else line + b"\n"
        return pa.array(found, pa.large_binary())

    def _refuse_taken(self, batch: Batch) -> None:
        taken = {name.split(".")[0] for name in batch.names} & set(self.added)
        if taken:
            raise RowsRefused(
                f"{self.source.name} brings in a key '{min(taken)}' after row {batch.start:,}, but an answer is called "
                "so.",
                advice=("Name the answers otherwise: ", SetOption("answer"), "."),
                where=Location(self.source.name, batch.start, min(taken)),
            )


@dataclass(frozen=True)
class AsTables(Passing):
    """As Arrow tables. `widens` is for a file that needs one type a column, where 2.5 may follow whole numbers."""

    widens: bool

    def rows(self, batch: Batch, answers: Answers) -> Any:
        """A table of the rows and their answers."""
        original = self.original(batch)
        table = self._values(batch, original)
        answered = self.in_place(original, answers.columns())
        fields = [pa.field(name, column.type) for name, column in zip(self.added, answered, strict=True)]
        schema = pa.schema([*table.schema, *fields], table.schema.metadata)
        return pa.Table.from_arrays([*table.columns, *answered], schema=schema)

    def _values(self, batch: Batch, original: OriginalRows) -> Any:
        if self.reader is None:
            table = self.returning(original, original.table())
            return table if not self.widens or parquet_holds(table.schema) else simplified(table)
        self.refuse_late(batch)
        table = as_read(batch, self.source.columns)
        columns = [self._widened(name, table.column(name)) for name in table.column_names]
        return pa.table(self.in_place(original, columns), table.column_names)

    def _widened(self, name: str, column: Any) -> Any:
        is_whole = pa.types.is_int64(column.type) and name not in self.reader.exact
        return column.cast(pa.float64()) if self.widens and is_whole else column


def as_read(batch: Batch, names: Sequence[str]) -> Any:
    """The columns of a batch as a table."""
    full = batch.with_missing(names)
    return pa.table([column_of(full.columns.raw(full.position(name))) for name in names], list(names))


def text_table(passing: Passing, batch: Batch, original: OriginalRows) -> Any:
    """The rows as columns, of text files the text of each field, whichever fields a part of the lines has."""
    table = original.table()
    if table is None:
        return as_read(batch, passing.source.columns)
    if not isinstance(passing.reader, JsonLines):
        return table
    nothing = pa.nulls(table.num_rows, pa.string())
    names = passing.source.columns
    return pa.table([table.column(n) if n in table.column_names else nothing for n in names], list(names))


def objects_of(table: Any) -> Any:
    """Rows as JSON objects; what JSON cannot say (dates, infinite numbers) is text or null."""
    return pa.array(objects_in(table), pa.large_binary())


def literals_of(texts: Any, kind: Kind) -> Any:
    """Fields as JSON: null where empty, as they are where JSON can say them, else in quotation marks.

    >>> from candide.sources.kinds import KINDS
    >>> literals_of(pa.array(["1.10", "007", "", "NA"]), KINDS["number"]).to_pylist()
    [b'1.10', b'"007"', b'null', b'"NA"']
    """
    texts = column_as_text(texts)
    pattern = NEVER if kind.form else JSON_LITERALS.get(kind.name, NEVER)
    as_it_is = pc.match_substring_regex(texts, pattern).to_pylist()
    dumps = json.JSONEncoder(ensure_ascii=False).encode
    found = [
        text if plain else dumps(text) if text else "null"
        for text, plain in zip(texts.to_pylist(), as_it_is, strict=True)
    ]
    return pa.array(found, pa.large_string()).cast(pa.large_binary())


def keyed(names: Sequence[str], literals: Sequence[Any]) -> list[Any]:
    """Parts of an object: each key before its literal."""
    parts: list[Any] = []
    for index, (name, literal) in enumerate(zip(names, literals, strict=True)):
        parts += [scalar(f"{', ' if index else ''}{json.dumps(name, ensure_ascii=False)}: "), literal]
    return parts


def scalar(text: str) -> Any:
    """A text as an Arrow scalar of bytes."""
    return pa.scalar(text.encode("utf-8", "replace"), pa.large_binary())


def is_object(line: bytes) -> bool:
    """Whether a line that could not be read is a JSON object all the same."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
