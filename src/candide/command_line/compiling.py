"""The first run compiles kernels, which takes some seconds: a word about it, where someone is looking."""

from __future__ import annotations

import sys
import threading
from typing import Any

PATIENCE = 1.0
SENTENCE = "Compiling once for this machine, which takes some seconds; later runs start at once ..."


def announce_compiling() -> None:
    """Have Numba tell when it compiles; kernels that come from the cache do not count."""
    if not sys.stderr.isatty():
        return
    from numba.core import event

    class Listening(event.Listener):  # type: ignore[misc]
        def __init__(self) -> None:
            self.at_work = 0
            self.timer: threading.Timer | None = None

        def on_start(self, happened: Any) -> None:
            self.at_work += 1
            if self.timer is None:
                self.timer = threading.Timer(PATIENCE, self.speak)
                self.timer.daemon = True
                self.timer.start()

        def on_end(self, happened: Any) -> None:
            self.at_work -= 1

        def speak(self) -> None:
            if self.at_work:
                print(SENTENCE, file=sys.stderr)

    event.register("numba:compile", Listening())
