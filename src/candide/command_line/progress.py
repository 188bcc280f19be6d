"""How far long work has come: a bar on the terminal, nothing in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from candide.command_line.screen import as_is
from candide.visible import visible

if TYPE_CHECKING:
    from candide.sources import Size

PATIENCE = 0.5
"""Seconds before a bar appears: short work needs none."""


@contextmanager
def watch(work: str, size: Size) -> Iterator[Callable[[int], None] | None]:
    """A bar with rate and time left for work that takes longer than a moment."""
    if not sys.stderr.isatty():
        yield None
        return
    bar = Bar(work, size)
    try:
        yield bar.advance
    finally:
        bar.close()


class Bar:
    """Drawn by Rich, once there is something to wait for."""

    def __init__(self, work: str, size: Size):
        self.work, self.size = work, size
        self.started = time.monotonic()
        self.done = 0
        self.drawn: Any = None
        self.task: Any = None

    def advance(self, amount: int) -> None:
        self.done += amount
        if self.drawn is None and time.monotonic() - self.started > PATIENCE:
            self._draw()
        if self.drawn is not None:
            self.drawn.update(self.task, completed=self.done, speed=self._speed())

    def close(self) -> None:
        if self.drawn is not None:
            self.drawn.stop()

    def _speed(self) -> str:
        return f"{self.done / max(time.monotonic() - self.started, PATIENCE):,.0f} {self.size.unit}/s"

    def _draw(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )

        in_bytes = self.size.unit == "bytes"
        amount = DownloadColumn() if in_bytes else MofNCompleteColumn()
        speed = TransferSpeedColumn() if in_bytes else TextColumn("{task.fields[speed]}")
        self.drawn = Progress(
            TextColumn("{task.description}", markup=False), BarColumn(), amount, speed, TimeRemainingColumn(),
            console=Console(file=as_is(sys.stderr)), transient=True,
            redirect_stdout=False, redirect_stderr=False,
        )  # fmt: skip
        self.task = self.drawn.add_task(visible(self.work), total=self.size.amount, speed=self._speed())
        if not in_bytes:
            self.drawn.update(self.task, completed=self.done)
        self.drawn.start()
