"""How good answers are: accuracy, log loss, Brier score, calibration error. Sums of whole units: order is moot."""

from __future__ import annotations

import math

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.grid import NEAR

UNIT = 2.0**40
LEAST_LOG = -52 * math.log(2)
"""A probability counts as at least 2^-52 in the log loss, so that one impossible row does not hide all others."""

BINS = 15
NINETY_FIVE = 1.959963984540054
ONE_SIDED = 1.6448536269514722


def units(values: FloatArray, weights: AnyArray) -> int:
    """The sum in units of 2^-40: whole numbers add up alike in any order, however heavy the rows are.

    >>> units(np.array([0.5, 0.25]), np.array([1.0, 2.0])) / UNIT
    1.0
    """
    whole, whole_weights = np.rint(values * UNIT).astype(np.int64), weights.astype(np.int64)
    if float(np.abs(whole).max(initial=0)) * float(whole_weights.max(initial=0)) * len(whole_weights) < 2.0**62:
        return int(whole @ whole_weights)
    return int(whole.astype(object) @ whole_weights.astype(object))


def own_losses(log_posterior: FloatArray, labels: IntArray) -> FloatArray:
    """-log P(own label), row by row; a label that is no class (-1) has the least probability there is."""
    own = np.where(labels >= 0, log_posterior[np.arange(len(labels)), labels], LEAST_LOG)
    return -np.maximum(own, LEAST_LOG)


def mean_loss(log_posterior: FloatArray, labels: IntArray, weights: FloatArray) -> float:
    """The log loss."""
    return mean_of_losses(own_losses(log_posterior, labels), weights)


def mean_of_losses(losses: FloatArray, weights: AnyArray) -> float:
    """The log loss, given -log P(own label) of each row."""
    return units(np.minimum(losses, -LEAST_LOG), weights) / UNIT / float(weights.sum())


def squares(posterior: FloatArray, labels: IntArray) -> FloatArray:
    """The squared distance of each posterior from the truth (Brier 1950); a label that is no class is one from all."""
    own = np.where(labels >= 0, posterior[np.arange(len(labels)), labels], 0.0)
    return np.asarray((posterior**2).sum(axis=1) - 2 * own + 1)


def bin_of(chance: FloatArray) -> IntArray:
    """The bin of each top probability, of 15 equally wide ones; one next to an edge is taken to be on it."""
    return np.minimum((chance * BINS + NEAR).astype(np.int64), BINS - 1)


def calibration_error(counts: AnyArray, right: AnyArray, chances: AnyArray) -> float:
    """The expected calibration error: how far accuracy and mean probability lie apart, bin by bin (Naeini 2015).

    >>> calibration_error(np.array([10, 10]), np.array([5, 9]), np.array([6.0, 9.0]))
    0.05
    """
    return float(np.abs(right - chances).sum() / counts.sum())


def calibration_error_by_chance(counts: AnyArray, chances: AnyArray) -> float:
    """What the calibration error stays below 95 times in 100 where every probability means what it says.

    By the normal approximation of each bin: even then the share that is right strays from what was said, the more so
    the fewer rows there are.

    >>> [round(calibration_error_by_chance(np.array([rows]), np.array([rows / 2])), 3) for rows in (100, 10_000)]
    [0.089, 0.009]
    """
    said = np.divide(chances, counts, out=np.zeros(len(counts)), where=counts > 0)
    spread = np.sqrt(counts * said * (1 - said))
    mean, variance = math.sqrt(2 / math.pi) * spread.sum(), (1 - 2 / math.pi) * (spread**2).sum()
    return float((mean + ONE_SIDED * math.sqrt(variance)) / counts.sum())


def wilson(right: float, rows: float) -> tuple[float, float]:
    """The interval that holds the true share 95 times in 100 (Wilson 1927).

    >>> [round(end, 3) for end in wilson(9, 10)]
    [0.596, 0.982]
    """
    share, z2 = right / rows, NINETY_FIVE**2
    middle = (share + z2 / (2 * rows)) / (1 + z2 / rows)
    half = NINETY_FIVE * math.sqrt(share * (1 - share) / rows + z2 / (4 * rows**2)) / (1 + z2 / rows)
    return max(0.0, middle - half), min(1.0, middle + half)
