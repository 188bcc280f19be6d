"""learn, forget and refit: more rows, fewer, or the same with choices made anew, in a model at hand or in its file."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Unpack

from candide import engines, store
from candide.api.verbs.fitted import Fitted, Path, being_written, opened_model, with_event
from candide.api.verbs.fitting import MISTAKES, fit_anew, open_values, refuse_nested
from candide.api.verbs.reading import (
    SourceOptions,
    expected_kinds,
    first_rows,
    labelled_source,
    left_out_notes,
    named_sources,
    told_how_read,
    watched,
)
from candide.data.errors import OptionRefused
from candide.data.progress import Watch, unwatched
from candide.data.values import shown
from candide.families.base.undecided import Undecided
from candide.model.trained_model import TrainedModel
from candide.sources import Source, ValueMisfit
from candide.sources.mixed import MIXED
from candide.training.forget import forget_rows, refuse_others
from candide.training.learn import learn_rows, with_columns_of
from candide.training.reread import reread
from candide.training.traces import CHOICES_REMEMBER, without_origin

Change = Callable[[Fitted, Source], Fitted]
"""What becomes of a model and rows with labels."""


def learn(
    model: Any,
    data: Any,
    output: Path | None = None,
    *,
    force: bool = False,
    engine: str = engines.DEFAULT,
    watch: Watch = unwatched,
    **reading: Unpack[SourceOptions],
) -> Fitted:
    """Learn more rows. New classes, values and columns are welcome; what was chosen stays chosen.

    A model file is replaced whole (or left alone, where `output` names another): readers may go on meanwhile, and a
    second writer waits for the first. With the `engine` of a cluster its workers count the rows.
    """

    def change(before: Fitted, source: Source) -> Fitted:
        wider = replace(before.trained, options=replace(before.trained.options, engine=engine))
        new = set(source.names) - set(wider.schema.columns)
        if new:
            sample = first_rows(source)[0]
            refuse_nested(sample, source, known=wider.schema.columns)
            wider = told_how_read(with_columns_of(wider, sample), source, new, reading)
        after = reread(learn_rows(wider, watched(source, "Learning", watch, engine)), watch)
        return changed_model(before, after, "learn", source, news(before.trained, after, source))

    return saved_change(model, data, output, change, force, reading, engine)


def forget(
    model: Any,
    data: Any,
    output: Path | None = None,
    *,
    force: bool = False,
    engine: str = engines.DEFAULT,
    watch: Watch = unwatched,
    **reading: Unpack[SourceOptions],
) -> Fitted:
    """Forget rows that were learned, as if they had never been. All of them, or none if one was not learned.

    What only these rows had goes with them: sums, words, classes, columns, and where rows came from and how well they
    fared. What was chosen before may still bear traces of them; `refit` leaves none. With the `engine` of a cluster
    its workers count the rows.
    """

    def change(before: Fitted, source: Source) -> Fitted:
        there = replace(before.trained, options=replace(before.trained.options, engine=engine))
        after = reread(forget_rows(there, watched(source, "Forgetting", watch, engine)), watch)
        fitted = changed_model(
            before, after, "forget", source, [*news(before.trained, after, source), CHOICES_REMEMBER]
        )
        origin = without_origin(fitted.provenance)
        return replace(fitted, trained=replace(fitted.trained, provenance=origin))

    return saved_change(model, data, output, change, force, reading, engine)


def refit(
    model: Any,
    data: Any = None,
    output: Path | None = None,
    *,
    force: bool = False,
    watch: Watch = unwatched,
    **reading: Unpack[SourceOptions],
) -> Fitted:
    """Make choices anew: without data, what can be read off the model's own counts; with data, every choice.

    The data are the rows that were learned and not forgotten, given again. Afterwards the model is the one that `fit`
    makes of these rows: nothing is left of any other. Rows that are not exactly those of the model are refused; their
    summary would not be the model's own.
    """
    if data is None:
        return refit_without_rows(model, output, force, watch)

    def change(before: Fitted, source: Source) -> Fitted:
        with watch("Comparing", source.size) as report:
            refuse_others(before.trained, source.batches(report))
        return fit_anew(data, before.label, before.trained.options, watch, reading)

    refuse_standard_input(data)
    return saved_change(model, data, output, change, force, reading)


def refit_without_rows(model: Any, output: Path | None, force: bool, watch: Watch) -> Fitted:
    """The model with families, bins, grouping and smoothing read off anew; saved where it came from, or as asked."""
    target = output if output is not None else model if isinstance(model, (str, os.PathLike)) else None
    opened_model(model)
    with being_written(target, None, force):
        before = opened_model(model)
        provenance = with_event(before.provenance, "refit", [], before.rows) if before.provenance else {}
        after = Fitted(replace(reread(before.trained, watch), provenance=provenance), of_age(before.trained))
        if target is not None:
            after.save(target, force)
    return after


def of_age(trained: TrainedModel) -> tuple[str, ...]:
    """What was chosen from whole rows and is older than the counts."""
    tuning = trained.tuning
    if tuning.calibration is None or tuning.rows in (0, trained.summary.rows):
        return ()
    what = "Calibration is" if tuning.layer is None else "Calibration and the linear layer are"
    return (f"{what} still that of {tuning.rows:,} rows: give the rows to make it anew.",)


def refuse_standard_input(data: Any) -> None:
    """Raise where rows come through a pipe, which cannot be read once to compare and once to learn."""
    if refuses_pipe(data):
        raise OptionRefused(
            "refit reads its rows twice, which standard input does not allow.", advice="Write them to a file."
        )


def saved_change(
    model: Any,
    data: Any,
    output: Path | None,
    change: Change,
    force: bool,
    reading: SourceOptions,
    engine: str = engines.DEFAULT,
) -> Fitted:
    """The model changed by rows; saved, while nobody else writes, where it came from a file or `output` names one."""
    store.refuse_rejects(reading.get("rejects"), [data, model, output])
    target = output if output is not None else model if isinstance(model, (str, os.PathLike)) else None
    opened_model(model)  # a model that is none is refused before a lock is left beside it
    with being_written(target, data, force):
        after = changed_by(opened_model(model), data, change, reading, engine)
        if target is not None:
            after.save(target, force)
    return after


def changed_by(
    before: Fitted,
    data: Any,
    change: Change,
    reading: SourceOptions,
    engine: str,
    mixed: frozenset[str] = frozenset(),
) -> Fitted:
    """The model changed by rows.

    Where words turn up in a column of numbers that was left open, each value is taken as it is, from the first row on;
    a few among very many are mistakes, and refused.
    """
    kinds = {**expected_kinds(before.trained), **dict.fromkeys(mixed, MIXED)}
    try:
        return change(before, labelled_source(data, before.label, kinds, reading, engine))
    except ValueMisfit as problem:
        column = problem.where.column or ""
        given = {*(reading.get("types") or ()), *mixed}
        if column not in open_columns(before.trained) - given or refuses_pipe(data):
            raise
        after = changed_by(before, data, change, reading, engine, mixed | {column})
        if are_few(after.trained, column, after.changed):
            raise
        return after


def open_columns(trained: TrainedModel) -> set[str]:
    """The columns that remember whatever comes."""
    return {name for name, family in trained.schema.remembered.items() if isinstance(family, Undecided)}


def are_few(trained: TrainedModel, column: str, rows: float) -> bool:
    """Whether next to none of so many rows hold something that is no number."""
    values = open_values(trained).get(column)
    return values is None or bool(MISTAKES * values.counts.sum() < rows)


def refuses_pipe(data: Any) -> bool:
    """Whether rows come through a pipe, which was read as far as it goes."""
    return data == "-" or (isinstance(data, (list, tuple)) and "-" in data)


def changed_model(before: Fitted, after: TrainedModel, verb: str, source: Source, notes: list[str]) -> Fitted:
    """The model after a change, which its provenance tells of."""
    rows = abs(after.summary.rows - before.rows)
    provenance = with_event(before.provenance, verb, named_sources(source), rows)
    return Fitted(replace(after, provenance=provenance), (*notes, *left_out_notes(source)), rows)


def news(before: TrainedModel, after: TrainedModel, source: Source) -> list[str]:
    """Which classes and columns came or went."""
    old, new = before.summary.classes, after.summary.classes
    came = [shown(key) for key in new if key not in old]
    went = [shown(key) for key in old if key not in new]
    fresh = [c for c in after.schema.choices if c.column not in set(before.schema.columns)]
    lacking = [c.column for c in before.schema.choices if c.family and c.column not in set(source.columns)]
    said = [f"New class: {name}." for name in came] + [f"No row is left of class {name}." for name in went]
    said += [f"New column: {c.column}, {c.family.name if c.family else 'left out'} ({c.reason})." for c in fresh]
    return said + [f"These rows have no column '{name}': it counts as missing in them." for name in lacking]
