"""A column whose values two models have counted: numbers in cells, other values by name, and those missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from candide.data.arrays import FloatArray
from candide.data.values import shown
from candide.evaluation.drift.changes import (
    ALONE,
    MEDIAN,
    QUARTILES,
    VALUE,
    Shift,
    changed_shares,
    most_in_each_direction,
)
from candide.evaluation.drift.counts import PairedCounts, in_same_cells
from candide.evaluation.drift.divergence import Divergence
from candide.evaluation.drift.paired_column import PairedColumn, Rows, changed_missing
from candide.families.base.identity import MISSING_VALUE
from candide.statistics.cells import Cells
from candide.statistics.tally import Tally


@dataclass(frozen=True, eq=False)
class ValuesColumn(PairedColumn):
    """Numbers in cells, other values by name, and last the rows without a value.

    >>> before, after = (Tally((("colour", "text", "red"),), np.array([[count]])) for count in (90, 40))
    >>> found = ValuesColumn.of(None, (before, after), (np.array([100.0]), np.array([100.0])))
    >>> [change.in_words() for change in found.changes]
    ['60% missing, was 10%', 'red 40%, was 90%']
    """

    counts: PairedCounts
    cells: tuple[Cells, Cells] | None
    names: tuple[str, ...]

    @classmethod
    def of(cls, cells: tuple[Cells, Cells] | None, values: tuple[Tally, Tally], rows: Rows) -> ValuesColumn:
        """From what was counted of numbers, and of values that are none."""
        nothing = np.zeros((0, len(rows[0])))
        ordered, *numbers = ([], nothing, nothing) if cells is None else at_one_level(*cells)
        kept = [named_lines(tally) for tally in values]
        names, *others = in_same_cells((kept[0][0], kept[1][0]), (kept[0][1], kept[1][1]))
        parts = [np.concatenate([one, other]) for one, other in zip(numbers, others, strict=True)]
        return cls.of_lines(parts[0], parts[1], rows, len(ordered), tuple(shown(slot[1:]) for slot in names), cells)

    @classmethod
    def of_lines(
        cls,
        before: FloatArray,
        after: FloatArray,
        rows: Rows,
        ordered: int,
        names: tuple[str, ...] = (),
        cells: tuple[Cells, Cells] | None = None,
    ) -> ValuesColumn:
        """From lines of counts, those on a line first; rows that are in none of them have no value."""
        pairs = zip((before, after), rows, strict=True)
        lines = [np.concatenate([one, [np.maximum(of - one.sum(axis=0), 0.0)]]) for one, of in pairs]
        return cls(PairedCounts(lines[0], lines[1], ordered), cells, names)

    def of_class(self, index: int) -> ValuesColumn:
        one = np.array([index])
        cells = None if self.cells is None else (self.cells[0].only(one), self.cells[1].only(one))
        return ValuesColumn(self.counts.of_class(index), cells, self.names)

    @property
    def divergence(self) -> Divergence:
        return self.counts.divergence

    @property
    def changes(self) -> tuple[Shift, ...]:
        before, after = self.counts.before.sum(axis=1), self.counts.after.sum(axis=1)
        shares = changed_shares(VALUE, self.names, *self._named)
        quantiles = () if self.cells is None else changed_quantiles(*self.cells)
        return (*changed_missing(before, after), *quantiles, *most_in_each_direction(shares))

    @property
    def singled_out(self) -> tuple[Shift, ...]:
        return tuple(changed_shares(VALUE, self.names, *self._named, deviations=ALONE))

    @property
    def _named(self) -> tuple[FloatArray, FloatArray]:
        """The counts of values with a name first, then of those missing and of numbers, in all classes together."""
        both, line = (self.counts.before.sum(axis=1), self.counts.after.sum(axis=1)), self.counts.ordered
        found = [np.append(one[line:], one[:line].sum()) for one in both]
        return found[0], found[1]


def at_one_level(before: Cells, after: Cells) -> tuple[list[int], FloatArray, FloatArray]:
    """The cells of both at the coarser level, in ascending order."""
    level = min(before.level, after.level)
    pair = before.at_level(level), after.at_level(level)
    tables = [one.counts.astype(np.float64) for one in pair]
    return in_same_cells((pair[0].cells.tolist(), pair[1].cells.tolist()), (tables[0], tables[1]))


def named_lines(values: Tally) -> tuple[list[tuple[str, str, object]], FloatArray]:
    """The values of a column that are there, and how often."""
    kept = [index for index, slot in enumerate(values.open_slots) if tuple(slot[1:]) != MISSING_VALUE]
    return [values.open_slots[index] for index in kept], values.counts[kept].astype(np.float64)


def changed_quantiles(before: Cells, after: Cells) -> tuple[Shift, ...]:
    """The median and the quartiles, those that are not what they were."""
    if not (len(before) and len(after)):
        return ()
    asked = {MEDIAN: 0.5, QUARTILES[0]: 0.25, QUARTILES[1]: 0.75}
    found = [Shift(what, before.quantile(share), after.quantile(share)) for what, share in asked.items()]
    return tuple(change for change in found if change.before != change.after)
