"""What databases share: a table or a query to read, and how to name it."""

from __future__ import annotations

from collections.abc import Sequence

from candide.data.advice import NamedOption, SetOption
from candide.data.errors import Location
from candide.sources.refused import SourceRefused

READ_ONLY = "Only one SELECT is run, and all it can do is read this database."


def query_of(path: str, sql: str | None, table: str | None, tables: Sequence[str]) -> str:
    """The query to run: the one given, or all of a table; a database with one table needs neither.

    >>> query_of("a.db", None, "people", ["people", "places"])
    'SELECT * FROM "people"'
    """
    if sql is not None and table is not None:
        raise SourceRefused(
            NamedOption("table"), " and ", NamedOption("sql"), " were both given.",
            advice="Give a table or a query, not both.", where=Location(str(path)),
        )  # fmt: skip
    if sql is not None:
        return sql
    if table is None and len(tables) != 1:
        listed = ", ".join(f"'{name}'" for name in tables) or "none at all"
        raise SourceRefused(
            f"{path} has no table of its own to read: there are {listed}.",
            advice=("Name a table with ", SetOption("table"), ", or a query with ", SetOption("sql"), "."),
            where=Location(str(path)),
        )  # fmt: skip
    table = table if table is not None else tables[0]
    if table not in tables:
        raise SourceRefused.of_name(
            f"{path} has no table '{table}'.", table, tables, where=Location(str(path), value=table)
        )
    quoted = table.replace('"', '""')
    return f'SELECT * FROM "{quoted}"'
