"""Linear algebra on one thread: that of this process shares the cores already, and waits for none of its own.

A library of linear algebra starts a thread for each core, which wait in a loop for work. Beside threads of ours, or on
a busy machine, a small matrix then takes a hundred times as long; and with more threads its sums have other last bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

import numpy.linalg  # noqa: F401
import scipy.linalg  # noqa: F401
from threadpoolctl import ThreadpoolController

users: list[Any] = []
"""What undoes the limit, once for each that works under it."""
lock = Lock()


@cache
def libraries() -> Any:
    """Those that NumPy and SciPy have loaded."""
    return ThreadpoolController()


@contextmanager
def on_one_thread() -> Iterator[None]:
    """Let linear algebra use one thread meanwhile, in all of this process; as before once the last user is done."""
    with lock:
        users.append(users[0] if users else libraries().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with lock:
            limit = users.pop()
            if not users:
                limit.restore_original_limits()
