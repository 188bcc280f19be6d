"""The loss of calibrated scores, its slope and its curvature: the inner loops of fitting a calibration."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.kernels import compiled

#: exp of less than this adds nothing to one.
NEGLIGIBLE = -40.0
#: A margin of more nats than this over another class costs no more than a margin of this.
LARGEST_MARGIN = 10.0
#: That cost sets in and ends within so many nats on either side: no minimum is found to the last digit at a kink.
ROUNDED = 0.1


class Scored(NamedTuple):
    """Rows as a calibration sees them: what each block says, and where scores start.

    terms float64[row, block, class], start float64[row, class], logs float64[row, block] (log length), labels
    int64[row], row_weights float64[row], label_smoothing float64[row]: the share of the row that counts as each other
    class, and so what is added for every nat, up to a few, by which its label leads that class. informed
    float64[row] is 1 where something is said of the row, else 0: then there is no bias.
    """

    terms: FloatArray
    start: FloatArray
    logs: FloatArray
    labels: IntArray
    row_weights: FloatArray
    label_smoothing: FloatArray
    informed: FloatArray


class Coefficients(NamedTuple):
    """What a calibration fits, or the slopes by it: bias float64[class], weight and power float64[block]."""

    bias: FloatArray
    weight: FloatArray
    power: FloatArray


@compiled
def capped_margin(margin: float) -> tuple[float, float, float]:
    """A margin over another class as it counts, from 0 up to `LARGEST_MARGIN`; its slope and its bend."""
    low, high = margin + ROUNDED, margin - (LARGEST_MARGIN - ROUNDED)
    if low <= 0.0:
        return 0.0, 0.0, 0.0
    if low < 2 * ROUNDED:
        return low * low / (4 * ROUNDED), low / (2 * ROUNDED), 1 / (2 * ROUNDED)
    if high <= 0.0:
        return margin, 1.0, 0.0
    if high < 2 * ROUNDED:
        return margin - high * high / (4 * ROUNDED), 1.0 - high / (2 * ROUNDED), -1 / (2 * ROUNDED)
    return LARGEST_MARGIN, 0.0, 0.0


@compiled
def loss_and_slope(rows: Scored, at: Coefficients, first: int, last: int, slope: Coefficients) -> float:
    """Sum of -log P(label) over rows first to last, with scores start + bias + sum of weight * length^-power * terms.

    Slopes are added up in place; slope.weight is that by log weight.
    """
    terms, start, logs, labels, row_weights, label_smoothing, informed = rows
    bias, weight, power = at
    by_bias, by_weight, by_power = slope
    _, blocks, classes = terms.shape
    scores, factors, targets = np.empty(classes), np.empty(blocks), np.empty(classes)
    loss = 0.0
    for row in range(first, last):
        row_weight = row_weights[row]
        if row_weight == 0.0:
            continue
        for label in range(classes):
            scores[label] = start[row, label] + informed[row] * bias[label]
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
        total, penalty, to_others, targets[labels[row]] = 0.0, 0.0, 0.0, 0.0
        own = scores[labels[row]] - most
        for label in range(classes):
            behind = scores[label] - most
            if label != labels[row]:
                amount, steepness, _ = capped_margin(own - behind)
                targets[label] = label_smoothing[row] * steepness
                to_others += targets[label]
                penalty += label_smoothing[row] * amount
            scores[label] = np.exp(behind) if behind > NEGLIGIBLE else 0.0
            total += scores[label]
        loss += row_weight * (np.log(total) - own + penalty)
        for label in range(classes):
            scores[label] = row_weight * (scores[label] / total - targets[label])
        scores[labels[row]] -= row_weight * (1.0 - to_others)
        for label in range(classes):
            by_bias[label] += informed[row] * scores[label]
        for block in range(blocks):
            moved = 0.0
            for label in range(classes):
                moved += scores[label] * terms[row, block, label]
            moved *= factors[block]
            by_weight[block] += moved
            by_power[block] -= moved * logs[row, block]
    return loss


@compiled
def add_curvature(rows: Scored, at: Coefficients, first: int, last: int, curvature: FloatArray) -> None:
    """Add the second derivatives of `loss_and_slope` by bias, log weight and power, [parameter, parameter].

    Only the half below the diagonal is filled.
    """
    terms, start, logs, labels, row_weights, label_smoothing, informed = rows
    bias, weight, power = at
    _, blocks, classes = terms.shape
    size = classes + 2 * blocks
    chances, slopes = np.empty(classes), np.zeros((size, classes))
    mean, against = np.empty(size), np.empty(size)
    for row in range(first, last):
        row_weight, own = row_weights[row], labels[row]
        if row_weight == 0.0 or informed[row] == 0.0:
            continue
        for label in range(classes):
            slopes[label, label] = 1.0
            chances[label] = start[row, label] + bias[label]
        for block in range(blocks):
            factor = weight[block] * np.exp(-power[block] * logs[row, block])
            for label in range(classes):
                said = factor * terms[row, block, label]
                chances[label] += said
                slopes[classes + block, label] = said
                slopes[classes + blocks + block, label] = -logs[row, block] * said
        own_score = chances[own]
        most, total, to_others = chances.max(), 0.0, 0.0
        for label in range(classes):
            total += np.exp(chances[label] - most)
        for i in range(size):
            mean[i] = 0.0
        residual = np.zeros(classes)
        for label in range(classes):
            margin = own_score - chances[label]
            chances[label] = np.exp(chances[label] - most) / total
            if label != own:
                _, slope, bend = capped_margin(margin)
                residual[label] = chances[label] - label_smoothing[row] * slope
                to_others += label_smoothing[row] * slope
                if bend != 0.0:
                    for i in range(size):
                        against[i] = slopes[i, own] - slopes[i, label]
                    add_outer_product(curvature, against, row_weight * label_smoothing[row] * bend)
        residual[own] = chances[own] - 1.0 + to_others
        for label in range(classes):
            mean[label] = chances[label]
            curvature[label, label] += row_weight * chances[label]
        for i in range(classes, size):
            if i >= classes + blocks and logs[row, i - classes - blocks] == 0.0:
                continue
            for label in range(classes):
                mean[i] += chances[label] * slopes[i, label]
                curvature[i, label] += row_weight * chances[label] * slopes[i, label]
            for j in range(classes, i + 1):
                both = 0.0
                for label in range(classes):
                    both += chances[label] * slopes[i, label] * slopes[j, label]
                curvature[i, j] += row_weight * both
        add_outer_product(curvature, mean, -row_weight)
        for block in range(blocks):
            moved = 0.0
            for label in range(classes):
                moved += residual[label] * slopes[classes + block, label]
            here, length = classes + block, logs[row, block]
            curvature[here, here] += row_weight * moved
            curvature[here + blocks, here] -= row_weight * moved * length
            curvature[here + blocks, here + blocks] += row_weight * moved * length * length


@compiled
def add_outer_product(matrix: FloatArray, vector: FloatArray, factor: float) -> None:
    """Add factor * vector * vectorᵀ, at and below the diagonal."""
    for i in range(len(vector)):
        scaled = factor * vector[i]
        if scaled != 0.0:
            for j in range(i + 1):
                matrix[i, j] += scaled * vector[j]
