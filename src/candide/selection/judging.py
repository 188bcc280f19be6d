"""How well new rows will be judged, by rows that had no part in what judges them.

A row left out is judged by all others, under families chosen without its fold. Weights fitted on the others would
still know it where these were judged by a model that had learned it: among few rows that flatters by points. So where
rows are few, each fold is taken out of what the others are judged by, too; among many it changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.data.cached import cached_property
from candide.data.grid import quantized_number
from candide.data.metrics import mean_loss
from candide.engines.protocol import Engine
from candide.families.base.family import Block
from candide.model.calibration import Calibration
from candide.model.evaluation import CROSS_FITTED, Evaluation
from candide.model.schema import Schema
from candide.model.scoring import Score
from candide.model.summary import Summary
from candide.selection.find_pairs import NO_PAIRS, FoldCalibration, PairsJudged
from candide.selection.fit_calibration import ENOUGH_TO_TELL, TO_COMPARE, Calibrating
from candide.selection.fold_choices import FoldChoices
from candide.selection.folds import CHOICES, FEW_ROWS, choice_folds
from candide.selection.leave_one_out import LeaveOneOut, LeftOut
from candide.selection.scored_rows import scored_without

ROWS_A_BLOCK = 10
"""Of fewer rows for each block, weights follow chance: there evidence must help rows that had no part in them."""

NOT_BY_CHANCE, BEYOND_DOUBT = 6.0, 20.0
"""By so many nats it must help all of them, in the mean over several deals unless it helps by far more."""

OTHER_DEALS = (1, 2)


@dataclass(frozen=True, eq=False)
class Judging:
    """Rows, each to be judged by choices and a calibration in which it had no part."""

    summary: Summary
    schema: Schema
    leaving: LeaveOneOut
    choices: FoldChoices
    engine: Engine
    calibrating: Calibrating

    @cached_property
    def calibrations(self) -> list[FoldCalibration]:
        """The rows of each fold, and the calibration that judges them."""
        return list(self.apart() if self.knows_few else self.calibrating.without(self.choices.folds % CHOICES))

    @property
    def knows_few(self) -> bool:
        """Whether rows are all that were learned, and so few that one tells of how far to trust evidence."""
        return self.leaving.everyone is self.leaving.batch and len(self.choices.folds) <= FEW_ROWS

    def evaluation(
        self, left: LeftOut, calibration: Calibration | None = None, pairs: PairsJudged | None = None
    ) -> Evaluation:
        """How well rows are judged, under the priors of what is said of them; or by one calibration for all.

        Pairs of columns are those that each fold had no part in finding.
        """

        def judged(fold: int) -> Score:
            here, said, used, blocks = self.spoken(fold, left, calibration, pairs)
            return scored_without(said, self.summary, used, here, suspects=0, blocks=blocks)

        score = sum(self.engine.map(judged, range(len(self.calibrations))), Score(most=0))
        return score.evaluation(CROSS_FITTED, None, self.summary.classes)

    def spoken(
        self, fold: int, left: LeftOut, calibration: Calibration | None, pairs: PairsJudged | None
    ) -> tuple[IntArray, LeftOut, Calibration, tuple[Block, ...]]:
        """The rows of a fold, what is said of them, and the calibration and the blocks that judge them."""
        here, own = self.calibrations[fold]
        found, said, blocks = NO_PAIRS if pairs is None else pairs.by_fold[fold], left, self.summary.blocks
        if self.choices.recipes[fold] and calibration is None:
            blocks, said, own = self.under_recipes(left, fold, here)
        said = replace(self.leaving, summary=self.summary).beside(said, found.blocks, here)[1]
        return here, said, found.calibration(calibration or own), (*blocks, *found.blocks)

    def scores(self, left: LeftOut, pairs: PairsJudged | None) -> FloatArray:
        """The reported score of each row, [row, class], by what its fold had no part in."""
        found = np.empty(left.prior.shape)

        def judge(fold: int) -> None:
            here, said, used, blocks = self.spoken(fold, left, None, pairs)
            found[here] = said.reported(used, self.summary.classes, blocks)

        for _ in self.engine.map(judge, range(len(self.calibrations))):
            pass
        return found

    def trusts(self, left: LeftOut, others: Iterable[tuple[Judging, LeftOut]] = ()) -> bool:
        """Whether evidence may have a say: where blocks are many for the rows, it must do better than the prior.

        Where chance may have made the difference, so it must in the mean over `others`, who deal the rows anew.
        """
        if not ENOUGH_TO_TELL <= len(left.labels) < ROWS_A_BLOCK * len(self.summary.blocks):
            return True
        gains = [self.gain(left)]
        if gains[0] != 0.0 and gains[0] < BEYOND_DOUBT:
            gains += [other.gain(said) for other, said in others]
        return float(np.mean(gains)) > NOT_BY_CHANCE

    def gain(self, left: LeftOut) -> float:
        """By how many nats evidence lowers the loss of all rows below the prior's."""
        by_prior = mean_loss(left.prior, left.labels, left.weights)
        return quantized_number(by_prior - self.evaluation(left).log_loss) * float(left.weights.sum())

    @property
    def silence(self) -> Calibration:
        """The calibration under which the prior answers."""
        return Calibration(weight=dict.fromkeys((block.key for block in self.summary.blocks), 0.0))

    def under_recipes(self, left: LeftOut, fold: int, here: IntArray) -> tuple[tuple[Block, ...], LeftOut, Calibration]:
        """Where texts are read otherwise without a fold: the blocks, what they say, and how all other rows weigh it."""
        schema = self.choices.with_recipes(self.schema, fold)
        new = [block for block in schema.blocks if block not in self.schema.blocks]
        anew = self.leaving.in_folds(new)
        said = {block: left.block(index) for index, block in enumerate(self.schema.blocks)}
        said |= {block: replace(anew.block(index), prior=left.prior) for index, block in enumerate(new)}
        whole = LeftOut.side_by_side([said[block] for block in schema.blocks])
        others = np.setdiff1d(np.arange(len(self.choices.folds)), here)
        plain = replace(whole, prior=self.choices.priors(self.leaving))
        known = self.judged_apart(schema, others) if self.knows_few else plain.rows(others)
        of = Calibrating.of(known, self.summary.classes, schema.blocks, TO_COMPARE, len(here))
        return schema.blocks, whole, of.calibration

    def apart(self) -> Iterator[FoldCalibration]:
        """The rows of each fold, and the calibration of all others, which know nothing of them."""
        for here in choice_folds(self.choices.folds):
            left = self.judged_apart(self.schema, np.setdiff1d(np.arange(len(self.choices.folds)), here))
            of = Calibrating.of(left, self.summary.classes, self.summary.blocks, TO_COMPARE, len(here))
            yield here, of.calibration

    def judged_apart(self, schema: Schema, wanted: IntArray) -> LeftOut:
        """What is said of some of the rows, each without it, as if no others were known."""
        asked = self.choices.judging(schema)
        rest = self.leaving.only(wanted, asked)
        return under_choices(rest, self.choices.rows(wanted), schema, asked, self.engine)


def under_choices(
    leaving: LeaveOneOut,
    choices: FoldChoices,
    schema: Schema,
    asked: Sequence[Block],
    engine: Engine,
    expected: Sequence[Block] = (),
) -> LeftOut:
    """What is said of each row without it, under families chosen without its fold."""
    judged = choices.folds_judged(schema, frozenset(expected))
    said = leaving.in_folds(asked, engine, choices.folds, expected, judged)
    return choices.joined(schema, asked, said, choices.priors(leaving))
