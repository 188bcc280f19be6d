"""What can be told of a statistic: whether rows may have left it, which columns it still holds, what it will need."""

from __future__ import annotations

from typing import Self

import numpy as np

from candide.data.arrays import BoolArray
from candide.families.base.core import B, Core, P, S, V
from candide.statistics.exact import ExactSums
from candide.statistics.tally import Tally


class Remembering(Core[S, B, V, P]):
    """Forgetting rows, and loading: nothing is known beyond the statistic, by default."""

    def impossible(self, seen: S, columns: tuple[str, ...], rows: Tally) -> str:
        """What it is about a statistic that no rows of this family, so many of each class, could have left.

        Nothing where some could. It finishes the sentence "without these rows there would be ...", and goes beyond
        what the statistic refuses by itself: it knows which values the family takes, and how many rows there are:
        `rows` counts those of each class in its one slot.
        """
        return ""

    def held(self, seen: S, columns: tuple[str, ...]) -> BoolArray:
        """Which columns some row has a value in; all of them, unless the statistic can tell.

        A column goes with its last value. Where a zero is as good as a missing value, or rows count only when they are
        complete, a statistic cannot tell, and the columns stay.
        """
        return np.ones(len(columns), dtype=bool)

    def counting_like(self, seen: S) -> Self:
        """The same family, counting as finely as what is there, where that is a matter of the first rows."""
        return self

    def first_met(self, seen: S) -> S:
        """What is kept of the statistic of the first rows: all of it, unless it can be as fine as one likes."""
        return seen

    def value_sums(self, seen: S) -> tuple[ExactSums, ...]:
        """The exact sums of the values themselves, and of their squares, each [column, ...], where those are kept."""
        return ()

    def memory(self, columns: int, classes: int) -> int:
        """The bytes that parameters need for so many columns and classes, however little was seen."""
        return 8 * columns * classes
