"""A stream of bytes cut into blocks of whole records, so that each can be parsed by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from candide.data.advice import SetOption
from candide.data.cached import cached_property
from candide.data.errors import Location
from candide.sources.ahead import PAUSE, Pause
from candide.sources.records import count_byte
from candide.sources.refused import SourceRefused
from candide.sources.streams import ByteStream, RangeStream

LONGEST_RECORD = 64 << 20


@dataclass(frozen=True)
class RecordBlock:
    """Some whole records: bytes up to an end, their file, their first line, and how much of the file they took."""

    whole: bytes
    name: str
    line: int
    taken: int
    is_last: bool = False
    end: int | None = None
    is_first: bool = False

    @property
    def view(self) -> memoryview:
        """The records, without a copy."""
        return memoryview(self.whole)[: self.end]

    @cached_property
    def data(self) -> bytes:
        """The records, as bytes."""
        return self.whole[: self.end]


def beginning(stream: ByteStream, size: int, is_enough: Callable[[bytes], bool]) -> tuple[bytes, bool]:
    """The first bytes of a stream, about `size` and more until they are enough, and whether they are all.

    Of a live stream, what is enough is all that is waited for.
    """
    data = b""
    while True:
        fresh = stream.read(max(size - len(data), len(data)))
        data += fresh
        if data.startswith(b"\0"):
            raise SourceRefused(
                f"{stream.name} begins with NUL bytes, so it is no text: it may be damaged, or in another format or "
                "encoding.",
                advice=("Name it, for example ", SetOption("encoding", "utf-16"), "."),
                where=Location(stream.name),
            )
        if not fresh:
            return data, True
        if (len(data) >= size or stream.pauses) and is_enough(data):
            return data, False
        _refuse_endless(stream.name, 1, data)


def blocks(
    stream: ByteStream | RangeStream,
    head: bytes,
    line: int,
    size: int,
    end_of_records: Callable[[bytes], int],
    newline: bytes,
) -> Iterator[RecordBlock | Pause]:
    """Cut what follows `head` (already read, starting at a record) into blocks of about `size` bytes.

    A live stream is cut wherever it pauses, and its blocks are smaller then.
    """
    taken, data, more = 0, head, True
    while more or data:
        end = end_of_records(data) if stream.pauses else 0
        if not end:
            if stream.pauses:
                yield PAUSE
            data, more = _filled(stream, data, size)
            end = end_of_records(data) if more else len(data)
        while more and not end:
            _refuse_endless(stream.name, line, data)
            data, more = _filled(stream, data, 2 * len(data))
            end = end_of_records(data) if more else len(data)
        if not data:
            return
        now = stream.taken()
        yield RecordBlock(data, stream.name, line, now - taken, not more, end, not taken)
        line += count_byte(data, newline, end)
        taken, data = now, data[end:]


def _filled(stream: ByteStream | RangeStream, data: bytes, size: int) -> tuple[bytes, bool]:
    """The data with more behind it, up to a size or a pause, and whether more may follow."""
    while len(data) < size:
        fresh = stream.read(size - len(data))
        if not fresh:
            return data, False
        data = data + fresh
        if stream.pauses:
            break
    return data, True


def _refuse_endless(name: str, line: int, data: bytes) -> None:
    if len(data) > LONGEST_RECORD:
        raise SourceRefused(
            f"{name}, line {line:,}: a record of more than {LONGEST_RECORD >> 20} MB.",
            advice="Perhaps a quote is opened there and never closed, or the delimiter or format is another.",
            where=Location(name, line=line),
            expected=f"at most {LONGEST_RECORD >> 20} MB",
        )
