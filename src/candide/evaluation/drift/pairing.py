"""The same column in two models, by the finest that both remember of it, whatever family it has in each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from candide.data.arrays import FloatArray
from candide.data.values import Key
from candide.evaluation.drift.paired_column import PairedColumn, Rows
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


def columns_seen(trained: TrainedModel, classes: tuple[Key, ...]) -> dict[str, list[ColumnSeen]]:
    """All that is remembered of each column that has a say, among the classes of both models."""
    summary = trained.summary
    positions = np.array([classes.index(key) for key in summary.classes], dtype=np.int64)
    speaking = [choice.column for choice in trained.schema.choices if choice.family is not None]
    found: dict[str, list[ColumnSeen]] = {column: [] for column in speaking}
    for block, statistic in zip(summary.blocks, summary.statistics, strict=True):
        if block in trained.schema.pair_blocks:
            continue
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
            return mine.column, (mine.column,), open_column(mine, theirs, rows)
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


def open_column(before: ColumnSeen, after: ColumnSeen, rows: Rows) -> ValuesColumn:
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
        lines = [range_lines(one) for one in (before, after)]
        is_truth = before.family.reads == TRUTH
        ordered, names = (0, ("no", "yes")) if is_truth else (len(lines[0]), ())
        return column, (column,), ValuesColumn.of_lines(lines[0], lines[1], rows, ordered, names)
    values = [one.statistic.narrowed(one.columns, (column,)) for one in (before, after)]
    return column, (column,), ValuesColumn.of(None, (values[0], values[1]), rows)


def range_lines(seen: ColumnSeen) -> FloatArray:
    """The counts of one column where slots are a fixed range, column by column."""
    table = seen.statistic.counts.reshape(-1, len(seen.columns), seen.statistic.classes)
    lines: FloatArray = table[:, seen.index].astype(np.float64)
    return lines
