"""The options that several commands share, each said once; and how what is typed becomes what a verb takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any

import typer


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
Delimiter = Annotated[
    str | None, typer.Option(metavar="CHARACTER", help="What separates fields. Found out unless given.")
]
Encoding = Annotated[str | None, typer.Option(metavar="NAME", help="The encoding of text; else UTF-8.")]
Types = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="COLUMN=KIND",
        help="Read a column as number, integer, truth, date, time, instant or text; an example behind it shows how "
        "values are written, as in 'price=number 1.234,5 €' or 'day=date 31/12/2024'. May be repeated.",
    ),
]
Na = Annotated[
    list[str] | None,
    typer.Option(
        metavar="WORD",
        help="What means that a value is missing, beside the usual (NA, null, -, ?, ... in columns of numbers and "
        "dates). May be repeated.",
    ),
]
Decimal = Annotated[str | None, typer.Option(metavar="CHARACTER", help="The decimal mark. Found out unless given.")]
Thousands = Annotated[
    str | None, typer.Option(metavar="CHARACTER", help="What stands between thousands. Found out unless given.")
]
Sql = Annotated[str | None, typer.Option(metavar="QUERY", help="Rows of a database.")]
Table = Annotated[str | None, typer.Option(metavar="NAME", help="The table of a database.")]
FollowLinks = Annotated[bool, typer.Option("--follow-links", help="Also read what links in a folder lead to.")]
Columns = Annotated[
    str | None, typer.Option(metavar="A,B,C", help="Read only these columns; the label always is.")
]
Where = Annotated[
    str | None,
    typer.Option(
        metavar="CONDITION",
        help="Read only rows such as \"split = 'train' and age >= 18\": = != < <= > >=, 'is missing', joined by 'and'.",
    ),
]
OnError = Annotated[
    str,
    typer.Option(
        metavar="stop|skip|keep",
        help="What to do with a row that cannot be read: stop, or skip it; predict can also keep it, unanswered.",
    ),
]
Rejects = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Where skipped rows are listed, with reasons."),
]

Strict = Annotated[
    bool,
    typer.Option("--strict", help="Refuse rows that lack a column of the model; else it counts as missing in them."),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Write over a file that is something else, or that is read here."),
]


Reading = dict[str, Any]
"""What the verbs call `reading`."""


def reading(
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    types: Types = None,
    na: Na = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
    sql: Sql = None,
    table: Table = None,
    follow_links: FollowLinks = False,
    columns: Columns = None,
    where: Where = None,
    on_error: OnError = "stop",
    rejects: Rejects = None,
) -> Reading:
    """The options of every command that reads rows, as the verbs take them."""
    return {
        "delimiter": "\t" if delimiter == "\\t" else delimiter,
        "encoding": encoding,
        "types": pairs(types, "--type", "age=number") or None,
        "na": na,
        "decimal": decimal,
        "thousands": thousands,
        "sql": sql,
        "table": table,
        "follow_links": follow_links,
        "columns": columns,
        "where": where,
        "on_error": on_error,
        "rejects": rejects,
    }


def reads(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameter `reading` stands for the options of `reading`, which it thereby has."""
    shared = signature(reading, eval_str=True).parameters
    own = signature(command, eval_str=True)
    every: list[Parameter] = []
    for name, parameter in own.parameters.items():
        every += shared.values() if name == "reading" else [parameter]

    @wraps(command)
    def run(**given: Any) -> None:
        read = reading(**{name: given.pop(name) for name in shared})
        command(**given, reading=read)

    run.__signature__ = own.replace(parameters=every)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in every}
    return run


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


def priors_of(given: str) -> Any:
    """empirical, uniform, or a=0.3,b=0.7."""
    if "=" not in given:
        return given
    parts = pairs(given.split(","), "--priors", "yes=0.3,no=0.7")
    return {name.strip(): number(chance, "--priors") for name, chance in parts.items()}


def number(text: str, option: str) -> float:
    """A number, or a sentence about the option."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{option} takes a number, not {text!r}.") from None
