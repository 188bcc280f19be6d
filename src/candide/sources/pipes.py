"""Bytes that come once and in their own time: standard input, a named pipe, a device."""

from __future__ import annotations

import select
import tempfile
from collections.abc import Callable
from time import monotonic
from typing import Any, BinaryIO

from candide.data.cached import cached_property
from candide.data.errors import Location
from candide.sources.refused import SourceRefused

PATIENCE = 0.1
"""Seconds that a live pipe is given to send more before what has come is used."""

STEP = 1 << 20


class Pipe:
    """A stream. What was read is spooled to a temporary file, so that reading can start again at the front.

    When it need not be `repeatable`, only the sample is kept, and after one whole pass there is no second: a pipe
    of any length then needs no disk. Such a pipe is live: nobody waits for bytes that may never come, so a read
    gives what is there. A repeatable one is waited for, so that its rows do not depend on how fast they came.
    """

    size = None

    def __init__(self, name: str, connect: Callable[[], Any], repeatable: bool = True):
        self.name = name
        self.repeatable = repeatable
        self._connect = connect
        self._spool = tempfile.TemporaryFile(prefix="candide-")  # noqa: SIM115
        self._spooled = 0
        self._keeps = True

    @cached_property
    def _stream(self) -> Any:
        return self._connect()

    def open(self) -> BinaryIO:
        if not self._keeps:
            raise SourceRefused(
                f"{self.name[:1].upper()}{self.name[1:]} was read to be used once and cannot be read again.",
                advice="Write it to a file first.",
                where=Location(self.name),
            )
        return PipeReader(self)  # type: ignore[return-value]

    def stop_keeping(self) -> None:
        """From here on, the stream is read for the last time."""
        self._keeps = self.repeatable

    def has_more(self, offset: int, seconds: float) -> bool:
        """Whether bytes from a place on (or the end) are there within so many seconds."""
        if self.repeatable or offset < self._spooled:
            return True
        return seconds >= 0 and _is_ready(self._stream, seconds)

    def read_at(self, offset: int, size: int) -> bytes:
        """Some bytes from a place on: out of the spool as far as it goes, then from the stream; none at the end."""
        if offset < self._spooled:
            self._spool.seek(offset)
            return self._spool.read(min(size, self._spooled - offset))
        _is_ready(self._stream, None)
        fresh: bytes = getattr(self._stream, "read1", self._stream.read)(size) or b""
        if self._keeps:
            self._spool.seek(self._spooled)
            self._spool.write(fresh)
            self._spooled += len(fresh)
        return fresh


class PipeReader:
    """One reading of a pipe, from its start."""

    closed = False

    def __init__(self, pipe: Pipe):
        self._pipe = pipe
        self._place = 0
        self._came_up_short = False

    def read(self, size: int = -1) -> bytes:
        """As many bytes as asked; fewer at the end, or where a live pipe has no more for now."""
        parts: list[bytes] = []
        left = size if size >= 0 else 1 << 62
        until = float("inf")
        self._came_up_short = False
        while left > 0:
            if parts and not self._pipe.has_more(self._place, until - monotonic()):
                self._came_up_short = True
                break
            part = self._pipe.read_at(self._place, min(left, STEP))
            if not part:
                break
            until = min(until, monotonic() + PATIENCE)
            self._place += len(part)
            left -= len(part)
            parts.append(part)
        return b"".join(parts)

    @property
    def pauses(self) -> bool:
        """Whether the last read came up short, or the next would have to wait."""
        return self._came_up_short or not self._pipe.has_more(self._place, 0)

    def tell(self) -> int:
        return self._place

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self.closed = True


def _is_ready(stream: Any, seconds: float | None) -> bool:
    """Whether a read would not have to wait; what cannot be asked is taken to be ready."""
    try:
        return bool(select.select([stream], [], [], seconds)[0])
    except (OSError, ValueError, TypeError):
        return True
