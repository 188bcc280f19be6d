"""Which families a column might have: each family says so by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from candide import families
from candide.data.batch import Batch
from candide.data.errors import ColumnRefused
from candide.data.times import time_kind
from candide.families.base.competing import CATEGORY, NUMBER, TIME, TRUTH, ColumnLook
from candide.families.base.family import AnyFamily, Block
from candide.families.base.smoothing import own_loo_smoothing
from candide.model.summary import Summary

SMOOTHINGS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


def candidates(guess: AnyFamily, column: Batch, everything: bool) -> list[AnyFamily]:
    """The families that may compete for one column: the guess first, then by rank.

    Those with a narrower support than all numbers stand only where `everything` was seen: a row that comes later might
    not fit.
    """
    (name,) = column.names
    guess = replace(guess, column=name)
    look = look_at(column, guess, everything)
    offered = (family for kind in families.classes() for family in kind.candidates_for(look))
    return list(dict.fromkeys([guess, *(replace(family, column=name) for family in offered)]))


def look_at(column: Batch, guess: AnyFamily, everything: bool) -> ColumnLook:
    """What is known of a column before any family is tried; words and truths are as they were guessed."""
    (name,) = column.names
    if guess.reads == TRUTH or not holds_numbers(column):
        kind = CATEGORY if guess.reads == NUMBER else guess.reads
        return ColumnLook(name, kind, np.zeros(0), guess, everything)
    numbers = column.numbers([name])[:, 0]
    kind = TIME if holds_times(column) else NUMBER
    return ColumnLook(name, kind, numbers[np.isfinite(numbers)], guess, everything)


def holds_times(column: Batch) -> bool:
    """Whether the column holds dates or times."""
    raw = column.columns.raw(0)
    return isinstance(raw, (pa.Array, pa.ChunkedArray)) and bool(time_kind(raw.type))


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


def smoothed_by_itself(family: AnyFamily, column: Batch) -> AnyFamily:
    """The family with the smoothing under which its own counts, each row left out, are likeliest: no pass is needed."""
    if not family.adds_counts:
        return family
    seen = Summary.of((Block(family, column.names),), column).statistics[0]
    counts = family.smoothed_counts(seen)
    return family if counts is None else replace(family, smoothing=own_loo_smoothing(counts, SMOOTHINGS))
