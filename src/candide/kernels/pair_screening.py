"""Which pairs of columns might tell more than their parts: one Newton step for each, over all rows.

Pairs are ranked by what they say once over, which rows in their cells need not hold back.
"""

from __future__ import annotations

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.kernels import compiled
from candide.kernels.pair_terms import PairCounts, fill_pair_table, pair_counts, pair_term


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
    residuals = weights[: len(chances)] * (labels[: len(chances)] - chances[:, classes - 1])
    bends = weights[: len(chances)] * chances[:, 0] * chances[:, classes - 1]
    is_alike = classes == 2
    for row in range(len(weights)):
        is_alike &= weights[row] == 0.0 or weights[row] == 1.0
    for index in range(len(pairs)):
        one, other = pairs[index]
        first, second, seconds = bins[one], bins[other], widths[other]
        counts = np.zeros((widths[one] * seconds, classes))
        if is_alike:
            sums = np.zeros((len(counts), 2, 2))
            sum_in_cells(first, second, seconds, labels, residuals, bends, sums)
            count_pair(first, second, seconds, labels, weights, counts)
            slope, bend = slope_and_bend_of_two(pair_counts(counts, seconds, smoothing), sums)
        else:
            cells = count_pair(first, second, seconds, labels, weights, counts)
            slope, bend = slope_and_bend(pair_counts(counts, seconds, smoothing), cells, labels, weights, chances)
        gains[index] = slope * slope / (2 * bend) if slope > 0 and bend > 0 else 0.0


@compiled
def sum_in_cells(
    first: IntArray,
    second: IntArray,
    seconds: int,
    labels: IntArray,
    residuals: FloatArray,
    bends: FloatArray,
    sums: FloatArray,
) -> None:
    """Add up residuals and bends of the first rows in sums[cell, class, 0] and [cell, class, 1]."""
    for row in range(len(residuals)):
        if first[row] >= 0 and second[row] >= 0:
            cell, label = np.int64(first[row]) * seconds + second[row], labels[row]
            sums[cell, label, 0] += residuals[row]
            sums[cell, label, 1] += bends[row]


@compiled
def slope_and_bend_of_two(seen: PairCounts, sums: FloatArray) -> tuple[float, float]:
    """The same of two classes and rows that weigh one: of those of a cell and class all that counts is the same."""
    table, own = np.empty_like(seen.cells), np.empty_like(seen.cells)
    fill_pair_table(seen, table, 0.0)
    fill_pair_table(seen, own, 1.0)
    slope, bend = 0.0, 0.0
    for cell in range(len(table)):
        if seen.cells[cell, 0] + seen.cells[cell, 1] > 1.0:
            for label in range(2):
                said = table[cell, 1] - own[cell, 0] if label == 0 else own[cell, 1] - table[cell, 0]
                slope += said * sums[cell, label, 0]
                bend += said * said * sums[cell, label, 1]
    return slope, bend


@compiled
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
