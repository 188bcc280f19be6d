"""The families that look at one number at a time: each a density with a few parameters per column and class."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from candide.data.arrays import AnyArray, BoolArray, FloatArray, IntArray
from candide.data.batch import Batch
from candide.families.base.alike_rows import AlikeRows
from candide.families.base.basis import DensityBasis
from candide.families.base.block_rows import BlockRows, Learned
from candide.families.base.block_scores import BlockScores
from candide.families.base.competing import ColumnLook
from candide.families.base.core import Cells, Drawn
from candide.families.base.density_moments import Moments, Pool, blend, pool
from candide.families.base.density_without import DensityLeftOut, left_out_each, moments_in_doubles
from candide.families.base.explaining import Term, shown_number
from candide.families.base.family import AnyFamily
from candide.families.base.learning_in_part import ByParameters, LearnedInPart
from candide.families.base.leave_one_out import BlockLeftOut
from candide.families.base.numbers import OfNumbers
from candide.families.base.streaming import BY_MOMENTS, CompiledDensity
from candide.families.base.support import LOGS, REAL, Support
from candide.statistics.column_memory import ColumnMemory
from candide.statistics.exact import ExactSums
from candide.statistics.sums import Sums, SumsBuilder
from candide.statistics.tally import Tally
from candide.statistics.whole_sums import WholeSums

Parameters = tuple[FloatArray, ...]
IN_EVERY_SUPPORT = 1.0
LEAST_DEVIATION = 1e-300
FAR = 1e280
LARGE_COUNT = 10_000
"""Larger whole numbers are hardly counts, unless a user says so."""


@dataclass(frozen=True)
class Density(OfNumbers[Sums, SumsBuilder, Parameters]):
    """A family of one number: `smoothing` is how many rows of all classes together each class is given for free.

    A class that never saw a column so borrows the column's overall shape, and one that saw a single value does not
    become certain of it.
    """

    smoothing: float = 1.0

    statistic = Sums
    live = BY_MOMENTS
    #: What is summed, where that is not the values themselves.
    summed_support: ClassVar[Support | None] = None
    needs_logs: ClassVar[bool] = False
    #: What the parameters are called, and the density written with them, for explanations.
    called: ClassVar[tuple[str, ...]] = ()
    formula: ClassVar[str] = ""

    @classmethod
    def candidates_for(cls, column: ColumnLook) -> list[AnyFamily]:
        """It may stand wherever its support holds all numbers."""
        if cls.support is REAL:
            return [cls()] if column.has_shape else []
        large = cls.support.grid_bits is not None and column.largest > LARGE_COUNT
        stands = column.has_tail and not large and bool(cls.support.holds(column.values).all())
        return [cls()] if stands else []

    @abstractmethod
    def parameters(self, seen: Moments) -> Parameters:
        """Parameters, each [column, class]: every cell by itself, and by what all classes share."""

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

    def held(self, seen: Sums, columns: tuple[str, ...]) -> BoolArray:
        return np.asarray((seen.weight.signs() > 0).any(axis=1))

    def value_sums(self, seen: Sums) -> tuple[ExactSums, ...]:
        return (seen.total, seen.square) if type(self).summed is Density.summed else ()

    def summed(self, values: FloatArray) -> FloatArray:
        """What is summed of the values: themselves, unless the family says otherwise."""
        return values

    def read_off(self, seen: ColumnMemory, columns: tuple[str, ...], wanted: tuple[str, ...]) -> Sums:
        """The sums themselves, or those of logarithms."""
        numbers, logs = (sums.narrowed(columns, wanted) for sums in (seen.numbers, seen.logs))
        if self.summed_support is LOGS:
            return logs
        if type(self).summed is not Density.summed or (self.needs_logs and numbers.weight != logs.weight):
            return super().read_off(seen, columns, wanted)
        return replace(numbers, log=logs.total) if self.needs_logs else numbers

    def learn(self, builder: SumsBuilder, values: FloatArray, labels: IntArray, weights: AnyArray) -> None:
        builder.learn(self.summed(values), labels, weights if weights.size else None)

    def could_leave(self, sums: WholeSums, rows: Any, bits: int) -> Any:
        """Where rows of the family may have left these sums, rows that weigh at most so many times 2^-bits."""
        possible = (self.summed_support or self.support).could_sum_to(sums) & sums.within(rows, bits)
        return possible if sums.log is None else possible & ~sums.logs_outside()

    def impossible(self, seen: Sums, columns: tuple[str, ...], rows: Tally) -> str:
        possible = self.could_leave(seen.whole, rows.units.astype(object), rows.bits).all(axis=1)
        return "" if possible.all() else f"sums of '{columns[int(np.argmin(possible))]}' that no rows have"

    def fit(self, seen: Sums, columns: tuple[str, ...]) -> Parameters:
        return self.fit_pools(pool(seen), pool(seen.over_classes()))

    def fit_pools(self, own: Pool, everyone: Pool) -> Parameters:
        """Parameters from the moments of each class, and of all together."""
        return self.parameters(blend(own, everyone, self.smoothing))

    def score(self, parameters: Parameters, values: FloatArray, joint: FloatArray) -> None:
        for column in range(values.shape[1]):
            joint += self._column_terms(parameters, values[:, column], column)

    def leave_one_out(self, seen: Sums, columns: tuple[str, ...]) -> BlockLeftOut:
        return DensityLeftOut.of(self, seen)

    def leave_each_out(
        self, rows: BlockRows[FloatArray], columns: tuple[str, ...], classes: int, first: int
    ) -> BlockScores | None:
        return left_out_each(self, rows, classes) if first == len(rows) else None

    def learned_in_part(
        self, rows: BlockRows[FloatArray], columns: tuple[str, ...], classes: int, learned: Learned
    ) -> LearnedInPart:
        """By moments in doubles, where they suffice: nobody learns on from what a learning curve has learned."""
        moments = moments_in_doubles(self, rows.learned(self, columns, learned), classes)
        if moments is None:
            return super().learned_in_part(rows, columns, classes, learned)
        return ByParameters(self, self.fit_pools(*moments), rows, columns, classes)

    @property
    def contest_density(self) -> CompiledDensity | None:
        """Which density of the kernels it is in a contest, where the mean of logarithms is known, too."""
        return self.compiled_density

    def density_alike(self, rows: AlikeRows) -> CompiledDensity | None:
        return self.contest_density if bool(self.support.holds(rows.numbers).all()) else None

    def terms(
        self, parameters: Parameters, values: FloatArray, row: Batch, columns: tuple[str, ...], seen: Sums
    ) -> list[Term]:
        return [
            self._term(parameters, values, index, name)
            for index, name in enumerate(columns)
            if np.isfinite(values[0, index])
        ]

    def _term(self, parameters: Parameters, values: FloatArray, index: int, name: str) -> Term:
        shown = shown_number(values[0, index])
        called = self.named_parameters(parameters, index)
        said = self._column_terms(parameters, values[:, index], index)[0]
        return Term(name, shown, said, DensityBasis(self.name, called, self.formula, shown))

    def _column_terms(self, parameters: Parameters, values: FloatArray, column: int) -> FloatArray:
        known = np.isfinite(values)[:, None]
        inside = values[:, None] if known.all() else np.where(known, values[:, None], IN_EVERY_SUPPORT)
        terms = self.log_density(inside, *(parameter[column] for parameter in parameters))
        return terms if known.all() else np.where(known, terms, 0.0)

    def named_parameters(self, parameters: Parameters, index: int) -> dict[str, FloatArray]:
        return {word: parameter[index] for word, parameter in zip(self.called, parameters, strict=False)}

    def marginal_log_likelihood(
        self, parameters: Parameters, columns: tuple[str, ...], index: int, values: Cells, classes: int
    ) -> FloatArray:
        return self._column_terms(parameters, np.asarray(values, dtype=np.float64), index)

    def centre_and_spread(self, parameters: Parameters, seen: Sums, classes: int) -> tuple[FloatArray, FloatArray]:
        """Mean and deviation, where values are what is summed; else as the family draws them."""
        if type(self).summed is not Density.summed:
            return super().centre_and_spread(parameters, seen, classes)
        moments = blend(pool(seen), pool(seen.over_classes()), self.smoothing)
        return moments.mean, moments.deviation

    def sample(self, parameters: Parameters, label: int, rows: int, rng: np.random.Generator) -> Drawn:
        of_class = [[float(p[index, label]) for p in parameters] for index in range(len(parameters[0]))]
        with np.errstate(over="ignore", invalid="ignore"):
            return [self.support.within(self.draw(rng, rows, *numbers)) for numbers in of_class]


def times_larger(value: FloatArray, size: FloatArray) -> FloatArray:
    """value / size for numbers from zero up, growing like a logarithm where it would overflow: order is kept."""
    with np.errstate(over="ignore", divide="ignore"):
        ratio = value / size
        return np.where(ratio < FAR, ratio, FAR * (1 + np.log(value) - np.log(size) - np.log(FAR)))


def lifted(deviation: FloatArray, whole: FloatArray, floor: float) -> FloatArray:
    """Deviations raised to the root of `floor` times the whole column's; 1 where the whole column is constant."""
    least = np.maximum(np.sqrt(floor) * whole, LEAST_DEVIATION)
    return np.where(whole == 0, 1.0, np.maximum(deviation, least))
