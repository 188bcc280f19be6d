"""A block in a stream: its builder, changed in place by one row after another, and asked in between."""

from __future__ import annotations

from typing import Any

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.data.batch import Batch
from candide.data.values import is_missing
from candide.families.base.family import AnyFamily
from candide.model.summary import NO_WEIGHTS, refuse_impossible
from candide.statistics.tally import Tally

#: So many slots may be without use in any block.
FEW_SLOTS = 256

#: A column's place in its block, its name, and the value in the row.
Cell = tuple[int, str, Any]


class Live:
    """Any family: parameters are made from the frozen block, and kept until the block changes.

    That is correct for every family and costs the whole block after each change; the families that streams are made of
    do better in classes of their own.
    """

    #: Whether a row that lacks all columns of the block still has something to say to it.
    reads_missing = False
    #: What a row adds to the counts, and what counts are multiplied by when asked: both 1, unless old rows fade.
    weight: float = 1
    scale = 1.0

    def __init__(self, family: AnyFamily, columns: list[str], seen: Any) -> None:
        self.family: Any = family
        self.columns = columns
        self.parameters: Any = None
        self.builder: Any = self.builder_over(seen)
        self.given, self.forgotten = slots_given(self.builder), 0

    def builder_over(self, seen: Any) -> Any:
        """A builder that goes on from a statistic."""
        return self.family.builder_over(seen)

    def grow(self, classes: int) -> None:
        """Make room for so many classes."""
        self.builder.grow(classes)
        self.parameters = None

    def widen(self, columns: list[str]) -> None:
        """Take in more columns, which no row had so far; they follow those already there."""
        seen = self.freeze().widened(self.columns, [*self.columns, *columns])
        self.columns = [*self.columns, *columns]
        self.builder = self.builder_over(seen)
        self.parameters = None

    def narrow(self, columns: list[str]) -> None:
        """Keep only these columns; no row has a value in the others."""
        seen = self.freeze().narrowed(self.columns, columns)
        self.columns = columns
        self.builder = self.builder_over(seen)
        self.parameters = None
        self.given, self.forgotten = slots_given(self.builder), 0

    def is_sparse(self) -> bool:
        """Whether most slots of the block may be those of values or words that were forgotten.

        How many are is not counted here. So it is looked at after as many rows were forgotten as there were slots when
        it was last looked at, or once there are twice as many: a look costs the block, a row no more than its share.
        """
        self.forgotten += 1
        given = slots_given(self.builder)
        return given > 0 and (given > 2 * self.given + FEW_SLOTS or self.forgotten > self.given + FEW_SLOTS)

    def compact(self) -> None:
        """Leave behind the slots in which nothing is left."""
        self.builder = self.builder_over(self.freeze())
        self.parameters = None
        self.given, self.forgotten = slots_given(self.builder), 0

    def holds(self, index: int) -> bool:
        """Whether some row has a value in the column at this place."""
        return bool(self.family.held(self.freeze(), tuple(self.columns))[index])

    def emptied(self, cells: list[Cell]) -> list[str]:
        """Those columns of a row just forgotten in which no row has a value any more."""
        return [name for index, name, value in cells if not (is_missing(value) or self.holds(index))]

    def freeze(self) -> Any:
        """The statistic of everything learned and not forgotten; classes are numbered as in the stream."""
        return self.builder.freeze()

    def read(self, cells: list[Cell]) -> Any:
        """The values for learning and forgetting; what the family cannot take is refused with a reason."""
        return self.family.read(self._batch(cells), tuple(self.columns))

    def learn(self, values: Any, label: int) -> None:
        """Add the row that `read` returned."""
        self.family.learn(self.builder, values, np.array([label]), NO_WEIGHTS)
        self.parameters = None

    def refuse_missing(self, values: Any, label: int, left: Tally) -> None:
        """Raise where the row cannot have been learned; `left` counts the rows of each class without it."""
        refuse_impossible(self.family.impossible(self._without(values, label), tuple(self.columns), left))

    def take_away(self, values: Any, label: int) -> None:
        """Forget the row that `refuse_missing` let pass."""
        self.builder = self.builder_over(self._without(values, label))
        self.parameters = None

    def score(self, cells: list[Cell], order: IntArray, joint: FloatArray) -> float:
        """Add what the row says into joint[class], and return its evidence length; `order` lists the classes there are.

        The row is read once for both.
        """
        columns = tuple(self.columns)
        if self.parameters is None:
            self.parameters = self.family.fit(self.freeze().only(order), columns)
        values = self.family.view(self._batch(cells), columns)
        score, length = self.family.score_with_length(self.parameters, values, (1, len(order)))
        joint[order] += score[0]
        return float(length[0])

    def _batch(self, cells: list[Cell]) -> Batch:
        """The row as a batch, missing where it lacks a column."""
        given = {name: value for _, name, value in cells}
        return Batch.of({name: [given.get(name)] for name in self.columns})

    def _without(self, values: Any, label: int) -> Any:
        """The statistic without one row."""
        single = self.family.builder(tuple(self.columns), self.builder.classes)
        self.family.learn(single, values, np.array([label]), NO_WEIGHTS)
        return self.freeze() - single.freeze()


def slots_given(builder: Any) -> int:
    """How many slots a builder has given out to values or words; none where the schema fixes them."""
    return getattr(builder, "given", 0)
