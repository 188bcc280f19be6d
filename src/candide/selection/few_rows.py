"""Few rows: what to take, and how far to trust it, where they are too few to compare families or to measure much.

From ten rows on numbers have bells of one width, and evidence has the weight that is usual of a table of that size.
With fewer, and where somebody said what to take, answers are those of a textbook.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from candide.data.grid import quantized_number
from candide.data.times import is_time
from candide.families.base.competing import NUMBER
from candide.families.gaussian_tied import GaussianTied
from candide.model.calibration import Calibration
from candide.model.options import Options
from candide.model.schema import AUTO, GUESS, IGNORE, LEFT_OUT, Choice, Schema
from candide.model.summary import Summary
from candide.selection.fit_calibration import usual_weight
from candide.selection.read_off import FEWEST_ROWS, Deciding

FEWER_THAN_TELL = 10
"""So few rows are a worked example, to be checked by hand."""


def as_few_rows(schema: Schema, summary: Summary, options: Options) -> Schema:
    """The schema with bells of one width for open columns of numbers, where rows are few."""
    if not FEWER_THAN_TELL <= summary.rows < FEWEST_ROWS or len(summary.classes) < 2:
        return schema
    deciding = Deciding.of(summary, options)
    choices = (tied(choice) if deciding.is_open(choice) else choice for choice in schema.choices)
    return replace(schema, choices=tuple(choices))


def tied(choice: Choice) -> Choice:
    """The choice with bells of one width, if it is of numbers that nobody gave a family."""
    is_ruled = choice.rule in (GUESS, LEFT_OUT) or is_time(choice.kind)
    if is_ruled or choice.family is None or choice.family.reads != NUMBER:
        return choice
    reason = f"{choice.reason}; few rows, so one width for all classes"
    return replace(choice, family=GaussianTied(column=choice.column), reason=reason)


def usual_calibration(summary: Summary, options: Options) -> Calibration | None:
    """How far evidence is trusted where rows are too few to tell: as far as is usual of a table of that size."""
    texts = any(block.family.has_length or block.family.shares_total for block in summary.blocks)
    if len(summary.classes) < 2 or not summary.blocks or texts or not leaves_all_open(options, summary):
        return None
    weight = quantized_number(usual_weight(float(summary.rows), len(summary.blocks)))
    return Calibration(weight=dict.fromkeys((block.key for block in summary.blocks), weight))


def leaves_all_open(options: Options, summary: Summary) -> bool:
    """Whether nothing was said about families, smoothing or texts, and the rows are more than a worked example."""
    said = set(options.families.values()) if isinstance(options.families, Mapping) else {options.families}
    is_open = said <= {AUTO, IGNORE} and options.smoothing == AUTO and options.text is None
    return is_open and bool(summary.rows >= FEWER_THAN_TELL)
