"""The smoothed share of a count, as every loop takes it: log(count + pseudocount) - log_whole(...)."""

from __future__ import annotations

import math

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.kernels import compiled
from candide.kernels.words import Number


@compiled
def pseudocount_of(total: Number | float, smoothing: float) -> float:
    """What is added to each slot: the smoothing, or one where there is none and nothing was counted.

    Then all slots have the same share.
    """
    return 1.0 if smoothing == 0.0 and total <= 0.0 else smoothing


@compiled
def log_whole(total: Number | float, pseudocount: float, slots: Number | float) -> float:
    """The logarithm of all counts and pseudocounts together; 0 where there are no slots."""
    whole = total + pseudocount * slots
    return math.log(whole) if whole > 0.0 else 0.0


@compiled
def log_shares_of(counts: AnyArray, order: IntArray, log_of_all: float) -> FloatArray:
    """Give log(counts[label]) - log_of_all for each label of `order`, as float64[len(order)]."""
    shares = np.empty(len(order))
    for index in range(len(order)):
        shares[index] = np.log(counts[order[index]]) - log_of_all
    return shares


@compiled
def shares_of_scores(joint: FloatArray, order: IntArray) -> FloatArray:
    """Give the share of each label of `order` in the sum of exp(joint[label]); NaN where none of them is finite."""
    largest = -np.inf
    for label in order:
        largest = max(largest, joint[label])
    shares = np.exp(joint[order] - largest)
    return shares / shares.sum()


@compiled
def add_log_shares(
    columns: IntArray,
    slots: IntArray,
    table: AnyArray,
    totals: AnyArray,
    different: FloatArray,
    scale: float,
    smoothing: float,
    joint: FloatArray,
) -> None:
    """Add to joint[class] the log share of each of some slots, one in each of the columns.

    `table` counts [slot, class], `totals` [column, class], both to be multiplied by `scale`; `different` are the slots
    that each column has.
    """
    for index in range(len(slots)):
        counts, wholes, others = table[slots[index]], totals[columns[index]], different[columns[index]]
        for label in range(len(joint)):
            total = scale * wholes[label]
            added = pseudocount_of(total, smoothing)
            joint[label] += np.log(scale * counts[label] + added) - log_whole(total, added, others)
