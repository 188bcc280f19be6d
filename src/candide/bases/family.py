"""What a family is: one way a block of columns can be distributed, given the class.

A family keeps nothing. It says how a block is read from a batch, which statistic must be remembered, how that
statistic becomes parameters, and what parameters say about a value. Prior and smoothing act in `fit`, nowhere else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from candide.arrays import AnyArray, FloatArray, IntArray
from candide.batch import Batch
from candide.errors import OptionRefused


class Statistic(Protocol):
    """What is remembered of a block: frozen, with one axis for classes; `+` and `-` are exact."""

    @property
    def classes(self) -> int: ...

    def __add__(self, other: Self) -> Self: ...

    def __sub__(self, other: Self) -> Self: ...

    def spread(self, positions: IntArray, classes: int) -> Self: ...

    def only(self, positions: IntArray) -> Self: ...

    def widened(self, before: Sequence[str], after: Sequence[str]) -> Self: ...


class Builder(Protocol):
    """A statistic in the making: changed in place by one accumulator, never shared."""

    def grow(self, classes: int) -> None: ...

    def freeze(self) -> Any: ...

    def refuse_missing(self, seen: Any) -> None: ...

    def take_away(self, seen: Any) -> None: ...


@dataclass(frozen=True)
class Term:
    """What one feature said: its name, the value as shown, and its log likelihood under each class."""

    feature: str
    value: str
    log_likelihood: FloatArray


@dataclass(frozen=True)
class Family(ABC):
    """One way a block of columns can be distributed."""

    smoothing: float

    #: Whether `smoothing` is a count added to every slot: what one number for all columns speaks of.
    adds_counts: ClassVar[bool] = False
    #: Whether the score is a likelihood, so that the prior belongs beside it.
    is_likelihood: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not (np.isfinite(self.smoothing) and self.smoothing >= 0):
            raise OptionRefused(f"smoothing must be a number from 0 up, not {self.smoothing!r}.")

    @property
    def name(self) -> str:
        """The name users write: the name of the file the family lives in."""
        return type(self).__module__.rsplit(".", 1)[-1]

    def describe(self) -> dict[str, Any]:
        """The family as plain data: its name and options."""
        return {"family": self.name, **asdict(self)}

    @abstractmethod
    def builder(self, columns: tuple[str, ...], classes: int) -> Any:
        """An empty statistic in the making."""

    @abstractmethod
    def builder_over(self, seen: Any) -> Any:
        """A statistic in the making that goes on from one already there."""

    @abstractmethod
    def read(self, batch: Batch, columns: tuple[str, ...]) -> Any:
        """The block's values for learning; what the family cannot take is refused with a reason."""

    @abstractmethod
    def view(self, batch: Batch, columns: tuple[str, ...]) -> Any:
        """The block's values for predicting; what the family cannot take says nothing."""

    @abstractmethod
    def learn(self, builder: Any, values: Any, labels: IntArray, weights: AnyArray) -> None:
        """Add the rows that `read` returned; `weights` is empty where every row weighs one."""

    @abstractmethod
    def fit(self, seen: Any, columns: tuple[str, ...]) -> Any:
        """Parameters from a statistic: the one place where prior and smoothing meet the data."""

    @abstractmethod
    def score(self, parameters: Any, values: Any, joint: FloatArray) -> None:
        """Add what the values of `view` say into joint[row, class]."""

    @abstractmethod
    def terms(self, parameters: Any, values: Any, columns: tuple[str, ...]) -> list[Term]:
        """What a single row says, one term for each feature that spoke; they sum to its score."""

    @abstractmethod
    def sample(self, parameters: Any, label: int, rows: int, rng: np.random.Generator) -> list[AnyArray | list[Any]]:
        """New values of one class, one array for each column of the block."""

    def log_likelihood(self, parameters: Any, values: Any, joint: FloatArray) -> None:
        """Add log P(values | class); the score itself, except where that is no likelihood."""
        self.score(parameters, values, joint)


@dataclass(frozen=True)
class Block:
    """Columns that share a family, and so a statistic."""

    family: Family
    columns: tuple[str, ...]

    def builder(self, classes: int) -> Any:
        return self.family.builder(self.columns, classes)

    def describe(self) -> dict[str, Any]:
        return {**self.family.describe(), "columns": list(self.columns)}


def shown_number(value: float) -> str:
    """A number as people write it.

    >>> shown_number(3.0), shown_number(2.5)
    ('3', '2.5')
    """
    return f"{value:g}" if abs(value) < 1e15 and value != int(value) else f"{value:.15g}"
