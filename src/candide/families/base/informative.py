"""Which of very many things set the classes apart: the words, or columns of counts, worth showing.

An event tells for a class by how often the class sees it, times how much more it says for that class than for all of
them on average: P(class) * count / total * (said for the class - said on average).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray

MOST, MOST_A_CLASS, LEAST_A_CLASS = 800, 20, 3
#: What tells less than this share of the most telling tells nothing but how numbers are rounded.
NOTHING = 1e-12
#: What is impossible is held to be this much less likely than the least of what is possible.
IMPOSSIBLE = 10.0


class EventPairs(NamedTuple):
    """What was counted of each (feature, class) pair that occurred, and what one event says there.

    `unheard[class]` is what a feature says about a class it has no pair with; what is the same for all classes is left
    out of both.
    """

    features: IntArray
    labels: AnyArray
    counts: FloatArray
    says: FloatArray
    unheard: FloatArray


def most_telling(pairs: EventPairs, prior: FloatArray, features: int) -> IntArray:
    """The most telling features, the best of each class among them, the most telling first."""
    telling = how_telling(pairs, prior, features)
    best = best_of_each(telling, pairs.labels, how_many(len(prior)))
    best = best[np.argsort(-telling[best], kind="stable")]
    found, first = np.unique(pairs.features[best], return_index=True)
    return found[np.argsort(first, kind="stable")]


def how_telling(pairs: EventPairs, prior: FloatArray, features: int) -> FloatArray:
    """What each pair adds to what an event tells: above zero where it speaks for its class."""
    says, unheard = possible(pairs.says, pairs.unheard)
    swing = np.bincount(pairs.features, prior[pairs.labels] * (says - unheard[pairs.labels]), features)
    ahead = says - (prior @ unheard + swing)[pairs.features]
    totals = np.maximum(np.bincount(pairs.labels, pairs.counts, len(prior)), 1e-300)
    return np.asarray(prior[pairs.labels] * (pairs.counts / totals[pairs.labels]) * ahead)


def possible(says: FloatArray, unheard: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The same numbers, infinite ones pulled to somewhat beyond all others."""
    if np.isfinite(unheard).all() and np.isfinite([says.min(initial=0.0), says.max(initial=0.0)]).all():
        return says, unheard
    known = np.concatenate([says, unheard])
    known = known[np.isfinite(known)]
    low, high = (known.min() - IMPOSSIBLE, known.max() + IMPOSSIBLE) if known.size else (-IMPOSSIBLE, IMPOSSIBLE)
    return np.clip(says, low, high), np.clip(unheard, low, high)


def how_many(classes: int) -> int:
    """How many features are shown of each class.

    >>> how_many(2), how_many(80), how_many(1000)
    (20, 10, 3)
    """
    return max(LEAST_A_CLASS, min(MOST_A_CLASS, MOST // max(classes, 1)))


def best_of_each(telling: FloatArray, labels: AnyArray, most: int) -> IntArray:
    """Where the largest numbers above zero of each class are; the first of equals."""
    speaking = np.flatnonzero(telling > NOTHING * telling.max(initial=0.0))
    small = labels[speaking]
    if len(small) and small.max() < 1 << 16:
        small = small.astype(np.uint16)
    order = speaking[np.argsort(small, kind="stable")]
    bounds = np.flatnonzero(np.diff(labels[order])) + 1
    return np.concatenate([largest(telling, part, most) for part in np.split(order, bounds)])


def largest(telling: FloatArray, indices: IntArray, most: int) -> IntArray:
    """Those of some features where the numbers are largest, the first of equals."""
    if len(indices) > most:
        least = np.partition(telling[indices], len(indices) - most)[len(indices) - most]
        indices = indices[telling[indices] >= least]
    return indices[np.argsort(-telling[indices], kind="stable")[:most]]


def all_pairs(counts: AnyArray, table: FloatArray) -> EventPairs:
    """Every pair of a whole table[feature, class], counted or not."""
    features, classes = table.shape
    rows, labels = np.repeat(np.arange(features), classes), np.tile(np.arange(classes), features)
    return EventPairs(rows, labels, np.asarray(counts, dtype=np.float64).ravel(), table.ravel(), np.zeros(classes))
