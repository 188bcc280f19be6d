"""Evaluation in folds: each is judged by a model that was fitted, choices and all, on the others."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from candide import engines
from candide.data.advice import NamedOption, SetOption
from candide.data.arrays import IntArray
from candide.data.batch import Batch
from candide.data.errors import LabelsRefused, OptionRefused
from candide.data.values import Key
from candide.kernels.hashing import mix_all
from candide.model.evaluation import Evaluation
from candide.model.options import Options
from candide.model.row_sample import STEADY_BITS, row_hashes
from candide.model.scoring import SUSPECTS, Score, classes_in_words
from candide.selection.scored_rows import scored, weights_of
from candide.training.fit import fit_rows


def in_folds(
    options: Options,
    batch: Batch,
    folds: int,
    *,
    seed: int = 0,
    label: str | None = None,
    suspects: int = SUSPECTS,
    report: Callable[[int], None] | None = None,
) -> Evaluation:
    """Judge each fold by a model fitted on all others: families, smoothing and calibration are chosen anew each time.

    Folds have about equal shares of every class. Which row is in which depends on what it holds and on the seed,
    not on where it is.
    """
    fold = folds_of(batch, folds, seed)
    surprise = math.log(int(weights_of(batch).sum()) + 1)
    total, classes = Score(most=suspects), set[Key]()
    for index in range(folds):
        others, here = np.flatnonzero(fold != index), np.flatnonzero(fold == index)
        trained = fit_rows(options, batch.take(others), label=label)
        total += scored(trained.predictor, [batch.take(here)], engines.engine_of(trained), surprise, suspects).at(here)
        classes.update(trained.summary.classes)
        if report is not None:
            report(len(here))
    return total.evaluation(f"{folds}-fold", label, classes, of_one_fold(total.unknown_classes))


def refuse_two_ways(leave_one_out: bool, folds: int | None, seed: int | None) -> None:
    """Raise where rows are to be judged in two ways at once, or a seed is given and no folds to deal them into."""
    if leave_one_out and folds is not None:
        raise OptionRefused("Leave-one-out and folds are two ways to evaluate.", advice="Ask for one of them.")
    if seed is not None and folds is None:
        raise OptionRefused(
            NamedOption("seed"),
            " deals rows into folds, and none were asked for.",
            advice=("Ask for some: ", SetOption("folds"), "."),
        )


def folds_of(batch: Batch, folds: int, seed: int = 0) -> IntArray:
    """The fold of each row: rows of a class are shuffled by a hash of their content and dealt out like cards.

    >>> rows = Batch.of({"x": [1, 2, 3, 4, 5, 6]}, ["a", "a", "b", "b", "b", "b"])
    >>> np.bincount(folds_of(rows, 2)).tolist(), sorted(folds_of(rows, 2)[:2].tolist())
    ([3, 3], [0, 1])
    """
    if batch.labels is None:
        raise LabelsRefused("These rows have no labels to compare answers with.", expected="one label a row")
    if not (isinstance(folds, int) and 2 <= folds <= len(batch)):
        raise OptionRefused.of_option("folds", f"a whole number from 2 to the number of rows ({len(batch):,})", folds)
    salt = mix_all(np.array([seed % 2**64], dtype=np.uint64))
    steady, exact = row_hashes(batch, STEADY_BITS), row_hashes(batch)
    order = np.lexsort((weights_of(batch), exact, mix_all(steady ^ salt), batch.labels.codes))
    dealt = np.empty(len(batch), dtype=np.int64)
    dealt[order] = np.arange(len(batch)) % folds
    return dealt


def of_one_fold(unknown_classes: frozenset[Key]) -> list[str]:
    """What to say of classes whose rows are all in one fold."""
    if not unknown_classes:
        return []
    rows = f"{classes_in_words(unknown_classes)} rows"
    return [f"{rows} in one fold only: the other folds teach nothing of it, so they count as wrong."]
