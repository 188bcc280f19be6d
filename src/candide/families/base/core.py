"""What must be said to be a family: eight methods, from rows to a statistic, to parameters, to what values say.

A family keeps nothing. It says which statistic must be remembered, how a block is read from a batch, how that statistic
becomes parameters, and what parameters say about values. Prior and smoothing act in `fit`, nowhere else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.batch import Batch
from candide.data.errors import OptionRefused

LARGEST_OPTION, MOST_SAMPLED = 1e100, 10**7
"""No use is known for more, and doubles would not hold what comes of it."""

Cells = AnyArray | list[Any]
"""Values of one column, which may hold anything."""

Drawn = list[Cells]
"""New values, for each column of a block."""


class Statistic(Protocol):
    """What is remembered of a block: frozen, with one axis for classes; `+` and `-` are exact."""

    @property
    def classes(self) -> int: ...

    def __add__(self, other: Self) -> Self: ...

    def __sub__(self, other: Self) -> Self: ...

    def spread(self, positions: IntArray, classes: int) -> Self: ...

    def only(self, positions: IntArray) -> Self: ...

    def widened(self, before: Sequence[str], after: Sequence[str]) -> Self: ...

    def impossible(self) -> str: ...


class Builder(Protocol):
    """A statistic in the making: changed in place by one accumulator, never shared."""

    classes: int

    def grow(self, classes: int) -> None: ...

    def freeze(self) -> Any: ...


S = TypeVar("S", bound=Statistic)
B = TypeVar("B", bound=Builder)
V = TypeVar("V")
P = TypeVar("P")


@dataclass(frozen=True)
class Core(ABC, Generic[S, B, V, P]):
    """What nobody else can say of a family with a statistic S and its builder B, values V and parameters P."""

    smoothing: float = 1.0
    #: The one column of a block of its own; columns whose families do not name them share a block where they are equal.
    column: str = field(default="", kw_only=True)

    #: What is remembered: the file and the stream find by it how the family is written and how it learns row by row.
    statistic: ClassVar[type[Any]]
    #: Whether `smoothing` is a count added to every slot: what one number for all columns speaks of.
    adds_counts: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name in ("smoothing", "floor"):
            value = getattr(self, name, 0.0)
            if not 0 <= value <= LARGEST_OPTION:
                raise OptionRefused.of_option(name, f"a number from 0 up to {LARGEST_OPTION:g}", value)
        for name in ("sampled_events", "sampled_words"):
            value = getattr(self, name, 1)
            if value != int(value) or not 1 <= value <= MOST_SAMPLED:
                raise OptionRefused.of_option(name, f"a whole number from 1 to {MOST_SAMPLED:,}", value)

    @property
    def name(self) -> str:
        """The name users write: the name of the file the family lives in."""
        return type(self).__module__.rsplit(".", 1)[-1]

    def describe(self) -> dict[str, Any]:
        """The family as plain data: its name and options."""
        return {"family": self.name, **asdict(self)}

    @abstractmethod
    def builder(self, columns: tuple[str, ...], classes: int) -> B:
        """An empty statistic in the making."""

    @abstractmethod
    def builder_over(self, seen: S) -> B:
        """A statistic in the making that goes on from one already there."""

    @abstractmethod
    def read(self, batch: Batch, columns: tuple[str, ...]) -> V:
        """The block's values for learning; what the family cannot take is refused with a reason."""

    @abstractmethod
    def view(self, batch: Batch, columns: tuple[str, ...]) -> V:
        """The block's values for predicting; what the family cannot take says nothing."""

    def values_at(self, values: V, wanted: slice | IntArray) -> V | None:
        """The values of some rows, from those that were read; nothing where they must be read again."""
        return None

    @abstractmethod
    def learn(self, builder: B, values: V, labels: IntArray, weights: AnyArray) -> None:
        """Add the rows that `read` returned; `weights` is empty where every row weighs one."""

    @abstractmethod
    def fit(self, seen: S, columns: tuple[str, ...]) -> P:
        """Parameters from a statistic: the one place where prior and smoothing meet the data."""

    @abstractmethod
    def score(self, parameters: P, values: V, joint: FloatArray) -> None:
        """Add what the values of `view` say into joint[row, class]."""

    @abstractmethod
    def sample(self, parameters: P, label: int, rows: int, rng: np.random.Generator) -> Drawn:
        """New values of one class, one array for each column of the block."""
