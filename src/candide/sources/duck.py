"""Rows of a DuckDB database. The file is opened for reading only, and a query may do nothing but select.

DuckDB is an extra package, imported here alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import pyarrow as pa

from candide.data.advice import Install
from candide.data.errors import Location
from candide.sources.arrow_types import refuse_unions
from candide.sources.database import READ_ONLY, query_of
from candide.sources.refused import SourceRefused, reason_of
from candide.sources.rejects import Place
from candide.sources.source import BATCH_ROWS, Piece, Size, Source, unnested

CLOSED = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "lock_configuration": "true",
    "temp_directory": "",
}
"""A query reaches no file but the database: it cannot attach, copy, load or spill, nor turn this off."""


@dataclass
class DuckSource(Source):
    """The rows of a table or a query."""

    path: str = ""
    query: str = ""
    rows: int | None = None
    batch_rows: int = BATCH_ROWS

    @classmethod
    def of(cls, path: str, sql: str | None, table: str | None, batch_rows: int) -> DuckSource:
        """Look at the tables and the columns of the query."""
        with closing(_connected(path)) as connection:
            found = connection.execute("SELECT table_name FROM information_schema.tables ORDER BY table_name")
            tables = [name for (name,) in found.fetchall()]
            query = query_of(path, sql, table, tables)
            rows = None if sql is not None else connection.execute(query.replace("*", "count(*)", 1)).fetchall()[0][0]
            schema = _reader(connection, path, query, batch_rows).schema
        refuse_unions(schema, path)
        return cls(
            columns=tuple(unnested(schema.empty_table(), path).column_names), path=path, query=query, rows=rows,
            batch_rows=batch_rows,
        )  # fmt: skip

    @property
    def size(self) -> Size:
        return Size(self.rows, "rows")

    def pieces(self) -> Iterator[Piece]:
        first = 1
        with closing(_connected(self.path)) as connection:
            for batch in _batches(_reader(connection, self.path, self.query, self.batch_rows), self.path):
                yield Piece.of(batch, self._place(first), batch.num_rows)
                first += batch.num_rows

    def describe(self) -> dict[str, Any]:
        return {"format": "duckdb", "files": [self.path], "query": self.query, "rows": self.rows, "label": self.label}

    def _place(self, first: int) -> Any:
        return lambda row: Place(self.path, "row", first + row)


def _duckdb(path: str) -> Any:
    try:
        return import_module("duckdb")
    except ImportError:
        raise SourceRefused(
            f"Reading {path} needs DuckDB, which is not installed:", advice=Install("duckdb"), where=Location(path)
        ) from None


def _connected(path: str) -> Any:
    duckdb = _duckdb(path)
    try:
        return duckdb.connect(path, read_only=True, config=CLOSED)
    except duckdb.Error as problem:
        raise SourceRefused(
            f"{path} cannot be read as DuckDB: {reason_of(problem)}.", where=Location(path), expected="DuckDB"
        ) from None


def _reader(connection: Any, path: str, query: str, rows: int) -> Any:
    duckdb = _duckdb(path)
    try:
        statements = connection.extract_statements(query)
        if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
            raise SourceRefused(
                f"{path}: the query is no SELECT.",
                advice=READ_ONLY,
                where=Location(path, value=query),
                expected="a SELECT",
            )
        found = connection.sql(query)
        return found.to_arrow_reader(rows) if hasattr(found, "to_arrow_reader") else found.fetch_arrow_reader(rows)
    except duckdb.Error as problem:
        raise SourceRefused(
            f"{path}: the query failed: {reason_of(problem)}.", advice=READ_ONLY, where=Location(path, value=query)
        ) from None


def _batches(reader: Any, path: str) -> Iterator[Any]:
    """What a query gives; a value may turn out wrong only when its row comes."""
    try:
        yield from reader
    except (pa.ArrowException, OSError, _duckdb(path).Error) as problem:
        raise SourceRefused(f"{path}: the query failed: {reason_of(problem)}.", where=Location(path)) from None
