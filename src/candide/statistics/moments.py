"""Sums and sums of squares by column and class, learned in place and exactly.

>>> column = np.array([[1e300], [1.0], [-1e300]])
>>> weight, total, square = moments(column, np.zeros(3, np.int64), classes=1)
>>> float(total.to_float()[0, 0])
1.0
"""

import numpy as np
from numpy.typing import NDArray

from candide.kernels import slices as kernels
from candide.statistics.exact import HEADROOM, Digits, ExactSums, frozen
from candide.statistics.row_weights import CHUNK, EachRow, RowWeights

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FEWEST_SLICED = 32
"""Fewer rows than this are added value by value: cutting them into slices would cost more."""

LARGEST_BLOCK = 1 << 20
"""Values in a sliced block, at most: its list of strays must stay small."""


class InfiniteValue(ValueError):
    """A value that has no place in a sum; `row` and `column` say where it stands, counted from 0."""

    def __init__(self, row: int, column: int) -> None:
        super().__init__(row, column)
        self.row = row
        self.column = column

    def __str__(self) -> str:
        return f"row {self.row}, column {self.column} is infinite"


class MomentsBuilder:
    """Learns Σw, Σw·x and Σw·x² per (column, class), in place and exactly. NaN is missing and adds nothing."""

    def __init__(self, columns: int, classes: int) -> None:
        self.columns = columns
        self.classes = classes
        self._weight = Digits((columns, classes))
        self._total = Digits((columns, classes))
        self._square = Digits((columns, classes))
        self._additions = 0
        self._room: kernels.SliceRoom | None = None

    def learn(self, values: Floats, labels: Integers, weights: Integers | Floats | None = None) -> None:
        """Add rows float64[n, columns] with labels below `classes`.

        Weights are whole numbers up to 2**62 or finite doubles, not negative. An infinite value raises
        `InfiniteValue` and nothing is learned.
        """
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
        for accumulator in (self._weight, self._total, self._square):
            accumulator.grow(classes)
        self.classes = classes
        self._room = None

    def freeze(self) -> tuple[ExactSums, ExactSums, ExactSums]:
        """Σw, Σw·x and Σw·x², each of shape [columns, classes]."""
        return self._weight.freeze(), self._total.freeze(), self._square.freeze()

    def _add(self, values: Floats, labels: Integers, weights: RowWeights) -> None:
        rows = block_rows(self.columns) // weights.heaviest_light
        step = CHUNK if values.flags.c_contiguous else rows
        for start in range(0, len(values), step):
            chunk = slice(start, start + step)
            block = row_major(values[chunk])
            few = min(len(block), rows) < max(FEWEST_SLICED, 4 * self.classes)
            add = self._add_few if few else self._add_many
            added = add(block, labels[chunk], weights, weights.rows(start, start + len(block)), rows)
            if added < len(block):
                self._add(values[: start + added], labels[: start + added], weights.negated())
                row, column = np.argwhere(np.isinf(values[start + added :]))[0]
                raise InfiniteValue(start + added + int(row), int(column))

    def _add_few(self, block: Floats, labels: Integers, weights: RowWeights, each: EachRow, rows: int) -> int:
        """Add rows value by value; give how many were added, none if a value is infinite."""
        lowest, highest = kernels.survey_rows(block)
        if highest == kernels.INFINITE:
            return 0
        self._reach(lowest, highest, weights, len(block))
        kernels.add_rows(kernels.WeighedRows(block, labels, *each), self._sums())
        return len(block)

    def _add_many(self, block: Floats, labels: Integers, weights: RowWeights, each: EachRow, rows: int) -> int:
        """Add rows in sliced blocks; give how many were added before a block with an infinite value."""
        room = self._room = self._room or slice_room(self.columns, self.classes)
        weighed = kernels.WeighedRows(block, labels, *each)
        self._reach(0, -1, weights, len(block))
        added = 0
        while added < len(block):
            reach = added, rows, weights.lowest_bit, weights.highest_bit
            added, lowest, highest = kernels.learn_blocks(weighed, reach, room, self._sums())
            if highest == kernels.INFINITE:
                break
            self._reach(lowest, highest, weights, 0)
        return added

    def _reach(self, lowest: int, highest: int, weights: RowWeights, rows: int) -> None:
        """Make room for the sums of so many rows whose bits lie between lowest and highest."""
        down, up = weights.lowest_bit, weights.highest_bit
        self._weight.reach(down, up)
        if lowest <= highest:
            self._total.reach(lowest + down, highest + up)
            self._square.reach(2 * lowest + down, 2 * highest + up)
        self._additions += 16 * (rows + 1)
        if self._additions > HEADROOM:
            for accumulator in (self._weight, self._total, self._square):
                accumulator.settle()
            self._additions = 16 * (rows + 1)

    def _sums(self) -> kernels.MomentWindows:
        return kernels.MomentWindows(self._weight.window, self._total.window, self._square.window)


def moments(
    values: Floats, labels: Integers, classes: int, weights: Integers | Floats | None = None
) -> tuple[ExactSums, ExactSums, ExactSums]:
    """Σw, Σw·x and Σw·x² of rows, each of shape [columns, classes]."""
    builder = MomentsBuilder(np.shape(values)[1], classes)
    builder.learn(values, labels, weights)
    return builder.freeze()


def block_rows(columns: int) -> int:
    """How many rows to slice at once."""
    return max(FEWEST_SLICED, min(kernels.HEAVIEST_BLOCK, LARGEST_BLOCK // max(1, columns)))


def slice_room(columns: int, classes: int) -> kernels.SliceRoom:
    """Room to slice blocks of so many columns."""
    tiles = -(-columns // kernels.WIDTH)
    return kernels.SliceRoom(
        np.zeros((5, kernels.WIDTH)),
        np.zeros((tiles, classes, kernels.SLOTS * kernels.WIDTH)),
        np.zeros(block_rows(columns) * columns + 1, np.int64),
    )


def checked_rows(values: Floats, labels: Integers, columns: int, classes: int) -> tuple[Floats, Integers]:
    """Rows and labels as kernels take them, or an error."""
    values = np.asarray(values, dtype=np.float64)
    labels = np.ascontiguousarray(labels, dtype=np.int64)
    if values.ndim != 2 or values.shape[1] != columns:
        raise ValueError(f"expected rows of {columns} columns, not an array of shape {values.shape}")
    if labels.shape != values.shape[:1]:
        raise ValueError(f"{len(values)} rows need as many labels, not an array of shape {labels.shape}")
    if not kernels.labels_fit(labels, classes):
        raise ValueError(f"labels must lie between 0 and {classes - 1}")
    return values, labels


def row_major(values: Floats) -> Floats:
    """The values as a contiguous, read-only array: one kind of array means one compiled kernel."""
    return frozen(np.ascontiguousarray(values))
