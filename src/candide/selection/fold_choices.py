"""Choices without a fold: whatever was chosen from rows is judged by rows that had no part in choosing it.

The best of many families, over many columns, is a fit with a winner's curse: rows that had a say in it are judged too
well, and what is calibrated on them is too sure. Summaries subtract, so families are read off anew without each fold of
the rows, and every row is judged under the choices of all others. Folds hold about equal shares of every class.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.data.batch import Batch
from candide.data.progress import Size, Watch, counted, unwatched
from candide.engines.protocol import Engine
from candide.families.base.family import AnyFamily, Block
from candide.model.options import Options
from candide.model.predictor import Priors
from candide.model.schema import LEFT_OUT, Choice, Schema, grouped
from candide.model.summary import Summary
from candide.selection.contest import Result
from candide.selection.fold_summaries import open_part, without_rows
from candide.selection.folds import CHOICES, choice_folds, dealt_by_label
from candide.selection.leave_one_out import LeaveOneOut, LeftOut
from candide.selection.read_off import FEWEST_ROWS, Deciding, Decisions
from candide.selection.wide_tables import Heard

Recipes = tuple[Mapping[str, tuple[AnyFamily, ...]], ...]
"""The readings of text columns that are others without each fold of the rows than with all of them."""

SAME_RECIPES: Recipes = ({},) * CHOICES


@dataclass(frozen=True, eq=False)
class FoldSummaries:
    """The fold of some rows, and what is remembered of open columns: of all rows, and without each fold."""

    folds: IntArray
    deciding: Deciding
    without: tuple[Summary, ...] = ()

    @classmethod
    def of(
        cls, summary: Summary, schema: Schema, rows: Batch, options: Options, engine: Engine, deal: int = 0
    ) -> FoldSummaries:
        """Take each fold of rows out of the summary that has learned them all; not where rows are few.

        Columns that the schema leaves out are left aside.
        """
        assert rows.labels is not None
        heard = {choice.column for choice in schema.choices if choice.rule != LEFT_OUT}
        folds, open_columns = dealt_by_label(rows.labels.codes, deal), open_part(summary, heard)
        deciding = Deciding.of(open_columns, options)
        if len(rows) < FEWEST_ROWS or not deciding.has_enough_rows or not open_columns.blocks:
            return cls(folds, deciding)
        rest = partial(without_rows, LeaveOneOut.of(open_columns, rows))
        return cls(folds, deciding, tuple(engine.map(rest, choice_folds(folds))))

    def choose(
        self, results: Mapping[str, Sequence[Result]], heard: Heard, choice: Choice
    ) -> tuple[AnyFamily | None, ...]:
        """The family of a column without each fold, and with all rows, by the results of its contest."""
        loud = (heard.hears(choice.column, fold) for fold in range(len(self.without)))
        without = [rest if is_heard else None for rest, is_heard in zip(self.without, loud, strict=True)]
        return self.deciding.without_folds(without, choice, results[choice.column])


@dataclass(frozen=True, eq=False)
class FoldChoices:
    """The fold of some rows, and the families of contested columns that are read off without each.

    No family means that a column tells nothing about the label; `silent` are those that tell nothing with all rows.
    Readings of texts do not stand in for one another as families of a column do: rows of a fold without which texts are
    read otherwise are judged by a schema of their own (`with_recipes`).
    """

    folds: IntArray
    families: tuple[dict[str, AnyFamily | None], ...] = ({},) * CHOICES
    silent: frozenset[str] = frozenset()
    recipes: Recipes = SAME_RECIPES
    found: dict[int, tuple[Schema, list[tuple[Block, ...]]]] = field(default_factory=dict, repr=False)
    """Schemas, by which object they are, and their blocks without each fold: asked for again and again."""

    @classmethod
    def of(
        cls, decided: Decisions, apart: FoldSummaries, heard: Heard, engine: Engine, watch: Watch = unwatched
    ) -> FoldChoices:
        """Choose anew without each fold, where columns were decided about with all rows."""
        contested = [choice for choice in decided.schema.choices if choice.column in decided.results]
        if not apart.without or not contested:
            return cls(apart.folds)
        decide = partial(apart.choose, decided.results, heard)
        with watch("Choosing without folds", Size(len(contested), "columns")) as report:
            families = list(counted(engine.map(decide, contested), report))
        columns = [choice.column for choice in contested]
        *by_fold, whole = (dict(zip(columns, found, strict=True)) for found in zip(*families, strict=True))
        silent = {name for name, family in whole.items() if family is None or not heard.hears(name)}
        return cls(apart.folds, tuple(by_fold), frozenset(silent))

    def rows(self, wanted: slice | IntArray) -> FoldChoices:
        """The same for some of the rows."""
        return replace(self, folds=self.folds[wanted])

    def with_recipes(self, schema: Schema, fold: int) -> Schema:
        """The schema with texts read as is chosen without a fold."""
        others = self.recipes[fold]
        choices = (
            replace(choice, family=others[choice.column][0], auxiliary=others[choice.column][1:])
            if choice.column in others
            else choice
            for choice in schema.choices
        )
        return replace(schema, choices=tuple(choices))

    def blocks(self, schema: Schema) -> list[tuple[Block, ...]]:
        """The blocks of a schema as they are without each fold: columns that were not contested stay as they are."""
        if id(schema) not in self.found:
            self.found[id(schema)] = schema, [blocks_with(schema, families) for families in self.families]
        return self.found[id(schema)][1]

    def asked(self, schema: Schema) -> tuple[Block, ...]:
        """All blocks that some fold, or none, would choose."""
        return tuple(dict.fromkeys([*schema.blocks, *self.judging(schema)]))

    def judging(self, schema: Schema) -> tuple[Block, ...]:
        """All blocks that some fold would choose: columns that tell nothing without any fold are in none."""
        return tuple(dict.fromkeys(block for blocks in self.blocks(schema) for block in blocks))

    def folds_judged(self, schema: Schema, expected: Container[Block]) -> dict[Block, IntArray]:
        """The folds of the rows that a block judges, -1 for others, where only some choices have the block.

        Of blocks that are fitted fold by fold. Those by which all rows are `expected` judge them all.
        """
        by_choice, judged = [frozenset(blocks) for blocks in self.blocks(schema)], dict[Block, IntArray]()
        for block in self.judging(schema):
            chosen = np.array([block in blocks for blocks in by_choice])
            if block.family.chooses and block not in expected and not chosen.all():
                judged[block] = np.where(chosen[self.folds % CHOICES], self.folds, -1)
        return judged

    def priors(
        self, leaving: LeaveOneOut, priors: Priors = "empirical", class_weight: Priors | None = None
    ) -> FloatArray:
        """The log prior of each class without each row's fold, [row, class].

        Not without the row alone: where classes are equally common that would make its own the rarest.
        """
        without = [leaving.prior_without(here, priors, class_weight) for here in choice_folds(self.folds)]
        return np.stack(without).take(self.folds % CHOICES, axis=0)

    def silent_blocks(self, schema: Schema) -> set[str]:
        """The keys of blocks whose columns tell nothing about the label, by the family that was chosen."""
        contested = {choice.column for choice in schema.choices if is_contested(choice)}
        return {block.key for block in schema.blocks if set(block.columns) <= self.silent & contested}

    def joined(self, schema: Schema, asked: Sequence[Block], left: LeftOut, prior: FloatArray) -> LeftOut:
        """Of what was asked, for each row what was chosen without its fold says; how expected it is stays as it is.

        A block that was not asked is expected and says nothing where no fold chooses it.
        """
        index_of = {block: index for index, block in enumerate(asked)}
        own, by_choice = [index_of.get(block, -1) for block in schema.blocks], self.blocks(schema)
        if tuple(asked) == schema.blocks and all(blocks == schema.blocks for blocks in by_choice):
            return replace(left, prior=prior)
        chosen = [{block.key: index_of[block] for block in blocks} for blocks in by_choice]
        shape, folds = (len(own), *left.terms.shape[1:]), choice_folds(self.folds)
        terms, lengths, log_marginal = np.zeros(shape), np.zeros(shape[:2]), np.zeros(shape[:2])
        for line, (block, index) in enumerate(zip(schema.blocks, own, strict=True)):
            if index >= 0:
                lengths[line], log_marginal[line] = left.lengths[index], left.log_marginal[index]
            by_fold = [blocks.get(block.key, -1) for blocks in chosen]
            if len(set(by_fold)) == 1 and by_fold[0] >= 0:
                terms[line], lengths[line] = left.terms[by_fold[0]], left.lengths[by_fold[0]]
                continue
            for other, here in zip(by_fold, folds, strict=True):
                if other >= 0:
                    terms[line, here], lengths[line, here] = left.terms[other, here], left.lengths[other, here]
        return replace(left, prior=prior, terms=terms, lengths=lengths, log_marginal=log_marginal)


Dealing = Callable[[int], FoldChoices]
"""The choices under some deal of the rows into folds."""


def blocks_with(schema: Schema, families: Mapping[str, AnyFamily | None]) -> tuple[Block, ...]:
    """The blocks of a schema with other families for columns that were contested."""
    columns = list[tuple[str, tuple[AnyFamily, ...]]]()
    for choice in schema.choices:
        family = families.get(choice.column, choice.family) if is_contested(choice) else choice.family
        columns.append((choice.column, () if family is None else (family, *choice.auxiliary)))
    return grouped(columns) + schema.pair_blocks


def is_contested(choice: Choice) -> bool:
    """Whether a column has the family that won, and not one that a whole table has."""
    return not choice.rule and choice.family is not None and not choice.family.is_joint
