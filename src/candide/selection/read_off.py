"""Families read off a summary: what is remembered of each column that was left open decides, and no row is needed.

So the same rows give the same choices, however they were learned, split, merged or forgotten. What does need rows (text
recipes, whole tables, calibration) is chosen elsewhere and kept.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from candide.data.progress import Size, Watch, counted, unwatched
from candide.engines.protocol import Engine
from candide.families.base.family import AnyFamily, Block
from candide.model.options import Options
from candide.model.schema import GUESS, IGNORE, LEFT_OUT, Choice, Schema, chosen
from candide.model.summary import Summary
from candide.selection.candidates import candidates, in_shared_blocks, live_candidates, smoothed_by_itself
from candide.selection.contest import Result, clear_winner_first, contest, ranked
from candide.selection.look import RememberedColumn, remembered_column
from candide.selection.user_options import is_open
from candide.statistics.column_memory import ColumnMemory

FEWEST_ROWS = 50
"""With fewer rows no families are compared: columns are taken as they look."""


def read_off(
    summary: Summary,
    schema: Schema,
    options: Options,
    engine: Engine,
    watch: Watch = unwatched,
    answers_live: bool = False,
) -> Schema:
    """The schema with the families of open columns read off the summary, each by its rule.

    For a stream that is asked between its rows, only families compete that `answers_live` from counts and sums; that is
    so little work that sharing it among threads would cost more.
    """
    return decisions(summary, schema, options, engine, watch, answers_live).schema


@dataclass(frozen=True)
class Decisions:
    """A schema whose families were read off, and by which results: those of columns that families competed for."""

    schema: Schema
    results: Mapping[str, tuple[Result, ...]]
    deciding: Deciding
    """Who decided, and decides about other rules with less work."""


def decisions(
    summary: Summary,
    schema: Schema,
    options: Options,
    engine: Engine,
    watch: Watch = unwatched,
    answers_live: bool = False,
) -> Decisions:
    """The schema with the families of open columns read off the summary, and how families fared in contests."""
    return decided_by(Deciding.of(summary, options, answers_live), schema, engine, watch)


def decided_by(deciding: Deciding, schema: Schema, engine: Engine, watch: Watch = unwatched) -> Decisions:
    """The same by who is ready to decide, perhaps about these columns by other rules already."""
    if not any(deciding.is_open(choice) for choice in schema.choices):
        return Decisions(schema, {}, deciding)
    with watch("Choosing", Size(len(schema.choices), "columns")) as report:
        work = map(deciding, schema.choices) if deciding.answers_live else engine.map(deciding, schema.choices)
        decided = list(counted(work, report))
    results = {choice.column: results for choice, results in decided if results}
    return Decisions(replace(schema, choices=tuple(choice for choice, _ in decided)), results, deciding)


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
    met: dict[str, RememberedColumn] = field(default_factory=dict, repr=False)
    """Columns of the summary that were decided about, which know what they look like and who competes for them."""

    @classmethod
    def of(cls, summary: Summary, options: Options, answers_live: bool = False) -> Deciding:
        """Ready to decide about each column of a summary."""
        pairs = zip(summary.blocks, summary.statistics, strict=True)
        memories = {block.family: (block, seen) for block, seen in pairs}
        return cls(summary, memories, options, answers_live)

    def is_open(self, choice: Choice) -> bool:
        """Whether the family of a column is to be read off."""
        if choice.remembered is None or choice.remembered.statistic is not ColumnMemory or choice.rule == LEFT_OUT:
            return False
        return choice.family is None or not choice.family.is_joint

    def __call__(self, choice: Choice) -> tuple[Choice, tuple[Result, ...]]:
        """The choice for one column, and the results of the contest for it, if any, the plain family's first.

        A rule that leaves one family only leaves nothing to ask.
        """
        if not self.is_open(choice) or choice.remembered not in self.memories:
            return choice, ()
        column = self.met.get(choice.column) or self.met.setdefault(choice.column, self.column(choice, self.summary))
        choice, entrants = self.entered(choice, column)
        if not entrants:
            return choice, ()
        entrants = self.smoothed(choice, column, entrants)
        if len(entrants) == 1 and choice.rule:
            return replace(choice, family=entrants[0]), ()
        results = (ranked if self.answers_live else contest)(column, self.summary, entrants)
        winning = clear_winner_first(results, entrants[0])
        reason = choice.reason if len(winning) == 1 else f"{choice.reason}; {told(winning)}"
        by_entrant = tuple(sorted(results, key=lambda result: entrants.index(result.family)))
        return replace(choice, family=winning[0].family, reason=reason), by_entrant

    def without_folds(
        self, without: Sequence[Summary | None], choice: Choice, results: Sequence[Result]
    ) -> tuple[AnyFamily | None, ...]:
        """The family of a contested column without each fold, and at last without none: nothing where it tells nothing.

        Who may compete is seen from all rows, since it does not depend on labels. Where no rest of the rows is given,
        the column has no say.
        """
        whole = next(result for result in results if result.family == choice.family)
        by_fold = (None if rest is None else self.winner(choice, rest, results) for rest in without)
        return (*by_fold, family_that_tells(whole))

    def winner(self, choice: Choice, rest: Summary, whole: Sequence[Result]) -> AnyFamily | None:
        """The family that the rows of a fold had no part in choosing; nothing where the column tells nothing.

        Who was clearly behind with all rows does not compete again. Smoothing is that of all rows: it is read off
        counts, by how they predict themselves.
        """
        left = [result for result in whole if not result.is_out]
        if len(rest.classes) < 2 or not left:  # all rows of the others are in the fold, or nobody beats the prior
            return None
        if len(left) == 1 and left[0].tells:
            return left[0].family
        found = contest(self.column(choice, rest), rest, [result.family for result in left])
        return family_that_tells(found[0] if whole[0].is_out else clear_winner_first(found, whole[0].family)[0])

    def column(self, choice: Choice, summary: Summary) -> RememberedColumn:
        """What a summary remembers of a column."""
        assert choice.remembered is not None
        block, _ = self.memories[choice.remembered]
        seen = summary.statistics[summary.blocks.index(block)]
        return remembered_column(seen, block.columns, choice.column, choice.kind)

    def entered(self, choice: Choice, column: RememberedColumn) -> tuple[Choice, list[AnyFamily]]:
        """The column as it looks, and the families that compete for it: none where that is no question."""
        kind, guess = column.look
        options = self.options
        taken = chosen(choice.column, guess, options.smoothing, options.missing == "value", options.text)
        choice = replace(choice, family=taken.family, auxiliary=(), reason=taken.reason, holds=column.holds)
        if guess.family == IGNORE or taken.family is None or choice.rule == GUESS or not self.has_enough_rows:
            return choice, []
        if not taken.family.is_read_off:
            return replace(choice, remembered=None), []
        guessed = taken.family
        if self.answers_live and not choice.rule:
            return choice, live_candidates(guessed, kind, column)
        entrants = column.once(("entrants", guessed), lambda: candidates(guessed, kind, column))
        entrants = [family for family in entrants if family.name == choice.rule] or entrants
        return choice, (in_shared_blocks(entrants) or entrants) if self.answers_live else entrants

    def smoothed(self, choice: Choice, column: RememberedColumn, entrants: Sequence[AnyFamily]) -> list[AnyFamily]:
        """The families with the smoothing that suits their counts, where that is ours to choose."""
        if not is_open(self.options.smoothing, choice.column):
            return list(entrants)
        return [smoothed_for(family, column) for family in entrants]

    @property
    def has_enough_rows(self) -> bool:
        """Whether rows are enough to compare families by."""
        return bool(self.summary.rows >= FEWEST_ROWS and len(self.summary.classes) > 1)


def family_that_tells(result: Result) -> AnyFamily | None:
    """The family, unless rows left out are judged no better by it than by the prior alone."""
    return result.family if result.loss < result.prior_loss else None


def smoothed_for(family: AnyFamily, column: RememberedColumn) -> AnyFamily:
    """The family with the smoothing that suits its counts of a column, where it counts."""
    if not family.adds_counts:
        return family

    def smoothed() -> AnyFamily:
        return smoothed_by_itself(family, family.read_off(column.kept, (column.name,), (column.name,)))

    return column.once(("smoothed", family), smoothed)


def told(results: Sequence[Result]) -> str:
    """Who won, and by how much."""
    first, *others = results
    rival = next((result for result in others if result.family.name != first.family.name), others[0])
    return f"log loss of left-out rows {first.loss:.4f}, {rival.family.name} {rival.loss:.4f}"
