"""Multivariate normal densities: means, covariances, and how high they stand over a point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.statistics.cross_sums import CrossSums

LOG_TAU = np.log(2 * np.pi)
FAR = 1e140
FARTHEST = 1e200
#: So many rows stay in the cache while they are worked on.
ROWS_AT_ONCE = 512


@dataclass(frozen=True)
class NormalParameters:
    """Mean[class, column] and covariance[class, column, column], column j in units of 2^exponents[j]."""

    exponents: IntArray
    mean: FloatArray
    covariance: FloatArray


def units_of(seen: CrossSums) -> IntArray:
    """A power of two near the root mean square of each [class, column]; 0 for a column of zeros.

    The unit of a column of equal values depends on the value alone, not on how many rows there are: it is the
    deviation such a column is given, and must not change when a row leaves.
    """
    squares, exponent = seen.products.integers()
    rows, row_exponent = seen.weight.integers()
    first, second = np.triu_indices(seen.columns)
    units = np.zeros((seen.classes, seen.columns), dtype=np.int64)
    for label, row in enumerate(rows):
        for column, square in enumerate(squares[first == second, label]):
            if square:
                units[label, column] = (power_below(int(square), int(row)) + exponent - row_exponent) // 2
    return units


def power_below(above: int, below: int) -> int:
    """The exponent of the largest power of two that is at most above / below.

    >>> power_below(8, 1), power_below(7, 1), power_below(1, 3)
    (3, 2, -2)
    """
    power = above.bit_length() - below.bit_length()
    reached = above << max(-power, 0) >= below << max(power, 0)
    return power if reached else power - 1


def in_units(values: FloatArray, exponents: IntArray) -> FloatArray:
    """Values in units of 2^exponents, those that would be beyond all measure pulled back."""
    with np.errstate(over="ignore"):
        return np.clip(np.ldexp(values, -exponents), -FARTHEST, FARTHEST)


def multivariate_log_densities(parameters: NormalParameters, values: FloatArray, columns: IntArray) -> FloatArray:
    """log density of values[row, column] under each class, for the columns observed."""
    mean, covariance = parameters.mean[None, :, columns], parameters.covariance[None, :, columns[:, None], columns]
    logs = np.empty((len(values), len(parameters.mean)))
    for start in range(0, len(values), ROWS_AT_ONCE):
        some = slice(start, start + ROWS_AT_ONCE)
        logs[some] = log_densities(mean, covariance, values[some], parameters.exponents[columns])
    return logs


def log_densities(mean: FloatArray, covariance: FloatArray, values: FloatArray, exponents: IntArray) -> FloatArray:
    """log density of values[row, column] by means and covariances [row, class, ...], which may be one for all rows.

    There may be one covariance for all classes, too. Every row is worked on by itself, so that its answer has the same
    bits whatever rows come with it: hence no triangular solver.
    """
    root: FloatArray = np.linalg.cholesky(covariance).astype(np.float64)
    lower = np.ascontiguousarray(np.transpose(root, (2, 3, 1, 0)))
    steps = in_units(values, exponents).T[:, None] - np.transpose(mean, (2, 1, 0))
    for column in range(len(steps)):
        steps[column] /= lower[column, column]
        steps[column + 1 :] -= lower[column + 1 :, column] * steps[column]
    return np.asarray(height(root, exponents) - 0.5 * squared_length(steps).T)


def height(root: FloatArray, exponents: IntArray) -> FloatArray:
    """log density at the mean, from the covariance's Cholesky root[..., column, column]."""
    logs = np.log(np.diagonal(root, axis1=-2, axis2=-1)).sum(axis=-1)
    return np.asarray(-logs - exponents.sum() * np.log(2) - 0.5 * len(exponents) * LOG_TAU)


def squared_length(steps: FloatArray) -> FloatArray:
    """The sum of squares over the first axis, growing like a logarithm where it would overflow: order is kept."""
    largest = np.maximum(np.abs(steps).max(axis=0), 1e-300)
    with np.errstate(divide="ignore"):
        length = np.sqrt(sum(np.square(steps / largest), np.zeros_like(largest)))
        near = np.square(np.minimum(largest, FAR) * length)
        far = FAR**2 * (1 + np.log(largest) + np.log(length) - np.log(FAR))
    return np.where(largest * length < FAR, near, far)
