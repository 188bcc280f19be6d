"""The reported score of a class, whose softmax is the posterior: the one place where it is added up.

    score = log prior + bias + sum over blocks of weight * length^-power * (what the block says)

Calibration is fitted by a kernel that also needs the slopes of this sum, and the page of a report adds it up where it
is read: tests hold both to what is said here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from candide.data.arrays import FloatArray
from candide.data.values import Key
from candide.model.calibration import Calibration


class BlockEvidence(NamedTuple):
    """What a block says of some rows: its key, score[row, class], and length[row] where calibration asks for it."""

    key: str
    score: FloatArray
    length: FloatArray | None


def reported_start(log_prior: FloatArray, calibration: Calibration, classes: Sequence[Key]) -> FloatArray:
    """What the score of each class begins with: prior and bias, [..., class]."""
    return log_prior + calibration.biases(classes)


def reported_scores(start: FloatArray, calibration: Calibration, evidence: Iterable[BlockEvidence]) -> FloatArray:
    """The score of each class, [row, class], from where it begins and the evidence of all blocks.

    >>> import numpy as np
    >>> halved = Calibration(weight={"x": 0.5})
    >>> said = BlockEvidence("x", np.array([[-2.0, -4.0]]), None)
    >>> reported_scores(np.array([[-1.0, -1.0]]), halved, [said]).tolist()
    [[-2.0, -3.0]]
    """
    scores = start.copy()
    for key, score, length in evidence:
        scores += calibration.factor(key, length) * score
    return scores
