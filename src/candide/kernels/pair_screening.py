"""Which pairs of columns might tell more than their parts: one Newton step for each, over all rows."""

from __future__ import annotations

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.kernels import compiled
from candide.kernels.pair_terms import add_pair_terms_without, pair_counts


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
    rows, classes = chances.shape
    judges, said = labels[:rows], np.empty((rows, classes))
    for index in range(len(pairs)):
        one, other = pairs[index]
        counts = np.zeros((widths[one] * widths[other], classes))
        cells = count_pair(bins[one], bins[other], widths[other], labels, weights, counts)
        said[:] = 0.0
        seen = pair_counts(counts, widths[other], smoothing)
        add_pair_terms_without(seen, cells[:rows], judges, weights[:rows], said)
        slope, bend = 0.0, 0.0
        for row in range(rows):
            if cells[row] < 0:
                continue
            mean, square = 0.0, 0.0
            for label in range(classes):
                mean += chances[row, label] * said[row, label]
                square += chances[row, label] * said[row, label] ** 2
            slope += weights[row] * (said[row, labels[row]] - mean)
            bend += weights[row] * (square - mean * mean)
        gains[index] = slope * slope / (2 * bend) if slope > 0 and bend > 0 else 0.0
