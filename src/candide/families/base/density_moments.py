"""Moments of numbers by column and class, with some rows of the whole column mixed in: what densities are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from candide.data.arrays import FloatArray
from candide.statistics.sums import Sums


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
