"""The loops behind bins and groups: which bin a number falls into, how values are ordered, neighbours merged."""

from __future__ import annotations

import math

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.kernels import compiled

TILE = 64
"""Numbers searched for side by side."""

ROUNDING = 1e-12
"""Costs that differ by less than this share of log N! are equal: in the last bits of logarithms machines differ."""

TINY = 1e-300


@compiled
def bin_numbers(values: FloatArray, cuts: FloatArray) -> IntArray:
    """How many of the ascending cuts are at or below each value: its bin; -1 where the value is NaN.

    The cuts are filled up with infinities to a power of two, so that every search takes the same steps and many go on
    at once without a branch.
    """
    size = 1
    while size < len(cuts) + 1:
        size *= 2
    table = np.full(size, np.inf)
    table[: len(cuts)] = cuts
    bins = np.empty(len(values), np.int64)
    tile, indices = np.zeros(TILE), np.zeros(TILE, np.int64)
    for first in range(0, len(values), TILE):
        count = min(TILE, len(values) - first)
        indices[:] = 0
        for i in range(count):
            tile[i] = values[first + i]
        step = size >> 1
        while step > 0:
            for i in range(TILE):
                indices[i] += step * np.int64(table[indices[i] + step - 1] <= tile[i])
            step >>= 1
        for i in range(count):
            bins[first + i] = min(indices[i], len(cuts)) if tile[i] == tile[i] else -1
    return bins


@compiled
def squared_often(matrix: FloatArray, times: int) -> FloatArray:
    """The square float64[size, size] of a square of a square ..., before each of which its largest entry is made one.

    Products are added in order of rows, each rounded by itself.
    """
    size = len(matrix)
    for _ in range(times):
        scaled = matrix / max(np.abs(matrix).max(), TINY)
        matrix = np.zeros((size, size))
        for i in range(size):
            for inner in range(size):
                for j in range(size):
                    matrix[i, j] += scaled[i, inner] * scaled[inner, j]
    return matrix


@compiled
def part_cost(counts: IntArray, first: int, second: int) -> float:
    """What two lines of counts[slot, class] cost as one part, or one line alone where first = second.

    log C(n + J - 1, J - 1) for saying how many of the n rows belong to each of J classes, and log(n! / Π n_j!) for
    saying which (Boullé 2006); n! cancels.
    """
    classes = counts.shape[1]
    rows, cost = 0.0, -math.lgamma(classes)
    for label in range(classes):
        count = float(counts[first, label])
        if second != first:
            count += float(counts[second, label])
        rows += count
        if count > 1:
            cost -= math.lgamma(count + 1.0)
    return cost + math.lgamma(rows + classes)


@compiled
def offer(
    sums: IntArray,
    left: int,
    right: int,
    apart_cost: FloatArray,
    merged_cost: FloatArray,
    more: FloatArray,
    winners: IntArray,
    near: float,
) -> None:
    """Enter the union of two parts in a knock-out tournament: the union that costs least more wins.

    A part without a right neighbour (right = the number of slots) can never win. winners[2 n] and winners[2 n + 1]
    have played for winners[n], of those within `near` the first goes on, and winners[1] is the champion.
    """
    more[left] = np.inf
    if right < len(sums):
        merged_cost[left] = part_cost(sums, left, right)
        more[left] = merged_cost[left] - apart_cost[left] - apart_cost[right]
    node = (len(more) + left) >> 1
    while node > 0:
        first, second = winners[2 * node], winners[2 * node + 1]
        winners[node] = first if more[first] <= more[second] + near else second
        node >>= 1


@compiled
def merge_neighbours(counts: IntArray, price: FloatArray) -> IntArray:
    """The first slot of each part, when slots in order are merged so that describing the classes costs least.

    counts[slot, class] holds no empty slot; price[parts - 1] is what having so many parts costs, beside the
    `part_cost` of each. From one slot a part, the two neighbours whose union costs least more are merged until one
    part is left; the cheapest of all these partitions is returned, of equal ones that with the fewest parts. Costs are
    compared so coarsely that every machine merges alike.
    """
    slots = counts.shape[0]
    sums = counts.copy()
    size = 1
    while size < slots:
        size *= 2
    apart_cost, merged_cost, more = np.empty(slots), np.zeros(slots), np.full(size, np.inf)
    before, after = np.arange(-1, slots - 1), np.arange(1, slots + 1)
    for slot in range(slots):
        apart_cost[slot] = part_cost(sums, slot, slot)
    near = ROUNDING * (1.0 + math.lgamma(counts.sum() + 1.0))
    winners = np.zeros(2 * size, np.int64)
    for slot in range(size):
        winners[size + slot] = slot
    for slot in range(slots):
        offer(sums, slot, after[slot], apart_cost, merged_cost, more, winners, near)
    total = apart_cost.sum()
    parts_left = np.zeros(slots, np.int64)
    best, fewest = total + price[slots - 1], slots
    for parts in range(slots - 1, 0, -1):
        left = winners[1]
        right = after[left]
        total += more[left]
        sums[left] += sums[right]
        apart_cost[left] = merged_cost[left]
        parts_left[right] = parts
        after[left] = after[right]
        if after[left] < slots:
            before[after[left]] = left
        offer(sums, right, slots, apart_cost, merged_cost, more, winners, near)
        offer(sums, left, after[left], apart_cost, merged_cost, more, winners, near)
        if before[left] >= 0:
            offer(sums, before[left], left, apart_cost, merged_cost, more, winners, near)
        if total + price[parts - 1] <= best + near:
            best, fewest = total + price[parts - 1], parts
    return np.flatnonzero(parts_left < fewest)
