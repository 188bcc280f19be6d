"""What reaches the screen: every character can be seen, whatever the data hold; only our own colours pass as is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any

from candide.data.errors import OptionRefused
from candide.data.visible import visible_lines


class Screen:
    """Standard output or standard error, on which whatever is printed becomes visible; all else is the stream's own."""

    def __init__(self, stream: Any):
        self.stream = stream

    def write(self, text: str) -> int:
        self.stream.write(visible_lines(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class Shown:
    """A file for rows that are looked at and not kept: their bytes become visible too."""

    def __init__(self, screen: Any):
        self.screen = screen
        self.flush = screen.flush

    def write(self, data: Any) -> int:
        self.screen.write(bytes(data).decode("utf-8", "backslashreplace"))
        return len(data)


@contextmanager
def screened_output() -> Iterator[None]:
    """A while in which nothing reaches the screen as it is, unless it is written `as_is`."""
    with redirect_stdout(Screen(as_is(sys.stdout))), redirect_stderr(Screen(as_is(sys.stderr))):
        yield


def as_is(stream: Any) -> Any:
    """The stream behind a screen: for colours, around what was made visible before."""
    return stream.stream if isinstance(stream, Screen) else stream


def rows_out(format: str | None) -> Any:
    """Where rows go that are not written to a file: untouched into a pipe, visible on a terminal."""
    if format == "parquet" and sys.stdout.isatty():
        raise OptionRefused("Parquet is not for a terminal. Name a file: -o rows.parquet")
    return Shown(sys.stdout) if sys.stdout.isatty() else sys.stdout.buffer
