"""fit: choose a family for every column, learn all rows, and keep what was learned."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, replace
from functools import partial
from typing import Any, Unpack

import numpy as np
import pyarrow as pa

from candide import engines, store
from candide.api.class_names import by_meant_class
from candide.api.verbs.fitted import Fitted, Path, being_written, opened_model
from candide.api.verbs.reading import (
    SourceOptions,
    expected_kinds,
    labelled_source,
    left_out_notes,
    named_sources,
    passes_in_words,
    rows_to_choose_from,
    told_how_read,
    watched,
)
from candide.data.advice import NamedOption, SetOption
from candide.data.batch import Batch
from candide.data.errors import ColumnRefused, LabelsRefused, Location, OptionRefused, suggestion
from candide.data.progress import Watch, unwatched
from candide.data.values import shown
from candide.model.expected import Expected
from candide.model.guess import A_NUMBER
from candide.model.options import Options
from candide.model.predictor import Priors
from candide.model.row_sample import ROWS_TO_LOOK_AT, Reservoir
from candide.model.schema import Families, Smoothing, Text
from candide.model.trained_model import TrainedModel
from candide.sources import Source, ValueMisfit
from candide.sources.arrow_types import nested
from candide.sources.kinds import TEXT, kind_of_sample
from candide.statistics.column_memory import ColumnMemory
from candide.statistics.tally import Tally
from candide.training.fit import fit_rows
from candide.training.refill import refilled

MISTAKES = 10_000
"""One value in so many that is no number, in a column of numbers, is a mistake."""


def fit(
    data: Any,
    label: str | None = None,
    output: Path | None = None,
    *,
    families: Families = "auto",
    smoothing: Smoothing = "auto",
    priors: Priors = "empirical",
    class_weight: Priors | None = None,
    missing: str = "ignore",
    text: Text = None,
    calibrate: bool = True,
    engine: str = engines.DEFAULT,
    ledger: bool = False,
    dependence: str = "auto",
    refine: str = "none",
    unlabelled: str = "refuse",
    like: Any = None,
    force: bool = False,
    watch: Watch = unwatched,
    **reading: Unpack[SourceOptions],
) -> Fitted:
    """Learn rows from scratch, and save the model where `output` says.

    The options are those of `candide.NaiveBayes`, which tells what each means. Every row is learned; families and
    smoothing are read off what was learned, and probabilities calibrated on rows from all over the data, by which is
    also chosen how texts are read. `like` takes all choices from another model instead.
    With a `ledger` the model notes a hash of every row:
    `forget` then refuses every row that was never learned, and `inspect(model, knows=rows)` tells which were. With
    `unlabelled="em"` rows whose label is missing take part, as far as labelled rows gain by it. A file
    that is no model, or that is read here, is written over only by `force`.

    >>> rows = {"weather": ["sun", "rain", "rain", "sun"], "plan": ["beach", "home", "home", "beach"]}
    >>> print(fit(rows, "plan"))
    Fitted on 4 rows: plan is one of beach, home
    """
    engines.refuse_unknown_engine(engine)
    options = Options(families, smoothing, priors, class_weight, missing, text, calibrate, engine, ledger, dependence,
                      refine, unlabelled)  # fmt: skip
    store.refuse_rejects(reading.get("rejects"), [data, like, output])
    with being_written(output, data, force):
        if like is not None:
            fitted = fit_like(data, label, opened_model(like), options, watch, reading)
        else:
            fitted = fit_anew(data, label, options, watch, reading)
        fitted.trained.predictor  # noqa: B018  (refuses priors that do not fit, before anything is saved)
        if output is not None:
            fitted.save(output, force)
    return fitted


def fit_anew(
    data: Any,
    label: str | None,
    options: Options,
    watch: Watch,
    reading: SourceOptions,
    found: Mapping[str, str] | None = None,
) -> Fitted:
    """Look at the first rows, learn all, and choose.

    Where a column turns out to hold other values than its first rows did, it is read as what it was `found` to be, from
    the beginning, as it would have been had such values come first. A few among very many are mistakes, and refused.
    """
    given, found = dict(reading.get("types") or {}), dict(found or {})
    try:
        fitted, source = fit_once(data, label, options, watch, reading, found | given)
    except ValueMisfit as problem:
        column = problem.where.column
        if column is None or column in given or found.get(column) == TEXT.name:
            raise
        fitted = fit_anew(data, label, options, watch, reading, found | {column: TEXT.name})
        if are_mistakes(fitted.trained, column):
            raise
        return fitted
    undecided = {name for name, kind in source.read_as.items() if kind.name == TEXT.name} - {*found, *given}
    late = kinds_met(fitted.trained, undecided)
    return fit_anew(data, label, options, watch, reading, found | late) if late else fitted


def open_values(trained: TrainedModel) -> dict[str, Tally]:
    """The values of each column left open that are no numbers."""
    pairs = zip(trained.summary.blocks, trained.summary.statistics, strict=True)
    return {
        name: seen.values_of(name)
        for block, seen in pairs
        if isinstance(seen, ColumnMemory)
        for name in {slot[0] for slot in seen.others.open_slots}
    }


def are_mistakes(trained: TrainedModel, column: str) -> bool:
    """Whether so few values of a column are no numbers that its first rows would hardly have shown any."""
    values = open_values(trained).get(column)
    if values is None:
        return False
    others = [A_NUMBER.fullmatch(str(value).strip()) is None for _, _, value in values.open_slots]
    counts = values.counts.sum(axis=1)
    return bool(MISTAKES * counts[np.array(others, dtype=bool)].sum() < counts.sum())


def kinds_met(trained: TrainedModel, columns: Collection[str]) -> dict[str, str]:
    """What columns hold that were read as text because their first rows were empty, where that is something else."""
    found = {
        name: kind_of_sample(pa.array([value for _, _, value in values.open_slots], pa.string()))[0]
        for name, values in open_values(trained).items()
        if name in columns
    }
    return {name: kind.spec for name, kind in found.items() if kind.name != TEXT.name}


def fit_once(
    data: Any, label: str | None, options: Options, watch: Watch, reading: SourceOptions, types: Mapping[str, str]
) -> tuple[Fitted, Source]:
    """Look at the first rows, learn all, and choose; columns are read as these types, others as their first rows."""
    read: SourceOptions = {**reading, "types": types or None}
    source = labelled_source(data, label, None, read, options.engine)
    source.keeps_unlabelled = options.unlabelled == "em"
    sample, batches = rows_to_choose_from(source, watch, options)
    options = options_for(options, sample.rows() if isinstance(sample, Reservoir) else sample, source)
    few = batches is None and not (isinstance(sample, Reservoir) and sample.seen <= ROWS_TO_LOOK_AT)
    everything = partial(watched, source, "Learning", watch, options.engine) if batches is None else None
    trained = fit_rows(options, sample, everything, source.label, watch)
    trained = told_how_read(trained, source, source.names, reading)
    texts = any(choice.family is not None and choice.family.has_recipe for choice in trained.schema.choices)
    looked = f"How texts are read was chosen from {ROWS_TO_LOOK_AT:,} rows of all over." if few and texts else ""
    return with_provenance(trained, source, [looked]), source


def options_for(options: Options, sample: Batch, source: Source) -> Options:
    """What was asked for, in terms of these rows: classes as they are in them; raises where rows cannot be learned."""
    refuse_numbers_as_labels(sample, source)
    refuse_nested(sample, source, options.families)
    classes = sample.labels.keys if sample.labels else ()
    priors, factors = by_meant_class(options.priors, classes), by_meant_class(options.class_weight, classes)
    return replace(options, priors=priors, class_weight=factors)


def fit_like(
    data: Any, label: str | None, first: Fitted, options: Options, watch: Watch, reading: SourceOptions
) -> Fitted:
    """The choices of another model, for other rows."""
    if replace(options, ledger=False) != Options():
        but = NamedOption("ledger")
        raise OptionRefused(
            NamedOption("like"), " takes every option but ", but, " from the other model.", advice="Leave them out."
        )
    if label not in (None, first.label):
        raise OptionRefused(
            f"The model to be like learned column '{first.label}', not '{label}'.",
            advice="Leave the label out.",
            where=Location(column=label),
        )
    source = labelled_source(data, first.label, expected_kinds(first.trained), reading)
    refuse_new_columns(source, first.trained, "Fit without it, or leave the column out of the file.")
    keeps = replace(first.trained.options, ledger=options.ledger or first.trained.options.ledger)
    with watch("Learning", source.size) as report:
        trained = refilled(replace(first.trained, options=keeps), source.batches(report))
    return with_provenance(trained, source, [])


def with_provenance(trained: TrainedModel, source: Source, notes: Iterable[str]) -> Fitted:
    """What was learned, with where it came from and what is worth saying."""
    read = {**source.describe(), **source.selection.describe()}
    if source.passes:
        read["passes"] = [asdict(one) for one in source.passes]
    provenance = {**store.provenance(named_sources(source), trained.summary.rows), "read": read}
    said = [*notes, *worth_saying(trained), *left_out_notes(source), *passes_in_words(source)]
    return Fitted(replace(trained, provenance=provenance), tuple(note for note in said if note))


def worth_saying(trained: TrainedModel) -> list[str]:
    """What a user should know before trusting the model."""
    classes, rows = trained.summary.classes, trained.summary.rows
    said = [] if trained.expected is None else [unlabelled_in_words(trained.expected)]
    if len(classes) == 1:
        said.append(f"There is only one class, '{shown(classes[0])}': it will always be the answer.")
    if len(classes) > 50 and 5 * len(classes) > rows:
        said.append(f"There are {len(classes):,} classes in {rows:,} rows: is '{trained.label}' the column you meant?")
    return said


def unlabelled_in_words(expected: Expected) -> str:
    """What became of rows without a label."""
    rows, counted = expected.rows, expected.summary.rows
    if not counted:
        return f"Rows without a label ({rows:,}) weigh nothing: labelled ones gain nothing by them, or are too few."
    return f"Rows without a label ({rows:,}) take part by EM, and count as {counted:,.0f}, apart from labelled ones."


def refuse_numbers_as_labels(sample: Batch, source: Source) -> None:
    """A class is a name or a whole number."""
    broken = next((v for _, v in sample.labels.keys if isinstance(v, float)), None) if sample.labels else None
    if broken is not None:
        raise LabelsRefused(
            f"Column '{source.label}' of {source.name} holds numbers such as {broken:g}, but a label is a class: a "
            "name or a whole number.",
            advice=("Choose another label, or read it as names: ", SetOption("types", "text", source.label), "."),
            where=Location(source.name, column=source.label, value=broken),
            expected="a name or a whole number",
        )


def refuse_nested(sample: Batch, source: Source, families: Families = "auto", known: Iterable[str] = ()) -> None:
    """Lists and the like are no values to learn from; whoever knows leaves such a column out."""
    for index, name in enumerate(sample.names):
        held = nested(getattr(sample.columns.raw(index), "type", None))
        ignored = name in known or (isinstance(families, Mapping) and families.get(name) == "ignore")
        if held and not ignored:
            raise ColumnRefused(
                f"{source.name}: column '{name}' holds {held}, of which nothing can be learned as it is.",
                advice=("Leave it out of the rows, or of a new fit: ", SetOption("families", "ignore", name), "."),
                where=Location(source.name, column=name),
            )


def refuse_new_columns(source: Source, trained: TrainedModel, advice: str) -> None:
    """Raise where a file has a column that the model does not know."""
    known = trained.schema.columns
    unknown = [name for name in source.names if name not in set(known)]
    if unknown:
        raise ColumnRefused(
            f"{source.name} has a column '{unknown[0]}' that the model does not know.",
            advice=(suggestion(unknown[0], known), " ", advice),
            where=Location(source.name, column=unknown[0]),
        )
