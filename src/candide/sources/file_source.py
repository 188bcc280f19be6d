"""Rows from text files: blocks of whole records, parsed side by side on every core, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from candide.data.errors import Location
from candide.sources.ahead import Pause, ahead
from candide.sources.blocks import RecordBlock, beginning, blocks
from candide.sources.kinds import Kind
from candide.sources.origins import PART_BYTES, Origin, parts_by_file
from candide.sources.pipes import Pipe
from candide.sources.refused import SourceRefused
from candide.sources.source import Piece, Size, Source
from candide.sources.streams import ByteRange, ByteStream, RangeStream, is_unpacked_utf8

SAMPLE = 1 << 20


class RecordReader(Protocol):
    """One format of records: how a file begins, where records end, and what a block of them says."""

    @property
    def columns(self) -> tuple[str, ...]: ...

    @property
    def begins_anywhere(self) -> bool:
        """Whether reading may begin at any record, none depending on what came before."""

    @property
    def kinds(self) -> Mapping[str, Kind]: ...

    @property
    def newline(self) -> bytes: ...

    @property
    def returned(self) -> tuple[str, ...]: ...

    def enter(self, name: str, head: bytes) -> tuple[int, int]:
        """Check how a file begins; where its rows start, as a byte and as a line."""

    def has_record(self, head: bytes) -> bool:
        """Whether there is a whole record in how a file begins."""

    def end_of_records(self, data: bytes) -> int:
        """Where the last whole record of some bytes ends; 0 when none does."""

    def parse(self, block: RecordBlock) -> list[Piece]:
        """The rows of a block; bad ones as rejects."""

    def describe(self) -> dict[str, Any]:
        """What was decided about the format."""


@dataclass
class FileSource(Source):
    """Rows of one or more files of the same columns, read by one reader."""

    origins: tuple[Origin, ...] = ()
    reader: RecordReader = field(kw_only=True)
    encoding: str | None = None
    batch_bytes: int = 2 << 20
    byte_ranges: tuple[tuple[ByteRange, ...], ...] | None = None
    """What can be read by itself of each large file, once somebody has asked for parts; none of a file that is one."""
    byte_range: ByteRange | None = None
    """The only rows wanted of the file, where they are not all."""

    @property
    def read_as(self) -> Mapping[str, Kind]:
        return {**self.reader.kinds, **self.kinds}

    @property
    def returned(self) -> tuple[str, ...]:
        return self.reader.returned

    @property
    def size(self) -> Size:
        if self.byte_range is not None:
            return Size(self.byte_range.end - self.byte_range.start, "bytes")
        sizes = [origin.size for origin in self.origins]
        return Size(None if None in sizes else sum(size or 0 for size in sizes), "bytes")

    def pieces(self) -> Iterator[Piece | Pause]:
        for found in ahead(self.reader.parse, self._blocks()):
            yield from [found] if isinstance(found, Pause) else found

    def parts(self) -> Sequence[Source]:
        """Each file, or ranges of it where it is large and records can be told apart without what was before them."""
        found = parts_by_file(self, self.origins)
        if self.byte_ranges is None and found:
            self.byte_ranges = tuple(map(self._ranges_of, self.origins))
        parts = zip(found, self.byte_ranges or (), strict=True)
        return [replace(part, byte_range=one, byte_ranges=()) for part, some in parts for one in some or (None,)]

    def _blocks(self) -> Iterator[RecordBlock | Pause]:
        for origin in self.origins:
            if self.byte_range is not None:
                with closing(RangeStream(origin, self.byte_range)) as some:
                    yield from self._blocks_of(some, b"", self.byte_range.line)
                continue
            with closing(ByteStream(origin, self.encoding)) as stream:
                if isinstance(origin, Pipe):
                    origin.stop_keeping()
                yield from self._blocks_of(stream, *self._beginning(stream))

    def _beginning(self, stream: ByteStream) -> tuple[bytes, int]:
        """The first rows of a file, and the line they begin on."""
        head, _ = beginning(stream, max(SAMPLE, self.batch_bytes), self.reader.has_record)
        start, line = self.reader.enter(stream.name, head) if head.strip() else (len(head), 1)
        return head[start:], line

    def _blocks_of(self, stream: ByteStream | RangeStream, head: bytes, line: int) -> Iterator[RecordBlock | Pause]:
        return blocks(stream, head, line, self.batch_bytes, self.reader.end_of_records, self.reader.newline)

    def _ranges_of(self, origin: Origin) -> tuple[ByteRange, ...]:
        """Ranges between records, found as the file is cut when it is read, from its start: so quotes are minded."""
        is_large = (origin.size or 0) > PART_BYTES
        if not (is_large and self.reader.begins_anywhere and is_unpacked_utf8(origin, self.encoding)):
            return ()
        found = list[ByteRange]()
        with closing(ByteStream(origin, self.encoding)) as stream:
            head, first_line = self._beginning(stream)
            start = place = stream.taken() - len(head)
            for block in self._blocks_of(stream, head, first_line):
                assert isinstance(block, RecordBlock)
                if place - start >= PART_BYTES:
                    found.append(ByteRange(start, place, first_line))
                    start, first_line = place, block.line
                place += len(block.view)
        return (*found, ByteRange(start, place, first_line))

    def describe(self) -> dict[str, Any]:
        return {
            **self.reader.describe(),
            "files": [origin.name for origin in self.origins],
            "bytes": self.size.amount,
            "encoding": self.encoding or "utf-8",
            "label": self.label,
        }


HasRows = Callable[[str, bytes], bool]


def first_sample(
    origins: tuple[Origin, ...], encoding: str | None, has_whole_row: HasRows, has_rows: HasRows
) -> tuple[str, bytes, bool]:
    """The name and the beginning of the first file that has rows, and whether that is all of the file.

    A file is read until there is a whole row, however long that is, or no more; then it may still have rows or not.
    """
    best: tuple[str, bytes, bool] | None = None
    for origin in origins:
        stream = ByteStream(origin, encoding)
        try:
            data, is_all = beginning(stream, SAMPLE, partial(has_whole_row, origin.name))
        finally:
            stream.close()
        if data.strip():
            best = (origin.name, data, is_all)
            if has_rows(origin.name, data):
                return best
    if best is None:
        raise SourceRefused(f"{_listed(origins)} is empty: there is not a row in it.", where=Location(_listed(origins)))
    return best


def _listed(origins: tuple[Origin, ...]) -> str:
    return origins[0].name if len(origins) == 1 else f"Each of the {len(origins)} files"
