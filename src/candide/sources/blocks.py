"""A stream of bytes cut into blocks of whole records, so that each can be parsed by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from candide.sources.records import count_byte
from candide.sources.refused import SourceRefused
from candide.sources.streams import Stream

LONGEST_RECORD = 64 << 20


@dataclass(frozen=True)
class Block:
    """Some whole records: bytes up to an end, their file, their first line, and how much of the file they took."""

    whole: bytes
    name: str
    line: int
    taken: int
    is_last: bool = False
    end: int | None = None

    @property
    def view(self) -> memoryview:
        """The records, without a copy."""
        return memoryview(self.whole)[: self.end]

    @cached_property
    def data(self) -> bytes:
        """The records, as bytes."""
        return self.whole[: self.end]


def blocks(
    stream: Stream, head: bytes, line: int, size: int, end_of_records: Callable[[bytes], int], newline: bytes
) -> Iterator[Block]:
    """Cut what follows `head` (already read, starting at a record) into blocks of about `size` bytes."""
    taken, data, more = 0, head, True
    while more or data:
        data, more = _filled(stream, data, size)
        end = end_of_records(data) if more else len(data)
        while more and not end:
            if len(data) > LONGEST_RECORD:
                raise SourceRefused(
                    f"{stream.name}, line {line:,}: a record of more than {LONGEST_RECORD >> 20} MB. Perhaps a quote "
                    "is opened there and never closed, or the delimiter or format is another."
                )
            data, more = _filled(stream, data, 2 * len(data))
            end = end_of_records(data) if more else len(data)
        if not data:
            return
        now = stream.taken()
        yield Block(data, stream.name, line, now - taken, not more, end)
        line += count_byte(data, newline, end)
        taken, data = now, data[end:]


def _filled(stream: Stream, data: bytes, size: int) -> tuple[bytes, bool]:
    """The data with more behind it, up to a size, and whether more may follow."""
    while len(data) < size:
        fresh = stream.read(size - len(data))
        if not fresh:
            return data, False
        data = data + fresh
    return data, True
