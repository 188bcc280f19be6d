"""Answers beside labels: of rows a model has not learned, piece by piece on all cores, or of learned ones left out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from candide.data.arrays import AnyArray, IntArray
from candide.data.batch import Batch
from candide.data.errors import LabelsRefused, RowsRefused
from candide.data.values import Coded
from candide.engines.protocol import Engine, parts
from candide.families.base.family import Block
from candide.model.calibration import Calibration
from candide.model.predictor import Predictor, log_normalised
from candide.model.scoring import SUSPECTS, LabelledPosteriors, Score
from candide.model.summary import Summary, grid_weights
from candide.selection.leave_one_out import LeftOut

CELLS_AT_ONCE = 1 << 22
"""One thread holds no more than so many (row, class, block) cells at a time: 32 MB."""


def scored(
    model: Predictor, batches: Iterable[Batch], engine: Engine, surprise: float, suspects: int = SUSPECTS
) -> Score:
    """How good a model's answers are; a label it does not know costs `surprise` in log loss."""
    scorer = RowScorer(model, surprise, suspects)
    return sum(engine.map(scorer, pieces(batches, len(model.classes))), Score(most=suspects))


@dataclass(frozen=True)
class RowScorer:
    """Compares a model's answers with the labels of a batch."""

    model: Predictor
    surprise: float
    suspects: int

    def __call__(self, batch: Batch) -> Score:
        """How good the answers are."""
        if batch.labels is None:
            raise LabelsRefused("These rows have no labels to compare answers with.", expected="one label a row")
        answers = LabelledPosteriors(
            self.model.classes,
            log_normalised(self.model.reported(batch), self.model.log_prior),
            batch.labels,
            batch.labels.renumbered({key: index for index, key in enumerate(self.model.classes)}),
            weights_of(batch),
            np.arange(batch.start, batch.start + len(batch)),
            self.surprise,
        )
        return Score.of(answers, self.suspects)


def scored_without(
    left: LeftOut,
    summary: Summary,
    calibration: Calibration | None,
    numbers: IntArray,
    suspects: int = SUSPECTS,
    blocks: Sequence[Block] | None = None,
) -> Score:
    """How good the answers are for rows left out of a summary; a class that vanished with its only row was not known.

    `numbers` tell where each row is in the data, `blocks` who says something of them: those of the summary, or others.
    """
    if np.isneginf(left.prior).all(axis=1).any():
        raise RowsRefused("There is only one row: nothing is left to judge it by. Leave-one-out needs two or more.")
    classes, spoken = summary.classes, summary.blocks if blocks is None else blocks
    log_posterior = log_normalised(left.reported(calibration, classes, spoken), left.prior)
    if np.isnan(log_posterior).any():
        raise RowsRefused("Some of these rows cannot be left out. Were they learned? Only such rows can be.")
    indices = np.where(left.vanished, -1, left.labels)
    known, surprise = Coded(left.labels, classes), math.log(summary.rows + 1)
    return Score.of(
        LabelledPosteriors(classes, log_posterior, known, indices, left.weights, numbers, surprise), suspects
    )


def pieces(batches: Iterable[Batch], cells: int) -> Iterator[Batch]:
    """The rows in pieces that a thread can hold, each of which starts where the one before ended."""
    seen = 0
    for batch in batches:
        for part in parts(batch):
            for piece in part.split(max(1, CELLS_AT_ONCE // cells)):
                yield replace(piece, start=seen)
                seen += len(piece)


def weights_of(batch: Batch) -> AnyArray:
    """The weight of each row, one where none was given."""
    weights = grid_weights(batch)
    return weights if weights.size else np.ones(len(batch), dtype=np.int64)
