"""Wide tables: of very many columns, those that tell most about the label are chosen for, and the others left out.

Choosing, calibrating and judging cost some milliseconds a column. What a column tells is first seen from its counts in
a few parts, each row left out. That is a choice from rows, so it is made anew without each fold like all others: a
column that is among the best without some fold is kept, and has a say only where it is. Of columns of numbers one loop
takes each fold of the rows out of the cells; no summary is made for columns that are then left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.data.batch import Batch
from candide.data.grid import quantized, quantized_number
from candide.families.base.family import Block
from candide.kernels.part_gains import CountedCells, gain_of_parts, gains_of_cells, in_parts
from candide.model.options import Options
from candide.model.schema import LEFT_OUT, Choice, Schema
from candide.model.summary import Summary
from candide.selection.contest import BEST_OF_MANY
from candide.selection.fold_summaries import open_part, without_rows
from candide.selection.folds import CHOICES, dealt_by_label
from candide.selection.leave_one_out import LeaveOneOut
from candide.selection.read_off import FEWEST_ROWS, Deciding
from candide.statistics.cells import FINEST_LEVEL
from candide.statistics.column_memory import ColumnMemory
from candide.statistics.moments import row_major
from candide.statistics.weight_grid import weights_in_units

MOST_COLUMNS = 200
"""So many columns at most have a say, where families are open."""

MANY_ROWS, LEAST_COLUMNS, BY_CHANCE = 10_000, 8, 2.0
"""Of wide tables with so many rows, a column that tells no more in a few parts than some of hundreds do by chance has
no say either, beyond so many columns: unless all such together tell so many standard errors more than chance would.
Hundreds that each tell next to nothing may tell much."""

PARTS = 8

PASSED_OVER = f"tells less about the label than {MOST_COLUMNS} others"
TELLS_NOTHING = "tells next to nothing about the label"


@dataclass(frozen=True)
class Heard:
    """The columns that have a say without each fold, and with all rows; nothing where all have."""

    without: tuple[frozenset[str], ...] = ()
    whole: frozenset[str] = frozenset()

    def hears(self, column: str, fold: int | None = None) -> bool:
        """Whether a column has a say without a fold, or with all rows."""
        return not self.without or column in (self.whole if fold is None else self.without[fold])


def without_weak_columns(schema: Schema, summary: Summary, rows: Batch, options: Options) -> tuple[Schema, Heard]:
    """The schema without open columns that are among the best for no fold; and which columns have a say."""
    deciding = Deciding.of(summary, options)
    open_columns = [choice.column for choice in schema.choices if deciding.is_open(choice) and not choice.rule]
    if len(open_columns) <= MOST_COLUMNS or len(rows) < FEWEST_ROWS or not deciding.has_enough_rows:
        return schema, Heard()
    gains = quantized(gains_without_folds(summary, open_columns, rows))
    spent = (PARTS - 1) * (len(summary.classes) - 1)
    *folds, whole = best_columns(open_columns, gains, spent if len(rows) >= MANY_ROWS else None)
    passed = dict(zip(open_columns, gains[-1].tolist(), strict=True))
    for column in whole.union(*folds):
        del passed[column]
    choices = (passed_over(choice, passed.get(choice.column)) for choice in schema.choices)
    return replace(schema, choices=tuple(choices)), Heard(tuple(folds), whole)


def passed_over(choice: Choice, gain: float | None) -> Choice:
    """The choice of a column that is left out for telling so little; as it was where that is not told."""
    if gain is None:
        return choice
    reason = PASSED_OVER if gain > 0 else TELLS_NOTHING
    return replace(choice, family=None, auxiliary=(), rule=LEFT_OUT, reason=reason)


def best_columns(columns: Sequence[str], gains: FloatArray, spent: int | None) -> list[frozenset[str]]:
    """The columns that tell most about the label, by each line of gains[fold, column]; of equals the earlier.

    Where the numbers `spent` on a column are given, only those that tell anything.
    """
    numbers = [MOST_COLUMNS if spent is None else number_that_tell(line, spent) for line in gains]
    orders = np.argsort(-gains, axis=1, kind="stable").tolist()
    return [frozenset(columns[index] for index in order[:n]) for order, n in zip(orders, numbers, strict=True)]


def number_that_tell(gains: FloatArray, spent: int) -> int:
    """How many columns tell more than some do by chance; as many as may be, where the others together do.

    Where a column tells nothing, each number spent on it loses left-out rows half a nat in the mean, with a variance of
    a half.
    """
    weak = gains[gains <= BEST_OF_MANY]
    error = math.sqrt(spent / 2 / max(1, len(weak)))
    if len(weak) and quantized_number(float(weak.mean())) > BY_CHANCE * error - spent / 2:
        return MOST_COLUMNS
    return min(MOST_COLUMNS, max(LEAST_COLUMNS, len(gains) - len(weak)))


def gains_without_folds(summary: Summary, columns: Sequence[str], rows: Batch) -> FloatArray:
    """By how many nats each column lowers the loss of left-out rows, without each fold and with all rows."""
    assert rows.labels is not None
    places = {name: index for index, name in enumerate(columns)}
    leaving = LeaveOneOut.of(open_part(summary, places), rows)
    folds, gains = dealt_by_label(rows.labels.codes) % CHOICES, np.zeros((CHOICES + 1, len(columns)))
    mixed = []
    for block, seen in zip(leaving.summary.blocks, leaving.summary.statistics, strict=True):
        named = {slot[0] for slot in seen.others.open_slots}
        mixed += [name for name in block.columns if name in named]
        numeric = [index for index, name in enumerate(block.columns) if name not in named]
        found = gains_of_numbers(leaving, block, seen, numeric, folds)
        gains[:, [places[block.columns[index]] for index in numeric]] = found
    if mixed:
        gains[:, [places[name] for name in mixed]] = gains_of_mixed(summary, mixed, rows, folds)
    return gains


def gains_of_numbers(
    leaving: LeaveOneOut, block: Block, seen: ColumnMemory, indices: Sequence[int], folds: IntArray
) -> FloatArray:
    """The gains of some columns that hold numbers only, [fold, column]: each fold taken out of their cells."""
    numbers, labels = row_major(leaving.rows(block).values.numbers), leaving.labels
    of_class = rows_without_folds(leaving, folds)
    found = np.empty((len(indices), len(of_class)))
    for line, index in enumerate(indices):
        cells = seen.cells[index]
        weights = weights_in_units(leaving.weights, len(labels), cells.bits)
        counted = CountedCells(cells.cells, cells.units, FINEST_LEVEL - cells.level, 2.0**-cells.bits)
        found[line] = gains_of_cells(numbers, index, labels, weights, folds, counted, of_class, PARTS)
    return found.T


def rows_without_folds(leaving: LeaveOneOut, folds: IntArray) -> FloatArray:
    """How many rows of each class there are without each fold, and of all, [fold, class]."""
    held = np.zeros((CHOICES + 1, len(leaving.classes)))
    np.add.at(held, (folds, leaving.labels), leaving.row_weights)
    return leaving.summary.counts - held


def gains_of_mixed(summary: Summary, columns: Sequence[str], rows: Batch, folds: IntArray) -> FloatArray:
    """The gains of columns that hold other values, [fold, column]: by a summary without each fold."""
    leaving = LeaveOneOut.of(open_part(summary, columns), rows)
    rests = [without_rows(leaving, np.flatnonzero(folds == fold)) for fold in range(CHOICES)]
    found = np.empty((CHOICES + 1, len(columns)))
    for line, rest in enumerate((*rests, leaving.summary)):
        of_class, gains_of = np.asarray(rest.counts, dtype=np.float64), dict[str, float]()
        for block, seen in zip(rest.blocks, rest.statistics, strict=True):
            gains_of |= {name: gain_of(seen, index, name, of_class) for index, name in enumerate(block.columns)}
        found[line] = [gains_of[name] for name in columns]
    return found


def gain_of(seen: ColumnMemory, index: int, column: str, rows: FloatArray) -> float:
    """By how many nats a column lowers the loss of left-out rows, numbers and other values in a few parts each."""
    numbers = in_parts(seen.cells[index].counts.astype(np.float64), PARTS)
    others = seen.values_of(column).counts.astype(np.float64)
    if len(others) > PARTS:
        most = np.argsort(-others.sum(axis=1), kind="stable")
        others = np.concatenate([others[most[: PARTS - 1]], others[most[PARTS - 1 :]].sum(axis=0, keepdims=True)])
    return float(gain_of_parts(np.concatenate([numbers, others]), rows))
