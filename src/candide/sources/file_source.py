"""Rows from text files: blocks of whole records, parsed side by side on every core, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from candide.data.errors import Location
from candide.sources.ahead import Pause, ahead
from candide.sources.blocks import RecordBlock, beginning, blocks
from candide.sources.kinds import Kind
from candide.sources.origins import Origin, parts_by_file
from candide.sources.pipes import Pipe
from candide.sources.refused import SourceRefused
from candide.sources.source import Piece, Size, Source
from candide.sources.streams import ByteStream

SAMPLE = 1 << 20


class RecordReader(Protocol):
    """One format of records: how a file begins, where records end, and what a block of them says."""

    @property
    def columns(self) -> tuple[str, ...]: ...

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

    @property
    def read_as(self) -> Mapping[str, Kind]:
        return {**self.reader.kinds, **self.kinds}

    @property
    def returned(self) -> tuple[str, ...]:
        return self.reader.returned

    @property
    def size(self) -> Size:
        sizes = [origin.size for origin in self.origins]
        return Size(None if None in sizes else sum(size or 0 for size in sizes), "bytes")

    def pieces(self) -> Iterator[Piece | Pause]:
        for found in ahead(self.reader.parse, self._blocks()):
            yield from [found] if isinstance(found, Pause) else found

    def parts(self) -> Sequence[Source]:
        return parts_by_file(self, self.origins)

    def _blocks(self) -> Iterator[RecordBlock | Pause]:
        for origin in self.origins:
            stream = ByteStream(origin, self.encoding)
            if isinstance(origin, Pipe):
                origin.stop_keeping()
            try:
                head, _ = beginning(stream, max(SAMPLE, self.batch_bytes), self.reader.has_record)
                if not head.strip():
                    continue
                start, line = self.reader.enter(origin.name, head)
                yield from blocks(
                    stream, head[start:], line, self.batch_bytes, self.reader.end_of_records, self.reader.newline
                )
            finally:
                stream.close()

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
