"""Leave-one-out evidence made ready to fit a calibration on: its loss, slope and curvature at any coefficients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeVar

import numpy as np

from candide.data.arrays import BoolArray, FloatArray, IntArray
from candide.kernels.calibrating import Coefficients, Scored, cut_off, look_over, loss_and_slope, mark_probable
from candide.kernels.calibration_curvature import add_curvature, mirror_below
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

Found = TypeVar("Found")


@dataclass(frozen=True)
class Task:
    """Leave-one-out evidence, made ready: finite, and only of rows whose own class is possible."""

    scored: Scored
    """The rows as the kernels take them."""
    classes: int

    @classmethod
    def of(cls, rows: LeftOut, with_length: BoolArray) -> Task:
        """The evidence of all rows; `with_length[block]` tells where their lengths count."""
        terms, informed = np.ascontiguousarray(rows.terms), np.zeros(len(rows.labels))
        for index, said in enumerate(terms):
            if look_over(said, informed):
                terms = terms.copy() if np.shares_memory(terms, rows.terms) else terms
                cut_off(terms[index])
        count, classes = rows.prior.shape
        start = np.maximum(rows.prior, rows.prior.max(axis=1, keepdims=True) - FARTHEST)
        logs, ends = np.zeros_like(rows.lengths), np.arange(0, count * classes + 1, classes)
        logs[with_length] = np.log(np.maximum(rows.lengths[with_length], 1.0))
        own, which = ends[:-1] + rows.labels, np.tile(np.arange(classes, dtype=np.int32), count)
        possible, nothing = rows.weights * np.isfinite(rows.prior.ravel()[own]), np.zeros_like(informed)
        cells = terms.reshape(len(terms), -1), start.ravel(), which, ends, own
        return cls(Scored(*cells, logs, possible, nothing, informed, with_length), classes).weighed(rows.weights)

    @property
    def labels(self) -> IntArray:
        """The class of each row."""
        return np.asarray(self.scored.classes[self.scored.own])

    def weighed(self, weights: FloatArray) -> Task:
        """The same rows with other weights: zero where a row has no part."""
        scored, labels = self.scored, self.labels

        def seen(rows: FloatArray) -> FloatArray:
            return np.asarray(np.bincount(labels, rows, self.classes), dtype=np.float64)[labels]

        kept = np.where(scored.row_weights > 0, weights, 0.0) * has_spread(seen(weights))
        smoothing = label_smoothing(seen(kept), self.classes)
        return replace(self, scored=scored._replace(row_weights=kept, label_smoothing=smoothing))

    def every(self, step: int) -> Task:
        """One in so many rows alone."""
        wanted = np.arange(0, self.rows, step)
        here = np.zeros(self.rows, dtype=bool)
        here[wanted] = True
        return self._parted(wanted, np.repeat(here, np.diff(self.scored.ends)))

    @property
    def has_every_class(self) -> bool:
        """Whether no class was left out of any row."""
        return len(self.scored.start) == self.rows * self.classes

    def probable(self, at: Coefficients, depth: float) -> Task:
        """The same without classes that are so far behind the best one of a row near these coefficients."""
        kept = np.empty(len(self.scored.start), dtype=bool)

        def some(first: int, last: int) -> None:
            mark_probable(self.scored, at, first, last, depth, kept)

        list(self.by_parts(some, ROWS_AT_ONCE))
        return self._parted(np.arange(self.rows), kept)

    def _parted(self, wanted: IntArray, kept: BoolArray) -> Task:
        """Some of the rows, with some of their cells: those of others are not kept, that of a label always is."""
        scored, cells = self.scored, np.flatnonzero(kept)
        parted = scored._replace(
            terms=scored.terms.take(cells, axis=1),
            start=scored.start[cells],
            classes=scored.classes[cells],
            ends=np.concatenate([[0], np.searchsorted(cells, scored.ends[wanted + 1])]),
            own=np.searchsorted(cells, scored.own[wanted]),
            logs=np.ascontiguousarray(scored.logs[:, wanted]),
            row_weights=scored.row_weights[wanted],
            label_smoothing=scored.label_smoothing[wanted],
            informed=scored.informed[wanted],
        )
        return replace(self, scored=parted)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.scored.own)

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return self.scored.terms.size

    @property
    def powers(self) -> int:
        """How many powers of length there are: one for each block, or none where no length matters."""
        return len(self.scored.terms) if self.scored.has_length.any() else 0

    def coefficients(self, point: FloatArray) -> Coefficients:
        """Bias, weight and power at a point: biases, the logarithms of weights, and powers where there are any."""
        first, blocks = self.classes, len(self.scored.terms)
        powers = point[first + blocks :] if len(point) > first + blocks else np.zeros(blocks)
        return Coefficients(point[:first], np.exp(point[first : first + blocks]), powers)

    @property
    def weight(self) -> float:
        """The weight of all rows."""
        return float(self.scored.row_weights.sum())

    def loss(self, at: Coefficients) -> tuple[float, Coefficients]:
        """The sum of -log P(label), and its slopes by bias, log weight and power."""

        def some(first: int, last: int) -> tuple[float, Coefficients]:
            slopes = Coefficients(*map(np.zeros_like, at))
            return loss_and_slope(self.scored, at, first, last, slopes), slopes

        if self.rows <= ROWS_AT_ONCE:
            return some(0, self.rows)
        values, slopes = zip(*self.by_parts(some, ROWS_AT_ONCE), strict=True)
        return sum(values), Coefficients(*(np.sum(parts, axis=0) for parts in zip(*slopes, strict=True)))

    @property
    def prior_losses(self) -> FloatArray:
        """-log P(label) of each row by the prior alone."""
        start = self.scored.start
        return np.asarray(log_sum(start.reshape(-1, self.classes)) - start[self.scored.own])

    def plain_loss(self, at: Coefficients) -> float:
        """The sum of -log P(label) alone, however large margins are."""
        smoothing = np.zeros_like(self.scored.label_smoothing)
        return replace(self, scored=self.scored._replace(label_smoothing=smoothing)).loss(at)[0]

    def curvature(self, at: Coefficients, with_bias: bool = True) -> Bends:
        """The second derivatives of the loss by bias, log weight and power, [parameter, parameter]."""
        classes, roots = len(at.bias), len(at.weight) + self.powers

        def some(first: int, last: int) -> FloatArray:
            found = np.zeros((2, classes + roots, classes + roots))
            space: FloatArray = np.empty((roots, self.scored.ends[last] - self.scored.ends[first]))
            filled = space[:, : add_curvature(self.scored, at, first, last, with_bias, found[0], found[1], space)]
            found[0, classes:, classes:] += filled @ filled.T
            return found

        cells_a_row = -(-len(self.scored.start) // self.rows)
        halves = reduce(np.add, self.by_parts(some, max(1, ROOTS_AT_ONCE // (roots * cells_a_row))))
        for half in halves:
            mirror_below(half)
        return Bends(*halves)

    def by_parts(self, work: Callable[[int, int], Found], at_once: int) -> Iterator[Found]:
        """The work on rows first to last, part by part; in parallel where there are many."""
        if self.rows <= at_once:
            return iter([work(0, self.rows)])
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
