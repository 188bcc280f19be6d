"""What two columns say together beyond what each says by itself, from counts of their cells.

Cells are numbered first * seconds + second, where the columns have `firsts` and `seconds` bins; a negative cell is
missing. Counts are float64[cell, class]. With so many rows in a class, and P(a) and P(b) the shares of its bins,

    term = log (count + smoothing) - log (expected + smoothing),    expected = rows P(a) P(b).

Independent columns, a class without rows and a cell that no row of any class is in say nothing. A pair may be believed
several times over, but evidence of n rows puts no class further behind the best one than log (n + 1) + 4.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.kernels import compiled

HALF = 0.5
"""A bin's share is that of its rows and of half a row dealt evenly to all bins: none is zero."""
BEYOND_ROWS = 4.0
"""So many nats more than the logarithm of its rows a cell may say for one class over another."""


class PairCounts(NamedTuple):
    """Rows by cell, by bin of either column, and in all, of each class; and how they become shares.

    cells float64[firsts * seconds, class], by_first float64[firsts, class], by_second float64[seconds, class], rows
    float64[class].
    """

    cells: FloatArray
    by_first: FloatArray
    by_second: FloatArray
    rows: FloatArray
    smoothing: float


@compiled
def pair_counts(cells: FloatArray, seconds: int, smoothing: float) -> PairCounts:
    """The counts with their sums by bin and in all."""
    slots, classes = cells.shape
    by_first, by_second = np.zeros((slots // seconds, classes)), np.zeros((seconds, classes))
    rows = np.zeros(classes)
    for first in range(slots // seconds):
        for second in range(seconds):
            for label in range(classes):
                count = cells[first * seconds + second, label]
                by_first[first, label] += count
                by_second[second, label] += count
                rows[label] += count
    return PairCounts(cells, by_first, by_second, rows, smoothing)


@compiled
def pair_term(seen: PairCounts, cell: int, label: int, without: float) -> float:
    """What a cell says for a class, once a row of that cell and class with such a weight has left."""
    firsts, seconds = len(seen.by_first), len(seen.by_second)
    rows = seen.rows[label] - without
    first = (seen.by_first[cell // seconds, label] - without + HALF / firsts) / (rows + HALF)
    second = (seen.by_second[cell % seconds, label] - without + HALF / seconds) / (rows + HALF)
    together = seen.cells[cell, label] - without
    return float(np.log((together + seen.smoothing) / (rows * first * second + seen.smoothing)))


@compiled
def believe(terms: FloatArray, rows: FloatArray, strength: float) -> None:
    """Multiply terms[cell, class] by a strength, as far as the rows[cell] behind them support it, in place."""
    cells, classes = terms.shape
    for cell in range(cells if classes else 0):
        best, last = terms[cell, 0], terms[cell, 0]
        for label in range(1, classes):
            best, last = max(best, terms[cell, label]), min(last, terms[cell, label])
        least = strength * best - BEYOND_ROWS
        if strength * last < least:
            least = strength * best - np.log(max(rows[cell], 0.0) + 1.0) - BEYOND_ROWS
        for label in range(classes):
            terms[cell, label] = max(strength * terms[cell, label], least)


@compiled
def fill_pair_table(seen: PairCounts, table: FloatArray, without: float) -> None:
    """What each cell says for each class, into table[cell, class], once a row of that class and cell has left.

    Nothing where no row is left in the cell, of whichever class.
    """
    classes, firsts, seconds = len(seen.rows), len(seen.by_first), len(seen.by_second)
    rows = seen.rows - without
    by_first = rows * ((seen.by_first - without + HALF / firsts) / (rows + HALF))
    by_second = (seen.by_second - without + HALF / seconds) / (rows + HALF)
    for first in range(firsts):
        for second in range(seconds):
            cell, total = first * seconds + second, 0.0
            for label in range(classes):
                total += seen.cells[cell, label]
            for label in range(classes):
                together = seen.cells[cell, label] - without
                table[cell, label] = 0.0
                if total > without and together >= 0.0:
                    expected = by_first[first, label] * by_second[second, label]
                    table[cell, label] = np.log((together + seen.smoothing) / (expected + seen.smoothing))


@compiled
def add_pair_terms_without(
    seen: PairCounts, cells: IntArray, labels: IntArray, weights: FloatArray, joint: FloatArray
) -> None:
    """Add to joint[row, class] what the cell of each row says without it.

    Only the row's own class changes, unless the row was alone in its cell: then it says nothing.
    """
    table, own = np.empty_like(seen.cells), np.empty_like(seen.cells)
    fill_pair_table(seen, table, 0.0)
    fill_pair_table(seen, own, 1.0)
    totals = seen.cells.sum(axis=1)
    for row in range(len(cells)):
        cell, label = cells[row], labels[row]
        if cell < 0 or totals[cell] <= weights[row]:
            continue
        for other in range(joint.shape[1]):
            joint[row, other] += table[cell, other]
        left = own[cell, label] if weights[row] == 1.0 else pair_term(seen, cell, label, weights[row])
        joint[row, label] += left - table[cell, label]


@compiled
def rows_beside(seen: PairCounts, cells: IntArray, weights: FloatArray) -> FloatArray:
    """How many other rows are in the cell of each; none where it is in no cell."""
    totals, found = seen.cells.sum(axis=1), np.zeros(len(cells))
    for row in range(len(cells)):
        if cells[row] >= 0:
            found[row] = totals[cells[row]] - weights[row]
    return found


@compiled
def add_pair_of_row(
    table: IntArray, order: IntArray, seconds: int, smoothing: float, strength: float, cell: int, joint: FloatArray
) -> None:
    """Add to joint[class] what a cell says, of whole counts table[cell, class]; `order` lists the classes there are."""
    counts = np.empty((len(table), len(order)))
    for slot in range(len(table)):
        for place in range(len(order)):
            counts[slot, place] = table[slot, order[place]]
    rows = counts[cell].sum()
    if rows > 0:
        seen, terms = pair_counts(counts, seconds, smoothing), np.empty((1, len(order)))
        for place in range(len(order)):
            terms[0, place] = pair_term(seen, cell, place, 0.0)
        believe(terms, np.array([rows]), strength)
        for place in range(len(order)):
            joint[order[place]] += terms[0, place]
