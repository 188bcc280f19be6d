"""What a block says of rows that it has learned, each taken out of its statistic: exact leave-one-out.

It means a refit without the row by the same choices. What does not depend on the row is prepared once; then rows may be
asked about as often as one likes, on any thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.families.base.block_rows import BlockRows
from candide.families.base.block_scores import BlockScores
from candide.families.base.core import Core
from candide.families.base.likelihood import Likelihood


class BlockLeftOut(Protocol):
    """A statistic that rows can be taken out of, one at a time."""

    def scores(self, rows: BlockRows[Any]) -> BlockScores:
        """What the block says of each row without it. The length is that of the row as it is."""


@dataclass(frozen=True, eq=False)
class ByRefitting:
    """Any family: a refit for each row, so that a new family need not say more."""

    family: Likelihood[Any, Any, Any, Any]
    seen: Any
    columns: tuple[str, ...]

    def scores(self, rows: BlockRows[Any]) -> BlockScores:
        shape = (len(rows), self.seen.classes)
        score, likelihood, unseen = np.zeros(shape), np.zeros(shape), np.zeros(shape[0])
        for row in range(len(rows)):
            alone = rows.take(self.family, self.columns, np.array([row]))
            rest = self.seen - statistic_of(self.family, self.columns, alone, shape[1])
            parameters = self.family.fit(rest, self.columns)
            said = self.family.assess(parameters, alone.values, (1, shape[1]))
            score[row], likelihood[row], unseen[row] = said.score[0], said.log_likelihood[0], said.unseen[0]
        length = self.family.evidence_length(None, rows.values)
        return BlockScores(score, likelihood, np.broadcast_to(length, shape[:1]), unseen)


def statistic_of(
    family: Core[Any, Any, Any, Any], columns: tuple[str, ...], rows: BlockRows[Any], classes: int
) -> Any:
    """What some rows leave behind, over so many classes; their values are such as can be learned."""
    builder = family.builder(columns, classes)
    family.learn(builder, rows.values, rows.labels, rows.weights)
    return builder.freeze()


class Subtracting(Protocol):
    """A family that takes a row's own share out of its counts or sums, with no refit."""

    def evidence_length(self, parameters: None, values: Any) -> Any: ...

    def score_without(
        self, seen: Any, values: Any, columns: tuple[str, ...], labels: IntArray, weights: AnyArray, joint: Any
    ) -> None:
        """Add what the values of `view` say without their row into joint[row, class]."""


@dataclass(frozen=True, eq=False)
class BySubtracting:
    """A family that subtracts.

    `likelihood_without` adds log P(values | class) as `score_without` adds the score, where that is no likelihood;
    `unseen_without` gives what is added to log P of each row for what no other row holds, where there may be such.
    `score_without` stands in for that of the family, where there is a quicker one.
    """

    family: Subtracting
    seen: Any
    columns: tuple[str, ...]
    likelihood_without: Callable[..., None] | None = None
    unseen_without: Callable[..., FloatArray] | None = None
    score_without: Callable[..., None] | None = None

    def scores(self, rows: BlockRows[Any]) -> BlockScores:
        values, labels, weights = rows.values, rows.labels, rows.weights
        score = np.zeros((len(labels), self.seen.classes))
        score_without = self.score_without or self.family.score_without
        score_without(self.seen, values, self.columns, labels, weights, score)
        likelihood = score
        if self.likelihood_without is not None:
            likelihood = np.zeros_like(score)
            self.likelihood_without(self.seen, values, self.columns, labels, weights, likelihood)
        length = self.family.evidence_length(None, values)
        unseen = np.zeros(len(labels))
        if self.unseen_without is not None:
            unseen = self.unseen_without(self.seen, values, self.columns, labels, weights)
        return BlockScores(score, likelihood, np.broadcast_to(length, len(labels)), unseen)
