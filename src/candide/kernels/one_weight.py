"""The one number by which evidence is best weighed: how well scores tell classes apart, however bold they are."""

from __future__ import annotations

import math

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.kernels import compiled
from candide.kernels.calibrating import exponential, product_sum, sum_of

#: The logarithm of the weight lies between these, which are halved some times, on some of the rows, to begin with.
LEAST, LARGEST, HALVINGS, FEW_ROWS = -8.0, 1.0, 4, 250
#: Newton's steps are drawn to one point, so after so many every machine is there.
STEPS, LONGEST = 4, 1.0


@compiled
def loss_at(
    said: FloatArray, prior: FloatArray, labels: IntArray, weights: FloatArray, rows: int, weight: float
) -> tuple[float, float, float]:
    """The sum of -log P(label) of the first rows, said[row, class] weighed; its slope and curvature by the weight."""
    loss, slope, bend = 0.0, 0.0, 0.0
    classes = said.shape[1]
    shares, apart = np.empty(classes), np.empty(classes)
    for row in range(rows):
        if weights[row] <= 0.0:
            continue
        best, middle = -np.inf, said[row, labels[row]]
        for label in range(classes):
            shares[label] = prior[row, label] + weight * said[row, label]
            best = max(best, shares[label])
        for label in range(classes):  # several at a time: no branch, no call
            shares[label] = exponential(shares[label] - best)
            apart[label] = said[row, label] - middle
        whole, mean = sum_of(shares), product_sum(shares, apart)
        for label in range(classes):
            shares[label] *= apart[label]
        square = product_sum(shares, apart)
        mean /= whole
        loss += weights[row] * (best + math.log(whole) - prior[row, labels[row]] - weight * middle)
        slope += weights[row] * mean
        bend += weights[row] * (square / whole - mean * mean)
    return loss, slope, bend


@compiled
def weight_of_least_loss(said: FloatArray, prior: FloatArray, labels: IntArray, weights: FloatArray) -> float:
    """The common weight of said[row, class] beside prior[row, class] that gives the least mean of -log P(label).

    The loss is convex in the weight. Rows without weight have no part in it; what is said is finite.
    """
    rows = len(labels)
    low, high, few = LEAST, LARGEST, min(rows, FEW_ROWS)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if loss_at(said, prior, labels, weights, few, math.exp(middle))[1] > 0.0:
            high = middle
        else:
            low = middle
    at = (low + high) / 2
    for _ in range(STEPS):
        weight = math.exp(at)
        _, slope, bend = loss_at(said, prior, labels, weights, rows, weight)
        curved = weight * (weight * bend + max(slope, 0.0))
        step = weight * slope / curved if curved > 0.0 else math.copysign(LONGEST, slope)
        at = min(max(at - min(max(step, -LONGEST), LONGEST), LEAST), LARGEST)
    return math.exp(at)
