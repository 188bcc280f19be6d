"""Slots merged into parts that speak with one voice: neighbouring bins into intervals, like values into groups.

How many parts, and which, is read off the counts alone by the MODL criterion (Boullé 2006): the partition under which
partition, class counts of each part, and classes of the rows within it take the fewest nats to write down. A part is
then one slot as far as classes are concerned, and how its slots share it is the same in every class:

    P(slot | class) = P(part | class) * share of the slot in its part, all classes together
"""

from __future__ import annotations

from functools import cache

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.grid import quantized
from candide.families.base.smoothing import log_shares
from candide.families.base.tally_without import SlotRows, log_shares_without, refuse_slots_never_learned
from candide.kernels.merging import TINY, log_factorials, merge_bins, merge_neighbours, squared_often

FACTORIALS = 1 << 14
NEWTON_STEPS = 8
SQUARINGS = 12
"""Raises a matrix to the power of 4096: what is 1 % less than the most is then nothing."""
PSEUDOCOUNT = 1.0
"""Rows of the usual mixture of classes lent to each value before values are put in order."""


def log_merged(
    counts: AnyArray, parts: IntArray, smoothing: float, pseudocounts: float | FloatArray = 0.0
) -> FloatArray:
    """log P(slot | class) where slot i belongs to part parts[i].

    The pseudocounts are added to what each slot counts in its part.

    >>> counts = np.array([[3, 0], [1, 0], [0, 4]])
    >>> np.exp(log_merged(counts, np.array([0, 0, 1]), 0.0)).round(15).tolist()
    [[0.75, 0.0], [0.25, 0.0], [0.0, 1.0]]
    """
    pool = counts.sum(axis=1) + np.asarray(pseudocounts, dtype=np.float64)
    with np.errstate(divide="ignore"):
        within = np.log(pool) - np.log(summed(pool, parts))[parts]
    return log_shares(summed(counts, parts), smoothing)[parts] + within[:, None]


def log_merged_without(
    counts: AnyArray, parts: IntArray, smoothing: float, out: SlotRows, pseudocounts: float | FloatArray = 0.0
) -> FloatArray:
    """What `log_merged` gives each row's slot once the row has left, [row, class]; 0 where the slot leaves with it."""
    refuse_slots_never_learned(counts, out)
    pool, added = counts.sum(axis=1), np.broadcast_to(np.asarray(pseudocounts, dtype=np.float64), len(counts))
    own_parts = parts[out.slots]
    said = log_shares_without(summed(counts, parts), smoothing, out._replace(slots=own_parts))
    left = pool[out.slots] - out.weights + added[out.slots]
    whole = summed(pool, parts)[own_parts] - out.weights + summed(added, parts)[own_parts]
    with np.errstate(divide="ignore", invalid="ignore"):
        said += (np.log(left) - np.log(whole))[:, None]
    said[left == 0] = 0.0
    return said


def summed(counts: AnyArray, parts: IntArray) -> AnyArray:
    """The counts of each part's slots added up."""
    sums = np.zeros((int(parts.max(initial=-1)) + 1, *counts.shape[1:]), dtype=counts.dtype)
    np.add.at(sums, parts, counts)
    return sums


def interval_starts(counts: AnyArray) -> IntArray:
    """Where the second and later intervals begin among bins in order, counts[bin, class].

    Empty bins between two intervals are shared out evenly.
    """
    if not counts.any():
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(np.diff(merge_bins(canonical(counts), known_factorials()))) + 1


@cache
def known_factorials() -> FloatArray:
    """The logarithms of the first factorials: most counts are small, and looked up."""
    return log_factorials(FACTORIALS)


def group_numbers(counts: AnyArray) -> IntArray:
    """The group of each value, counts[value, class]: values are put in order, and neighbours merged."""
    if not len(counts):
        return np.zeros(0, dtype=np.int64)
    known = canonical(counts)
    order = along_one_axis(known)
    starts = merge_neighbours(np.ascontiguousarray(known[order]), group_price(len(counts)), known_factorials())
    numbers = np.empty(len(counts), dtype=np.int64)
    numbers[order] = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(counts)))
    return numbers


def canonical(counts: AnyArray) -> AnyArray:
    """The classes that have rows, in an order that depends on the counts alone: so names change no bit."""
    columns = np.ascontiguousarray(counts.T[counts.any(axis=0)])
    order = sorted(range(len(columns)), key=lambda index: columns[index].tobytes())
    return np.ascontiguousarray(columns[order].T)


def along_one_axis(counts: AnyArray) -> IntArray:
    """An order of values in which neighbours have like classes: along the first axis of a correspondence analysis.

    For two classes that is the share of one of them. Each value is lent some rows of the usual mixture, so that one
    seen once does not stand at the end of the line. Of values in one place the first comes first, on every machine.
    """
    rows = counts.sum(axis=1, keepdims=True).astype(np.float64)
    usual = counts.sum(axis=0) / rows.sum()
    apart = (counts - rows * usual) / ((rows + PSEUDOCOUNT) * np.sqrt(usual))
    away = (apart * leading_direction(apart, rows)).sum(axis=1)
    return np.argsort(quantized(away / max(np.abs(away).max(), TINY)), kind="stable")


def leading_direction(points: FloatArray, weights: FloatArray) -> FloatArray:
    """The direction in which weighted points[point, axis] spread most: the first eigenvector of their products.

    By squaring the matrix again and again, with nothing but + × ÷ in a fixed order: every machine finds the same bits,
    also where several directions are as good.
    """
    products = np.stack([(points * weights * column[:, None]).sum(axis=0) for column in points.T])
    raised = squared_often(products, SQUARINGS)
    return np.asarray(raised[int(np.diagonal(raised).argmax())])


def group_price(values: int) -> FloatArray:
    """What 1, 2, ... groups of values cost: log V for how many, log B(V, I) for which value is in which."""
    return np.log(values) + np.logaddexp.accumulate(log_partitions(values))


def log_partitions(values: int) -> FloatArray:
    """log of the number of ways to divide so many values into exactly 1, 2, ... groups (Temme 1993).

    An approximation of Stirling's numbers of the second kind, within some percent for few values and better for more.

    >>> np.exp(log_partitions(5)).round().tolist()
    [1.0, 15.0, 25.0, 10.0, 1.0]
    """
    groups = np.arange(1.0, values)
    ratio = values / groups
    root = np.minimum(ratio, 2 * (ratio - 1))
    for _ in range(NEWTON_STEPS):
        root -= (root - ratio * -np.expm1(-root)) / (1 - ratio * np.exp(-root))
    rest = ratio - 1
    ways = (values - groups) * np.log(groups * rest) - groups * rest - values * np.log(root)
    ways += groups * (root + np.log(-np.expm1(-root))) + 0.5 * np.log(rest / (ratio * (root - rest)))
    choices = np.cumsum(np.log((values - groups + 1) / groups))
    return np.append(ways + choices, 0.0)
