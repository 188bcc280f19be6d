"""Fit without a single label: rows find so many groups by EM, and the model learns each row as the groups it is in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from candide import engines
from candide.data.arrays import FloatArray
from candide.data.batch import Batch
from candide.data.errors import OptionRefused
from candide.data.progress import Size, Watch, unwatched
from candide.data.values import Coded, Key
from candide.engines.protocol import parts
from candide.model.options import Options
from candide.model.predictor import log_normalised
from candide.model.row_sample import canonical_rows, picked
from candide.model.schema import Schema
from candide.model.trained_model import TrainedModel
from candide.selection.em import Mixture, shares_of
from candide.selection.groups import Grouping, find_groups
from candide.selection.scored_rows import weights_of
from candide.selection.screening import is_left_open, screened
from candide.training.fit import first_met
from candide.training.semi_supervised import soft_rows

STARTS = 8
LEAST_VARIANCE = 1e-3
"""The least variance of a group, as a part of that of the whole column."""


@dataclass(frozen=True, eq=False)
class Clustered:
    """A model whose classes are the groups that were found, and how it came to them."""

    trained: TrainedModel
    grouping: Grouping
    starts: tuple[float, ...]
    """How probable rows were after the first steps of every start."""


def cluster_rows(
    options: Options,
    sample: Batch,
    groups: int,
    batches: Callable[[], Iterable[Batch]] | None = None,
    label: str | None = None,
    seed: int = 0,
    starts: int = STARTS,
    watch: Watch = unwatched,
) -> Clustered:
    """Find groups among the rows of a sample, and learn all batches, or the sample, as these.

    Families go by the look of values: there are no labels to choose them by. Groups are called by their size, group 1
    being the largest.
    """
    from candide.kernels.linear_algebra import on_one_thread

    refuse_groups(groups, starts, len(sample))
    with on_one_thread():
        nobody = Coded(np.zeros(len(sample), dtype=np.int64), group_names(1))
        rows = canonical_rows(picked(replace(sample, labels=nobody)))
        schema = with_floors(screened(options.choose(rows), rows, options), options)
        complete = rows.with_missing(schema.columns).read_once()
        engine, weights = engines.named(options.engine), weights_of(rows).astype(np.float64)
        nothing = np.zeros(0, dtype=np.int64)
        mixture = Mixture(complete, nothing, weights, groups, schema.blocks, frozenset(), engine)
        found, begun = find_groups(mixture, seed, starts, watch)
        largest_first = np.argsort(-(weights @ found.shares), kind="stable")
        grouping = replace(found, shares=found.shares[:, largest_first])
        with watch("Learning groups", Size(None, "rows")):
            trained = learned_groups(options, schema, complete, grouping, label)
            if batches is not None:
                trained = learned_by_answers(trained, batches())
    return Clustered(trained, grouping, begun)


def with_floors(schema: Schema, options: Options) -> Schema:
    """The schema with deviations of no less than a small part of the column's own, where the user left it open.

    Else a few rows that agree in a number would be a group under which they are as probable as one likes.
    """

    def floored(family: Any) -> Any:
        return replace(family, floor=LEAST_VARIANCE) if hasattr(family, "floor") else family

    choices = (
        replace(choice, family=floored(choice.family)) if is_left_open(options, choice.column) else choice
        for choice in schema.choices
    )
    return replace(schema, choices=tuple(choices))


def learned_groups(
    options: Options, schema: Schema, rows: Batch, grouping: Grouping, label: str | None
) -> TrainedModel:
    """A model that has learned each row as the groups it is in."""
    begun, names = TrainedModel.empty(options, schema, label), group_names(grouping.shares.shape[1])
    soft = soft_rows(rows, grouping.shares, names, 1.0)
    return filled(begun, [soft])


def learned_by_answers(trained: TrainedModel, batches: Iterable[Batch]) -> TrainedModel:
    """The same choices, with all rows of the batches learned as what the model takes them for."""
    predictor, columns = trained.predictor, trained.schema.columns

    def shared(batch: Batch) -> Batch:
        complete = batch.with_missing(columns)
        shares: FloatArray = shares_of(log_normalised(predictor.joint(complete), predictor.log_prior))
        return soft_rows(complete, shares, predictor.classes, 1.0)

    pieces = (part for batch in batches for part in parts(replace(batch, labels=None)))
    return filled(trained, engines.engine_of(trained).map(shared, pieces))


def filled(trained: TrainedModel, batches: Iterable[Batch]) -> TrainedModel:
    """The same choices, with only these rows learned."""
    summary = engines.engine_of(trained).summarize(trained.schema.memory_blocks, batches)
    return first_met(replace(trained, summary=summary))


def group_names(groups: int) -> tuple[Key, ...]:
    """What groups are called, so that they are sorted as they are counted.

    >>> [name for _, name in group_names(10)][:2]
    ['group 01', 'group 02']
    """
    return tuple(("text", f"group {number + 1:0{len(str(groups))}}") for number in range(groups))


def refuse_groups(groups: int, starts: int, rows: int) -> None:
    """Raise where so many groups cannot be found among so many rows."""
    if not 2 <= groups <= rows:
        raise OptionRefused.of_option("groups", f"a whole number from 2 to the number of rows, {rows:,}", groups)
    if starts < 1:
        raise OptionRefused.of_option("starts", "a whole number from 1 up", starts)
