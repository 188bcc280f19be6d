"""Rows that suit a family, made from what the family itself takes: a new family needs nothing here.

Strategies are made once for what they are asked for: making and checking one takes longer than drawing from it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
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


def cells(family: Family, extreme: bool = True) -> st.SearchStrategy[Any]:
    """Values a family learns from; one in some is missing."""
    ordinary = st.sampled_from(taken(family, ORDINARY))
    if not extreme:
        return st.one_of(ordinary, ordinary, ordinary, st.none())
    rare = [st.sampled_from(taken(family, EXTREME))] if taken(family, EXTREME) else []
    smooth = [st.floats(0.01, 1e6)] if takes(family, 0.3) else []
    return st.one_of(ordinary, ordinary, *rare, *smooth, st.none())


def any_cells(family: Family) -> st.SearchStrategy[Any]:
    """Values a family may be asked about: whatever a column of its kind can hold."""
    pool = (*ORDINARY, *EXTREME, *STRANGE)
    if takes_numbers(family):
        pool = tuple(cell for cell in pool if isinstance(cell, (float, type(None))))
    return st.one_of(st.sampled_from(pool), st.floats())


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


def rows(blocks: Sequence[Block], labels: Sequence[str] = LABELS, extreme: bool = True) -> st.SearchStrategy[Row]:
    """Rows that can be learned, some of them heavy."""
    values = st.tuples(*(cells(block.family, extreme) for block in blocks for _ in block.columns))
    return st.builds(Row, values, st.sampled_from(labels), st.sampled_from((1, 1, 1, 2, 3, 50)))


@cache
def tables(
    blocks: tuple[Block, ...], least: int = 0, most: int = 8, labels: tuple[str, ...] = LABELS, extreme: bool = True
) -> st.SearchStrategy[Table]:
    """Tables that can be learned: any number of classes, duplicates, missing values."""
    some = st.lists(rows(blocks, labels, extreme), min_size=least, max_size=most)
    return some.map(lambda drawn: Table(tuple(blocks), tuple(drawn)))


@cache
def questions(blocks: tuple[Block, ...], most: int = 6) -> st.SearchStrategy[dict[str, list[Any]]]:
    """Columns to predict from, holding anything at all."""
    names = [name for block in blocks for name in block.columns]
    row = st.tuples(*(any_cells(block.family) for block in blocks for _ in block.columns))
    return st.lists(row, min_size=1, max_size=most).map(
        lambda drawn: {name: [cells[index] for cells in drawn] for index, name in enumerate(names)}
    )
