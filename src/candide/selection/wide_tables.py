"""Wide tables: of very many columns, those that tell most about the label are chosen for, and the others left out.

Choosing, calibrating and judging cost some milliseconds a column. What a column tells is first seen from its counts in
a few parts, each row left out. That is a choice from rows, so it is made anew without each fold like all others: a
column that is among the best without some fold is kept, and has a say only where it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from candide.data.arrays import FloatArray
from candide.data.grid import quantized
from candide.kernels.part_gains import gain_of_parts, in_parts
from candide.model.schema import LEFT_OUT, Choice, Schema
from candide.model.summary import Summary
from candide.selection.read_off import Deciding
from candide.statistics.column_memory import ColumnMemory

MOST_COLUMNS = 200
"""So many columns at most have a say, where families are open."""

PARTS = 8

PASSED_OVER = f"tells less about the label than {MOST_COLUMNS} others"


@dataclass(frozen=True)
class Heard:
    """The columns that have a say without each fold, and with all rows; nothing where all have."""

    without: tuple[frozenset[str], ...] = ()
    whole: frozenset[str] = frozenset()

    def hears(self, column: str, fold: int | None = None) -> bool:
        """Whether a column has a say without a fold, or with all rows."""
        return not self.without or column in (self.whole if fold is None else self.without[fold])


def without_weak_columns(schema: Schema, deciding: Deciding, without: Sequence[Summary]) -> tuple[Schema, Heard]:
    """The schema without open columns that are among the best for no fold; and which columns have a say."""
    open_columns = [choice for choice in schema.choices if deciding.is_open(choice) and not choice.rule]
    if len(open_columns) <= MOST_COLUMNS or not without:
        return schema, Heard()
    *folds, whole = (best_columns(open_columns, rest) for rest in (*without, deciding.summary))
    kept = whole.union(*folds)
    passed = {choice.column for choice in open_columns} - kept
    choices = (passed_over(choice) if choice.column in passed else choice for choice in schema.choices)
    return replace(schema, choices=tuple(choices)), Heard(tuple(folds), whole)


def passed_over(choice: Choice) -> Choice:
    """The choice of a column that is left out, for telling less than others."""
    return replace(choice, family=None, auxiliary=(), rule=LEFT_OUT, reason=PASSED_OVER)


def best_columns(choices: Sequence[Choice], summary: Summary) -> frozenset[str]:
    """The columns that tell most about the label; of equals the earlier."""
    rows, gains_of = np.asarray(summary.counts, dtype=np.float64), dict[str, float]()
    for block, seen in zip(summary.blocks, summary.statistics, strict=True):
        gains_of |= {name: gain_of(seen, index, name, rows) for index, name in enumerate(block.columns)}
    gains = np.array([gains_of[choice.column] for choice in choices])
    order = np.argsort(-quantized(gains), kind="stable")[:MOST_COLUMNS]
    return frozenset(choices[index].column for index in order.tolist())


def gain_of(seen: ColumnMemory, index: int, column: str, rows: FloatArray) -> float:
    """By how many nats a column lowers the loss of left-out rows, numbers and other values in a few parts each."""
    numbers = in_parts(seen.cells[index].counts.astype(np.float64), PARTS)
    others = seen.values_of(column).counts.astype(np.float64)
    if len(others) > PARTS:
        most = np.argsort(-others.sum(axis=1), kind="stable")
        others = np.concatenate([others[most[: PARTS - 1]], others[most[PARTS - 1 :]].sum(axis=0, keepdims=True)])
    return float(gain_of_parts(np.concatenate([numbers, others]), rows))
