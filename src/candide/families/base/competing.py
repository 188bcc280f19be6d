"""Competing for a column: a family says by itself for which columns it may stand, and who is asked first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from candide.data.arrays import FloatArray
from candide.data.batch import Batch
from candide.statistics.cells import FINEST_LEVEL, Cells
from candide.statistics.tally import Tally

if TYPE_CHECKING:
    from candide.families.base.family import AnyFamily
    from candide.families.words.options import TextOptions

NUMBER, CATEGORY, TRUTH, TIME, TEXT = "number", "category", "truth", "time", "text"
"""What a column may hold."""

TWO_VALUES = 2
"""Numbers with no more different values than this have no shape."""

FEW_VALUES = 12
"""Numbers with no more different values than this have no tail to speak of."""

MANY_VALUES = 64
"""Numbers with more different values than this are no categories."""

LAST = 1000


@dataclass(frozen=True, eq=False)
class ColumnLook:
    """What choosing knows of a column before any family is tried.

    `cells` hold its numbers, seconds for times; other columns have none. `parts` count where times fall in the
    calendar. `guess` is what it looks like at first sight, the user's options in it.

    >>> ages = ColumnLook("age", NUMBER, Cells.of(np.array([31.0, 8.0, 31.0]), np.zeros(3, np.int64), classes=1))
    >>> ages.distinct, ages.smallest, ages.whole, ages.has_shape
    (2, 8.0, True, False)
    """

    name: str
    kind: str
    cells: Cells
    parts: Tally = field(default_factory=lambda: Tally((), np.zeros((0, 1), np.int64)))
    guess: AnyFamily | None = None

    @property
    def values(self) -> FloatArray:
        """The different numbers, ascending; where they are very many, one for each cell."""
        return self.cells.middle

    @property
    def distinct(self) -> int:
        """How many different numbers there are, or more than categories may have where that is no longer known."""
        return len(self.cells) if self.cells.level == FINEST_LEVEL else max(len(self.cells), MANY_VALUES + 1)

    @property
    def smallest(self) -> float:
        return float(self.values[0]) if len(self.cells) else np.nan

    @property
    def largest(self) -> float:
        return float(self.values[-1]) if len(self.cells) else np.nan

    @property
    def whole(self) -> bool:
        """Whether there are whole numbers only."""
        return not self.cells.fractions.any()

    @property
    def has_shape(self) -> bool:
        """Whether its values lie about as a curve may describe: several numbers, or any times."""
        return (self.kind == NUMBER and self.distinct > TWO_VALUES) or (self.kind == TIME and self.distinct > 0)

    @property
    def has_tail(self) -> bool:
        """Whether there are numbers enough to tell curves of one side apart."""
        return self.kind == NUMBER and self.distinct > FEW_VALUES


class Competing:
    """What a family says about the columns it may stand for: by default for none, until a user names it."""

    #: What its columns hold.
    reads: ClassVar[str] = NUMBER
    #: Who is asked first; the earlier wins a tie. Equal ranks go by name.
    rank: ClassVar[int] = LAST
    #: Whether one number a class is all it fits: then it need not win by more than chance.
    is_simple: ClassVar[bool] = False
    #: Whether it may also stand for all columns of numbers at once.
    for_whole_tables: ClassVar[bool] = False
    #: Whether the columns of a block speak together, so that there is no saying which of them said what.
    is_joint: ClassVar[bool] = False
    #: Whether the columns of a block are parts of one total, so that one family is chosen for all.
    shares_total: ClassVar[bool] = False

    #: Whether its options are a text recipe, which is chosen by left-out texts.
    has_recipe: ClassVar[bool] = False

    @classmethod
    def candidates_for(cls, column: ColumnLook) -> list[AnyFamily]:
        """What of the family may compete for a column, by whatever options suit it."""
        return []

    @property
    def can_be_refined(self) -> bool:
        """Whether a linear layer may weigh what it reads."""
        return False

    def suited_to(self, column: Batch) -> Self:
        """The same family with what it takes from a sample of its one column, such as where bins end."""
        return self

    def asked_for(self, column: str, missing_is_value: bool, recipe: TextOptions | None) -> Self:
        """The same family for a column by what the user asked of missing values and of texts, where that matters."""
        return self
