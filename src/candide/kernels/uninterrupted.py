"""Ctrl-C waits while a kernel is compiled, or loaded from disk.

Python raises it in the main thread between any two steps. Between two steps of LLVM's that leaves code which belongs to
nobody, or to two: the process then ends with a fault of memory, or the kernel fails ever after.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def compiled_in_peace(kernel: Any) -> Any:
    """The same kernel; Ctrl-C waits until it is made."""
    make = kernel.compile

    def compile_in_peace(signature: Any) -> Any:
        with ctrl_c_waits():
            return make(signature)

    kernel.compile = compile_in_peace
    return kernel


@contextmanager
def ctrl_c_waits() -> Iterator[None]:
    """Let Ctrl-C wait until the work is done; other threads than the main one never meet it."""
    answer = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(answer):
        yield
        return
    came: list[tuple[Any, ...]] = []
    signal.signal(signal.SIGINT, lambda *call: came.append(call))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, answer)
        if came:
            answer(*came[0])
