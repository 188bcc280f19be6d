"""Whether the rows that judge a model are rows that it has learned: then what is found flatters it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from candide.data.advice import Message, SetOption
from candide.data.batch import Batch
from candide.data.errors import CandideError
from candide.evaluation.leave_one_out import known_columns
from candide.model.evaluation import Evaluation
from candide.model.trained_model import TrainedModel
from candide.training.forget import refuse_others
from candide.training.knows import knows_rows

LEAVE_OUT: tuple[str, SetOption, str] = (
    "To judge each row by what all others taught: ", SetOption("leave_one_out", True), "."
)  # fmt: skip
THE_SAME = "These are the rows that the model has learned, so it knows their labels, and the figures flatter it. "
SOME = "{known:,} of these {rows:,} rows are among those that the model has learned, so the figures flatter it. "
SAME_FILE = "The model has learned from a file of this name. If these are the same rows, the figures flatter it. "


def notes_on_learned_rows(
    trained: TrainedModel,
    found: Evaluation,
    batches: Callable[[], Iterable[Batch]],
    names: Sequence[str] = (),
    learned_from: Sequence[str] = (),
) -> list[str]:
    """What to say where the rows that were judged seem to have been learned.

    A ledger knows each row. Without one, rows with as many of each class as the model holds are added up once more: all
    that were learned have its summary, to the bit. Some of them cannot be told; the name of their file may.
    """
    if trained.ledger is not None:
        known, rows = rows_known(trained, batches())
        said = SOME.format(known=known, rows=rows) if known < rows else THE_SAME
        return [Message(said, *LEAVE_OUT)] if known else []
    if same_counts(trained, found) and are_those_learned(trained, batches()):
        return [Message(THE_SAME, *LEAVE_OUT)]
    return [Message(SAME_FILE, *LEAVE_OUT)] if set(names) & set(learned_from) else []


def rows_known(trained: TrainedModel, batches: Iterable[Batch]) -> tuple[int, int]:
    """How many rows the ledger knows, and how many there are."""
    known = rows = 0
    for batch in known_columns(trained, batches):
        known, rows = known + int(knows_rows(trained, batch).sum()), rows + len(batch)
    return known, rows


def same_counts(trained: TrainedModel, found: Evaluation) -> bool:
    """Whether as many rows of each class were judged as the model holds."""
    return np.array_equal(found.confusion.sum(axis=1), trained.summary.counts)


def are_those_learned(trained: TrainedModel, batches: Iterable[Batch]) -> bool:
    """Whether these are exactly the rows that were learned."""
    try:
        refuse_others(trained, known_columns(trained, batches))
    except CandideError:
        return False
    return True
