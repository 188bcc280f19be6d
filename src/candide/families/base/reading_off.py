"""Being read off: what a family would have remembered of columns, from what is remembered of them in any case."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import add
from typing import ClassVar, Self

from candide.data.arrays import IntArray
from candide.families.base.alike_rows import AlikeRows, AlikeScores, FoldScores
from candide.families.base.core import B, Core, P, S, V
from candide.families.base.streaming import CompiledDensity
from candide.statistics.column_memory import ColumnMemory
from candide.statistics.tally import Tally


class ReadingOff(Core[S, B, V, P]):
    """By default a family learns one row for each value and class, as heavy as all rows that are like it.

    That is what the rows themselves would have left, where each value has a cell of its own. Families of sums read
    the sums, which are exact in any case.
    """

    #: Whether the family can be read off; not where values of a row speak together, nor for texts.
    is_read_off: ClassVar[bool] = True

    @property
    def counted_as(self) -> Self:
        """The family with all options at their defaults that matter only once counts become parameters.

        What is remembered under two families that count alike can be added, and serves either.
        """
        return replace(self, smoothing=type(self).smoothing)

    def read_off(self, seen: ColumnMemory, columns: tuple[str, ...], wanted: tuple[str, ...]) -> S:
        """The statistic of a block of the wanted columns, which are some of those remembered."""
        return reduce(
            add, (self._of_column(seen, columns.index(name), name).widened((name,), wanted) for name in wanted)
        )

    def judging_rows(self, seen: ColumnMemory, column: str, rows: Tally) -> AlikeRows | None:
        """The rows alike by which the family is judged in a contest for one column; the usual ones, where nothing."""
        return None

    def scores_alike(self, rows: AlikeRows) -> AlikeScores | None:
        """What rows alike say in a contest, one of each kind left out; nothing where rows must be left out as such."""
        return None

    def density_alike(self, rows: AlikeRows) -> CompiledDensity | None:
        """Which density of the kernels the family is for the numbers of rows alike; nothing where it is another."""
        return None

    def scores_in_folds(self, rows: AlikeRows, held: IntArray) -> FoldScores | None:
        """What rows alike say when the family is fitted without each fold, which holds held[fold, row] of each kind.

        Nothing where the family must be fitted to rows as such.
        """
        return None

    def _of_column(self, seen: ColumnMemory, index: int, column: str) -> S:
        rows = AlikeRows.of(seen, column, index)
        builder = self.builder((column,), seen.classes)
        self.learn(builder, self.view(rows.batch, (column,)), rows.labels, rows.weights)
        statistic: S = builder.freeze()
        return statistic
