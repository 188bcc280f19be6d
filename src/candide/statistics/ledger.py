"""Which rows were learned, one by one: a 128-bit hash of each, and with what weight it was learned.

Sums can show that some rows were never learned; they cannot show it of every row. A ledger can: a row is in the model
exactly as often, or with the weight, that the ledger says. It tells nothing of a row to those who do not have it, but
whoever has a row, or guesses it whole, can ask whether it was learned.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from candide.data.arrays import AnyArray, IntArray
from candide.data.cached import cached_property
from candide.data.errors import ForgetRefused
from candide.statistics.weight_grid import amounts, coarsest, exceeding, in_finer_units, in_ones

BYTES = 16
HASH = np.dtype(f"S{BYTES}")
"""A hash as NumPy sorts and finds it: sixteen bytes, zeros included."""


@dataclass(frozen=True, eq=False)
class Ledger:
    """Sorted hashes of rows, each with the weight of all its copies; added and subtracted like any statistic.

    >>> monday = Ledger.of(np.array([b"row 2", b"row 1", b"row 2"], HASH))
    >>> tuesday = Ledger.of(np.array([b"row 3"], HASH))
    >>> (monday + tuesday).counts.tolist(), monday + tuesday - monday == tuesday
    ([1, 2, 1], True)
    """

    hashes: AnyArray
    units: IntArray
    bits: int = 0
    """Rows weigh so many units of 2^-bits: 1, unless a row had a weight that is not whole."""

    def __post_init__(self) -> None:
        self.hashes.flags.writeable = False
        self.units.flags.writeable = False

    @classmethod
    def empty(cls) -> Ledger:
        return cls(np.zeros(0, HASH), np.zeros(0, dtype=np.int64))

    @classmethod
    def of(cls, hashes: AnyArray, units: IntArray | None = None, bits: int = 0) -> Ledger:
        """From hashes in any order, each learned once or with so many units of 2^-bits."""
        order = np.argsort(hashes, kind="stable")
        hashes = hashes[order]
        units = np.full(len(hashes), 1 << bits, dtype=np.int64) if units is None or not len(units) else units[order]
        starts = np.flatnonzero(np.append(True, hashes[1:] != hashes[:-1])[: len(hashes)])
        return cls(hashes[starts], np.add.reduceat(units, starts) if len(starts) else units[:0], bits).canonical()

    @classmethod
    def joined(cls, parts: Iterable[Ledger]) -> Ledger:
        """The sum of any number of ledgers."""
        some = [cls.empty(), *parts]
        bits = max(part.bits for part in some)
        hashes = np.concatenate([part.hashes for part in some])
        return cls.of(hashes, np.concatenate([part.at(bits) for part in some]), bits)

    @cached_property
    def counts(self) -> AnyArray:
        """The weight of each row: whole numbers, or doubles where weights were not whole."""
        return amounts(self.units, self.bits)

    @property
    def total(self) -> Any:
        """The weight of all rows: a whole number, unless weights are not."""
        return in_ones(sum(self.units.tolist()), self.bits)

    def at(self, bits: int) -> IntArray:
        """The weight of each row in units that are as small, or smaller."""
        return in_finer_units(self.units, max(bits - self.bits, 0))

    def __len__(self) -> int:
        """How many different rows there are."""
        return len(self.hashes)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Ledger)
            and np.array_equal(self.hashes, other.hashes)
            and self.bits == other.bits
            and np.array_equal(self.units, other.units)
        )

    def __add__(self, other: Ledger) -> Ledger:
        return Ledger.joined([self, other])

    def __sub__(self, other: Ledger) -> Ledger:
        if not self.covers(other):
            raise ForgetRefused("Some of the rows to forget were never learned.")
        bits = max(self.bits, other.bits)
        units = self.at(bits).copy()
        units[np.searchsorted(self.hashes, other.hashes)] -= other.at(bits)
        return Ledger(self.hashes, units, bits).canonical()

    def covers(self, other: Ledger) -> bool:
        """Whether every row of another is here, with as much weight at least."""
        return not exceeding(other.units, other.bits, self.held(other.hashes), self.bits).any()

    def held(self, hashes: AnyArray) -> IntArray:
        """The weight of each of these rows, in units of 2^-bits."""
        if not len(self):
            return np.zeros(len(hashes), dtype=np.int64)
        indices = np.minimum(np.searchsorted(self.hashes, hashes), len(self) - 1)
        return np.where(self.hashes[indices] == hashes, self.units[indices], 0)

    def times(self, hashes: AnyArray) -> AnyArray:
        """How often each of these rows was learned, or with what weight."""
        return amounts(self.held(hashes), self.bits)

    def canonical(self) -> Ledger:
        """Without hashes that no row has any more, and in ones where all weights are whole."""
        kept, (units, bits) = self.units != 0, coarsest(self.units, self.bits)
        if bits == self.bits and kept.all():
            return self
        return Ledger(self.hashes[kept], units[kept], bits)
