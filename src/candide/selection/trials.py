"""A whole model on trial: how it would judge rows it has not seen, calibrated; and which of several to prefer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from candide.data.arrays import BoolArray, FloatArray, IntArray
from candide.data.batch import Batch
from candide.data.grid import first_largest, quantized_number
from candide.data.metrics import LEAST_LOG, mean_loss
from candide.data.values import Key
from candide.engines.protocol import Engine
from candide.families.base.family import Block
from candide.selection.fit_calibration import TO_COMPARE, Effort, calibrated
from candide.selection.leave_one_out import LeaveOneOut, LeftOut


@dataclass(frozen=True)
class Trial:
    """What was tried, its accuracy and its calibrated log loss on so many rows, each left out."""

    what: Any
    accuracy: float
    loss: float
    rows: float
    losses: FloatArray | None = field(default=None, repr=False, compare=False)
    """The weighted loss of each row."""
    right: FloatArray | None = field(default=None, repr=False, compare=False)
    """The weight of each row that was answered rightly; nothing of others."""
    weights: FloatArray | None = field(default=None, repr=False, compare=False)

    @property
    def standard_error(self) -> float:
        """How far the accuracy might be off by chance."""
        return math.sqrt(self.accuracy * (1 - self.accuracy) / self.rows) if self.rows else 0.0

    def by(self, jury: BoolArray) -> Trial:
        """The same as some of the rows judge it."""
        if jury.all():
            return self
        assert self.losses is not None
        assert self.right is not None
        assert self.weights is not None
        losses, right, weights = self.losses[jury], self.right[jury], self.weights[jury]
        rows = float(weights.sum())
        loss, accuracy = float(np.minimum(losses, -LEAST_LOG * weights).sum()) / rows, float(right.sum()) / rows
        return Trial(self.what, accuracy, quantized_number(loss), rows, losses, right, weights)


@dataclass(frozen=True)
class Tryout:
    """Whole models on trial; what a block says of the rows is asked once, whichever models have it."""

    leaving: LeaveOneOut
    engine: Engine
    folds: IntArray | None = None
    said: dict[Block, LeftOut] = field(default_factory=dict)

    def of(self, what: Any, blocks: Sequence[Block]) -> Trial:
        """Let these blocks learn the rows, leave each out, calibrate, and measure."""
        return calibrated_trial(what, self.left_out(blocks), self.leaving.classes, blocks)

    def left_out(self, blocks: Sequence[Block]) -> LeftOut:
        """What blocks that learn the rows say of each without it."""
        new = [block for block in blocks if block not in self.said]
        if new:
            left = self.leaving.in_folds(new, self.engine, self.folds)
            self.said.update((block, left.block(index)) for index, block in enumerate(new))
        return LeftOut.side_by_side([self.said[block] for block in blocks])


def calibrated_trial(
    what: Any, left: LeftOut, classes: Sequence[Key], blocks: Sequence[Block], effort: Effort = TO_COMPARE
) -> Trial:
    """How well blocks judge rows left out, calibrated on them."""
    calibration = calibrated(left, classes, blocks, effort)
    return measured(what, left.posterior(calibration, classes, blocks), left.labels, left.weights)


def measured(
    what: Any, log_posterior: FloatArray, labels: IntArray, weights: FloatArray, answered: IntArray | None = None
) -> Trial:
    """A trial from the posteriors of rows left out; its log loss is on the grid, so that machines prefer alike.

    The answers are the most probable classes unless others are given.
    """
    right = weights * ((first_largest(log_posterior) if answered is None else answered) == labels)
    accuracy, loss = float(right.sum() / weights.sum()), mean_loss(log_posterior, labels, weights)
    losses = -weights * log_posterior[np.arange(len(labels)), labels]
    return Trial(what, accuracy, quantized_number(loss), float(weights.sum()), losses, right, weights)


def clearly_best(first: Trial, others: Sequence[Trial], errors: float = 1.0) -> Trial:
    """The first, unless another is better by so many standard errors: in log loss, row by row, or in accuracy, too.

    >>> steady = Trial("steady", 0.8, 0.5, 4, np.array([0.5, 0.5, 0.5, 0.5]))
    >>> clearly_best(steady, [Trial("lucky", 0.8, 0.4, 4, np.array([0.0, 0.0, 0.0, 1.6]))]).what
    'steady'
    """
    best = first
    for trial in others:
        assert trial.losses is not None
        assert best.losses is not None
        less = best.losses - trial.losses
        needed = errors * math.sqrt(len(less) * float(less.var()))
        gained, more_right = quantized_number(float(less.sum())), trial.accuracy - best.accuracy
        if gained > quantized_number(needed) or (gained > 0 and more_right > errors * best.standard_error):
            best = trial
    return best


def preferred(trials: Sequence[Trial]) -> Trial:
    """The most accurate; among those within one standard error of it, the one with the least log loss.

    Raw log loss would prefer timid models, and accuracy alone would follow chance. Of equals the earlier is taken.

    >>> preferred([Trial("bold", 0.82, 0.9, 100), Trial("sound", 0.80, 0.5, 100), Trial("timid", 0.5, 0.4, 100)]).what
    'sound'
    """
    most = max(trials, key=lambda trial: trial.accuracy)
    close = [trial for trial in trials if trial.accuracy >= most.accuracy - most.standard_error]
    return min(close, key=lambda trial: trial.loss)


def compared(best: Trial, others: Sequence[Trial]) -> str:
    """By how much it won, in words."""
    rest = [trial for trial in others if trial.what != best.what]
    said = f"left-out accuracy {best.accuracy:.1%}, log loss {best.loss:.4f}"
    if not rest:
        return said
    second = preferred(rest)
    return f"{said}; next best {second.what}: {second.accuracy:.1%}, {second.loss:.4f}"


def distinct_classes(rows: Batch) -> int:
    """How many classes the rows have."""
    return 0 if rows.labels is None else len(np.unique(rows.labels.codes))
