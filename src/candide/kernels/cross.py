"""Sums of products of columns, in slices that never round."""

import numpy as np
from numpy.typing import NDArray

from candide.kernels import compiled
from candide.kernels.digits import Window, add_double, add_integer, add_product, add_weighted, exponent_of, mantissa_of
from candide.kernels.slices import WeighedRows

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

CROSS_BITS = 20
"""Slices for cross sums are one bit shorter, as four of their products are added together."""


@compiled
def slice_block(block: Floats, splitters: Floats, limits: Floats, slices: Floats, fits: NDArray[np.bool_]) -> None:
    """Cut float64[rows, columns] into slices float64[rows, parts, columns]; zero a row that leaves a residue.

    `splitters` is float64[parts, columns]; fits[row] says whether the row was cut without residue.
    """
    rows, columns = block.shape
    for row in range(rows):
        fits[row] = True
        for column in range(columns):
            rest = block[row, column]
            for part in range(splitters.shape[0]):
                piece = (rest + splitters[part, column]) - splitters[part, column]
                slices[row, part, column] = piece
                rest = rest - piece
            fits[row] &= (rest == 0.0) & (abs(block[row, column]) <= limits[column])
        if not fits[row]:
            slices[row] = 0.0


@compiled
def add_vectors(sums: Floats, total: Window, label: int) -> None:
    """Add slice sums float64[parts, columns] to the digits of total[columns, label]."""
    for part in range(sums.shape[0]):
        for column in range(sums.shape[1]):
            add_double(total.digits[column, label], total.low, sums[part, column])


@compiled
def add_weights(entry: Integers, low: int, mantissas: Integers, exponents: Integers) -> None:
    """Add every mantissa · 2^exponent to one entry's digits."""
    for row in range(mantissas.shape[0]):
        add_integer(entry, low, abs(mantissas[row]), exponents[row], mantissas[row] < 0)


@compiled
def multiply_slices(heavy: Floats, flat: Floats, gram: Floats) -> None:
    """Fill gram, float64[n, n], with heavyᵀ · flat, both float64[rows, n], where heavy is flat times row weights.

    Written out because a BLAS brings threads of its own, which fight with the engine's. The products are exact in
    any order, as the units of Ozaki et al. (2012) keep every partial sum within 2^53. `rows` is a multiple of four.
    """
    size = flat.shape[1]
    gram[:] = 0.0
    for row in range(0, flat.shape[0], 4):
        for left in range(size):
            one, two, three, four = heavy[row, left], heavy[row + 1, left], heavy[row + 2, left], heavy[row + 3, left]
            line_1, line_2, line_3, line_4 = (
                flat[row][left:],
                flat[row + 1][left:],
                flat[row + 2][left:],
                flat[row + 3][left:],
            )
            mine = gram[left][left:]
            for right in range(size - left):
                mine[right] += (one * line_1[right] + two * line_2[right]) + (
                    three * line_3[right] + four * line_4[right]
                )
    for left in range(size):
        for right in range(left):
            gram[left, right] = gram[right, left]


@compiled
def add_gram(gram: Floats, product: Window, label: int) -> None:
    """Add the slice products float64[parts, columns, parts, columns] to the digits of product[pairs, label].

    Pairs are the upper triangle row by row. Parts with the same sum of indices share one unit, so they are added
    as doubles first: at most 4 · 2^40 · 2048 = 2^53 units.
    """
    parts, columns = gram.shape[:2]
    pair = 0
    for left in range(columns):
        for right in range(left, columns):
            for depth in range(2 * parts - 1):
                added = 0.0
                for part in range(max(0, depth - parts + 1), min(depth, parts - 1) + 1):
                    added += gram[part, left, depth - part, right]
                add_double(product.digits[pair, label], product.low, added)
            pair += 1


@compiled
def add_cross_rows(rows: WeighedRows, skip: NDArray[np.bool_], total: Window, product: Window) -> None:
    """Add w·x and every w·x_j·x_k of rows not skipped to the digits of total[columns, class] and product[pairs, class].

    Pairs are the upper triangle row by row; the rows hold no NaN.
    """
    count, columns = rows.values.shape
    for row in range(count):
        if skip[row]:
            continue
        mantissa, exponent, label = rows.mantissas[row], rows.exponents[row], rows.labels[row]
        heavy, negative = abs(mantissa), mantissa < 0
        pair = 0
        for left in range(columns):
            value = rows.values[row, left]
            number, position = mantissa_of(value), exponent_of(value) + exponent
            flipped = negative != (value < 0)
            add_weighted(total.digits[left, label], total.low, heavy, number, position, flipped)
            for right in range(left, columns):
                other = rows.values[row, right]
                entry, further = product.digits[pair, label], position + exponent_of(other)
                add_product(
                    entry, product.low, heavy, number, mantissa_of(other), further, flipped != (other < 0)
                )
                pair += 1
