"""Which families a column might have, each by its own word, and the smoothing that suits its counts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pyarrow as pa

from candide import families
from candide.data.batch import Batch
from candide.data.errors import ColumnRefused
from candide.families.base.competing import NUMBER, ColumnLook
from candide.families.base.family import AnyFamily
from candide.families.base.smoothing import own_loo_smoothing
from candide.families.base.streaming import Streaming
from candide.selection.look import RememberedColumn

SMOOTHINGS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


def candidates(guess: AnyFamily, kind: str, column: RememberedColumn) -> list[AnyFamily]:
    """The families that may compete for one column that holds values of this kind: the guess first, then by rank."""
    return offered(guess, kind, column, families.classes())


def live_candidates(guess: AnyFamily, kind: str, column: RememberedColumn) -> list[AnyFamily]:
    """Those that a stream may ask between its rows, if there are any; no family is asked that never says how.

    Numbers that never repeat are no names: left out, each would be unknown.
    """
    speaking = [offering for offering in families.classes() if offering.live is not Streaming.live]
    entrants = in_shared_blocks(offered(guess, kind, column, speaking))
    if kind == NUMBER and column.cells.counts.sum() <= len(column.cells):
        entrants = [family for family in entrants if family.reads == NUMBER]
    return entrants or candidates(guess, kind, column)


def offered(
    guess: AnyFamily, kind: str, column: RememberedColumn, offering: Iterable[type[AnyFamily]]
) -> list[AnyFamily]:
    """The guess, and what these kinds of families offer for a column, each in a block of its own."""
    guess = in_own_block(guess, column.name)
    look = ColumnLook(column.name, kind, column.cells, column.kept.parts, guess)
    found = (in_own_block(family, column.name) for kind in offering for family in kind.candidates_for(look))
    return list(dict.fromkeys([guess, *found]))


def in_own_block(family: AnyFamily, column: str) -> AnyFamily:
    """The family in a block of its own."""
    return family if family.column == column else replace(family, column=column)


def in_shared_blocks(entrants: Iterable[AnyFamily]) -> list[AnyFamily]:
    """Those that a stream may ask between its rows, columns of one family in one block."""
    return [replace(family, column="") for family in entrants if family.live]


def holds_numbers(column: Batch) -> bool:
    """Whether every value of the column is a number (or missing), and nobody declared them to be categories."""
    raw = column.columns.raw(0)
    if isinstance(raw, (pa.Array, pa.ChunkedArray)) and pa.types.is_dictionary(raw.type):
        return False
    try:
        column.numbers(column.names)
    except ColumnRefused:
        return False
    return True


def smoothed_by_itself(family: AnyFamily, seen: Any) -> AnyFamily:
    """The family with the smoothing under which its own counts, each row left out, are likeliest: no row is needed."""
    counts = family.smoothed_counts(seen) if family.adds_counts else None
    return family if counts is None else replace(family, smoothing=own_loo_smoothing(counts, SMOOTHINGS))
