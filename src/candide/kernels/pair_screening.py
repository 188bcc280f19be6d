"""Which pairs of columns might tell more than their parts: one Newton step for each, over all rows.

Pairs are ranked by what they say once over, which rows in their cells need not hold back.
"""

from __future__ import annotations

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.kernels import compiled, inlined
from candide.kernels.pair_terms import HALF, PairCounts, fill_pair_table, pair_counts, pair_term

FEW_CLASSES = 3
"""Of no more classes, what rows of a cell and class are thought to be is added up, and not asked row by row."""


@compiled
def count_pair(
    first: IntArray, second: IntArray, seconds: int, labels: IntArray, weights: FloatArray, counts: FloatArray
) -> IntArray:
    """The cell of each row, -1 where a bin is missing; counts[cell, class] grow by the weights of the rows."""
    cells = np.empty(len(labels), dtype=np.int64)
    for row in range(len(labels)):
        cells[row] = -1
        if first[row] >= 0 and second[row] >= 0:
            cells[row] = np.int64(first[row]) * seconds + second[row]
            counts[cells[row], labels[row]] += weights[row]
    return cells


@compiled
def pair_gains(
    bins: IntArray,
    widths: IntArray,
    pairs: IntArray,
    labels: IntArray,
    weights: FloatArray,
    chances: FloatArray,
    smoothing: float,
    gains: FloatArray,
) -> None:
    """By how many nats a pair would lower the loss of all rows by one Newton step, g^2 / 2h, into gains[pair].

    bins int8[column, row] are the bins of rows, of which a column has widths[column]; pairs int64[pair, 2] are columns,
    chances float64[row, class] what is thought of the first rows so far: they alone judge, each without itself, what
    all rows taught. A pair that would have to be believed the wrong way round gains nothing.
    """
    classes = chances.shape[1]
    is_alike = 1 < classes <= FEW_CLASSES
    for row in range(len(weights)):
        is_alike &= weights[row] == 0.0 or weights[row] == 1.0
    moments = moments_of_rows(labels, weights, chances) if is_alike else np.zeros((0, 0))
    for index in range(len(pairs)):
        one, other = pairs[index]
        first, second, seconds = bins[one], bins[other], widths[other]
        counts = np.zeros((widths[one] * seconds, classes))
        if is_alike:
            sums = np.zeros((widths[one] * seconds * classes, moments.shape[1]))
            sum_in_cells(first, second, seconds, classes, labels, moments, sums)
            for line in range(len(sums)):
                counts[line // classes, line % classes] = sums[line, 0]
            slope, bend = slope_and_bend_of_cells(pair_counts(counts, seconds, smoothing), sums)
        else:
            cells = count_pair(first, second, seconds, labels, weights, counts)
            slope, bend = slope_and_bend(pair_counts(counts, seconds, smoothing), cells, labels, weights, chances)
        gains[index] = slope * slope / (2 * bend) if slope > 0 and bend > 0 else 0.0


@inlined
def moments_of_rows(labels: IntArray, weights: FloatArray, chances: FloatArray) -> FloatArray:
    """What of rows of one cell and class need only be added up, float64[row, moment], where rows weigh one or nothing.

    The row itself; of each other class, in order, its chance c and c (1 - c); and the products of two such chances.
    Rows without chances are only counted. Of two classes these are three numbers, of three six.
    """
    others = chances.shape[1] - 1
    moments = np.zeros((len(labels), 1 + 2 * others + others * (others - 1) // 2))
    own = np.empty(others)
    for row in range(len(labels)):
        moments[row, 0] = weights[row]
        if row >= len(chances) or weights[row] == 0.0:
            continue
        for place in range(others):
            own[place] = chances[row, place if place < labels[row] else place + 1]
        at = 1 + 2 * others
        for place in range(others):
            moments[row, 1 + place] = own[place]
            moments[row, 1 + others + place] = own[place] * (1.0 - own[place])
            for later in range(place + 1, others):
                moments[row, at] = own[place] * own[later]
                at += 1
    return moments


@inlined
def sum_in_cells(
    first: IntArray,
    second: IntArray,
    seconds: int,
    classes: int,
    labels: IntArray,
    moments: FloatArray,
    sums: FloatArray,
) -> None:
    """Add up the moments[row], which are three or six, of rows of one cell and class in sums[cell * classes + class].

    Written out: a loop over so few costs more than their sums.
    """
    are_six = moments.shape[1] == 6
    for row in range(len(moments)):
        if first[row] >= 0 and second[row] >= 0:
            place = np.uint64((np.int64(first[row]) * seconds + second[row]) * classes + labels[row])
            sums[place, 0] += moments[row, 0]
            sums[place, 1] += moments[row, 1]
            sums[place, 2] += moments[row, 2]
            if are_six:
                sums[place, 3] += moments[row, 3]
                sums[place, 4] += moments[row, 4]
                sums[place, 5] += moments[row, 5]


@inlined
def slope_and_bend_of_cells(seen: PairCounts, sums: FloatArray) -> tuple[float, float]:
    """The same as `slope_and_bend`, of few classes: of rows of a cell and class the pair says the same."""
    classes = len(seen.rows)
    firsts, seconds, others = len(seen.by_first), len(seen.by_second), classes - 1
    scale, scale_without = seen.rows / (seen.rows + HALF) ** 2, (seen.rows - 1) / (seen.rows - 1 + HALF) ** 2
    by_first, by_second = seen.by_first + HALF / firsts, seen.by_second + HALF / seconds
    ratios, ahead = np.empty(classes), np.empty(others)
    slope, bend = 0.0, 0.0
    for first in range(firsts):
        for second in range(seconds):
            cell, total = first * seconds + second, 0.0
            for label in range(classes):
                count, together = seen.cells[cell, label], by_first[first, label] * by_second[second, label]
                ratios[label] = (count + seen.smoothing) / (scale[label] * together + seen.smoothing)
                total += count
            if total <= 1.0:
                continue
            for label in range(classes):
                count, place = seen.cells[cell, label], cell * classes + label
                if count < 1.0:
                    continue
                expected = scale_without[label] * (by_first[first, label] - 1) * (by_second[second, label] - 1)
                own, at = (expected + seen.smoothing) / (count - 1 + seen.smoothing), 1 + 2 * others
                for index in range(others):
                    ahead[index] = np.log(ratios[index if index < label else index + 1] * own)
                    slope -= ahead[index] * sums[place, 1 + index]
                    bend += ahead[index] * ahead[index] * sums[place, 1 + others + index]
                for index in range(others):
                    for later in range(index + 1, others):
                        bend -= 2 * ahead[index] * ahead[later] * sums[place, at]
                        at += 1
    return slope, bend


@inlined
def slope_and_bend(
    seen: PairCounts, cells: IntArray, labels: IntArray, weights: FloatArray, chances: FloatArray
) -> tuple[float, float]:
    """The slope of the log likelihood of the first rows along what a pair says of each without it, and how it bends."""
    rows, classes = chances.shape
    table, own = np.empty_like(seen.cells), np.empty_like(seen.cells)
    fill_pair_table(seen, table, 0.0)
    fill_pair_table(seen, own, 1.0)
    totals = seen.cells.sum(axis=1)
    slope, bend = 0.0, 0.0
    for row in range(rows):
        cell, label, weight = cells[row], labels[row], weights[row]
        if cell < 0 or totals[cell] <= weight:
            continue
        mean, square = 0.0, 0.0
        for other in range(classes):
            part = chances[row, other] * table[cell, other]
            mean += part
            square += part * table[cell, other]
        said = own[cell, label] if weight == 1.0 else pair_term(seen, cell, label, weight)
        mean += chances[row, label] * (said - table[cell, label])
        square += chances[row, label] * (said * said - table[cell, label] * table[cell, label])
        slope += weight * (said - mean)
        bend += weight * (square - mean * mean)
    return slope, bend
