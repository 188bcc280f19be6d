"""Which rows are learned and which are judged: the same folds and the same draws for every method."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from candide.data.arrays import IntArray
from candide.data.batch import Batch

SIZES = 8
SMALLEST = 10
ROWS_PER_CLASS = 2
DRAWS = ((49, 8), (199, 3), (999, 2))
"""Up to 49 rows are drawn eight times from each fold, and so on: the fewer, the more chance matters."""


@dataclass(frozen=True)
class Draw:
    """Rows to learn, and the rows of another fold to judge by."""

    size: int
    fold: int
    learned: IntArray
    tested: IntArray


@dataclass(frozen=True)
class Draws:
    """All that is drawn from some rows."""

    labels: IntArray
    fold: IntArray
    sizes: tuple[int, ...]
    seed: int

    @classmethod
    def of(cls, batch: Batch, folds: int, seed: int) -> Draws:
        """Deal the rows into folds, and decide at which sizes the curves are measured."""
        assert batch.labels is not None
        fold = shuffled_folds(batch.labels.codes, folds, seed)
        largest = len(batch) - int(np.bincount(fold).max())
        return cls(batch.labels.codes, fold, sizes_up_to(largest, len(np.unique(batch.labels.codes))), seed)

    def __iter__(self) -> Iterator[Draw]:
        """Fold by fold, and in each from few rows to all."""
        for fold in range(int(self.fold.max()) + 1):
            tested, others = np.flatnonzero(self.fold == fold), np.flatnonzero(self.fold != fold)
            orders = [self.order(others, fold, number) for number in range(DRAWS[0][1])]
            for size in self.sizes:
                for number in range(self.repeats(size)):
                    yield Draw(size, fold, np.sort(orders[number][:size]), tested)

    def order(self, rows: IntArray, fold: int, number: int) -> IntArray:
        """Rows in such an order that any first part of it has about the shares of the classes, and each class early.

        So what is learned at one size is part of what is learned at the next.
        """
        rng = np.random.default_rng((self.seed % 2**63, fold, number))
        shuffled = rng.permutation(rows)
        labels = self.labels[shuffled]
        share = np.empty(len(shuffled))
        for label in np.unique(labels):
            here = np.flatnonzero(labels == label)
            share[here] = (np.arange(len(here)) + rng.random()) / len(here)
            share[here[0]] -= 1
        return shuffled[np.argsort(share, kind="stable")]

    def repeats(self, size: int) -> int:
        """How often a size is drawn from each fold; all rows can be drawn only once."""
        return 1 if size == self.sizes[-1] else next((times for most, times in DRAWS if size <= most), 1)

    @property
    def amount(self) -> int:
        """How many rows a method learns in all."""
        folds = int(self.fold.max()) + 1
        return folds * sum(size * self.repeats(size) for size in self.sizes)


def shuffled_folds(labels: IntArray, folds: int, seed: int) -> IntArray:
    """The fold of each row: the rows of each class are shuffled and dealt out like cards, one class after the other.

    >>> shuffled_folds(np.array([0, 0, 1, 1, 1, 1]), 2, seed=0)
    array([0, 1, 1, 0, 1, 0])
    """
    shuffled = np.random.default_rng(seed % 2**63).permutation(len(labels))
    order = shuffled[np.argsort(labels[shuffled], kind="stable")]
    dealt = np.empty(len(labels), dtype=np.int64)
    dealt[order] = np.arange(len(labels)) % folds
    return dealt


def sizes_up_to(largest: int, classes: int) -> tuple[int, ...]:
    """About eight sizes, each the same factor above the one before, with two rows a class or more.

    >>> sizes_up_to(16_000, 2)
    (10, 29, 82, 240, 680, 1900, 5600, 16000)
    >>> sizes_up_to(20, 2)
    (10, 14, 20)
    """
    smallest = min(max(SMALLEST, ROWS_PER_CLASS * classes), largest)
    steps = min(SIZES, 2 + int(np.log2(largest / smallest) * 1.5))
    inner = {int(float(f"{size:.2g}")) for size in np.geomspace(smallest, largest, steps)[1:-1]}
    return tuple(sorted({smallest, *(size for size in inner if smallest < size < largest), largest}))
