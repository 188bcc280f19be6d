"""Being left out: what each row's values say once the row itself is taken out of the statistic, exactly."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.batch import Batch
from candide.families.base.core import B, P, S, V
from candide.families.base.likelihood import Likelihood


class LeavingOut(Likelihood[S, B, V, P]):
    """Leave-one-out means a refit without the row by the same choices: by default it is one, row by row.

    The families that are used much subtract instead. `labels` are class numbers of `seen`.
    """

    def score_without(
        self, seen: S, batch: Batch, columns: tuple[str, ...], labels: IntArray, weights: AnyArray, joint: FloatArray
    ) -> None:
        """Add what each row's values say without the row."""
        for row, alone, parameters in self._refits(seen, batch, columns, labels, weights):
            self.score(parameters, self.view(alone, columns), joint[row : row + 1])

    def log_likelihood_without(
        self, seen: S, batch: Batch, columns: tuple[str, ...], labels: IntArray, weights: AnyArray, joint: FloatArray
    ) -> None:
        """Add log P(values | class) without the row; the score, where that is a likelihood."""
        if self.is_likelihood:
            self.score_without(seen, batch, columns, labels, weights, joint)
            return
        for row, alone, parameters in self._refits(seen, batch, columns, labels, weights):
            self.log_likelihood(parameters, self.view(alone, columns), joint[row : row + 1])

    def strangeness_without(
        self, seen: S, batch: Batch, columns: tuple[str, ...], labels: IntArray, weights: AnyArray
    ) -> FloatArray:
        """What is added to log P of each row for parts of it that no other row has: 0 or less, by default nothing."""
        return np.zeros(len(batch))

    def _refits(
        self, seen: S, batch: Batch, columns: tuple[str, ...], labels: IntArray, weights: AnyArray
    ) -> Iterator[tuple[int, Batch, P]]:
        """Each row by itself, and the parameters of all others."""
        for row, label in enumerate(labels.tolist()):
            alone, one = batch.take(np.array([row])), self.builder(columns, seen.classes)
            self.learn(one, self.read(alone, columns), np.array([label]), weights[row : row + 1])
            yield row, alone, self.fit(seen - one.freeze(), columns)
