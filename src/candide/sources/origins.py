"""Where bytes come from: a file, which is read as often as needed, or a pipe, which gives them once."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence
from copy import copy
from typing import Any, BinaryIO, Protocol

from candide.data.errors import Location
from candide.sources.pipes import Pipe
from candide.sources.refused import SourceRefused, reason_of

PART_BYTES = 128 << 20
"""A file of a cluster is parted where so many bytes are full: of text as they lie, of tables as they are in memory."""


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
            raise _unreadable(self.name, problem) from None

    def open(self) -> BinaryIO:
        try:
            return open(self.name, "rb")
        except OSError as problem:
            raise _unreadable(self.name, problem) from None


def origin_of(path: str, repeatable: bool = True) -> Origin:
    """A file; or standard input (`-`), a named pipe or a device, whose bytes come once."""
    if path == "-":
        return Pipe("standard input", lambda: sys.stdin.buffer, repeatable)
    if os.path.isdir(path) or is_regular(path):
        return File(path)

    def connect() -> Any:
        try:
            return open(path, "rb", buffering=0)
        except OSError as problem:
            raise _unreadable(path, problem) from None

    return Pipe(path, connect, repeatable)


def parts_by_file(source: Any, origins: Sequence[Origin]) -> list[Any]:
    """A source of each file, by its full path; none where some bytes are no file that is read as it lies there."""
    if not all(type(origin) is File for origin in origins):
        return []
    parts = [copy(source) for _ in origins]
    for part, origin in zip(parts, origins, strict=True):
        part.origins = (File(os.path.abspath(origin.name)),)
    return parts


def is_regular(path: str) -> bool:
    """Whether a path leads to a file proper, which can be read at any place; what is not there counts as one."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return True


def _unreadable(path: str, problem: OSError) -> SourceRefused:
    return SourceRefused(f"Cannot read '{path}': {reason_of(problem)}.", where=Location(path))
