"""Row weights as the exact kernels want them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
EachRow = tuple[Integers, Integers, Floats]

HEAVIEST_SLICED = 16
"""Rows of a larger or fractional weight are added value by value."""

CHUNK = 1 << 16
"""Rows handed to a kernel in one call."""


@dataclass(frozen=True)
class RowWeights:
    """Row weights as kernels want them: mantissa · 2^exponent; and in `light` where slices take the row, else 0."""

    mantissas: Integers
    exponents: Integers
    light: Floats
    lowest_bit: int
    highest_bit: int
    heaviest_light: int
    same_in_every_block: bool = False

    def rows(self, start: int, stop: int) -> EachRow:
        """The weights of rows start to stop, at most CHUNK of them."""
        if self.same_in_every_block:
            start, stop = 0, stop - start
        return self.mantissas[start:stop], self.exponents[start:stop], self.light[start:stop]

    def negated(self) -> "RowWeights":
        """The weights that take the same rows away again."""
        if self is ONE:
            return MINUS_ONE
        return replace(self, mantissas=-self.mantissas, light=-self.light)

    @classmethod
    def constant(cls, sign: int) -> "RowWeights":
        """Every row weighs 1, or −1 when it is taken away."""
        size = CHUNK
        whole = np.full(size, sign, np.int64)
        return cls(whole, np.zeros(size, np.int64), whole.astype(np.float64), 0, 1, 1, True)

    @classmethod
    def of(cls, weights: Integers | Floats | None, rows: int) -> "RowWeights":
        """Check the weights a caller gave."""
        if weights is None:
            return ONE
        given: NDArray[Any] = np.asarray(weights)
        if given.shape != (rows,):
            raise ValueError(f"{rows} rows need as many weights, not an array of shape {given.shape}")
        mantissas, exponents = split_weights(given)
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


def split_weights(weights: NDArray[Any]) -> tuple[Integers, Integers]:
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


ONE = RowWeights.constant(1)
MINUS_ONE = RowWeights.constant(-1)
