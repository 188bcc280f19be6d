"""Multivariate normal densities without each row, nearly: for choosing and calibrating, at the cost of scoring rows.

A row that leaves takes a matrix of rank one from its covariance, so what is left of lengths and determinants follows
from those of all rows (Sherman and Morrison 1950). Held fixed are the variances of the whole block, a row or so of
which is mixed into each covariance: they change by one part in the number of rows.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from candide.data.arrays import BoolArray, FloatArray
from candide.families.base.multivariate_normal import FAR, NormalParameters, height, in_units
from candide.families.base.multivariate_normal_without import CompleteRows

LEAST_LEFT = 1e-6
"""A row that leaves must leave this share of the covariance in its own direction."""


def nearly_without(
    fitted: NormalParameters, weights: FloatArray, behind: FloatArray, free: float, out: CompleteRows
) -> tuple[FloatArray, BoolArray]:
    """log density of each row by every class without it, [row, class]; and of which rows that is no good.

    `weights` are those of the classes, `behind` those behind each covariance, or behind the one that all share;
    `free` is what the prior weighs in it.
    """
    shared, each, own = len(behind) == 1, np.arange(len(out.labels)), weights[out.labels]
    roots: FloatArray = np.linalg.cholesky(fitted.covariance[: len(behind)]).astype(np.float64)
    points, rows = in_units(out.values, fitted.exponents).T, behind[0] if shared else behind[out.labels]
    steps = np.stack([
        solve_triangular(roots[label % len(roots)], points - mean[:, None], lower=True, check_finite=False)
        for label, mean in enumerate(fitted.mean)
    ])  # fmt: skip
    squares = np.einsum("kji,kji->ik", steps, steps)
    with np.errstate(divide="ignore", invalid="ignore"):
        moved, grown = own / (own - out.weights), (rows + free) / (rows - out.weights + free)
        taken = out.weights * moved / (rows + free)
        left = 1 - taken * squares[each, out.labels]
    doubtful = ~((left > LEAST_LEFT) & (own > out.weights)) | (squares.max(axis=1) > FAR)
    moved, grown, left = (np.where(doubtful, 1.0, part) for part in (moved, grown, left))
    if shared:
        mine = np.ascontiguousarray(steps[out.labels, :, each].T)
        along = np.einsum("kji,ji->ik", steps, mine)
        changed = (squares + np.where(doubtful, 0.0, taken / left)[:, None] * along**2) / grown[:, None]
    else:
        changed = squares.copy()
        changed[each, out.labels] /= grown * left
    changed[each, out.labels] *= moved**2
    lower = np.zeros(squares.shape)
    lower[:, :] = (0.5 * (len(fitted.exponents) * np.log(grown) + np.log(left)))[:, None]
    if not shared:
        lower[np.arange(squares.shape[1]) != out.labels[:, None]] = 0.0
    return height(roots, fitted.exponents) - lower - 0.5 * changed, doubtful
