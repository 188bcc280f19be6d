"""Leave-one-out evidence made ready to fit a calibration on: its loss, slope and curvature at any coefficients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeVar

import numpy as np

from candide.data.arrays import BoolArray, FloatArray
from candide.kernels.calibrating import Coefficients, Scored, cut_off, look_over, loss_and_slope
from candide.kernels.calibration_curvature import add_curvature
from candide.kernels.threads import in_parallel
from candide.model.predictor import log_sum
from candide.selection.leave_one_out import LeftOut
from candide.selection.newton import Bends

ROWS_AT_ONCE, ROOTS_AT_ONCE = 4096, 1 << 21
WORTH_THREADS = 1 << 20
"""Fewer numbers than this are added up before threads have begun."""
FARTHEST = 1e3
"""A prior this many nats below the best is as good as none: exp(-1000) is nothing already."""
MANY_CLASSES = 8
"""Of more classes than this, K of them, each has sqrt(8 / K) of a wrong row."""

BY_BLOCK, BY_ROW = ("terms", "logs"), ("start", "labels", "row_weights", "label_smoothing", "informed")
Found = TypeVar("Found")


@dataclass(frozen=True)
class Task:
    """Leave-one-out evidence, made ready: finite, and only of rows whose own class is possible."""

    scored: Scored
    """The rows as the kernels take them."""

    @classmethod
    def of(cls, rows: LeftOut, with_length: BoolArray) -> Task:
        """The evidence of all rows; `with_length[block]` tells where their lengths count."""
        terms, informed = np.ascontiguousarray(rows.terms), np.zeros(len(rows.labels))
        for index, said in enumerate(terms):
            if look_over(said, informed):
                terms = terms.copy() if np.shares_memory(terms, rows.terms) else terms
                cut_off(terms[index])
        start = np.maximum(rows.prior, rows.prior.max(axis=1, keepdims=True) - FARTHEST)
        logs = np.zeros_like(rows.lengths)
        logs[with_length] = np.log(np.maximum(rows.lengths[with_length], 1.0))
        own = np.isfinite(rows.prior[np.arange(len(rows.labels)), rows.labels])
        possible, nothing = rows.weights * own, np.zeros_like(informed)
        scored = Scored(terms, start, logs, rows.labels, possible, nothing, informed, with_length)
        return cls(scored).weighed(rows.weights)

    def weighed(self, weights: FloatArray) -> Task:
        """The same rows with other weights: zero where a row has no part."""
        scored, classes = self.scored, self.scored.start.shape[1]

        def seen(rows: FloatArray) -> FloatArray:
            return np.asarray(np.bincount(scored.labels, rows, classes), dtype=np.float64)[scored.labels]

        kept = np.where(scored.row_weights > 0, weights, 0.0) * has_spread(seen(weights))
        return Task(scored._replace(row_weights=kept, label_smoothing=label_smoothing(seen(kept), classes)))

    def every(self, step: int) -> Task:
        """One in so many rows alone."""
        scored = self.scored
        some: dict[str, Any] = {name: getattr(scored, name)[:, ::step] for name in BY_BLOCK}
        some |= {name: getattr(scored, name)[::step] for name in BY_ROW}
        return Task(scored._replace(**{name: np.ascontiguousarray(part) for name, part in some.items()}))

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.scored.labels)

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return self.scored.terms.size

    @property
    def weight(self) -> float:
        """The weight of all rows."""
        return float(self.scored.row_weights.sum())

    def loss(self, at: Coefficients) -> tuple[float, Coefficients]:
        """The sum of -log P(label), and its slopes by bias, log weight and power."""

        def some(first: int, last: int) -> tuple[float, Coefficients]:
            slopes = Coefficients(*map(np.zeros_like, at))
            return loss_and_slope(self.scored, at, first, last, slopes), slopes

        values, slopes = zip(*self.by_parts(some, ROWS_AT_ONCE), strict=True)
        return sum(values), Coefficients(*(np.sum(parts, axis=0) for parts in zip(*slopes, strict=True)))

    @property
    def prior_loss(self) -> float:
        """The sum of -log P(label) by the prior alone."""
        start, labels = self.scored.start, self.scored.labels
        return float(self.scored.row_weights @ (log_sum(start) - start[np.arange(len(labels)), labels]))

    def plain_loss(self, at: Coefficients) -> float:
        """The sum of -log P(label) alone, however large margins are."""
        return Task(self.scored._replace(label_smoothing=np.zeros_like(self.scored.label_smoothing))).loss(at)[0]

    def curvature(self, at: Coefficients) -> Bends:
        """The second derivatives of the loss by bias, log weight and power, [parameter, parameter]."""
        blocks, classes = len(at.weight), len(at.bias)
        roots = blocks * (1 + bool(self.scored.has_length.any()))

        def some(first: int, last: int) -> FloatArray:
            found = np.zeros((2, classes + 2 * blocks, classes + 2 * blocks))
            space: FloatArray = np.empty((roots, (last - first) * classes))
            filled = space[:, : add_curvature(self.scored, at, first, last, found[0], found[1], space)]
            found[0, classes : classes + roots, classes : classes + roots] += np.tril(filled @ filled.T)
            return found

        halves = reduce(np.add, self.by_parts(some, max(1, ROOTS_AT_ONCE // (roots * classes))))
        return Bends(*(half + np.tril(half, -1).T for half in halves))

    def by_parts(self, work: Callable[[int, int], Found], at_once: int) -> Iterator[Found]:
        """The work on rows first to last, part by part; in parallel where there are many."""
        parts = [(first, min(first + at_once, self.rows)) for first in range(0, self.rows, at_once)]
        return in_parallel(lambda part: work(*part), parts, 1 if self.size < WORTH_THREADS else None)


def label_smoothing(seen: FloatArray, classes: int) -> FloatArray:
    """One wrong row in each class: else a calibration would grow ever surer where all rows happen to be right.

    After n successes one in n + 2 may still fail (Laplace 1774), so each row counts as another class with that share
    (Platt 1999, for two classes), where so many were `seen` of its own. Of many classes each has less than a wrong row:
    one for each of a hundred classes of ten rows would be one row in ten. Overwhelming evidence is not held back.
    """
    wrong = np.sqrt(min(1.0, MANY_CLASSES / classes))
    return np.asarray(wrong / (seen + 2) / max(classes - 1, 1))


def has_spread(seen: FloatArray) -> BoolArray:
    """Which rows leave at least two others of their class, of which so many were `seen`.

    Of a single one nobody can tell how far values lie apart. All rows, where no class has as many.
    """
    enough = seen > 2
    return np.asarray(enough | (not enough.any()))
