"""The families that look at one number at a time: each a density with a few parameters per column and class."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from candide.arrays import AnyArray, BoolArray, FloatArray, IntArray
from candide.bases.behind import Shaped
from candide.bases.family import Family, Term, shown_number
from candide.bases.support import REAL, Support
from candide.batch import Batch
from candide.kernels.logarithm import grid_log
from candide.statistics.sums import Sums, SumsBuilder
from candide.statistics.whole_sums import WholeSums

Parameters = tuple[FloatArray, ...]
IN_EVERY_SUPPORT = 1.0
LEAST_DEVIATION = 1e-300
FAR = 1e280
#: Taking a row out in doubles must leave this share of the squares, and means within so many deviations of zero.
KEPT, STEEP = 1e-3, 1e4


@dataclass(frozen=True)
class Moments:
    """Mean, standard deviation and mean logarithm of each (column, class), the prior's rows blended in.

    `whole` is the deviation of all classes together, [column, 1]. With a row taken out, every row has moments of its
    own: there the first axis is the row.
    """

    weight: FloatArray
    mean: FloatArray
    deviation: FloatArray
    mean_log: FloatArray | None
    whole: FloatArray

    @property
    def variance(self) -> FloatArray:
        return self.deviation**2


@dataclass(frozen=True)
class Density(Family):
    """A family of one number: `smoothing` is how many rows of all classes together each class is given for free.

    A class that never saw a column so borrows the column's overall shape, and one that saw a single value does not
    become certain of it.
    """

    smoothing: float = 1.0

    support: ClassVar[Support] = REAL
    #: What is summed, where that is not the values themselves.
    summed_support: ClassVar[Support | None] = None
    needs_logs: ClassVar[bool] = False
    #: What the parameters are called, and the density written with them, for explanations.
    called: ClassVar[tuple[str, ...]] = ()
    formula: ClassVar[str] = ""

    @abstractmethod
    def parameters(self, seen: Moments) -> Parameters:
        """Parameters, each [column, class]: every cell by itself, or by its line."""

    @abstractmethod
    def log_density(self, value: FloatArray, *parameters: FloatArray) -> FloatArray:
        """log p(value | parameters), broadcasting; value lies in the support."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, rows: int, *parameters: float) -> FloatArray:
        """New values from one class."""

    def builder(self, columns: tuple[str, ...], classes: int) -> SumsBuilder:
        return SumsBuilder(len(columns), classes, self.needs_logs)

    def builder_over(self, seen: Sums) -> SumsBuilder:
        return SumsBuilder.over(seen)

    def read(self, batch: Batch, columns: tuple[str, ...]) -> FloatArray:
        values = batch.numbers(columns)
        self.support.refuse_outside(values, batch, columns, self.name)
        return values

    def view(self, batch: Batch, columns: tuple[str, ...]) -> FloatArray:
        return self.support.without_outside(batch.numbers(columns))

    def held(self, seen: Sums, columns: tuple[str, ...]) -> BoolArray:
        return np.asarray((seen.weight.signs() > 0).any(axis=1))

    def summed(self, values: FloatArray) -> FloatArray:
        """What is summed of the values: themselves, unless the family says otherwise."""
        return values

    def learn(self, builder: SumsBuilder, values: FloatArray, labels: IntArray, weights: AnyArray) -> None:
        builder.learn(self.summed(values), labels, weights if weights.size else None)

    def could_leave(self, sums: WholeSums, rows: Any) -> Any:
        """Where rows of the family may have left these sums, of so many rows at most."""
        possible = (self.summed_support or self.support).could_sum_to(sums) & (sums.weight <= rows * sums.unit)
        return possible if sums.log is None else possible & ~sums.logs_outside()

    def impossible(self, seen: Sums, columns: tuple[str, ...], rows: IntArray) -> str:
        possible = self.could_leave(seen.whole, rows.astype(object)).all(axis=1)
        return "" if possible.all() else f"sums of '{columns[int(np.argmin(possible))]}' that no rows have"

    def fit(self, seen: Sums, columns: tuple[str, ...]) -> Parameters:
        return self.parameters(blended(seen, self.smoothing))

    def score(self, parameters: Parameters, values: FloatArray, joint: FloatArray) -> None:
        for column in range(values.shape[1]):
            joint += self._column_terms(parameters, values[:, column], column)

    def score_without(
        self, seen: Sums, batch: Batch, columns: tuple[str, ...], labels: IntArray, weights: AnyArray, joint: FloatArray
    ) -> None:
        values = self.view(batch, columns)
        for column in range(len(columns)):
            known = np.flatnonzero(~np.isnan(values[:, column]))
            loads = weights[known] if weights.size else weights
            distinct, which = kinds_of(values[known, column], labels[known], loads)
            out = distinct._replace(values=self.summed(distinct.values[:, None])[:, 0])
            parameters = self.parameters(blended_without(seen.column(column), out, self.smoothing))
            joint[known] += self.log_density(distinct.values[:, None], *parameters)[which]

    def terms(
        self, parameters: Parameters, values: FloatArray, columns: tuple[str, ...], seen: Any = None
    ) -> list[Term]:
        return [
            self._term(parameters, values, place, name)
            for place, name in enumerate(columns)
            if np.isfinite(values[0, place])
        ]

    def _term(self, parameters: Parameters, values: FloatArray, place: int, name: str) -> Term:
        shown = shown_number(values[0, place])
        called = self.numbers_behind(parameters, place)
        said = self._column_terms(parameters, values[:, place], place)[0]
        return Term(name, shown, said, Shaped(self.name, called, self.formula, shown))

    def _column_terms(self, parameters: Parameters, values: FloatArray, column: int) -> FloatArray:
        known = np.isfinite(values)[:, None]
        inside = values[:, None] if known.all() else np.where(known, values[:, None], IN_EVERY_SUPPORT)
        terms = self.log_density(inside, *(parameter[column] for parameter in parameters))
        return terms if known.all() else np.where(known, terms, 0.0)

    def numbers_behind(self, parameters: Parameters, place: int) -> dict[str, FloatArray]:
        return {word: parameter[place] for word, parameter in zip(self.called, parameters, strict=False)}

    def alone(
        self, parameters: Parameters, columns: tuple[str, ...], place: int, values: FloatArray, classes: int
    ) -> FloatArray:
        return self._column_terms(parameters, values, place)

    def whereabouts(self, parameters: Parameters, seen: Sums, classes: int) -> tuple[FloatArray, FloatArray]:
        """Mean and deviation, where values are what is summed; else as the family draws them."""
        if type(self).summed is not Density.summed:
            return super().whereabouts(parameters, seen, classes)
        moments = blended(seen, self.smoothing)
        return moments.mean, moments.deviation

    def sample(
        self, parameters: Parameters, label: int, rows: int, rng: np.random.Generator
    ) -> list[AnyArray | list[Any]]:
        of_class = [[float(p[place, label]) for p in parameters] for place in range(len(parameters[0]))]
        with np.errstate(over="ignore", invalid="ignore"):
            return [self.support.within(self.draw(rng, rows, *numbers)) for numbers in of_class]


class Pool(NamedTuple):
    """Weight, mean, deviation and mean logarithm as they were seen, nothing blended in."""

    weight: FloatArray
    mean: FloatArray
    deviation: FloatArray
    mean_log: FloatArray | None


def pool(seen: Sums) -> Pool:
    """The moments of each (column, class)."""
    return Pool(seen.weight.to_float(), seen.mean, seen.deviation, None if seen.log is None else seen.mean_log)


def blended(seen: Sums, free_rows: float) -> Moments:
    """Each class's own moments, with `free_rows` rows of all classes together mixed in."""
    return blend(pool(seen), pool(seen.over_classes()), free_rows)


def blend(own: Pool, everyone: Pool, free_rows: float) -> Moments:
    """Two pools mixed; deviations are combined without squaring, so that columns near 1e300 or 1e-300 work."""
    free = np.where((own.weight == 0) & (free_rows == 0), 1.0, free_rows)
    own_share, free_share = own.weight / (own.weight + free), free / (own.weight + free)
    mean = own_share * own.mean + free_share * everyone.mean
    deviation = np.hypot(
        np.sqrt(own_share) * np.hypot(own.deviation, own.mean - mean),
        np.sqrt(free_share) * np.hypot(everyone.deviation, everyone.mean - mean),
    )
    mean_log = None
    if own.mean_log is not None and everyone.mean_log is not None:
        mean_log = own_share * own.mean_log + free_share * everyone.mean_log
    deviation = np.where(everyone.weight == 0, 1.0, deviation)
    return Moments(own.weight, mean, deviation, mean_log, everyone.deviation)


class Leaving(NamedTuple):
    """Rows to be taken out, one at a time: what was summed of each, its class and its weight."""

    values: FloatArray
    labels: IntArray
    weights: IntArray


def kinds_of(values: FloatArray, labels: IntArray, weights: AnyArray) -> tuple[Leaving, IntArray]:
    """The different rows there are, and which of them each row is."""
    numbers, which = np.unique(values, return_inverse=True)
    loads, load = np.unique(weights, return_inverse=True) if weights.size else (np.ones(1, dtype=np.int64), 0)
    classes = int(labels.max(initial=0)) + 1
    kinds, which = np.unique((which * classes + labels) * len(loads) + load, return_inverse=True)
    pairs = kinds // len(loads)
    return Leaving(numbers[pairs // classes], pairs % classes, loads[kinds % len(loads)]), which


def blended_without(seen: Sums, out: Leaving, free_rows: float) -> Moments:
    """What `blended` gives for one column without each row, [row, class]."""
    left, rest = without(seen, out), without(seen.over_classes(), out._replace(labels=np.zeros_like(out.labels)))
    whole = pool(seen)
    own = Pool(
        in_place(whole.weight, left.weight, out.labels),
        in_place(whole.mean, left.mean, out.labels),
        in_place(whole.deviation, left.deviation, out.labels),
        None if whole.mean_log is None else in_place(whole.mean_log, left.mean_log, out.labels),
    )
    logs = None if rest.mean_log is None else rest.mean_log[:, None]
    return blend(own, Pool(rest.weight[:, None], rest.mean[:, None], rest.deviation[:, None], logs), free_rows)


def in_place(whole: FloatArray, changed: FloatArray | None, labels: IntArray) -> FloatArray:
    """A line of whole[0, class] for each row, with what changed in its own class."""
    table = np.repeat(whole, len(labels), axis=0)
    table[np.arange(len(labels)), labels] = changed
    return table


def without(seen: Sums, out: Leaving) -> Pool:
    """The moments of each row's class once the row has left, [row]; one column.

    Down-dated in doubles where that loses no more than a few bits, else subtracted exactly.
    """
    whole = pool(seen)
    weight, mean, deviation = (part[0, out.labels] for part in (whole.weight, whole.mean, whole.deviation))
    rest = weight - out.weights
    safe = np.maximum(rest, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        moved = mean + (mean - out.values) * (out.weights / safe)
        before = weight * deviation**2
        after = before - out.weights * (out.values - mean) * (out.values - moved)
        spread = np.sqrt(np.maximum(after, 0.0) / safe)
        differs = (deviation > 0) | (out.values != mean)
        shaky = (rest > 0) & differs & ~((after > KEPT * before) & (np.abs(mean) < STEEP * deviation))
    logs = None
    if whole.mean_log is not None:
        own_logs = whole.mean_log[0, out.labels]
        logs = own_logs + (own_logs - grid_log(out.values)) * (out.weights / safe)
    left = Pool(rest, np.where(rest > 0, moved, 0.0), np.where((rest > 0) & (deviation > 0), spread, 0.0), logs)
    places = np.flatnonzero(shaky)
    if len(places):
        some = Leaving(out.values[places], out.labels[places], out.weights[places])
        _put(left, places, pool(exactly_without(seen, some)))
    if logs is not None:
        logs[rest == 0] = 0.0
    return left


def exactly_without(seen: Sums, out: Leaving) -> Sums:
    """The sums of each row's class without the row, as many classes as there are rows."""
    numbers = np.arange(len(out.labels))
    gone = Sums.of(out.values[:, None], numbers, len(numbers), out.weights, seen.log is not None)
    return seen.only(out.labels) - gone


def _put(left: Pool, places: IntArray, exact: Pool) -> None:
    for part, better in zip(left, exact, strict=True):
        if part is not None and better is not None:
            part[places] = better[0]


def times_larger(value: FloatArray, size: FloatArray) -> FloatArray:
    """value / size for numbers from zero up, growing like a logarithm where it would overflow: order is kept."""
    with np.errstate(over="ignore", divide="ignore"):
        ratio = value / size
        return np.where(ratio < FAR, ratio, FAR * (1 + np.log(value) - np.log(size) - np.log(FAR)))


def lifted(deviation: FloatArray, whole: FloatArray, floor: float) -> FloatArray:
    """Deviations raised to the root of `floor` times the whole column's; 1 where the whole column is constant."""
    least = np.maximum(np.sqrt(floor) * whole, LEAST_DEVIATION)
    return np.where(whole == 0, 1.0, np.maximum(deviation, least))
