"""Documents judged by the smoothed shares of some others: only terms that the judged ones hold are counted."""

from __future__ import annotations

import math

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.kernels import compiled
from candide.kernels.shared_terms import LARGEST, least_amount
from candide.kernels.shares import log_whole
from candide.kernels.word_leaving import MISSING, Rows

#: Places of terms that no judged row holds.
NOT_LEARNED, LEARNED = -1, -2


@compiled
def judge_by_part(
    rows: Rows,
    terms: int,
    labels: IntArray,
    weights: IntArray,
    learned: IntArray,
    judged: IntArray,
    smoothing: float,
    unit: float,
    joint: FloatArray,
) -> None:
    """Set joint[i, class] to what row judged[i] says by the multinomial of the learned rows.

    Rows are without the terms that one document holds, so that there are `terms`; every term speaks, and smoothing is
    above zero. Of terms that have the same amount logarithms are taken of products, which lie between what they would
    be if no class had learned the terms, and if one had learned all that was learned of them.
    """
    classes = joint.shape[1]
    indptr, numbers, amounts, tokens = rows.indptr, rows.terms, rows.amounts, rows.tokens
    places, different = np.full(terms, NOT_LEARNED, np.int32), 0
    for row in judged:
        for index in range(indptr[row], indptr[row + 1]):
            if places[numbers[index]] < 0:
                places[numbers[index]] = different
                different += 1
    table, totals = np.zeros((different, classes + 1)), np.zeros(classes)  # the last column is that of all classes
    speaking = 0
    for row in learned:
        label, weight = labels[row], weights[row]
        if tokens[row] == MISSING or weight <= 0:
            continue
        speaking += rows.alone[row]
        whole = rows.alone_amounts[row]
        for index in range(indptr[row], indptr[row + 1]):
            place = places[numbers[index]]
            whole += amounts[index]
            if place >= 0:
                table[place, label] += weight * amounts[index]
                table[place, classes] += weight * amounts[index]
            elif place == NOT_LEARNED:
                places[numbers[index]] = LEARNED
                speaking += 1
        totals[label] += weight * whole
    for place in range(different):
        speaking += 1 if table[place, classes] > 0.0 else 0
    wholes, products = np.empty(classes), np.empty(classes)
    for label in range(classes):
        wholes[label] = log_whole(totals[label] * unit, smoothing, speaking)
    for number in range(judged.size):
        row = judged[number]
        if tokens[row] == MISSING:
            continue
        usual, spoken, said = least_amount(amounts, indptr[row], indptr[row + 1]), 0.0, joint[number]
        products[:] = 1.0
        largest, least = 1.0, 1.0
        for index in range(indptr[row], indptr[row + 1]):
            place, amount = places[numbers[index]], amounts[index]
            if table[place, classes] <= 0.0:
                continue
            spoken += amount * unit
            if amount != usual:
                for label in range(classes):
                    said[label] += amount * unit * math.log(table[place, label] * unit + smoothing)
                continue
            largest, least = largest * max(table[place, classes] * unit + smoothing, 1.0), least * min(smoothing, 1.0)
            for label in range(classes):
                products[label] *= table[place, label] * unit + smoothing
            if largest > LARGEST or least < 1.0 / LARGEST:
                largest, least = 1.0, 1.0
                for label in range(classes):
                    said[label] += usual * unit * math.log(products[label])
                    products[label] = 1.0
        for label in range(classes):
            said[label] += usual * unit * math.log(products[label]) - spoken * wholes[label]
