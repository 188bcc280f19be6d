"""Compiled kernels on disk are used again only while nothing has changed that they were compiled from."""

from __future__ import annotations

import pickle
import re
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

IMPORTED = re.compile(r"^from [\w.]*?(\w+) import", re.MULTILINE)


def compiled_anew_if_changed(kernel: Any) -> Any:
    """The same kernel, compiled anew where its file, or one that it imports from beside it, is another than it was.

    Numba looks at the kernel's own file alone, and so would go on with what callees in other files used to do. And it
    asks whether what lies on disk is of this source only once it is unpickled, which fails for a renamed named tuple.
    """
    on_disk = kernel._cache._cache_file
    load = on_disk._load_index

    def load_index() -> Any:
        on_disk._source_stamp = stamp_of(kernel.py_func.__code__.co_filename)
        try:
            return load()
        except (AttributeError, EOFError, ImportError, pickle.UnpicklingError):
            return {}

    def save(key: Any, data: Any) -> None:
        name = on_disk._data_name(number_in_name(key))
        on_disk._save_data(name, data)
        on_disk._save_index({**on_disk._load_index(), key: name})

    on_disk._load_index, on_disk.save = load_index, save
    return kernel


def number_in_name(key: Any) -> int:
    """The number in the name of a file: of the same key the same, so that processes that write at once never share one.

    Numba numbers files one after the other, and names one before it is written: who reads then finds what another
    process, or another release, left there.
    """
    return int.from_bytes(sha256(repr(key).encode()).digest()[:6], "big")


@cache
def stamp_of(source: str) -> tuple[tuple[float, int], ...]:
    """When the files that a kernel was compiled from were changed, and how long they are."""
    found, waiting = set[Path](), [Path(source)]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += imported_beside(path)
    states = [path.stat() for path in sorted(found) if path.exists()]
    return tuple((state.st_mtime, state.st_size) for state in states)


@cache
def imported_beside(path: Path) -> list[Path]:
    """The files of the same folder that a file imports from."""
    names = IMPORTED.findall(path.read_text("utf-8")) if path.exists() else []
    return [beside for name in names if (beside := path.with_name(f"{name}.py")).exists()]
