"""How good predictions are: accuracy, log loss, calibration error, and the seconds they took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

LEAST = 1e-15
BINS = 15
DIGITS = 6  # as remembered, and so as compared


@dataclass(frozen=True)
class Score:
    """All folds of a data set together: every row is tested once. No probabilities, no log loss and no ECE."""

    accuracy: float = np.nan
    log_loss: float | None = None
    ece: float | None = None
    tested: int = 0
    fit_seconds: float = np.nan
    predict_seconds: float = np.nan
    note: str = ""
    error: str = ""

    @property
    def standard_error(self) -> float:
        """That of the accuracy, rows being independent."""
        return float(np.sqrt(self.accuracy * (1 - self.accuracy) / self.tested))

    @property
    def seconds(self) -> float:
        return self.fit_seconds + self.predict_seconds


@dataclass(frozen=True)
class Answers:
    """What a method said about the rows of one fold: a class each and, where it can, the chance of every class."""

    classes: Any
    predicted: Any
    chances: Any
    fit_seconds: float
    predict_seconds: float
    note: str = ""


def score(truths: list[Any], folds: list[Answers]) -> Score:
    """One score for all folds."""
    right = np.concatenate([np.asarray(a.predicted == truth) for truth, a in zip(truths, folds, strict=True)])
    log_loss = ece = None
    if all(answers.chances is not None for answers in folds):
        of_truth = np.concatenate([chance_of(truth, a) for truth, a in zip(truths, folds, strict=True)])
        log_loss = float(-np.log(np.maximum(of_truth, LEAST)).mean())
        ece = calibration_error(np.concatenate([answers.chances.max(axis=1) for answers in folds]), right)
    return Score(
        float(right.mean()),
        log_loss,
        ece,
        len(right),
        sum(answers.fit_seconds for answers in folds),
        sum(answers.predict_seconds for answers in folds),
        folds[0].note,
    )


def chance_of(truth: Any, answers: Answers) -> Any:
    """The chance given to the true class; none where it was not among the rows learned."""
    index = {label: at for at, label in enumerate(answers.classes)}
    columns = np.array([index.get(label, -1) for label in truth])
    return np.where(columns < 0, 0.0, answers.chances[np.arange(len(truth)), columns])


def calibration_error(confidence: Any, right: Any) -> float:
    """How far accuracy is from the top probability, over equal widths of it (Guo et al. 2017)."""
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, weights=right - confidence, minlength=BINS)
    return float(np.abs(gaps).sum() / len(right))
