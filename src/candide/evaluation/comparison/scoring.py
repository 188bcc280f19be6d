"""How one draw went: how many answers were right, how surprising the labels were, and how honest the probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from candide.data.arrays import AnyArray, FloatArray
from candide.data.metrics import BINS, bin_of, calibration_error, own_losses
from candide.data.values import Coded, Key


@dataclass(frozen=True)
class DrawScore:
    """Sums over the rows judged. `bins` holds rows, right answers and probabilities by 15 bins of probability."""

    rows: int
    right: int
    loss: float
    bins: AnyArray
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0

    @property
    def accuracy(self) -> float:
        """The share of answers that are right."""
        return self.right / self.rows

    @property
    def log_loss(self) -> float:
        """The mean surprise at the labels, in nats."""
        return self.loss / self.rows


def score_sums(
    log_posterior: FloatArray, classes: tuple[Key, ...], labels: Coded, surprise: float
) -> tuple[int, float, AnyArray]:
    """Right answers, summed loss, and bins; a label of a class that was not learned costs `surprise`.

    >>> half = np.log(np.array([[0.5, 0.5], [0.1, 0.9]]))
    >>> right, loss, _ = score_sums(half, (("text", "no"), ("text", "yes")), Coded.of(["yes", "yes"]), 9.0)
    >>> right, round(loss, 3)
    (1, 0.799)
    """
    indices = labels.renumbered({key: index for index, key in enumerate(classes)})
    best = log_posterior.argmax(axis=1)
    right = best == indices
    losses = np.where(indices >= 0, own_losses(log_posterior, indices), surprise)
    chance = np.exp(log_posterior[np.arange(len(best)), best])
    which = bin_of(chance)
    bins = np.array([np.bincount(which, weights, BINS) for weights in (np.ones(len(best)), right, chance)])
    return int(right.sum()), float(losses.sum()), bins


def joint_calibration_error(scores: list[DrawScore]) -> float:
    """The expected calibration error over the rows of all folds together: of few rows it would be mostly chance."""
    return calibration_error(*np.sum([score.bins for score in scores], axis=0))
