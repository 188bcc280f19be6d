"""The loss of scores that are weighed sums, its slope, and the roots of its curvature: convex, so weights are sure.

A cell is a class of a row, those of row i are i * classes and what follows. What is done to every cell is done to all
of some rows at one stroke, as many at a time as a processor takes.
"""

from __future__ import annotations

import numpy as np

from candide.data.arrays import FloatArray
from candide.kernels import compiled, inlined
from candide.kernels.calibrating import exponential, product_sum

CELLS_AT_ONCE = 2048
"""So many cells are worked on at a time: they, and what one term says of them, stay in the fastest memory."""


@compiled
def fill_scores(terms: FloatArray, start: FloatArray, at: FloatArray, first: int, scores: FloatArray) -> None:
    """Fill scores[cell], from the `first` on, with start[cell] + the sum of at[term] * terms[term, cell]."""
    last = first + len(scores)
    scores[:] = start[first:last]
    for term in range(len(at)):
        factor, said = at[term], terms[term, first:last]
        for cell in range(len(scores)):
            scores[cell] += factor * said[cell]


@compiled
def fill_chances(scores: FloatArray, classes: int, chances: FloatArray) -> None:
    """Fill chances[cell] with P(class) of rows by their scores[cell], of which the largest of its row is taken."""
    rows = len(scores) // classes
    for row in range(rows):
        most = scores[row * classes]
        for label in range(1, classes):
            most = max(most, scores[row * classes + label])
        for label in range(classes):
            scores[row * classes + label] -= most
    for cell in range(len(scores)):
        chances[cell] = exponential(scores[cell])
    for row in range(rows):
        total = 0.0
        for label in range(classes):
            total += chances[row * classes + label]
        for label in range(classes):
            chances[row * classes + label] /= total


@compiled
def weighed_chances(terms: FloatArray, start: FloatArray, at: FloatArray, classes: int, chances: FloatArray) -> None:
    """Fill chances[cell] with P(class) of rows by scores of start[cell] + the sum of at[term] * terms[term, cell]."""
    scores, at_once = np.empty(len(start)), max(1, CELLS_AT_ONCE // classes) * classes
    for first in range(0, len(start), at_once):
        here = scores[first : first + at_once]
        fill_scores(terms, start, at, first, here)
        fill_chances(here, classes, chances[first : first + at_once])


@compiled
def weighed_loss(
    terms: FloatArray,
    start: FloatArray,
    targets: FloatArray,
    row_weights: FloatArray,
    at: FloatArray,
    rows: tuple[int, int],
    slope: FloatArray,
    roots: FloatArray,
) -> float:
    """The sum over some rows of -weight log P(label), where scores are start + the sum of at[term] * terms[term].

    terms float64[term, cell], start float64[cell], at float64[term]; targets float64[cell] are the shares of a row that
    count as each class, and add up to one; `rows` are the first and the one after the last. slope[term] becomes the
    slope, and roots[term, cell], where it has any, such that their products with themselves add up to the second
    derivatives: cells are counted from those of the first row, and of two classes there is one root for each row.
    """
    classes, loss = len(start) // max(1, len(row_weights)), 0.0
    at_once, begin, end = max(1, CELLS_AT_ONCE // max(1, classes)) * classes, rows[0] * classes, rows[1] * classes
    room, more = np.empty(at_once), np.empty(at_once)
    slope[:] = 0.0
    for first in range(begin, end, at_once):
        last = min(first + at_once, end)
        scores, chances = room[: last - first], more[: last - first]
        fill_scores(terms, start, at, first, scores)
        fill_chances(scores, classes, chances)
        loss += loss_of_cells(row_weights[first // classes : last // classes], targets[first:last], scores, chances)
        for term in range(len(slope)):
            slope[term] += product_sum(scores, terms[term, first:last])
        if roots.shape[1]:
            fill_roots(terms, row_weights, chances, first, begin, roots)
    return loss


@inlined
def loss_of_cells(row_weights: FloatArray, targets: FloatArray, scores: FloatArray, chances: FloatArray) -> float:
    """The loss of some rows by scores[cell] below the best of their row, which become its slopes by the scores."""
    classes, loss = len(scores) // len(row_weights), 0.0
    for row in range(len(row_weights)):
        weight, behind, best = row_weights[row], 0.0, 0.0
        for label in range(classes):
            cell = row * classes + label
            behind -= targets[cell] * scores[cell]
            best = max(best, chances[cell])
            scores[cell] = weight * (chances[cell] - targets[cell])
        loss += weight * (behind - np.log(best))
    return loss


@inlined
def fill_roots(
    terms: FloatArray, row_weights: FloatArray, chances: FloatArray, first: int, origin: int, roots: FloatArray
) -> None:
    """Fill roots[term, cell - origin] of the cells from the `first` on, whose classes have these chances.

    Of two classes the second would add what the first does: there is one root for each row.
    """
    classes, last = terms.shape[1] // len(row_weights), first + len(chances)
    rows, begin = len(chances) // classes, first // classes
    scales, means = np.empty(len(chances)), np.empty(rows)
    for row in range(rows):
        for label in range(classes):
            chance = chances[row * classes + label]
            scales[row * classes + label] = np.sqrt(row_weights[begin + row] * chance)
    for term in range(len(terms)):
        said = terms[term, first:last]
        if classes == 2:
            found = roots[term, begin - origin // 2 : begin - origin // 2 + rows]
            for row in range(rows):
                scale = scales[2 * row] * np.sqrt(chances[2 * row + 1])
                found[row] = scale * (said[2 * row] - said[2 * row + 1])
            continue
        found = roots[term, first - origin : last - origin]
        means[:] = 0.0
        for label in range(classes):
            for row in range(rows):
                means[row] += chances[row * classes + label] * said[row * classes + label]
        for row in range(rows):
            for label in range(classes):
                cell = row * classes + label
                found[cell] = scales[cell] * (said[cell] - means[row])
