"""Expectation maximisation: rows without a label take part, as each class in proportion to its posterior.

A step answers the rows by what was learned (expectation), then learns each of them once for every class with its
posterior as weight (maximisation; Dempster, Laird and Rubin 1977). Posteriors are raw, as the likelihood has them, and
rounded to multiples of 2^-10: so counts of any rows add up exactly, in any order and on any number of threads, and a
class that is next to impossible for a row learns nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.batch import Batch
from candide.data.cached import cached_property
from candide.engines.protocol import Engine
from candide.families.base.block_rows import BlockRows, Learned
from candide.families.base.family import Block
from candide.families.base.learning_in_part import LearnedInPart
from candide.model.predictor import log_normalised
from candide.statistics.weight_grid import on_grid

SHARES = 2.0**10
"""Posteriors are rounded to one in so many."""


class MixtureStep(NamedTuple):
    """What rows without a label were taken for, [row, class], and every block once it has learned that."""

    shares: FloatArray
    parts: Sequence[LearnedInPart]


@dataclass(frozen=True, eq=False)
class Mixture:
    """Rows, the first of which have labels, as blocks see them: read once, whatever number of steps is taken."""

    batch: Batch
    """The rows, kept as they were read."""
    labels: IntArray
    """The class numbers of the first rows."""
    weights: FloatArray
    """The weight of each row."""
    classes: int
    blocks: tuple[Block, ...]
    silent: frozenset[Block]
    """Blocks that tell nothing about the class."""
    engine: Engine

    @property
    def unlabelled(self) -> IntArray:
        """Where the rows without a label are."""
        return np.arange(len(self.labels), len(self.batch))

    @cached_property
    def rows(self) -> dict[Block, BlockRows[Any]]:
        """The rows as each block sees them."""
        nobody, alike = np.zeros(len(self.batch), dtype=np.int64), np.zeros(0, dtype=np.int64)
        values = {block: block.family.view(self.batch, block.columns) for block in self.blocks}
        return {block: BlockRows(seen, nobody, alike, self.batch) for block, seen in values.items()}

    def log_prior(self, known: IntArray) -> FloatArray:
        """The log prior of each class by some of the labelled rows: what rows are expected to be moves no prior."""
        counts = np.bincount(self.labels[known], self.weights[known], self.classes)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(counts / counts.sum()))

    def learned(self, known: IntArray, shares: FloatArray | None = None, weight: float = 1.0) -> Learned:
        """Some of the labelled rows as they are, and those without a label by their shares, times a weight."""
        if shares is None:
            weights = self.weights[known]
            return Learned(known, self.labels[known], weights[:0] if (weights == 1).all() else weights)
        expected = shared_out(shares, self.weights[self.unlabelled], weight)
        return Learned(
            np.concatenate([known, len(self.labels) + expected.positions]),
            np.concatenate([self.labels[known], expected.labels]),
            np.concatenate([self.weights[known], expected.weights]),
        )

    def after(self, learned: Learned) -> list[LearnedInPart]:
        """Every block, once it has learned."""
        return list(self.engine.map(PartOfMixture(self, learned), self.blocks))

    def joint(self, parts: Sequence[LearnedInPart], log_prior: FloatArray) -> FloatArray:
        """log P(row, class) of each row without a label, [row, class], by all blocks that are not silent."""
        joint = np.tile(log_prior, (len(self.batch) - len(self.labels), 1))
        for block, part in zip(self.blocks, parts, strict=True):
            if block not in self.silent:
                joint += part.scores(self.unlabelled)[0]
        return joint

    def steps(self, known: IntArray, weight: float) -> Iterator[MixtureStep]:
        """One step after the other, without end; begun with what some of the labelled rows teach."""
        log_prior, parts = self.log_prior(known), self.after(self.learned(known))
        while True:
            shares = shares_of(log_normalised(self.joint(parts, log_prior), log_prior))
            parts = self.after(self.learned(known, shares, weight))
            yield MixtureStep(shares, parts)


@dataclass(frozen=True, eq=False)
class PartOfMixture:
    """Makes a block learn some of the rows."""

    mixture: Mixture
    learned: Learned

    def __call__(self, block: Block) -> LearnedInPart:
        rows = self.mixture.rows[block]
        return block.family.learned_in_part(rows, block.columns, self.mixture.classes, self.learned)


def shares_of(log_posterior: FloatArray) -> FloatArray:
    """Posteriors rounded, [row, class]: what rounding leaves over is the first of the largest shares'.

    >>> (shares_of(np.log([[0.5, 0.4999, 0.0001]])) * SHARES).tolist()
    [[512.0, 512.0, 0.0]]
    """
    units = np.rint(np.exp(log_posterior) * SHARES)
    rows, best = np.arange(len(units)), units.argmax(axis=1)
    units[rows, best] = np.maximum(units[rows, best] + SHARES - units.sum(axis=1), 0.0)
    return np.asarray(units / SHARES)


def shared_out(shares: FloatArray, weights: FloatArray, weight: float) -> Learned:
    """Each row once for every class that it has a share of, as heavy as the share, times its weight and another."""
    positions, labels = np.nonzero(shares)
    return Learned(positions, labels, on_grid(shares[positions, labels] * weights[positions] * weight))


def moved(shares: FloatArray, before: FloatArray, weights: AnyArray) -> float:
    """How much of the rows changed its class from one step to the next, from 0 to 1.

    >>> moved(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[1.0, 0.0], [1.0, 0.0]]), np.ones(2))
    0.25
    """
    return float(weights @ np.abs(shares - before).sum(axis=1) / (2 * weights.sum()))
