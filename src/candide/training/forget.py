"""Forget: rows taken back exactly, with all that only they had."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from candide.data.batch import Batch
from candide.data.errors import ColumnRefused, Location, RowsRefused
from candide.data.values import shown
from candide.engines.base.plan import with_step
from candide.model.summary import Summary
from candide.model.trained_model import TrainedModel
from candide.training.refill import refilled
from candide.training.traces import scrubbed, without_origin


def forget_rows(trained: TrainedModel, batches: Iterable[Batch]) -> TrainedModel:
    """Without these rows: all of them, or refused if one was never learned. `reread` brings choices up to date.

    What only they had goes with them: classes, columns, and what was measured when they were there.
    """
    gone = refilled(trained, only_known(trained, batches), within=trained.ledger)
    left = left_with(trained, trained.summary - gone.summary)
    if trained.ledger is None or gone.ledger is None:
        return left
    return replace(left, ledger=trained.ledger - gone.ledger)


def left_with(trained: TrainedModel, rest: Summary) -> TrainedModel:
    """The same choices, once rows were forgotten and this is left."""
    declared = trained.options.columns_named
    schema, summary, tuning = scrubbed(trained.schema, trained.summary, rest, trained.tuning, declared)
    provenance = without_origin(trained.provenance)
    expected = trained.expected and trained.expected.of(lambda kept: kept.narrowed(schema.memory_blocks))
    return replace(
        trained, schema=schema, summary=summary, tuning=tuning, provenance=provenance, expected=expected
    )


def refuse_others(trained: TrainedModel, batches: Iterable[Batch]) -> None:
    """Raise unless these rows are exactly those that were learned and not forgotten."""
    given = refilled(trained, only_known(trained, batches), trained.summary.declared)
    refuse_other_rows(trained.summary, given.summary)


def only_known(trained: TrainedModel, batches: Iterable[Batch]) -> Iterable[Batch]:
    """The batches, as long as every value is in a column that was learned."""
    return with_step(batches, OnlyKnown(trained.schema.columns))


@dataclass(frozen=True)
class OnlyKnown:
    """Refuses a batch with a value in a column that was never learned."""

    columns: tuple[str, ...]

    def __call__(self, batch: Batch) -> Batch:
        """The same rows."""
        known = set(self.columns)
        for name in batch.names:
            if name not in known and batch.has_values(name):
                raise ColumnRefused.of_name(
                    f"Column '{name}' was never learned, so rows with a value in it were not either.",
                    name,
                    self.columns,
                    where=Location(column=name),
                )
        return batch


def refuse_other_rows(learned: Summary, given: Summary) -> None:
    """Raise unless the rows given are those that were learned: then they have the same summary, to the bit."""
    if learned == given:
        return
    mine, theirs = (dict(zip(s.classes, s.counts.tolist(), strict=True)) for s in (learned, given))
    apart = next((key for key in sorted({*mine, *theirs}) if mine.get(key, 0) != theirs.get(key, 0)), None)
    found = "as many rows of each class, but other values in them"
    if apart is not None:
        found = f"{theirs.get(apart, 0):,} rows of class '{shown(apart)}' where the model holds {mine.get(apart, 0):,}"
    raise RowsRefused(
        f"These are not the rows of the model: there are {found}.",
        advice="Give exactly the rows that were learned and not forgotten, or fit a new model.",
    )
