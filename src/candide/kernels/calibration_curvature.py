"""How the loss of calibrated scores bends: what Newton's steps towards a calibration are made of.

A class that is nearly impossible for a row does not bend its loss, so only the probable ones are looked at: a few of a
hundred.
"""

from __future__ import annotations

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.kernels import compiled, inlined
from candide.kernels.calibrating import (
    LARGEST_MARGIN,
    ROUNDED,
    Coefficients,
    Scored,
    loss_of_rows,
    product_sum,
    product_sum_between,
    score_rows,
)

#: A class that is less probable than this bends the loss of a row too little to matter.
NO_BEND = 1e-4


@compiled
def add_curvature(
    rows: Scored,
    at: Coefficients,
    first: int,
    last: int,
    with_bias: bool,
    upwards: FloatArray,
    rest: FloatArray,
    roots: FloatArray,
) -> int:
    """Add the second derivatives of `loss_and_slope` by bias, log weight and power, [parameter, parameter].

    There are no powers among them where no length matters. Only halves below the diagonal are filled: `upwards` by
    what is never negative, `rest` by what may be. What each
    class of a row adds to `upwards` between weights and powers is the product of a column of
    `roots[weight or power, column]` with itself: there is room for one for each cell, and how many were filled
    is given back. Where no length matters, there are roots of weights alone. How biases bend each other is
    told where it is asked for.
    """
    count, size = last - first, rows.ends[last] - rows.ends[first]
    by_score, chances = np.empty(size), np.empty(size)
    score_rows(rows, at, first, last, by_score)
    add_corners(rows, at, first, last, by_score, rest)
    loss_of_rows(rows, first, last, by_score, chances)
    cells, shares = np.empty(size, dtype=np.int64), np.empty(size)
    ends = np.zeros(count + 1, dtype=np.int64)
    list_probable(rows, first, last, chances, cells, shares, ends)
    if with_bias:
        add_biases(rows, first, last, chances, upwards, cells, shares, ends)
    scales = np.sqrt(shares[: ends[count]])
    for block in range(len(at.weight)):
        add_block(rows, at, block, first, last, upwards, roots, cells, scales, ends)
        add_moved(rows, at, block, first, last, by_score, rest)
    return root_count(ends)


@inlined
def list_probable(
    rows: Scored, first: int, last: int, chances: FloatArray, cells: IntArray, shares: FloatArray, ends: IntArray
) -> None:
    """Note the probable classes of each row: where each is among all cells, and its probability times the row.

    Those of a row end at `ends[row + 1]`.
    """
    begin, found = rows.ends[first], 0
    for row in range(first, last):
        row_weight = rows.row_weights[row] * rows.informed[row]
        if row_weight > 0.0:
            for cell in range(rows.ends[row] - begin, rows.ends[row + 1] - begin):
                if chances[cell] > NO_BEND:
                    cells[found], shares[found] = cell, row_weight * chances[cell]
                    found += 1
        ends[row - first + 1] = found


@inlined
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
    """Add the curvature by biases."""
    classes = rows.classes[rows.ends[first] : rows.ends[last]]
    for row in range(last - first):
        for one in range(ends[row], ends[row + 1]):
            label = classes[cells[one]]
            upwards[label, label] += shares[one]
            for index in range(ends[row], one + 1):
                upwards[label, classes[cells[index]]] -= shares[one] * chances[cells[index]]


@inlined
def root_count(ends: IntArray) -> int:
    """How many roots rows have: one for each probable class, one alone for two of them."""
    found = 0
    for row in range(len(ends) - 1):
        count = ends[row + 1] - ends[row]
        found += 1 if count == 2 else count
    return found


@inlined
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
    """Fill the roots of a block, and add the curvature between it and biases; scales are roots of probabilities."""
    blocks, classes, column = len(at.weight), rows.classes[rows.ends[first] : rows.ends[last]], 0
    said, here = rows.terms[block, rows.ends[first] : rows.ends[last]], len(at.bias) + block
    factor, length = at.weight[block], 0.0
    for row in range(last - first):
        begin, end, start = ends[row], ends[row + 1], column
        if rows.has_length[block]:
            length = rows.logs[block, first + row]
            factor = at.weight[block] * np.exp(-at.power[block] * length)
        if end == begin + 2:
            scale = scales[begin] * scales[begin + 1] / np.sqrt(scales[begin] ** 2 + scales[begin + 1] ** 2)
            root = scale * factor * (said[cells[begin]] - said[cells[begin + 1]])
            one, other = classes[cells[begin]], classes[cells[begin + 1]]
            upwards[here, one] += scale * root
            upwards[here, other] -= scale * root
            if rows.has_length[block]:
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
                root = scales[cell] * factor * (said[cells[cell]] - mean / total)
                label = classes[cells[cell]]
                upwards[here, label] += scales[cell] * root
                if rows.has_length[block]:
                    upwards[here + blocks, label] -= scales[cell] * root * length
                roots[block, column] = root
                column += 1
        if len(roots) > blocks:
            for root_of_power in range(start, column):
                roots[blocks + block, root_of_power] = -length * roots[block, root_of_power]


@inlined
def add_moved(
    rows: Scored, at: Coefficients, block: int, first: int, last: int, by_score: FloatArray, rest: FloatArray
) -> None:
    """Add what a block's weight and power bend because they are an exponent: it is what they move the loss by."""
    blocks, here, begin = len(at.weight), len(at.bias) + block, rows.ends[first]
    said = rows.terms[block, begin : rows.ends[last]]
    if not rows.has_length[block]:
        rest[here, here] += at.weight[block] * product_sum(by_score, said)
        return
    for row in range(first, last):
        start, stop = rows.ends[row] - begin, rows.ends[row + 1] - begin
        length, moved = rows.logs[block, row], product_sum_between(by_score, said, start, stop)
        moved *= at.weight[block] * np.exp(-at.power[block] * length)
        rest[here, here] += moved
        rest[here + blocks, here] -= moved * length
        rest[here + blocks, here + blocks] += moved * length * length


@inlined
def counted_bend(margin: float) -> float:
    """How a margin as it counts bends: only in its two corners."""
    if abs(margin) < ROUNDED:
        return 1 / (2 * ROUNDED)
    return -1 / (2 * ROUNDED) if abs(margin - LARGEST_MARGIN) < ROUNDED else 0.0


@inlined
def add_corners(rows: Scored, at: Coefficients, first: int, last: int, scores: FloatArray, rest: FloatArray) -> None:
    """Add what margins over other classes bend in their two corners, at and below the diagonal."""
    blocks, classes, begin = len(at.weight), len(at.bias), rows.ends[first]
    with_powers = len(rest) > classes + blocks
    numbers = 2 + 2 * blocks if with_powers else 2 + blocks
    places, lead = np.empty(numbers, dtype=np.int64), np.empty(numbers)
    for row in range(first, last):
        own, scale = rows.own[row], rows.row_weights[row] * rows.label_smoothing[row] * rows.informed[row]
        if scale <= 0.0:
            continue
        for cell in range(rows.ends[row], rows.ends[row + 1]):
            bend = scale * counted_bend(scores[own - begin] - scores[cell - begin])
            if cell == own or bend == 0.0:
                continue
            places[0], places[1] = rows.classes[own], rows.classes[cell]
            lead[0], lead[1] = 1.0, -1.0
            for block in range(blocks):
                length, said = rows.logs[block, row], rows.terms[block]
                factor = at.weight[block] * np.exp(-at.power[block] * length)
                places[2 + block], lead[2 + block] = classes + block, factor * (said[own] - said[cell])
                if with_powers:
                    places[2 + blocks + block] = classes + blocks + block
                    lead[2 + blocks + block] = -length * lead[2 + block]
            add_outer_product(rest, places, lead, bend)


@inlined
def add_outer_product(matrix: FloatArray, places: IntArray, vector: FloatArray, factor: float) -> None:
    """Add factor * vector * vectorᵀ at these places, where they are at or below the diagonal."""
    for i in range(len(vector)):
        for j in range(len(vector)):
            if places[j] <= places[i]:
                matrix[places[i], places[j]] += factor * vector[i] * vector[j]


@compiled
def mirror_below(matrix: FloatArray) -> None:
    """Let matrix[i, j] above the diagonal be what is below it."""
    for i in range(len(matrix)):
        for j in range(i):
            matrix[j, i] = matrix[i, j]
