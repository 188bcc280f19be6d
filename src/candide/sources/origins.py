"""Where bytes come from: a file, or standard input, kept in a temporary file so that it can be read again."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any, BinaryIO, Protocol

from candide.sources.refused import SourceRefused, reason_of


class Origin(Protocol):
    """Bytes that can be opened, more than once."""

    @property
    def name(self) -> str: ...

    @property
    def size(self) -> int | None: ...

    def open(self) -> BinaryIO: ...


class File:
    """A file by its path."""

    def __init__(self, path: str):
        self.name = path

    @property
    def size(self) -> int:
        try:
            return os.stat(self.name).st_size
        except OSError as problem:
            raise SourceRefused(f"Cannot read '{self.name}': {reason_of(problem)}.") from None

    def open(self) -> BinaryIO:
        try:
            return open(self.name, "rb")
        except OSError as problem:
            raise SourceRefused(f"Cannot read '{self.name}': {reason_of(problem)}.") from None


class StandardInput:
    """Standard input. What was read is spooled to a temporary file, so that reading can start again at the front.

    When it need not be `repeatable`, only the sample is kept, and after one whole pass there is no second: a pipe
    of any length then needs no disk.
    """

    name = "standard input"
    size = None

    def __init__(self, repeatable: bool = True, stream: Any = None):
        self._stream = stream if stream is not None else sys.stdin.buffer
        self._spool = tempfile.TemporaryFile(prefix="candide-")  # noqa: SIM115
        self._spooled = 0
        self._keeps = True
        self.repeatable = repeatable

    def open(self) -> BinaryIO:
        if not self._keeps:
            raise SourceRefused(
                "Standard input was read to be used once and cannot be read again. Write it to a file first."
            )
        return _Reader(self)  # type: ignore[return-value]

    def stop_keeping(self) -> None:
        """From here on, the stream is read for the last time."""
        self._keeps = self.repeatable

    def read_at(self, place: int, size: int) -> bytes:
        """Bytes from a place: out of the spool as far as it goes, then from the stream."""
        if place < self._spooled:
            self._spool.seek(place)
            return self._spool.read(min(size, self._spooled - place))
        fresh: bytes = self._stream.read(size) or b""
        if self._keeps:
            self._spool.seek(self._spooled)
            self._spool.write(fresh)
            self._spooled += len(fresh)
        return fresh


class _Reader:
    """One reading of standard input, from its start."""

    closed = False

    def __init__(self, origin: StandardInput):
        self._origin = origin
        self._place = 0

    def read(self, size: int = -1) -> bytes:
        """As many bytes as asked, fewer only at the end."""
        parts = []
        left = size if size >= 0 else 1 << 62
        while left > 0:
            part = self._origin.read_at(self._place, min(left, 1 << 20))
            if not part:
                break
            self._place += len(part)
            left -= len(part)
            parts.append(part)
        return b"".join(parts)

    def tell(self) -> int:
        return self._place

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self.closed = True
