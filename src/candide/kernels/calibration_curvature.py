"""How the loss of calibrated scores bends: what Newton's steps towards a calibration are made of.

A class that is nearly impossible for a row does not bend its loss, so only the probable ones are looked at: a few of a
hundred.
"""

from __future__ import annotations

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.kernels import compiled
from candide.kernels.calibrating import (
    LARGEST_MARGIN,
    ROUNDED,
    Coefficients,
    Scored,
    loss_of_rows,
    product_sum,
    score_rows,
)

#: A class that is less probable than this bends the loss of a row too little to matter.
NO_BEND = 1e-5


@compiled
def add_curvature(
    rows: Scored, at: Coefficients, first: int, last: int, upwards: FloatArray, rest: FloatArray, roots: FloatArray
) -> int:
    """Add the second derivatives of `loss_and_slope` by bias, log weight and power, [parameter, parameter].

    Only halves below the diagonal are filled: `upwards` by what is never negative, `rest` by what may be. What each
    class of a row adds to `upwards` between weights and powers is the product of a column of
    `roots[weight or power, column]` with itself: there is room for one for each (row, class), and how many were filled
    is given back. Where no length matters, there are roots of weights alone.
    """
    classes, count = len(at.bias), last - first
    by_score, chances = np.empty((count, classes)), np.empty((count, classes))
    score_rows(rows, at, first, last, by_score)
    add_corners(rows, at, first, last, by_score, rest)
    loss_of_rows(rows, first, last, by_score, chances)
    cells, shares = np.empty(count * classes, dtype=np.int64), np.empty(count * classes)
    ends = np.zeros(count + 1, dtype=np.int64)
    add_biases(rows, first, last, chances, upwards, cells, shares, ends)
    scales = np.sqrt(shares[: ends[count]])
    for block in range(len(at.weight)):
        add_block(rows, at, block, first, last, upwards, roots, cells, scales, ends)
        add_moved(rows, at, block, first, last, by_score, rest)
    return root_count(ends)


@compiled
def add_biases(
    rows: Scored,
    first: int,
    last: int,
    chances: FloatArray,
    upwards: FloatArray,
    cells: IntArray,
    shares: FloatArray,
    ends: IntArray,
) -> None:
    """Add the curvature by biases, and note the probable classes of each row.

    Those of a row end at `ends[row + 1]`: where each is among all (row, class), and its probability times the row.
    """
    classes, found = chances.shape[1], 0
    for row in range(last - first):
        begin, row_weight = found, rows.row_weights[first + row] * rows.informed[first + row]
        for label in range(classes):
            if row_weight > 0.0 and chances[row, label] > NO_BEND:
                cells[found], shares[found] = row * classes + label, row_weight * chances[row, label]
                found += 1
        ends[row + 1] = found
        for one in range(begin, found):
            label = cells[one] - row * classes
            upwards[label, label] += shares[one]
            for index in range(begin, one + 1):
                other = cells[index] - row * classes
                upwards[label, other] -= shares[one] * chances[row, other]


@compiled
def root_count(ends: IntArray) -> int:
    """How many roots rows have: one for each probable class, one alone for two of them."""
    found = 0
    for row in range(len(ends) - 1):
        count = ends[row + 1] - ends[row]
        found += 1 if count == 2 else count
    return found


@compiled
def add_block(
    rows: Scored,
    at: Coefficients,
    block: int,
    first: int,
    last: int,
    upwards: FloatArray,
    roots: FloatArray,
    cells: IntArray,
    scales: FloatArray,
    ends: IntArray,
) -> None:
    """Add the curvature between a block and biases, and fill its roots; scales are the roots of probabilities."""
    blocks, classes, count = len(at.weight), len(at.bias), last - first
    said, here, column = rows.terms[block, first:last].reshape(count * classes), classes + block, 0
    factor, length = at.weight[block], 0.0
    for row in range(count):
        begin, end, start = ends[row], ends[row + 1], column
        if rows.has_length[block]:
            length = rows.logs[block, first + row]
            factor = at.weight[block] * np.exp(-at.power[block] * length)
        if end == begin + 2:
            scale = scales[begin] * scales[begin + 1] / np.sqrt(scales[begin] ** 2 + scales[begin + 1] ** 2)
            root = scale * factor * (said[cells[begin]] - said[cells[begin + 1]])
            one, other = cells[begin] - row * classes, cells[begin + 1] - row * classes
            upwards[here, one] += scale * root
            upwards[here, other] -= scale * root
            upwards[here + blocks, one] -= scale * root * length
            upwards[here + blocks, other] += scale * root * length
            roots[block, column] = root
            column += 1
        else:
            mean, total = 0.0, 0.0
            for cell in range(begin, end):
                mean += scales[cell] ** 2 * said[cells[cell]]
                total += scales[cell] ** 2
            for cell in range(begin, end):
                label, root = cells[cell] - row * classes, scales[cell] * factor * (said[cells[cell]] - mean / total)
                upwards[here, label] += scales[cell] * root
                upwards[here + blocks, label] -= scales[cell] * root * length
                roots[block, column] = root
                column += 1
        if len(roots) > blocks:
            for root_of_power in range(start, column):
                roots[blocks + block, root_of_power] = -length * roots[block, root_of_power]


@compiled
def add_moved(
    rows: Scored, at: Coefficients, block: int, first: int, last: int, by_score: FloatArray, rest: FloatArray
) -> None:
    """Add what a block's weight and power bend because they are an exponent: it is what they move the loss by."""
    blocks, classes, count = len(at.weight), len(at.bias), last - first
    said, flat = rows.terms[block, first:last].reshape(count * classes), by_score.reshape(count * classes)
    here = classes + block
    if not rows.has_length[block]:
        rest[here, here] += at.weight[block] * product_sum(flat, said)
        return
    for row in range(count):
        length, moved = rows.logs[block, first + row], 0.0
        for cell in range(row * classes, (row + 1) * classes):
            moved += flat[cell] * said[cell]
        moved *= at.weight[block] * np.exp(-at.power[block] * length)
        rest[here, here] += moved
        rest[here + blocks, here] -= moved * length
        rest[here + blocks, here + blocks] += moved * length * length


@compiled
def counted_bend(margin: float) -> float:
    """How a margin as it counts bends: only in its two corners."""
    if abs(margin) < ROUNDED:
        return 1 / (2 * ROUNDED)
    return -1 / (2 * ROUNDED) if abs(margin - LARGEST_MARGIN) < ROUNDED else 0.0


@compiled
def add_corners(
    rows: Scored, at: Coefficients, first: int, last: int, scores: FloatArray, rest: FloatArray
) -> None:
    """Add what margins over other classes bend in their two corners, at and below the diagonal."""
    blocks, classes = len(at.weight), len(at.bias)
    lead = np.zeros(classes + 2 * blocks)
    for row in range(first, last):
        own, scale = rows.labels[row], rows.row_weights[row] * rows.label_smoothing[row] * rows.informed[row]
        for label in range(classes):
            bend = scale * counted_bend(scores[row - first, own] - scores[row - first, label])
            if label == own or bend == 0.0:
                continue
            lead[:classes] = 0.0
            lead[own], lead[label] = 1.0, -1.0
            for block in range(blocks):
                length, said = rows.logs[block, row], rows.terms[block, row]
                factor = at.weight[block] * np.exp(-at.power[block] * length)
                lead[classes + block] = factor * (said[own] - said[label])
                lead[classes + blocks + block] = -length * lead[classes + block]
            add_outer_product(rest, lead, bend)


@compiled
def add_outer_product(matrix: FloatArray, vector: FloatArray, factor: float) -> None:
    """Add factor * vector * vectorᵀ, at and below the diagonal."""
    for i in range(len(vector)):
        scaled = factor * vector[i]
        if scaled != 0.0:
            for j in range(i + 1):
                matrix[i, j] += scaled * vector[j]
