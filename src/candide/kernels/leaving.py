"""The loops of leave-one-out: what a row of counts or truths says once it has been taken out of the counts itself.

Rows are those of a CSR matrix; `labels` and `weights` hold one class number and one whole weight a row.
"""

from __future__ import annotations

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.kernels import compiled, inlined
from candide.kernels.shares import log_whole, pseudocount_of


@inlined
def events_in(data: AnyArray, start: int, stop: int) -> int:
    """How many events the entries from start to stop hold; NaN holds none."""
    events = 0
    for index in range(start, stop):
        if data[index] == data[index]:
            events += int(data[index])
    return events


@compiled
def score_own(
    indptr: AnyArray,
    indices: AnyArray,
    data: AnyArray,
    counts: IntArray,
    smoothing: float,
    labels: IntArray,
    weights: IntArray,
    own: FloatArray,
) -> None:
    """Set own[row] to the multinomial score of the row's own class without the row; counts is [slot, class]."""
    slots = counts.shape[0]
    totals = counts.sum(axis=0)
    for row in range(len(labels)):
        label, weight = labels[row], weights[row]
        start, stop = indptr[row], indptr[row + 1]
        total = totals[label] - weight * events_in(data, start, stop)
        pseudocount = pseudocount_of(total, smoothing)
        height, score = log_whole(total, pseudocount, slots), 0.0
        for index in range(start, stop):
            count = data[index]
            if count == count and count != 0:
                left = counts[indices[index], label] - weight * np.int64(count)
                score += count * (np.log(left + pseudocount) - height)
        own[row] = score


@compiled
def score_others(
    indptr: AnyArray,
    indices: AnyArray,
    data: AnyArray,
    others: IntArray,
    logs: FloatArray,
    logs_less_one: FloatArray,
    smoothing: float,
    labels: IntArray,
    weights: IntArray,
    joint: FloatArray,
) -> None:
    """Add the complement score without the row, which leaves the others[slot, class] of every class but its own.

    logs holds log(others + smoothing), and logs_less_one the same for one less: most rows take one out.
    """
    slots, classes = others.shape
    totals = others.sum(axis=0)
    heights = np.empty(classes)
    for row in range(len(labels)):
        own, weight = labels[row], weights[row]
        start, stop = indptr[row], indptr[row + 1]
        events = weight * events_in(data, start, stop)
        for label in range(classes):
            heights[label] = log_whole(totals[label] - (0 if label == own else events), smoothing, slots)
        for index in range(start, stop):
            count = data[index]
            if not count > 0:
                continue
            slot, amount = indices[index], weight * np.int64(count)
            kept = joint[row, own]
            for label in range(classes):
                less = logs_less_one[slot, label] if amount == 1 else np.log(others[slot, label] - amount + smoothing)
                joint[row, label] += count * (heights[label] - less)
            joint[row, own] = kept + count * (heights[own] - logs[slot, own])


@compiled
def truths_own(
    indptr: AnyArray,
    indices: AnyArray,
    data: AnyArray,
    threshold: float,
    rows: IntArray,
    labels: IntArray,
    no: FloatArray,
    yes: FloatArray,
    own: FloatArray,
) -> None:
    """Set own[row] for some rows to what their truths say of their own class, by no[column, class] and yes.

    Entries above the threshold are yes, NaN is neither, and all others, stored or not, are no. What is impossible
    (-inf) is counted apart, so that it can be taken away again.
    """
    columns, classes = no.shape
    all_no, never = np.zeros(classes), np.zeros(classes, np.int64)
    for column in range(columns):
        for label in range(classes):
            never[label] += no[column, label] == -np.inf
            all_no[label] += no[column, label] if no[column, label] > -np.inf else 0.0
    for row in rows:
        label = labels[row]
        score, impossible = all_no[label], never[label]
        for index in range(indptr[row], indptr[row + 1]):
            if data[index] <= threshold:
                continue
            below = no[indices[index], label]
            impossible -= below == -np.inf
            score -= below if below > -np.inf else 0.0
            if data[index] > threshold:
                above = yes[indices[index], label]
                impossible += above == -np.inf
                score += above if above > -np.inf else 0.0
        own[row] = -np.inf if impossible > 0 else score
