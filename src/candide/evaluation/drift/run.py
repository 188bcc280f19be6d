"""Drift: what moved between two models, from their summaries alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from candide.data.advice import SetOption, UseVerb
from candide.data.arrays import FloatArray
from candide.data.errors import Location, SummariesDisagree
from candide.data.times import is_time
from candide.data.values import Key, shown
from candide.evaluation.drift.counts import PairedCounts
from candide.evaluation.drift.divergence import NO_DIVERGENCE, Divergence
from candide.evaluation.drift.paired_column import PairedColumn, Rows
from candide.evaluation.drift.result import ClassShift, ColumnDrift, Drift
from candide.evaluation.drift.sums_column import SumsColumn
from candide.evaluation.drift.values_column import ValuesColumn
from candide.evaluation.drift.words_column import WordsColumn
from candide.families.base.competing import TRUTH
from candide.families.base.events import block_name
from candide.families.base.family import AnyFamily
from candide.model.summary import family_in_words
from candide.model.trained_model import TrainedModel
from candide.statistics.column_memory import ColumnMemory
from candide.statistics.cross_sums import CrossSums
from candide.statistics.sums import Sums
from candide.statistics.tally import Tally
from candide.statistics.word_tally import WordTally


@dataclass(frozen=True, eq=False)
class ColumnSeen:
    """What one model remembers of a column: the columns it is remembered with, under a family, among all classes."""

    column: str
    family: AnyFamily
    columns: tuple[str, ...]
    statistic: Any

    @property
    def index(self) -> int:
        return self.columns.index(self.column)

    @property
    def sums(self) -> Sums | None:
        """The sums of the column, where they are remembered."""
        seen = self.statistic.numbers if isinstance(self.statistic, ColumnMemory) else self.statistic
        seen = seen.of_columns if isinstance(seen, CrossSums) else seen
        return seen.column(self.index) if isinstance(seen, Sums) else None

    def read_as(self, other: ColumnSeen) -> ColumnSeen | None:
        """The same column as the other's family remembers it, where that can be read off."""
        family = other.family
        if not isinstance(self.statistic, ColumnMemory) or not family.is_read_off or family.is_joint:
            return None
        seen = family.read_off(self.statistic, self.columns, (self.column,))
        return ColumnSeen(self.column, family, (self.column,), seen)


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
    rows = rows_of(first, classes), rows_of(second, classes)
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


def rows_of(trained: TrainedModel, classes: tuple[Key, ...]) -> FloatArray:
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


def whole(number: float) -> float:
    """A whole number as such."""
    return int(number) if float(number).is_integer() else float(number)


def columns_seen(trained: TrainedModel, classes: tuple[Key, ...]) -> dict[str, list[ColumnSeen]]:
    """All that is remembered of each column that has a say, among the classes of both models."""
    summary = trained.summary
    positions = np.array([classes.index(key) for key in summary.classes], dtype=np.int64)
    speaking = [choice.column for choice in trained.schema.choices if choice.family is not None]
    found: dict[str, list[ColumnSeen]] = {column: [] for column in speaking}
    for block, statistic in zip(summary.blocks, summary.statistics, strict=True):
        spread = statistic.spread(positions, len(classes))
        for column in block.columns:
            if column in found:
                found[column].append(ColumnSeen(column, block.family, block.columns, spread))
    return found


Paired = tuple[str, tuple[str, ...], PairedColumn]
"""A name, the columns it stands for, and what both remember of it."""


def paired_column(before: list[ColumnSeen], after: list[ColumnSeen], rows: Rows) -> Paired | str:
    """A column in both models, by the finest that both remember of it; the reason, where that is nothing alike."""
    pairs = [(mine, theirs) for mine in before for theirs in after]
    for mine, theirs in pairs:
        if isinstance(mine.statistic, ColumnMemory) and isinstance(theirs.statistic, ColumnMemory):
            return mine.column, (mine.column,), remembered_column(mine, theirs, rows)
    for mine, theirs in pairs:
        alike = mine.read_as(theirs) or mine, theirs.read_as(mine) or theirs
        if alike[0].family.counted_as == alike[1].family.counted_as and (found := counted_column(*alike, rows)):
            return found
    for mine, theirs in pairs:
        if mine.sums is not None and theirs.sums is not None:
            return mine.column, (mine.column,), SumsColumn((mine.sums, theirs.sums), rows)
    mine, theirs = pairs[0]
    said = [family_in_words(one.family, other.family) for one, other in ((mine, theirs), (theirs, mine))]
    return f"it is {said[0]} before and {said[1]} after, which count other things"


def remembered_column(before: ColumnSeen, after: ColumnSeen, rows: Rows) -> ValuesColumn:
    """A column that both left open: numbers by their cells, other values by name."""
    cells = before.statistic.cells[before.index], after.statistic.cells[after.index]
    values = before.statistic.values_of(before.column), after.statistic.values_of(after.column)
    return ValuesColumn.of(cells if len(cells[0]) or len(cells[1]) else None, values, rows)


def counted_column(before: ColumnSeen, after: ColumnSeen, rows: Rows) -> Paired | None:
    """A column that both have counted by the same family; nothing where what they keep are sums."""
    mine, theirs, column = before.statistic, after.statistic, before.column
    if isinstance(mine, WordTally):
        return column, (column,), WordsColumn.of(mine, theirs, rows)
    if not isinstance(mine, Tally):
        return None
    if before.family.shares_total:
        if before.columns != after.columns:
            return None
        events = WordsColumn.of_events(mine.counts * 1.0, theirs.counts * 1.0, before.columns, rows)
        return block_name(before.columns), before.columns, events
    if isinstance(mine.slots, range):
        lines = [lines_of(one) for one in (before, after)]
        is_truth = before.family.reads == TRUTH
        ordered, names = (0, ("no", "yes")) if is_truth else (len(lines[0]), ())
        return column, (column,), ValuesColumn.of_lines(lines[0], lines[1], rows, ordered, names)
    values = [one.statistic.narrowed(one.columns, (column,)) for one in (before, after)]
    return column, (column,), ValuesColumn.of(None, (values[0], values[1]), rows)


def lines_of(seen: ColumnSeen) -> FloatArray:
    """The counts of one column where slots are a fixed range, column by column."""
    table = seen.statistic.counts.reshape(-1, len(seen.columns), seen.statistic.classes)
    lines: FloatArray = table[:, seen.index].astype(np.float64)
    return lines


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
