"""Averaged one-dependence estimators: every column in turn is a parent of all others, beside the class.

The bins of all columns are numbered one after the other: bin b of column j is place `starts[j] + b`, and a row's
places are int64[column], negative where a value is missing or was never seen.
"""

from __future__ import annotations

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.kernels import compiled


@compiled
def count_together(places: IntArray, labels: IntArray, counts: FloatArray) -> None:
    """How many rows of each class hold two bins at once, added to counts float64[place, place, class].

    places int64[row, column], labels int64[row]. Where both places are one it is how many hold that bin.
    """
    for row in range(len(places)):
        for one in places[row]:
            if one >= 0:
                for other in places[row]:
                    if other >= 0:
                        counts[one, other, labels[row]] += 1.0


@compiled
def shares_given_parents(counts: FloatArray, starts: IntArray) -> None:
    """Turn counts, in place, into log P(bin of a column | parent's bin, class), (n + 1/v) / (N + 1) with v bins.

    N are the rows of the class that hold the parent's bin and any of the column's: missing values say nothing. Where
    a column is its own parent it becomes log P(class, bin), of v bins and all classes. starts int64[column + 1].
    """
    classes = counts.shape[2]
    for parent in range(len(starts) - 1):
        held = 0.0
        for place in range(starts[parent], starts[parent + 1]):
            held += counts[place, place].sum()
        for given in range(starts[parent], starts[parent + 1]):
            for column in range(len(starts) - 1):
                bins = counts[given, starts[column] : starts[column + 1]]
                for label in range(classes):
                    rows = bins[:, label].sum()
                    if column == parent:
                        own = counts[given, given, label] + 1.0 / (len(bins) * classes)
                        counts[given, given, label] = np.log(own / (held + 1.0))
                    else:
                        for place in range(len(bins)):
                            bins[place, label] = np.log((bins[place, label] + 1.0 / len(bins)) / (rows + 1.0))


@compiled
def add_up_parents(places: IntArray, shares: FloatArray, is_seen: IntArray, scores: FloatArray) -> None:
    """Log mean, over the parents that a row has, of P(class, parent) times the shares of all other columns given both.

    shares are those of `shares_given_parents`, is_seen bool[place] whether any row held a bin. Fills scores
    float64[row, class]; rows without a parent are left as they are.
    """
    columns, classes = places.shape[1], shares.shape[2]
    said = np.empty((columns, classes))
    for row in range(len(places)):
        parents = 0
        for parent in places[row]:
            if parent >= 0 and is_seen[parent]:
                said[parents] = 0.0
                for place in places[row]:
                    if place >= 0:
                        for label in range(classes):
                            said[parents, label] += shares[parent, place, label]
                parents += 1
        if parents:
            most = said[:parents].max()
            for label in range(classes):
                scores[row, label] = most + np.log(np.exp(said[:parents, label] - most).sum() / parents)
