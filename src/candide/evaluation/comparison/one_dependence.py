"""A1DE, the known rival among models that count: averaged one-dependence estimators (Webb, Boughton & Wang 2005)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.batch import Batch
from candide.data.values import Key
from candide.evaluation.comparison.columns import ColumnKinds
from candide.families.base.column_values import ColumnValues
from candide.families.pairs.column_bins import ColumnBins
from candide.kernels.one_dependence import add_up_parents, count_together, shares_given_parents
from candide.model.predictor import log_normalised
from candide.selection.pair_bins import MOST_GROUPS, bins_for, bins_of

MOST_COLUMNS, MOST_SHARES = 100, 20_000_000
"""Counts grow with the square of the number of columns, and with classes: so many shares are 160 MB."""


@dataclass(frozen=True, eq=False)
class OneDependence:
    """P(class, row) as a mean over parents: P(class, parent) times P(value | parent, class) of all other columns.

    Numbers and categories have the few bins by which pairs of columns are counted. A missing value, and one that was
    never seen, is nobody's parent and says nothing.
    """

    classes: tuple[Key, ...]
    columns: tuple[ColumnBins, ...]
    shares: FloatArray
    """[place, place, class], as the kernels number bins."""
    is_seen: AnyArray
    prior: FloatArray

    @classmethod
    def of(cls, columns: ColumnKinds, batch: Batch) -> OneDependence:
        """Count every two bins together, by class."""
        assert batch.labels is not None
        met, labels = np.unique(batch.labels.codes, return_inverse=True)
        ones, most = np.ones(len(batch)), bins_for(len(batch))
        bins = tuple(bins_of(batch, name, ones, most, False) for name in (*columns.numbers, *columns.categories))
        starts = starts_of(bins)
        shares = np.zeros((starts[-1], starts[-1], len(met)))
        count_together(bin_places(bins, batch), labels, shares)
        is_seen = np.einsum("iij->i", shares) > 0
        shares_given_parents(shares, starts)
        prior = np.log((np.bincount(labels) + 1 / len(met)) / (len(batch) + 1))
        return cls(tuple(batch.labels.keys[code] for code in met.tolist()), bins, shares, is_seen, prior)

    def log_posterior(self, batch: Batch) -> FloatArray:
        """log P(class | row), [row, class]; of a row that says nothing, the prior."""
        scores = np.tile(self.prior, (len(batch), 1))
        add_up_parents(bin_places(self.columns, batch), self.shares, self.is_seen, scores)
        return log_normalised(scores, self.prior)


def starts_of(columns: Sequence[ColumnBins]) -> IntArray:
    """The place of each column's first bin, and the number of all bins."""
    return np.cumsum([0, *(bins.bins for bins in columns)])


def bin_places(columns: Sequence[ColumnBins], batch: Batch) -> IntArray:
    """The place of each value, [row, column]; -1 where there is none."""
    found = np.full((len(batch), len(columns)), -1)
    for index, (bins, start) in enumerate(zip(columns, starts_of(columns).tolist(), strict=False)):
        codes = bins.codes(ColumnValues.of(batch, (bins.column,), False).without_infinite(), 0)
        found[:, index] = np.where(codes < 0, -1, start + codes)
    return found


def why_no_one_dependence(columns: ColumnKinds, classes: int) -> str:
    """Why A1DE is left out; nothing where it is not."""
    count = len(columns.numbers) + len(columns.categories)
    most = min(MOST_COLUMNS, math.isqrt(MOST_SHARES // classes) // MOST_GROUPS)
    if columns.texts or count < 2:
        return "A1DE is left out: it needs two or more columns of numbers or categories, and no text."
    if count > most:
        return (
            f"A1DE is left out: to count every two of {count:,} columns takes too much memory. "
            f"With {classes:,} classes {most} are affordable."
        )
    return ""
