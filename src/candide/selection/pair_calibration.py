"""A calibration of columns, and of the pairs that speak beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.data.values import Key
from candide.families.base.family import Block
from candide.model.calibration import Calibration
from candide.selection.calibration_task import FARTHEST
from candide.selection.fit_calibration import Calibrating
from candide.selection.leave_one_out import LeftOut
from candide.selection.pair_weights import PairLoss

AS_STRONG = 1.0
"""Pairs that were kept are as strong as they may be: rows support no more."""


def calibrations_without(
    left: LeftOut, classes: Sequence[Key], blocks: Sequence[Block], folds: IntArray
) -> Iterator[tuple[IntArray, Calibration]]:
    """The rows of each fold, and the calibration of all others: of columns first, then of pairs beside them."""
    plain = [index for index, block in enumerate(blocks) if not is_pair(block)]
    pairs = [index for index, block in enumerate(blocks) if is_pair(block)]
    columns, of_columns = left.blocks(plain), [blocks[index] for index in plain]
    for here, calibration in Calibrating.of(columns, classes, of_columns).without(folds):
        if pairs:
            others = np.setdiff1d(np.arange(len(folds)), here)
            said = evidence_of_columns(columns.rows(others), calibration, classes, of_columns)
            terms = np.concatenate([said[None], left.terms[pairs][:, others]])
            loss = PairLoss.of(terms, columns.rows(others))
            weights = loss.best(np.ones(1), most=AS_STRONG)
            calibration = with_pairs(calibration, [blocks[index] for index in pairs], weights)
        yield here, calibration


def is_pair(block: Block) -> bool:
    """Whether a block is a pair of columns, which speaks beside them."""
    return block.family.is_joint and block.family.is_auxiliary


def with_pairs(plain: Calibration, pairs: Sequence[Block], weights: Sequence[float] | FloatArray) -> Calibration:
    """A calibration with pairs beside what it weighed without them, by a weight for all of that, and one for each."""
    columns, *others = (float(weight) for weight in weights)
    return plain.scaled(columns).beside(dict(zip([block.key for block in pairs], others, strict=True)))


def evidence_of_columns(
    left: LeftOut, calibration: Calibration, classes: Sequence[Key], blocks: Sequence[Block]
) -> FloatArray:
    """What columns say of each row, calibrated, beyond the prior, [row, class]."""
    nothing = replace(left, prior=np.zeros_like(left.prior))
    found = nothing.reported(calibration, classes, blocks)
    return np.asarray(np.maximum(found, found.max(axis=1, keepdims=True) - FARTHEST))
