"""How far to believe pairs of columns beside all that columns say by themselves: a convex loss, so one minimum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.data.cached import cached_property
from candide.data.grid import quantized_share
from candide.kernels.calibrating import LARGEST_MARGIN
from candide.kernels.pair_weighing import weighed_chances, weighed_loss
from candide.selection.calibration_task import FARTHEST, label_smoothing
from candide.selection.leave_one_out import LeftOut
from candide.selection.newton import Bends, minimum

HOLD_PAIRS, HOLD_COLUMNS = 0.02, 10.0
"""How strongly, in nats, the weights of pairs are held to 0, and that of all that columns say to 1."""
MOST_WEIGHT, TWICE = 20.0, 2.0
"""So much a pair may weigh, whose cells are held to what their rows support, and all that columns say."""
STEPS = 40
NEARLY, CLOSELY = 1e-7, 1e-16
"""By what share of the loss a step must lower it to be followed by another: while pairs are looked for, and at last."""
ROOTS_AT_ONCE = 250_000
"""So many roots of a curvature are worked out and multiplied at a time."""
NO_ROOTS = np.zeros((0, 0))


@dataclass(frozen=True, eq=False)
class PairLoss:
    """The loss of rows at a weight for what is said without pairs, and one for each pair."""

    terms: FloatArray
    """[term, row, class]: the first is what columns say, the others are pairs."""
    start: FloatArray
    """The log prior, [row, class]."""
    labels: IntArray
    row_weights: FloatArray
    others: float = 0.0
    """How many times as many rows there are that have no say, by which the weight of columns was found to be 1."""

    @classmethod
    def of(cls, terms: FloatArray, left: LeftOut) -> PairLoss:
        """The loss of rows left out; one whose class vanishes with it has no say."""
        return cls(terms, prior_of(left), left.labels, np.where(left.vanished, 0.0, left.weights))

    @cached_property
    def targets(self) -> FloatArray:
        """The share of each row that counts as each class: a little as every other one, as in calibration.

        Not as classes that are far behind by what columns say: what is overwhelming must not be held back.
        """
        rows, classes = np.arange(len(self.labels)), self.start.shape[1]
        seen: FloatArray = np.bincount(self.labels, self.row_weights, classes).astype(np.float64)[self.labels]
        scores = self.start + self.terms[0]
        is_near = scores[rows, self.labels][:, None] - scores < LARGEST_MARGIN
        shares = np.where(is_near, label_smoothing(seen, classes)[:, None], 0.0)
        shares[rows, self.labels] = 0.0
        shares[rows, self.labels] = 1.0 - shares.sum(axis=1)
        return shares

    def _loss(self, point: FloatArray, rows: tuple[int, int], slope: FloatArray, roots: FloatArray) -> float:
        terms, start, targets = self.terms.reshape(len(self.terms), -1), self.start.ravel(), self.targets.ravel()
        return weighed_loss(terms, start, targets, self.row_weights, point, rows, slope, roots)

    @property
    def usual(self) -> FloatArray:
        """The weights that nothing holds back: columns as they are, no pair."""
        return np.arange(len(self.terms)) == 0

    @cached_property
    def held(self) -> FloatArray:
        """How strongly each weight is held to that."""
        said, chances = self.terms[0], chances_of(self.terms[:1], self.start, np.ones(1))
        bends = self.row_weights @ ((chances * said**2).sum(axis=1) - (chances * said).sum(axis=1) ** 2)
        return np.where(self.usual, HOLD_COLUMNS + self.others * float(bends) / 2, HOLD_PAIRS)

    def value_and_slope(self, point: FloatArray) -> tuple[float, FloatArray]:
        """The loss, and its slopes."""
        slope, off = np.empty_like(point), point - self.usual
        loss = self._loss(point, (0, len(self.start)), slope, NO_ROOTS)
        return loss + float(self.held @ off**2), slope + 2 * self.held * off

    def curvature(self, point: FloatArray) -> Bends:
        """The second derivatives."""
        count, rows, classes = self.terms.shape
        each = classes if classes > 2 else 1
        at_once, upwards = max(1, ROOTS_AT_ONCE // (count * each)), 2 * np.diag(self.held)
        for first in range(0, rows, at_once):
            last = min(first + at_once, rows)
            roots = np.empty((count, (last - first) * each))
            self._loss(point, (first, last), np.empty(count), roots)
            upwards += roots @ roots.T
        return Bends(upwards, np.zeros((count, count)))

    def best(self, near: FloatArray, close: float = NEARLY, most: float = MOST_WEIGHT) -> FloatArray:
        """The weights with the least loss, on the grid, of pairs at most so much; the search begins near some."""
        limits = np.stack([np.zeros(len(self.terms)), np.where(self.usual, TWICE, most)], axis=1)
        start = np.concatenate([near, np.zeros(len(self.terms) - len(near))])
        return quantized_share(minimum(self, start, limits, STEPS, close).point)


def chances_of(terms: FloatArray, start: FloatArray, weights: FloatArray) -> FloatArray:
    """What is thought of each row, [row, class], by the log prior and terms[term, row, class] times their weights."""
    found = np.empty_like(start)
    weighed_chances(terms.reshape(len(terms), -1), start.ravel(), weights, start.shape[1], found.reshape(-1))
    return found


def prior_of(left: LeftOut) -> FloatArray:
    """The log prior, [row, class], finite."""
    return np.asarray(np.maximum(left.prior, left.prior.max(axis=1, keepdims=True) - FARTHEST))
