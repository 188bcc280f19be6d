"""The loops behind densities in a contest: moments of numbers in doubles, and those that are left without one row.

Numbers are centred and scaled by their caller, so that their squares neither overflow nor lose what is small beside a
large mean. Pools are [moment, class] with all classes together in the last place.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.kernels import compiled

WEIGHT, MEAN, VARIANCE, LOG = 0, 1, 2, 3
"""Where a pool holds which moment; LOG is the mean of the logarithms."""

KEPT = 1e-3
"""Taking a row out of a variance must leave this share of it, else it is computed anew."""


class AlikeNumbers(NamedTuple):
    """Numbers float64[line] and their logarithms (empty where nobody asks), and kinds of rows, line by line.

    A kind has lines[kind], labels[kind] and so many rows, weights[kind] as doubles.
    """

    numbers: FloatArray
    logs: FloatArray
    lines: IntArray
    labels: IntArray
    weights: FloatArray


class Blended(NamedTuple):
    """Moments to be filled: mean, deviation and mean logarithm of others[moment, line, class] and own[moment, kind].

    whole[line] is the deviation of all classes together without a row of the line.
    """

    others: FloatArray
    own: FloatArray
    whole: FloatArray


@compiled
def pooled(rows: AlikeNumbers, classes: int) -> FloatArray:
    """The moments of each class and of all together, float64[4, classes + 1]; zeros where nothing was seen."""
    pools = np.zeros((4, classes + 1))
    totals, rest = np.zeros(len(rows.numbers)), np.zeros(classes + 1)
    for kind in range(len(rows.lines)):
        line, label, weight = rows.lines[kind], rows.labels[kind], rows.weights[kind]
        totals[line] += weight
        pools[WEIGHT, label] += weight
        pools[MEAN, label] += weight * rows.numbers[line]
        if len(rows.logs):
            pools[LOG, label] += weight * rows.logs[line]
    for line in range(len(totals)):
        pools[WEIGHT, classes] += totals[line]
        pools[MEAN, classes] += totals[line] * rows.numbers[line]
        if len(rows.logs):
            pools[LOG, classes] += totals[line] * rows.logs[line]
    for label in range(classes + 1):
        divisor = max(pools[WEIGHT, label], 1.0)
        pools[MEAN, label] /= divisor
        pools[LOG, label] /= divisor
    for kind in range(len(rows.lines)):
        label = rows.labels[kind]
        away = rows.numbers[rows.lines[kind]] - pools[MEAN, label]
        pools[VARIANCE, label] += rows.weights[kind] * away * away
        rest[label] += rows.weights[kind] * away
    for line in range(len(totals)):
        away = rows.numbers[line] - pools[MEAN, classes]
        pools[VARIANCE, classes] += totals[line] * away * away
        rest[classes] += totals[line] * away
    for label in range(classes + 1):
        divisor = max(pools[WEIGHT, label], 1.0)
        missed = rest[label] / divisor
        pools[MEAN, label] += missed
        pools[VARIANCE, label] = max(pools[VARIANCE, label] / divisor - missed * missed, 0.0)
    return pools


@compiled
def moments_anew(rows: AlikeNumbers, members: IntArray, line: int, left: FloatArray) -> None:
    """Fill left[MEAN] and left[VARIANCE] from the kinds of a pool less one row of a line."""
    for step in (MEAN, VARIANCE):
        gone = 1.0
        total = 0.0
        for kind in members:
            here = rows.lines[kind] == line
            weight = rows.weights[kind] - (gone if here else 0.0)
            away = rows.numbers[rows.lines[kind]] - left[MEAN]
            total += weight * (away if step == MEAN else away * away)
            gone = 0.0 if here else gone
        left[step] = total / left[WEIGHT] + (left[MEAN] if step == MEAN else 0.0)


@compiled
def pool_without(rows: AlikeNumbers, pool: FloatArray, line: int, members: IntArray, left: FloatArray) -> None:
    """Fill left[moment] with a pool[moment] less one row of a line; `members` are all kinds of the pool."""
    weight = pool[WEIGHT] - 1.0
    left[:] = 0.0
    left[WEIGHT] = weight
    if weight <= 0.0:
        return
    away = rows.numbers[line] - pool[MEAN]
    left[MEAN] = pool[MEAN] - away / weight
    variance = pool[VARIANCE] - away * away / weight
    if variance > KEPT * pool[VARIANCE]:
        left[VARIANCE] = variance * (1.0 + 1.0 / weight)
    elif pool[VARIANCE] > 0.0:
        moments_anew(rows, members, line, left)
    if len(rows.logs):
        left[LOG] = pool[LOG] - (rows.logs[line] - pool[LOG]) / weight


@compiled
def blend_into(own: FloatArray, everyone: FloatArray, prior_rows: float, target: FloatArray) -> None:
    """Fill target[3] with mean, deviation and mean logarithm of a pool that is lent `prior_rows` of everyone's rows."""
    prior = 1.0 if own[WEIGHT] == 0.0 and prior_rows == 0.0 else prior_rows
    share = own[WEIGHT] / (own[WEIGHT] + prior)
    lent = prior / (own[WEIGHT] + prior)
    mean = share * own[MEAN] + lent * everyone[MEAN]
    apart, lent_apart = own[MEAN] - mean, everyone[MEAN] - mean
    target[0] = mean
    target[1] = math.sqrt(
        share * (own[VARIANCE] + apart * apart) + lent * (everyone[VARIANCE] + lent_apart * lent_apart)
    )
    target[2] = share * own[LOG] + lent * everyone[LOG]


@compiled
def kinds_by_class(labels: IntArray, classes: int) -> tuple[IntArray, IntArray]:
    """The kinds of each class in turn, and where each class begins and the last ends among them."""
    order, starts = np.empty(len(labels), np.int64), np.zeros(classes + 2, np.int64)
    for label in labels:
        starts[label + 2] += 1
    starts = np.cumsum(starts)
    for kind in range(len(labels)):
        order[starts[labels[kind] + 1]] = kind
        starts[labels[kind] + 1] += 1
    return order, starts


@compiled
def blended_alike(rows: AlikeNumbers, pools: FloatArray, prior_rows: float, blended: Blended) -> None:
    """Fill the moments of each class when a row of another, and of its own when one of itself, is left out."""
    classes = pools.shape[1] - 1
    order, starts = kinds_by_class(rows.labels, classes)
    everyone, left, target = np.zeros(4), np.zeros(4), np.zeros(3)
    columns = np.ascontiguousarray(pools.T)
    line = -1
    for kind in range(len(rows.lines)):
        if rows.lines[kind] != line:
            line = rows.lines[kind]
            pool_without(rows, columns[classes], line, order, everyone)
            blended.whole[line] = math.sqrt(everyone[VARIANCE])
            for label in range(classes):
                blend_into(columns[label], everyone, prior_rows, target)
                for moment in range(3):
                    blended.others[moment, line, label] = target[moment]
        label = rows.labels[kind]
        pool_without(rows, columns[label], line, order[starts[label] : starts[label + 1]], left)
        blend_into(left, everyone, prior_rows, target)
        for moment in range(3):
            blended.own[moment, kind] = target[moment]
