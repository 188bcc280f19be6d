"""Exact sums of doubles: the same rows give the same bits, in any order and any split.

`ExactSums` is an array of sums, frozen, that can be added and subtracted without rounding. `MomentsBuilder` and
`CrossBuilder` learn rows in place and freeze into such arrays.

>>> import numpy as np
>>> column = np.array([[1e300], [1.0], [-1e300]])
>>> weight, total, square = moments(column, np.zeros(3, np.int64), classes=1)
>>> float(total.to_float()[0, 0])
1.0
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from candide.kernels import exact as kernels

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Shape = tuple[int, ...]
_RowWeights = tuple[Integers, Integers, Floats]

CROSS_ROWS = 2048
"""Most rows, counted with their weights, in one exact matrix product of slices."""

FEWEST_SLICED = 32
"""Fewer rows than this are added value by value: cutting them into slices would cost more."""

HEAVIEST_SLICED = 16
"""Rows of a larger or fractional weight are added value by value."""

CHUNK = 1 << 16
"""Rows handed to a kernel in one call."""

LARGEST_BLOCK = 1 << 20
"""Values in a sliced block, at most: its list of strays must stay small."""

HEADROOM = 1 << 29
"""Additions an accumulator takes before its carries must move; 2^29 · 2^32 is well inside an int64."""


class InfiniteValue(ValueError):
    """A value that has no place in a sum; `row` and `column` say where it stands, counted from 0."""

    def __init__(self, row: int, column: int) -> None:
        super().__init__(row, column)
        self.row = row
        self.column = column

    def __str__(self) -> str:
        return f"row {self.row}, column {self.column} is infinite"


@dataclass(frozen=True, eq=False)
class ExactSums:
    """An array of exact sums, each Σᵢ digits[..., i] · 2^(32 (low + i)).

    The form is canonical: the digits of one sum share its sign, each is below 2^32, and no outer digit plane is all
    zero. So equal sums have equal arrays.

    >>> import numpy as np
    >>> tenths = ExactSums.of(np.array([0.1, 0.2]))
    >>> (tenths + tenths - tenths) == tenths
    True
    """

    digits: Integers
    low: int

    def __post_init__(self) -> None:
        digits = np.ascontiguousarray(self.digits, dtype=np.int64).view()
        digits.flags.writeable = False
        object.__setattr__(self, "digits", digits)

    @classmethod
    def zeros(cls, shape: int | Shape) -> "ExactSums":
        """Sums to which nothing was added."""
        return cls(np.zeros((*_shape(shape), 0), np.int64), 0)

    @classmethod
    def of(cls, values: Floats) -> "ExactSums":
        """Each double as a sum of its own."""
        values = np.asarray(values, dtype=np.float64)
        if not np.isfinite(values).all():
            raise ValueError("only finite numbers can be summed")
        accumulator = _Accumulator(values.shape)
        magnitudes = np.abs(values[values != 0.0])
        if magnitudes.size:
            accumulator.reach(_lowest_bit(float(magnitudes.min())), _highest_bit(float(magnitudes.max())))
        kernels.place_doubles(_frozen(values.ravel()), accumulator.low, _flat(accumulator.digits))
        return accumulator.freeze()

    @classmethod
    def settled(cls, digits: Integers, low: int) -> "ExactSums":
        """The canonical form of loose digits, each at most 2^62 in magnitude; `digits` may be overwritten.

        Every sum must fit the window: its last planes take the carries.
        """
        digits = np.ascontiguousarray(digits)
        kernels.settle(_flat(digits))
        return cls._trimmed(digits, low)

    @classmethod
    def _trimmed(cls, digits: Integers, low: int) -> "ExactSums":
        first, last = kernels.occupied(_flat(digits))
        return cls(digits[..., first:last], low + first if last else 0)

    @property
    def shape(self) -> Shape:
        """The shape of the array of sums, without the digits."""
        return tuple(self.digits.shape[:-1])

    @property
    def high(self) -> int:
        """One past the place of the last digit."""
        return self.low + int(self.digits.shape[-1])

    def __add__(self, other: "ExactSums") -> "ExactSums":
        return self._combine(other, 1)

    def __sub__(self, other: "ExactSums") -> "ExactSums":
        return self._combine(other, -1)

    def _combine(self, other: "ExactSums", sign: int) -> "ExactSums":
        if self.shape != other.shape:
            raise ValueError(f"sums of shapes {self.shape} and {other.shape} cannot be combined")
        filled = [sums for sums in (self, other) if sums.digits.shape[-1]] or [self]
        low = min(sums.low for sums in filled)
        width = max(sums.high for sums in filled) - low + 1
        out = np.zeros((*self.shape, width), np.int64)
        kernels.combine(_flat(self.digits), self.low - low, _flat(other.digits), other.low - low, sign, _flat(out))
        return self._trimmed(out, low)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExactSums):
            return NotImplemented
        return self.low == other.low and np.array_equal(self.digits, other.digits)

    def __hash__(self) -> int:
        return hash((self.shape, self.low, self.digits.tobytes()))

    def take(self, positions: Integers, axis: int = 0) -> "ExactSums":
        """The sums at these positions along an axis."""
        return self._trimmed(np.take(self.digits, positions, axis=self._axis(axis)), self.low)

    def spread(self, positions: Integers, size: int, axis: int = 0) -> "ExactSums":
        """The same sums at these distinct positions along an axis of the given size, with zeros elsewhere."""
        axis = self._axis(axis)
        if len(np.unique(positions)) != len(positions) or len(positions) != self.shape[axis]:
            raise ValueError("spread needs one position of its own for every sum along the axis")
        shape = list(self.digits.shape)
        shape[axis] = size
        digits = np.zeros(shape, np.int64)
        digits[(slice(None),) * axis + (positions,)] = self.digits
        return ExactSums(digits, self.low)

    def sum(self, axis: int = 0, keepdims: bool = False) -> "ExactSums":
        """The sums added along an axis, which may hold up to 2^29 of them."""
        added = self.digits.sum(axis=self._axis(axis), keepdims=keepdims)
        spare = np.zeros((*added.shape[:-1], 2), np.int64)
        return self.settled(np.concatenate([added, spare], axis=-1), self.low)

    def signs(self) -> NDArray[np.int8]:
        """−1, 0 or 1 for each sum."""
        signs: NDArray[np.int8] = np.sign(self.digits.sum(axis=-1)).astype(np.int8)
        return signs

    def integers(self) -> tuple[NDArray[np.object_], int]:
        """Whole numbers and one exponent: each sum is its number times 2**exponent."""
        numbers = np.zeros(self.shape, dtype=object)
        for plane in range(self.digits.shape[-1]):
            numbers = numbers + self.digits[..., plane].astype(object) * (1 << (32 * plane))
        return np.asarray(numbers, dtype=object), 32 * self.low

    def to_float(self) -> Floats:
        """The nearest double to each sum, ties to even; infinite where a sum is beyond the range of doubles."""
        bits = np.empty(math.prod(self.shape), np.int64)
        kernels.to_doubles(_flat(self.digits), self.low, bits)
        return bits.view(np.float64).reshape(self.shape)

    def _axis(self, axis: int) -> int:
        dimensions = len(self.shape)
        if not -dimensions <= axis < dimensions:
            raise ValueError(f"axis {axis} does not exist in sums of shape {self.shape}")
        return axis % dimensions


class _Accumulator:
    """Digits that are added to in place; the window widens when a number does not fit."""

    def __init__(self, shape: Shape) -> None:
        self.digits = np.zeros((*shape, 0), np.int64)
        self.low = 0

    def reach(self, lowest_bit: int, highest_bit: int) -> None:
        """Make room for numbers between these powers of two, and for the carries of 2^63 of them."""
        low, high = lowest_bit // 32, highest_bit // 32 + 3
        width = self.digits.shape[-1]
        if width and self.low <= low and high <= self.low + width:
            return
        if width:
            low, high = min(low, self.low), max(high, self.low + width)
        wider = np.zeros((*self.digits.shape[:-1], high - low), np.int64)
        wider[..., self.low - low : self.low - low + width] = self.digits
        self.digits, self.low = wider, low

    def settle(self) -> None:
        """Move the carries, so that another HEADROOM additions fit."""
        kernels.settle(_flat(self.digits))

    def grow(self, classes: int) -> None:
        """Make the last axis longer, with sums of zero."""
        *outer, before, width = self.digits.shape
        longer = np.zeros((*outer, classes, width), np.int64)
        longer[..., :before, :] = self.digits
        self.digits = longer

    def freeze(self) -> ExactSums:
        return ExactSums.settled(self.digits.copy(), self.low)


@dataclass(frozen=True)
class _Weights:
    """Row weights as kernels want them: mantissa · 2^exponent; and in `light` where slices take the row, else 0."""

    mantissas: Integers
    exponents: Integers
    light: Floats
    lowest_bit: int
    highest_bit: int
    heaviest_light: int
    same_in_every_block: bool = False

    def rows(self, start: int, stop: int) -> _RowWeights:
        """The weights of rows start to stop, at most CHUNK of them."""
        if self.same_in_every_block:
            start, stop = 0, stop - start
        return self.mantissas[start:stop], self.exponents[start:stop], self.light[start:stop]

    def negated(self) -> "_Weights":
        """The weights that take the same rows away again."""
        if self is _ONE:
            return _MINUS_ONE
        return replace(self, mantissas=-self.mantissas, light=-self.light)

    @classmethod
    def constant(cls, sign: int) -> "_Weights":
        """Every row weighs 1, or −1 when it is taken away."""
        size = CHUNK
        whole = np.full(size, sign, np.int64)
        return cls(whole, np.zeros(size, np.int64), whole.astype(np.float64), 0, 1, 1, True)

    @classmethod
    def of(cls, weights: Integers | Floats | None, rows: int) -> "_Weights":
        """Check the weights a caller gave."""
        if weights is None:
            return _ONE
        given: NDArray[Any] = np.asarray(weights)
        if given.shape != (rows,):
            raise ValueError(f"{rows} rows need as many weights, not an array of shape {given.shape}")
        mantissas, exponents = _split_weights(given)
        light = np.where((exponents == 0) & (mantissas <= HEAVIEST_SLICED), mantissas, 0)
        seen = mantissas != 0
        if not seen.any():
            return cls(mantissas, exponents, light.astype(np.float64), 0, 1, 1)
        highest = int((np.frexp(mantissas[seen].astype(np.float64))[1] + exponents[seen]).max())
        return cls(
            mantissas,
            exponents,
            light.astype(np.float64),
            int(exponents[seen].min()),
            highest,
            max(1, int(light.max())),
        )


def _split_weights(weights: NDArray[Any]) -> tuple[Integers, Integers]:
    """Write each weight as mantissa · 2^exponent, whole ones below 2^53 with exponent 0."""
    if weights.dtype.kind in "iub":
        if weights.size and (weights.min() < 0 or weights.max() > 1 << 62):
            raise ValueError("whole weights must lie between 0 and 2**62")
        return weights.astype(np.int64), np.zeros(weights.shape, np.int64)
    weights = weights.astype(np.float64)
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError("weights must be finite and not negative")
    fractions, exponents = np.frexp(weights)
    whole = (weights == np.floor(weights)) & (weights < 2.0**53)
    mantissas = np.where(whole, weights, np.ldexp(fractions, 53))
    return mantissas.astype(np.int64), np.where(whole, 0, exponents.astype(np.int64) - 53)


_ONE = _Weights.constant(1)
_MINUS_ONE = _Weights.constant(-1)


class MomentsBuilder:
    """Learns Σw, Σw·x and Σw·x² per (column, class), in place and exactly. NaN is missing and adds nothing."""

    def __init__(self, columns: int, classes: int) -> None:
        self.columns = columns
        self.classes = classes
        self._weight = _Accumulator((columns, classes))
        self._total = _Accumulator((columns, classes))
        self._square = _Accumulator((columns, classes))
        self._additions = 0
        self._scratch = np.zeros((5, kernels.WIDTH))
        self._slices = np.zeros((0, 0, 0))
        self._strays = np.zeros(0, np.int64)

    def learn(self, values: Floats, labels: Integers, weights: Integers | Floats | None = None) -> None:
        """Add rows float64[n, columns] with labels below `classes`.

        Weights are whole numbers up to 2**62 or finite doubles, not negative. An infinite value raises
        `InfiniteValue` and nothing is learned.
        """
        values, labels = _checked(values, labels, self.columns, self.classes)
        self._add(values, labels, _Weights.of(weights, len(values)))

    def forget(self, values: Floats, labels: Integers, weights: Integers | Floats | None = None) -> None:
        """Take rows away: the exact inverse of learning them."""
        values, labels = _checked(values, labels, self.columns, self.classes)
        self._add(values, labels, _Weights.of(weights, len(values)).negated())

    def grow(self, classes: int) -> None:
        """Add classes at the end, up to this many."""
        if classes < self.classes:
            raise ValueError(f"cannot shrink from {self.classes} classes to {classes}")
        for accumulator in (self._weight, self._total, self._square):
            accumulator.grow(classes)
        self.classes = classes
        self._slices = np.zeros((0, 0, 0))

    def freeze(self) -> tuple[ExactSums, ExactSums, ExactSums]:
        """Σw, Σw·x and Σw·x², each of shape [columns, classes]."""
        return self._weight.freeze(), self._total.freeze(), self._square.freeze()

    def _add(self, values: Floats, labels: Integers, weights: _Weights) -> None:
        rows = _block_rows(self.columns) // weights.heaviest_light
        step = CHUNK if values.flags.c_contiguous else rows
        for start in range(0, len(values), step):
            chunk = slice(start, start + step)
            block = _row_major(values[chunk])
            few = min(len(block), rows) < max(FEWEST_SLICED, 4 * self.classes)
            add = self._add_few if few else self._add_many
            added = add(block, labels[chunk], weights, weights.rows(start, start + len(block)), rows)
            if added < len(block):
                self._add(values[: start + added], labels[: start + added], weights.negated())
                row, column = np.argwhere(np.isinf(values[start + added :]))[0]
                raise InfiniteValue(start + added + int(row), int(column))

    def _add_few(self, block: Floats, labels: Integers, weights: _Weights, each: _RowWeights, rows: int) -> int:
        """Add rows value by value; give how many were added, none if a value is infinite."""
        lowest, highest = kernels.survey_rows(block)
        if highest == kernels.INFINITE:
            return 0
        self._reach(lowest, highest, weights, len(block))
        kernels.add_rows(block, labels, each[0], each[1], *self._digits())
        return len(block)

    def _add_many(self, block: Floats, labels: Integers, weights: _Weights, each: _RowWeights, rows: int) -> int:
        """Add rows in sliced blocks; give how many were added before a block with an infinite value."""
        if not self._slices.size:
            tiles = -(-self.columns // kernels.WIDTH)
            self._slices = np.zeros((tiles, self.classes, kernels.SLOTS * kernels.WIDTH))
            self._strays = np.zeros(_block_rows(self.columns) * self.columns + 1, np.int64)
        self._reach(0, -1, weights, len(block))
        added = 0
        while added < len(block):
            added, lowest, highest = kernels.learn_blocks(
                block,
                labels,
                each[0],
                each[1],
                each[2],
                (added, rows, weights.lowest_bit, weights.highest_bit),
                self._scratch,
                self._slices,
                self._strays,
                *self._digits(),
            )
            if highest == kernels.INFINITE:
                break
            self._reach(lowest, highest, weights, 0)
        return added

    def _reach(self, lowest: int, highest: int, weights: _Weights, rows: int) -> None:
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

    def _digits(self) -> tuple[Integers, int, Integers, int, Integers, int]:
        weight, total, square = self._weight, self._total, self._square
        return weight.digits, weight.low, total.digits, total.low, square.digits, square.low


def moments(
    values: Floats, labels: Integers, classes: int, weights: Integers | Floats | None = None
) -> tuple[ExactSums, ExactSums, ExactSums]:
    """Σw, Σw·x and Σw·x² of rows, each of shape [columns, classes]."""
    builder = MomentsBuilder(np.shape(values)[1], classes)
    builder.learn(values, labels, weights)
    return builder.freeze()


class CrossBuilder:
    """Learns Σw, Σw·x and Σw·x_j·x_k per class over the rows without NaN, in place and exactly."""

    PARTS = 4

    def __init__(self, columns: int, classes: int) -> None:
        self.columns = columns
        self.classes = classes
        self._weight = _Accumulator((classes,))
        self._total = _Accumulator((columns, classes))
        self._product = _Accumulator((columns * (columns + 1) // 2, classes))
        self._additions = 0

    def learn(self, values: Floats, labels: Integers, weights: Integers | Floats | None = None) -> None:
        """Add rows float64[n, columns]; a row with a NaN adds nothing, an infinite value raises `InfiniteValue`."""
        values, labels = _checked(values, labels, self.columns, self.classes)
        self._add(values, labels, _Weights.of(weights, len(values)))

    def forget(self, values: Floats, labels: Integers, weights: Integers | Floats | None = None) -> None:
        """Take rows away: the exact inverse of learning them."""
        values, labels = _checked(values, labels, self.columns, self.classes)
        self._add(values, labels, _Weights.of(weights, len(values)).negated())

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

    def _add(self, values: Floats, labels: Integers, weights: _Weights) -> None:
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
                self._add_class(
                    np.ascontiguousarray(block[here]),
                    int(label),
                    mantissas[here],
                    exponents[here],
                    light[here],
                )

    def _reach(self, block: Floats, weights: _Weights) -> None:
        lowest, highest = weights.lowest_bit, weights.highest_bit
        self._weight.reach(lowest, highest)
        magnitudes = np.abs(block[block != 0.0])
        if magnitudes.size:
            down, up = _lowest_bit(float(magnitudes.min())), _highest_bit(float(magnitudes.max()))
            self._total.reach(down + lowest, up + highest)
            self._product.reach(2 * down + lowest, 2 * up + highest)
        self._additions += 8 * len(block) + 8
        if self._additions > HEADROOM:
            for accumulator in (self._weight, self._total, self._product):
                accumulator.settle()
            self._additions = 8 * len(block) + 8

    def _add_class(self, block: Floats, label: int, mantissas: Integers, exponents: Integers, light: Floats) -> None:
        entry = self._weight.digits[label]
        kernels.add_weights(entry, self._weight.low, mantissas, exponents)
        done = mantissas == 0
        if len(block) >= FEWEST_SLICED:
            done |= self._add_slices(block, label, light)
        total, product = self._total, self._product
        kernels.add_cross_rows(
            block, mantissas, exponents, done, label, total.digits, total.low, product.digits, product.low
        )

    def _add_slices(self, block: Floats, label: int, light: Floats) -> NDArray[np.bool_]:
        """Add by matrix products the rows that slices can hold, and say which they were."""
        rows = len(block)
        slices = np.zeros((-(-rows // 4) * 4, self.PARTS, self.columns))
        splitters, limits = np.empty((self.PARTS, self.columns)), np.empty(self.columns)
        fits = np.empty(rows, np.bool_)
        largest = np.abs(block).max(axis=0)
        kernels.choose_splitters(largest, self.columns, kernels.CROSS_BITS, splitters, limits)
        kernels.slice_block(block, splitters, limits, slices, fits)
        fits &= light != 0.0
        flat = slices.reshape(len(slices), -1)
        heavy = np.zeros_like(flat)
        heavy[:rows] = flat[:rows] * light[:, None]
        gram = np.empty((flat.shape[1], flat.shape[1]))
        kernels.multiply_slices(heavy, flat, gram)
        parts = gram.reshape(self.PARTS, self.columns, self.PARTS, self.columns)
        kernels.add_vectors(heavy.sum(axis=0).reshape(self.PARTS, -1), self._total.digits, self._total.low, label)
        kernels.add_gram(parts, self._product.digits, self._product.low, label)
        return fits


def _block_rows(columns: int) -> int:
    return max(FEWEST_SLICED, min(kernels.HEAVIEST_BLOCK, LARGEST_BLOCK // max(1, columns)))


def _checked(values: Floats, labels: Integers, columns: int, classes: int) -> tuple[Floats, Integers]:
    values = np.asarray(values, dtype=np.float64)
    labels = np.ascontiguousarray(labels, dtype=np.int64)
    if values.ndim != 2 or values.shape[1] != columns:
        raise ValueError(f"expected rows of {columns} columns, not an array of shape {values.shape}")
    if labels.shape != values.shape[:1]:
        raise ValueError(f"{len(values)} rows need as many labels, not an array of shape {labels.shape}")
    if not kernels.labels_fit(labels, classes):
        raise ValueError(f"labels must lie between 0 and {classes - 1}")
    return values, labels


def _row_major(values: Floats) -> Floats:
    """The values as a contiguous, read-only array: one kind of array means one compiled kernel."""
    return _frozen(np.ascontiguousarray(values))


def _frozen(values: Floats) -> Floats:
    view = values.view()
    view.flags.writeable = False
    return view


def _flat(digits: Integers) -> Integers:
    return digits.reshape(math.prod(digits.shape[:-1]), digits.shape[-1])


def _shape(shape: int | Shape) -> Shape:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def _lowest_bit(value: float) -> int:
    return max(math.frexp(value)[1] - 53, -1074)


def _highest_bit(value: float) -> int:
    return math.frexp(value)[1]
