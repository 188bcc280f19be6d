"""Fitting a calibration on leave-one-out scores: no hold-out, a handful of numbers.

They have the same bits in any row order and on any machine: Newton's steps end at one point, which is put on a grid.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, BoolArray, FloatArray, IntArray
from candide.data.cached import cached_property
from candide.data.grid import NEAR, quantized, quantized_number, quantized_share
from candide.data.values import Key
from candide.families.base.family import Block
from candide.kernels.calibrating import Coefficients
from candide.kernels.threads import in_parallel
from candide.model.calibration import Calibration
from candide.selection.calibration_task import Task
from candide.selection.leave_one_out import LeftOut
from candide.selection.newton import Bends, Minimum, minimum

HOLD_TOGETHER = (3.0, 0.3, 30.0)
"""How strongly, in nats, the log weights of a table's blocks may be held to their mean; texts are free."""
HOLD_BELOW_ONE = 3.0
"""How strongly weights are held to one where their mean is above it: few columns say more than they seem to, and where
all rows are right by far, any weight would do."""
HOLD_BIAS = 0.5
"""How strongly the biases are held to zero."""
HOLD_POWER = 0.0005
"""How strongly, for each row, the powers of length are held to zero."""
BY_CHANCE = 3.0
"""Evidence that lowers the loss of all left-out rows by fewer nats than this has no weight: then the prior answers."""
ENOUGH_TO_TELL = 50
"""Of fewer rows chance explains any gain: there weights are drawn to what is usual, and none is taken away."""
USUAL_WEIGHT, WORDS_THAT_COUNT, DRAWN_BY = 0.2, 3.0, 8.0
"""The weights of a table's blocks are drawn to so many times the root of rows a block, that of a text to as much as so
many words say; and how strongly, divided by the number of rows. Best on 69 tables and seven texts of 10 to 40 rows."""
STARTS_OF_TABLE = (-0.3, -1.5, -3.0, -5.0)
STARTS_OF_TEXT = (-6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0)
"""Logarithms of weights to begin with: texts come in many scales, and few rows are wrong by hundreds of nats."""
FEW_ROWS, FEW_A_NUMBER = 1000, 10
"""A search begins with about so many rows, and so many for each number that is fitted; all rows only end it."""

NEAR_ENOUGH = 1e-5
PROBABLE, ROUGHLY_PROBABLE = 11.0, 14.0
"""A class so many nats behind the best one of a row has no part in its loss, exp(-11) being a hundred-thousandth."""
MOSTLY_IMPROBABLE, ROUGHLY, CLOSE_ROUGHLY = 16, 250, 1e-3
"""Of more classes than this most are improbable, and so many rows tell about which, by weights that are about right."""
ROWS_A_BIAS = 10
"""Of so many classes with fewer rows each, rows tell nothing of how common a class is beyond the prior."""


class Effort(NamedTuple):
    """How much is fitted, and how well: in at most so many steps, until none lowers the loss by such a share.

    A search of more rows begins with few of them.
    """

    bias: bool
    power: bool
    steps: int
    close: float
    few: int = FEW_ROWS


IN_FULL = Effort(bias=True, power=True, steps=60, close=1e-18)
TO_COMPARE = IN_FULL._replace(close=1e-9)
"""What is only compared by its loss, or judges rows, needs no more digits than a loss on the grid has."""
CLOSE_WITHOUT_A_FOLD = 1e-5
"""What only judges the rows of a fold needs fewer digits."""


def calibrated(rows: LeftOut, classes: Sequence[Key], blocks: Sequence[Block], effort: Effort = IN_FULL) -> Calibration:
    """The calibration with the least leave-one-out log loss, held back a little where rows are few."""
    return Calibrating.of(rows, classes, blocks, effort).calibration


@dataclass(frozen=True)
class Calibrating:
    """Leave-one-out evidence of some rows on which a calibration is fitted: with all of them, or without a fold."""

    task: Task
    classes: Sequence[Key]
    blocks: Sequence[Block]
    effort: Effort
    aside: int = 0
    """How many rows are kept apart, to be judged: they count where it is asked whether rows are enough."""

    @classmethod
    def of(
        cls, rows: LeftOut, classes: Sequence[Key], blocks: Sequence[Block], effort: Effort = IN_FULL, aside: int = 0
    ) -> Calibrating:
        """Made ready once, whichever rows then take part."""
        with_length = np.array([block.family.has_length for block in blocks], dtype=bool) & effort.power
        is_biased = len(classes) <= MOSTLY_IMPROBABLE or len(rows.labels) + aside >= ROWS_A_BIAS * len(classes)
        effort = effort._replace(bias=effort.bias and is_biased)
        return cls(Task.of(rows, with_length), classes, blocks, effort, aside)

    @property
    def texts(self) -> BoolArray:
        """Which blocks are texts, whose weights nothing holds together."""
        return np.array([block.family.has_length for block in self.blocks], dtype=bool)

    @cached_property
    def limits(self) -> FloatArray:
        """The least and the largest bias, log weight and power, where there are any, [parameter, 2]."""
        bias = [(-np.inf, np.inf) if self.effort.bias else (0.0, 0.0)] * len(self.classes)
        of_blocks = np.array([block.family.evidence_limits for block in self.blocks]).reshape(-1, 4)
        return np.concatenate([np.array(bias), np.log(of_blocks[:, :2]), of_blocks[: self.task.powers, 2:]])

    @property
    def one_in(self) -> int:
        """Of how many rows a search begins with one: of all where there are few."""
        free = int(np.count_nonzero(self.limits[:, 0] < self.limits[:, 1]))
        return max(1, self.task.rows // max(self.effort.few, FEW_A_NUMBER * free))

    @cached_property
    def roughly_probable(self) -> Task:
        """The rows without classes that are next to impossible by rough weights of texts, which few rows tell."""
        is_worth_it = self.effort.bias and self.texts.all() and len(self.classes) > MOSTLY_IMPROBABLE
        if not is_worth_it or not self.task.has_every_class:
            return self.task
        some = Objective(self.task.every(max(1, self.task.rows // ROUGHLY)), self.texts, with_bias=False)
        limits = np.where(np.arange(len(self.limits))[:, None] < len(self.classes), 0.0, self.limits)
        near = minimum(some, some.start(), limits, self.effort.steps, CLOSE_ROUGHLY)
        return self.task.probable(self.task.coefficients(near.point), ROUGHLY_PROBABLE)

    @cached_property
    def whole(self) -> tuple[Objective, Minimum]:
        """What is asked of all rows, and bias, log weight and power that do it best; begun with few rows of many."""
        one_in = self.one_in
        task = self.roughly_probable if one_in == 1 else self.roughly_probable.every(one_in)
        few, near = self.held(Objective(task, self.texts, with_bias=self.effort.bias))
        probable = self.roughly_probable
        if len(self.classes) > MOSTLY_IMPROBABLE:
            probable = probable.probable(self.task.coefficients(near.point), PROBABLE)
        asked, bends = replace(few, task=probable), near.bends.scaled(one_in)
        return asked, minimum(asked, near.point, self.limits, self.effort.steps, self.effort.close, bends)

    def held(self, asked: Objective) -> tuple[Objective, Minimum]:
        """Weights held together as strongly as makes the labels most probable, over all weights that might be.

        Where columns are equally good their weights are equal but for chance, and where one says what all others say,
        they are not: rows tell which it is (empirical Bayes; by Laplace's approximation, MacKay 1992).
        """
        steps, tried = self.effort.steps, list[tuple[Objective, Minimum]]()
        found = minimum(asked, asked.start(), self.limits, steps, NEAR_ENOUGH)
        if np.count_nonzero(~self.texts) < 2:
            return asked, found
        for together in HOLD_TOGETHER:
            other, best = replace(asked, together=together), found
            if together != asked.together:
                near = found.bends._replace(upwards=found.bends.upwards + 2 * (other.held - asked.held))
                best = minimum(other, found.point, self.limits, steps, NEAR_ENOUGH, near)
            tried.append((other, best._replace(bends=other.curvature(best.point))))
        return max(tried, key=lambda one: quantized_number(one[0].log_evidence(one[1], self.limits)))

    @property
    def calibration(self) -> Calibration:
        """The calibration of all rows."""
        return self.at(self.task, self.whole[1])

    def without(self, folds: IntArray) -> Iterator[tuple[IntArray, Calibration]]:
        """The rows of each fold, and the calibration of all others: none must judge rows it was fitted on."""
        few, weights = self.task.rows <= FEW_ROWS and not self.texts.all(), self.task.scored.row_weights
        task = self.task if few else self.whole[0].task

        def fitted(fold: int) -> tuple[IntArray, Calibration]:
            here = folds == fold
            others = task.weighed(np.where(here, 0.0, weights))
            found = replace(self, task=others).whole[1] if few else self.nearby(others)
            return np.flatnonzero(here), self.at(others, found)

        return in_parallel(fitted, np.unique(folds).tolist(), 1 if few else None)

    def nearby(self, others: Task) -> Minimum:
        """The minimum for most of the rows: as strongly held, and by the same curvature, where rows are many."""
        objective, whole = self.whole
        bends = whole.bends.scaled(others.weight / self.task.weight)
        asked = replace(objective, task=others)
        return minimum(asked, whole.point, self.limits, self.effort.steps, CLOSE_WITHOUT_A_FOLD, bends)

    @cached_property
    def prior_losses(self) -> FloatArray:
        """-log P(label) of each row by the prior alone."""
        return self.task.prior_losses

    def at(self, task: Task, found: Minimum) -> Calibration:
        """The calibration found, on the grid; none of the evidence has weight where rows gain too little by it."""
        at = self.task.coefficients(found.point)
        enough = float(task.scored.row_weights @ self.prior_losses) - BY_CHANCE
        if (
            self.task.rows + self.aside >= ENOUGH_TO_TELL
            and found.value > enough
            and quantized_number(enough - task.plain_loss(at)) < 0
        ):  # seldom both
            at = Coefficients(*map(np.zeros_like, at))
        bias, weight, power = quantized(at.bias - at.bias.mean()), quantized_share(at.weight), quantized(at.power)
        keys = [block.key for block in self.blocks]
        return Calibration(
            dict(zip(self.classes, bias.tolist(), strict=True)),
            dict(zip(keys, weight.tolist(), strict=True)),
            {name: value for name, value in zip(keys, power.tolist(), strict=True) if value != 0.0},
        )


def usual_weight(rows: float, columns: int) -> float:
    """The weight that columns of a table of that size usually have: the more they are, the more of it is said twice.

    >>> usual_weight(10, 4), usual_weight(1000, 4)
    (0.316..., 1.0)
    """
    return min(USUAL_WEIGHT * math.sqrt(max(rows, 1.0) / max(columns, 1)), 1.0)


@dataclass(frozen=True)
class Objective:
    """The loss of rows at bias, log weight and power in one row of numbers, and what holds these back."""

    task: Task
    texts: BoolArray
    together: float = HOLD_TOGETHER[0]
    with_bias: bool = True
    """Whether biases are among the numbers that may change."""

    @property
    def classes(self) -> int:
        """How many numbers are biases."""
        return self.task.classes

    @cached_property
    def mean(self) -> FloatArray:
        """What a point is multiplied by to give the mean log weight of a table's blocks."""
        blocks = np.where(self.texts, 0.0, 1 / max(1, int(np.count_nonzero(~self.texts))))
        return np.concatenate([np.zeros(self.classes), blocks, np.zeros(self.task.powers)])

    @cached_property
    def usual(self) -> FloatArray:
        """The point that nothing holds back."""
        of_columns = math.log(usual_weight(self.task.rows, int(np.count_nonzero(~self.texts))))
        of_texts = np.minimum(math.log(WORDS_THAT_COUNT) - self.task.scored.logs.mean(axis=1), 0.0)
        weights = np.where(self.texts, of_texts, of_columns)
        return np.concatenate([np.zeros(self.classes), weights, np.zeros(self.task.powers)])

    @cached_property
    def held(self) -> FloatArray:
        """The matrix of what holds numbers back: how far a point lies off times it times that is added to the loss."""
        classes, powers = np.zeros(self.classes), np.zeros(self.task.powers)
        tables, texts = (np.concatenate([classes, some, powers]) for some in (~self.texts, self.texts))
        drawn_by = DRAWN_BY / max(self.task.weight, 1.0)
        by_number = [HOLD_BIAS, 0.0, HOLD_POWER * self.task.weight]
        alone = np.repeat(by_number, [self.classes, len(self.texts), len(powers)])
        found = np.outer(drawn_by * self.mean - self.together * tables, self.mean)
        found.flat[:: len(found) + 1] += alone + self.together * tables + drawn_by * texts
        return found

    def value_and_slope(self, point: FloatArray) -> tuple[float, FloatArray]:
        """The loss, and its slopes."""
        loss, slopes = self.task.loss(self.task.coefficients(point))
        off, above = point - self.usual, max(0.0, float(self.mean @ point))
        held = self.held @ off
        holds = float(off @ held) + HOLD_BELOW_ONE * above**2
        return loss + holds, np.concatenate(slopes)[: len(point)] + 2 * held + 2 * HOLD_BELOW_ONE * above * self.mean

    def curvature(self, point: FloatArray) -> Bends:
        """The second derivatives."""
        upwards, rest = self.task.curvature(self.task.coefficients(point), self.with_bias)
        upwards += 2 * self.held
        if float(self.mean @ point) > 0:
            upwards += 2 * HOLD_BELOW_ONE * np.outer(self.mean, self.mean)
        return Bends(upwards, rest)

    def log_evidence(self, found: Minimum, limits: FloatArray) -> float:
        """The log probability of labels over all weights that are held so, but for what does not depend on how."""
        free = limits[:, 0] < limits[:, 1]
        volume = float(np.linalg.slogdet(found.bends.upwards[np.ix_(free, free)])[1])
        return float(np.count_nonzero(~self.texts) - 1) / 2 * math.log(self.together) - found.value - volume / 2

    def start(self) -> FloatArray:
        """Where to begin: all texts at about the one weight that does best, and so all columns of a table.

        The loss is convex in a common weight, so its slope tells on which side the best lies. Where it is flat, all
        rows are right by far, and a smaller weight would do.
        """
        texts, blocks = self.texts, len(self.texts)

        def point(weights: AnyArray) -> FloatArray:
            return np.concatenate([np.zeros(self.classes), weights, np.zeros(self.task.powers)])

        def is_too_large(weight: float) -> bool:
            slope = self.value_and_slope(point(np.where(texts, weight, common)))[1]
            return bool(slope[self.classes : self.classes + blocks][texts].sum() > -NEAR)

        starts = STARTS_OF_TABLE[: 1 if texts.all() else None]
        common = starts[0]
        if len(starts) > 1:
            common = min(starts, key=lambda weight: self.value_and_slope(point(np.full(blocks, weight)))[0])
        if not texts.any():
            return point(np.full(blocks, common))
        best = STARTS_OF_TEXT[bisect(STARTS_OF_TEXT, False, hi=len(STARTS_OF_TEXT) - 1, key=is_too_large)]
        return point(np.where(texts, best - 0.5 * np.log(texts.sum()), common))
