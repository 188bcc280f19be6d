"""The options that several commands share, each said once; and how what is typed becomes what a verb takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Annotated, Any

import typer


class RowFormat(StrEnum):
    """How rows are written; json means one object a line."""

    csv = "csv"
    tsv = "tsv"
    jsonl = "jsonl"
    json = "json"
    parquet = "parquet"

    @property
    def for_verb(self) -> str:
        """What the verbs call it."""
        return {"json": "jsonl"}.get(self.value, self.value)


class Shape(StrEnum):
    """How results are shown: a table for people, or JSON for programs."""

    table = "table"
    json = "json"


ModelPath = Annotated[str, typer.Argument(metavar="MODEL", help="A model file, as made by fit.", show_default=False)]
DATA_HELP = (
    "csv, tsv, json, jsonl, parquet, arrow (also in .gz, .zst, .bz2, .xz, .zip), a database, a folder of texts, a "
    "glob, or - for standard input. Several files are read as one."
)
Data = Annotated[list[str], typer.Argument(metavar="DATA", help=DATA_HELP, show_default=False)]
ShapeOption = Annotated[Shape, typer.Option("--format", help="A table for people, or json for programs.")]
LabelToLearn = Annotated[str | None, typer.Option("--label", "-l", metavar="COLUMN", help="The column to learn.")]
TextOption = Annotated[
    list[str] | None,
    typer.Option("--text", metavar="TEXT", help="A text of your own, in place of a file. May be repeated."),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Refuse rows that lack a column of the model; else it counts as missing in them."),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Write over a file that is something else, or that is read here."),
]


@dataclass(frozen=True)
class ReadingOptions:
    """How rows are read: the options of every command that reads some."""

    delimiter: Annotated[
        str | None, typer.Option(metavar="CHARACTER", help="What separates fields. Found out unless given.")
    ] = None
    encoding: Annotated[str | None, typer.Option(metavar="NAME", help="The encoding of text; else UTF-8.")] = None
    types: Annotated[
        list[str] | None,
        typer.Option(
            "--type",
            metavar="COLUMN=KIND",
            help="Read a column as number, integer, truth, date, time, instant or text; an example behind it shows how "
            "values are written, as in 'price=number 1.234,5 €' or 'day=date 31/12/2024'. May be repeated.",
        ),
    ] = None
    na: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORD",
            help="What means that a value is missing, beside the usual (NA, null, -, ?, ... in columns of numbers and "
            "dates). May be repeated.",
        ),
    ] = None
    decimal: Annotated[
        str | None, typer.Option(metavar="CHARACTER", help="The decimal mark. Found out unless given.")
    ] = None
    thousands: Annotated[
        str | None, typer.Option(metavar="CHARACTER", help="What stands between thousands. Found out unless given.")
    ] = None
    sql: Annotated[str | None, typer.Option(metavar="QUERY", help="Rows of a database.")] = None
    table: Annotated[str | None, typer.Option(metavar="NAME", help="The table of a database.")] = None
    follow_links: Annotated[
        bool, typer.Option("--follow-links", help="Also read what links in a folder lead to.")
    ] = False
    columns: Annotated[
        str | None, typer.Option(metavar="A,B,C", help="Read only these columns; the label always is.")
    ] = None
    where: Annotated[
        str | None,
        typer.Option(
            metavar="CONDITION",
            help="Read only rows such as \"split = 'train' and age >= 18\": = != < <= > >=, 'is missing', joined by "
            "'and'.",
        ),
    ] = None
    on_error: Annotated[
        str,
        typer.Option(
            metavar="stop|skip|keep",
            help="What to do with a row that cannot be read: stop, or skip it; predict can also keep it, unanswered.",
        ),
    ] = "stop"
    rejects: Annotated[
        str | None, typer.Option(metavar="FILE", help="Where skipped rows are listed, with reasons.")
    ] = None

    def for_verb(self) -> dict[str, Any]:
        """What the verbs call `reading`."""
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        delimiter = "\t" if self.delimiter == "\\t" else self.delimiter
        return {**given, "delimiter": delimiter, "types": pairs(self.types, "--type", "age=number") or None}


@dataclass(frozen=True)
class RowsOut:
    """Where rows go that a command writes: to a file, or to the screen."""

    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Where rows go; else standard output.")
    ] = None
    safe: Annotated[
        bool,
        typer.Option("--safe", help="Put an apostrophe before fields that a spreadsheet would run, such as =cmd|..."),
    ] = False
    force: Force = False

    @property
    def to_screen(self) -> bool:
        """Whether no file is named."""
        return self.output in (None, "-")


def one_or_all(data: Sequence[str]) -> Any:
    """One path as itself, several as a list."""
    return data[0] if len(data) == 1 else list(data)


def pairs(given: Sequence[str] | None, option: str, example: str) -> dict[str, str]:
    """`column=value`, as often as given; the last = separates, since a column's name may hold one.

    >>> pairs(["a=b=number"], "--type", "age=number")
    {'a=b': 'number'}
    """
    found: dict[str, str] = {}
    for one in given or ():
        name, equals, value = one.rpartition("=")
        if not (equals and name and value):
            raise typer.BadParameter(f"{option} is written {option} {example}, not {one!r}.")
        found[name] = value
    return found


def families_of(given: Sequence[str] | None, otherwise: str = "auto") -> Any:
    """--family column=family as often as wanted, or one family for all columns; what to do where none is given."""
    if given and len(given) == 1 and "=" not in given[0]:
        return given[0]
    return pairs(given, "--family", "age=gaussian") or otherwise


def smoothing_of(given: Sequence[str] | None, otherwise: str = "auto") -> Any:
    """--smoothing 1 for all, or column=number as often as wanted; what to do where none is given."""
    if given and len(given) == 1 and "=" not in given[0]:
        return given[0] if given[0] in ("auto", "default") else number(given[0], "--smoothing")
    return {n: number(v, "--smoothing") for n, v in pairs(given, "--smoothing", "age=0.5").items()} or otherwise


def by_class(given: str, option: str) -> Any:
    """A word, such as uniform or balanced, or a number for each class: a=0.3,b=0.7."""
    if "=" not in given:
        return given
    parts = pairs(given.split(","), option, "yes=0.3,no=0.7")
    return {name.strip(): number(amount, option) for name, amount in parts.items()}


def number(text: str, option: str) -> float:
    """A number, or a sentence about the option."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{option} takes a number, not {text!r}.") from None
