"""Processes that start at once: one compiles a kernel, the others wait for it and read it from disk."""

from __future__ import annotations

import os
import time
import zlib
from functools import cache
from typing import Any

try:
    import fcntl
except ImportError:  # Windows: each process compiles by itself
    fcntl = None  # type: ignore[assignment]

LOCKS = "compiling.lock"
"""An empty file beside the compiled kernels. A kernel is a byte of it, and who compiles it holds the byte's lock."""
PATIENCE = 60.0
"""Seconds after which a process compiles by itself what another has not finished: it may have been stopped."""


def compiled_once(kernel: Any) -> Any:
    """The same kernel, compiled by one process at a time. What is on disk is read without asking anybody."""
    on_disk, compile_kernel = kernel._cache, kernel.compile
    load, byte = on_disk.load_overload, zlib.crc32(f"{kernel.__module__}.{kernel.__qualname__}".encode())
    held: list[int] = []

    def load_overload(signature: Any, context: Any) -> Any:
        found = load(signature, context)
        if found is None and (file := locks_in(on_disk.cache_path)) is not None and hold(file, byte):
            held.append(file)
            found = load(signature, context)  # another process may have compiled it meanwhile
        return found

    def compile_and_let_go(signature: Any) -> Any:
        try:
            return compile_kernel(signature)
        finally:
            if held:
                fcntl.lockf(held.pop(), fcntl.LOCK_UN, 1, byte)

    on_disk.load_overload, kernel.compile = load_overload, compile_and_let_go
    return kernel


@cache
def locks_in(folder: str) -> int | None:
    """The open file of locks, which stays open: closing it would let go of all; None where there can be none."""
    if fcntl is None:
        return None
    try:
        os.makedirs(folder, exist_ok=True)
        return os.open(os.path.join(folder, LOCKS), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError:
        return None


def hold(file: int, byte: int) -> bool:
    """Wait until nobody else holds a byte; False where files cannot be locked, or the other takes too long."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
            return True
        except (BlockingIOError, PermissionError):
            time.sleep(0.02)
        except OSError:
            return False
    return False
