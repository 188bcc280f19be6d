"""A word to a person who waits while kernels are compiled, which happens once on each machine."""

from __future__ import annotations

import sys
import time
from typing import Any

from numba.core import event

PATIENCE = 1.0
"""Seconds of compiling that need no word."""


class FirstRun(event.Listener):  # type: ignore[misc]
    """Listens to Numba: kernels found on disk make no sound, those that must be compiled do."""

    def __init__(self) -> None:
        self.depth = 0
        self.began = 0.0
        self.spent = 0.0
        self.told = False

    def on_start(self, event: Any) -> None:
        if self.depth == 0:
            self.began = time.perf_counter()
        self.depth += 1
        self.tell(self.spent + time.perf_counter() - self.began)

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0:
            self.spent += time.perf_counter() - self.began
        self.tell(self.spent)

    def tell(self, seconds: float) -> None:
        """Say once what takes so long, to a terminal or a notebook."""
        if self.told or seconds < PATIENCE or not (sys.stderr.isatty() or "ipykernel" in sys.modules):
            return
        self.told = True
        print("Candide compiles its kernels on first use, a minute or two, and keeps them on disk.", file=sys.stderr)


def listen() -> None:
    """Tell the user of this process, if there is one."""
    event.register("numba:compile", FirstRun())
