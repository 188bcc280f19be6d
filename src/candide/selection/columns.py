"""Which family a column should have: whichever says most about the label of rows it has not seen.

Densities and masses cannot be compared with each other, so candidates compete by the posterior of the label: each
column by itself, then a few whole tables. All of it on at most a few thousand rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from candide import families
from candide.data.batch import Batch
from candide.data.grid import quantized_number
from candide.data.metrics import mean_loss
from candide.data.progress import Size, Watch, counted, unwatched
from candide.data.times import is_time
from candide.engines.protocol import Engine
from candide.families.base.competing import CATEGORY, NUMBER, TEXT
from candide.families.base.family import AnyFamily, Block, Family
from candide.model.options import Options
from candide.model.predictor import log_normalised
from candide.model.schema import Choice, Schema
from candide.selection.candidates import candidates, holds_numbers, holds_times, smoothed_by_itself
from candide.selection.contest import CellContest, is_affordable
from candide.selection.leave_one_out import LeaveOneOut
from candide.selection.text_recipes import best_recipe
from candide.selection.trials import Tryout, compared, distinct_classes, preferred
from candide.selection.tune import FEWEST_ROWS
from candide.selection.user_options import by_hand, is_open

CELLS = 2_000_000
"""Contests look at no more than so many (row, column, class) cells, but at a thousand rows at least."""

MOST_ROWS, LEAST_ROWS = 8192, 1000
COVARIANCE_CELLS = 40_000_000
"""A bell with a covariance is tried where rows times columns squared are no more than this."""

FEWEST_NUMBERS = 5
"""Categories that are so many different numbers may be joined in a bell."""

WORTH_A_COVARIANCE = 0.97
"""A block with a covariance must have at most this share of the log loss of columns that each speak for themselves."""

SMOOTHINGS_OF_TOTALS = (1.0, 0.3, 0.1, 0.03, 0.01)


@dataclass(frozen=True)
class Result:
    """A candidate and its log loss when it alone, with the prior, judges rows left out."""

    family: AnyFamily
    loss: float


def contest(leaving: LeaveOneOut, entrants: Sequence[AnyFamily], column: Batch) -> list[Result]:
    """The entrants by their log loss on rows left out, best first; the earlier of equals.

    Numbers are judged by their cells, all rows of the column together. Other values, rows that weigh more than others,
    and very many classes are judged by the few rows that are left out one by one.
    """
    loss: Callable[[Block], float] = partial(own_loss, leaving)
    if is_affordable(len(leaving.classes)) and is_column_of_numbers(column) and not leaving.weights.size:
        loss = CellContest.of(column).loss
    results = [Result(family, loss(Block(family, column.names))) for family in entrants]
    return sorted(results, key=lambda result: result.loss)


def is_column_of_numbers(column: Batch) -> bool:
    """Whether a column holds numbers that are no times."""
    return holds_numbers(column) and not holds_times(column)


def own_loss(leaving: LeaveOneOut, block: Block | None = None) -> float:
    """The log loss of one block and the prior, or of the prior alone, on rows left out, on the grid."""
    scores = leaving.prior if block is None else leaving.prior + leaving.score(block)
    return quantized_number(mean_loss(log_normalised(scores, leaving.prior), leaving.labels, leaving.row_weights))


def chosen_by_leaving_out(
    guessed: Schema,
    rows: Batch,
    user_options: Options,
    engine: Engine,
    everything: bool = True,
    watch: Watch = unwatched,
) -> Schema:
    """The schema with all chosen that the user left open; as it is where rows are few.

    `everything` tells whether there are no rows but these and more like them to come.
    """
    if len(rows) < FEWEST_ROWS or distinct_classes(rows) < 2:
        return guessed
    few = rows.rows(0, affordable_rows(rows))
    leaving = LeaveOneOut.of_labels(few)
    if shares_a_total(guessed):
        return best_total(guessed, leaving, user_options, engine, watch)

    decide = Deciding(rows, leaving, user_options, everything)
    with watch("Choosing", Size(len(guessed.choices), "columns")) as report:
        chosen = tuple(counted(engine.map(decide, guessed.choices), report))
    winners = replace(guessed, choices=chosen)
    return best_table(with_texts(guessed, chosen), winners, leaving, user_options, engine, watch)


def with_texts(guessed: Schema, chosen: Sequence[Choice]) -> Schema:
    """The guesses, with what was chosen for texts: a recipe has nothing to do with other columns."""
    pairs = zip(guessed.choices, chosen, strict=True)
    return replace(guessed, choices=tuple(new if reads_as(new, TEXT) else old for old, new in pairs))


def affordable_rows(rows: Batch) -> int:
    """How many rows the contests look at."""
    return min(len(rows), MOST_ROWS, max(LEAST_ROWS, CELLS // (len(rows.names) * distinct_classes(rows))))


@dataclass(frozen=True)
class Deciding:
    """From a column's guess to its choice."""

    rows: Batch
    leaving: LeaveOneOut
    user_options: Options
    everything: bool

    def __call__(self, choice: Choice) -> Choice:
        """The choice for one column."""
        return decide_column(choice, self.rows.only([choice.column]), self.leaving, self.user_options, self.everything)


def decide_column(
    choice: Choice, column: Batch, leaving: LeaveOneOut, user_options: Options, everything: bool
) -> Choice:
    """One column's choice: the best family and smoothing, as far as the user left them open."""
    said = by_hand(user_options.families, choice.column)
    if choice.family is None or isinstance(said, Family):
        return choice
    if choice.family.has_recipe:
        return best_recipe(choice, column, user_options, user_options.calibrate)
    entrants = candidates(choice.family, column, everything) if said == "auto" else [choice.family]
    if is_open(user_options.smoothing, choice.column):
        entrants = [smoothed_by_itself(family, column) for family in entrants]
    results = contest(leaving, entrants, column) if len(entrants) > 1 else [Result(entrants[0], 0.0)]
    reason = f"{choice.reason}; {told(results)}" if len(results) > 1 else choice.reason
    return replace(choice, family=results[0].family, reason=reason)


def told(results: Sequence[Result]) -> str:
    """Who won, and by how much."""
    first, *others = results
    rival = next((result for result in others if result.family.name != first.family.name), others[0])
    return f"log loss of left-out rows {first.loss:.4f}, {rival.family.name} {rival.loss:.4f}"


def best_table(
    guessed: Schema,
    winners: Schema,
    leaving: LeaveOneOut,
    user_options: Options,
    engine: Engine,
    watch: Watch = unwatched,
) -> Schema:
    """The winners all together, unless the guesses, or only those that count in bins, do better as a whole.

    Numbers that go together, such as lengths and widths, may do better in one bell with a covariance (the lecture's
    discriminant analysis). Such a block cannot say what each column said, so it must win clearly.
    """
    rows = leaving.batch
    free = {choice.column for choice in winners.choices if by_hand(user_options.families, choice.column) == "auto"}
    as_guessed = {choice.column: choice for choice in guessed.choices}
    looks = tuple(as_guessed[choice.column] if choice.column in free else choice for choice in winners.choices)
    everywhere = [kind for kind in families.classes() if kind.for_whole_tables]
    alike = [changed(winners, free, by_family(kind, rows)) for kind in everywhere if not kind.is_joint]
    tables = different([winners, replace(winners, choices=looks), *alike])
    plain = free - {choice.column for choice in winners.choices if is_time(choice.kind)}
    numbers = plain_numbers(winners, plain, rows)
    joint_tables = different(together(winners, numbers, kind()) for kind in everywhere if kind.is_joint)
    joint_tables = [table for table in joint_tables if affordable_covariance(table, rows)]
    if len(tables) == 1 and not joint_tables:
        return winners
    tryout = Tryout(leaving, engine)
    with watch("Comparing", Size(len(tables) + len(joint_tables), "tables")) as report:
        trials = [tryout.of(table, table.blocks) for table in counted([*tables, *joint_tables], report)]
    best = preferred(trials[: len(tables)])
    joint = preferred([best, *trials[len(tables) :]])
    if joint is best or joint.loss > WORTH_A_COVARIANCE * best.loss:
        naive: Schema = best.what
        return naive
    reason = f"in one bell with all numbers: left-out accuracy {joint.accuracy:.1%}, each by itself {best.accuracy:.1%}"
    return told_why(joint.what, reason)


def told_why(schema: Schema, reason: str) -> Schema:
    """The schema with a reason for the columns that share a covariance."""
    choices = tuple(
        replace(choice, reason=f"{choice.reason}; {reason}") if choice.family and choice.family.is_joint else choice
        for choice in schema.choices
    )
    return replace(schema, choices=choices)


Change = Callable[[Choice], AnyFamily]


def changed(schema: Schema, free: set[str], change: Change) -> Schema:
    """The schema with the family of every column of numbers changed, where the user left it open."""
    choices = (
        replace(choice, family=change(choice)) if choice.column in free and reads_as(choice, NUMBER) else choice
        for choice in schema.choices
    )
    return replace(schema, choices=tuple(choices))


def reads_as(choice: Choice, kind: str) -> bool:
    """Whether a column is learned as values of this kind."""
    return choice.family is not None and choice.family.reads == kind


def plain_numbers(schema: Schema, free: set[str], rows: Batch) -> set[str]:
    """The open columns of numbers, with whole ones that did best as categories: together they may do better."""
    return {
        choice.column
        for choice in schema.choices
        if choice.column in free
        and (reads_as(choice, NUMBER) or (reads_as(choice, CATEGORY) and are_numbers(rows, choice.column)))
    }


def are_numbers(rows: Batch, column: str) -> bool:
    """Whether a column holds enough different numbers for a bell."""
    one = rows.only([column])
    return holds_numbers(one) and len(np.unique(one.numbers([column]))) >= FEWEST_NUMBERS


def by_family(kind: type[AnyFamily], rows: Batch) -> Change:
    """The same column by one family that stands for all."""

    def change(choice: Choice) -> AnyFamily:
        if isinstance(choice.family, kind):
            return choice.family
        column = rows.only([choice.column])
        return smoothed_by_itself(kind().suited_to(column), column)

    return change


def together(schema: Schema, columns: set[str], family: AnyFamily) -> Schema:
    """The schema with some columns in one block."""
    choices = (replace(choice, family=family) if choice.column in columns else choice for choice in schema.choices)
    return replace(schema, choices=tuple(choices))


def different(schemas: Iterable[Schema]) -> list[Schema]:
    """The schemas without those that say the same as an earlier one."""
    found: list[Schema] = []
    for schema in schemas:
        if schema.blocks not in [earlier.blocks for earlier in found]:
            found.append(schema)
    return found


def affordable_covariance(schema: Schema, rows: Batch) -> bool:
    """Whether a block with a covariance has several columns, and few enough to leave every row out."""
    widest = max(len(block.columns) for block in schema.blocks)
    return widest >= 2 and len(rows) > 2 * widest and len(rows) * widest**2 <= COVARIANCE_CELLS


def shares_a_total(schema: Schema) -> bool:
    """Whether all columns are counts that share one total, so that one choice is made for all."""
    blocks = schema.blocks
    return len(blocks) == 1 and blocks[0].family.shares_total and len(blocks[0].columns) > 1


def best_total(
    guessed: Schema, leaving: LeaveOneOut, user_options: Options, engine: Engine, watch: Watch = unwatched
) -> Schema:
    """Which family of counts with one total, such as the complement, and its smoothing, for all columns together."""
    ((block),) = guessed.blocks
    said = by_hand(user_options.families, block.columns[0])
    if isinstance(said, Family) or not is_open(user_options.smoothing, block.columns[0]):
        return guessed
    totals = [kind for kind in families.classes() if kind.shares_total]
    kinds = totals if said == "auto" else [type(block.family)]
    entrants = [kind(smoothing=amount) for kind in kinds for amount in SMOOTHINGS_OF_TOTALS]
    with watch("Choosing", Size(len(entrants), "families")) as report:
        tried, tryout = counted(entrants, report), Tryout(leaving, engine)
        trials = [tryout.of(family, (Block(family, block.columns),)) for family in tried]
    best = preferred(trials)
    reason = compared(best, trials)
    choices = tuple(
        choice if choice.family is None else replace(choice, family=best.what, reason=f"{choice.reason}; {reason}")
        for choice in guessed.choices
    )
    return replace(guessed, choices=choices)
