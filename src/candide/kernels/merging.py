"""The loops behind bins and groups: which bin a number falls into, how values are ordered, neighbours merged."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.kernels import compiled, inlined
from candide.kernels.shares import log_whole, pseudocount_of
from candide.kernels.words import Number

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
    for index in range(len(cuts)):
        table[index] = cuts[index]
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
def log_factorials(size: int) -> FloatArray:
    """log n! of n = 0, 1, 2, ... below size."""
    logs = np.zeros(size)
    for number in range(size):
        logs[number] = math.lgamma(number + 1.0)
    return logs


@compiled
def log_factorial(count: Number | float, known: FloatArray) -> float:
    """log n!, looked up where n is whole and small enough to be known."""
    whole = np.int64(count)
    return known[whole] if whole < len(known) and whole == count else math.lgamma(count + 1.0)


@compiled
def part_cost(counts: AnyArray, first: int, second: int, known: FloatArray) -> float:
    """What two lines of counts[slot, class] cost as one part, or one line alone where first = second.

    log C(n + J - 1, J - 1) for saying how many of the n rows belong to each of J classes, and log(n! / Π n_j!) for
    saying which (Boullé 2006); n! cancels. `known` holds the first of `log_factorials`.
    """
    classes = counts.shape[1]
    rows, cost = 0 * counts[first, 0], -log_factorial(classes - 1, known)
    alone = first == second
    for label in range(classes):
        count = counts[first, label] if alone else counts[first, label] + counts[second, label]
        rows += count
        if count > 1:
            cost -= log_factorial(count, known)
    return cost + log_factorial(rows + (classes - 1), known)


class Tournament(NamedTuple):
    """A knock-out tournament of parts: who costs least goes on, of those within `near` the first.

    costs float64[2 size] and winners int64[2 size]: winners[2 n] and winners[2 n + 1] have played for winners[n], at
    costs[n]; winners[1] is the champion. Part p begins at place size + p; places of no part cost infinitely much.
    """

    costs: FloatArray
    winners: IntArray
    near: float


@inlined
def tournament_of(more: FloatArray, near: float) -> Tournament:
    """The tournament of parts that cost more[part], all games played."""
    size = 1
    while size < len(more):
        size *= 2
    games = Tournament(np.full(2 * size, np.inf), np.arange(-size, size), near)
    for part in range(len(more)):
        games.costs[size + part] = more[part]
    for node in range(size - 1, 0, -1):
        play(games, node)
    return games


@compiled
def play(games: Tournament, node: int) -> None:
    """One game: written without a branch, which a processor could only guess."""
    first = np.uint64(2 * node)
    loses = games.costs[first] > games.costs[first + np.uint64(1)] + games.near
    child = first + np.uint64(loses)
    games.winners[node] = games.winners[child]
    games.costs[node] = games.costs[child]


@inlined
def play_again(games: Tournament, first: int, second: int, third: int) -> None:
    """Play all games above three parts, in order, whose costs have changed: each once, though their ways meet."""
    size = len(games.costs) >> 1
    first, second, third = size + first, size + second, size + third
    while first != third:
        first >>= 1
        second >>= 1
        third >>= 1
        play(games, first)
        if second != first:
            play(games, second)
        if third != second:
            play(games, third)
    while third > 1:
        third >>= 1
        play(games, third)


@compiled
def merge_neighbours(counts: AnyArray, price: FloatArray, known: FloatArray) -> IntArray:
    """The first slot of each part, when slots in order are merged so that describing the classes costs least.

    counts[slot, class] holds no empty slot; price[parts - 1] is what having so many parts costs, beside the
    `part_cost` of each. From one slot a part, the two neighbours whose union costs least more are merged until one
    part is left; the cheapest of all these partitions is returned, of equal ones that with the fewest parts. Costs are
    compared so coarsely that every machine merges alike. `known` holds the first of `log_factorials`.
    """
    slots = counts.shape[0]
    sums = counts.copy()
    near = ROUNDING * (1.0 + math.lgamma(counts.sum() + 1.0))
    apart_cost, merged_cost, more = np.empty(slots), np.zeros(slots), np.full(slots, np.inf)
    before, after = np.arange(-1, slots - 1), np.arange(1, slots + 1)
    for slot in range(slots):
        apart_cost[slot] = part_cost(sums, slot, slot, known)
    for slot in range(slots - 1):
        merged_cost[slot] = part_cost(sums, slot, slot + 1, known)
        more[slot] = merged_cost[slot] - apart_cost[slot] - apart_cost[slot + 1]
    games = tournament_of(more, near)
    costs = games.costs[len(games.costs) >> 1 :]
    total = apart_cost.sum()
    parts_left = np.zeros(slots, np.int64)
    best, fewest = total + price[slots - 1], slots
    for parts in range(slots - 1, 0, -1):
        left = games.winners[1]
        right = after[left]
        total += costs[left]
        for label in range(counts.shape[1]):
            sums[left, label] += sums[right, label]
        apart_cost[left] = merged_cost[left]
        parts_left[right] = parts
        after[left] = after[right]
        if after[left] < slots:
            before[after[left]] = left
        costs[right] = np.inf
        earlier = before[left] if before[left] >= 0 else left
        for part in (left, earlier):
            costs[part] = np.inf
            if after[part] < slots:
                merged_cost[part] = part_cost(sums, part, after[part], known)
                costs[part] = merged_cost[part] - apart_cost[part] - apart_cost[after[part]]
        play_again(games, earlier, left, right)
        if total + price[parts - 1] <= best + near:
            best, fewest = total + price[parts - 1], parts
    return np.flatnonzero(parts_left < fewest)


@compiled
def interval_price(rows: float, most: int) -> FloatArray:
    """What 1, 2, ... intervals cost: log N for how many, log C(N + I - 1, I - 1) for where they end."""
    price = np.full(most, math.log(rows))
    for parts in range(1, most):
        price[parts] = price[parts - 1] + math.log((rows + parts) / parts)
    return price


@inlined
def filled_lines(counts: AnyArray) -> IntArray:
    """The lines of counts[line, column] that hold anything but zeros."""
    filled = np.zeros(len(counts), np.bool_)
    for line in range(len(counts)):
        for column in range(counts.shape[1]):
            filled[line] |= counts[line, column] != 0
    return np.flatnonzero(filled)


@compiled
def merge_bins(counts: AnyArray, known: FloatArray) -> IntArray:
    """The interval int64[bin] that each bin in order belongs to, counts[bin, class]; empty ones are shared out evenly.

    Classes without rows do not matter. `known` holds the first of `log_factorials`.
    """
    intervals = np.zeros(len(counts), np.int64)
    filled, classes = filled_lines(counts), filled_lines(counts.T)
    if len(filled) < 2:
        return intervals
    some = np.empty((len(filled), len(classes)), counts.dtype)
    for slot in range(len(filled)):
        for place in range(len(classes)):
            some[slot, place] = counts[filled[slot], classes[place]]
    starts = merge_neighbours(some, interval_price(float(some.sum()), len(filled)), known)
    for part in range(1, len(starts)):
        first = (filled[starts[part] - 1] + filled[starts[part]] + 1) // 2
        for index in range(first, len(intervals)):
            intervals[index] = part
    return intervals


@compiled
def log_shares_of_parts(counts: AnyArray, parts: IntArray, smoothing: float, shares: FloatArray) -> None:
    """Fill the first lines of shares[part, class] with the log of the smoothed share that a part has of the class.

    Slot i of counts[slot, class] is in parts[i], or in none where that is below zero. Every part has the same share
    where nothing is counted and nothing added.
    """
    classes, count = counts.shape[1], parts.max() + 1
    sums, totals = np.zeros((count, classes)), np.zeros(classes)
    for slot in range(len(parts)):
        for label in range(classes):
            if parts[slot] >= 0:
                sums[parts[slot], label] += counts[slot, label]
                totals[label] += counts[slot, label]
    for label in range(classes):
        added = pseudocount_of(totals[label], smoothing)
        whole = log_whole(totals[label], added, count)
        for part in range(count):
            shares[part, label] = math.log(sums[part, label] + added) - whole


@compiled
def counts_without_folds(
    places: IntArray, labels: IntArray, weights: IntArray, held: IntArray, counts: IntArray
) -> None:
    """Add to counts[fold, place, class] the rows of each kind that a fold does not hold.

    There are weights[kind] rows of labels[kind] at places[kind], below zero for nowhere; a fold has held[fold, kind].
    """
    for fold in range(len(held)):
        for kind in range(len(places)):
            if places[kind] >= 0:
                counts[fold, places[kind], labels[kind]] += weights[kind] - held[fold, kind]


@compiled
def bins_without_folds(
    counts: IntArray, bins: IntArray, smoothing: float, known: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Intervals found without each fold: int64[fold, line], and their log shares float64[fold, interval, class].

    counts[fold, bin, class] are those of the rows outside of each fold; a line of values is in bins[line], or in none
    and in no interval where that is below zero.
    """
    folds, most = len(counts), 0
    parts, shares = np.full((folds, len(bins)), -1), np.zeros(counts.shape)
    for fold in range(folds):
        found = merge_bins(counts[fold], known)
        most = max(most, found[-1] + 1)
        for line in range(len(bins)):
            if bins[line] >= 0:
                parts[fold, line] = found[bins[line]]
        log_shares_of_parts(counts[fold], found, smoothing, shares[fold])
    return parts, shares[:, :most].copy()
