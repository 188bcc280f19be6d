"""Documents judged by the smoothed shares of some others: only terms that the judged ones hold are counted."""

from __future__ import annotations

import math

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.kernels import compiled, inlined
from candide.kernels.shared_terms import LARGEST, least_amount
from candide.kernels.shares import log_whole
from candide.kernels.word_leaving import MISSING, Rows

#: Places of terms that no judged row holds.
NOT_LEARNED, LEARNED = -1, -2


@compiled
def judge_in_steps(
    rows: Rows,
    terms: int,
    labels: IntArray,
    weights: IntArray,
    learned: IntArray,
    steps: IntArray,
    judged: IntArray,
    smoothing: float,
    unit: float,
    joint: FloatArray,
) -> None:
    """Set joint[step, i, class] to what row judged[i] says by the multinomial of the first steps[step] learned rows.

    Rows are without the terms that one document holds, so that there are `terms`; every term speaks, and smoothing is
    above zero. Terms are numbered as the judged rows turn them up, and each row is learned once, for all steps after.
    """
    classes = joint.shape[2]
    indptr, numbers, amounts, tokens = rows.indptr, rows.terms, rows.amounts, rows.tokens
    places, different = np.full(terms, NOT_LEARNED, np.int32), 0
    for row in judged:
        for index in range(indptr[row], indptr[row + 1]):
            if places[numbers[index]] < 0:
                places[numbers[index]] = different
                different += 1
    table, totals = np.zeros((different, classes + 1)), np.zeros(classes)  # the last column is that of all classes
    wholes, speaking, first = np.empty(classes), 0, 0
    for step in range(steps.size):
        for row in learned[first : steps[step]]:
            label, weight = labels[row], weights[row]
            if tokens[row] == MISSING or weight <= 0:
                continue
            speaking += rows.alone[row]
            whole = rows.alone_amounts[row]
            for index in range(indptr[row], indptr[row + 1]):
                place = places[numbers[index]]
                whole += amounts[index]
                if place >= 0:
                    speaking += 1 if table[place, classes] == 0.0 else 0
                    table[place, label] += weight * amounts[index]
                    table[place, classes] += weight * amounts[index]
                elif place == NOT_LEARNED:
                    places[numbers[index]] = LEARNED
                    speaking += 1
            totals[label] += weight * whole
        first = steps[step]
        for label in range(classes):
            wholes[label] = log_whole(totals[label] * unit, smoothing, speaking)
        judge_by_table(rows, judged, places, table, wholes, smoothing, unit, joint[step])


@inlined
def judge_by_table(
    rows: Rows,
    judged: IntArray,
    places: AnyArray,
    table: FloatArray,
    wholes: FloatArray,
    smoothing: float,
    unit: float,
    joint: FloatArray,
) -> None:
    """Set joint[i, class] by the counts of table[places[term], class], and of all classes in the last column.

    Of terms that have the same amount logarithms are taken of products, which lie between what they would be if no
    class had learned the terms, and if one had learned all that was learned of them.
    """
    indptr, numbers, amounts, tokens = rows.indptr, rows.terms, rows.amounts, rows.tokens
    classes, products = len(wholes), np.empty(len(wholes))
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
