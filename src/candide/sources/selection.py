"""Which columns and which rows of a source are wanted, where that is not all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from candide.data.advice import NamedOption, SetOption
from candide.data.errors import ColumnRefused, Location, OptionRefused
from candide.sources.where import Where


@dataclass(frozen=True)
class Selection:
    """The names of columns, or None for all; and a condition that rows meet, or None for all."""

    columns: tuple[str, ...] | None = None
    where: Where | None = None

    @classmethod
    def of(cls, columns: str | Iterable[str] | None, where: str | None) -> Selection:
        """From what a user says: names in a list or with commas between them, and a condition."""
        if isinstance(columns, str):
            columns = [name.strip() for name in columns.split(",")]
        names = None if columns is None else tuple(columns)
        if names is not None and not all(names):
            raise OptionRefused(
                NamedOption("columns"),
                " is a list of names, of which one is empty.",
                advice=("An example: ", SetOption("columns", ["age", "sex"]), "."),
                where=Location(value=columns),
                expected="names",
            )  # fmt: skip
        return cls(names, None if where is None else Where.of(where))

    def kept(self, columns: Sequence[str], label: str | None, name: str) -> tuple[str, ...]:
        """Those of a source's columns that are wanted; the label always is."""
        if self.where is not None:
            self.where.refuse_unknown(columns, name)
        if self.columns is None:
            return tuple(columns)
        for column in self.columns:
            if column not in columns:
                raise ColumnRefused.of_name(
                    f"{name} has no column '{column}'.", column, columns, where=Location(name, column=column)
                )
        return tuple(column for column in columns if column in {*self.columns, label})

    def expecting(self, expected: Mapping[str, str] | None, label: str | None) -> Mapping[str, str] | None:
        """What columns are known as, where those that nobody wants are text, which nothing can be wrong with."""
        if self.columns is None:
            return expected
        wanted = {*self.columns, *(self.where.columns if self.where else ()), label}
        return _OthersAsText(expected or {}, wanted)

    def describe(self) -> dict[str, Any]:
        """As plain data, only where something is selected."""
        found: dict[str, Any] = {} if self.columns is None else {"columns": list(self.columns)}
        return found if self.where is None else {**found, "where": self.where.said}


class _OthersAsText(dict[str, str]):
    def __init__(self, expected: Mapping[str, str], wanted: set[str | None]):
        super().__init__(expected)
        self._expected, self._wanted = expected, wanted

    def get(self, column: str, default: Any = None) -> Any:
        return self._expected.get(column, default) if column in self._wanted else "text"
