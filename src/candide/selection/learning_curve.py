"""The learning curve of a model: how good its answers are with half of its rows, a quarter, an eighth, ...

Each point learns the rows of those before it, and more. All are judged by the same rows, which none of them saw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.data.metrics import UNIT
from candide.data.values import Coded
from candide.engines.protocol import Engine
from candide.families.base.family import Block
from candide.families.base.learning_in_part import LearnedInSteps
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
    steps = sizes(len(rows.labels), len(rows.classes))
    if not steps:
        return ()
    order = np.argsort(mix_all(np.arange(len(rows.labels), dtype=np.uint64)))
    learned = np.concatenate([np.sort(part) for part in np.split(order[: steps[-1]], steps[:-1])])
    blocks = [block for block in rows.summary.blocks if not calibration.is_silent(block.key)]
    ready = engine.map(LearnedByBlock(rows, learned, steps), blocks)
    priors_then = [log_priors(rows.learned(learned[:step]), priors, class_weight) for step in steps]
    judge = NotLearned(rows, calibration, priors_then, dict(zip(blocks, ready, strict=True)))
    wanted = np.sort(order[steps[-1] : steps[-1] + JUDGED])
    at_once = max(1, CELLS_AT_ONCE // len(rows.classes))
    pieces = [wanted[start : start + at_once] for start in range(0, len(wanted), at_once)]
    found = zip(*engine.map(judge, pieces), strict=True)
    return tuple(point(step, sum(scores, Score(most=0))) for step, scores in zip(steps, found, strict=True))


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
class LearnedByBlock:
    """Makes a block learn ever more of some rows."""

    rows: LeaveOneOut
    learned: IntArray
    steps: Sequence[int]

    def __call__(self, block: Block) -> LearnedInSteps:
        return self.rows.learned_in_steps(block, self.learned, self.steps)


def point(size: int, score: Score) -> Point:
    """How good the answers are on rows that were not learned."""
    judged = sum(score.pairs.values())
    right = sum(rows for (truth, answer), rows in score.pairs.items() if truth == answer)
    return Point(size, in_ones(judged, score.bits), right / judged, score.loss / UNIT / judged)


@dataclass(frozen=True, eq=False)
class NotLearned:
    """Compares what blocks say that learned some of the rows, after each step, with the labels of others."""

    rows: LeaveOneOut
    calibration: Calibration
    log_priors: Sequence[FloatArray]
    learned: Mapping[Block, LearnedInSteps]

    def __call__(self, wanted: IntArray) -> list[Score]:
        """How good the answers are after each step."""
        said = {block.key: ready.scores(wanted) for block, ready in self.learned.items()}
        return [
            self.score(wanted, log_prior, [BlockEvidence(key, *steps[step]) for key, steps in said.items()])
            for step, log_prior in enumerate(self.log_priors)
        ]

    def score(self, wanted: IntArray, log_prior: FloatArray, evidence: Sequence[BlockEvidence]) -> Score:
        """How good the answers are by this evidence."""
        classes, labels, weights = self.rows.classes, self.rows.labels[wanted], self.rows.row_weights[wanted]
        prior = np.tile(log_prior, (len(wanted), 1))
        reported = reported_scores(prior, self.calibration.biases(classes), self.calibration, evidence)
        log_posterior = log_normalised(reported, log_prior)
        answers = LabelledPosteriors(classes, log_posterior, Coded(labels, classes), labels, weights, wanted)
        return Score.of(answers, most=0, ranked=False)
