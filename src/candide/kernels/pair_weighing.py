"""The loss of scores that are weighed sums, and the roots of its curvature: convex, so weights are sure."""

from __future__ import annotations

import numpy as np

from candide.data.arrays import FloatArray
from candide.kernels import compiled


@compiled
def loss_of_scores(scores: FloatArray, targets: FloatArray, row_weights: FloatArray, residuals: FloatArray) -> float:
    """The sum over rows of -weight log P(label); scores[row, class] become the chances of classes.

    targets float64[row, class] are the shares of a row that count as each class, and add up to one. Into
    residuals[row, class] goes the slope of the loss by each score.
    """
    rows, classes = scores.shape
    loss = 0.0
    for row in range(rows):
        best = 0
        for label in range(1, classes):
            best = label if scores[row, label] > scores[row, best] else best
        largest, weight, total, behind = scores[row, best], row_weights[row], 0.0, 0.0
        for label in range(classes):
            behind += targets[row, label] * (largest - scores[row, label])
            scores[row, label] = 1.0 if label == best else np.exp(scores[row, label] - largest)
            total += scores[row, label]
        loss += weight * (np.log(total) + behind)
        for label in range(classes):
            scores[row, label] /= total
            residuals[row, label] = weight * (scores[row, label] - targets[row, label])
    return loss


@compiled
def curvature_roots(terms: FloatArray, chances: FloatArray, row_weights: FloatArray, roots: FloatArray) -> None:
    """Fill roots[row * classes + class, term], whose products with themselves add up to the second derivatives.

    Scores are sums of terms float64[row, class, term], each with a weight; chances float64[row, class] are at these.
    """
    rows, classes, count = terms.shape
    mean = np.empty(count)
    for row in range(rows):
        mean[:] = 0.0
        for label in range(classes):
            for term in range(count):
                mean[term] += chances[row, label] * terms[row, label, term]
        for label in range(classes):
            root = np.sqrt(row_weights[row] * chances[row, label])
            for term in range(count):
                roots[row * classes + label, term] = root * (terms[row, label, term] - mean[term])
