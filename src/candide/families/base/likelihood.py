"""What a score means: whether it is a likelihood, and how much of a row it speaks of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from candide.data.arrays import FloatArray
from candide.families.base.block_scores import BlockScores
from candide.families.base.core import B, Core, P, S, V


class EvidenceLimits(NamedTuple):
    """Between which bounds calibration may choose a block's weight, and its power of length."""

    least_weight: float
    largest_weight: float
    least_power: float = 0.0
    largest_power: float = 0.0


LIMITS_OF_SCORES = EvidenceLimits(1e-3, 20.0)
LIMITS_OF_COUNTS = EvidenceLimits(1e-3, 1.0)
"""A value says at most what its counts say. Where a table follows a rule more would lower the loss, without end."""


class Likelihood(Core[S, B, V, P]):
    """By default the score is the likelihood, rows are of one length, and nothing in them is unknown."""

    @property
    def is_likelihood(self) -> bool:
        """Whether the score is a likelihood, so that the prior belongs beside it."""
        return True

    @property
    def is_auxiliary(self) -> bool:
        """Whether the block only reads again what another block of the same column tells the likelihood of."""
        return False

    @property
    def has_length(self) -> bool:
        """Whether rows differ in how much there is to judge, so that calibration may discount long ones."""
        return False

    @property
    def evidence_limits(self) -> EvidenceLimits:
        """How far calibration may raise or lower what the block says."""
        return LIMITS_OF_COUNTS if self.adds_counts and self.is_likelihood else LIMITS_OF_SCORES

    @property
    def aspect(self) -> str:
        """What of the column the family reads, where others read the same column too."""
        return ""

    def log_likelihood(self, parameters: P, values: V, joint: FloatArray) -> None:
        """Add log P(values | class); the score itself, except where that is no likelihood."""
        self.score(parameters, values, joint)

    def evidence_length(self, parameters: P | None, values: V) -> FloatArray:
        """How much of each row the block can speak of: its columns that are there, or the words of its text.

        Without parameters all that the rows hold counts as learned, as it is where they were. One number stands for all
        rows: by default each is as long as any other.
        """
        return np.ones(1)

    def score_with_length(self, parameters: P, values: V, shape: tuple[int, int]) -> tuple[FloatArray, FloatArray]:
        """The score of each (row, class) and the evidence length of each row, from one look at the values."""
        score = np.zeros(shape)
        self.score(parameters, values, score)
        return score, np.broadcast_to(self.evidence_length(parameters, values), shape[:1])

    def assess(self, parameters: P, values: V, shape: tuple[int, int]) -> BlockScores:
        """All that the block says of the rows, as many and of as many classes as the shape tells."""
        score, length = self.score_with_length(parameters, values, shape)
        likelihood = score
        if not self.is_likelihood:
            likelihood = np.zeros(shape)
            self.log_likelihood(parameters, values, likelihood)
        return BlockScores(score, likelihood, length, np.zeros(shape[0]))

    def typical_length(self, seen: S) -> float:
        """How much there is to judge in a typical row, where rows differ in that."""
        return 1.0
