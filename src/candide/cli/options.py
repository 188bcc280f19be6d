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
SomeData = Annotated[list[str] | None, typer.Argument(metavar="DATA", help=DATA_HELP, show_default=False)]
LabelToLearn = Annotated[str | None, typer.Option("--label", "-l", metavar="COLUMN", help="The column to learn.")]
LabelOfRows = Annotated[
    str | None, typer.Option("--label", "-l", metavar="COLUMN", help="The column of labels; a model knows its own.")
]
Folds = typer.Option(
    "--folds", metavar="NUMBER", help="Deal the rows into so many parts; each is judged by what the others taught."
)
Seed = Annotated[
    int | None, typer.Option("--seed", metavar="NUMBER", min=0, help="Another seed deals and draws other rows.")
]
SavedModel = typer.Option("--output", "-o", metavar="MODEL", help="Where to save the model (NAME.candide).")
OutputFile = Annotated[
    str | None, typer.Option("--output", "-o", metavar="FILE", help="A file to write; else standard output.")
]
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


FamilyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--family",
        metavar="COLUMN=FAMILY",
        help="A family by hand, such as visits=poisson, or name=ignore to leave a column out. May be repeated; "
        "without COLUMN= for all.",
    ),
]

RecipeOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE|COLUMN.KEY=VALUE",
        help="How texts are read: ngrams=2, model=complement, weighting=log, stop_words=100, idf=yes and the other "
        "parts of TextOptions. May be repeated; with COLUMN. for one column.",
    ),
]


EngineOption = Annotated[
    str,
    typer.Option(
        metavar="local|dask|spark",
        help="What does the work over rows: the cores of this machine, or a cluster, whose workers read files.",
    ),
]
SchedulerOption = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="The scheduler of --engine dask, as tcp://host:8786; else one is started."),
]
MasterOption = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="The master of --engine spark, as spark://host:7077; else this machine is."),
]


@dataclass(frozen=True)
class EngineOptions:
    """What does the work: the options of commands that only read rows."""

    engine: EngineOption = "local"
    scheduler: SchedulerOption = None
    master: MasterOption = None

    def for_verb(self) -> dict[str, Any]:
        """What the verbs call `engine`."""
        return {"engine": engine_at(self.engine, self.scheduler, self.master)}


@dataclass(frozen=True)
class ModelOptions:
    """What a model is to be: the options of every command that fits one. What is not said is chosen."""

    family: FamilyOption = None
    smoothing: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NUMBER|COLUMN=NUMBER",
            help="What is added to every count (Laplace: 1), for all columns or one. May be repeated.",
        ),
    ] = None
    priors: Annotated[
        str, typer.Option(metavar="empirical|uniform|A=0.3,B=0.7", help="How likely each class is.")
    ] = "empirical"
    class_weight: Annotated[
        str | None,
        typer.Option(metavar="balanced|A=2,B=1", help="Factors on the priors, as if a class had more rows, or fewer."),
    ] = None
    missing: Annotated[
        str,
        typer.Option(metavar="ignore|value", help="Whether a missing category says nothing, or is a value of its own."),
    ] = "ignore"
    text: RecipeOption = None
    calibrate: Annotated[
        bool, typer.Option("--calibrate/--no-calibrate", help="Whether to make probabilities mean what they say.")
    ] = True
    dependence: Annotated[
        str,
        typer.Option(
            metavar="auto|none",
            help="Whether two or three columns may speak together, and all of them be weighed beside each other, where "
            "that tells.",
        ),
    ] = "auto"
    refine: Annotated[
        str,
        typer.Option(
            metavar="none|linear|auto",
            help="Whether words and pairs of words also get weights that are fitted, a linear layer on naive Bayes: "
            "always, or where that tells.",
        ),
    ] = "none"
    engine: EngineOption = "local"
    scheduler: SchedulerOption = None
    master: MasterOption = None
    plain: Annotated[
        bool,
        typer.Option(
            "--plain",
            help="Choose nothing: families by the look of the values, usual smoothing, no calibration, unless said.",
        ),
    ] = False

    def for_verb(self) -> dict[str, Any]:
        """What the verbs that fit a model take."""
        from candide.cli.text_recipe import text_of

        if self.plain and any("=" in given for given in [*(self.family or ()), *(self.smoothing or ())]):
            said = "--plain decides about every column alike: leave it out to speak of single columns."
            raise typer.BadParameter(said)
        return {
            "families": families_of(self.family, "guess" if self.plain else "auto"),
            "smoothing": smoothing_of(self.smoothing, "default" if self.plain else "auto"),
            "priors": by_class(self.priors, "--priors"),
            "class_weight": by_class(self.class_weight, "--class-weight"),
            "missing": self.missing,
            "text": text_of(self.text),
            "calibrate": self.calibrate and not self.plain,
            "dependence": self.dependence,
            "refine": self.refine,
            "engine": engine_at(self.engine, self.scheduler, self.master),
        }


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

    output: OutputFile = None
    format: Annotated[
        RowFormat | None,
        typer.Option("--format", help="How rows are written: else by the output's name, or csv. json is jsonl."),
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


def engine_at(engine: str, scheduler: str | None, master: str | None) -> str:
    """An engine with the address of its cluster behind it.

    >>> engine_at("dask", "tcp://10.0.0.1:8786", None)
    'dask:tcp://10.0.0.1:8786'
    """
    for option, address, whose in (("--scheduler", scheduler, "dask"), ("--master", master, "spark")):
        if address is not None and engine != whose:
            raise typer.BadParameter(f"{option} is for --engine {whose}, not for --engine {engine}.")
    return ":".join(part for part in (engine, scheduler, master) if part)


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


def by_class(given: str | None, option: str) -> Any:
    """A word, such as uniform or balanced, or a number for each class: a=0.3,b=0.7; nothing where none is given."""
    if given is None or "=" not in given:
        return given
    parts = pairs(given.split(","), option, "yes=0.3,no=0.7")
    return {name.strip(): number(amount, option) for name, amount in parts.items()}


def number(text: str, option: str) -> float:
    """A number, or a sentence about the option."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{option} takes a number, not {text!r}.") from None
