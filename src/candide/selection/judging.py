"""How well new rows will be judged, by rows that had no part in what judges them.

A row left out is judged by all others, under families chosen without its fold. Weights fitted on the others would
still know it where these were judged by a model that had learned it: among few rows that flatters by points. So where
rows are few, each fold is taken out of what the others are judged by, too; among many it changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from candide.engines.protocol import Engine
from candide.families.base.family import Block
from candide.model.evaluation import CROSS_FITTED, Evaluation
from candide.model.schema import Schema
from candide.model.scoring import Score
from candide.selection.find_pairs import FoldCalibration, PairsJudged
from candide.selection.fit_calibration import Calibrating
from candide.selection.fold_choices import CHOICES, FoldChoices, choice_folds
from candide.selection.leave_one_out import LeaveOneOut, LeftOut
from candide.selection.scored_rows import scored_without

FEW_ROWS = 1000
"""Of so many rows, one says next to nothing about how far to trust evidence."""


@dataclass(frozen=True, eq=False)
class Judging:
    """Rows, each to be judged by choices and a calibration in which it had no part."""

    leaving: LeaveOneOut
    """The rows, and what the chosen families make of the summary that learned them."""
    schema: Schema
    choices: FoldChoices
    engine: Engine

    def calibrations(self, calibrating: Calibrating) -> list[FoldCalibration]:
        """The rows of each fold, and a calibration in which they had no part."""
        folds = self.choices.folds
        return list(self.apart() if len(folds) <= FEW_ROWS else calibrating.without(folds % CHOICES))

    def evaluation(
        self, without: Sequence[FoldCalibration], asked_for: LeftOut, pairs: PairsJudged | None
    ) -> Evaluation:
        """How well rows are judged, under the priors asked for: each fold by its calibration, and pairs of its own."""
        score = Score(most=0)
        for fold, (here, calibration) in enumerate(without):
            leaving, left = self.leaving, asked_for
            if pairs is not None:
                leaving, left = leaving.beside(left, pairs.by_fold[fold].blocks)
                calibration = pairs.by_fold[fold].calibration(calibration)
            score += scored_without(left.rows(here), leaving.summary, calibration, here, suspects=0)
        return score.evaluation(CROSS_FITTED, None, self.leaving.classes)

    def apart(self) -> Iterator[FoldCalibration]:
        """The rows of each fold, and the calibration of all others, which know nothing of them."""
        asked = self.choices.judging(self.schema)
        for here in choice_folds(self.choices.folds):
            others = np.setdiff1d(np.arange(len(self.choices.folds)), here)
            rest = LeaveOneOut.of(self.leaving.learned(others), self.leaving.batch.take(others), is_all=True)
            left = under_choices(rest, self.choices.rows(others), self.schema, asked, self.engine)
            summary = self.leaving.summary
            of = Calibrating.of(left, summary.classes, summary.blocks, aside=len(here))
            yield here, of.calibration


def under_choices(
    leaving: LeaveOneOut,
    choices: FoldChoices,
    schema: Schema,
    asked: Sequence[Block],
    engine: Engine,
    expected: Sequence[Block] = (),
) -> LeftOut:
    """What is said of each row without it, under families chosen without its fold."""
    said = leaving.in_folds(asked, engine, choices.folds, expected)
    return choices.joined(schema, asked, said, choices.priors(leaving))
