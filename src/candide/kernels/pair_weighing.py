"""The loss of scores that are weighed sums, its slope, and the roots of its curvature: convex, so weights are sure."""

from __future__ import annotations

import numpy as np

from candide.data.arrays import FloatArray
from candide.kernels import compiled


@compiled
def weighed_loss(
    terms: FloatArray,
    start: FloatArray,
    targets: FloatArray,
    row_weights: FloatArray,
    at: FloatArray,
    slope: FloatArray,
    roots: FloatArray,
) -> float:
    """The sum over rows of -weight log P(label), where scores are start + terms times `at`.

    terms float64[row, class, term], start float64[row, class], at float64[term]; targets float64[row, class] are the
    shares of a row that count as each class, and add up to one. slope[term] becomes the slope, and roots[row * classes
    + class, term], where it has any rows, such that their products with themselves add up to the second derivatives.
    """
    rows, classes, count = terms.shape
    scores, mean = np.empty(classes), np.empty(count)
    loss = 0.0
    slope[:] = 0.0
    for row in range(rows):
        for label in range(classes):
            score = start[row, label]
            for term in range(count):
                score += at[term] * terms[row, label, term]
            scores[label] = score
        largest = scores.max()
        weight, total, behind = row_weights[row], 0.0, 0.0
        for label in range(classes):
            behind += targets[row, label] * (largest - scores[label])
            scores[label] = np.exp(scores[label] - largest)
            total += scores[label]
        loss += weight * (np.log(total) + behind)
        for label in range(classes):
            scores[label] /= total
            residual = weight * (scores[label] - targets[row, label])
            for term in range(count):
                slope[term] += residual * terms[row, label, term]
        if len(roots):
            mean[:] = 0.0
            for label in range(classes):
                for term in range(count):
                    mean[term] += scores[label] * terms[row, label, term]
            for label in range(classes):
                root = np.sqrt(weight * scores[label])
                for term in range(count):
                    roots[row * classes + label, term] = root * (terms[row, label, term] - mean[term])
    return loss
