"""From what a user names to rows that fit the model: the options of reading, and the first rows to choose from."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, TypedDict

import pyarrow as pa

from candide import engines
from candide.api.verbs.fitted import Fitted
from candide.data.advice import SetOption, message_parts
from candide.data.batch import Batch
from candide.data.errors import LabelsRefused, Location, OptionRefused
from candide.data.joined import joined_batches
from candide.data.progress import Watch, unwatched
from candide.engines.base.plan import Plan
from candide.families.base import competing
from candide.model.guess import BY_TYPE
from candide.model.options import Options
from candide.model.row_sample import BYTES_TO_LOOK_AT, ROWS_TO_LOOK_AT, Reservoir
from candide.model.schema import Choice
from candide.model.trained_model import TrainedModel
from candide.selection.user_options import is_settled
from candide.sources import Source
from candide.sources.mixed import MIXED
from candide.statistics.column_memory import ColumnMemory
from candide.statistics.cross_sums import CrossSums
from candide.statistics.sums import Sums
from candide.statistics.tally import Tally

KINDS = ("text", "number", "truth")

ROWS_TO_SHOW_COLUMNS = 1000
"""So many rows show which columns there are, where all about them was said."""


class SourceOptions(TypedDict, total=False):
    """How a source is read; see `candide.sources.open_source`."""

    format: str | None
    delimiter: str | None
    encoding: str | None
    types: Mapping[str, str] | None
    na: str | Sequence[str] | None
    decimal: str | None
    thousands: str | None
    sql: str | None
    table: str | None
    follow_links: bool
    columns: str | Sequence[str] | None
    where: str | None
    on_error: str
    rejects: str | os.PathLike[str] | None


class OthersAsText(dict[str, str]):
    """Kinds by column, where a column that is not named is text: it then passes through as it was written."""

    def get(self, column: str, default: Any = None) -> Any:
        return super().get(column, "text")


def labelled_source(
    data: Any,
    label: str | None,
    expected: Mapping[str, str] | None,
    reading: SourceOptions,
    engine: str = engines.DEFAULT,
) -> Source:
    """A source whose rows have labels."""
    source = engines.named(engine).opened(data, label=label, expected=expected, **reading)
    if source.label is None:
        columns = ", ".join(f"'{name}'" for name in source.columns[:20])
        raise LabelsRefused(
            "Which column is to be learned?",
            advice=(
                "Name it: ",
                SetOption("label"),
                f". The columns of {source.name}: {columns}{', ...' if len(source.columns) > 20 else ''}.",
            ),
            where=Location(source.name),
        )
    return source


def left_out_notes(source: Source) -> list[str]:
    """What was not read: files, and rows that could not be."""
    rejects = source.rejects
    if not rejects.count or rejects.first is None:
        return list(source.notes)
    became = "came back without an answer" if rejects.keeps else "were left out"
    where = f" They are listed in {rejects.path}." if rejects.path is not None else ""
    said = f"{rejects.count:,} rows {became}. The first: {rejects.first.place}: {rejects.first.reason}{where}"
    return [*source.notes, said]


def passes_in_words(source: Source) -> list[str]:
    """How often an engine of a cluster went over the rows, and how much came of it."""
    if not source.passes:
        return []
    works = ", ".join(f"{one.work.lower()} {one.nbytes / 1e6:,.1f} MB" for one in source.passes)
    read = f"{amount_of(source.passes[0].parts, 'part')} and {amount_of(len(source.passes), 'pass', 'passes')}"
    return [f"Rows were read where they are, in {read}, which moved: {works}."]


def amount_of(number: int, one: str, many: str = "") -> str:
    """A number of things in words.

    >>> amount_of(1, "part"), amount_of(2_000, "part")
    ('1 part', '2,000 parts')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def refuse_rows_with_texts(data: Any, text: str | Sequence[str] | None) -> None:
    """Raise unless either rows or texts were given."""
    if (data is None) == (text is None):
        given = "Neither rows nor texts were given." if data is None else "Rows and texts were both given."
        raise OptionRefused(given, advice="Give rows, or texts, and not both.")


def texts_alone(fitted: Fitted, text: str | Sequence[str]) -> Any:
    """Rows with nothing in them but texts, for a model that reads one column of text."""
    columns = [c.column for c in fitted.trained.schema.choices if c.family and c.family.reads == competing.TEXT]
    if len(columns) != 1:
        raise OptionRefused(
            f"The model has {len(columns)} columns of text, so a text alone says "
            f"{'nothing to it' if not columns else 'too little'}.",
            advice="Give a file with a row instead.",
        )
    return pa.table({columns[0]: pa.array([text] if isinstance(text, str) else list(text), pa.string())})


def expected_kinds(trained: TrainedModel) -> dict[str, str]:
    """What each column is known as, label included, so that a file is read as the rows before were."""
    found: dict[str, str] = {}
    for block, seen in zip(trained.summary.blocks, trained.summary.statistics, strict=True):
        if isinstance(seen, ColumnMemory):
            found |= kinds_of_columns(seen, block.columns)
        elif isinstance(seen, Tally) and isinstance(seen.slots, tuple):
            found |= kinds_of_values(seen)
        elif block not in trained.schema.pair_blocks:
            numbers = isinstance(seen, (Sums, CrossSums, Tally))
            found |= dict.fromkeys(block.columns, "number" if numbers else "text")
    kinds = {kind for kind, _ in trained.summary.classes}
    if trained.label is not None and len(kinds) == 1 and kinds <= {*KINDS}:
        found[trained.label] = kinds.pop()
    return found | trained.schema.kinds


def told_how_read(
    trained: TrainedModel, source: Source, columns: Collection[str], reading: SourceOptions
) -> TrainedModel:
    """The choices for some columns with how they were read, where that is not plain to see, and why."""
    by_hand = set(reading.get("types") or ())

    def told(choice: Choice) -> Choice:
        kind = source.read_as.get(choice.column)
        if kind is None or choice.column not in columns:
            return choice
        spoken = kind.spec not in (*KINDS, "integer")
        reason = f"{kind.said}; {choice.reason}" if kind.said else choice.reason
        warning = "" if choice.column in by_hand and BY_TYPE in message_parts(choice.warning) else choice.warning
        return replace(choice, kind=kind.spec if spoken else choice.kind, reason=reason, warning=warning)

    choices = tuple(map(told, trained.schema.choices))
    return replace(trained, schema=replace(trained.schema, choices=choices))


def kinds_of_columns(seen: ColumnMemory, columns: Sequence[str]) -> dict[str, str]:
    """The columns that hold numbers only, other values that are all of one kind, or numbers beside texts."""
    others = kinds_of_values(seen.others)
    named = {slot[0] for slot in seen.others.open_slots if slot[1] != "missing"}
    held = {name for name, cells in zip(columns, seen.cells, strict=True) if len(cells)}
    alone = {name: kind for name, kind in others.items() if name not in held}
    beside = {name: MIXED for name, kind in others.items() if name in held and kind == "text"}
    return {**dict.fromkeys(held - named, "number"), **alone, **beside}


def kinds_of_values(seen: Tally) -> dict[str, str]:
    """The columns whose values are all of one kind."""
    kinds: dict[str, set[str]] = {}
    for name, kind, _ in seen.open_slots:
        if kind != "missing":
            kinds.setdefault(name, set()).add(kind)
    return {name: next(iter(one)) for name, one in kinds.items() if len(one) == 1 and one <= {*KINDS}}


def watched(source: Source, work: str, watch: Watch, engine: str = engines.DEFAULT) -> Iterable[Batch]:
    """All rows, once; who watches sees the work from the first batch to the last."""
    return engines.named(engine).rows(source, work, watch)


def rows_to_choose_from(
    source: Source, watch: Watch, options: Options
) -> tuple[Batch | Reservoir, list[Batch] | None]:
    """The first rows, as `first_rows` gives them; of rows that lie elsewhere, those picked by content from all over.

    Where all was said, nothing is chosen: a few rows then show which columns there are.
    """
    rows = watched(source, "Picking", watch, options.engine)
    if not isinstance(rows, Plan):
        return first_rows(source, watch)
    by_class = isinstance(options.priors, Mapping) or isinstance(options.class_weight, Mapping)
    if not (options.calibrate or by_class or options.unlabelled == "em"):
        few, _ = first_rows(source, most=ROWS_TO_SHOW_COLUMNS)
        if is_settled(options, options.choose(few)):
            return few, None
    return engines.named(options.engine).pick(rows), None


def first_rows(
    source: Source, watch: Watch = unwatched, most: int | None = None
) -> tuple[Batch, list[Batch] | None]:
    """The rows to choose from, in one batch; and all batches where these were all rows."""
    batches, most = list[Batch](), ROWS_TO_LOOK_AT if most is None else most
    rows = size = 0
    pieces: Any = source.batches
    with watch("Reading", source.size) as report, closing(pieces(report)) as reading:
        for batch in reading:
            batches.append(batch)
            rows += len(batch)
            size += size_of(batch)
            if rows >= most or size >= BYTES_TO_LOOK_AT:
                sample = joined_batches(batches)
                return sample.rows(0, min(len(sample), most)), None
    return joined_batches(batches), batches


def size_of(batch: Batch) -> int:
    """The bytes of the columns, as far as they are Arrow's."""
    columns = (batch.columns.raw(index) for index in range(len(batch.names)))
    return sum(column.nbytes for column in columns if hasattr(column, "nbytes"))


def named_sources(source: Source) -> list[str]:
    """The files rows came from, by name."""
    files = source.describe().get("files")
    return [str(name) for name in files] if isinstance(files, list) else [source.name]
