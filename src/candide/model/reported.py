"""The reported score of a class, whose softmax is the posterior: the one place where it is added up.

    score = log prior + bias + sum over blocks of weight * length^-power * (what the block says)

The bias belongs to the evidence: where nothing is known of a row it is not added, so that the posterior is the prior.
Calibration is fitted by a kernel that also needs the slopes of this sum, and the page of a report adds it up where it
is read: tests hold both to what is said here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from candide.data.arrays import BoolArray, FloatArray
from candide.kernels.scoring import add_evidence
from candide.model.calibration import Calibration


class BlockEvidence(NamedTuple):
    """What a block says of some rows: its key, score[row, class], and length[row] where calibration asks for it."""

    key: str
    score: FloatArray
    length: FloatArray | None


def reported_scores(
    log_prior: FloatArray, bias: FloatArray, calibration: Calibration, evidence: Iterable[BlockEvidence]
) -> FloatArray:
    """The score of each class, [row, class], from the prior, the biases of classes and the evidence of all blocks.

    >>> halved = Calibration(weight={"x": 0.5})
    >>> said = BlockEvidence("x", np.array([[-2.0, -4.0], [0.0, 0.0]]), None)
    >>> reported_scores(np.array([[-1.0, -1.0]] * 2), np.array([0.25, -0.25]), halved, [said]).tolist()
    [[-1.75, -3.25], [-1.0, -1.0]]
    """
    scores = log_prior.copy()
    informed = np.zeros(len(scores), dtype=bool)
    for key, score, length in evidence:
        if calibration.is_silent(key):
            continue
        factor = np.broadcast_to(calibration.factor(key, length).ravel(), len(scores)).copy()
        add_evidence(np.ascontiguousarray(score), factor, scores, informed)
    if bias.any():
        scores[informed] += bias
    return scores


def is_informed(score: FloatArray) -> BoolArray:
    """Of which rows something is said: a value that is missing, or was never seen, tells all classes the same.

    >>> is_informed(np.array([[0.0, -1.0], [0.0, 0.0]])).tolist()
    [True, False]
    """
    return np.asarray((score != score[..., :1]).any(axis=-1))
