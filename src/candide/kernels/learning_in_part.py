"""Documents judged by the smoothed shares of some others: only terms that the judged ones hold are counted."""

from __future__ import annotations

import math

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.kernels import compiled
from candide.kernels.shared_terms import LARGEST, least_amount
from candide.kernels.shares import log_whole
from candide.kernels.word_leaving import MISSING, Rows


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
    above zero. Of terms that have the same amount logarithms are taken of products, which lie between those of the
    terms' fewest and most counts.
    """
    classes = joint.shape[1]
    indptr, numbers, amounts, tokens = rows.indptr, rows.terms, rows.amounts, rows.tokens
    places, different = np.full(terms, -1, np.int32), 0
    for row in judged:
        for index in range(indptr[row], indptr[row + 1]):
            if places[numbers[index]] < 0:
                places[numbers[index]] = different
                different += 1
    table, totals = np.zeros((different, classes)), np.zeros(classes)
    is_seen, speaking = np.zeros(terms, np.bool_), 0
    for row in learned:
        label, weight = labels[row], weights[row]
        if tokens[row] == MISSING or weight <= 0:
            continue
        speaking += rows.alone[row]
        whole = rows.alone_amounts[row]
        for index in range(indptr[row], indptr[row + 1]):
            term = numbers[index]
            whole += amounts[index]
            if not is_seen[term]:
                is_seen[term] = True
                speaking += 1
            if places[term] >= 0:
                table[places[term], label] += weight * amounts[index]
        totals[label] += weight * whole
    wholes, products = np.empty(classes), np.empty(classes)
    for label in range(classes):
        wholes[label] = log_whole(totals[label] * unit, smoothing, speaking)
    most, fewest = np.empty(different), np.empty(different)
    for place in range(different):
        most[place], fewest[place] = 0.0, np.inf
        for label in range(classes):
            table[place, label] = table[place, label] * unit + smoothing
            most[place], fewest[place] = max(most[place], table[place, label]), min(fewest[place], table[place, label])
    for number in range(judged.size):
        row = judged[number]
        if tokens[row] == MISSING:
            continue
        usual, spoken = least_amount(amounts, indptr[row], indptr[row + 1]), 0.0
        products[:] = 1.0
        largest, least = 1.0, 1.0
        for index in range(indptr[row], indptr[row + 1]):
            if not is_seen[numbers[index]]:
                continue
            place, amount = places[numbers[index]], amounts[index]
            spoken += amount * unit
            if amount != usual:
                for label in range(classes):
                    joint[number, label] += amount * unit * math.log(table[place, label])
                continue
            largest, least = largest * most[place], least * fewest[place]
            for label in range(classes):
                products[label] *= table[place, label]
            if largest > LARGEST or least < 1.0 / LARGEST:
                largest, least = 1.0, 1.0
                for label in range(classes):
                    joint[number, label] += usual * unit * math.log(products[label])
                    products[label] = 1.0
        for label in range(classes):
            joint[number, label] += usual * unit * math.log(products[label]) - spoken * wholes[label]
