"""Fitting a calibration on leave-one-out scores: no hold-out, a handful of numbers.

They have the same bits in any row order and on any machine: what the search finds is polished and put on a grid.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from candide.data.arrays import AnyArray, BoolArray, FloatArray, IntArray
from candide.data.grid import NEAR, quantized, quantized_number, quantized_share
from candide.data.values import Key
from candide.families.base.family import Block
from candide.kernels.calibrating import Coefficients, Scored, add_curvature, loss_and_slope
from candide.kernels.threads import in_parallel
from candide.model.calibration import Calibration
from candide.selection.leave_one_out import LeftOut
from candide.selection.polishing import polished

ROWS_AT_ONCE = 4096
WORTH_THREADS = 1 << 20
"""Fewer numbers than this are added up before threads have started."""
FARTHEST = 1e3
"""Evidence against a class beyond this many nats of the best is cut off: exp(-1000) is nothing already."""

HOLD_TOGETHER = 3.0
"""How strongly, in nats, the logarithms of the weights of a table's blocks are held to their mean; texts are free."""
HOLD_BIAS = 0.5
"""How strongly the biases are held to zero."""
HOLD_POWER = 0.0005
"""How strongly, for each row, the powers of length are held to zero."""
BY_CHANCE = 3.0
"""Evidence that lowers the loss of all left-out rows by fewer nats than this has no weight: then the prior answers."""
STARTS_OF_TABLE = (-0.3, -1.5, -3.0, -5.0)
STARTS_OF_TEXT = (-6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0)
"""Logarithms of weights to begin with: texts come in many scales, and few rows are wrong by hundreds of nats."""


MANY_CLASSES = 8
"""Of more classes than this, K of them, each has sqrt(8 / K) of a wrong row."""


class Effort(NamedTuple):
    """How much is fitted, and how well: in at most so many steps, until none lowers the loss by such a share."""

    bias: bool
    power: bool
    steps: int
    close: float
    polish: bool = False


IN_FULL = Effort(bias=True, power=True, steps=200, close=1e-8, polish=True)

MOST_POLISHED, MOST_PRODUCTS = 500, 4e9
"""More numbers than this, or more products for their curvature, would take too long: they stay as they were found."""


@dataclass(frozen=True)
class Task:
    """Leave-one-out evidence, made ready: finite, and only of rows whose own class is possible."""

    terms: FloatArray
    """What each block says, [row, block, class]: the numbers of a row lie together."""
    start: FloatArray
    logs: FloatArray
    """How long each row is, as a logarithm, [row, block]."""
    rows: LeftOut
    label_smoothing: FloatArray
    """How much of each row counts as if it were of each other class."""

    @classmethod
    def of(cls, rows: LeftOut, with_length: AnyArray) -> Task:
        terms = near(rows.terms)
        own = np.isfinite(rows.prior[np.arange(len(rows.labels)), rows.labels]) & has_spread(rows)
        start = np.maximum(rows.prior, rows.prior.max(axis=1, keepdims=True) - FARTHEST)
        logs = np.where(np.asarray(with_length)[:, None], np.log(np.maximum(rows.lengths, 1.0)), 0.0)
        kept = LeftOut(rows.labels, rows.weights * own, rows.prior, rows.terms, rows.lengths, rows.log_marginal)
        in_rows = np.ascontiguousarray(terms.transpose(1, 0, 2)), np.ascontiguousarray(logs.T)
        return cls(in_rows[0], start, in_rows[1], kept, label_smoothing_of(kept))

    @cached_property
    def scored(self) -> Scored:
        """The rows as the kernels take them."""
        informed = np.asarray(self.terms.any(axis=(1, 2)), dtype=np.float64)
        return Scored(
            self.terms, self.start, self.logs, self.rows.labels, self.rows.weights, self.label_smoothing, informed
        )

    def loss(self, bias: FloatArray, weight: FloatArray, power: FloatArray) -> tuple[float, list[FloatArray]]:
        """The sum of -log P(label), and its slopes by bias, log weight and power."""
        count, blocks, classes = self.terms.shape
        rows, at = self.scored, Coefficients(bias, weight, power)

        def some(first: int) -> tuple[float, list[FloatArray]]:
            last = min(first + ROWS_AT_ONCE, count)
            slopes = Coefficients(np.zeros(classes), np.zeros(blocks), np.zeros(blocks))
            return loss_and_slope(rows, at, first, last, slopes), list(slopes)

        firsts = range(0, count, ROWS_AT_ONCE)
        found = list(map(some, firsts) if self.terms.size < WORTH_THREADS else in_parallel(some, firsts))
        total = sum(value for value, _ in found)
        return total, [np.sum([slopes[index] for _, slopes in found], axis=0) for index in range(3)]

    def gain(self, bias: FloatArray, log_weight: FloatArray, power: FloatArray) -> float:
        """By how much the evidence lowers the sum of -log P(label) below that of the prior alone."""
        plain = replace(self, label_smoothing=np.zeros_like(self.label_smoothing))
        nothing = map(np.zeros_like, (bias, log_weight, power))
        return plain.loss(*nothing)[0] - plain.loss(bias, np.exp(log_weight), power)[0]

    def curvature(self, bias: FloatArray, weight: FloatArray, power: FloatArray) -> FloatArray:
        """The second derivatives of the loss by bias, log weight and power, [parameter, parameter]."""
        count, blocks, classes = self.terms.shape
        rows, at = self.scored, Coefficients(bias, weight, power)

        def some(first: int) -> FloatArray:
            found = np.zeros((classes + 2 * blocks, classes + 2 * blocks))
            add_curvature(rows, at, first, min(first + ROWS_AT_ONCE, count), found)
            return found

        half = sum(in_parallel(some, range(0, count, ROWS_AT_ONCE)))
        return np.asarray(half + np.tril(half, -1).T)


def label_smoothing_of(rows: LeftOut) -> FloatArray:
    """One wrong row in each class: else a calibration would grow ever surer where all rows happen to be right.

    After n successes one in n + 2 may still fail (Laplace 1774), so each row counts as another class with that share
    (Platt 1999, for two classes). Of many classes each has less than a wrong row: one for each of a hundred classes of
    ten rows would be one row in ten. Evidence that is overwhelming by itself is not held back.
    """
    classes = rows.prior.shape[1]
    seen = np.bincount(rows.labels, rows.weights, classes)
    wrong = np.sqrt(min(1.0, MANY_CLASSES / classes))
    return np.asarray(wrong / (seen[rows.labels] + 2) / max(classes - 1, 1))


def has_spread(rows: LeftOut) -> BoolArray:
    """Which rows leave at least two others of their class: of a single one nobody can tell how far values lie apart.

    All rows, where no class has as many.
    """
    enough = np.bincount(rows.labels, rows.weights, rows.prior.shape[1])[rows.labels] > 2
    return np.asarray(enough | (not enough.any()))


def near(terms: FloatArray) -> FloatArray:
    """The terms with what is impossible made very improbable, so that sums stay finite."""
    best = terms.max(axis=2, keepdims=True)
    best = np.where(np.isfinite(best), best, 0.0)
    return np.asarray(np.maximum(terms, best - FARTHEST) - best)


def calibrated(
    rows: LeftOut,
    classes: Sequence[Key],
    blocks: Sequence[Block],
    effort: Effort = IN_FULL,
    like: Calibration | None = None,
) -> Calibration:
    """The calibration with the least leave-one-out log loss, held back a little where rows are few.

    The search begins at one `like` it, where there is one: that of nearly the same rows.
    """
    texts = np.array([block.family.has_length for block in blocks], dtype=bool)
    task = Task.of(rows, texts & effort.power)
    limits = np.array([block.family.evidence_limits for block in blocks]).reshape(-1, 4)
    bias, weight, power = fitted(task, texts, limits, effort, point_of(like, classes, blocks))
    keys = [block.key for block in blocks]
    return Calibration(
        dict(zip(classes, bias.tolist(), strict=True)),
        dict(zip(keys, weight.tolist(), strict=True)),
        {name: value for name, value in zip(keys, power.tolist(), strict=True) if value != 0.0},
    )


def calibrated_without(
    rows: LeftOut,
    folds: IntArray,
    classes: Sequence[Key],
    blocks: Sequence[Block],
    like: Calibration | None = None,
) -> Iterator[tuple[IntArray, Calibration]]:
    """The rows of each fold, and the calibration of all others: a calibration must not judge rows it was fitted on."""
    for fold in np.unique(folds):
        here = folds == fold
        others = replace(rows, weights=np.where(here, 0.0, rows.weights))
        yield np.flatnonzero(here), calibrated(others, classes, blocks, like=like)


def point_of(
    calibration: Calibration | None, classes: Sequence[Key], blocks: Sequence[Block]
) -> FloatArray | None:
    """Bias, log weight and power in one row of numbers; nothing where some block has no weight."""
    if calibration is None or any(calibration.is_silent(block.key) for block in blocks):
        return None
    weights = np.array([calibration.weight.get(block.key, 1.0) for block in blocks])
    powers = np.array([calibration.power.get(block.key, 0.0) for block in blocks])
    return np.concatenate([calibration.biases(classes), np.log(weights), powers])


def fitted(
    task: Task, texts: AnyArray, evidence_limits: FloatArray, effort: Effort, start: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Bias, weight and power by quasi-Newton steps on the penalised loss."""
    rows, blocks, classes = task.terms.shape
    cuts = [classes, classes + blocks]
    hold_power = HOLD_POWER * rows

    def value(point: FloatArray) -> tuple[float, FloatArray]:
        bias, log_weight, power = np.split(point, cuts)
        loss, (by_bias, by_weight, by_power) = task.loss(bias, np.exp(log_weight), power)
        apart = apart_from_others(log_weight, texts)
        loss += HOLD_BIAS * (bias @ bias) + HOLD_TOGETHER * (apart @ apart) + hold_power * (power @ power)
        by_bias += 2 * HOLD_BIAS * bias
        by_weight += 2 * HOLD_TOGETHER * apart
        by_power += 2 * hold_power * power
        return loss, np.concatenate([by_bias, by_weight, by_power])

    def curvature(point: FloatArray) -> FloatArray:
        bias, log_weight, power = np.split(point, cuts)
        held = HOLD_TOGETHER * held_together(texts)
        bent = task.curvature(bias, np.exp(log_weight), power)
        bent[classes : classes + blocks, classes : classes + blocks] += 2 * held
        bent[np.diag_indices_from(bent)] += 2 * np.repeat([HOLD_BIAS, 0.0, hold_power], [classes, blocks, blocks])
        return bent

    limits: list[Any] = [(-np.inf, np.inf) if effort.bias else (0.0, 0.0)] * classes
    limits += np.log(evidence_limits[:, :2]).tolist()
    limits += (evidence_limits[:, 2:] * effort.power).tolist()
    if start is None:
        start = np.concatenate([np.zeros(classes), first_weights(value, texts, classes), np.zeros(blocks)])
    start = np.clip(start, *np.transpose(limits))
    halt = {"maxiter": effort.steps, "ftol": effort.close}
    found = minimize(value, start, jac=True, method="L-BFGS-B", bounds=limits, options=halt)
    best = found.x
    if quantized_number(task.gain(*np.split(best, cuts))) < BY_CHANCE:
        return np.zeros(classes), np.zeros(blocks), np.zeros(blocks)
    if effort.polish and len(best) <= MOST_POLISHED and rows * classes * (classes + blocks**2) <= MOST_PRODUCTS:
        best = polished(best, np.array(limits), lambda point: value(point)[1], curvature(best))
    bias, log_weight, power = np.split(best, cuts)
    return quantized(bias - bias.mean()), quantized_share(np.exp(log_weight)), quantized(power)


def apart_from_others(log_weight: FloatArray, texts: AnyArray) -> FloatArray:
    """How far the weights of a table's blocks lie from their mean; nothing is asked of texts."""
    if texts.all():
        return np.zeros_like(log_weight)
    return np.asarray(np.where(texts, 0.0, log_weight - log_weight[~texts].mean()))


def held_together(texts: AnyArray) -> FloatArray:
    """The matrix of which `apart_from_others` is the root: weights times it times weights is what they are held by."""
    tables = ~np.asarray(texts)
    return np.asarray(np.diag(tables.astype(np.float64)) - np.outer(tables, tables) / max(tables.sum(), 1))


def first_weights(
    value: Callable[[FloatArray], tuple[float, FloatArray]], texts: AnyArray, classes: int
) -> FloatArray:
    """Where the search begins: all texts at about the one weight that does best, and so all columns of a table.

    The loss is convex in a common weight, so its slope tells on which side the best lies. Where it is flat, all rows
    are right by far, and a smaller weight would do.
    """
    nothing = np.zeros(classes), np.zeros(len(texts))

    def loss_at(weight: float) -> float:
        return value(np.concatenate([nothing[0], nothing[1] + weight, nothing[1]]))[0]

    common = min(STARTS_OF_TABLE, key=loss_at)
    start = np.full(len(texts), common)
    if not texts.any():
        return start

    def is_too_large(weight: float) -> bool:
        point = np.concatenate([np.zeros(classes), np.where(texts, weight, start), np.zeros(len(texts))])
        return bool(value(point)[1][classes : classes + len(texts)][texts].sum() > -NEAR)

    best = STARTS_OF_TEXT[bisect(STARTS_OF_TEXT, False, hi=len(STARTS_OF_TEXT) - 1, key=is_too_large)]
    return np.where(texts, best - 0.5 * np.log(texts.sum()), start)
