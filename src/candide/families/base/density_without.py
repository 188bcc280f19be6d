"""What densities say of numbers that they have learned, each taken out of its sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.families.base.block_rows import BlockRows
from candide.families.base.block_scores import BlockScores
from candide.families.base.density_moments import Moments, Pool, blend, pool
from candide.families.base.streaming import CompiledDensity
from candide.kernels.densities import GAMMA
from candide.kernels.density_leaving import (
    COARSE,
    EPSILON,
    KEPT,
    LEAST_GAP_IN_DOUBLES,
    add_densities_without,
    add_gammas_without,
    pools_of_rows,
)
from candide.kernels.logarithm import grid_log
from candide.statistics.sums import Sums

#: Logarithms are summed on a grid of this step: a smaller gap between them means nothing.
LEAST_GAP = 2.0**-40


class TakenOut(Protocol):
    """A density, as far as its numbers can be taken out of sums."""

    needs_logs: ClassVar[bool]

    @property
    def smoothing(self) -> float: ...

    @property
    def compiled_density(self) -> CompiledDensity | None: ...

    @property
    def contest_density(self) -> CompiledDensity | None: ...

    def summed(self, values: FloatArray) -> FloatArray: ...

    def parameters(self, seen: Moments) -> tuple[FloatArray, ...]: ...

    def log_density(self, value: FloatArray, *parameters: FloatArray) -> FloatArray: ...

    def evidence_length(self, parameters: None, values: Any) -> Any: ...


@dataclass(frozen=True, eq=False)
class DensityLeftOut:
    """Sums that numbers can be taken out of, one row at a time.

    Where a kernel knows the density, moments are down-dated in doubles; rows that would lose digits so, and densities
    that no kernel knows, are taken out of exact sums.
    """

    family: TakenOut
    seen: Sums
    pools: FloatArray
    """Weight, mean, deviation and the rest of the mean, [column, class, moment], all classes together in the end."""

    @classmethod
    def of(cls, family: TakenOut, seen: Sums) -> Self:
        """Made ready: moments are rounded once, whatever is asked."""
        if family.compiled_density is None:
            return cls(family, seen, np.zeros(0))
        parts = [np.stack([*pool(part)[:3], part.mean_rest]) for part in (seen, seen.over_classes())]
        return cls(family, seen, np.ascontiguousarray(np.concatenate(parts, axis=2).transpose(1, 2, 0)))

    def scores(self, rows: BlockRows[Any]) -> BlockScores:
        """What the numbers of each row say without it; those that are missing say nothing."""
        score = np.zeros((len(rows), self.seen.classes))
        for column in range(rows.values.shape[1]):
            self._add_column(column, numbers_of_column(rows, column), score)
        length = self.family.evidence_length(None, rows.values)
        return BlockScores(score, score, length, np.zeros(len(rows)))

    def _add_column(self, column: int, rows: SummedRows, score: FloatArray) -> None:
        density = self.family.compiled_density
        exactly = ~np.isnan(rows.values)
        if density is not None:
            lent = float(self.family.smoothing)
            add_densities_without(*rows, self.pools[column], *density, lent, score, exactly)
        if exactly.any():
            some = np.flatnonzero(exactly)
            score[some] += terms_without(self.family, self.seen.column(column), rows.at(some))


def left_out_each(family: TakenOut, rows: BlockRows[Any], classes: int) -> BlockScores | None:
    """What the numbers of each row say without it, where no other rows were learned: their moments in doubles suffice.

    Nothing where they do not, or no kernel knows the density.
    """
    density, pools = family.contest_density, pools_in_doubles(family, rows, classes)
    if density is None or pools is None:
        return None
    score, lent = np.zeros((len(rows), classes)), float(family.smoothing)
    for column, of_column in enumerate(pools):
        numbers, doubtful = numbers_of_column(rows, column), np.zeros(len(score), np.bool_)
        if density.code == GAMMA:
            doubtful[:] = not add_gammas_without(*numbers, of_column, lent, score)
        else:
            add_densities_without(*numbers, of_column, *density, lent, score, doubtful)
        if doubtful.any():
            return None
    return BlockScores(score, score, family.evidence_length(None, rows.values), np.zeros(len(rows)))


def pools_in_doubles(family: TakenOut, rows: BlockRows[Any], classes: int) -> FloatArray | None:
    """The moments that rows leave, [column, class, moment], all classes together in the end; none where they lose much.

    They are weight, mean, deviation, the rest of the mean, and the mean logarithm, where a density asks for it.
    """
    density, pools = family.contest_density, np.zeros((rows.values.shape[1], classes + 1, 5))
    if density is None:
        return None
    told = (pools_of_rows(*numbers_of_column(rows, column), density.code, found) for column, found in enumerate(pools))
    return pools if all(told) else None


def moments_in_doubles(family: TakenOut, rows: BlockRows[Any], classes: int) -> tuple[Pool, Pool] | None:
    """The moments of each class, and of all together, without exact sums; none where these lose much."""
    pools = pools_in_doubles(family, rows, classes)
    if pools is None:
        return None
    weight, mean, deviation, rest, log = np.moveaxis(pools, 2, 0)
    mean = mean + rest
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = np.where(weight > 0, np.log(mean) - log, 0.0) if family.needs_logs else None
    if gap is not None and not (gap[weight > 1] > LEAST_GAP_IN_DOUBLES).all():
        return None
    parts = (slice(None), slice(classes)), (slice(None), slice(classes, None))
    own, everyone = (
        Pool(weight[part], mean[part], deviation[part], None if gap is None else gap[part]) for part in parts
    )
    return own, everyone


def numbers_of_column(rows: BlockRows[Any], column: int) -> SummedRows:
    """The numbers of one column."""
    return SummedRows(np.ascontiguousarray(rows.values[:, column]), rows.labels, rows.weights)


class SummedRows(NamedTuple):
    """Rows to be taken out, one at a time: what was summed of each, its class and its weight."""

    values: FloatArray
    labels: IntArray
    weights: AnyArray
    """None where each weighs one."""

    def at(self, rows: IntArray) -> SummedRows:
        """Some of the rows."""
        weights = self.weights[rows] if self.weights.size else self.weights
        return SummedRows(self.values[rows], self.labels[rows], weights)


def kinds_of(values: FloatArray, labels: IntArray, weights: AnyArray) -> tuple[SummedRows, IntArray]:
    """The different rows there are, and which of them each row is."""
    numbers, which = np.unique(values, return_inverse=True)
    amounts, amount = np.unique(weights, return_inverse=True) if weights.size else (np.ones(1, dtype=np.int64), 0)
    classes = int(labels.max(initial=0)) + 1
    kinds, which = np.unique((which * classes + labels) * len(amounts) + amount, return_inverse=True)
    pairs = kinds // len(amounts)
    return SummedRows(numbers[pairs // classes], pairs % classes, amounts[kinds % len(amounts)]), which


def terms_without(family: TakenOut, seen: Sums, rows: SummedRows) -> FloatArray:
    """What the numbers of one column say without each of them, [row, class], by sums that lose no digit."""
    distinct, which = kinds_of(*rows)
    out = distinct._replace(values=family.summed(distinct.values[:, None])[:, 0])
    parameters = family.parameters(blended_without(seen, out, family.smoothing))
    return family.log_density(distinct.values[:, None], *parameters)[which]


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
