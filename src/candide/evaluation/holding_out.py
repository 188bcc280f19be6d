"""Evaluation on new rows: answers beside the labels of rows that were kept back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from candide.arrays import IntArray
from candide.batch import Batch
from candide.engines.local import in_parallel, parts
from candide.errors import LabelsRefused
from candide.evaluation.result import Evaluation
from candide.evaluation.scoring import SUSPECTS, Answers, Score
from candide.measures import LEAST_LOG
from candide.model import Model, log_normalised
from candide.summary import whole_weights
from candide.values import Key, shown

CELLS_AT_ONCE = 1 << 22
"""One thread holds no more than so many (row, class, block) cells at a time: 32 MB."""


def on_rows(
    model: Model, batches: Iterable[Batch], *, label: str | None = None, first_row: int = 0, suspects: int = SUSPECTS
) -> Evaluation:
    """Compare answers with the labels of rows the model has not learned."""
    total = scored(model, batches, -LEAST_LOG, suspects)
    return total.evaluation("hold-out", label, model.classes, first_row, never_learned(total.strangers))


def scored(model: Model, batches: Iterable[Batch], surprise: float, suspects: int = SUSPECTS) -> Score:
    """How good a model's answers are; a label it does not know costs `surprise` in log loss."""

    def score(batch: Batch) -> Score:
        if batch.labels is None:
            raise LabelsRefused("These rows have no labels to compare answers with.")
        return Score.of(
            Answers(
                model.classes,
                log_normalised(model.reported(batch), model.log_prior),
                batch.labels,
                batch.labels.renumbered({key: place for place, key in enumerate(model.classes)}),
                weights_of(batch),
                np.arange(batch.start, batch.start + len(batch)),
                surprise,
            ),
            suspects,
        )

    return sum(in_parallel(score, pieces(batches, len(model.classes))), Score(most=suspects))


def pieces(batches: Iterable[Batch], cells: int) -> Iterator[Batch]:
    """The rows in pieces that a thread can hold, each of which starts where the one before ended."""
    seen = 0
    for batch in batches:
        for part in parts(batch):
            for piece in part.split(max(1, CELLS_AT_ONCE // cells)):
                yield replace(piece, start=seen)
                seen += len(piece)


def weights_of(batch: Batch) -> IntArray:
    """The weight of each row, one where none was given."""
    weights = whole_weights(batch)
    return weights if weights.size else np.ones(len(batch), dtype=np.int64)


def never_learned(strangers: Iterable[Key]) -> list[str]:
    """What to say of labels that the model does not know."""
    return [f"The model never learned class '{shown(key)}', so its rows count as wrong." for key in sorted(strangers)]
