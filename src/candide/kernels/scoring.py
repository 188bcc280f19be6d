"""The loops that score: what each value of a row says about each class, added into joint[row, class].

Every row is summed by itself, column after column, so its answer has the same bits in any batch.
"""

from __future__ import annotations

import numpy as np

from candide.data.arrays import AnyArray, BoolArray, FloatArray, IntArray
from candide.kernels import compiled, inlined

TILE = 64
"""Rows scored side by side."""

LANES = 4
"""Classes added up side by side."""

FAR = 1e140
"""Standard deviations beyond which a square would come near the largest double."""

ROOT_HALF = 0.7071067811865476


@compiled
def add_lookup(codes: IntArray, table: FloatArray, joint: FloatArray) -> None:
    """Add table[codes[row], class]; a negative code says nothing."""
    for row in range(len(codes)):
        code = codes[row]
        if code >= 0:
            for label in range(joint.shape[1]):
                joint[row, label] += table[code, label]


@compiled
def add_code_rows(codes: IntArray, offsets: IntArray, table: FloatArray, joint: FloatArray) -> bool:
    """Several code columns at once: column j looks into rows offsets[j] to offsets[j + 1] of table.

    A code outside its column's rows says nothing; the answer tells whether all codes were from 0 up. The last row of
    table must be all zero, and its width a multiple of LANES, at least the number of classes.
    """
    rows, columns = codes.shape
    classes = joint.shape[1]
    nothing = table.shape[0] - 1
    signs = np.int64(0)
    for row in range(rows):
        line = codes[row]
        for first in range(0, classes, LANES):
            one, two, three, four = 0.0, 0.0, 0.0, 0.0
            for column in range(columns):
                code, start = line[column], offsets[column]
                signs |= code
                slot = start + code if np.uint64(code) < np.uint64(offsets[column + 1] - start) else nothing
                one += table[slot, first]
                two += table[slot, first + 1]
                three += table[slot, first + 2]
                four += table[slot, first + 3]
            joint[row, first] += one
            if first + 1 < classes:
                joint[row, first + 1] += two
            if first + 2 < classes:
                joint[row, first + 2] += three
            if first + 3 < classes:
                joint[row, first + 3] += four
    return bool(signs >= 0)


@compiled
def add_sparse(
    indptr: IntArray, indices: IntArray, data: AnyArray, table: FloatArray, joint: FloatArray
) -> None:
    """Add data * table[slot, class] over the stored entries of each CSR row; zeros and NaN say nothing."""
    classes = joint.shape[1]
    sums = np.empty(classes)
    for row in range(len(indptr) - 1):
        for label in range(classes):
            sums[label] = joint[row, label]
        for index in range(indptr[row], indptr[row + 1]):
            count = data[index]
            if count == count and count != 0:
                slot = np.int64(indices[index])
                for label in range(classes):
                    sums[label] += count * table[slot, label]
        for label in range(classes):
            joint[row, label] = sums[label]


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
def byte_tables(no: FloatArray, yes: FloatArray) -> FloatArray:
    """What every pattern of eight neighbouring truths says, as table[group, pattern, class] for `add_truth_bytes`.

    no and yes are [column, class]; column 8 * group + bit is a yes where the pattern has that bit.
    """
    columns, classes = yes.shape
    tables = np.zeros(((columns + 7) // 8, 256, classes))
    for column in range(columns):
        group, bit = column // 8, column % 8
        for pattern in range(256):
            for label in range(classes):
                tables[group, pattern, label] += yes[column, label] if pattern >> bit & 1 else no[column, label]
    return tables


@compiled
def add_truth_bytes(values: FloatArray, threshold: float, tables: FloatArray, joint: FloatArray) -> None:
    """Add yes where values[row, column] > threshold, else no, eight columns at a time by way of `byte_tables`."""
    rows, columns = values.shape
    classes = joint.shape[1]
    whole = columns // 8
    for row in range(rows):
        line = values[row]
        for group in range(whole):
            index = 8 * group
            pattern = (
                (line[index] > threshold)
                | ((line[index + 1] > threshold) << 1)
                | ((line[index + 2] > threshold) << 2)
                | ((line[index + 3] > threshold) << 3)
                | ((line[index + 4] > threshold) << 4)
                | ((line[index + 5] > threshold) << 5)
                | ((line[index + 6] > threshold) << 6)
                | ((line[index + 7] > threshold) << 7)
            )
            for label in range(classes):
                joint[row, label] += tables[group, pattern, label]
        if 8 * whole < columns:
            pattern = 0
            for bit in range(columns - 8 * whole):
                pattern |= (line[8 * whole + bit] > threshold) << bit
            for label in range(classes):
                joint[row, label] += tables[whole, pattern, label]


@compiled
def add_gaussian(
    values: FloatArray, mean: FloatArray, inverse: FloatArray, constant: FloatArray, joint: FloatArray
) -> bool:
    """Add constant - z^2 / 2 with z = (x - mean) * inverse; parameters are [column, class].

    Values that are not finite say nothing; the answer is whether all were finite. Where z^2 would overflow it grows
    like a logarithm instead, so that the order of the classes is kept however far a value lies. Columns are taken two
    by two, and every row in the same order, so that it has the same bits whatever its neighbours hold.
    """
    rows, columns = values.shape
    classes = joint.shape[1]
    finite = True
    left, right = np.zeros(TILE), np.zeros(TILE)
    silent = np.zeros(TILE, np.bool_)
    sums = np.zeros((classes, TILE))
    heights = np.ascontiguousarray(constant.T)
    constants = np.zeros(classes)
    for label in range(classes):
        constants[label] = constant_of(np.zeros(0), heights[label])
    for first in range(0, rows, TILE):
        size = min(TILE, rows - first)
        sums[:] = 0.0
        silent[:] = False
        left[size:], right[size:] = 0.0, 0.0
        for column in range(0, columns, 2):
            other = min(column + 1, columns - 1)
            single = ROOT_HALF if other > column else 0.0
            for i in range(size):
                left[i] = values[first + i, column]
                right[i] = values[first + i, other]
            gaps = False
            for i in range(TILE):
                gaps |= (left[i] - left[i] != 0.0) | (right[i] - right[i] != 0.0)
            if gaps:
                finite = False
                for i in range(size):
                    silent[i] |= (left[i] - left[i] != 0.0) | (right[i] - right[i] != 0.0)
            for label in range(classes):
                centre, scale = mean[column, label], inverse[column, label] * ROOT_HALF
                other_mean, stretch = mean[other, label], inverse[other, label] * single
                mine = sums[label]
                if gaps:
                    for i in range(size):
                        one, two = (left[i] - centre) * scale, (right[i] - other_mean) * stretch
                        mine[i] += one * one if left[i] - left[i] == 0.0 else 0.0
                        mine[i] += two * two if right[i] - right[i] == 0.0 else 0.0
                else:
                    for i in range(TILE):
                        one, two = (left[i] - centre) * scale, (right[i] - other_mean) * stretch
                        mine[i] = (mine[i] + one * one) + two * two
        for label in range(classes):
            for i in range(size):
                squares = sums[label, i]
                if not squares < FAR:
                    squares = careful_squares(values[first + i], mean[:, label], inverse[:, label])
                height = constant_of(values[first + i], heights[label]) if silent[i] else constants[label]
                joint[first + i, label] += height - squares
    return finite


@inlined
def constant_of(row: FloatArray, constant: FloatArray) -> float:
    """The constants of the columns that a row has a finite value for, in order; of all where the row is empty."""
    total = 0.0
    for column in range(len(constant)):
        if len(row) == 0 or row[column] - row[column] == 0.0:
            total += constant[column]
    return total


@inlined
def careful_squares(row: FloatArray, mean: FloatArray, inverse: FloatArray) -> float:
    """The squares of one row and class of `add_gaussian`, however far the values lie."""
    total = 0.0
    for column in range(len(row)):
        if row[column] - row[column] == 0.0:
            total += far_square(row[column], mean[column], inverse[column] * ROOT_HALF)
    return total


@inlined
def far_square(value: float, centre: float, scale: float) -> float:
    """z^2 for any doubles: beyond z = FAR, FAR^2 times one plus log(z / FAR)."""
    z = (value - centre) * scale
    if abs(z) < FAR:
        return z * z
    gap = abs(value * 0.25 - centre * 0.25)
    return FAR * FAR * (1.0 + (np.log(gap) + np.log(scale) + np.log(4.0) - np.log(FAR)))


@compiled
def argmax_rows(joint: FloatArray, fallback: int, best: IntArray) -> None:
    """The first largest class of each row, into best[row]; the fallback where every class is at -inf."""
    for row in range(joint.shape[0]):
        winner, most = fallback, -np.inf
        for label in range(joint.shape[1]):
            better = joint[row, label] > most
            winner = label if better else winner
            most = joint[row, label] if better else most
        best[row] = winner


@compiled
def add_evidence(score: FloatArray, factor: FloatArray, scores: FloatArray, informed: BoolArray) -> None:
    """Add factor[row] * score[row, class] to scores, and note in informed[row] where it tells classes apart."""
    for row in range(score.shape[0]):
        differs = False
        for label in range(score.shape[1]):
            scores[row, label] += factor[row] * score[row, label]
            differs |= score[row, label] != score[row, 0]
        informed[row] |= differs
