"""Sums of products of columns by class, learned in place and exactly."""

import numpy as np
from numpy.typing import NDArray

from candide.kernels import cross as kernels
from candide.kernels.slices import WeighedRows, choose_splitters
from candide.statistics.exact import HEADROOM, Digits, ExactSums, highest_bit, lowest_bit
from candide.statistics.moments import FEWEST_SLICED, InfiniteValue, checked_rows, row_major
from candide.statistics.row_weights import RowWeights

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

CROSS_ROWS = 2048
"""Most rows, counted with their weights, in one exact matrix product of slices."""


class CrossBuilder:
    """Learns Σw, Σw·x and Σw·x_j·x_k per class over the rows without NaN, in place and exactly."""

    PARTS = 4

    def __init__(self, columns: int, classes: int) -> None:
        self.columns = columns
        self.classes = classes
        self._weight = Digits((classes,))
        self._total = Digits((columns, classes))
        self._product = Digits((columns * (columns + 1) // 2, classes))
        self._additions = 0

    def learn(self, values: Floats, labels: Integers, weights: Integers | Floats | None = None) -> None:
        """Add rows float64[n, columns]; a row with a NaN adds nothing, an infinite value raises `InfiniteValue`."""
        values, labels = checked_rows(values, labels, self.columns, self.classes)
        self._add(values, labels, RowWeights.of(weights, len(values)))

    def forget(self, values: Floats, labels: Integers, weights: Integers | Floats | None = None) -> None:
        """Take rows away: the exact inverse of learning them."""
        values, labels = checked_rows(values, labels, self.columns, self.classes)
        self._add(values, labels, RowWeights.of(weights, len(values)).negated())

    def grow(self, classes: int) -> None:
        """Add classes at the end, up to this many."""
        if classes < self.classes:
            raise ValueError(f"cannot shrink from {self.classes} classes to {classes}")
        for accumulator in (self._weight, self._total, self._product):
            accumulator.grow(classes)
        self.classes = classes

    def freeze(self) -> tuple[ExactSums, ExactSums, ExactSums]:
        """Σw [classes], Σw·x [columns, classes] and Σw·x_j·x_k [pairs, classes], pairs j ≤ k row by row."""
        return self._weight.freeze(), self._total.freeze(), self._product.freeze()

    def _add(self, values: Floats, labels: Integers, weights: RowWeights) -> None:
        infinite = np.argwhere(np.isinf(values))
        if len(infinite):
            raise InfiniteValue(int(infinite[0, 0]), int(infinite[0, 1]))
        step = CROSS_ROWS // weights.heaviest_light
        for start in range(0, len(values), step):
            stop = min(start + step, len(values))
            complete = ~np.isnan(values[start:stop]).any(axis=1)
            block, mine = values[start:stop][complete], labels[start:stop][complete]
            mantissas, exponents, light = (part[complete] for part in weights.rows(start, stop))
            self._reach(block, weights)
            for label in np.unique(mine):
                here = mine == label
                values_here = row_major(block[here])
                weighed = WeighedRows(values_here, mine[here], mantissas[here], exponents[here], light[here])
                self._add_class(weighed, int(label))

    def _reach(self, block: Floats, weights: RowWeights) -> None:
        lowest, highest = weights.lowest_bit, weights.highest_bit
        self._weight.reach(lowest, highest)
        magnitudes = np.abs(block[block != 0.0])
        if magnitudes.size:
            down, up = lowest_bit(float(magnitudes.min())), highest_bit(float(magnitudes.max()))
            self._total.reach(down + lowest, up + highest)
            self._product.reach(2 * down + lowest, 2 * up + highest)
        self._additions += 8 * len(block) + 8
        if self._additions > HEADROOM:
            for accumulator in (self._weight, self._total, self._product):
                accumulator.settle()
            self._additions = 8 * len(block) + 8

    def _add_class(self, rows: WeighedRows, label: int) -> None:
        entry = self._weight.digits[label]
        kernels.add_weights(entry, self._weight.low, rows.mantissas, rows.exponents)
        done = rows.mantissas == 0
        if len(rows.values) >= FEWEST_SLICED:
            done |= self._add_slices(rows.values, label, rows.light)
        kernels.add_cross_rows(rows, done, self._total.window, self._product.window)

    def _add_slices(self, block: Floats, label: int, light: Floats) -> NDArray[np.bool_]:
        """Add by matrix products the rows that slices can hold, and say which they were."""
        rows = len(block)
        slices = np.zeros((-(-rows // 4) * 4, self.PARTS, self.columns))
        splitters, limits = np.empty((self.PARTS, self.columns)), np.empty(self.columns)
        fits = np.empty(rows, np.bool_)
        largest = np.abs(block).max(axis=0)
        choose_splitters(largest, self.columns, kernels.CROSS_BITS, splitters, limits)
        kernels.slice_block(block, splitters, limits, slices, fits)
        fits &= light != 0.0
        flat = slices.reshape(len(slices), -1)
        heavy = np.zeros_like(flat)
        heavy[:rows] = flat[:rows] * light[:, None]
        gram = np.empty((flat.shape[1], flat.shape[1]))
        kernels.multiply_slices(heavy, flat, gram)
        parts = gram.reshape(self.PARTS, self.columns, self.PARTS, self.columns)
        kernels.add_vectors(heavy.sum(axis=0).reshape(self.PARTS, -1), self._total.window, label)
        kernels.add_gram(parts, self._product.window, label)
        return fits
