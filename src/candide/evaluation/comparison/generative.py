"""The generative methods: naive Bayes and Gaussian discriminant analysis, all Candide's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from candide import engines
from candide.data.arrays import FloatArray
from candide.data.batch import Batch
from candide.data.values import Key
from candide.engines.protocol import parts
from candide.evaluation.comparison.columns import ColumnKinds
from candide.families.gaussian_shared import GaussianShared
from candide.model.options import Options
from candide.model.predictor import Predictor, log_normalised
from candide.model.schema import Families
from candide.model.trained_model import TrainedModel
from candide.training.fit import fit_first_batch, fit_rows


@dataclass(frozen=True)
class Generative:
    """What was learned, ready to answer."""

    trained: TrainedModel

    @classmethod
    def of(cls, trained: TrainedModel) -> Generative:
        """With its parameters made, which is part of learning."""
        _ = trained.predictor
        return cls(trained)

    @property
    def classes(self) -> tuple[Key, ...]:
        return self.trained.predictor.classes

    def log_posterior(self, batch: Batch) -> FloatArray:
        """log P(class | row), [row, class]."""
        model = self.trained.predictor
        rows = batch.with_missing(self.trained.schema.columns)
        return np.concatenate(list(engines.engine_of(self.trained).map(partial(log_posterior_of, model), parts(rows))))


def log_posterior_of(model: Predictor, batch: Batch) -> FloatArray:
    """log P(class | row) of some rows."""
    return log_normalised(model.reported(batch), model.log_prior)


def fit_automatically(columns: ColumnKinds, families: Families, batch: Batch) -> Generative:
    """`NaiveBayes()`: whatever is left open is chosen from these rows. A text is a text, however few there are."""
    by_hand: Any = families
    if columns.texts and (isinstance(families, Mapping) or families == "auto"):
        by_hand = dict.fromkeys(columns.texts, "text") | (dict(families) if isinstance(families, Mapping) else {})
    return Generative.of(fit_rows(Options(by_hand), batch))


def fit_as_guessed(columns: ColumnKinds, batch: Batch) -> Generative:
    """`NaiveBayes(families="guess", smoothing="default", calibrate=False)`, with the guess made from all rows."""
    return as_said(columns.guessed, batch)


def linear(columns: ColumnKinds, batch: Batch) -> Generative:
    """Plain, but a number's spread is the same in every class, so that log odds are straight lines, as in its rival.

    Both then have the same form of posterior: a generative-discriminative pair (Ng & Jordan 2001).
    """
    return as_said({**columns.guessed, **{name: GaussianShared(column=name) for name in columns.numbers}}, batch)


def with_covariance(columns: ColumnKinds, family: str, batch: Batch) -> Generative:
    """All numbers in one bell, and beside it categories and texts as in plain naive Bayes."""
    return as_said({**columns.guessed, **dict.fromkeys(columns.numbers, family)}, batch)


def as_said(families: Mapping[str, Any], batch: Batch) -> Generative:
    """Learn with these families, choosing and calibrating nothing."""
    return Generative.of(fit_first_batch(Options(families, "default", calibrate=False), batch))
