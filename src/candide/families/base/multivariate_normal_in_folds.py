"""Multivariate normal densities of rows, fitted without each row's fold: in doubles, for choosing and calibrating.

Taking out row after row costs a covariance for each of them; a tenth of the rows at a time costs ten.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import solve_triangular

from candide.data.arrays import FloatArray, IntArray
from candide.families.base.multivariate_normal import height, in_units, squared_length, units_of
from candide.families.base.multivariate_normal_without import (
    CompleteRows,
    CovarianceMoments,
    Rest,
    covariance_moments,
)
from candide.statistics.cross_sums import CrossSums


def rests_in_folds(
    seen: CrossSums, out: CompleteRows, folds: IntArray, wanted: IntArray
) -> Iterator[tuple[int, Rest]]:
    """What is left without each wanted fold, the same for all its rows: arrays have one line for them."""
    everyone, together = seen.over_classes(), out._replace(labels=np.zeros_like(out.labels))
    exponents = units_of(everyone)[0]
    own, all_classes = covariance_moments(seen, exponents), covariance_moments(everyone, exponents)
    for fold in wanted.tolist():
        rows = np.flatnonzero(folds == fold)
        left = covariance_without_all(own, out.at(rows), exponents)
        whole = covariance_without_all(all_classes, together.at(rows), exponents)
        mean = np.where(left.weight[:, None] > 0, left.mean, whole.mean)
        variance = np.diagonal(whole.covariance, axis1=1, axis2=2)
        yield fold, Rest(rows, exponents, left.weight[None], mean[None], left.covariance[None], variance)


def covariance_without_all(whole: CovarianceMoments, out: CompleteRows, exponents: IntArray) -> CovarianceMoments:
    """What some rows together leave of each class, [class], down-dated in doubles."""
    weight, away = whole.weight.copy(), whole.away(out, exponents)
    mean, covariance = whole.mean + whole.lost, whole.covariance.copy()
    for label in np.unique(out.labels).tolist():
        here = out.labels == label
        weights, apart = out.weights[here].astype(np.float64), away[here]
        weight[label] -= weights.sum()
        if weight[label] <= 0:
            weight[label], mean[label], covariance[label] = 0.0, 0.0, 0.0
            continue
        moved = weights @ apart / weight[label]
        scatter = whole.weight[label] * whole.covariance[label] - (apart * weights[:, None]).T @ apart
        mean[label] -= moved
        covariance[label] = scatter / weight[label] - np.outer(moved, moved)
    return CovarianceMoments(weight, mean, covariance, np.zeros_like(mean))


def log_densities_of_fold(
    mean: FloatArray, covariance: FloatArray, values: FloatArray, exponents: IntArray
) -> FloatArray:
    """log density of values[row, column] by mean[class, column] and covariance[class or 1, column, column]."""
    points = in_units(values, exponents).T
    roots = np.linalg.cholesky(covariance)
    logs = np.empty((len(values), len(mean)))
    for label, centre in enumerate(mean):
        root = roots[label % len(roots)]
        steps = solve_triangular(root, points - centre[:, None], lower=True, check_finite=False)
        logs[:, label] = height(root, exponents) - 0.5 * squared_length(steps)
    return logs
