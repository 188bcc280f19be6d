"""Rows that wait: small batches of plain numbers are learned together, once somebody asks or once they are many.

A batch that is learned by itself costs a summary, however few its rows are. What is refused is refused when rows come,
and sums are the same in any split: nobody can tell that rows have waited.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from candide.data.batch import Batch, MatrixColumns
from candide.data.values import Coded, Key
from candide.families.base.undecided import Undecided
from candide.model.trained_model import TrainedModel
from candide.training.learn import learn_rows

MOST_WAITING = 1 << 18
"""So many numbers may wait: two megabytes."""


def may_wait(trained: TrainedModel, batch: Batch, declared: frozenset[Key]) -> bool:
    """Whether these rows can be learned at any time after they were read: unweighted numbers of columns left open."""
    columns, blocks = batch.columns, trained.summary.blocks
    return (
        isinstance(columns, MatrixColumns)
        and columns.matrix.dtype.kind in "iuf"
        and columns.matrix.size <= MOST_WAITING
        and batch.weights is None
        and trained.ledger is None
        and declared <= trained.summary.declared
        and len(blocks) == 1
        and isinstance(blocks[0].family, Undecided)
        and blocks[0].columns == batch.names
    )


def with_waiting(waiting: Sequence[Batch], batch: Batch, trained: TrainedModel) -> tuple[Batch, ...]:
    """The rows that wait and those of a batch, copied so that nobody can change them; refused where `learn` would."""
    for block in trained.summary.blocks:
        block.family.read(batch, block.columns)
    assert isinstance(batch.columns, MatrixColumns)
    return *waiting, replace(batch, columns=replace(batch.columns, matrix=batch.columns.matrix.copy()))


def are_many(waiting: Sequence[Batch]) -> bool:
    """Whether no more rows should wait."""
    return sum(len(batch) * len(batch.names) for batch in waiting) > MOST_WAITING


def learn_waiting(trained: TrainedModel, waiting: Sequence[Batch]) -> TrainedModel:
    """The model once rows that waited are learned."""
    return learn_rows(trained, [one_batch(waiting)]) if waiting else trained


def one_batch(batches: Sequence[Batch]) -> Batch:
    """The rows of several batches of numbers, which have the same columns."""
    matrices = [batch.columns.matrix for batch in batches if isinstance(batch.columns, MatrixColumns)]
    labels = [batch.labels for batch in batches if batch.labels is not None]
    index_of = {key: index for index, key in enumerate(sorted({key for coded in labels for key in coded.keys}))}
    codes = np.concatenate([coded.renumbered(index_of) for coded in labels])
    columns = MatrixColumns(batches[0].names, np.concatenate(matrices))
    return Batch(columns, Coded(codes, tuple(index_of)))
