"""The loops that score: what each value of a row says about each class, added into joint[row, class].

Every row is summed by itself, column after column, so its answer has the same bits in any batch.
"""

from __future__ import annotations

import numpy as np

from candide.arrays import AnyArray, FloatArray, IntArray
from candide.kernels import compiled

TILE = 64


@compiled
def add_lookup(codes: IntArray, table: FloatArray, joint: FloatArray) -> None:
    """Add table[codes[row], class]; a negative code says nothing."""
    for row in range(len(codes)):
        code = codes[row]
        if code >= 0:
            for label in range(joint.shape[1]):
                joint[row, label] += table[code, label]


@compiled
def add_code_rows(codes: AnyArray, offsets: IntArray, table: FloatArray, joint: FloatArray) -> None:
    """Several code columns at once: column j looks into table from row offsets[j] on."""
    rows, columns = codes.shape
    classes = joint.shape[1]
    for row in range(rows):
        for column in range(columns):
            slot = offsets[column] + codes[row, column]
            for label in range(classes):
                joint[row, label] += table[slot, label]


@compiled
def add_sparse(
    indptr: AnyArray, indices: AnyArray, data: AnyArray, table: FloatArray, joint: FloatArray
) -> None:
    """Add data * table[slot, class] over the stored entries of each CSR row; zeros and NaN say nothing."""
    for row in range(len(indptr) - 1):
        for place in range(indptr[row], indptr[row + 1]):
            count = data[place]
            if count == count and count != 0:
                slot = indices[place]
                for label in range(joint.shape[1]):
                    joint[row, label] += count * table[slot, label]


@compiled
def add_dense(values: AnyArray, table: FloatArray, joint: FloatArray) -> None:
    """Add values[row, slot] * table[slot, class]; zeros and NaN say nothing, so that 0 * -inf does no harm."""
    rows, slots = values.shape
    for row in range(rows):
        for slot in range(slots):
            count = values[row, slot]
            if count == count and count != 0:
                for label in range(joint.shape[1]):
                    joint[row, label] += count * table[slot, label]


@compiled
def add_truths(values: FloatArray, threshold: float, no: FloatArray, yes: FloatArray, joint: FloatArray) -> None:
    """Add yes[column, class] where values[row, column] > threshold, else no[column, class]; nothing where NaN."""
    rows, columns = values.shape
    classes = joint.shape[1]
    tile = np.empty(TILE)
    sums = np.empty((classes, TILE))
    for first in range(0, rows, TILE):
        size = min(TILE, rows - first)
        for label in range(classes):
            for i in range(size):
                sums[label, i] = joint[first + i, label]
        for column in range(columns):
            for i in range(size):
                tile[i] = values[first + i, column]
            for label in range(classes):
                above, below = yes[column, label], no[column, label]
                for i in range(size):
                    value = tile[i]
                    sums[label, i] += above if value > threshold else (below if value == value else 0.0)
        for label in range(classes):
            for i in range(size):
                joint[first + i, label] = sums[label, i]


@compiled
def add_gaussian(
    values: FloatArray, mean: FloatArray, inverse: FloatArray, constant: FloatArray, joint: FloatArray
) -> None:
    """Add constant - z^2 / 2 with z = (x - mean) * inverse; parameters are [column, class].

    Values that are not finite say nothing. Where z^2 would overflow it grows like a logarithm instead, so that
    the order of the classes is kept however far a value lies.
    """
    rows, columns = values.shape
    classes = joint.shape[1]
    tile = np.empty(TILE)
    known = np.empty(TILE)
    sums = np.empty((classes, TILE))
    for first in range(0, rows, TILE):
        size = min(TILE, rows - first)
        for label in range(classes):
            for i in range(size):
                sums[label, i] = joint[first + i, label]
        for column in range(columns):
            largest = 0.0
            for i in range(size):
                value = values[first + i, column]
                finite = value - value == 0.0
                tile[i] = value if finite else 0.0
                known[i] = 1.0 if finite else 0.0
                largest = max(largest, abs(tile[i]))
            for label in range(classes):
                centre, scale, top = mean[column, label], inverse[column, label], constant[column, label]
                if (largest + abs(centre)) * scale < 1e140:
                    for i in range(size):
                        z = (tile[i] - centre) * scale
                        sums[label, i] += known[i] * (top - 0.5 * (z * z))
                else:
                    for i in range(size):
                        if known[i] != 0.0:
                            sums[label, i] += top - 0.5 * far_square(tile[i], centre, scale)
        for label in range(classes):
            for i in range(size):
                joint[first + i, label] = sums[label, i]


@compiled
def far_square(value: float, centre: float, scale: float) -> float:
    """z^2 for any doubles: beyond z = 1e140, 1e280 times one plus log(z / 1e140)."""
    gap = abs(value * 0.25 - centre * 0.25)
    z = gap * scale * 4.0
    if z < 1e140:
        return z * z
    return 1e280 * (1.0 + (np.log(gap) + np.log(scale) + np.log(4.0) - 140.0 * np.log(10.0)))


@compiled
def argmax_rows(joint: FloatArray, best: IntArray) -> None:
    """The first largest class of each row, into best[row]."""
    for row in range(joint.shape[0]):
        winner = 0
        for label in range(1, joint.shape[1]):
            if joint[row, label] > joint[row, winner]:
                winner = label
        best[row] = winner
