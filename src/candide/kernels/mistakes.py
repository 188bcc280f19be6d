"""The loop behind accuracy: how much of the rows is answered wrongly."""

from __future__ import annotations

from candide.data.arrays import FloatArray, IntArray
from candide.kernels import compiled


@compiled
def weight_of_mistakes(scores: FloatArray, labels: IntArray, weights: FloatArray, near: float) -> float:
    """The weight of rows whose label is not the first class within `near` of the largest of scores[row, class]."""
    wrong = 0.0
    for row in range(len(labels)):
        if weights[row] > 0.0:
            largest, answer = scores[row, 0], 0
            for label in range(1, scores.shape[1]):
                largest = max(largest, scores[row, label])
            for label in range(scores.shape[1] - 1, -1, -1):
                answer = label if scores[row, label] >= largest - near else answer
            wrong += weights[row] if answer != labels[row] else 0.0
    return wrong
