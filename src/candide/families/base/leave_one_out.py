"""What a block says of rows that it has learned, each taken out of its statistic: exact leave-one-out.

It means a refit without the row by the same choices. What does not depend on the row is prepared once; then rows may be
asked about as often as one likes, on any thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from candide.data.arrays import AnyArray, IntArray
from candide.data.batch import Batch
from candide.families.base.block_scores import BlockScores
from candide.families.base.likelihood import Likelihood


class BlockLeftOut(Protocol):
    """A statistic that rows can be taken out of, one at a time."""

    def scores(self, batch: Batch, labels: IntArray, weights: AnyArray) -> BlockScores:
        """What the block says of each row without it; `labels` are class numbers, `weights` empty where all are one.

        The length is that of the row as it is.
        """


@dataclass(frozen=True, eq=False)
class ByRefitting:
    """Any family: a refit for each row, so that a new family need not say more."""

    family: Likelihood[Any, Any, Any, Any]
    seen: Any
    columns: tuple[str, ...]

    def scores(self, batch: Batch, labels: IntArray, weights: AnyArray) -> BlockScores:
        shape = (len(labels), self.seen.classes)
        score, likelihood, unseen = np.zeros(shape), np.zeros(shape), np.zeros(shape[0])
        for row, label in enumerate(labels.tolist()):
            alone = batch.take(np.array([row]))
            rest = self.seen - self._of_one(alone, label, weights[row : row + 1])
            parameters = self.family.fit(rest, self.columns)
            said = self.family.assess(parameters, self.family.view(alone, self.columns), (1, shape[1]))
            score[row], likelihood[row], unseen[row] = said.score[0], said.log_likelihood[0], said.unseen[0]
        parameters = self.family.fit(self.seen, self.columns)
        length = self.family.evidence_length(parameters, self.family.view(batch, self.columns))
        return BlockScores(score, likelihood, np.broadcast_to(length, shape[:1]), unseen)

    def _of_one(self, alone: Batch, label: int, weight: AnyArray) -> Any:
        """The statistic of a single row."""
        builder = self.family.builder(self.columns, self.seen.classes)
        self.family.learn(builder, self.family.read(alone, self.columns), np.array([label]), weight)
        return builder.freeze()


class Subtracting(Protocol):
    """A family that takes a row's own share out of its counts or sums, with no refit."""

    def view(self, batch: Batch, columns: tuple[str, ...]) -> Any: ...

    def fit(self, seen: Any, columns: tuple[str, ...]) -> Any: ...

    def evidence_length(self, parameters: Any, values: Any) -> Any: ...

    def score_without(
        self, seen: Any, values: Any, columns: tuple[str, ...], labels: IntArray, weights: AnyArray, joint: Any
    ) -> None:
        """Add what the values of `view` say without their row into joint[row, class]."""


@dataclass(frozen=True, eq=False)
class BySubtracting:
    """A family that subtracts: its values are read once for all that is asked.

    `likelihood_without` adds log P(values | class) as `score_without` adds the score, where that is no likelihood.
    """

    family: Subtracting
    seen: Any
    columns: tuple[str, ...]
    parameters: Any
    likelihood_without: Callable[..., None] | None = None

    @classmethod
    def of(
        cls,
        family: Subtracting,
        seen: Any,
        columns: tuple[str, ...],
        likelihood_without: Callable[..., None] | None = None,
    ) -> BySubtracting:
        """Ready to take rows out."""
        return cls(family, seen, columns, family.fit(seen, columns), likelihood_without)

    def scores(self, batch: Batch, labels: IntArray, weights: AnyArray) -> BlockScores:
        values = self.family.view(batch, self.columns)
        score = np.zeros((len(labels), self.seen.classes))
        self.family.score_without(self.seen, values, self.columns, labels, weights, score)
        likelihood = score
        if self.likelihood_without is not None:
            likelihood = np.zeros_like(score)
            self.likelihood_without(self.seen, values, self.columns, labels, weights, likelihood)
        length = self.family.evidence_length(self.parameters, values)
        return BlockScores(score, likelihood, np.broadcast_to(length, len(labels)), np.zeros(len(labels)))
