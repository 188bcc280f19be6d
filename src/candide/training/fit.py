"""Fit: choose by leave-one-out, learn every row, calibrate."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from candide import engines
from candide.data.batch import Batch
from candide.data.progress import Size, Watch, unwatched
from candide.data.values import Key
from candide.engines.base.plan import Plan
from candide.model.evaluation import Evaluation
from candide.model.options import Options
from candide.model.row_sample import Reservoir, canonical_rows, picked
from candide.model.schema import Schema
from candide.model.trained_model import TrainedModel
from candide.training.refill import Completing, completed, refilled
from candide.training.reread import with_schema

if TYPE_CHECKING:
    from candide.selection.fold_choices import Dealing, FoldChoices, Recipes
    from candide.selection.read_off import Deciding

Batches = Callable[[], Iterable[Batch]]
"""All rows, to be read once more."""
Judged = tuple[TrainedModel, Evaluation | None]
"""A model, and how well it judges rows that had no part in its choices, where that was measured."""


def fit_rows(
    options: Options,
    sample: Batch | Reservoir,
    batches: Callable[[], Iterable[Batch]] | None = None,
    label: str | None = None,
    watch: Watch = unwatched,
) -> TrainedModel:
    """Learn all batches (or the sample), read families off what was learned, and calibrate."""
    return fit_and_judge(options, sample, batches, label, watch)[0]


def fit_and_judge(
    options: Options,
    sample: Batch | Reservoir,
    batches: Callable[[], Iterable[Batch]] | None = None,
    label: str | None = None,
    watch: Watch = unwatched,
) -> Judged:
    """Learn all batches (or the sample), read families off what was learned, calibrate, and tell how good it is.

    Which columns are texts must be known before rows are counted, and is told by the sample. All else follows from the
    summary of all rows, or from rows picked by content from all over the batches, which are read once more only where
    texts are to be read as suits them, or where all numbers turn out to share a bell. Where the sample was picked so
    beforehand, as a cluster does, it is a reservoir.
    """
    from candide.kernels.linear_algebra import on_one_thread  # not needed, and not imported, to predict

    with on_one_thread():
        if options.unlabelled == "em":
            from candide.training.semi_supervised import fit_in_part

            rows = sample.rows() if isinstance(sample, Reservoir) else sample
            return fit_in_part(options, rows, batches, label, watch)
        return learned_and_judged(options, sample, batches, label, watch)


def learned_and_judged(
    options: Options,
    sample: Batch | Reservoir,
    batches: Callable[[], Iterable[Batch]] | None,
    label: str | None,
    watch: Watch,
) -> Judged:
    """The same, whoever else works on this machine."""
    from candide.selection.columns import chosen_by_rows
    from candide.selection.screening import screened, unscreened
    from candide.selection.user_options import is_settled

    reservoir = sample if isinstance(sample, Reservoir) else Reservoir()
    sample = reservoir.rows() if isinstance(sample, Reservoir) else sample
    with watch("Looking", Size(None, "columns")):
        guessed = options.choose(sample)
        settled = is_settled(options, guessed)
        rows = sample if settled else canonical_rows(picked(sample)).read_once()
        kept = guessed if settled else screened(guessed, rows, options)
    if settled:
        begun = TrainedModel.empty(options, guessed, label)
        return first_met(refilled(begun, [sample] if batches is None else batches())), None
    engine = engines.named(options.engine)
    has_texts = any(choice.family and choice.family.has_recipe for choice in kept.choices)
    if batches is not None and has_texts and not reservoir.seen:
        reservoir = engine.pick(batches())
        rows = canonical_rows(picked(reservoir.rows())).read_once()
    schema, recipes = chosen_by_rows(kept, rows, options, engine, watch)
    begun = TrainedModel.empty(options, schema, label)
    if batches is None:
        with watch("Learning", Size(None, "rows")):
            trained = refilled(begun, [sample], read=rows if len(rows) == len(sample) else None)
        return chosen_on(first_met(trained), rows, lambda: [sample], recipes, watch)
    elsewhere = isinstance(again := batches(), Plan)
    read = rows if len(rows) == reservoir.seen and not elsewhere else None
    trained = first_met(refilled(begun, again if reservoir.seen else reservoir.watched(again), read=read))
    picked_rows = canonical_rows(reservoir.rows()).read_once()
    with watch("Looking", Size(None, "columns")):
        looked = replace(trained, schema=screened(unscreened(trained.schema, guessed), picked_rows, options))
    return chosen_on(looked, picked_rows, batches, recipes, watch)


def first_met(trained: TrainedModel) -> TrainedModel:
    """The model with as many cells a column as are kept once the first rows were learned."""
    return replace(trained, summary=trained.summary.first_met())


def chosen_on(
    trained: TrainedModel, rows: Batch, batches: Batches, recipes: Recipes, watch: Watch = unwatched
) -> Judged:
    """The model with families read off, taken as the best table, and calibrated: all judged by these of its rows.

    `recipes` are how texts are read where that is chosen without each fold of these rows.
    """
    from candide.selection.few_rows import as_few_rows
    from candide.selection.fold_choices import FoldChoices, FoldSummaries
    from candide.selection.read_off import decisions
    from candide.selection.wide_tables import without_weak_columns

    engine, options = engines.engine_by_column(trained, len(rows)), trained.options
    complete = Completing(trained.schema.columns)(rows)
    schema, heard = without_weak_columns(trained.schema, trained.summary, complete, options)
    decided = decisions(trained.summary, schema, options, engine, watch)
    winners = with_schema(trained, as_few_rows(decided.schema, trained.summary, options))

    def dealt(deal: int) -> FoldChoices:
        apart = FoldSummaries.of(trained.summary, schema, complete, options, engine, deal)
        return FoldChoices.of(decided, apart, heard, engine, watch)

    choices = replace(dealt(0), recipes=recipes)
    if heard.without:  # which columns are left, neither a rule for the whole table nor another deal chooses anew
        return calibrated_on(winners, complete, batches, choices, watch)
    table = as_best_table(winners, decided.deciding, complete, batches, choices, watch)
    return calibrated_on(table, complete, batches, choices, watch, dealt)


def as_best_table(
    winners: TrainedModel,
    deciding: Deciding,
    rows: Batch,
    batches: Batches,
    choices: FoldChoices,
    watch: Watch = unwatched,
) -> TrainedModel:
    """The model with families read off, and taken as a table as its rows are judged best.

    A bell that all numbers share learns all rows from the `batches`, which are read only then.
    """
    from candide.selection.columns import best_table

    engine = engines.engine_by_column(winners, len(rows))
    schema = best_table(winners.schema, deciding, rows, engine, choices, watch)
    return with_blocks_learned(winners, schema, batches)


def with_blocks_learned(trained: TrainedModel, schema: Schema, batches: Batches) -> TrainedModel:
    """The same rows under other choices; blocks whose columns speak together learn them from the batches."""
    chosen = with_schema(trained, schema)
    joined = [block for block in schema.memory_blocks if block not in trained.summary.blocks]
    if not joined:
        return chosen
    engine = engines.engine_of(trained)
    learned = engine.summarize(tuple(joined), completed(chosen, batches()), chosen.summary.declared)
    return replace(chosen, summary=chosen.summary.with_blocks(learned))


def fit_first_batch(
    options: Options, first: Batch, label: str | None = None, declared: Iterable[Key] = ()
) -> TrainedModel:
    """Learn the first of many batches: what was left open is yet to be read off, and nothing calibrated."""
    return first_met(refilled(TrainedModel.empty(options, options.choose(first), label), [first], declared))


def calibrated_on(
    trained: TrainedModel,
    rows: Batch,
    batches: Batches,
    choices: FoldChoices,
    watch: Watch = unwatched,
    dealt: Dealing | None = None,
) -> Judged:
    """Calibrated on these rows of those learned, each left out; as it is where that is not asked for.

    Pairs of columns that were found to speak together learn all rows from the `batches`, which are read only then.
    """
    options = trained.options
    if not options.calibrate:
        return trained, None
    from candide.selection.screening import with_leaks
    from candide.selection.tune import tune

    complete = Completing(trained.schema.columns)(rows)
    tuned = tune(trained, complete, choices, engines.engine_by_column(trained, len(rows)), watch, dealt)
    schema = replace(with_leaks(trained.schema, tuned.leaks), pairs=tuned.pairs)
    return replace(with_blocks_learned(trained, schema, batches), tuning=tuned.tuning), tuned.judged
