"""The loss of calibrated scores and its slope: the inner loop of fitting a calibration."""

from __future__ import annotations

import numpy as np

from candide.arrays import FloatArray, IntArray
from candide.kernels import compiled

#: exp of less than this adds nothing to one.
NEGLIGIBLE = -40.0


@compiled
def loss_and_slope(
    terms: FloatArray,
    start: FloatArray,
    factors: FloatArray,
    logs: FloatArray,
    bias: FloatArray,
    labels: IntArray,
    weights: FloatArray,
    first: int,
    last: int,
    by_bias: FloatArray,
    by_weight: FloatArray,
    by_power: FloatArray,
) -> float:
    """Sum of -log P(label) over rows first to last, with scores start + bias + sum of factors * terms.

    Slopes are added up in place.

    terms[block, row, class], start[row, class], factors[block, row] (w * length^-g), logs[block, row] (log length).
    by_weight is the slope by log w, by_power by g.
    """
    blocks, _, classes = terms.shape
    scores = np.empty(classes)
    loss = 0.0
    for row in range(first, last):
        if weights[row] == 0.0:
            continue
        for label in range(classes):
            scores[label] = start[row, label] + bias[label]
        for block in range(blocks):
            factor = factors[block, row]
            for label in range(classes):
                scores[label] += factor * terms[block, row, label]
        most = scores[0]
        for label in range(1, classes):
            most = max(most, scores[label])
        total = 0.0
        own = scores[labels[row]] - most
        for label in range(classes):
            behind = scores[label] - most
            scores[label] = np.exp(behind) if behind > NEGLIGIBLE else 0.0
            total += scores[label]
        loss += weights[row] * (np.log(total) - own)
        for label in range(classes):
            scores[label] *= weights[row] / total
        scores[labels[row]] -= weights[row]
        for label in range(classes):
            by_bias[label] += scores[label]
        for block in range(blocks):
            moved = 0.0
            for label in range(classes):
                moved += scores[label] * terms[block, row, label]
            moved *= factors[block, row]
            by_weight[block] += moved
            by_power[block] -= moved * logs[block, row]
    return loss
