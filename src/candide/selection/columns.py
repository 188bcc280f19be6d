"""What is chosen from whole rows: text recipes, smoothing of families given by hand, and how a table is best taken.

The families of columns left open are read off the summary (`candide.selection.read_off`); here they are tried together,
on at most a few thousand rows, beside a few other tables: each column as it looks, all numbers in bins, or in one bell.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from candide import families
from candide.data.arrays import IntArray
from candide.data.batch import Batch
from candide.data.progress import Size, Watch, counted, unwatched
from candide.data.times import is_time
from candide.engines.protocol import Engine
from candide.families.base.competing import CATEGORY, NUMBER
from candide.families.base.family import AnyFamily, Block, Family
from candide.families.base.undecided import Undecided
from candide.families.text import Text
from candide.model.options import Options
from candide.model.schema import AUTO, GUESS, LEFT_OUT, Choice, Schema
from candide.model.summary import Summary
from candide.selection.candidates import holds_numbers, smoothed_by_itself
from candide.selection.fold_choices import SAME_RECIPES, FoldChoices, Recipes
from candide.selection.folds import CHOICES, dealt_by_label
from candide.selection.leave_one_out import LeaveOneOut
from candide.selection.read_off import FEWEST_ROWS, Deciding, decided_by, ruled
from candide.selection.text_recipes import BestRecipe, best_recipe
from candide.selection.trials import (
    Trial,
    Tryout,
    calibrated_trial,
    clearly_best,
    compared,
    distinct_classes,
    preferred,
)
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

ROWS_A_CLASS = 5
"""With fewer rows than this of each class, tables are not compared: the winners of each column are taken."""

ROWS_A_COLUMN = 10
"""Of fewer rows for each column, chance makes one table look better than another by more than a standard error."""

SMOOTHINGS_OF_TOTALS = (1.0, 0.3, 0.1, 0.03, 0.01)


class ChosenByRows(NamedTuple):
    """A schema, and how texts are read where that is chosen without each fold of the rows."""

    schema: Schema
    recipes: Recipes = SAME_RECIPES


def chosen_by_rows(
    guessed: Schema, rows: Batch, user_options: Options, engine: Engine, watch: Watch = unwatched
) -> ChosenByRows:
    """The schema with what is chosen from rows for columns that are not read off; as it is where rows are few."""
    if len(rows) < FEWEST_ROWS or distinct_classes(rows) < 2:
        return ChosenByRows(guessed)
    if shares_a_total(guessed):
        few = rows.rows(0, affordable_rows(rows))
        return ChosenByRows(best_total(guessed, LeaveOneOut.of_labels(few), user_options, engine, watch))
    closed = [choice for choice in guessed.choices if choice.remembered is None and choice.family is not None]
    if not closed:
        return ChosenByRows(guessed)
    assert rows.labels is not None
    decide = ByRows(rows, dealt_by_label(rows.labels.codes), user_options)
    with watch("Choosing", Size(len(closed), "columns")) as report:
        found = list(counted(engine.map(decide, closed), report))
    decided = {one.choice.column: one.choice for one in found}
    schema = replace(guessed, choices=tuple(decided.get(choice.column, choice) for choice in guessed.choices))
    return ChosenByRows(schema, tuple(recipes_without(fold, found) for fold in range(CHOICES)))


def recipes_without(fold: int, found: Iterable[BestRecipe]) -> dict[str, tuple[AnyFamily, ...]]:
    """The readings of text columns that are others without a fold of the rows."""
    others = [(one.choice, one.without_folds[fold]) for one in found if one.without_folds]
    return {choice.column: families for choice, families in others if families != choice.families}


def affordable_rows(rows: Batch) -> int:
    """How many rows are left out one by one."""
    return min(len(rows), MOST_ROWS, max(LEAST_ROWS, CELLS // (len(rows.names) * distinct_classes(rows))))


@dataclass(frozen=True)
class ByRows:
    """From a column's guess to its choice, where its family is no question."""

    rows: Batch
    folds: IntArray
    user_options: Options

    def __call__(self, choice: Choice) -> BestRecipe:
        """The recipe of a text, or the smoothing of a family whose options were left to us."""
        column, said = self.rows.only([choice.column]), by_hand(self.user_options.families, choice.column)
        if choice.family is None or isinstance(said, Family):
            return BestRecipe(choice)
        if choice.family.has_recipe:
            found = best_recipe(choice, column, self.folds, self.user_options, self.user_options.calibrate)
            left_open = self.user_options.text is None and said == AUTO
            return found._replace(choice=with_plain_words(found.choice)) if left_open else found
        if not is_open(self.user_options.smoothing, choice.column):
            return BestRecipe(choice)
        seen = Summary.of((Block(choice.family, column.names),), column).statistics[0]
        return BestRecipe(replace(choice, family=smoothed_by_itself(choice.family, seen)))


def with_plain_words(choice: Choice) -> Choice:
    """The choice of a text that also remembers its words as they are, which any two models have in common."""
    plain = Text().reading(choice.column)
    has_them = any(family.counted_as == plain.counted_as for family in choice.families)
    return choice if has_them else replace(choice, remembered=plain)


def best_table(
    winners: Schema,
    deciding: Deciding,
    rows: Batch,
    engine: Engine,
    choices: FoldChoices,
    watch: Watch = unwatched,
) -> Schema:
    """The winners all together, unless the guesses, or only those that count in bins, do better as a whole.

    Numbers that go together, such as lengths and widths, may do better in one bell with a covariance (the lecture's
    discriminant analysis). Such a block cannot say what each column said, so it must win clearly.
    """
    free = {choice.column for choice in winners.choices if isinstance(choice.remembered, Undecided)}
    free -= {choice.column for choice in winners.choices if choice.rule == LEFT_OUT}
    if len(rows) < FEWEST_ROWS or distinct_classes(rows) < 2 or not free:
        return winners
    few = rows.rows(0, affordable_rows(rows))
    if len(few) < min(len(rows), ROWS_A_CLASS * distinct_classes(rows)):
        return winners
    choices = choices.rows(slice(0, len(few)))
    of_numbers = {choice.column for choice in winners.choices if choice.column in free and reads_as(choice, NUMBER)}
    everywhere = [kind for kind in families.classes() if kind.for_whole_tables]
    rules = [(free, GUESS), *((of_numbers, kind().name) for kind in everywhere if not kind.is_joint)]
    others = [decided_by(deciding, ruled(winners, some, rule), engine).schema for some, rule in rules]
    tables = different([winners, *others])
    plain = free - {choice.column for choice in winners.choices if is_time(choice.kind)}
    numbers = plain_numbers(winners, plain, few)
    joint_tables = different(together(winners, numbers, kind()) for kind in everywhere if kind.is_joint)
    joint_tables = [table for table in joint_tables if affordable_covariance(table, few)]
    if len(tables) == 1 and not joint_tables:
        return winners
    tryout = Tryout(LeaveOneOut.of_labels(few), engine, choices.folds)
    with watch("Comparing", Size(len(tables) + len(joint_tables), "tables")) as report:
        trials = [table_trial(table, tryout, choices) for table in counted([*tables, *joint_tables], report)]
    narrow = len(few) >= ROWS_A_COLUMN * len(free)
    best = clearly_best(trials[0], trials[1 : len(tables)], errors=1.0 if narrow else 2.0)
    joint = clearly_best(best, trials[len(tables) :], errors=2.0)
    if joint is best or joint.loss > WORTH_A_COVARIANCE * best.loss:
        naive: Schema = best.what
        return naive
    reason = f"in one bell with all numbers: left-out accuracy {joint.accuracy:.1%}, each by itself {best.accuracy:.1%}"
    return told_why(joint.what, reason)


def table_trial(table: Schema, tryout: Tryout, choices: FoldChoices) -> Trial:
    """How well a table judges rows that had no part in choosing it."""
    asked = choices.judging(table) or table.blocks[:1]
    left = choices.joined(table, asked, tryout.left_out(asked), choices.priors(tryout.leaving))
    return calibrated_trial(table, left, tryout.leaving.classes, table.blocks)


def told_why(schema: Schema, reason: str) -> Schema:
    """The schema with a reason for the columns that share a covariance."""
    choices = tuple(
        replace(choice, reason=f"{choice.reason}; {reason}") if choice.family and choice.family.is_joint else choice
        for choice in schema.choices
    )
    return replace(schema, choices=choices)


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
