"""What may be written over: a file of the same kind, which is not one of those that are read.

What a file is, its first bytes tell. Whether it is read, the system tells: links, members of a folder and the files of
a glob are the file they stand for. Whoever means it says so: `force`.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from typing import Any

from candide.data.advice import NamedOption, SetOption
from candide.data.errors import Location
from candide.store.container import MAGIC
from candide.store.refusals import OverwritingRefused

MODEL, TEXT, PARQUET, PAGE, SVG, PNG = "a model", "text", "Parquet", "a web page", "an SVG picture", "a PNG picture"
COMPRESSED, UNKNOWN = "compressed data", "something else"
FIRST = 4096
BEGINNINGS = {b"PAR1": PARQUET, b"\x89PNG": PNG, b"<!doctype html": PAGE, b"<html": PAGE, b"<svg": SVG,
              b"\x1f\x8b": COMPRESSED, b"\x28\xb5\x2f\xfd": COMPRESSED, b"BZh": COMPRESSED,
              b"\xfd7zXZ": COMPRESSED}  # fmt: skip
FORMATS = {"csv": TEXT, "tsv": TEXT, "jsonl": TEXT, "json": TEXT, "table": TEXT, "html": PAGE, "parquet": PARQUET,
           "svg": SVG, "png": PNG}  # fmt: skip
FORCE = SetOption("force", True)


def file_kind(path: Any) -> str | None:
    """What a file is, by its first bytes; nothing where it is not there, empty, or no file at all."""
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        first = file.read(FIRST)
    if first[8 : 8 + len(MAGIC)] == MAGIC:
        return MODEL
    start = first.lstrip().lower() if first.lstrip()[:1] == b"<" else first
    if start.startswith(b"<?xml") and b"<svg" in start:
        return SVG
    named = next((kind for beginning, kind in BEGINNINGS.items() if start.startswith(beginning)), None)
    return named or (UNKNOWN if b"\0" in first else TEXT if first else None)


def kind_written(output: Any, format: str | None) -> str:
    """What a file will be that is written in a format."""
    name = os.fspath(output) if isinstance(output, (str, os.PathLike)) else ""
    return COMPRESSED if name.lower().endswith((".gz", ".zst", ".bz2", ".xz")) else FORMATS.get(format or "", UNKNOWN)


def refuse_overwriting(output: Any, kind: str, inputs: Iterable[Any] = (), force: bool = False) -> None:
    """Raise, before the work, where writing would destroy a file that is read or that is something else."""
    if force or not isinstance(output, (str, os.PathLike)) or not os.path.isfile(output):
        return
    name = f"'{os.fspath(output)}'"
    if any(is_same(output, file) for given in inputs for file in files_of_source(given)):
        raise OverwritingRefused(
            f"{name} is read here, so it is not written over.",
            advice=("Choose another name for what is written, or say that you mean it: ", FORCE, "."),
            where=Location(os.fspath(output)),
        )
    try:
        found = file_kind(output)
    except OSError as problem:
        raise OverwritingRefused(
            f"{name} cannot be looked into ({problem.strerror}), so it is not replaced.",
            where=Location(os.fspath(output)),
        ) from None
    if found not in (None, kind):
        raise OverwritingRefused(
            f"{name} is there already and holds {found}, where {kind} would be written.",
            advice=("Choose another name, or write over it with ", FORCE, "."),
            where=Location(os.fspath(output), value=found),
            expected=kind,
        )


def refuse_rejects(rejects: Any, others: Iterable[Any]) -> None:
    """Raise where the list of skipped rows would be written over something else: it begins before all is read."""
    try:
        refuse_overwriting(rejects, TEXT, others)
    except OverwritingRefused:
        raise OverwritingRefused(
            NamedOption("rejects"),
            f": '{os.fspath(rejects)}' is read or written here, or is no list of rejects.",
            advice="Name another file for them.",
            where=Location(os.fspath(rejects)),
        ) from None


def files_of_source(given: Any) -> Iterator[str]:
    """The files that a path, a glob, a folder or several of them stand for; none where something has no path."""
    if isinstance(given, (list, tuple)):
        for one in given:
            yield from files_of_source(one)
    elif isinstance(given, (str, os.PathLike)):
        name = os.fspath(given)
        for path in [name] if os.path.exists(name) else glob.glob(name, recursive=True):
            yield from files_in(path) if os.path.isdir(path) else [path]


def files_in(folder: str) -> Iterator[str]:
    """All files below a folder, by whatever link they are there; no folder twice."""
    seen: set[str] = set()
    for index, below, names in os.walk(folder, followlinks=True):
        below[:] = [name for name in below if is_first(os.path.realpath(os.path.join(index, name)), seen)]
        yield from (os.path.join(index, name) for name in names)


def is_first(name: str, seen: set[str]) -> bool:
    """Whether something was not seen before; from now on it was."""
    first = name not in seen
    seen.add(name)
    return first


def is_same(left: Any, right: Any) -> bool:
    """Whether two paths lead to one file."""
    try:
        return os.path.samefile(left, right)
    except (OSError, ValueError):
        return False
