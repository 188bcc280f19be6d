"""How expected a row is: log P of each block, ranked among the rows that were learned, each of them left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from candide.data.arrays import FloatArray
from candide.data.grid import quantized
from candide.families.base.family import Block

#: The shares of rows at which a block's distribution is kept: finest where rows are least expected.
LEVELS = np.concatenate([[0.0], np.geomspace(1e-4, 0.1, 40), np.linspace(0.125, 1.0, 36)])


@dataclass(frozen=True)
class Novelty:
    """For each block, by its key, the quantiles of log P per column or word that was there, on the grid."""

    quantiles: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    families: Mapping[str, str] = field(default_factory=dict)
    """The family that was measured; another is on another scale, and has no say until it is measured too."""

    @classmethod
    def of(
        cls,
        blocks: Sequence[Block],
        expected: FloatArray,
        observed: FloatArray,
        weights: FloatArray,
        silent: frozenset[str] = frozenset(),
    ) -> Novelty:
        """From log P[block, row] of rows left out, and how much of each there was; `silent` columns have no say."""
        found, families = {}, {}
        for block, logs, there in zip(blocks, expected, observed, strict=True):
            known = (there > 0) & np.isfinite(logs) & (weights > 0)
            if known.any() and not block.family.is_auxiliary and silent.isdisjoint(block.columns):
                found[block.key] = tuple(quantized(quantiles(logs[known] / there[known], weights[known])).tolist())
                families[block.key] = block.family.name
        return cls(found, families)

    def rank(self, key: str, each: FloatArray) -> FloatArray:
        """The share of learned rows that were expected no more than this."""
        knots, each = quantized(np.array(self.quantiles[key])), quantized(each)
        below = np.searchsorted(knots, each, side="left")
        above = np.searchsorted(knots, each, side="right")
        inside = (below > 0) & (below < len(knots))
        low, high = knots[np.clip(below - 1, 0, None)], knots[np.clip(below, None, len(knots) - 1)]
        with np.errstate(invalid="ignore", divide="ignore"):
            part = np.where(high > low, (each - low) / (high - low), 1.0)
        between = LEVELS[np.clip(below - 1, 0, None)] + part * np.diff(LEVELS, append=1.0)[np.clip(below - 1, 0, None)]
        exact = LEVELS[np.clip(above - 1, 0, None)]
        return np.where(above > below, exact, np.where(inside, between, np.where(below == 0, 0.0, 1.0)))

    def chances(self, blocks: Sequence[Block], expected: FloatArray, observed: FloatArray) -> FloatArray:
        """How often a row like those learned is expected as little as each of these, at most.

        The smallest rank among the blocks, times their number: one strange column among many must be stranger. A row
        of which nothing is known at all has no chance.
        """
        smallest, present = np.ones(expected.shape[1]), np.zeros(expected.shape[1])
        for block, logs, there in zip(blocks, expected, observed, strict=True):
            known, name = there > 0, block.family.name
            present += known
            if block.key in self.quantiles and self.families.get(block.key, name) == name:
                ranks = self.rank(block.key, logs / np.where(known, there, 1.0))
                smallest = np.where(known, np.minimum(smallest, ranks), smallest)
        return np.where(present > 0, np.minimum(smallest * present, 1.0), 0.0)


def quantiles(values: FloatArray, weights: FloatArray) -> FloatArray:
    """The values at `LEVELS` of the weighted distribution."""
    order = np.argsort(values, kind="stable")
    shares = np.cumsum(weights[order])
    return np.asarray(values[order][np.searchsorted(shares, LEVELS * shares[-1], side="left").clip(0, len(values) - 1)])
