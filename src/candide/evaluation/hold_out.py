"""Evaluation on rows given: answers beside their labels, which tell most where the rows were kept back."""

from __future__ import annotations

from collections.abc import Iterable

from candide.data.batch import Batch
from candide.data.metrics import LEAST_LOG
from candide.data.values import Key, shown
from candide.engines.protocol import Engine
from candide.model.evaluation import ROWS_GIVEN, Evaluation
from candide.model.predictor import Predictor
from candide.model.scoring import SUSPECTS
from candide.selection.scored_rows import scored


def on_rows(
    model: Predictor,
    batches: Iterable[Batch],
    engine: Engine,
    *,
    label: str | None = None,
    suspects: int = SUSPECTS,
) -> Evaluation:
    """Compare answers with the labels of rows, which the model should not have learned."""
    total = scored(model, batches, engine, -LEAST_LOG, suspects)
    return total.evaluation(ROWS_GIVEN, label, model.classes, notes_on_unknown_classes(total.unknown_classes))


def notes_on_unknown_classes(classes: Iterable[Key]) -> list[str]:
    """What to say of labels that the model does not know."""
    return [f"The model never learned class '{shown(key)}', so its rows count as wrong." for key in sorted(classes)]
