"""How expected a row is: what its blocks say of it in one score, ranked among learned rows, each of them left out.

In each block a row has a rank: the share of learned rows that were expected no more than it. The score of a row is the
harmonic mean of its ranks (Wilson 2019), in which one strange block outweighs many usual ones. What a score is worth
is read off the scores of left-out rows, whose blocks repeat each other as those of any row do: a new row like those
learned is as likely to be in one place among them as in any other, so its chance means its rate (conformal prediction;
Vovk, Gammerman and Shafer 2005). A chance is never smaller than one in all the rows and one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from candide.data.arrays import BoolArray, FloatArray
from candide.data.grid import quantized
from candide.families.base.family import Block
from candide.model.assessment import Assessment

#: The shares of rows at which a block's distribution is kept: finest where rows are least expected.
LEVELS = np.concatenate([[0.0], np.geomspace(1e-4, 0.1, 40), np.linspace(0.125, 1.0, 36)])

#: The shares of rows at which the distribution of their scores is kept.
SCORE_LEVELS = np.concatenate([[0.0], np.geomspace(1e-4, 0.1, 160), np.linspace(0.125, 1.0, 36)])

TAIL = 0.1
"""Beyond all learned rows ranks fall on as they do from this share of rows to the last."""

ALIKE = 0.25
"""Rows whose log P differs by no more are expected about as much.

A value that half of the rows have is a little less expected of each of these, left out, than of a new row: by chance a
little less in one fold than in another. Ranks would make much of such differences.
"""


@dataclass(frozen=True)
class Novelty:
    """For each block, by its key, the quantiles of log P per column or word that was there, on the grid."""

    quantiles: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    families: Mapping[str, str] = field(default_factory=dict)
    """The family that was measured; another is on another scale, and has no say until it is measured too."""
    scores: tuple[float, ...] = ()
    """The quantiles of the scores of whole rows, on the grid; none in files of earlier releases."""
    rows: int = 0
    """How many rows had a score."""

    def chances(self, blocks: Sequence[Block], found: Assessment) -> FloatArray:
        """How often a row like those learned is expected as little as each of these, at most.

        A row has no chance where nothing is known of it, or where no class could hold it.
        """
        if self.scores:
            ranks, heard = self.log_ranks(blocks, found), self.heard(blocks, found.there)
            share = share_at_most(np.array(self.scores), quantized(row_scores(ranks, heard)))
            chance = (1 + self.rows * share) / (self.rows + 1)
        else:
            chance = self._chances_as_before(blocks, found)
        return np.where(found.nothing_known | found.impossible, 0.0, chance)

    def speaks(self, block: Block) -> bool:
        """Whether a block was measured, and is of the family that was."""
        return block.key in self.quantiles and self.families.get(block.key, block.family.name) == block.family.name

    def heard(self, blocks: Sequence[Block], there: FloatArray) -> BoolArray:
        """Which blocks have a say about which rows, [block, row]."""
        speaking = np.array([self.speaks(block) for block in blocks], dtype=bool)
        return np.asarray(speaking[:, None] & (there > 0))

    def log_ranks(self, blocks: Sequence[Block], found: Assessment) -> FloatArray:
        """The logarithm of each row's rank in each block that has a say, [block, row]."""
        ranks, heard = np.zeros(found.there.shape), self.heard(blocks, found.there)
        for index, block in enumerate(blocks):
            rows = heard[index]
            if rows.any():
                each = how_expected(block, found.log_marginal[index, rows], found.unseen[index, rows])
                ranks[index, rows] = log_rank(np.array(self.quantiles[block.key]), each / found.there[index, rows])
        return ranks

    def share(self, block: Block, row: Assessment, index: int) -> float:
        """The share of learned rows that were expected no more than a single row in one of the blocks."""
        unseen = row.unseen[index] if self.scores else np.zeros(1)
        each = how_expected(block, row.log_marginal[index], unseen)
        return float(self._shares(block, each / row.there[index])[0])

    def _shares(self, block: Block, each: FloatArray) -> FloatArray:
        return share_below(quantized(np.array(self.quantiles[block.key])), LEVELS, quantized(each))

    def _chances_as_before(self, blocks: Sequence[Block], found: Assessment) -> FloatArray:
        """Where whole rows were not measured: the smallest rank times the number of blocks that know the row."""
        rows = found.length.shape[1]
        smallest, present = np.ones(rows), np.zeros(rows)
        for index, block in enumerate(blocks):
            known, logs = found.length[index] > 0, found.log_marginal[index]
            present += known
            if self.speaks(block):
                logs = logs if block.family.has_length else logs - found.unseen[index]
                ranks = self._shares(block, logs / np.where(known, found.length[index], 1.0))
                smallest = np.where(known, np.minimum(smallest, ranks), smallest)
        return np.minimum(smallest * present, 1.0)


UNMEASURED = Novelty()
"""Nothing is strange but what cannot be, or of which nothing is known."""


def how_expected(block: Block, log_marginal: FloatArray, unseen: FloatArray) -> FloatArray:
    """log P of some rows in a block, in which words that were never seen count twice.

    As rare words they would say little: texts of learned classes hold many of those. What tells a foreign text is that
    its words are not among them.
    """
    return log_marginal + unseen if block.family.has_length else log_marginal


def row_scores(log_ranks: FloatArray, heard: BoolArray) -> FloatArray:
    """The logarithm of the harmonic mean of each row's ranks in the blocks that are heard; 0 where none is.

    >>> ranks = np.log(np.array([[0.01, 0.5], [1.0, 0.5]]))
    >>> np.exp(row_scores(ranks, np.ones((2, 2), dtype=bool))).round(4).tolist()
    [0.0198, 0.5]
    """
    smallest = np.min(np.where(heard, log_ranks, 0.0), axis=0, initial=0.0)
    with np.errstate(invalid="ignore"):
        together = np.where(heard, np.exp(smallest - log_ranks), 0.0).sum(axis=0)
    blocks = heard.sum(axis=0)
    return np.where(blocks > 0, smallest + np.log(np.maximum(blocks, 1) / np.where(together > 0, together, 1.0)), 0.0)


def log_rank(kept: FloatArray, each: FloatArray) -> FloatArray:
    """The logarithm of the share of learned rows that were expected no more than this, by a block's quantiles.

    Rows are alike that are expected about as much. Beyond all rows it falls on as steeply as it does from a tenth of
    them to the last; between two quantiles it stays.
    """
    knots, each = quantized(kept), quantized(each + ALIKE)
    least, tenth = knots[0], knots[np.searchsorted(LEVELS, TAIL)]
    steps = np.log(LEVELS[np.maximum(np.searchsorted(knots, np.append(least, each), side="right") - 1, 1)])
    slope = (np.log(TAIL) - steps[0]) / (tenth - least) if tenth > least else 1.0
    return np.where(each < least, steps[0] - slope * (least - each), np.maximum(steps[1:], steps[0]))


def share_below(knots: FloatArray, levels: FloatArray, each: FloatArray) -> FloatArray:
    """The share of rows that are no larger than each number, by quantiles: between two of them in proportion."""
    below = np.searchsorted(knots, each, side="left")
    above = np.searchsorted(knots, each, side="right")
    inside = (below > 0) & (below < len(knots))
    low, high = knots[np.clip(below - 1, 0, None)], knots[np.clip(below, None, len(knots) - 1)]
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.where(high > low, (each - low) / (high - low), 1.0)
    between = levels[np.clip(below - 1, 0, None)] + part * np.diff(levels, append=1.0)[np.clip(below - 1, 0, None)]
    exact = levels[np.clip(above - 1, 0, None)]
    return np.where(above > below, exact, np.where(inside, between, np.where(below == 0, 0.0, 1.0)))


def share_at_most(knots: FloatArray, each: FloatArray) -> FloatArray:
    """The share of rows whose score is no larger than each, no less than it is where many rows are alike."""
    above = np.searchsorted(knots, each, side="right")
    tied = above > np.searchsorted(knots, each, side="left")
    return np.where(tied, np.append(SCORE_LEVELS, 1.0)[above], share_below(knots, SCORE_LEVELS, each))


def quantiles(values: FloatArray, weights: FloatArray, levels: FloatArray = LEVELS) -> FloatArray:
    """The values at some levels of the weighted distribution."""
    order = np.argsort(values, kind="stable")
    return quantiles_of_ascending(values[order], weights[order], levels)


def quantiles_of_ascending(values: FloatArray, weights: FloatArray, levels: FloatArray = LEVELS) -> FloatArray:
    """The same of values in ascending order."""
    shares = np.cumsum(weights)
    return np.asarray(values[np.searchsorted(shares, levels * shares[-1], side="left").clip(0, len(values) - 1)])
