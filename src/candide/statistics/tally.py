"""How often each slot was seen with each class: what categories, counts and truth values leave behind."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from candide.data.arrays import AnyArray, IntArray
from candide.data.cached import cached_property
from candide.data.errors import NOWHERE, ForgetRefused, Location, OverflowRefused
from candide.statistics.weight_grid import CEILING, amounts, bits_of, coarsest, in_finer_units, weights_in_units

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
    units: AnyArray
    bits: int = 0
    """Counts are in units of 2^-bits: 1, unless a row had a weight that is not whole."""

    def __post_init__(self) -> None:
        self.units.flags.writeable = False

    @classmethod
    def of(cls, slots: Sequence[Any], units: AnyArray, bits: int = 0) -> Tally:
        """Bring counts into canonical form: whole where they can be, open slots sorted, empty ones gone."""
        units, bits = coarsest(units, bits)
        if isinstance(slots, range):
            return cls(slots, units, bits)
        kept: list[int] = np.flatnonzero(units.any(axis=1)).tolist()
        order = sorted(kept, key=lambda index: slots[index])
        return cls(tuple(slots[index] for index in order), units[order], bits)

    @cached_property
    def counts(self) -> AnyArray:
        """How often each slot was seen with each class: whole numbers, or doubles where weights were not whole."""
        counts = amounts(self.units, self.bits)
        counts.flags.writeable = False
        return counts

    @property
    def exact(self) -> bool:
        """Whether units are whole numbers; the drop-in classes may hold doubles."""
        return bool(self.units.dtype == np.int64)

    def at(self, bits: int) -> AnyArray:
        """The counts in units that are as small, or smaller."""
        return in_finer_units(self.units, bits - self.bits) if bits > self.bits else self.units

    @property
    def open_slots(self) -> tuple[Any, ...]:
        """The slots of a tally whose slots grow."""
        assert isinstance(self.slots, tuple)
        return self.slots

    @property
    def classes(self) -> int:
        return int(self.units.shape[1])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Tally)
            and self.slots == other.slots
            and self.bits == other.bits
            and np.array_equal(self.units, other.units)
        )

    def __add__(self, other: Tally) -> Tally:
        slots, mine, theirs, bits = self._aligned(other)
        refuse_count_overflow(mine, theirs)
        return Tally.of(slots, mine + theirs, bits)

    def __sub__(self, other: Tally) -> Tally:
        slots, mine, theirs, bits = self._aligned(other)
        left = mine - theirs
        if not (self.exact and other.exact):
            left = np.where(np.abs(left) <= ROUNDING * np.maximum(mine, theirs), 0.0, left)
        if (left < 0).any():
            slot, label = np.argwhere(left < 0)[0]
            said, where = told_slot(slots[slot])
            raise ForgetRefused(
                f"{said} was seen {mine[slot, label] / 2**bits:.15g} times with its class, so "
                f"{theirs[slot, label] / 2**bits:.15g} cannot be forgotten.",
                where=where,
            )
        return Tally.of(slots, left, bits)

    def impossible(self) -> str:
        """What it is about these counts that no rows could have left; nothing where some could."""
        return "a count below zero" if (self.units < 0).any() else ""

    def _aligned(self, other: Tally) -> tuple[Sequence[Any], AnyArray, AnyArray, int]:
        bits = max(self.bits, other.bits)
        mine, theirs = self.at(bits), other.at(bits)
        if self.slots == other.slots:
            return self.slots, mine, theirs, bits
        slots = sorted({*self.slots, *other.slots})
        index = {slot: number for number, slot in enumerate(slots)}
        return slots, at_slots(self.slots, mine, index), at_slots(other.slots, theirs, index), bits

    def spread(self, positions: IntArray, classes: int) -> Tally:
        """The same counts among more classes: class i moves to positions[i]."""
        units = np.zeros((len(self.slots), classes), dtype=self.units.dtype)
        units[:, positions] = self.units
        return Tally(self.slots, units, self.bits)

    def only(self, positions: IntArray) -> Tally:
        """The counts of some classes, in the given order."""
        return Tally.of(self.slots, self.units.take(positions, axis=1), self.bits)

    def widened(self, before: Sequence[Any], after: Sequence[Any]) -> Tally:
        """The same counts where the block has more columns; open slots carry their column, so nothing moves."""
        if not isinstance(self.slots, range):
            return self
        groups = len(self.slots) // len(before)
        old = self.units.reshape(groups, len(before), self.classes)
        units = np.zeros((groups, len(after), self.classes), dtype=self.units.dtype)
        units[:, [after.index(column) for column in before]] = old
        return Tally(range(groups * len(after)), units.reshape(groups * len(after), self.classes), self.bits)

    def narrowed(self, before: Sequence[Any], after: Sequence[Any]) -> Tally:
        """The counts of fewer columns."""
        if not isinstance(self.slots, range):
            kept = [index for column in sorted(set(after)) for index in places_of_column(self.slots, column)]
            return Tally.of(tuple(self.slots[index] for index in kept), self.units[kept], self.bits)
        groups, indices = len(self.slots) // len(before), [before.index(column) for column in after]
        units = self.units.reshape(groups, len(before), self.classes)[:, indices]
        return Tally.of(range(groups * len(after)), units.reshape(-1, self.classes), self.bits)


def places_of_column(slots: tuple[Any, ...], column: str) -> range:
    """Where the slots of a column are among sorted ones, each of which begins with its column.

    >>> places_of_column((("age", 1), ("size", 1), ("size", 2)), "size")
    range(1, 3)
    """
    return range(bisect_left(slots, (column,)), bisect_left(slots, (column + "\0",)))


def at_slots(slots: Slots, units: AnyArray, index: dict[Any, int]) -> AnyArray:
    """Lines of a table at the places of their slots among others."""
    table = np.zeros((len(index), units.shape[1]), dtype=units.dtype)
    table[[index[slot] for slot in slots]] = units
    return table


def outnumber(seen: Tally, indices: Any, rows: Tally) -> bool:
    """Whether the counts in some slots, of which a row adds to one at most, are more than the rows of a class."""
    if not seen.units.size:
        return False
    bits = max(seen.bits, rows.bits)
    counts, most = seen.at(bits)[indices], rows.at(bits)[0]
    beyond = (counts.sum(axis=0, dtype=np.float64) > 1.5 * CEILING).any()
    return bool(beyond or (counts.sum(axis=0) > most).any())


def told_slot(slot: Any) -> tuple[str, Location]:
    """A slot as people know it: a value of a column, where it is one.

    >>> told_slot(("colour", "text", "red"))[0], told_slot(3)[0]
    ("'red' of column 'colour'", '3')
    """
    match slot:
        case (str(column), str(), value):
            return f"'{value}' of column '{column}'", Location(column=column, value=value)
    return repr(slot), NOWHERE


def refuse_count_overflow(mine: AnyArray, theirs: AnyArray) -> None:
    """Raise where the sum of two tables of counts might not fit in 64 bits."""
    whole = mine.size and theirs.size and mine.dtype == np.int64
    if whole and int(mine.max()) + int(theirs.max()) > CEILING:
        raise OverflowRefused("A count would exceed 2^62.")


class TallyBuilder:
    """A tally in the making: `table` is added to in place, by kernels that know how the block is read."""

    def __init__(self, slots: Slots, classes: int, dtype: Any = np.int64) -> None:
        self.fixed = slots if isinstance(slots, range) else None
        self.index_of = {} if self.fixed is not None else {slot: n for n, slot in enumerate(slots)}
        room = len(slots) if self.fixed is not None else max(len(slots), 8)
        self.table = np.zeros((room, max(classes, 2)), dtype=dtype)
        self.classes = classes
        self.bits = 0
        self.count_bound = 0.0

    @classmethod
    def over(cls, seen: Tally) -> TallyBuilder:
        """Go on from a tally already there."""
        builder = cls(seen.slots, seen.classes, seen.units.dtype)
        builder.table[: len(seen.slots), : seen.classes] = seen.units
        builder.bits = seen.bits
        builder.count_bound = float(seen.units.max()) if seen.units.size else 0.0
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
        return len(self.index_of)

    def indices_for(self, slots: Sequence[Any]) -> IntArray:
        """Where open slots live in the table; new ones are given a place."""
        found = np.array([self.index_of.setdefault(slot, len(self.index_of)) for slot in slots], dtype=np.int64)
        if len(self.index_of) > len(self.table):
            taller = np.zeros((max(len(self.index_of), 2 * len(self.table)), self.table.shape[1]), self.table.dtype)
            taller[: len(self.table)] = self.table
            self.table = taller
        return found

    def reserve(self, rows: int, weights: AnyArray, largest: float = 1) -> AnyArray:
        """The weights in the units of the table; refused, before anything is counted, where a count could exceed 2^62.

        The first weights that are not whole make the units smaller.
        """
        if bits_of(weights) > self.bits:
            self.table, self.bits = in_finer_units(self.table, bits_of(weights)), bits_of(weights)
            self.count_bound = float(self.table.max(initial=0))
        weights = weights_in_units(weights, rows, self.bits)
        heaviest = float(weights.max()) if weights.size else 1.0
        self.count_bound += rows * heaviest * largest
        if self.count_bound > CEILING:
            self.count_bound = float(self.table.max()) + rows * heaviest * largest
        if self.count_bound > CEILING:
            raise OverflowRefused(f"A count could exceed 2^{62 - self.bits}.")
        return weights

    def freeze(self) -> Tally:
        slots = self.fixed if self.fixed is not None else tuple(self.index_of)
        return Tally.of(slots, self.table[: len(slots), : self.classes].copy(), self.bits)
