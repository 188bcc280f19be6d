"""How each statistic is written as arrays and read back: a new statistic needs one `Form` in the table below.

The `statistic` that a family declares says what it remembers, and so what the file must hold. Whatever is
read has the shapes of its block and is in canonical form, or is refused. No check takes more memory than the file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from candide.data.arrays import AnyArray
from candide.data.errors import CandideError
from candide.families.base.family import Block
from candide.statistics.cross_sums import CrossSums
from candide.statistics.exact import ExactSums
from candide.statistics.sums import Sums
from candide.statistics.tally import Tally
from candide.statistics.weight_grid import CEILING, FINEST, coarsest
from candide.store.keys import key_arrays, read_keys, refuse_disorder
from candide.store.parts import Parts
from candide.store.refusals import ModelFileRefused

Arrays = dict[str, AnyArray]

FURTHEST_DIGIT = 128
"""Sums of doubles, their products and weights reach from 2^-3222 to 2^3200: 32 bits a digit, within 128 digits."""


@dataclass(frozen=True)
class Form:
    """A name for a statistic in the file, and how it becomes arrays and is read back.

    `read` is given the arrays, the block, and the number of classes.
    """

    name: str
    write: Callable[[Any, Block], Arrays]
    read: Callable[[Parts, Block, int], Any]
    version: int = 1
    """The first format that has it as it is written."""


def form_of(block: Block) -> Form:
    """The form of what a block remembers."""
    statistic = block.family.statistic.__name__
    if statistic not in FORMS:
        raise CandideError(f"What the family '{block.family.name}' remembers has no form in a model file yet.")
    return FORMS[statistic]()


def write_tally(seen: Tally, block: Block) -> Arrays:
    """The counts, and where slots are open, the column and key of each."""
    counts = write_units(seen.units, seen.bits)
    if isinstance(seen.slots, range):
        return counts
    index = {column: number for number, column in enumerate(block.columns)}
    columns = np.array([index[column] for column, _, _ in seen.slots], dtype=np.int64)
    return {**counts, "columns": columns, **key_arrays([(kind, value) for _, kind, value in seen.slots])}


def read_tally(parts: Parts, block: Block, classes: int) -> Tally:
    """Counts from zero up; open slots sorted, each seen at least once."""
    fixed = block.builder(1).fixed
    if fixed is None:
        return read_open_tally(parts, block, classes)
    return Tally(fixed, *read_units(parts, len(fixed), classes))


def read_open_tally(parts: Parts, block: Block, classes: int) -> Tally:
    """Counts of values, sorted, each seen at least once."""
    slots = read_slots(parts, block)
    counts, bits = read_units(parts, len(slots), classes)
    if not counts.any(axis=1).all():
        raise ModelFileRefused("it lists a value that no row had")
    return Tally(slots, counts, bits)


def read_slots(parts: Parts, block: Block) -> tuple[Any, ...]:
    """Sorted (column, kind, value), of columns in the block."""
    keys = read_keys(parts)
    columns = parts.take("columns", np.int64, len(keys))
    if keys and not 0 <= columns.min() <= columns.max() < len(block.columns):
        raise ModelFileRefused("it counts values of a column that its schema lacks")
    slots = tuple((block.columns[index], *key) for index, key in zip(columns.tolist(), keys, strict=True))
    refuse_disorder(slots)
    return slots


def write_units(units: AnyArray, bits: int) -> Arrays:
    """Counts, and how small their units are where those are not ones."""
    return {"counts": units, "bits": np.array([bits])} if bits else {"counts": units}


def read_units(parts: Parts, *shape: int | None) -> tuple[AnyArray, int]:
    """Counts from zero up in the one form there is: in ones, or in units of the grid where one is not whole."""
    counts, fractions = parts.take("counts", np.int64, *shape), parts.has("bits")
    bits = int(parts.take("bits", np.int64, 1)[0]) if fractions else 0
    refuse_bad_counts(counts)
    if bits != (FINEST if fractions else 0) or coarsest(counts, bits)[1] != bits:
        raise ModelFileRefused("its counts are not in canonical form")
    return counts, bits


def refuse_bad_counts(counts: AnyArray) -> None:
    """Raise where counts are negative or too large, alone or added up."""
    if not counts.size:
        return
    added = max(float(counts.sum(axis=axis, dtype=np.float64).max()) for axis in range(counts.ndim))
    if not 0 <= counts.min() <= counts.max() <= CEILING or added > 1.9 * CEILING:
        raise ModelFileRefused("it holds a count that is negative or too large")


def write_sums(seen: Sums, block: Block) -> Arrays:
    """The digits of each sum."""
    parts = {"weight": seen.weight, "total": seen.total, "square": seen.square}
    return write_exact(parts if seen.log is None else {**parts, "log": seen.log})


def read_sums(parts: Parts, block: Block, classes: int) -> Sums:
    """Sums of each (column, class), with logarithms where the family asks."""
    without_logs = block.builder(1).logs is None
    names = ("weight", "total", "square") if without_logs else ("weight", "total", "square", "log")
    return Sums(**read_exact(parts, dict.fromkeys(names, (len(block.columns), classes))))


def write_cross_sums(seen: CrossSums, block: Block) -> Arrays:
    """The digits of each sum and product."""
    return write_exact({"weight": seen.weight, "total": seen.total, "products": seen.products})


def read_cross_sums(parts: Parts, block: Block, classes: int) -> CrossSums:
    """Sums of each (column, class) and products of each (pair, class)."""
    columns = len(block.columns)
    pairs = columns * (columns + 1) // 2
    shapes = {"weight": (classes,), "total": (columns, classes), "products": (pairs, classes)}
    return CrossSums(**read_exact(parts, shapes))


def write_exact(sums: dict[str, ExactSums]) -> Arrays:
    """The digits under the name of each part, and the place of all their lowest digits."""
    low = np.array([part.low for part in sums.values()], dtype=np.int64)
    return {"low": low, **{name: part.digits for name, part in sums.items()}}


def read_exact(parts: Parts, shapes: dict[str, tuple[int, ...]]) -> dict[str, ExactSums]:
    """Sums of these shapes, in the one form that equal sums have."""
    lows: list[int] = parts.take("low", np.int64, len(shapes)).tolist()
    read = {}
    for (name, shape), low in zip(shapes.items(), lows, strict=True):
        digits = parts.take(name, np.int64, *shape, None)
        if not is_canonical(digits, low):
            raise ModelFileRefused(f"its exact sums '{parts.prefix}{name}' are not in canonical form")
        read[name] = ExactSums(digits, low)
    return read


def is_canonical(digits: AnyArray, low: int) -> bool:
    """Whether digits are below 2^32, of one sign in each sum, and without an empty plane at either end."""
    width = digits.shape[-1]
    if not digits.size:
        return width == 0 and low == 0
    if low < -FURTHEST_DIGIT or low + width > FURTHEST_DIGIT:
        return False
    smallest, largest = digits.min(axis=-1), digits.max(axis=-1)
    return bool(
        smallest.min() > -(2**32)
        and largest.max() < 2**32
        and not ((smallest < 0) & (largest > 0)).any()
        and digits[..., 0].any()
        and digits[..., -1].any()
    )


def words_form() -> Form:
    """Imported only for a model of text, so that models of tables load fast."""
    from candide.store.words import read_words, write_words

    return Form("words", write_words, read_words, version=2)


def columns_form() -> Form:
    """Imported only for a model with columns left open."""
    from candide.store.column_memory import read_column_memory, write_column_memory

    return Form("columns", write_column_memory, read_column_memory)


#: By name, so that a statistic is imported only where it is used.
FORMS: dict[str, Callable[[], Form]] = {
    "Tally": lambda: Form("tally", write_tally, read_tally),
    "Sums": lambda: Form("sums", write_sums, read_sums),
    "CrossSums": lambda: Form("cross sums", write_cross_sums, read_cross_sums),
    "WordTally": words_form,
    "ColumnMemory": columns_form,
}
