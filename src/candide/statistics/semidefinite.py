"""Whether a symmetric matrix of whole numbers has no negative eigenvalue: what sums of products of rows always obey.

Doubles decide where they can be trusted, whole numbers where they cannot.
"""

from __future__ import annotations

import numpy as np

from candide.data.arrays import AnyArray, FloatArray
from candide.statistics.whole_sums import ratios

ROUNDING = 2.0**-47
"""Times the number of columns squared: more than rounding does to the eigenvalues of entries up to one."""

MOST_EXACT = 24
"""With more columns, what lies within rounding of zero is let pass: whole numbers would take seconds."""


def is_semidefinite(matrix: AnyArray) -> bool:
    """Whether no direction has a negative square.

    >>> is_semidefinite(np.array([[4, 2], [2, 1]], dtype=object))
    True
    >>> is_semidefinite(np.array([[1, 2], [2, 1]], dtype=object))
    False
    """
    square = np.diagonal(matrix)
    still = square == 0
    if (square < 0).any() or (matrix[still] != 0).any():
        return False
    matrix = matrix[np.ix_(~still, ~still)]
    if not len(matrix):
        return True
    scaled = in_powers_of_two(matrix)
    if (np.abs(scaled) > 1).any():
        return False
    least, tolerance = np.linalg.eigvalsh(scaled)[0], ROUNDING * len(matrix) ** 2
    if abs(least) > tolerance or len(matrix) > MOST_EXACT:
        return bool(least > -tolerance)
    return is_semidefinite_exactly(matrix)


def in_powers_of_two(matrix: AnyArray) -> FloatArray:
    """The matrix with column j in units of a power of two that brings its square to between 1/4 and 1; rounded once."""
    powers = np.array([(int(square).bit_length() + 1) // 2 for square in np.diagonal(matrix)], dtype=object)
    return ratios(matrix, 2 ** (powers[:, None] + powers))


def is_semidefinite_exactly(matrix: AnyArray) -> bool:
    """Elimination without fractions (Bareiss 1968), the largest square first."""
    before = 1
    while len(matrix):
        pivot = max(range(len(matrix)), key=lambda index: matrix[index, index])
        square, rest = matrix[pivot, pivot], np.arange(len(matrix)) != pivot
        if square == 0 or (np.diagonal(matrix) < 0).any():
            return not (matrix != 0).any()
        line, inner = matrix[pivot, rest], matrix[np.ix_(rest, rest)]
        matrix, before = (square * inner - line[:, None] * line) // before, square
    return True
