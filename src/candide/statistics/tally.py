"""How often each slot was seen with each class: what categories, counts and truth values leave behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from candide.arrays import AnyArray, IntArray
from candide.errors import ForgetRefused, OverflowRefused

CEILING = 2**62
ROUNDING = 1e-9
"""The share of a fractional count that adding in another order may have moved."""

Slots = range | tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts[slot, class], added and subtracted exactly.

    Slots are either a fixed range, one for each place in the block, or a sorted tuple of whatever was seen: such
    a tuple grows when something new appears and shrinks when its last occurrence is forgotten.

    >>> monday = Tally(("cat", "dog"), np.array([[1, 0], [2, 2]]))
    >>> tuesday = Tally(("ant", "dog"), np.array([[5, 0], [0, 1]]))
    >>> (monday + tuesday).slots
    ('ant', 'cat', 'dog')
    >>> monday + tuesday - monday == tuesday
    True
    """

    slots: Slots
    counts: AnyArray

    def __post_init__(self) -> None:
        self.counts.flags.writeable = False

    @classmethod
    def of(cls, slots: Sequence[Any], counts: AnyArray) -> Tally:
        """Bring counts into canonical form: open slots sorted, empty ones gone."""
        if isinstance(slots, range):
            return cls(slots, counts)
        kept: list[int] = np.flatnonzero(counts.any(axis=1)).tolist()
        order = sorted(kept, key=lambda place: slots[place])
        return cls(tuple(slots[place] for place in order), counts[order])

    @property
    def exact(self) -> bool:
        """Whether counts are whole numbers; the drop-in classes may hold fractional ones."""
        return bool(self.counts.dtype == np.int64)

    @property
    def open_slots(self) -> tuple[Any, ...]:
        """The slots of a tally whose slots grow."""
        assert isinstance(self.slots, tuple)
        return self.slots

    @property
    def classes(self) -> int:
        return int(self.counts.shape[1])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Tally)
            and self.slots == other.slots
            and np.array_equal(self.counts, other.counts)
        )

    def __add__(self, other: Tally) -> Tally:
        slots, mine, theirs = self._aligned(other)
        refuse_overflow(mine, theirs)
        return Tally.of(slots, mine + theirs)

    def __sub__(self, other: Tally) -> Tally:
        slots, mine, theirs = self._aligned(other)
        left = mine - theirs
        if not (self.exact and other.exact):
            left = np.where(np.abs(left) <= ROUNDING * np.maximum(mine, theirs), 0.0, left)
        if (left < 0).any():
            slot, label = np.argwhere(left < 0)[0]
            raise ForgetRefused(
                f"{slots[slot]!r} was seen {mine[slot, label]} times with class number {label}, "
                f"so {theirs[slot, label]} cannot be forgotten. Forget only rows that were learned."
            )
        return Tally.of(slots, left)

    def impossible(self) -> str:
        """What it is about these counts that no rows could have left; nothing where some could."""
        return "a count below zero" if (self.counts < 0).any() else ""

    def _aligned(self, other: Tally) -> tuple[Sequence[Any], AnyArray, AnyArray]:
        if self.slots == other.slots:
            return self.slots, self.counts, other.counts
        slots = sorted({*self.slots, *other.slots})
        place = {slot: number for number, slot in enumerate(slots)}
        return slots, self._placed(place), other._placed(place)

    def _placed(self, place: dict[Any, int]) -> AnyArray:
        counts = np.zeros((len(place), self.classes), dtype=self.counts.dtype)
        counts[[place[slot] for slot in self.slots]] = self.counts
        return counts

    def spread(self, positions: IntArray, classes: int) -> Tally:
        """The same counts among more classes: class i moves to positions[i]."""
        counts = np.zeros((len(self.slots), classes), dtype=self.counts.dtype)
        counts[:, positions] = self.counts
        return Tally(self.slots, counts)

    def only(self, positions: IntArray) -> Tally:
        """The counts of some classes, in the given order."""
        return Tally.of(self.slots, self.counts[:, positions])

    def widened(self, before: Sequence[Any], after: Sequence[Any]) -> Tally:
        """The same counts where the block has more columns; open slots carry their column, so nothing moves."""
        if not isinstance(self.slots, range):
            return self
        groups = len(self.slots) // len(before)
        old = self.counts.reshape(groups, len(before), self.classes)
        counts = np.zeros((groups, len(after), self.classes), dtype=self.counts.dtype)
        counts[:, [after.index(column) for column in before]] = old
        return Tally(range(groups * len(after)), counts.reshape(-1, self.classes))

    def narrowed(self, before: Sequence[Any], after: Sequence[Any]) -> Tally:
        """The counts of fewer columns."""
        if not isinstance(self.slots, range):
            kept = [place for place, slot in enumerate(self.slots) if slot[0] in set(after)]
            return Tally(tuple(self.slots[place] for place in kept), self.counts[kept])
        groups, places = len(self.slots) // len(before), [before.index(column) for column in after]
        counts = self.counts.reshape(groups, len(before), self.classes)[:, places]
        return Tally(range(groups * len(after)), counts.reshape(-1, self.classes))


def outnumber(counts: AnyArray, rows: IntArray) -> bool:
    """Whether counts[slot, class], of which a row adds to one slot at most, are more than the rows of a class."""
    beyond = (counts.sum(axis=0, dtype=np.float64) > 1.5 * CEILING).any()
    return bool(beyond or (counts.sum(axis=0) > rows).any())


def refuse_overflow(mine: AnyArray, theirs: AnyArray) -> None:
    """Raise where the sum of two tables of counts might not fit in 64 bits."""
    whole = mine.size and theirs.size and mine.dtype == np.int64
    if whole and int(mine.max()) + int(theirs.max()) > CEILING:
        raise OverflowRefused("A count would exceed 2^62. Scale the weights down.")


class TallyBuilder:
    """A tally in the making: `table` is added to in place, by kernels that know how the block is read."""

    def __init__(self, slots: Slots, classes: int, dtype: Any = np.int64) -> None:
        self.fixed = slots if isinstance(slots, range) else None
        self.places = {} if self.fixed is not None else {slot: n for n, slot in enumerate(slots)}
        room = len(slots) if self.fixed is not None else max(len(slots), 8)
        self.table = np.zeros((room, max(classes, 2)), dtype=dtype)
        self.classes = classes
        self.load = 0.0

    @classmethod
    def over(cls, seen: Tally) -> TallyBuilder:
        """Go on from a tally already there."""
        builder = cls(seen.slots, seen.classes, seen.counts.dtype)
        builder.table[: len(seen.slots), : seen.classes] = seen.counts
        builder.load = float(seen.counts.max()) if seen.counts.size else 0.0
        return builder

    def grow(self, classes: int) -> None:
        """Make room for more classes, doubling so that growth stays cheap."""
        if classes > self.table.shape[1]:
            wider = np.zeros((len(self.table), max(classes, 2 * self.table.shape[1])), self.table.dtype)
            wider[:, : self.table.shape[1]] = self.table
            self.table = wider
        self.classes = classes

    @property
    def given(self) -> int:
        """How many open slots were given a place."""
        return len(self.places)

    def place(self, slots: Sequence[Any]) -> IntArray:
        """Where open slots live in the table; new ones are given a place."""
        found = np.array([self.places.setdefault(slot, len(self.places)) for slot in slots], dtype=np.int64)
        if len(self.places) > len(self.table):
            taller = np.zeros((max(len(self.places), 2 * len(self.table)), self.table.shape[1]), self.table.dtype)
            taller[: len(self.table)] = self.table
            self.table = taller
        return found

    def reserve(self, rows: int, weights: AnyArray, largest: float = 1) -> None:
        """Refuse, before anything is counted, what could make a count exceed 2^62."""
        heaviest = float(weights.max()) if weights.size else 1.0
        self.load += rows * heaviest * largest
        if self.load > CEILING:
            self.load = float(self.table.max()) + rows * heaviest * largest
        if self.load > CEILING:
            raise OverflowRefused("A count could exceed 2^62. Scale the weights down.")

    def freeze(self) -> Tally:
        slots = self.fixed if self.fixed is not None else tuple(self.places)
        return Tally.of(slots, self.table[: len(slots), : self.classes].copy())
