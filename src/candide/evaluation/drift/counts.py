"""One column as two models counted it: the same cells beside each other, class by class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.evaluation.drift.divergence import Divergence

FEWEST = 5
"""Of a cell that is counted by itself, the smaller model is to have so many; a chi square is none with fewer."""

INTERVALS = 32
"""Numbers are compared in up to so many intervals of about as many rows."""


@dataclass(frozen=True, eq=False)
class PairedCounts:
    """Before[cell, class] and after[cell, class], of the same cells and classes.

    The first `ordered` cells lie side by side on a line, so that rare ones are joined with their neighbours. Of the
    others rare ones are joined into one, whatever they are: a value that was met once is no drift.
    """

    before: FloatArray
    after: FloatArray
    ordered: int = 0
    repeated: float = 1.0
    """How often the same thing is counted for one that chance has drawn: words come again in one text."""

    def of_class(self, index: int) -> PairedCounts:
        """The counts of one class."""
        one = slice(index, index + 1)
        return PairedCounts(self.before[:, one], self.after[:, one], self.ordered, self.repeated)

    @property
    def divergence(self) -> Divergence:
        """How far the two lie apart, all classes taken together."""
        before, after = self.before.sum(axis=1), self.after.sum(axis=1)
        cells = joined_cells(before, after, self.ordered, self.repeated)
        joined = [np.bincount(cells, one).astype(np.float64) for one in (before, after)]
        return Divergence.of(joined[0], joined[1], self.repeated)


def joined_cells(before: FloatArray, after: FloatArray, ordered: int, repeated: float = 1.0) -> IntArray:
    """The number of the cell that each cell is counted in, so that none is too rare to be compared.

    >>> joined_cells(np.array([1.0, 9, 3, 3, 50]), np.array([2.0, 7, 4, 1, 50]), ordered=4).tolist()
    [0, 0, 1, 1, 3]
    >>> joined_cells(np.array([40.0, 1, 0, 30]), np.array([50.0, 0, 1, 20]), ordered=0).tolist()
    [1, 0, 0, 2]
    """
    both = before + after
    smaller = float(min(before.sum(), after.sum()))
    if not smaller > 0:
        return np.zeros(len(both), np.int64)
    least = FEWEST * repeated * both.sum() / smaller
    line = intervals(both[:ordered], max(least, both[:ordered].sum() / INTERVALS))
    common = both[ordered:] >= least
    others = np.where(common, np.cumsum(common), 0)
    return np.concatenate([line, others + (line[-1] + 1 if ordered else 0)])


def intervals(counts: FloatArray, least: float) -> IntArray:
    """The number of the interval of each cell on a line: from the left, each with the least that one may have."""
    below = np.concatenate([[0.0], np.cumsum(counts)])
    starts = [0]
    while (end := int(np.searchsorted(below, below[starts[-1]] + least))) < len(counts):
        starts.append(end)
    if len(starts) > 1 and below[-1] - below[starts[-1]] < least:
        starts.pop()
    numbers: IntArray = np.searchsorted(np.array(starts), np.arange(len(counts)), side="right") - 1
    return numbers


def in_same_cells(
    names: tuple[Sequence[Any], Sequence[Any]], tables: tuple[FloatArray, FloatArray]
) -> tuple[list[Any], FloatArray, FloatArray]:
    """Two tables of counts with a line for each name, brought to the names that either has.

    >>> in_same_cells((["a"], ["b"]), (np.array([[1.0]]), np.array([[2.0]])))[1].tolist()
    [[1.0], [0.0]]
    """
    every: list[Any] = sorted({*names[0], *names[1]})
    place = {name: index for index, name in enumerate(every)}
    found = []
    for own, table in zip(names, tables, strict=True):
        lines = np.zeros((len(every), table.shape[1]))
        lines[[place[name] for name in own]] = table
        found.append(lines)
    return every, found[0], found[1]
