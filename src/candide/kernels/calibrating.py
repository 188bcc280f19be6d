"""The loss of calibrated scores and its slope: the inner loop of fitting a calibration."""

from __future__ import annotations

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.kernels import compiled

#: exp of less than this adds nothing to one.
NEGLIGIBLE = -40.0
#: A lead of so many nats over another class is not doubted any more than a lead of this.
FARTHEST_DOUBT = 10.0


@compiled
def loss_and_slope(
    terms: FloatArray,
    start: FloatArray,
    logs: FloatArray,
    bias: FloatArray,
    weight: FloatArray,
    power: FloatArray,
    labels: IntArray,
    loads: FloatArray,
    doubts: FloatArray,
    first: int,
    last: int,
    by_bias: FloatArray,
    by_weight: FloatArray,
    by_power: FloatArray,
) -> float:
    """Sum of -log P(label) over rows first to last, with scores start + bias + sum of weight * length^-power * terms.

    doubts[row] is added for every nat, up to a few, by which the label leads another class: what it would cost were
    it that class.

    terms[row, block, class], start[row, class], logs[row, block] (log length), loads[row] (how much the row weighs).
    Slopes are added up in place; by_weight is the slope by log weight.
    """
    _, blocks, classes = terms.shape
    scores, factors, doubted = np.empty(classes), np.empty(blocks), np.empty(classes)
    loss = 0.0
    for row in range(first, last):
        load = loads[row]
        if load == 0.0:
            continue
        for label in range(classes):
            scores[label] = start[row, label] + bias[label]
        for block in range(blocks):
            factor = weight[block]
            if power[block] != 0.0:
                factor *= np.exp(-power[block] * logs[row, block])
            factors[block] = factor
            for label in range(classes):
                scores[label] += factor * terms[row, block, label]
        most = scores[0]
        for label in range(1, classes):
            most = max(most, scores[label])
        total, price, doubt = 0.0, 0.0, 0.0
        own = scores[labels[row]] - most
        for label in range(classes):
            behind = scores[label] - most
            lead = own - behind
            doubted[label] = doubts[row] if 0.0 < lead < FARTHEST_DOUBT else 0.0
            doubt += doubted[label]
            price += doubts[row] * min(max(lead, 0.0), FARTHEST_DOUBT)
            scores[label] = np.exp(behind) if behind > NEGLIGIBLE else 0.0
            total += scores[label]
        loss += load * (np.log(total) - own + price)
        for label in range(classes):
            scores[label] = load * (scores[label] / total - doubted[label])
        scores[labels[row]] -= load * (1.0 - doubt)
        for label in range(classes):
            by_bias[label] += scores[label]
        for block in range(blocks):
            moved = 0.0
            for label in range(classes):
                moved += scores[label] * terms[row, block, label]
            moved *= factors[block]
            by_weight[block] += moved
            by_power[block] -= moved * logs[row, block]
    return loss
