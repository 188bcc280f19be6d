"""Evaluation on rows given: answers beside their labels, which tell most where the rows were kept back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from candide.data.batch import Batch
from candide.data.metrics import LEAST_LOG
from candide.data.values import Key, shown
from candide.engines.base.plan import Plan
from candide.engines.protocol import Engine
from candide.model.evaluation import ROWS_GIVEN, Evaluation
from candide.model.predictor import Predictor
from candide.model.scoring import SUSPECTS, Score
from candide.model.trained_model import TrainedModel
from candide.selection.scored_rows import RowScorer, pieces, scored
from candide.store.model_file import from_bytes, to_bytes


def on_rows(
    model: Predictor,
    batches: Iterable[Batch],
    engine: Engine,
    *,
    label: str | None = None,
    suspects: int = SUSPECTS,
) -> Evaluation:
    """Compare answers with the labels of rows, which the model should not have learned."""
    return of_rows_given(scored(model, batches, engine, -LEAST_LOG, suspects), model.classes, label)


def on_rows_elsewhere(
    trained: TrainedModel, plan: Plan, engine: Engine, *, label: str | None = None, suspects: int = SUSPECTS
) -> Evaluation:
    """The same of rows that lie elsewhere, which are judged where they are."""
    total = counted_through(engine.map(BatchScorer(trained, suspects), plan), suspects)
    return of_rows_given(total, trained.predictor.classes, label)


def of_rows_given(total: Score, classes: Iterable[Key], label: str | None) -> Evaluation:
    """What follows from the sums over rows."""
    return total.evaluation(ROWS_GIVEN, label, classes, notes_on_unknown_classes(total.unknown_classes))


@dataclass(frozen=True)
class BatchScorer:
    """Compares a model's answers with the labels of a batch, whose rows are counted from its first."""

    trained: TrainedModel
    suspects: int

    def __call__(self, batch: Batch) -> tuple[int, Score]:
        """How many rows there are, and how good the answers are."""
        model = self.trained.predictor
        scorer = RowScorer(model, -LEAST_LOG, self.suspects)
        return len(batch), sum(map(scorer, pieces([batch], len(model.classes))), Score(most=self.suspects))

    def __reduce__(self) -> Any:
        """Sent elsewhere, the model travels in the form of its file, and is checked there."""
        return sent_scorer, (to_bytes(self.trained), self.suspects)


def sent_scorer(model: bytes, suspects: int) -> BatchScorer:
    """What judges rows, as it arrives."""
    return BatchScorer(from_bytes(model), suspects)


def counted_through(found: Iterable[tuple[int, Score]], suspects: int) -> Score:
    """The scores of batches as one, in which rows are counted through all of them."""
    total, seen = Score(most=suspects), 0
    for rows, score in found:
        total += score.at(np.arange(seen, seen + rows))
        seen += rows
    return total


def notes_on_unknown_classes(classes: Iterable[Key]) -> list[str]:
    """What to say of labels that the model does not know."""
    return [f"The model never learned class '{shown(key)}', so its rows count as wrong." for key in sorted(classes)]
