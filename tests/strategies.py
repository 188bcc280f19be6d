"""Rows that suit a family, made from what the family itself takes: a new family needs nothing here.

A draw of Hypothesis takes as long as learning a row. So it draws how many rows there are, and a seed, and chance makes
the rows: the longer table of a seed begins with the shorter one, so that what fails still shrinks to few rows.
Strategies are made once for what they are asked for: making and checking one takes longer than drawing from it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any

from hypothesis import strategies as st

from candide import families
from candide.data.batch import Batch
from candide.data.errors import CandideError
from candide.families.base.family import Block, Family
from candide.model.predictor import Predictor
from candide.model.summary import Summary

#: The options under which nothing is chosen and nothing calibrated.
PLAIN: dict[str, Any] = {"families": "guess", "smoothing": "default", "calibrate": False}
MIXTURE = "every family at once"
CASES = [*families.names(), MIXTURE]

LABELS = ("apple", "pear", "quince")
TINY = 5e-324
EXTREME = (0.0, -0.0, TINY, -TINY, 2.5e-310, 1e-300, -1e-300, 1e300, -1e300, 1.7e308, 1.7e9, 2.0**52, 1 + 2**-52)
ORDINARY = (0, 1, 2, 3, 7, 40, 0.25, 0.5, 2.5, -1.5, True, False, "red", "green", "", "ünï", b"raw")
STRANGE = (math.inf, -math.inf, math.nan, None, -3, 1.9, 2.0**60, "\ud800", "long" * 5000, "never seen", 10**400)


def takes(family: Family, cell: Any) -> bool:
    """Whether a family learns from a value: it is asked, so that no list of families is needed here."""
    try:
        family.read(Batch.of({"column": [cell]}), ("column",))
    except CandideError:
        return False
    return True


@cache
def taken(family: Family, cells: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(cell for cell in cells if takes(family, cell))


def takes_numbers(family: Family) -> bool:
    return not takes(family, "red")


#: What makes a thing by chance.
Maker = Callable[[Random], Any]

#: Of numbers with more bits Hypothesis draws small ones more often than others.
SEEDS = st.integers(0, (1 << 24) - 1)


def one(make: Maker) -> st.SearchStrategy[Any]:
    """What is made from any seed."""
    return SEEDS.map(lambda seed: make(Random(seed)))


def several(make: Maker, least: int, most: int) -> st.SearchStrategy[tuple[Any, ...]]:
    """As many as Hypothesis likes; one in eight is there already."""

    def made(drawn: tuple[int, int]) -> tuple[Any, ...]:
        count, seed = drawn
        chance, found = Random(seed), []
        for _ in range(count):
            found.append(copy(chance.choice(found)) if found and chance.random() < 1 / 8 else make(chance))
        return tuple(found)

    return st.tuples(st.integers(least, most), SEEDS).map(made)


def one_of(*makers: Maker) -> Maker:
    return lambda chance: chance.choice(makers)(chance)


def sampled_from(values: Sequence[Any]) -> Maker:
    return lambda chance: chance.choice(values)


def smooth(chance: Random) -> float:
    """A number above zero, of any size that is measured."""
    return 10 ** chance.uniform(-2, 6)


def any_float(chance: Random) -> float:
    """Numbers as they are met, and as bits can be."""
    if chance.random() < 0.5:
        return chance.gauss(0, 1) * 10 ** chance.randrange(6)
    return struct.unpack("d", chance.randbytes(8))[0]


@cache
def cells(family: Family, extreme: bool = True) -> Maker:
    """Values a family learns from; one in some is missing."""
    ordinary, missing = sampled_from(taken(family, ORDINARY)), sampled_from([None])
    if not extreme:
        return one_of(ordinary, ordinary, ordinary, missing)
    rare = [sampled_from(taken(family, EXTREME))] if taken(family, EXTREME) else []
    return one_of(ordinary, ordinary, *rare, *([smooth] if takes(family, 0.3) else []), missing)


@cache
def any_cells(family: Family) -> Maker:
    """Values a family may be asked about: whatever a column of its kind can hold."""
    pool = (*ORDINARY, *EXTREME, *STRANGE)
    if takes_numbers(family):
        pool = tuple(cell for cell in pool if isinstance(cell, (float, type(None))))
    return one_of(sampled_from(pool), any_float)


@dataclass(frozen=True)
class Row:
    """One value for each column, a label, and a weight."""

    cells: tuple[Any, ...]
    label: str
    weight: int = 1


@dataclass(frozen=True)
class Table:
    """Rows for the columns of some blocks."""

    blocks: tuple[Block, ...]
    rows: tuple[Row, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for block in self.blocks for name in block.columns)

    def of(self, rows: Sequence[Row]) -> Table:
        return replace(self, rows=tuple(rows))

    def batch(self) -> Batch:
        values = {name: [row.cells[index] for row in self.rows] for index, name in enumerate(self.columns)}
        return Batch.of(values, [row.label for row in self.rows], [row.weight for row in self.rows])

    def summary(self) -> Summary:
        return Summary.of(self.blocks, self.batch())

    def model(self) -> Predictor:
        return Predictor.fit(self.summary())


@cache
def blocks_of(case: str, columns: int = 2, **options: Any) -> tuple[Block, ...]:
    """One block of some columns; or, for the mixture, a block of one column for every family."""
    if case == MIXTURE:
        return tuple(Block(families.named(name, **options), (f"{name} column",)) for name in families.names())
    family = families.named(case, **options)
    names = tuple(f"x{index}" for index in range(columns))
    return (Block(family, names if takes_several(family, names) else names[:1]),)


def takes_several(family: Family, names: tuple[str, ...]) -> bool:
    """Whether a block of the family may hold these columns together."""
    try:
        family.builder(names, 1)
    except CandideError:
        return False
    return True


def row(blocks: Sequence[Block], labels: Sequence[str] = LABELS, extreme: bool = True) -> Maker:
    """Rows that can be learned, some of them heavy."""
    values = [cells(block.family, extreme) for block in blocks for _ in block.columns]
    weights = (1, 1, 1, 2, 3, 50)
    return lambda chance: Row(tuple(make(chance) for make in values), chance.choice(labels), chance.choice(weights))


@cache
def rows(blocks: tuple[Block, ...]) -> st.SearchStrategy[Row]:
    return one(row(blocks))


@cache
def tables(
    blocks: tuple[Block, ...], least: int = 0, most: int = 8, labels: tuple[str, ...] = LABELS, extreme: bool = True
) -> st.SearchStrategy[Table]:
    """Tables that can be learned: any number of classes, duplicates, missing values."""
    return several(row(blocks, labels, extreme), least, most).map(lambda found: Table(tuple(blocks), found))


@cache
def questions(blocks: tuple[Block, ...], most: int = 6) -> st.SearchStrategy[dict[str, list[Any]]]:
    """Columns to predict from, holding anything at all."""
    names = [name for block in blocks for name in block.columns]
    values = [any_cells(block.family) for block in blocks for _ in block.columns]
    return several(lambda chance: [make(chance) for make in values], 1, most).map(
        lambda found: {name: [cells[index] for cells in found] for index, name in enumerate(names)}
    )
