"""Linear refinement of tables: what values and products of two add to what naive Bayes says, fitted on whole rows.

Naive Bayes and its pairs see bins, a few columns at a time. Where many columns each tell a little of what they tell
together (the width of a spectrum, how many of six answers are the first), a layer of one weight for each feature and
each product of two hears it: logistic regression with a polynomial kernel of degree two, begun where naive Bayes ends
and held to adding nothing. How strongly, how much of naive Bayes is kept beside it, and whether it pays, is judged by
folds of the rows that had no part in it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import ndtri

from candide.data.arrays import FloatArray, IntArray
from candide.data.grid import quantized, quantized_number
from candide.engines.protocol import Engine
from candide.families.base.column_values import ColumnValues
from candide.families.pairs.column_bins import ColumnBins
from candide.families.pairs.column_scale import ColumnScale
from candide.families.pairs.linear_table import TABLE_UNITS, TableTerms
from candide.kernels.table_products import OF_PRODUCTS, add_feature_products, shorten_rows
from candide.model.linear_layer import LinearLayer
from candide.model.predictor import normalised
from candide.selection.find_pairs import BY_CHANCE, PAYS, Finder, is_more, losses
from candide.selection.folds import choice_folds
from candide.selection.linear_layer import LayerJudged, within_reach

STRENGTHS = (3.0, 1.0, 0.3, 0.1, 0.03)
LESS = 0.3
"""How strongly weights are held to nothing, tried in this order: beside all that naive Bayes says, and beside less."""
JUDGES, HOPELESS = 2, 3.0
"""So many folds tell whether the others are worth asking; a strength so many nats worse than another ends a path."""
FEWEST_ROWS, MOST_CLASSES, MOST_FEATURES = 50, 128, 128
WORK = 250_000
"""Rows that are fitted are so many at most that they have no more numbers than this, of two classes; there is no layer
where they are less than half of all."""
MOST_STEPS, NEARLY, CLOSELY = 100, 1e-1, 1e-5
"""Steps end where none moves more: in folds, and with all rows."""
FEW_NUMBERS, MOST_KNOTS = 6, 64
"""A column of no more different numbers is read by which it is; of others the scores of so many are written down."""
FLAT = 1e-7
"""Axes along which rows lie closer together than this, as a share of the widest, are left aside."""


@dataclass(frozen=True, eq=False)
class TableTrial:
    """Rows to fit layers on, dealt into folds that judge them."""

    scales: tuple[ColumnScale, ...]
    features: FloatArray
    """Of all rows; the first are fitted, as many as there are factors."""
    factors: FloatArray
    """By what rows are multiplied, so that none is longer than one."""
    rows: FloatArray
    """Rows along the axes of all features and products, [row, axis]."""
    spread: FloatArray
    """The sum of squares along each axis; of any two axes the sum of products is zero."""
    start: FloatArray
    """The score of all rows by naive Bayes, without their folds, and the part of it that is the prior."""
    prior: FloatArray
    labels: IntArray
    weights: FloatArray
    folds: list[IntArray]

    @classmethod
    def of(cls, finder: Finder, scores: FloatArray, folds: IntArray) -> TableTrial | None:
        """The rows as a layer sees them; `scores` are those of each without its fold.

        Nothing where columns are few or many, or where most rows could not be fitted: what counts say of all of them is
        not to be overruled by some.
        """
        left, classes = finder.left, scores.shape[1]
        fewest = finder.leaving.summary.rows / 2
        if left.weights[: rows_affordable(len(scores), len(finder.columns), classes)].sum() < fewest:
            return None
        scales, features = features_of_columns(finder)
        size = rows_affordable(len(features), features.shape[1], classes)
        if not scales or left.weights[:size].sum() < fewest:
            return None
        shorten_rows(features, len(scales), factors := np.empty(len(features)))
        rows, spread = along_axes(features[:size], factors[:size], len(scales))
        weights, dealt = np.where(left.vanished, 0.0, left.weights)[:size], choice_folds(folds[:size])
        before = within_reach(scores), finder.search.start
        return cls(scales, features, factors[:size], rows, spread, *before, left.labels, weights, dealt)

    @property
    def evidence(self) -> FloatArray:
        """What naive Bayes says of all rows beyond the prior."""
        return np.asarray(self.start - self.prior)

    @property
    def nothing(self) -> FloatArray:
        """A layer that adds nothing along any axis."""
        return np.zeros((len(self.spread), self.prior.shape[1]))

    def fitted(self, wanted: IntArray, beside: float, strength: float, near: FloatArray, closely: float) -> FloatArray:
        """What axes add to each class, fitted to some rows, found from near some.

        The loss of a row bends nowhere more than half the square of its length (Boehning 1992), so a step along each
        axis is as long as is safe for all; steps gain speed while they go downhill (Nesterov 1983).
        """
        rows, start = self.rows[wanted], (self.prior + beside * self.evidence)[wanted]
        weights, own = self.weights[wanted][:, None], np.eye(start.shape[1])[self.labels[wanted]]
        bound = (self.weights.max() * self.spread / 2 + strength)[:, None]
        found, ahead, speed = near, near, 1.0
        for _ in range(MOST_STEPS):
            slope = rows.T @ (weights * (normalised(start + rows @ ahead, start[0]) - own)) + strength * ahead
            step = ahead - slope / bound - found
            if np.abs(np.sqrt(bound) * step).max() < closely:
                return found + step
            faster = 1.0 if (slope * step).sum() > 0 else (1 + math.sqrt(1 + 4 * speed**2)) / 2
            found = found + step
            ahead, speed = found + (speed - 1) / faster * step if faster > 1 else found, faster
        return found

    def path(self, fold: int, beside: float) -> list[FloatArray]:
        """What layers without a fold add to its rows, by how strongly they are held; so much is kept beside them."""
        here, found, lost = self.folds[fold], list[FloatArray](), list[float]()
        least = self.lost(fold) if beside == 1.0 else math.inf
        rest, added = np.setdiff1d(np.flatnonzero(self.weights > 0), here), self.nothing
        for strength in STRENGTHS:
            if not lost or lost[-1] < min(least, *lost) + HOPELESS:
                added = self.fitted(rest, beside, strength, added, NEARLY)
                said = self.rows[here] @ added + (beside - 1) * self.evidence[here]
            lost.append(self.lost(fold, said))
            found.append(said)
        return found

    def costs(self, here: IntArray, said: FloatArray | float = 0.0) -> FloatArray:
        """What some rows cost, with what was added to their scores."""
        return losses(self.start[here] + said, self.labels[here]) * self.weights[here]

    def lost(self, fold: int, said: FloatArray | float = 0.0) -> float:
        """What the rows of a fold cost in all, with what was added to their scores."""
        return quantized_number(float(self.costs(self.folds[fold], said).sum()))

    def terms(self, added: FloatArray) -> FloatArray:
        """What each feature and each product adds to each class, where axes add so much."""
        features, of_one, of_two = self.features[: len(self.rows)], *shares_of_length(len(self.scales))
        by_row = self.factors[:, None] * (self.rows @ (added / self.spread[:, None]))
        one, other = np.triu_indices(features.shape[1])
        twice = np.where(one == other, 1.0, 2.0) * of_two
        squares = [twice * ((features.T * own) @ features)[one, other] for own in by_row.T]
        return np.concatenate([of_one * features.T @ by_row, np.stack(squares, axis=1)])


def table_layer(finder: Finder, scores: FloatArray, folds: IntArray, engine: Engine) -> LayerJudged | None:
    """The layer for some rows; nothing where rows that had no part in it are judged no better."""
    if len(scores) < FEWEST_ROWS or scores.shape[1] > MOST_CLASSES:
        return None
    trial = TableTrial.of(finder, scores, folds)
    if trial is None or not len(trial.spread):
        return None
    dealt = range(len(trial.folds))
    tried = list(engine.map(partial(trial.path, beside=1.0), dealt[:JUDGES]))
    if min(totals(trial, tried, dealt[:JUDGES])) >= sum(map(trial.lost, dealt[:JUDGES])):
        return None
    tried += engine.map(partial(trial.path, beside=1.0), dealt[JUDGES:])
    less = engine.map(partial(trial.path, beside=LESS), dealt)
    tried = [[*paths, *others] for paths, others in zip(tried, less, strict=True)]
    chosen, added = first_least(totals(trial, tried, dealt)), np.zeros(trial.prior.shape)
    for fold, here in enumerate(trial.folds):
        added[here] = tried[fold][first_least(totals(trial, tried, [other for other in dealt if other != fold]))]
    everyone = np.arange(len(trial.rows))
    if not is_more(trial.costs(everyone) - trial.costs(everyone, added[everyone]), PAYS, BY_CHANCE):
        return None
    beside, strength = LESS if chosen >= len(STRENGTHS) else 1.0, STRENGTHS[chosen % len(STRENGTHS)]
    found = trial.fitted(np.flatnonzero(trial.weights > 0), beside, strength, trial.nothing, CLOSELY)
    units = np.rint(trial.terms(found) * TABLE_UNITS).astype(np.int64)
    table = TableTerms(trial.scales, units, beside, finder.missing_is_value)
    others = slice(len(everyone), None)
    added[others] = (beside - 1) * trial.evidence[others]
    add_feature_products(trial.features[others], len(trial.scales), units / TABLE_UNITS, added[others])
    leaving = finder.leaving
    return LayerJudged(LinearLayer(leaving.classes, {}, strength, leaving.summary.rows, table), added)


def totals(trial: TableTrial, tried: Sequence[Sequence[FloatArray]], folds: Sequence[int]) -> list[float]:
    """What the rows of some folds cost in all, by what was tried."""
    lost = [[trial.lost(fold, said) for said in tried[fold]] for fold in folds]
    return [sum(one) for one in zip(*lost, strict=True)]


def first_least(lost: Sequence[float]) -> int:
    """The first of the least."""
    return lost.index(min(lost))


def rows_affordable(rows: int, width: int, classes: int) -> int:
    """So many rows, each with a number for each product, or half as many as there are rows; fewer of many classes.

    >>> rows_affordable(400, 60, 2), rows_affordable(100_000, 9, 2), rows_affordable(100_000, 400, 8)
    (400, 4629, 500)
    """
    products, room = width * (width + 3) // 2, int(WORK / math.sqrt(classes / 2))
    return min(rows, max(room // max(1, products), math.isqrt(2 * room)))


def shares_of_length(columns: int) -> tuple[float, float]:
    """By what features, and products, are multiplied in the square of a row's length."""
    return (1 - OF_PRODUCTS) / columns, OF_PRODUCTS / columns**2


def along_axes(features: FloatArray, factors: FloatArray, columns: int) -> tuple[FloatArray, FloatArray]:
    """Rows along the axes of all their features and products of two, and the sum of squares along each.

    Where products outnumber rows, they are found from all products of two rows.
    """
    (of_one, of_two), (size, width) = shares_of_length(columns), features.shape
    if size <= width * (width + 3) // 2:
        inner = features @ features.T
        spread, axes = np.linalg.eigh((of_one * inner + of_two * inner**2) * factors[:, None] * factors)
        kept = spread > FLAT * spread[-1]
        return np.ascontiguousarray(axes[:, kept] * np.sqrt(spread[kept])), spread[kept]
    one, other = np.triu_indices(width)
    twice = np.where(one == other, 1.0, math.sqrt(2)) * math.sqrt(of_two)
    rows = np.concatenate([math.sqrt(of_one) * features, features[:, one] * features[:, other] * twice], axis=1)
    rows *= factors[:, None]
    spread, axes = np.linalg.eigh(rows.T @ rows)
    kept = spread > FLAT * spread[-1]
    return rows @ axes[:, kept], spread[kept]


def features_of_columns(finder: Finder) -> tuple[tuple[ColumnScale, ...], FloatArray]:
    """How columns that may be paired are read, and the features of all rows; nothing where columns are too many.

    All or none: columns picked by what they tell of the label would be picked by the very rows that judge the layer.
    """
    nothing, batch = ((), np.zeros((len(finder.left.labels), 0))), finder.leaving.batch
    if not 2 <= len(finder.columns) <= MOST_FEATURES:
        return nothing
    scales, found = list[ColumnScale](), list[FloatArray]()
    for bins in finder.columns:
        values = ColumnValues.of(batch, (bins.column,), finder.missing_is_value).without_infinite()
        scales.append(scale_of(bins, values, finder.left.weights))
        found.append(scales[-1].features(values, 0))
    return (tuple(scales), np.concatenate(found, axis=1)) if sum(s.width for s in scales) <= MOST_FEATURES else nothing


def scale_of(bins: ColumnBins, values: ColumnValues, weights: FloatArray) -> ColumnScale:
    """How a column is read: told by values alone, never by labels, so there is nothing to leave out of it."""
    numbers = values.numbers[:, 0]
    there = ~np.isnan(numbers) & (weights > 0)
    found, places = np.unique(numbers[there], return_inverse=True)
    if bins.groups or len(found) <= FEW_NUMBERS:
        codes = bins.codes(values, 0)
        seen = np.bincount(codes[codes >= 0], weights[codes >= 0], bins.bins)
        return ColumnScale(bins, shares=tuple(quantized(seen / max(seen.sum(), 1.0)).tolist()))
    seen = np.bincount(places, weights[there], len(found))
    kept = found
    if len(found) > MOST_KNOTS:
        below = np.cumsum(seen)
        places = np.searchsorted(below, below[-1] * np.linspace(0, 1, MOST_KNOTS))
        kept = found[np.unique(places.clip(0, len(found) - 1))]
    ranks = (np.cumsum(seen) - seen / 2)[np.searchsorted(found, kept)] / seen.sum()
    scores = ndtri(ranks)
    said = np.interp(found, kept, scores)
    mean = float(np.average(said, weights=seen))
    spread = math.sqrt(float(np.average((said - mean) ** 2, weights=seen)))
    own = ColumnBins(bins.column)
    return ColumnScale(own, tuple(kept.tolist()), tuple(quantized((scores - mean) / spread).tolist()))
