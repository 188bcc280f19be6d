"""The families that look at one number at a time: each a density with a few parameters per column and class."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, BoolArray, FloatArray, IntArray
from candide.data.batch import Batch
from candide.families.base.alike_rows import AlikeRows, AlikeScores
from candide.families.base.basis import DensityBasis
from candide.families.base.competing import ColumnLook
from candide.families.base.core import Cells, Drawn
from candide.families.base.explaining import Term, shown_number
from candide.families.base.family import AnyFamily
from candide.families.base.leave_one_out import BlockLeftOut, BySubtracting
from candide.families.base.numbers import OfNumbers
from candide.families.base.streaming import BY_MOMENTS
from candide.families.base.support import LOGS, REAL, Support
from candide.kernels.density_leaving import COARSE, EPSILON, KEPT, MomentsOfRows, moments_without
from candide.kernels.logarithm import grid_log
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

#: Logarithms are summed on a grid of this step: a smaller gap between them means nothing.
LEAST_GAP = 2.0**-40


@dataclass(frozen=True)
class Moments:
    """Mean, standard deviation and gap of logarithms of each (column, class), the prior's rows blended in.

    The gap is how far the mean of the logarithms lies below the logarithm of the mean. `whole` is the deviation of all
    classes together, [column, 1]. With a row taken out, every row has moments of its own: there the first axis is the
    row.
    """

    weight: FloatArray
    mean: FloatArray
    deviation: FloatArray
    log_gap: FloatArray | None
    whole: FloatArray

    @property
    def variance(self) -> FloatArray:
        return self.deviation**2


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
        return BySubtracting(self, seen, columns)

    def score_without(
        self,
        seen: Sums,
        values: FloatArray,
        columns: tuple[str, ...],
        labels: IntArray,
        weights: AnyArray,
        joint: FloatArray,
    ) -> None:
        for column in range(len(columns)):
            known = np.flatnonzero(~np.isnan(values[:, column]))
            rows = SummedRows(values[known, column], labels[known], weights[known] if weights.size else weights)
            joint[known] += self._terms_without(seen.column(column), rows)

    def _terms_without(self, seen: Sums, rows: SummedRows) -> FloatArray:
        """What the numbers of one column say without each of them, [row, class]."""
        if seen.log is None:
            summed = np.ascontiguousarray(self.summed(rows.values[:, None])[:, 0])
            moments = blended_in_doubles(seen, rows._replace(values=summed), self.smoothing)
            return self.log_density(rows.values[:, None], *self.parameters(moments))
        distinct, which = kinds_of(*rows)
        out = distinct._replace(values=self.summed(distinct.values[:, None])[:, 0])
        parameters = self.parameters(blended_without(seen, out, self.smoothing))
        return self.log_density(distinct.values[:, None], *parameters)[which]

    def scores_alike(self, rows: AlikeRows) -> AlikeScores | None:
        """From moments in doubles, which all densities share; nothing where these are too coarse."""
        by_logs, by_itself = self.summed_support is LOGS, type(self).summed is Density.summed
        is_usual = type(self).score_without is Density.score_without and (by_logs or by_itself)
        if not is_usual or not len(rows.numbers) or not bool(self.support.holds(rows.numbers).all()):
            return None
        found = rows.moments.without(by_logs, self.needs_logs, self.smoothing)
        if found is None:
            return None
        others, own = (self.parameters(Moments(*moments)) for moments in found)
        said = self.log_density(rows.numbers[:, None], *others)
        return AlikeScores.of_first(said, self.log_density(rows.moments.of_rows, *own)[:, 0], rows)

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


class Pool(NamedTuple):
    """Weight, mean, deviation and gap of logarithms as they were seen, nothing blended in."""

    weight: FloatArray
    mean: FloatArray
    deviation: FloatArray
    log_gap: FloatArray | None


def pool(seen: Sums) -> Pool:
    """The moments of each (column, class)."""
    return Pool(seen.weight.to_float(), seen.mean, seen.deviation, None if seen.log is None else seen.log_gap)


def blend(own: Pool, everyone: Pool, prior_rows: float) -> Moments:
    """Each class's own moments with `prior_rows` rows of everyone's mixed in.

    Deviations are combined without squaring, so that columns near 1e300 or 1e-300 work.
    """
    prior = np.where((own.weight == 0) & (prior_rows == 0), 1.0, prior_rows)
    own_share, prior_share = own.weight / (own.weight + prior), prior / (own.weight + prior)
    mean = own_share * own.mean + prior_share * everyone.mean
    deviation = np.hypot(
        np.sqrt(own_share) * np.hypot(own.deviation, own.mean - mean),
        np.sqrt(prior_share) * np.hypot(everyone.deviation, everyone.mean - mean),
    )
    log_gap = None
    if own.log_gap is not None and everyone.log_gap is not None:
        log_gap = own_share * own.log_gap + prior_share * everyone.log_gap
        log_gap += gap_between(own.mean, everyone.mean, own_share, prior_share)
    deviation = np.where(everyone.weight == 0, 1.0, deviation)
    return Moments(own.weight, mean, deviation, log_gap, everyone.deviation)


def gap_between(one: FloatArray, other: FloatArray, share: FloatArray, other_share: FloatArray) -> FloatArray:
    """log(a x + b y) - a log x - b log y for shares a + b = 1, as accurate as the distance of x and y is."""
    mean = share * one + other_share * other
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        step = (other - one) / mean
        lost = share * log_of(-other_share * step, one, mean) + other_share * log_of(share * step, other, mean)
    return np.where(share * other_share > 0, -lost, 0.0)


def log_of(step: FloatArray, value: FloatArray, mean: FloatArray) -> FloatArray:
    """log(value / mean), given value / mean - 1 as well as it is known."""
    return np.where(np.abs(step) < 0.5, np.log1p(step), np.log(value) - np.log(mean))


class SummedRows(NamedTuple):
    """Rows to be taken out, one at a time: what was summed of each, its class and its weight."""

    values: FloatArray
    labels: IntArray
    weights: IntArray

    def at(self, rows: IntArray) -> SummedRows:
        """Some of the rows."""
        return SummedRows(self.values[rows], self.labels[rows], self.weights[rows])


def kinds_of(values: FloatArray, labels: IntArray, weights: AnyArray) -> tuple[SummedRows, IntArray]:
    """The different rows there are, and which of them each row is."""
    numbers, which = np.unique(values, return_inverse=True)
    amounts, amount = np.unique(weights, return_inverse=True) if weights.size else (np.ones(1, dtype=np.int64), 0)
    classes = int(labels.max(initial=0)) + 1
    kinds, which = np.unique((which * classes + labels) * len(amounts) + amount, return_inverse=True)
    pairs = kinds // len(amounts)
    return SummedRows(numbers[pairs // classes], pairs % classes, amounts[kinds % len(amounts)]), which


def blended_in_doubles(seen: Sums, out: SummedRows, prior_rows: float) -> Moments:
    """What `blended_without` gives where no logarithms are summed: by a loop, but for the rows that need exact sums."""
    rows, everyone = len(out.labels), seen.over_classes()
    pools, pool_of_all = (
        np.ascontiguousarray(np.stack([*pool(part)[:3], part.mean_rest])[:, 0].T) for part in (seen, everyone)
    )
    shape = rows, seen.classes
    found = MomentsOfRows(np.empty(shape), np.empty(shape), np.empty(shape), np.empty(rows), np.empty(rows, np.bool_))
    moments_without(out.values, out.labels, out.weights, pools, pool_of_all[0], float(prior_rows), found)
    doubtful = np.flatnonzero(found.doubtful)
    if len(doubtful):
        each = out if out.weights.size else out._replace(weights=np.ones(rows, np.int64))
        exact = blended_without(seen, each.at(doubtful), prior_rows)
        found.weight[doubtful], found.mean[doubtful] = exact.weight, exact.mean
        found.deviation[doubtful], found.whole[doubtful] = exact.deviation, exact.whole[:, 0]
    return Moments(found.weight, found.mean, found.deviation, None, found.whole[:, None])


def blended_without(seen: Sums, out: SummedRows, prior_rows: float) -> Moments:
    """What `blend` gives for one column without each row, [row, class].

    Down-dated in doubles where that is as good as subtracting exactly: where it keeps all but a few bits, and where
    means are rounded the same way or the way does not matter.
    """
    everyone, together = seen.over_classes(), out._replace(labels=np.zeros_like(out.labels))
    (left, kept, rounded), (rest, kept_all, rounded_all) = without(seen, out), without(everyone, together)
    moments = blend(among(seen, left, out.labels), in_rows(rest), prior_rows)
    coarse = (np.spacing(np.abs(moments.mean)) > COARSE * moments.deviation).any(axis=1)
    shaky = np.flatnonzero(~(kept & kept_all & (rounded & rounded_all | ~coarse)))
    if len(shaky):
        put(left, shaky, pool(exactly_without(seen, out.at(shaky))))
        put(rest, shaky, pool(exactly_without(everyone, together.at(shaky))))
        moments = blend(among(seen, left, out.labels), in_rows(rest), prior_rows)
    return moments


def among(seen: Sums, left: Pool, labels: IntArray) -> Pool:
    """All classes of each row, [row, class]: its own as it is left, the others as they were."""
    parts = zip(pool(seen), left, strict=True)
    return Pool(*(None if whole is None else in_place(whole, part, labels) for whole, part in parts))  # type: ignore[arg-type]


def in_rows(rest: Pool) -> Pool:
    """What all classes together leave of each row, [row, 1]."""
    return Pool(*(None if part is None else part[:, None] for part in rest))  # type: ignore[arg-type]


def in_place(whole: FloatArray, changed: FloatArray | None, labels: IntArray) -> FloatArray:
    """A line of whole[0, class] for each row, with what changed in its own class."""
    table = np.repeat(whole, len(labels), axis=0)
    table[np.arange(len(labels)), labels] = changed
    return table


def without(seen: Sums, out: SummedRows) -> tuple[Pool, AnyArray, AnyArray]:
    """The moments of each row's class once the row has left, [row], down-dated in doubles; one column.

    Also whether that keeps all but a few bits, or else gives zeros, and whether the mean is sure to be the correctly
    rounded one.
    """
    whole = pool(seen)
    weight, mean, deviation = (part[0, out.labels] for part in whole[:3])
    rest = weight - out.weights
    share = out.weights / np.where(rest > 0, rest, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        low = seen.mean_rest[0, out.labels]
        away = (out.values - mean) - low
        change = low - away * share
        moved = mean + change
        after = deviation**2 - share * away**2
        spread = np.sqrt(np.maximum(after, 0.0) * (1 + share))
        kept = (after > KEPT * deviation**2) | (rest <= 0) | ((deviation == 0) & (away == 0))
        rounded = ~halfway(mean, change, moved) | (rest <= 0)
    log_gap = None
    if seen.log is not None:
        log_gap, kept_logs = log_gap_without(seen, out, share, away)
        kept &= kept_logs | (rest <= 0)
    nothing = (rest <= 0) | ~kept
    moved, spread = np.where(nothing, 0.0, moved), np.where(nothing | (deviation == 0), 0.0, spread)
    return Pool(rest, moved, spread, None if log_gap is None else np.where(nothing, 0.0, log_gap)), kept, rounded


def halfway(mean: FloatArray, change: FloatArray, moved: FloatArray) -> AnyArray:
    """Where a mean that changes by a number known to a few bits may be rounded either way."""
    lost, doubt = np.abs(change - (moved - mean)), 4 * EPSILON * np.abs(change)
    return np.asarray(np.abs(lost - 0.5 * np.spacing(np.abs(moved))) <= doubt)


def log_gap_without(seen: Sums, out: SummedRows, share: FloatArray, away: FloatArray) -> tuple[FloatArray, AnyArray]:
    """The gap of logarithms once the row has left, and whether that keeps all but a few bits.

    With the row's logarithm known relative to the mean's, every term is as small as the column is narrow: the gap grows
    by the share of the class that left, the mean moves, and the row's logarithm is no longer counted.
    """
    mean, gap = seen.mean[0, out.labels], seen.log_gap[0, out.labels]
    near = grid_log(seen.mean[0])
    beyond = seen.log_mean_less(near[None])[0, out.labels]
    own = share * ((grid_log(out.values) - near[out.labels]) - beyond)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        step = -share * (away / mean)
        moved = np.log1p(step)
        left = (1 + share) * gap + moved + own
        doubt = (1 + share) * np.abs(gap) + np.abs(step) / (1 + step) + np.abs(moved) + np.abs(own)
        return left, 4 * EPSILON * doubt <= COARSE * np.maximum(left, LEAST_GAP)


def exactly_without(seen: Sums, out: SummedRows) -> Sums:
    """The sums of each row's class without the row, as many classes as there are rows."""
    numbers = np.arange(len(out.labels))
    gone = Sums.of(out.values[:, None], numbers, len(numbers), out.weights, seen.log is not None)
    return seen.only(out.labels) - gone


def put(left: Pool, indices: IntArray, exact: Pool) -> None:
    """Write the moments of some rows, [1, index], where they belong."""
    for part, better in zip(left, exact, strict=True):
        if part is not None and better is not None:
            part[indices] = better[0]


def times_larger(value: FloatArray, size: FloatArray) -> FloatArray:
    """value / size for numbers from zero up, growing like a logarithm where it would overflow: order is kept."""
    with np.errstate(over="ignore", divide="ignore"):
        ratio = value / size
        return np.where(ratio < FAR, ratio, FAR * (1 + np.log(value) - np.log(size) - np.log(FAR)))


def lifted(deviation: FloatArray, whole: FloatArray, floor: float) -> FloatArray:
    """Deviations raised to the root of `floor` times the whole column's; 1 where the whole column is constant."""
    least = np.maximum(np.sqrt(floor) * whole, LEAST_DEVIATION)
    return np.where(whole == 0, 1.0, np.maximum(deviation, least))
