"""Which format a file is in: by its first bytes where they say so, else by its name, else by how it reads."""

from __future__ import annotations

import os
import re

from candide.data.errors import Location
from candide.sources.origins import Origin
from candide.sources.refused import SourceRefused
from candide.sources.streams import ByteStream

FORMATS = ("csv", "tsv", "json", "jsonl", "parquet", "arrow", "sqlite", "duckdb", "folder")
ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".ipc": "arrow",
    ".feather": "arrow",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".duckdb": "duckdb",
}
JSON = re.compile(rb"\s*(\{|\[\s*[{\]])")
"""An object, or a list of objects."""

MAGIC = ((0, b"PAR1", "parquet"), (0, b"ARROW1", "arrow"), (0, b"SQLite format 3", "sqlite"), (8, b"DUCK", "duckdb"))


def format_of(origins: tuple[Origin, ...]) -> str:
    """The one format of all files; different ones cannot be read together."""
    found = {origin.name: _format_of(origin) for origin in origins}
    if len(set(found.values())) > 1:
        (first, one), (second, other) = _two_that_differ(found)
        raise SourceRefused(
            f"'{first}' is {one} but '{second}' is {other}.",
            advice="Read files of one format at a time.",
            where=Location(second),
            expected=one,
        )
    return next(iter(found.values()))


def _format_of(origin: Origin) -> str:
    if os.path.isdir(origin.name):
        return "folder"
    head = _head(origin)
    for offset, magic, format in MAGIC:
        if head[offset:].startswith(magic):
            return format
    stem = origin.name.lower()
    for ending in (".gz", ".gzip", ".zst", ".zstd", ".bz2", ".xz"):
        stem = stem.removesuffix(ending)
    by_name = ENDINGS.get(os.path.splitext(stem)[1])
    if by_name:
        return by_name
    return "jsonl" if JSON.match(head) else "csv"


def _head(origin: Origin) -> bytes:
    stream = ByteStream(origin)
    try:
        return stream.peek(16)
    finally:
        stream.close()


def _two_that_differ(found: dict[str, str]) -> tuple[tuple[str, str], tuple[str, str]]:
    first = next(iter(found.items()))
    return first, next(item for item in found.items() if item[1] != first[1])
