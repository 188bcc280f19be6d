"""What is remembered of columns left open, as arrays: exact sums, cells and counts of values, checked when read."""

from __future__ import annotations

import numpy as np

from candide.data.arrays import AnyArray
from candide.families.base.family import Block
from candide.statistics.cells import COARSEST_LEVEL, FINEST_LEVEL, MARKS, Cells
from candide.statistics.column_memory import ColumnMemory
from candide.statistics.sums import Sums
from candide.statistics.tally import Tally
from candide.statistics.weight_grid import FINEST
from candide.store.forms import Arrays, read_exact, read_open_tally, refuse_bad_counts, write_exact, write_tally
from candide.store.parts import Parts, named_under
from candide.store.refusals import ModelFileRefused

WIDTHS = (np.uint8, np.int32, np.int64)
"""Counts are written in the narrowest of these that holds them all."""


def write_column_memory(seen: ColumnMemory, block: Block) -> Arrays:
    """The digits of sums, the cells of all columns one after the other, and the values that are no numbers."""
    columns = range(len(block.columns))
    lines = np.concatenate([cells.units for cells in seen.cells]) if columns else np.zeros((0, seen.classes), np.int64)
    marks = np.array([cells.marks for cells in seen.cells], dtype=np.int64)
    cells = {
        "levels": np.array([cells.level for cells in seen.cells], dtype=np.int64),
        "bits": np.array([cells.bits for cells in seen.cells], dtype=np.int64),
        "sizes": np.array([len(cells) for cells in seen.cells], dtype=np.int64),
        "cells": np.concatenate([np.zeros(0, np.int64), *(cells.cells for cells in seen.cells)]),
        "counts": lines.astype(narrowest(lines)),
        "marks": marks.reshape(len(columns), MARKS, seen.classes),
    }
    parts = {"numbers": write_three(seen.numbers), "logs": write_three(seen.logs), "cells": cells}
    parts |= {"others": write_tally(seen.others, block), "parts": write_tally(seen.parts, block)}
    return {name: array for part, arrays in parts.items() for name, array in named_under(part, arrays).items()}


def write_three(sums: Sums) -> Arrays:
    """The digits of weights, totals and squares."""
    return write_exact({"weight": sums.weight, "total": sums.total, "square": sums.square})


def narrowest(counts: AnyArray) -> type[np.signedinteger | np.unsignedinteger]:
    """The narrowest type that holds all counts."""
    most = int(counts.max(initial=0))
    return next(width for width in WIDTHS if most <= np.iinfo(width).max)


def read_column_memory(parts: Parts, block: Block, classes: int) -> ColumnMemory:
    """Sums, cells and counts that belong together: what no rows could have left is refused."""
    shape = (len(block.columns), classes)
    numbers, logs = (read_three(parts.under(name), shape) for name in ("numbers", "logs"))
    cells = read_cells(parts.under("cells"), *shape)
    others, of_times = (read_values(parts.under(name), block, classes) for name in ("others", "parts"))
    return ColumnMemory(numbers, logs, cells, others, of_times)


def read_values(parts: Parts, block: Block, classes: int) -> Tally:
    """Counts of values, or of parts of the calendar."""
    found = read_open_tally(parts, block, classes)
    parts.refuse_rest()
    return found


def read_three(parts: Parts, shape: tuple[int, int]) -> Sums:
    """Weights, totals and squares of each (column, class)."""
    found = Sums(**read_exact(parts, dict.fromkeys(("weight", "total", "square"), shape)))
    parts.refuse_rest()
    return found


def read_cells(parts: Parts, columns: int, classes: int) -> tuple[Cells, ...]:
    """The cells of each column: ascending, none empty, at a level and in units that there are."""
    levels, bits, sizes = (parts.take(name, np.int64, columns) for name in ("levels", "bits", "sizes"))
    total = int(sizes.sum()) if columns and sizes.min() >= 0 else 0
    numbers, marks = parts.take("cells", np.int64, total), parts.take("marks", np.int64, columns, MARKS, classes)
    lines = next((parts.take("counts", w, total, classes) for w in WIDTHS if parts.holds("counts", w)), None)
    if lines is None or lines.dtype != narrowest(lines):
        raise ModelFileRefused("its cells are not in canonical form")
    parts.refuse_rest()
    lines = lines.astype(np.int64)
    refuse_bad_counts(lines)
    refuse_bad_counts(marks)
    found, start = [], 0
    for index, size in enumerate(sizes.tolist()):
        span = slice(start, start + size)
        cells = Cells(numbers[span], lines[span], marks[index], int(levels[index]), int(bits[index]))
        if not is_canonical_column(cells):
            raise ModelFileRefused("its cells are not in canonical form")
        found.append(cells)
        start += size
    return tuple(found)


def is_canonical_column(cells: Cells) -> bool:
    """Whether cells are ascending and within their level, none is empty, and zeros and fractions are among them."""
    if not (COARSEST_LEVEL <= cells.level <= FINEST_LEVEL and cells.bits in (0, FINEST)):
        return False
    reach = 1 << (cells.level - 1)
    within = not len(cells) or (-reach <= int(cells.cells[0]) and int(cells.cells[-1]) < reach)
    ascending = bool((cells.cells[1:] > cells.cells[:-1]).all())
    whole = Cells.canonical(cells.cells, cells.units, cells.marks, cells.level, cells.bits)
    numbers = cells.units.sum(axis=0, dtype=np.float64)
    around_zero = cells.units[cells.cells == 0].sum(axis=0)
    marked = bool((cells.zeros <= around_zero).all() and (cells.marks.sum(axis=0) <= numbers).all())
    return within and ascending and whole == cells and marked
