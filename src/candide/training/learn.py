"""Learn: more rows for a model, with new columns and classes where they bring some."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from candide.data.advice import NamedOption
from candide.data.batch import Batch
from candide.data.errors import LabelsRefused, Location
from candide.data.values import Key, shown
from candide.model.trained_model import TrainedModel
from candide.training.merge import merge_two
from candide.training.refill import refilled


def learn_rows(
    trained: TrainedModel, batches: Iterable[Batch], declared: Iterable[Key] = (), sample: Batch | None = None
) -> TrainedModel:
    """More rows under the same choices, which `reread` brings up to date.

    Columns that only the sample has get a family; the old rows lack them.
    """
    wider = trained if sample is None else with_columns_of(trained, sample)
    fresh = not trained.summary.rows
    learned = merge_two(wider, refilled(wider, batches, declared))
    return replace(learned, summary=learned.summary.first_met()) if fresh else learned


def with_columns_of(trained: TrainedModel, sample: Batch) -> TrainedModel:
    """The same rows under a schema that knows every column of the sample."""
    known = set(trained.schema.columns)
    new = [name for name in sample.names if name not in known and sample.has_values(name)]
    if not new:
        return trained
    schema = trained.schema.extended(trained.options.choose_only(sample, new))
    expected = trained.expected and trained.expected.of(lambda kept: kept.widened(schema.memory_blocks))
    return replace(trained, schema=schema, summary=trained.summary.widened(schema.memory_blocks), expected=expected)


def refuse_undeclared(batch: Batch, declared: frozenset[Key]) -> None:
    """Raise where classes were declared and a row has another."""
    if declared and batch.labels is not None:
        for key in batch.labels.keys:
            if key not in declared:
                where = Location(value=shown(key))
                raise LabelsRefused(
                    f"Class '{shown(key)}' is not among the ", NamedOption("classes"), " given.", where=where
                )
