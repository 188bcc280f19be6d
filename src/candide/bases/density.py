"""The families that look at one number at a time: each a density with a few parameters per column and class."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from candide.arrays import AnyArray, FloatArray, IntArray
from candide.bases.family import Family, Term, shown_number
from candide.bases.support import REAL, Support
from candide.batch import Batch
from candide.statistics.sums import Sums, SumsBuilder

Parameters = tuple[FloatArray, ...]
IN_EVERY_SUPPORT = 1.0
LEAST_DEVIATION = 1e-300
FAR = 1e280


@dataclass(frozen=True)
class Moments:
    """Mean, standard deviation and mean logarithm of each (column, class), the prior's rows blended in."""

    weight: FloatArray
    mean: FloatArray
    deviation: FloatArray
    mean_log: FloatArray | None

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
    needs_logs: ClassVar[bool] = False

    @abstractmethod
    def parameters(self, seen: Moments) -> Parameters:
        """Parameters, each [column, class]."""

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

    def learn(self, builder: SumsBuilder, values: FloatArray, labels: IntArray, weights: AnyArray) -> None:
        builder.learn(values, labels, weights if weights.size else None)

    def fit(self, seen: Sums, columns: tuple[str, ...]) -> Parameters:
        return self.parameters(blended(seen, self.smoothing))

    def score(self, parameters: Parameters, values: FloatArray, joint: FloatArray) -> None:
        for column in range(values.shape[1]):
            joint += self._column_terms(parameters, values[:, column], column)

    def terms(self, parameters: Parameters, values: FloatArray, columns: tuple[str, ...]) -> list[Term]:
        return [
            Term(name, shown_number(values[0, place]), self._column_terms(parameters, values[:, place], place)[0])
            for place, name in enumerate(columns)
            if np.isfinite(values[0, place])
        ]

    def _column_terms(self, parameters: Parameters, values: FloatArray, column: int) -> FloatArray:
        known = np.isfinite(values)[:, None]
        inside = values[:, None] if known.all() else np.where(known, values[:, None], IN_EVERY_SUPPORT)
        terms = self.log_density(inside, *(parameter[column] for parameter in parameters))
        return terms if known.all() else np.where(known, terms, 0.0)

    def sample(
        self, parameters: Parameters, label: int, rows: int, rng: np.random.Generator
    ) -> list[AnyArray | list[Any]]:
        columns = len(parameters[0])
        return [self.draw(rng, rows, *(float(p[place, label]) for p in parameters)) for place in range(columns)]


def blended(seen: Sums, free_rows: float) -> Moments:
    """Each class's own moments, with `free_rows` rows of all classes together mixed in.

    Deviations are combined without squaring, so that columns near 1e300 or 1e-300 work.
    """
    all_classes = seen.over_classes()
    overall_mean, overall_deviation = all_classes.mean, all_classes.deviation
    weight = seen.weight.to_float()
    empty = all_classes.weight.to_float() == 0
    free = np.where((weight == 0) & (free_rows == 0), 1.0, free_rows)
    own_share, free_share = weight / (weight + free), free / (weight + free)
    mean = own_share * seen.mean + free_share * overall_mean
    deviation = np.hypot(
        np.sqrt(own_share) * np.hypot(seen.deviation, seen.mean - mean),
        np.sqrt(free_share) * np.hypot(overall_deviation, overall_mean - mean),
    )
    mean_log = None
    if seen.log is not None:
        mean_log = own_share * seen.mean_log + free_share * all_classes.mean_log
    return Moments(weight, mean, np.where(empty, 1.0, deviation), mean_log)


def times_larger(value: FloatArray, size: FloatArray) -> FloatArray:
    """value / size for numbers from zero up, growing like a logarithm where it would overflow: order is kept."""
    with np.errstate(over="ignore", divide="ignore"):
        ratio = value / size
        return np.where(ratio < FAR, ratio, FAR * (1 + np.log(value) - np.log(size) - np.log(FAR)))


def lifted(deviation: FloatArray, seen: Sums, floor: float) -> FloatArray:
    """Deviations raised to the root of `floor` times the whole column's; 1 where the whole column is constant."""
    overall = seen.over_classes().deviation
    least = np.maximum(np.sqrt(floor) * overall, LEAST_DEVIATION)
    return np.where(overall == 0, 1.0, np.maximum(deviation, least))
