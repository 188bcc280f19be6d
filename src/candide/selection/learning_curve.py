"""The learning curve of a model: how good its answers are with half of its rows, a quarter, an eighth, ...

All points together learn each row once. Each point is judged by rows that come after, which it never saw.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.data.metrics import UNIT
from candide.data.values import Coded
from candide.engines.protocol import Engine
from candide.families.base.family import Block
from candide.families.base.learning_in_part import LearnedInPart
from candide.kernels.hashing import mix_all
from candide.model.calibration import Calibration
from candide.model.predictor import Priors, log_normalised, log_priors
from candide.model.quality import Point
from candide.model.reported import BlockEvidence, reported_scores
from candide.model.scoring import LabelledPosteriors, Score
from candide.selection.leave_one_out import LeaveOneOut
from candide.selection.scored_rows import CELLS_AT_ONCE
from candide.statistics.weight_grid import in_ones

FEWEST_LEARNED, MOST_POINTS = 20, 5
JUDGED = 1000
"""So many rows judge a point, if there are."""


def learning_curve(
    rows: LeaveOneOut,
    calibration: Calibration,
    engine: Engine,
    priors: Priors = "empirical",
    class_weight: Priors | None = None,
) -> tuple[Point, ...]:
    """Points at ever half as many of these rows, few rows first; blocks and calibration are the model's own."""
    order = np.argsort(mix_all(np.arange(len(rows.labels), dtype=np.uint64)))
    blocks = [block for block in rows.summary.blocks if not calibration.is_silent(block.key)]

    def judged(size: int) -> Point:
        learned = np.sort(order[:size])
        log_prior = log_priors(rows.learned(learned), priors, class_weight)
        ready = engine.map(PartLearned(rows, learned), blocks)
        judge = NotLearned(rows, calibration, log_prior, dict(zip(blocks, ready, strict=True)))
        return point(judge, size, np.sort(order[size : size + JUDGED]), engine)

    return tuple(engine.map(judged, sizes(len(order), len(rows.classes))))


def sizes(total: int, classes: int) -> list[int]:
    """How many rows the points have learned.

    >>> sizes(300, 2)
    [37, 75, 150]
    """
    found, least = list[int](), max(FEWEST_LEARNED, 2 * classes)
    while (total := total // 2) >= least and len(found) < MOST_POINTS:
        found.append(total)
    return found[::-1]


@dataclass(frozen=True, eq=False)
class PartLearned:
    """Makes a block learn some of the rows."""

    rows: LeaveOneOut
    learned: IntArray

    def __call__(self, block: Block) -> LearnedInPart:
        return self.rows.learned_in_part(block, self.learned)


def point(judge: NotLearned, size: int, wanted: IntArray, engine: Engine) -> Point:
    """How good the answers are on rows that were not learned."""
    at_once = max(1, CELLS_AT_ONCE // len(judge.rows.classes))
    pieces = [wanted[start : start + at_once] for start in range(0, len(wanted), at_once)]
    score = sum(engine.map(judge, pieces), Score(most=0))
    judged = sum(score.pairs.values())
    right = sum(rows for (truth, answer), rows in score.pairs.items() if truth == answer)
    return Point(size, in_ones(judged, score.bits), right / judged, score.loss / UNIT / judged)


@dataclass(frozen=True, eq=False)
class NotLearned:
    """Compares what blocks say that learned some of the rows with the labels of others."""

    rows: LeaveOneOut
    calibration: Calibration
    log_prior: FloatArray
    learned: Mapping[Block, LearnedInPart]

    def __call__(self, wanted: IntArray) -> Score:
        """How good the answers are."""
        classes, labels, weights = self.rows.classes, self.rows.labels[wanted], self.rows.row_weights[wanted]
        evidence = (BlockEvidence(block.key, *ready.scores(wanted)) for block, ready in self.learned.items())
        prior = np.tile(self.log_prior, (len(wanted), 1))
        reported = reported_scores(prior, self.calibration.biases(classes), self.calibration, evidence)
        log_posterior = log_normalised(reported, self.log_prior)
        answers = LabelledPosteriors(classes, log_posterior, Coded(labels, classes), labels, weights, wanted)
        return Score.of(answers, most=0, ranked=False)
