"""Drift: what moved between two models, from their summaries alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from candide.data.advice import SetOption, UseVerb
from candide.data.arrays import FloatArray
from candide.data.errors import Location, SummariesDisagree
from candide.data.times import is_time
from candide.data.values import Key, shown
from candide.evaluation.drift.counts import PairedCounts
from candide.evaluation.drift.divergence import NO_DIVERGENCE, Divergence
from candide.evaluation.drift.paired_column import PairedColumn, Rows
from candide.evaluation.drift.pairing import columns_seen, paired_column
from candide.evaluation.drift.result import ClassShift, ColumnDrift, Drift
from candide.model.evaluation import whole
from candide.model.trained_model import TrainedModel


def drift_between(first: TrainedModel, second: TrainedModel, names: tuple[str, str] = ("before", "after")) -> Drift:
    """What moved from the first model to the second: rows, classes and columns; words where there are texts.

    >>> from candide.data.batch import Batch
    >>> from candide.model.options import Options
    >>> from candide.training.fit import fit_rows
    >>> monday = Batch.of({"x": ["a", "b"] * 40, "z": ["u", "u", "v", "v"] * 20}, ["no", "no", "yes", "yes"] * 20)
    >>> tuesday = Batch.of({"x": ["a"] * 75 + ["b"] * 5, "z": ["u", "v"] * 40}, ["no", "yes"] * 40)
    >>> found = drift_between(fit_rows(Options(), monday), fit_rows(Options(), tuesday))
    >>> [(column.column, column.sentence) for column in found.moved]
    [('x', 'a 94%, was 50%; b 6.2%, was 50%')]
    """
    refuse_other_questions(first, second, names)
    classes = tuple(sorted({*first.summary.classes, *second.summary.classes}))
    before, after = (columns_seen(trained, classes) for trained in (first, second))
    rows = rows_in_each(first, classes), rows_in_each(second, classes)
    found, refused = [], []
    done: set[str] = set()
    for column in before:
        if column in after and column not in done:
            paired = paired_column(before[column], after[column], rows)
            if isinstance(paired, str):
                refused.append((column, paired))
                continue
            name, together, pair = paired
            done |= {*together}
            kind = first.schema.kinds.get(column, "")
            found.append(column_drift(name, pair, rows, classes, kind if is_time(kind) else ""))
    of_classes = PairedCounts(rows[0][:, None], rows[1][:, None]).divergence
    found = [replace(one, follows_classes=follows(one, of_classes)) for one in found]
    found.sort(key=lambda one: (not one.has_moved, -max(one.overall.excess, one.within.excess)))
    return Drift(
        first.label,
        names,
        (first.summary.rows, second.summary.rows),
        tuple(class_shifts(classes, rows)),
        of_classes,
        tuple(found),
        tuple(column for column in before if column not in after),
        tuple(column for column in after if column not in before),
        tuple(refused),
    )


def refuse_other_questions(first: TrainedModel, second: TrainedModel, names: tuple[str, str]) -> None:
    """Raise where two models are not about the same thing."""
    if first.label != second.label:
        raise SummariesDisagree(
            f"{names[0]} learned column '{first.label}' and {names[1]} learned '{second.label}', so there is no drift "
            "between them.",
            advice="Choose two models of the same label.",
            where=Location(names[1], column=second.label),
            expected=f"a model of column '{first.label}'",
        )
    kinds = {kind for kind, _ in (*first.summary.classes, *second.summary.classes)}
    if len(kinds) > 1:
        raise SummariesDisagree(
            f"The labels of {names[0]} and {names[1]} are of two kinds ({' and '.join(sorted(kinds))}), so no class of "
            "the one is a class of the other.",
            advice=("Fit one of them like the other, with ", UseVerb("fit", (SetOption("like"),)), "."),
        )
    mine, theirs = first.schema.columns, second.schema.columns
    if mine and theirs and not {*mine} & {*theirs}:
        raise SummariesDisagree(
            f"These have no column in common: '{mine[0]}' is only in {names[0]}, '{theirs[0]}' only in {names[1]}.",
            advice="Choose two models of the same columns.",
            where=Location(names[1], column=theirs[0]),
        )


def rows_in_each(trained: TrainedModel, classes: tuple[Key, ...]) -> FloatArray:
    """The rows of each class, among those of both models."""
    counts = dict(zip(trained.summary.classes, trained.summary.counts.tolist(), strict=True))
    return np.array([counts.get(key, 0) for key in classes], dtype=np.float64)


def class_shifts(classes: tuple[Key, ...], rows: Rows) -> list[ClassShift]:
    """Each class before and after; whole numbers of rows where they are."""
    totals = [max(float(one.sum()), 1.0) for one in rows]
    return [
        ClassShift(shown(key), *(whole(one[index]) for one in rows),
                   *(float(one[index] / total) for one, total in zip(rows, totals, strict=True)))
        for index, key in enumerate(classes)
    ]  # fmt: skip


def column_drift(name: str, column: PairedColumn, rows: Rows, classes: tuple[Key, ...], times: str) -> ColumnDrift:
    """How far a column moved; where it did, what moved: in all rows, or in the class that moved farthest."""
    both = [index for index in range(len(classes)) if rows[0][index] and rows[1][index]]
    by_class = {index: column.of_class(index).divergence for index in both}
    shares = rows[0] / max(rows[0].sum(), 1.0) + rows[1] / max(rows[1].sum(), 1.0)
    total = sum(float(shares[index]) for index in both)
    weights = [float(shares[index]) / total for index in both]
    within = Divergence.weighted(list(by_class.values()), weights) if both else NO_DIVERGENCE
    alone = bool(column.singled_out)
    found = ColumnDrift(name, column.divergence, within, times=times, singled_out=alone)
    if found.overall.is_beyond_chance or alone:
        return replace(found, changes=column.changes)
    if not found.has_moved:
        return found
    farthest = max(both, key=lambda index: (by_class[index].is_beyond_chance, by_class[index].excess))
    return replace(found, changes=column.of_class(farthest).changes, in_class=shown(classes[farthest]))


def follows(one: ColumnDrift, classes: Divergence) -> bool:
    """Whether what moved in a column is what comes of classes that moved."""
    return one.has_moved and classes.is_beyond_chance and not one.within.is_beyond_chance
