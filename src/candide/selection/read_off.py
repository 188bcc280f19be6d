"""Families read off a summary: what is remembered of each column that was left open decides, and no row is needed.

So the same rows give the same choices, however they were learned, split, merged or forgotten. What does need rows (text
recipes, whole tables, calibration) is chosen elsewhere and kept.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from candide.data.progress import Size, Watch, counted, unwatched
from candide.engines.protocol import Engine
from candide.families.base.family import AnyFamily, Block
from candide.model.options import Options
from candide.model.schema import GUESS, IGNORE, LEFT_OUT, Choice, Schema, chosen
from candide.model.summary import Summary
from candide.selection.candidates import candidates, smoothed_by_itself
from candide.selection.contest import Result, contest
from candide.selection.look import RememberedColumn, remembered_column
from candide.selection.user_options import is_open
from candide.statistics.column_memory import ColumnMemory

FEWEST_ROWS = 50
"""With fewer rows nothing is chosen and nothing calibrated: columns are taken as they look."""


def read_off(
    summary: Summary,
    schema: Schema,
    options: Options,
    engine: Engine,
    watch: Watch = unwatched,
    answers_live: bool = False,
) -> Schema:
    """The schema with the families of open columns read off the summary, each by its rule.

    For a stream that is asked between its rows, only families compete that `answers_live` from counts and sums.
    """
    deciding = Deciding.of(summary, options, answers_live)
    if not any(deciding.is_open(choice) for choice in schema.choices):
        return schema
    with watch("Choosing", Size(len(schema.choices), "columns")) as report:
        return replace(schema, choices=tuple(counted(engine.map(deciding, schema.choices), report)))


def ruled(schema: Schema, columns: Collection[str], rule: str) -> Schema:
    """The schema with another rule for reading off some columns."""
    choices = (replace(choice, rule=rule) if choice.column in columns else choice for choice in schema.choices)
    return replace(schema, choices=tuple(choices))


@dataclass(frozen=True, eq=False)
class Deciding:
    """From what is remembered of a column to its choice."""

    summary: Summary
    memories: dict[AnyFamily, tuple[Block, Any]]
    options: Options
    answers_live: bool

    @classmethod
    def of(cls, summary: Summary, options: Options, answers_live: bool = False) -> Deciding:
        """Ready to decide about each column of a summary."""
        pairs = zip(summary.blocks, summary.statistics, strict=True)
        return cls(summary, {block.family: (block, seen) for block, seen in pairs}, options, answers_live)

    def is_open(self, choice: Choice) -> bool:
        """Whether the family of a column is to be read off."""
        if choice.remembered is None or choice.remembered.statistic is not ColumnMemory or choice.rule == LEFT_OUT:
            return False
        return choice.family is None or not choice.family.is_joint

    def __call__(self, choice: Choice) -> Choice:
        """The choice for one column."""
        if not self.is_open(choice) or choice.remembered not in self.memories:
            return choice
        block, seen = self.memories[choice.remembered]
        column = remembered_column(seen, block.columns, choice.column, choice.kind)
        return self.decided(choice, column)

    def decided(self, choice: Choice, column: RememberedColumn) -> Choice:
        """The best family and smoothing, as far as the user left them open and rows are enough to tell."""
        kind, guess = column.look()
        options = self.options
        taken = chosen(choice.column, guess, options.smoothing, options.missing == "value", options.text)
        choice = replace(choice, family=taken.family, auxiliary=(), reason=taken.reason, holds=column.holds)
        if guess.family == IGNORE or taken.family is None or choice.rule == GUESS or not self.has_enough_rows:
            return choice
        if not taken.family.is_read_off:
            return replace(choice, remembered=None)
        entrants = candidates(taken.family, kind, column)
        entrants = [family for family in entrants if family.name == choice.rule] or entrants
        if self.answers_live:  # columns of one family in one block: each block costs as much as a column
            entrants = [replace(family, column="") for family in entrants if family.live] or entrants
        if is_open(options.smoothing, choice.column):
            entrants = [smoothed_for(family, column) for family in entrants]
        if len(entrants) == 1:
            return replace(choice, family=entrants[0])
        results = contest(column, self.summary, entrants)
        return replace(choice, family=results[0].family, reason=f"{choice.reason}; {told(results)}")

    @property
    def has_enough_rows(self) -> bool:
        """Whether rows are enough to compare families by."""
        return bool(self.summary.rows >= FEWEST_ROWS and len(self.summary.classes) > 1)


def smoothed_for(family: AnyFamily, column: RememberedColumn) -> AnyFamily:
    """The family with the smoothing that suits its counts of a column, where it counts."""
    if not family.adds_counts:
        return family
    return smoothed_by_itself(family, family.read_off(column.kept, (column.name,), (column.name,)))


def told(results: Sequence[Result]) -> str:
    """Who won, and by how much."""
    first, *others = results
    rival = next((result for result in others if result.family.name != first.family.name), others[0])
    return f"log loss of left-out rows {first.loss:.4f}, {rival.family.name} {rival.loss:.4f}"
