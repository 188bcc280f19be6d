"""Replacing a file whole or not at all, one writer at a time."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from candide.store.refusals import not_written

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

PART = ".candide-part"
ABANDONED = 3600.0
"""Seconds without a change after which a half-written file has no writer any more, on Windows."""

Name = str | os.PathLike[str]


def replace_file(path: Name, pieces: Iterable[Any]) -> None:
    """Write pieces beside the file, make them lasting, and put them in its place in one step.

    Whoever has the old file open keeps it. If anything fails, or the process is killed, the old file is as it was.
    """
    target = Path(os.path.realpath(path))
    sweep(target.parent)
    part, handle = begun(target.parent)
    try:
        with open(handle, "wb") as file:
            if target.exists():
                os.chmod(part, stat.S_IMODE(target.stat().st_mode))
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
            if sys.platform != "win32":
                os.replace(part, target)  # while the part is still held, so that nobody takes it for abandoned
        if sys.platform == "win32":
            os.replace(part, target)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
    make_lasting(target.parent)


def begun(folder: Path) -> tuple[Path, int]:
    """A new part file, held by a lock for as long as it is open: what nobody holds was left by a killed writer."""
    while True:
        part = folder / f".{secrets.token_hex(8)}{PART}"
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        if sys.platform == "win32":
            return part, handle
        with contextlib.suppress(OSError):  # a file system without locks has none to be found missing either
            fcntl.flock(handle, fcntl.LOCK_EX)
        if part.exists():  # else a writer swept it between the two steps
            return part, handle
        os.close(handle)


def make_lasting(folder: Path) -> None:
    """Have the folder's list of names written to the disk, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def sweep(folder: Path) -> None:
    """Remove what killed writers left behind in this folder."""
    with contextlib.suppress(OSError):
        for part in folder.glob(f".{'[0-9a-f]' * 16}{PART}"):
            with contextlib.suppress(OSError):
                remove_abandoned(part)


def remove_abandoned(part: Path) -> None:
    """Remove a part file that nobody writes any more; one that is being written raises OSError."""
    if sys.platform == "win32":
        if time.time() - part.stat().st_mtime > ABANDONED:
            part.unlink()
        return
    handle = os.open(part, os.O_WRONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        part.unlink()
    finally:
        os.close(handle)


@contextlib.contextmanager
def locked(path: Name) -> Iterator[None]:
    """Be the only writer of a file: others wait until the block ends. Readers need no lock.

    The lock is held on a file beside it, and ends with the process however that ends. Do not nest it.
    """
    target = Path(os.path.realpath(path))
    side = target.with_name(f".{target.name}.lock")
    try:
        handle = acquired(side)
    except OSError as problem:
        raise not_written(f"'{os.fspath(path)}'", problem) from problem
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            side.unlink()
        os.close(handle)


def acquired(side: Path) -> int:
    """Wait for a lock file that is still the one by that name once it is ours."""
    while True:
        handle = os.open(side, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            wait_for(handle)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(handle), os.stat(side)):
                    return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def wait_for(handle: int) -> None:
    """Block until nobody else holds the lock."""
    if sys.platform == "win32":
        while True:
            with contextlib.suppress(OSError):
                msvcrt.locking(handle, msvcrt.LK_LOCK, 1)
                return
    else:
        fcntl.flock(handle, fcntl.LOCK_EX)
