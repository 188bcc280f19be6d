"""What is left of means and covariances when one row is taken out, for every row: down-dated, or subtracted exactly."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.families.base.multivariate_normal import units_of
from candide.statistics.cross_sums import CrossSums

#: Taking a row out in doubles must leave this share of the squares.
KEPT = 1e-3
#: Which way a mean is rounded matters where doubles are coarser than this share of the deviation; a mean is halfway
#: between two of them if it is within this share of their distance.
COARSE, HALFWAY = 1e-11, 1e-4
#: How many numbers the covariances of the rows judged together may have.
NUMBERS_AT_ONCE = 1 << 21


class CompleteRows(NamedTuple):
    """Rows to be taken out, one at a time: complete, of positive weight, and learned."""

    values: FloatArray
    labels: IntArray
    weights: IntArray

    def at(self, rows: IntArray) -> CompleteRows:
        """Some of the rows."""
        return CompleteRows(self.values[rows], self.labels[rows], self.weights[rows])


class CovarianceMoments(NamedTuple):
    """Weight[...], mean[..., column] and covariance[..., column, column] in some units, nothing mixed in.

    `lost` is what rounding took from the mean: much, beside the deviation, where a clock counts seconds since 1970.
    """

    weight: FloatArray
    mean: FloatArray
    covariance: FloatArray
    lost: FloatArray

    def away(self, out: CompleteRows, exponents: IntArray) -> FloatArray:
        """How far each row lies from the mean of its class."""
        return np.asarray(np.ldexp(out.values, -exponents) - self.mean[out.labels] - self.lost[out.labels])


class Rest(NamedTuple):
    """What is left of all classes without each of some rows, column j in units of 2^exponents[j].

    Weights are [row, class], means and covariances [row, class, ...]; `whole` are the variances[row, column] of all
    classes together.
    """

    rows: IntArray
    exponents: IntArray
    weights: FloatArray
    mean: FloatArray
    covariance: FloatArray
    whole: FloatArray


def rests(seen: CrossSums, out: CompleteRows) -> Iterator[Rest]:
    """What is left without each row, some rows at a time, every row once."""
    everyone = seen.over_classes()
    together = out._replace(labels=np.zeros_like(out.labels))
    step = max(1, NUMBERS_AT_ONCE // (seen.classes * seen.columns**2))
    for rows, exponents, exact in in_groups(seen, everyone, out):
        own, all_classes = covariance_moments(seen, exponents), covariance_moments(everyone, exponents)
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            mine, ours = out.at(some), together.at(some)
            if exact:
                left = covariance_moments(cross_sums_without(seen, mine), exponents)
                whole = covariance_moments(cross_sums_without(everyone, ours), exponents)
            else:
                left, whole = covariance_without(own, mine, exponents), covariance_without(all_classes, ours, exponents)
            yield spread(own, left, whole, some, mine.labels, exponents)


def in_groups(seen: CrossSums, everyone: CrossSums, out: CompleteRows) -> Iterator[tuple[IntArray, IntArray, bool]]:
    """Rows that can be judged in the same units, those units, and whether they must be subtracted exactly.

    Units are what fitting without the row would choose where that matters: where a column is constant without the row,
    its variance being one unit. Elsewhere those of all rows do as well.
    """
    exponents = units_of(everyone)[0]
    together = out._replace(labels=np.zeros_like(out.labels))
    own, all_classes = covariance_moments(seen, exponents), covariance_moments(everyone, exponents)
    exact = shaky(own, out, exponents) | shaky(all_classes, together, exponents)
    exact |= all_classes.weight[0] == out.weights
    yield np.flatnonzero(~exact), exponents, False
    rows = np.flatnonzero(exact)
    if len(rows):
        units, which = np.unique(units_of(cross_sums_without(everyone, together.at(rows))), axis=0, return_inverse=True)
        for index, exponents in enumerate(units):
            yield rows[which.ravel() == index], exponents, True


def covariance_moments(seen: CrossSums, exponents: IntArray) -> CovarianceMoments:
    """Each class's own."""
    with np.errstate(over="ignore"):
        mean, lost = (np.ldexp(part, -exponents) for part in (seen.mean, lost_digits(seen)))
        return CovarianceMoments(seen.weights, mean, seen.covariance(exponents), lost)


def lost_digits(seen: CrossSums) -> FloatArray:
    """The exact mean less the rounded one, [class, column]."""
    total, total_exponent = seen.total.integers()
    weight, weight_exponent = seen.weight.integers()
    scale = Fraction(2) ** (total_exponent - weight_exponent)
    lost = np.zeros(seen.mean.shape)
    for label, column in np.ndindex(lost.shape):
        if weight[label]:
            exact = Fraction(int(total[column, label]), int(weight[label])) * scale
            lost[label, column] = exact - Fraction(float(seen.mean[label, column]))
    return lost


def cross_sums_without(seen: CrossSums, out: CompleteRows) -> CrossSums:
    """The sums of each row's class without the row, as many classes as there are rows."""
    rows = len(out.labels)
    return seen.only(out.labels) - CrossSums.of(out.values, np.arange(rows), rows, out.weights)


def covariance_without(whole: CovarianceMoments, out: CompleteRows, exponents: IntArray) -> CovarianceMoments:
    """What each row leaves of its class, [row], down-dated in doubles."""
    weight, away = whole.weight[out.labels], whole.away(out, exponents)
    rest = weight - out.weights
    safe = np.where(rest > 0, rest, 1.0)[:, None]
    moved = whole.mean[out.labels] + (whole.lost[out.labels] - away * (out.weights[:, None] / safe))
    gone = (out.weights * weight)[:, None] / safe * away
    scatter = weight[:, None, None] * whole.covariance[out.labels] - gone[:, :, None] * away[:, None, :]
    left = (rest > 0)[:, None]
    return CovarianceMoments(
        rest, np.where(left, moved, 0.0), np.where(left[:, None], scatter / safe[:, None], 0.0), np.zeros_like(moved)
    )


def shaky(whole: CovarianceMoments, out: CompleteRows, exponents: IntArray) -> AnyArray:
    """Which rows a down-date in doubles would lose more than a few bits of, or could not have been learned."""
    rest, weights = (whole.weight[out.labels] - out.weights)[:, None], out.weights[:, None]
    variance = np.diagonal(whole.covariance, axis1=1, axis2=2)[out.labels]
    gone = weights / np.where(rest > 0, rest, 1.0) * whole.away(out, exponents) ** 2
    steady = (variance - gone > KEPT * variance) & ~mean_may_round_either_way(whole, out, exponents)
    return np.asarray((rest[:, 0] < 0) | ((rest > 0) & (variance > 0) & ~steady).any(axis=1))


def mean_may_round_either_way(whole: CovarianceMoments, out: CompleteRows, exponents: IntArray) -> AnyArray:
    """Where [row, column] the mean that is left may be rounded either way, and that would show."""
    rest = whole.weight[out.labels] - out.weights
    rest = np.where(rest > 0, rest, 1.0)[:, None]
    mean, lost = whole.mean[out.labels], whole.lost[out.labels]
    change = lost - whole.away(out, exponents) * (out.weights[:, None] / rest)
    moved = mean + change
    rounding, distance = np.abs(change - (moved - mean)), np.spacing(np.abs(moved))
    deviation = np.sqrt(np.diagonal(whole.covariance, axis1=1, axis2=2))[out.labels]
    return np.asarray((distance > COARSE * deviation) & (np.abs(rounding / distance - 0.5) < HALFWAY))


def spread(
    own: CovarianceMoments,
    left: CovarianceMoments,
    whole: CovarianceMoments,
    rows: IntArray,
    labels: IntArray,
    exponents: IntArray,
) -> Rest:
    """All classes of each row: its own class as it is left, the others as they were."""
    indices = np.arange(len(rows))
    weights, mean, covariance = (np.repeat(part[None], len(rows), axis=0) for part in own[:3])
    weights[indices, labels], mean[indices, labels], covariance[indices, labels] = left[:3]
    mean = np.where(weights[:, :, None] > 0, mean, whole.mean[:, None])
    return Rest(rows, exponents, weights, mean, covariance, np.diagonal(whole.covariance, axis1=1, axis2=2))
