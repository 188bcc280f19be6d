"""The loops that count: how often each slot was seen with each class.

`weights` holds one whole number a row, or nothing at all, which means one for every row. Tables are allocated by
the caller as [slot, class] and added to in place; int64 tables are exact, float64 ones are for fractional counts.
"""

from __future__ import annotations

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.kernels import compiled


@compiled
def count_codes(codes: IntArray, labels: IntArray, weights: IntArray, table: IntArray) -> None:
    """One slot a row: table[codes[row], labels[row]] grows by the row's weight; a negative code is missing."""
    for row in range(len(codes)):
        if codes[row] >= 0:
            table[codes[row], labels[row]] += weights[row] if weights.size else 1


@compiled
def count_code_rows(
    codes: IntArray, offsets: IntArray, labels: IntArray, weights: AnyArray, table: AnyArray
) -> None:
    """Several code columns at once, codes[row, column]: column j owns the slots from offsets[j], and codes fit."""
    rows, columns = codes.shape
    for row in range(rows):
        weight = weights[row] if weights.size else 1
        label = labels[row]
        for column in range(columns):
            table[offsets[column] + codes[row, column], label] += weight


@compiled
def code_limits(codes: IntArray, lowest: IntArray, highest: IntArray) -> None:
    """Lower lowest[column] and raise highest[column] to the codes of each column of codes[row, column]."""
    rows, columns = codes.shape
    for row in range(rows):
        for column in range(columns):
            lowest[column] = min(lowest[column], codes[row, column])
            highest[column] = max(highest[column], codes[row, column])


NOT_FINITE = 1
NEGATIVE = 2
NOT_WHOLE = 4


@compiled
def flaws(data: AnyArray) -> int:
    """What a flat array holds that counts do not: the sum of NOT_FINITE, NEGATIVE and NOT_WHOLE that apply.

    Whole means a whole number below 2^53. There is no early exit, so that the loop runs several values at a time.
    """
    endless, negative, broken = 0, 0, 0
    for index in range(data.size):
        value = data[index]
        endless |= value - value != 0
        negative |= value < 0
        broken |= not ((value == np.floor(value)) & (value < 9007199254740992.0))
    return NOT_FINITE * endless + NEGATIVE * negative + NOT_WHOLE * broken


@compiled
def first_bad_count(data: AnyArray) -> int:
    """Where the first entry is that is no count (negative, fractional, infinite or at 2^53 and above), or -1.

    NaN passes: in a block of counts a missing value is a zero.
    """
    for index in range(data.size):
        value = data[index]
        if value == value and not (value >= 0 and value < 9007199254740992.0 and value == np.floor(value)):
            return index
    return -1


@compiled
def places_by_class(labels: IntArray, classes: int) -> tuple[IntArray, IntArray]:
    """Where the labels of each class in turn are, and where each class begins and the last ends among them."""
    order, starts = np.empty(len(labels), np.int64), np.zeros(classes + 2, np.int64)
    for label in labels:
        starts[label + 2] += 1
    starts = np.cumsum(starts)
    for place in range(len(labels)):
        order[starts[labels[place] + 1]] = place
        starts[labels[place] + 1] += 1
    return order, starts


@compiled
def sum_dense(values: AnyArray, labels: IntArray, weights: AnyArray, table: AnyArray) -> None:
    """Counts in values[row, column], column = slot; NaN adds nothing."""
    rows, columns = values.shape
    classes = table.shape[1]
    sums = np.zeros((classes, columns), table.dtype)
    one = sums.dtype.type(1)
    for row in range(rows):
        weight = sums.dtype.type(weights[row]) if weights.size else one
        mine = sums[labels[row]]
        for column in range(columns):
            value = values[row, column]
            mine[column] += weight * sums.dtype.type(value if value == value else 0)
    table += sums.T


@compiled
def sum_sparse(
    indptr: AnyArray, indices: AnyArray, data: AnyArray, labels: IntArray, weights: AnyArray, table: AnyArray
) -> None:
    """The same for the rows of a CSR matrix, class by class: sums of one class may fit a cache, those of all not."""
    for row in places_by_class(labels, table.shape[1])[0]:
        weight = table.dtype.type(weights[row] if weights.size else 1)
        label = labels[row]
        for index in range(indptr[row], indptr[row + 1]):
            value = data[index]
            if value == value:
                table[indices[index], label] += weight * table.dtype.type(value)


@compiled
def count_truths(
    values: AnyArray, threshold: float, labels: IntArray, weights: IntArray, no: IntArray, yes: IntArray
) -> None:
    """Yes where values[row, column] > threshold, no where not, neither where NaN; no and yes are [column, class]."""
    rows, columns = values.shape
    classes = yes.shape[1]
    above = np.zeros((classes, columns), yes.dtype)
    below = np.zeros((classes, columns), yes.dtype)
    for row in range(rows):
        weight = weights[row] if weights.size else 1
        label = labels[row]
        for column in range(columns):
            value = values[row, column]
            above[label, column] += weight * (value > threshold)
            below[label, column] += weight * (value <= threshold)
    yes += above.T
    no += below.T


@compiled
def count_sparse_truths(
    indptr: AnyArray,
    indices: AnyArray,
    data: FloatArray,
    threshold: float,
    labels: IntArray,
    weights: AnyArray,
    no: AnyArray,
    yes: AnyArray,
) -> None:
    """The stored entries of a CSR matrix, where the caller has counted every row as a no for every column.

    An entry above the threshold moves from no to yes, a NaN leaves both.
    """
    for row in range(len(indptr) - 1):
        weight = weights[row] if weights.size else 1
        label = labels[row]
        for index in range(indptr[row], indptr[row + 1]):
            value = data[index]
            if not value <= threshold:
                no[indices[index], label] -= weight
            if value > threshold:
                yes[indices[index], label] += weight


@compiled
def count_labels(labels: IntArray, weights: AnyArray, counts: AnyArray) -> None:
    """How much weight each class has: counts[class] grows in place."""
    for row in range(len(labels)):
        counts[labels[row]] += weights[row] if weights.size else 1


@compiled
def counts_above_zero(table: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Where table[line, class] is not zero, line by line: the lines, the classes and what stands there."""
    filled = 0
    for line in range(len(table)):
        for label in range(table.shape[1]):
            filled += table[line, label] != 0
    lines, labels, counts = np.empty(filled, np.int64), np.empty(filled, np.int64), np.empty(filled, np.int64)
    filled = 0
    for line in range(len(table)):
        for label in range(table.shape[1]):
            if table[line, label] != 0:
                lines[filled], labels[filled], counts[filled] = line, label, table[line, label]
                filled += 1
    return lines, labels, counts


@compiled
def common_divisor(counts: IntArray) -> int:
    """The largest whole number that divides all counts, 0 where all are zero."""
    found = 0
    for count in counts:
        while count:
            found, count = count, found % count
        if found == 1:
            break
    return found
