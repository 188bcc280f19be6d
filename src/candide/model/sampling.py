"""New rows as a table: of what was learned, each column as it was given."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pyarrow as pa

from candide.data.readable import in_one_type
from candide.data.times import as_times, is_time
from candide.data.values import Key
from candide.families.base.competing import CATEGORY
from candide.model.domain import WHOLE, Domain, without_bound
from candide.model.predictor import Predictor
from candide.model.schema import Schema
from candide.model.summary import Summary
from candide.statistics.exact import ExactSums


def drawn_rows(
    model: Predictor, schema: Schema, label: str | None, rows: int, wanted: Key | None, rng: np.random.Generator
) -> Any:
    """Rows as an Arrow table, the label last: of one class, or of all in proportion to their priors."""
    assert model.summary is not None
    columns, labels = model.sample(rows, wanted, rng, domains_of(model, schema, model.summary))
    answers = [model.classes[index][1] for index in labels.tolist()]
    choices = [choice for choice in schema.choices if choice.family is not None]
    drawn = {choice.column: as_given(columns[choice.column].tolist(), choice.kind) for choice in choices}
    return pa.table({**drawn, label or "label": pa.array(answers)})


def domains_of(model: Predictor, schema: Schema, summary: Summary) -> dict[str, Domain]:
    """Which numbers may be drawn for each column: none beyond its cells, or as the schema says where there are none.

    A family that reads categories draws what stands for them: a time of the year for a weekday.
    """
    found = {name: Domain.held(holds) for name, holds in still_held(schema, summary).items()}
    found |= {name: Domain.of(cells) for name, cells in model.cells.items()}
    for choice in schema.choices:
        if choice.column in found and choice.family is not None and choice.family.reads == CATEGORY:
            found[choice.column] = Domain(found[choice.column].whole)
    return found


def still_held(schema: Schema, summary: Summary) -> dict[str, str]:
    """What columns hold by the schema, where the sums do not show that something else was learned since.

    A sum that is not whole has a fraction in it, and one below zero a number below zero. The reverse cannot be known:
    two halves make a whole.
    """
    held = dict(schema.holds)
    for block, seen in zip(summary.blocks, summary.statistics, strict=True):
        sums = block.family.value_sums(seen)
        for index, name in enumerate(block.columns if sums else ()):
            if name in held:
                held[name] = agreeing(held[name], *(of_column(part, index) for part in sums))
    return held


def of_column(sums: ExactSums, index: int) -> ExactSums:
    """The sums of one column."""
    return ExactSums(sums.digits[index], sums.low)


def agreeing(holds: str, total: ExactSums, square: ExactSums | None = None) -> str:
    """What is said to be held, as far as the sums agree."""
    if not all(sums_are_whole(part) for part in (total, square) if part is not None):
        holds = holds.removeprefix(WHOLE).strip()
    return without_bound(holds) if (total.digits < 0).any() else holds


def sums_are_whole(sums: ExactSums) -> bool:
    """Whether every sum is a whole number: no digit stands behind the point."""
    return sums.low >= 0 or not sums.digits[..., : -sums.low].any()


def as_given(values: list[Any], kind: str) -> Any:
    """Drawn values as a column of the kind that was learned: times as times, truths as truths, whole numbers whole."""
    if is_time(kind):
        return as_times([seconds(value) for value in values], kind)
    there = [value for value in values if value is not None]
    if kind == "truth" and all(value in (0, 1) for value in there):
        return pa.array([None if value is None else bool(value) for value in values], pa.bool_())
    if there and all(isinstance(value, float) and value.is_integer() and abs(value) < 2**53 for value in there):
        return pa.array([None if value is None else int(value) for value in values])
    return in_one_type(values)


def seconds(value: Any) -> float:
    """A time as it was counted, in seconds; as a category it is written out."""
    if value is None:
        return float("nan")
    if not isinstance(value, str):
        return float(value)
    when = datetime.datetime.fromisoformat(value)
    return (when if when.tzinfo else when.replace(tzinfo=datetime.UTC)).timestamp()
