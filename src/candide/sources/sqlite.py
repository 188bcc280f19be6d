"""Rows of an SQLite database. The file is opened for reading only, and a query may do nothing but select."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from candide.data.errors import Location
from candide.sources.database import READ_ONLY, query_of
from candide.sources.kinds import KINDS, settled
from candide.sources.originals import OriginalRows
from candide.sources.refused import SourceRefused, reason_of
from candide.sources.rejects import Place, Reject, misfit
from candide.sources.source import Piece, Size, Source, refuse_repeats

ROWS = 1 << 12
PYTHON_TYPES: dict[str, tuple[type, ...]] = {"number": (int, float), "text": (str,), "bytes": (bytes,)}
ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
"""What a query may do. Attaching another file, vacuuming into one and setting a pragma are not among it."""

EXPECTED = {"number": "a number", "text": "text", "bytes": "bytes"}


@dataclass
class SqliteSource(Source):
    """The rows of a table or a query. The first value of a column decides whether it holds numbers, text or bytes."""

    path: str = ""
    query: str = ""
    rows: int | None = None
    fields: tuple[str, ...] = ()

    @classmethod
    def of(cls, path: str, sql: str | None, table: str | None) -> SqliteSource:
        """Look at the tables and the columns of the query."""
        with _connected(path) as connection:
            found = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
            tables = [name for (name,) in found if not name.startswith("sqlite_")]
            query = query_of(path, sql, table, tables)
            cursor = _run(connection, path, query)
            names = tuple(column[0] for column in cursor.description or ())
            rows = None if sql is not None else connection.execute(query.replace("*", "count(*)", 1)).fetchone()[0]
        if not names:
            raise SourceRefused(
                f"{path}: the query gives no rows.",
                advice="Give a SELECT.",
                where=Location(path, value=sql),
                expected="a SELECT",
            )
        refuse_repeats(names, f"{path}: the query")
        return cls(columns=names, path=path, query=query, rows=rows, fields=names)

    @property
    def size(self) -> Size:
        return Size(self.rows, "rows")

    def pieces(self) -> Iterator[Piece]:
        decided: dict[str, str] = {}
        first = 1
        with _connected(self.path) as connection:
            cursor = _run(connection, self.path, self.query)
            while rows := _fetched(cursor, self.path):
                yield self._piece(rows, first, decided)
                first += len(rows)

    def describe(self) -> dict[str, Any]:
        return {"format": "sqlite", "files": [self.path], "query": self.query, "rows": self.rows, "label": self.label}

    def _piece(self, rows: list[tuple[Any, ...]], first: int, decided: dict[str, str]) -> Piece:
        rejects: dict[int, Reject] = {}
        for index, name in enumerate(self.fields):
            for row, values in enumerate(rows):
                kind = decided.setdefault(name, _kind(values[index])) if values[index] is not None else None
                if kind and name in self.kinds:
                    continue
                if kind and not isinstance(values[index], PYTHON_TYPES[kind]):
                    where = Place(self.path, "row", first + row)
                    rejects.setdefault(row, misfit(where, name, values[index], EXPECTED[kind], repr(values)))
        kept = [row for row in range(len(rows)) if row not in rejects]
        columns = tuple(
            _column([rows[row][index] for row in kept], name in self.kinds) for index, name in enumerate(self.fields)
        )
        return Piece(
            self.fields,
            columns,
            len(kept),
            lambda row: Place(self.path, "row", first + kept[row]),
            len(rows),
            tuple(rejects.values()),
            original=OriginalRows(len(rows), lambda: self._as_they_are(rows), kept=np.array(kept, dtype=np.int64)),
        )

    def _as_they_are(self, rows: list[tuple[Any, ...]]) -> Any:
        """The values as the database has them; a column in which types are mixed as text."""
        return pa.table([_unchanged(list(column)) for column in zip(*rows, strict=True)], list(self.fields))


def _column(values: list[Any], as_text: bool) -> Any:
    """Values of one type as an Arrow array; as text where the user gave the column's type, which may mix them."""
    if as_text:
        return pa.array([None if value is None else str(value) for value in values], pa.string())
    if any(isinstance(value, float) for value in values):
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    return settled(pa.array(values), KINDS["number"])


def _unchanged(values: list[Any]) -> Any:
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError):
        return pa.array([None if value is None else str(value) for value in values], pa.string())


def _kind(value: Any) -> str:
    return next(kind for kind, types in PYTHON_TYPES.items() if isinstance(value, types))


class _connected:  # noqa: N801
    """A connection that can only select, and is closed at the end, not only committed."""

    def __init__(self, path: str):
        self._path = path

    def __enter__(self) -> sqlite3.Connection:
        try:
            self._connection = sqlite3.connect(
                f"{Path(self._path).absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False
            )
            self._connection.execute("SELECT 1 FROM sqlite_master")
            self._connection.set_authorizer(_allowed)
        except sqlite3.Error as problem:
            raise SourceRefused(
                f"{self._path} cannot be read as SQLite: {reason_of(problem)}.",
                where=Location(self._path),
                expected="SQLite",
            ) from None
        return self._connection

    def __exit__(self, *problem: object) -> None:
        self._connection.close()


def _allowed(action: int, *about: str | None) -> int:
    may = action in ALLOWED and about[1] != "load_extension"
    return sqlite3.SQLITE_OK if may else sqlite3.SQLITE_DENY


def _run(connection: sqlite3.Connection, path: str, query: str) -> sqlite3.Cursor:
    try:
        return connection.execute(query)
    except (sqlite3.Error, sqlite3.Warning) as problem:
        raise SourceRefused(
            f"{path}: the query failed: {reason_of(problem)}.", advice=READ_ONLY, where=Location(path, value=query)
        ) from None


def _fetched(cursor: sqlite3.Cursor, path: str) -> list[tuple[Any, ...]]:
    try:
        return cursor.fetchmany(ROWS)
    except (sqlite3.Error, UnicodeDecodeError) as problem:
        raise SourceRefused(f"{path}: reading failed: {reason_of(problem)}.", where=Location(path)) from None
