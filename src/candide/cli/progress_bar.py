"""How far long work has come: a bar on the terminal, nothing in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, Timer
from typing import TYPE_CHECKING, Any

from candide.cli.screen import as_is

if TYPE_CHECKING:
    from candide.data.progress import Size

PATIENCE = 1.0
"""Seconds of a command's work before bars appear: short work needs none."""

BEGAN: list[float] = []
"""When the first work of this command began, once it has."""


@contextmanager
def watch(work: str, size: Size) -> Iterator[Callable[[int], None] | None]:
    """A bar with rate and time left, once the work of a command has taken longer than a moment."""
    if not sys.stderr.isatty():
        yield None
        return
    BEGAN.append(time.monotonic())
    bar = Bar(work, size, PATIENCE - (BEGAN[-1] - BEGAN[0]))
    try:
        bar.start()
        yield bar.advance
    finally:
        bar.close()


class Bar:
    """Drawn by Rich, once there is something to wait for: by a clock, since some steps take long."""

    def __init__(self, work: str, size: Size, patience: float):
        self.work, self.size = work, size
        self.started = time.monotonic()
        self.done = 0
        self.drawn: Any = None
        self.task: Any = None
        self.closed = False
        self.lock = Lock()
        self.clock = Timer(max(patience, 0.0), self._draw)
        self.clock.daemon = True

    def start(self) -> None:
        self.clock.start()

    def advance(self, amount: int) -> None:
        with self.lock:
            self.done += amount
            if self.drawn is not None:
                self.drawn.update(self.task, completed=self.done, rate=self._rate())

    def close(self) -> None:
        self.clock.cancel()
        with self.lock:
            self.closed = True
            if self.drawn is not None:
                self.drawn.stop()

    def _rate(self) -> str:
        """Rows in a second; of anything else only what it is."""
        if self.size.unit != "rows" or not self.done:
            return self.size.unit
        return f"{self.done / max(time.monotonic() - self.started, 1e-3):,.0f} rows/s"

    def _draw(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )

        in_bytes, known = self.size.unit == "bytes", self.size.amount is not None
        amount = DownloadColumn() if in_bytes else MofNCompleteColumn()
        speed = TransferSpeedColumn() if in_bytes else TextColumn("{task.fields[rate]}")
        left = TimeRemainingColumn() if known else TimeElapsedColumn()
        counts = (amount, speed) if known or in_bytes else ()
        with self.lock:
            if self.closed:
                return
            self.drawn = Progress(
                TextColumn("{task.description}"), BarColumn(), *counts, left, console=Console(file=as_is(sys.stderr)),
                transient=True,
            )  # fmt: skip
            self.task = self.drawn.add_task(self.work, total=self.size.amount, rate=self._rate())
            self.drawn.update(self.task, completed=self.done)
            self.drawn.start()
