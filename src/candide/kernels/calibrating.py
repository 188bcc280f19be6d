"""The loss of calibrated scores, its slope and its curvature: the inner loops of fitting a calibration."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.kernels import compiled

#: exp of less than this adds nothing to one.
NEGLIGIBLE = -40.0
#: A lead of so many nats over another class is not doubted any more than a lead of this.
FARTHEST_DOUBT = 10.0
#: Doubt sets in and ends within so many nats on either side: no minimum is found to the last digit at a kink.
ROUNDED = 0.1


class Scored(NamedTuple):
    """Rows as a calibration sees them: what each block says, and where scores start.

    terms float64[row, block, class], start float64[row, class], logs float64[row, block] (log length), labels
    int64[row], loads float64[row] (how much the row weighs), doubts float64[row]: what is added for every nat, up to a
    few, by which the label leads another class, as it would cost were it that class.
    """

    terms: FloatArray
    start: FloatArray
    logs: FloatArray
    labels: IntArray
    loads: FloatArray
    doubts: FloatArray


class Coefficients(NamedTuple):
    """What a calibration fits, or the slopes by it: bias float64[class], weight and power float64[block]."""

    bias: FloatArray
    weight: FloatArray
    power: FloatArray


@compiled
def doubted_lead(lead: float) -> tuple[float, float, float]:
    """How much of a lead over another class is doubted, from 0 up to `FARTHEST_DOUBT`; its slope and its bend."""
    low, high = lead + ROUNDED, lead - (FARTHEST_DOUBT - ROUNDED)
    if low <= 0.0:
        return 0.0, 0.0, 0.0
    if low < 2 * ROUNDED:
        return low * low / (4 * ROUNDED), low / (2 * ROUNDED), 1 / (2 * ROUNDED)
    if high <= 0.0:
        return lead, 1.0, 0.0
    if high < 2 * ROUNDED:
        return lead - high * high / (4 * ROUNDED), 1.0 - high / (2 * ROUNDED), -1 / (2 * ROUNDED)
    return FARTHEST_DOUBT, 0.0, 0.0


@compiled
def loss_and_slope(rows: Scored, at: Coefficients, first: int, last: int, slope: Coefficients) -> float:
    """Sum of -log P(label) over rows first to last, with scores start + bias + sum of weight * length^-power * terms.

    Slopes are added up in place; slope.weight is that by log weight.
    """
    terms, start, logs, labels, loads, doubts = rows
    bias, weight, power = at
    by_bias, by_weight, by_power = slope
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
        total, price, doubt, doubted[labels[row]] = 0.0, 0.0, 0.0, 0.0
        own = scores[labels[row]] - most
        for label in range(classes):
            behind = scores[label] - most
            if label != labels[row]:
                amount, steepness, _ = doubted_lead(own - behind)
                doubted[label] = doubts[row] * steepness
                doubt += doubted[label]
                price += doubts[row] * amount
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


@compiled
def add_curvature(rows: Scored, at: Coefficients, first: int, last: int, curvature: FloatArray) -> None:
    """Add the second derivatives of `loss_and_slope` by bias, log weight and power, [parameter, parameter].

    Only the half below the diagonal is filled.
    """
    terms, start, logs, labels, loads, doubts = rows
    bias, weight, power = at
    _, blocks, classes = terms.shape
    size = classes + 2 * blocks
    chances, slopes = np.empty(classes), np.zeros((size, classes))
    mean, against = np.empty(size), np.empty(size)
    for label in range(classes):
        slopes[label, label] = 1.0
    for row in range(first, last):
        load, own = loads[row], labels[row]
        if load == 0.0:
            continue
        for label in range(classes):
            chances[label] = start[row, label] + bias[label]
        for block in range(blocks):
            factor = weight[block] * np.exp(-power[block] * logs[row, block])
            for label in range(classes):
                said = factor * terms[row, block, label]
                chances[label] += said
                slopes[classes + block, label] = said
                slopes[classes + blocks + block, label] = -logs[row, block] * said
        lead_of_own = chances[own]
        most, total, doubt = chances.max(), 0.0, 0.0
        for label in range(classes):
            total += np.exp(chances[label] - most)
        for i in range(size):
            mean[i] = 0.0
        pull = np.zeros(classes)
        for label in range(classes):
            lead = lead_of_own - chances[label]
            chances[label] = np.exp(chances[label] - most) / total
            if label != own:
                _, slope, bend = doubted_lead(lead)
                pull[label] = chances[label] - doubts[row] * slope
                doubt += doubts[row] * slope
                if bend != 0.0:
                    for i in range(size):
                        against[i] = slopes[i, own] - slopes[i, label]
                    add_outer_product(curvature, against, load * doubts[row] * bend)
        pull[own] = chances[own] - 1.0 + doubt
        for label in range(classes):
            mean[label] = chances[label]
            curvature[label, label] += load * chances[label]
        for i in range(classes, size):
            if i >= classes + blocks and logs[row, i - classes - blocks] == 0.0:
                continue
            for label in range(classes):
                mean[i] += chances[label] * slopes[i, label]
                curvature[i, label] += load * chances[label] * slopes[i, label]
            for j in range(classes, i + 1):
                both = 0.0
                for label in range(classes):
                    both += chances[label] * slopes[i, label] * slopes[j, label]
                curvature[i, j] += load * both
        add_outer_product(curvature, mean, -load)
        for block in range(blocks):
            moved = 0.0
            for label in range(classes):
                moved += pull[label] * slopes[classes + block, label]
            here, length = classes + block, logs[row, block]
            curvature[here, here] += load * moved
            curvature[here + blocks, here] -= load * moved * length
            curvature[here + blocks, here + blocks] += load * moved * length * length


@compiled
def add_outer_product(matrix: FloatArray, vector: FloatArray, factor: float) -> None:
    """Add factor * vector * vectorᵀ, at and below the diagonal."""
    for i in range(len(vector)):
        scaled = factor * vector[i]
        if scaled != 0.0:
            for j in range(i + 1):
                matrix[i, j] += scaled * vector[j]
