"""What a family is: one way a block of columns can be distributed, given the class.

A family keeps nothing. It says how a block is read from a batch, which statistic must be remembered, how that
statistic becomes parameters, and what parameters say about a value. Prior and smoothing act in `fit`, nowhere else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from candide.data.arrays import AnyArray, BoolArray, FloatArray, IntArray
from candide.data.batch import Batch
from candide.data.errors import OptionRefused
from candide.families.base.basis import Basis
from candide.families.base.block_scores import BlockScores
from candide.families.base.competing import Competing
from candide.families.base.grid_points import worth_seeing
from candide.families.base.profile import COUNTS, CURVE, Profile, information, reaches_beyond
from candide.families.base.streaming import Streaming
from candide.statistics.tally import Tally


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

    def grow(self, classes: int) -> None: ...

    def freeze(self) -> Any: ...


@dataclass(frozen=True)
class Term:
    """What one feature said: its name, the value as shown, and its log likelihood under each class.

    `basis` is what the likelihood was made of. A word of a text names its `column` and itself, since several readings
    of one column may speak of the same word. `factor` is what calibration multiplies the evidence by.
    """

    feature: str
    value: str
    log_likelihood: FloatArray
    basis: Basis | None = None
    column: str = ""
    word: str = ""
    factor: float = 1.0

    @property
    def reported(self) -> FloatArray:
        """What the term adds to the reported score of each class."""
        return self.log_likelihood if self.factor == 1.0 else self.factor * self.log_likelihood


LARGEST_OPTION, MOST_SAMPLED = 1e100, 10**7
"""No use is known for more, and doubles would not hold what comes of it."""

DRAWN = 400
"""So many values are drawn to see where a family's values lie."""

WIDENINGS = 5
"""Where a class reaches beyond the places looked at, they are spread twice as wide; so many times are tried."""

MISSING, UNSEEN, IGNORED = "missing", "unseen", "ignored"


@dataclass(frozen=True)
class Silence:
    """A feature that said nothing, and why: it was missing, its value was never learned, or it has no say."""

    feature: str
    value: str
    why: str


@dataclass(frozen=True)
class Family(Competing, Streaming, ABC):
    """One way a block of columns can be distributed."""

    smoothing: float = 1.0
    #: The one column of a block of its own; columns whose families do not name them share a block where they are equal.
    column: str = field(default="", kw_only=True)

    #: What is remembered: the file and the stream find by it how the family is written and how it learns row by row.
    statistic: ClassVar[type]
    #: Whether `smoothing` is a count added to every slot: what one number for all columns speaks of.
    adds_counts: ClassVar[bool] = False
    #: Whether the score is a likelihood, so that the prior belongs beside it.
    is_likelihood: ClassVar[bool] = True
    #: Whether the block only reads again what another block of the same column tells the likelihood of.
    is_beside: ClassVar[bool] = False
    #: Whether a missing number is read as zero, so that the two are the same row.
    zero_is_missing: ClassVar[bool] = False
    #: Whether rows differ in how much there is to judge, so that calibration may discount long ones.
    has_length: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name in ("smoothing", "floor"):
            value = getattr(self, name, 0.0)
            if not 0 <= value <= LARGEST_OPTION:
                raise OptionRefused(f"{name} must be a number from 0 up to {LARGEST_OPTION:g}, not {value!r}.")
        for name in ("sampled_events", "sampled_words"):
            value = getattr(self, name, 1)
            if value != int(value) or not 1 <= value <= MOST_SAMPLED:
                raise OptionRefused(f"{name} must be a whole number from 1 to {MOST_SAMPLED:,}, not {value!r}.")

    @property
    def name(self) -> str:
        """The name users write: the name of the file the family lives in."""
        return type(self).__module__.rsplit(".", 1)[-1]

    @property
    def aspect(self) -> str:
        """What of the column the family reads, where others read the same column too."""
        return ""

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

    def memory(self, columns: int, classes: int) -> int:
        """The bytes that parameters need for so many columns and classes, however little was seen."""
        return 8 * columns * classes

    def settled(self, seen: Any) -> Family:
        """The same family with what it would choose from `seen` at fit time held fixed."""
        return self

    @property
    def chooses(self) -> bool:
        """Whether fitting chooses something that leave-one-out holds fixed, such as where intervals end."""
        return False

    def smoothed_counts(self, seen: Any) -> AnyArray | None:
        """The counts[slot, class] that smoothing is added to in a block of one column; nothing where there are none."""
        return None

    def impossible(self, seen: Any, columns: tuple[str, ...], rows: Tally) -> str:
        """What it is about a statistic that no rows of this family, so many of each class, could have left.

        Nothing where some could. It finishes the sentence "without these rows there would be ...", and goes beyond
        what the statistic refuses by itself: it knows which values the family takes, and how many rows there are:
        `rows` counts those of each class in its one slot.
        """
        return ""

    @abstractmethod
    def score(self, parameters: Any, values: Any, joint: FloatArray) -> None:
        """Add what the values of `view` say into joint[row, class]."""

    @abstractmethod
    def terms(self, parameters: Any, values: Any, columns: tuple[str, ...], seen: Any = None) -> list[Term]:
        """What a single row says, one term for each feature that spoke; they sum to its score.

        With `seen`, the statistic the parameters come from, each term tells the counts behind it.
        """

    def silent(
        self, parameters: Any, values: Any, row: Batch, columns: tuple[str, ...], seen: Any = None
    ) -> list[Silence]:
        """Which columns of a single row say nothing: missing ones, and values the family cannot take.

        `values` are what `view` made of the row.
        """
        taken = values[0]
        if not np.isnan(taken).any():
            return []
        given = row.numbers(columns)[0]
        return [
            Silence(columns[place], *unheard(given[place]))
            for place in np.flatnonzero(np.isnan(taken)).tolist()
        ]

    @abstractmethod
    def sample(self, parameters: Any, label: int, rows: int, rng: np.random.Generator) -> list[AnyArray | list[Any]]:
        """New values of one class, one array for each column of the block."""

    def log_likelihood(self, parameters: Any, values: Any, joint: FloatArray) -> None:
        """Add log P(values | class); the score itself, except where that is no likelihood."""
        self.score(parameters, values, joint)

    def score_without(
        self, seen: Any, batch: Batch, columns: tuple[str, ...], labels: IntArray, weights: AnyArray, joint: FloatArray
    ) -> None:
        """Add what each row's values say once the row itself is taken out of `seen`: exact leave-one-out.

        It means a refit without the row by the same choices. This does refit, row by row, so that a new family need
        not say more; those that are used much subtract instead. `labels` are class numbers of `seen`.
        """
        for row, label in enumerate(labels):
            alone = batch.take(np.array([row]))
            rest = seen - self._of_one(alone, columns, label, weights[row : row + 1], seen.classes)
            self.score(self.fit(rest, columns), self.view(alone, columns), joint[row : row + 1])

    def log_likelihood_without(
        self, seen: Any, batch: Batch, columns: tuple[str, ...], labels: IntArray, weights: AnyArray, joint: FloatArray
    ) -> None:
        """Add log P(values | class) with the row itself taken out; the score, except where that is no likelihood."""
        self.score_without(seen, batch, columns, labels, weights, joint)

    def evidence_length(self, parameters: Any, values: Any) -> FloatArray:
        """How much of each row the block can speak of: its columns that are there, or the words of its text."""
        return (~np.isnan(values)).sum(axis=1).astype(np.float64)

    def score_with_length(self, parameters: Any, values: Any, shape: tuple[int, int]) -> tuple[FloatArray, FloatArray]:
        """The score of each (row, class) and the evidence length of each row, from one look at the values."""
        score = np.zeros(shape)
        self.score(parameters, values, score)
        return score, self.evidence_length(parameters, values)

    def assess(self, parameters: Any, values: Any, shape: tuple[int, int]) -> BlockScores:
        """All that the block says of the rows, as many and of as many classes as the shape tells."""
        score, length = self.score_with_length(parameters, values, shape)
        likelihood = score
        if not self.is_likelihood:
            likelihood = np.zeros(shape)
            self.log_likelihood(parameters, values, likelihood)
        return BlockScores(score, likelihood, length, np.zeros(shape[0]))

    def strangeness_without(
        self, seen: Any, batch: Batch, columns: tuple[str, ...], labels: IntArray, weights: AnyArray
    ) -> FloatArray:
        """The same, for rows that were learned, each taken out."""
        return np.zeros(len(batch))

    def profiles(self, parameters: Any, seen: Any, columns: tuple[str, ...], prior: FloatArray) -> list[Profile]:
        """What the values of each column look like in each class; `prior` are the classes' probabilities.

        This is for numbers, one column at a time, and asks nothing of a new family: which numbers it takes is known by
        asking `view`, where they lie by `whereabouts`, and what one of them says alone by `alone`.
        """
        middles, spreads = self.whereabouts(parameters, seen, len(prior))
        return [
            self._profile(parameters, columns, place, middles[place], spreads[place], prior)
            for place in range(len(columns))
        ]

    def _profile(
        self,
        parameters: Any,
        columns: tuple[str, ...],
        place: int,
        middle: FloatArray,
        spread: FloatArray,
        prior: FloatArray,
    ) -> Profile:
        for _ in range(WIDENINGS):
            found, widths, whole = worth_seeing(middle, spread, self.takes)
            table = self.alone(parameters, columns, place, found, len(prior))
            beyond = reaches_beyond(table, widths)
            if not beyond.any():
                break
            with np.errstate(over="ignore"):
                spread = np.where(beyond, 2 * np.maximum(spread, 1e-3 * np.abs(middle)), spread)
        told = float(information(table, prior, widths))
        kind, named = COUNTS if whole else CURVE, self.named_parameters(parameters, place)
        return Profile(columns[place], kind, found, table, widths, information=told, parameters=named)

    def named_parameters(self, parameters: Any, place: int) -> dict[str, FloatArray]:
        """The parameters of one column by name, each [class], where they have names."""
        return {}

    def takes(self, numbers: FloatArray) -> AnyArray:
        """Which of some numbers the family can take in a column."""
        return np.isfinite(self.view(Batch.of({"number": numbers}), ("number",))[:, 0])

    def whereabouts(self, parameters: Any, seen: Any, classes: int) -> tuple[FloatArray, FloatArray]:
        """About where the values of each (column, class) lie, a middle and a spread: from what the family draws."""
        rng = np.random.default_rng(0)
        drawn = [np.array(self.sample(parameters, label, DRAWN, rng), dtype=np.float64) for label in range(classes)]
        low, middle, high = np.quantile(np.nan_to_num(np.stack(drawn, axis=1)), [0.16, 0.5, 0.84], axis=2)
        return middle, 0.5 * high - 0.5 * low

    def alone(
        self, parameters: Any, columns: tuple[str, ...], place: int, values: FloatArray, classes: int
    ) -> FloatArray:
        """What values of one column say where all others are missing, [value, class]."""
        nothing = np.full(len(values), np.nan)
        batch = Batch.of({name: values if here == place else nothing for here, name in enumerate(columns)})
        said = np.zeros((len(values), classes))
        self.score(parameters, self.view(batch, columns), said)
        return said

    def identified(self, batch: Batch, columns: tuple[str, ...]) -> Any:
        """What tells rows apart, for a ledger: the values as read, unless reading keeps only a part of them."""
        return self.read(batch, columns)

    def held(self, seen: Any, columns: tuple[str, ...]) -> BoolArray:
        """Which columns some row has a value in; all of them, unless the statistic can tell.

        A column goes with its last value. Where a zero is as good as a missing value, or rows count only when they are
        complete, a statistic cannot tell, and the columns stay.
        """
        return np.ones(len(columns), dtype=bool)

    def typical_length(self, seen: Any) -> float:
        """How much there is to judge in a typical row, where rows differ in that."""
        return 1.0

    def _of_one(self, alone: Batch, columns: tuple[str, ...], label: int, weight: AnyArray, classes: int) -> Any:
        """The statistic of a single row."""
        builder = self.builder(columns, classes)
        self.learn(builder, self.read(alone, columns), np.array([label]), weight)
        return builder.freeze()


@dataclass(frozen=True)
class Block:
    """Columns that share a family, and so a statistic."""

    family: Family
    columns: tuple[str, ...]

    @property
    def key(self) -> str:
        """The name calibration knows the block by, whatever columns join it later."""
        return f"{self.columns[0]} ({self.family.aspect})" if self.family.aspect else self.columns[0]

    def builder(self, classes: int) -> Any:
        return self.family.builder(self.columns, classes)

    def describe(self) -> dict[str, Any]:
        return {**self.family.describe(), "columns": list(self.columns)}


def unheard(value: float) -> tuple[str, str]:
    """A number that says nothing, as shown, and why."""
    return ("", MISSING) if np.isnan(value) else (shown_number(value), IGNORED)


def shown_number(value: float) -> str:
    """A number as people write it.

    >>> shown_number(3.0), shown_number(2.5)
    ('3', '2.5')
    """
    return f"{value:g}" if abs(value) < 1e15 and value != int(value) else f"{value:.15g}"
