"""CSV and its kin: PyArrow parses each block in one go; only a block that it refuses is looked at row by row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from candide.data.advice import Message
from candide.data.arrays import AnyArray, IntArray
from candide.data.cached import cached_property
from candide.data.errors import Location, suggestion
from candide.sources.blocks import RecordBlock
from candide.sources.dialect import ENCODING_ADVICE, delimiter_of, header_of, newline_of, not_utf8
from candide.sources.file_source import first_sample
from candide.sources.kinds import (
    FALSE,
    FOUND_OUT,
    MISSING,
    TEXT,
    TRUE,
    Kind,
    ParseOptions,
    as_expected,
    as_kind,
    empty_is_missing,
    first_tried,
    kind_of_sample,
    kinds_given,
    matches_all,
    one_chunk,
    present,
    settled,
)
from candide.sources.originals import OriginalRows
from candide.sources.origins import Origin
from candide.sources.records import CARRIAGE_RETURN, LINE_FEED, cut, end_of_records, records_of
from candide.sources.refused import SourceRefused
from candide.sources.rejects import SKIP, Place, Reject, misfit
from candide.sources.source import Piece

SMALL_WHOLE = "^-?[0-9]{1,18}$"


class Delimited:
    """What was decided about some delimited files, and how a block of their records becomes columns.

    `_fast` holds the Arrow type each column is first tried as. A column of whole numbers in which a fraction turns
    up is tried as float64 from then on; that changes the time it takes, never the values.
    """

    begins_anywhere = True

    def __init__(self, columns: tuple[str, ...], delimiter: str, newline: bytes, notes: tuple[str, ...] = ()):
        self.columns = self.returned = columns
        self.delimiter = delimiter
        self.newline = newline
        self.notes = notes
        self.header, self.line_end = b"", newline
        self.kinds: dict[str, Kind] = dict.fromkeys(columns, TEXT)
        self._fast: dict[str, Any] = dict.fromkeys(columns, pa.string())
        self.na: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        origins: tuple[Origin, ...],
        delimiter: str | None,
        types: Mapping[str, str] | None,
        encoding: str | None,
        expected: Mapping[str, str] | None = None,
        parsing: ParseOptions = FOUND_OUT,
    ) -> Delimited:
        """Decide delimiter, names and kinds from the beginning of the first file that has rows."""
        if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n'):
            raise SourceRefused.of_option("delimiter", "one character such as ',' or ';'", delimiter)

        def has_rows(name: str, data: bytes) -> bool:
            if not data.strip():
                return False
            return bool(data[header_of(name, data, delimiter or delimiter_of(data)).start :].strip())

        def has_whole_row(name: str, data: bytes) -> bool:
            return has_rows(name, data[: end_of_records(data, delimiter or delimiter_of(data), newline_of(data))])

        name, sample, is_all = first_sample(origins, encoding, has_whole_row, has_rows)
        delimiter = delimiter or delimiter_of(sample)
        header = header_of(name, sample, delimiter)
        notes = tuple(f"a column without a name is called '{column}'" for column in header.unnamed)
        reader = cls(header.names, delimiter, newline_of(sample), notes)
        reader.header, reader.line_end = header.record, header.line_end
        rows = sample[header.start :]
        if not is_all:
            rows = rows[: reader.end_of_records(rows)]
        if not rows.strip() and is_all:
            raise SourceRefused(f"{name} has a header but no rows below it.", where=Location(name))
        reader._decide(RecordBlock(rows, name, header.line, 0), kinds_given(types, header.names), expected, parsing)
        return reader

    def enter(self, name: str, head: bytes) -> tuple[int, int]:
        """Where the rows of a file begin, once its header agrees with the others."""
        header = header_of(name, head, self.delimiter)
        if header.names != self.columns:
            raise other_columns(name, header.names, self.columns)
        return header.start, header.line

    def has_record(self, head: bytes) -> bool:
        return bool(head[: self.end_of_records(head)].strip())

    def end_of_records(self, data: bytes) -> int:
        return end_of_records(data, self.delimiter, self.newline)

    def parse(self, block: RecordBlock) -> list[Piece]:
        """The rows of a block; the careful way only where the fast way finds something wrong."""
        records = Records(block, self.delimiter)
        if block.is_last and b'"' in block.whole:
            records.refuse_open_quote()
        try:
            table = self._read(block.view, self._fast)
        except (pa.ArrowInvalid, UnicodeDecodeError):
            return [self._carefully(block, records)]
        read = zip(self.columns, map(one_chunk, table.columns), strict=True)
        columns = tuple(self._typed(name, column) for name, column in read)
        if any(column is None for column in columns):
            return [self._carefully(block, records)]
        rows, original = table.num_rows, self._original(table.num_rows, records)
        return [Piece(self.columns, columns, rows, records.place, block.taken, (), records.text, original)]

    @property
    def exact(self) -> frozenset[str]:
        """The columns of whole numbers that are kept exactly, whatever their size."""
        return frozenset(name for name, kind in self.kinds.items() if kind.name == "integer")

    def _typed(self, name: str, column: Any) -> Any:
        """A column as its kind, from what Arrow read in one go; nothing where a value does not fit."""
        kind = self.kinds[name]
        if kind.plain is None and kind.name != TEXT.name:
            return settled(column, kind)
        values, misfits = as_kind(column, kind)
        return None if misfits.any() else empty_is_missing(values) if kind.name == TEXT.name else values

    def describe(self) -> dict[str, Any]:
        return {
            "format": "csv",
            "delimiter": self.delimiter,
            "types": {name: kind.spec for name, kind in self.kinds.items()},
            "notes": list(self.notes),
        }

    def _decide(
        self, sample: RecordBlock, given: Mapping[str, Kind], expected: Mapping[str, str] | None, parsing: ParseOptions
    ) -> None:
        """A kind for each column, from those records of the sample that are whole."""
        texts = self._texts(sample)
        for index, name in enumerate(self.columns):
            if name in given:
                kind = replace(given[name], na=(*given[name].na, *parsing.na))
                self.kinds[name], self._fast[name] = kind, first_tried(kind)
                continue
            column = one_chunk(texts.column(index))
            known = expected.get(name) if expected is not None else None
            self.kinds[name], self._fast[name] = as_expected(column, kind_of_sample(column, parsing), known)
        self.na = tuple(dict.fromkeys(word for kind in self.kinds.values() for word in kind.na))

    def _texts(self, sample: RecordBlock) -> Any:
        try:
            return self._fields(sample.data)
        except (pa.ArrowInvalid, UnicodeDecodeError):
            records = Records(sample, self.delimiter)
            return self._fields(records.joined(~records.unreadable(len(self.columns))))

    def _fields(self, data: bytes) -> Any:
        """The text of every field."""
        return self._read(data, dict.fromkeys(self.columns, pa.string()))

    def _original(self, rows: int, records: Records) -> OriginalRows:
        return OriginalRows(rows, lambda: self._as_written(records), records.lines)

    def _as_written(self, records: Records) -> Any:
        """The text of every field of every record; missing where a record cannot be split into them."""
        good = ~records.unreadable(len(self.columns))
        fields = self._fields(records.joined(good))
        if good.all():
            return fields
        indices = np.cumsum(good) - 1
        return fields.take(pa.array(indices, mask=~good))

    def _read(self, data: Any, types: Mapping[str, Any]) -> Any:
        if bytes(data[:1]) in b"\r\n" and not bytes(data).strip(b"\r\n"):
            return pa.table({name: pa.array([], types[name]) for name in self.columns})
        return pa_csv.read_csv(
            pa.BufferReader(data),
            pa_csv.ReadOptions(use_threads=False, block_size=len(data) + 1, column_names=list(self.columns)),
            pa_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            pa_csv.ConvertOptions(
                column_types=dict(types),
                null_values=[*MISSING, *self.na],
                true_values=list(TRUE),
                false_values=list(FALSE),
            ),
        )

    def _carefully(self, block: RecordBlock, records: Records) -> Piece:
        """The rows of a block that can be read, with a reason for each that cannot."""
        broken = {int(row): records.broken(int(row), len(self.columns))
                  for row in np.flatnonzero(records.unreadable(len(self.columns)))}  # fmt: skip
        good = np.ones(len(records), dtype=bool)
        good[list(broken)] = False
        rows = np.flatnonzero(good)
        texts = self._fields(records.joined(good))
        columns, leave, rejects = [], np.zeros(len(rows), dtype=bool), list(broken.values())
        for name, column in zip(self.columns, map(one_chunk, texts.columns), strict=True):
            kind = self.kinds[name]
            values, misfits = as_kind(column, kind)
            for row in np.flatnonzero(misfits & ~leave).tolist():
                index = int(rows[row])
                rejects.append(
                    misfit(records.place(index), name, column[row].as_py(), kind.example, records.text(index))
                )
            leave |= misfits
            columns.append(empty_is_missing(values) if kind.name == TEXT.name else settled(values, kind))
            if kind.name == "number" and not kind.form and not matches_all(present(column, kind.na), SMALL_WHOLE):
                self._fast[name] = pa.float64()
        piece = Piece(
            self.columns, tuple(columns), len(rows), lambda row: records.place(int(rows[row])), block.taken,
            tuple(rejects), lambda row: records.text(int(rows[row])),
            self._original(len(records), records).take(rows),
        )  # fmt: skip
        return piece.without(leave, ()) if leave.any() else piece


@dataclass
class Records:
    """The records of a block, found only when something must be said about one of them. Empty lines do not count."""

    block: RecordBlock
    delimiter: str

    @cached_property
    def _found(self) -> tuple[IntArray, IntArray, IntArray]:
        starts, fields, _ = records_of(self.block.data, self.delimiter)
        there = fields > 0
        return starts[:-1][there], starts[1:][there], fields[there]

    def __len__(self) -> int:
        return len(self._found[0])

    def ragged(self, columns: int) -> AnyArray:
        """Which records have too few or too many fields."""
        return self._found[2] != columns

    @cached_property
    def not_utf8(self) -> AnyArray:
        """Which records hold bytes that are no text."""
        starts, ends, _ = self._found
        bad = np.zeros(len(starts), dtype=bool)
        position = 0
        while position < len(self.block.data):
            try:
                self.block.data[position:].decode("utf-8")
                break
            except UnicodeDecodeError as problem:
                row = int(np.searchsorted(starts, position + problem.start, side="right")) - 1
                bad[row] = True
                position = int(ends[row])
        return bad

    def unreadable(self, columns: int) -> AnyArray:
        """Which records cannot be split into fields of text."""
        return self.ragged(columns) | self.not_utf8

    def lines(self) -> Any:
        """Each record as it was written, without its line's end, as Arrow bytes."""
        starts, ends, _ = self._found
        data = np.frombuffer(self.block.data, np.uint8)
        ends = ends - (data[ends - 1] == LINE_FEED)
        ends = ends - (data[ends - 1] == CARRIAGE_RETURN)
        return cut(self.block.data, starts, ends)

    def joined(self, good: AnyArray) -> bytes:
        """The bytes of some of the records."""
        if good.all():
            return self.block.data
        starts, ends, _ = self._found
        newline = newline_of(self.block.data)
        parts = [self.block.data[starts[row] : ends[row]] for row in np.flatnonzero(good)]
        return b"".join(part if part.endswith((b"\n", b"\r")) else part + newline for part in parts)

    @cached_property
    def _lines(self) -> IntArray:
        """The number of the line on which each record starts."""
        ends = np.flatnonzero(np.frombuffer(self.block.data, np.uint8) == newline_of(self.block.data)[0])
        return self.block.line + np.searchsorted(ends, self._found[0])

    def place(self, row: int) -> Place:
        return Place(self.block.name, "line", int(self._lines[row]))

    def text(self, row: int) -> str:
        return self._bytes(row).decode("utf-8", "backslashreplace").rstrip("\r\n")

    def _bytes(self, row: int) -> bytes:
        starts, ends, _ = self._found
        return self.block.data[starts[row] : ends[row]]

    def broken(self, row: int, columns: int) -> Reject:
        """Why a record cannot be split into its columns."""
        data = self._bytes(row)
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as problem:
            reason = not_utf8(data, problem.start)
            return Reject(self.place(row), reason, ENCODING_ADVICE, "", self.text(row), expected="UTF-8")
        found = int(self._found[2][row])
        return Reject(
            self.place(row),
            f"{found} fields, but the header names {columns}.",
            Message(
                "Mend the line (text that holds the delimiter needs quotes around it), name another delimiter, or "
                "leave such rows out with ",
                SKIP,
                ".",
            ),
            "",
            self.text(row),
        )

    def refuse_open_quote(self) -> None:
        """A quote that is never closed swallows the rest of the file: refused even where bad rows are skipped."""
        starts, fields, is_open = records_of(self.block.data, self.delimiter)
        if is_open:
            line = self.block.line + self.block.data.count(newline_of(self.block.data), 0, int(starts[len(fields) - 1]))
            raise SourceRefused(
                f"{self.block.name}, line {line:,}: a quote is opened in this record and never closed.",
                advice="Close it, or double it if it belongs to the text.",
                where=Location(self.block.name, line=line),
            )


def other_columns(name: str, found: tuple[str, ...], expected: tuple[str, ...]) -> SourceRefused:
    """What is wrong with a file whose columns are not those of the first."""
    odd = next((column for column in (*expected, *found) if (column in found) != (column in expected)), None)
    if odd is None:
        said = f"{name} has the columns of the first file in another order."
        return SourceRefused(said, advice="Give all files one order.", where=Location(name))
    lacks, known = (odd in expected), (found if odd in expected else expected)
    return SourceRefused(
        f"{name} has {'no' if lacks else 'a'} column '{odd}', which the first file has{'' if lacks else ' not'}.",
        advice=(suggestion(odd, known), " Files read together need the same columns."),
        where=Location(name, column=odd),
        expected="the columns of the first file",
    )
