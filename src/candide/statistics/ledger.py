"""Which rows were learned, one by one: a 128-bit hash of each, and how often it was learned.

Sums can show that some rows were never learned; they cannot show it of every row. A ledger can: a row is in the model
exactly as often as the ledger says. It tells nothing of a row to those who do not have it, but whoever has a row, or
guesses it whole, can ask whether it was learned.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from candide.data.arrays import AnyArray, IntArray
from candide.data.errors import ForgetRefused

BYTES = 16
HASH = np.dtype(f"S{BYTES}")
"""A hash as NumPy sorts and finds it: sixteen bytes, zeros included."""


@dataclass(frozen=True, eq=False)
class Ledger:
    """Sorted hashes of rows, each with its whole number of times; added and subtracted like any statistic.

    >>> monday = Ledger.of(np.array([b"row 2", b"row 1", b"row 2"], HASH))
    >>> tuesday = Ledger.of(np.array([b"row 3"], HASH))
    >>> (monday + tuesday).counts.tolist(), monday + tuesday - monday == tuesday
    ([1, 2, 1], True)
    """

    hashes: AnyArray
    counts: IntArray

    def __post_init__(self) -> None:
        self.hashes.flags.writeable = False
        self.counts.flags.writeable = False

    @classmethod
    def empty(cls) -> Ledger:
        return cls(np.zeros(0, HASH), np.zeros(0, dtype=np.int64))

    @classmethod
    def of(cls, hashes: AnyArray, times: IntArray | None = None) -> Ledger:
        """From hashes in any order, each learned once or so many times."""
        order = np.argsort(hashes, kind="stable")
        hashes = hashes[order]
        times = np.ones(len(hashes), dtype=np.int64) if times is None or not len(times) else times[order]
        starts = np.flatnonzero(np.append(True, hashes[1:] != hashes[:-1])[: len(hashes)])
        return cls(hashes[starts], np.add.reduceat(times, starts) if len(starts) else times[:0]).canonical()

    @classmethod
    def joined(cls, parts: Iterable[Ledger]) -> Ledger:
        """The sum of any number of ledgers."""
        some = [cls.empty(), *parts]
        return cls.of(np.concatenate([part.hashes for part in some]), np.concatenate([part.counts for part in some]))

    @property
    def total(self) -> int:
        """The weight of all rows."""
        return int(self.counts.sum())

    def __len__(self) -> int:
        """How many different rows there are."""
        return len(self.hashes)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Ledger)
            and np.array_equal(self.hashes, other.hashes)
            and np.array_equal(self.counts, other.counts)
        )

    def __add__(self, other: Ledger) -> Ledger:
        return Ledger.joined([self, other])

    def __sub__(self, other: Ledger) -> Ledger:
        if (self.times(other.hashes) < other.counts).any():
            raise ForgetRefused("Some of the rows to forget were never learned. Forget only rows that were learned.")
        counts = self.counts.copy()
        counts[np.searchsorted(self.hashes, other.hashes)] -= other.counts
        return Ledger(self.hashes, counts).canonical()

    def times(self, hashes: AnyArray) -> IntArray:
        """How often each of these rows was learned."""
        if not len(self):
            return np.zeros(len(hashes), dtype=np.int64)
        places = np.minimum(np.searchsorted(self.hashes, hashes), len(self) - 1)
        return np.where(self.hashes[places] == hashes, self.counts[places], 0)

    def canonical(self) -> Ledger:
        """Without hashes that no row has any more."""
        kept = self.counts != 0
        return self if kept.all() else Ledger(self.hashes[kept], self.counts[kept])
