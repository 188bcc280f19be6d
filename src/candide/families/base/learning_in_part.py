"""Learning some of the rows that are there, to be asked about others of them: what a learning curve is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from candide.data.arrays import FloatArray, IntArray
from candide.families.base.block_rows import BlockRows, Learned
from candide.families.base.core import B, P, S, V
from candide.families.base.leave_one_out import statistic_of
from candide.families.base.likelihood import Likelihood


class LearnedInPart(Protocol):
    """A block that has learned some of its rows."""

    def scores(self, wanted: IntArray) -> tuple[FloatArray, FloatArray]:
        """What it says of other rows, [row, class], and how long these are."""


class LearnedInSteps(Protocol):
    """A block that has learned ever more of its rows."""

    def scores(self, wanted: IntArray) -> list[tuple[FloatArray, FloatArray]]:
        """After each step, what it says of other rows, [row, class], and how long these are."""


class LearningInPart(Likelihood[S, B, V, P]):
    """By default the rows are learned as any others are."""

    def learned_in_part(
        self, rows: BlockRows[V], columns: tuple[str, ...], classes: int, learned: Learned
    ) -> LearnedInPart:
        """The block once it has learned these of the rows."""
        some = rows.learned(self, columns, learned)
        return ByParameters(self, self.fit(statistic_of(self, columns, some, classes), columns), rows, columns, classes)

    def learned_in_steps(
        self, rows: BlockRows[V], columns: tuple[str, ...], classes: int, learned: Learned, steps: Sequence[int]
    ) -> LearnedInSteps:
        """The block once it has learned the first so many of these rows, for each step; by default anew for each."""
        return EachStep([self.learned_in_part(rows, columns, classes, learned.first(step)) for step in steps])

    def counted_before(self, rows: BlockRows[V], columns: tuple[str, ...], classes: int) -> S | None:
        """What all rows leave behind, where it follows from what was made of them before; nothing where it does not."""
        return None


@dataclass(frozen=True, eq=False)
class EachStep:
    """Any family: what it has learned after each step, apart."""

    steps: Sequence[LearnedInPart]

    def scores(self, wanted: IntArray) -> list[tuple[FloatArray, FloatArray]]:
        return [learned.scores(wanted) for learned in self.steps]


@dataclass(frozen=True, eq=False)
class ByParameters:
    """Any family: parameters of what was learned, and rows read before."""

    family: Likelihood[Any, Any, Any, Any]
    parameters: Any
    rows: BlockRows[Any]
    columns: tuple[str, ...]
    classes: int

    def scores(self, wanted: IntArray) -> tuple[FloatArray, FloatArray]:
        some = self.rows.take(self.family, self.columns, wanted)
        return self.family.score_with_length(self.parameters, some.values, (len(wanted), self.classes))
