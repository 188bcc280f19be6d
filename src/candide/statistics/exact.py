"""Exact sums of doubles: the same numbers give the same bits, in any order and any split.

`ExactSums` is an array of sums, frozen, that can be added and subtracted without rounding; `Digits` are such sums in
the making.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from candide.kernels import digits as kernels

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Shape = tuple[int, ...]

HEADROOM = 1 << 29
"""Additions an accumulator takes before its carries must move; 2^29 · 2^32 is well inside an int64."""


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
        return cls(np.zeros((*as_shape(shape), 0), np.int64), 0)

    @classmethod
    def of(cls, values: Floats) -> "ExactSums":
        """Each double as a sum of its own."""
        values = np.asarray(values, dtype=np.float64)
        if not np.isfinite(values).all():
            raise ValueError("only finite numbers can be summed")
        accumulator = Digits(values.shape)
        magnitudes = np.abs(values[values != 0.0])
        if magnitudes.size:
            accumulator.reach(lowest_bit(float(magnitudes.min())), highest_bit(float(magnitudes.max())))
        kernels.place_doubles(frozen(values.ravel()), accumulator.low, flat_digits(accumulator.digits))
        return accumulator.freeze()

    @classmethod
    def settled(cls, digits: Integers, low: int) -> "ExactSums":
        """The canonical form of loose digits, each at most 2^62 in magnitude; `digits` may be overwritten.

        Every sum must fit the window: its last planes take the carries.
        """
        digits = np.ascontiguousarray(digits)
        kernels.settle(flat_digits(digits))
        return cls._trimmed(digits, low)

    @classmethod
    def _trimmed(cls, digits: Integers, low: int) -> "ExactSums":
        first, last = kernels.occupied(flat_digits(digits))
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
        mine, theirs = flat_digits(self.digits), flat_digits(other.digits)
        kernels.combine(mine, self.low - low, theirs, other.low - low, sign, flat_digits(out))
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
        written, width = np.abs(self.digits).astype("<u4").tobytes(), 4 * self.digits.shape[-1]
        numbers = np.zeros(math.prod(self.shape), dtype=object)
        if width:
            numbers[:] = [
                int.from_bytes(written[at : at + width], "little") for at in range(0, len(written), width)
            ]
        return np.asarray(numbers.reshape(self.shape) * self.signs().astype(object), dtype=object), 32 * self.low

    def to_float(self) -> Floats:
        """The nearest double to each sum, ties to even; infinite where a sum is beyond the range of doubles."""
        bits = np.empty(math.prod(self.shape), np.int64)
        kernels.to_doubles(flat_digits(self.digits), self.low, bits)
        return bits.view(np.float64).reshape(self.shape)

    def _axis(self, axis: int) -> int:
        dimensions = len(self.shape)
        if not -dimensions <= axis < dimensions:
            raise ValueError(f"axis {axis} does not exist in sums of shape {self.shape}")
        return axis % dimensions


class Digits:
    """Digits that are added to in place; the window widens when a number does not fit."""

    def __init__(self, shape: Shape) -> None:
        self.digits = np.zeros((*shape, 0), np.int64)
        self.low = 0

    @classmethod
    def over(cls, sums: ExactSums) -> "Digits":
        """Go on from sums already there, with room for carries."""
        digits = cls(sums.shape)
        digits.digits = np.concatenate([sums.digits, np.zeros((*sums.shape, 2), np.int64)], axis=-1)
        digits.low = sums.low
        return digits

    @property
    def window(self) -> kernels.Window:
        """The digits as kernels take them."""
        return kernels.Window(self.digits, self.low)

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
        kernels.settle(flat_digits(self.digits))

    def grow(self, classes: int) -> None:
        """Make the last axis longer, with sums of zero."""
        *outer, before, width = self.digits.shape
        longer = np.zeros((*outer, classes, width), np.int64)
        longer[..., :before, :] = self.digits
        self.digits = longer

    def freeze(self) -> ExactSums:
        return ExactSums.settled(self.digits.copy(), self.low)


def flat_digits(digits: Integers) -> Integers:
    """Digits as kernels take them: one line for each sum."""
    return digits.reshape(math.prod(digits.shape[:-1]), digits.shape[-1])


def as_shape(shape: int | Shape) -> Shape:
    """A shape as a tuple."""
    return (shape,) if isinstance(shape, int) else tuple(shape)


def frozen(values: Floats) -> Floats:
    """The same memory, not to be written."""
    view = values.view()
    view.flags.writeable = False
    return view


def lowest_bit(value: float) -> int:
    """The power of two of the last bit a positive double can hold."""
    return max(math.frexp(value)[1] - 53, -1074)


def highest_bit(value: float) -> int:
    """The power of two above a positive double."""
    return math.frexp(value)[1]
