"""Model files on disk: saved in one step, loaded as a memory map."""

from __future__ import annotations

import mmap
import os
import stat

from candide.data.advice import UseVerb
from candide.data.errors import Location
from candide.model.trained_model import TrainedModel
from candide.store.atomic import Name, replace_file
from candide.store.container import Buffer
from candide.store.model_file import file_pieces, from_bytes
from candide.store.overwriting import MODEL, refuse_overwriting
from candide.store.refusals import ModelFileNotWritten, ModelFileRefused, not_written


def save(trained: TrainedModel, path: Name, force: bool = False) -> None:
    """Write a model file in one step: a reader meanwhile, or a crash, finds the old file or the new one, whole.

    A file that is there and is no model is written over only by `force`.
    """
    refuse_overwriting(path, MODEL, force=force)
    pieces = file_pieces(trained)
    size = sum(memoryview(piece).nbytes for piece in pieces)
    if os.path.exists(path) and not os.path.isfile(path):
        raise ModelFileNotWritten(
            f"'{os.fspath(path)}' is not a file, so no model can be saved there.", where=Location(os.fspath(path))
        )
    try:
        replace_file(path, pieces)
    except OSError as problem:
        raise not_written(f"'{os.fspath(path)}' ({size:,} bytes)", problem) from problem


def load(path: Name) -> TrainedModel:
    """Read a model file, all of it checked. Its arrays are read-only and stay in the file, mapped into memory.

    So while a model is in use, replace its file by `save` or a rename, which leave the old one to its readers, and do
    not copy over it in place.
    """
    name, where = f"'{os.fspath(path)}'", Location(os.fspath(path))
    try:
        data = mapped(path)
    except FileNotFoundError:
        raise ModelFileRefused(
            f"There is no file {name}.", advice=("Make one with ", UseVerb("fit"), "."), where=where
        ) from None
    except OSError as problem:
        raise ModelFileRefused(f"{name} could not be read: {problem.strerror or problem}.", where=where) from problem
    except ValueError as problem:
        raise ModelFileRefused(f"{name} could not be read: {problem}.", where=where) from problem
    trained = from_bytes(data, name)
    let_go(data)
    return trained


def let_go(data: Buffer) -> None:
    """Leave the pages of a file that was read to the system: few are looked at again, and those are still there."""
    if isinstance(data, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        data.madvise(mmap.MADV_DONTNEED)


def mapped(path: Name) -> Buffer:
    """The bytes of a file, mapped into memory; a pipe or a device is refused without waiting for it."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError("it is not a file")
        return mmap.mmap(handle, status.st_size, access=mmap.ACCESS_READ) if status.st_size else b""
    finally:
        os.close(handle)
