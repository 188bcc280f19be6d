"""How well probabilities rank the rows of a class above all others: receiver operating and precision-recall curves.

Rows are counted by cells of log P(class) / P(any other), so counts of parts add up to those of the whole, and rows in
one cell are tied. A tied pair counts half, so the area under the receiver operating curve is off by no more than half
the share of tied pairs of a row of the class and another; cells are so narrow that this is less than 0.001 where there
are some hundred rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.cached import cached_property
from candide.data.grid import NEAR, quantized_number
from candide.data.values import Key
from candide.statistics.weight_grid import in_ones

CELLS = 2048
FINENESS = 128
"""A cell is a 128th of a nat wide where both are as probable, and a 128th of the log odds where they are large."""

POINTS = 64
"""A curve is kept as no more than so many points."""

CURVES = 6
"""Of more classes than this only so many curves are kept, of those ranked worst."""

MOST_IN_WORDS = 1 << 26
"""Of fewer rows all products are whole numbers that doubles hold."""

Counts = tuple[Any, Any]
"""Rows of a class, and rows of all others: whole numbers, unless weights are not."""


def log_odds(log_posterior: FloatArray, posterior: FloatArray) -> FloatArray:
    """log P(class) - log P(any other), [row, class], with all digits also where a class is all but certain.

    >>> log_odds(np.log([[0.5, 0.25, 0.25]]), np.array([[0.5, 0.25, 0.25]])).round(3).tolist()
    [[0.0, -1.099, -1.099]]
    """
    best = np.arange(len(posterior)), posterior.argmax(axis=1)
    others = posterior.copy()
    others[best] = 0.0
    with np.errstate(divide="ignore"):
        found = log_posterior - np.log1p(-others)
        found[best] = log_posterior[best] - np.log(others.sum(axis=1))
    return np.asarray(found)


def odds_cells(odds: FloatArray) -> IntArray:
    """The cell of each log odds, the largest first; a number next to an edge is taken to be on it."""
    half = CELLS // 2
    index = np.floor(FINENESS * np.arcsinh(np.clip(odds, -1e6, 1e6)) + NEAR)
    return np.asarray(half - 1 - np.clip(index, -half, half - 1)).astype(np.int64)


def counted_cells(odds: FloatArray, own: IntArray, weights: IntArray) -> IntArray:
    """The weight of each class's rows, and of all rows, by cell of its log odds: [class, 2, cell].

    `own` is the class of each row, or -1; weights are whole units.
    """
    classes = odds.shape[1]
    codes = odds_cells(odds) + np.arange(0, 2 * CELLS * classes, 2 * CELLS)
    known = np.flatnonzero(own >= 0)
    found = np.zeros(2 * CELLS * classes, dtype=np.int64)
    np.add.at(found, codes[known, own[known]], weights[known])
    np.add.at(found, (codes + CELLS).ravel(), np.repeat(weights, classes))
    return found.reshape(classes, 2, CELLS)


@dataclass(frozen=True)
class ClassRanking:
    """How well the rows of one class are ranked above all others, by its probability.

    `roc_area` is the chance that a row of the class is given a higher probability of it than another row is, and half
    the chance that both are given the same. `average_precision` is the mean precision over the rows of the class, each
    at its own threshold. `curve` counts the rows of the class and the others at or above thresholds, from the highest
    down.
    """

    name: str
    rows: Any
    others: Any
    roc_area: float
    average_precision: float
    curve: tuple[Counts, ...] = ()

    @classmethod
    def of(cls, name: str, own: AnyArray, others: AnyArray, bits: int = 0) -> ClassRanking:
        """From the weight of the class's rows and of all others by cell, in units of 2^-bits."""
        some, rest, found, wrong = cumulated(own, others)
        rows, all_others = int(found[-1]), int(wrong[-1])
        twice = int((some * (2 * (all_others - wrong) + rest)).sum())
        precision = math.fsum((some * found / (found + wrong)).tolist()) / rows
        area = twice / (2 * rows * all_others)
        ends = in_ones(rows, bits), in_ones(all_others, bits)
        return cls(name, *ends, quantized_number(area), quantized_number(precision))

    def with_curve(self, own: AnyArray, others: AnyArray, bits: int = 0) -> ClassRanking:
        """The same with its curve, of the same weights."""
        _, _, found, wrong = cumulated(own, others)
        kept = thinned(tuple(zip(found.tolist(), wrong.tolist(), strict=True)))
        return replace(self, curve=tuple((in_ones(one, bits), in_ones(other, bits)) for one, other in kept))

    @property
    def share(self) -> float:
        """The share of the rows that have the class: the precision of naming all of them."""
        return float(self.rows / (self.rows + self.others))

    @cached_property
    def roc(self) -> FloatArray:
        """The share of the other rows and of the class's rows above each threshold, from none to all: [point, 2]."""
        ends = [(0, 0), *self.curve]
        return np.array([(wrong / self.others, found / self.rows) for found, wrong in ends])

    @cached_property
    def precision_recall(self) -> FloatArray:
        """Recall and precision at each threshold, from the highest down: [point, 2]."""
        return np.array([(found / self.rows, found / (found + wrong)) for found, wrong in self.curve])

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "rows": self.rows,
            "share": self.share,
            "roc_area": self.roc_area,
            "average_precision": self.average_precision,
            "curve": [list(point) for point in self.curve],
        }

    def to_file(self) -> list[Any]:
        """Plain data for a model file: short, since there may be many classes."""
        curve = [list(point) for point in self.curve]
        return [self.name, self.rows, self.others, self.roc_area, self.average_precision, curve]

    @classmethod
    def from_file(cls, parts: Sequence[Any]) -> ClassRanking:
        """What `to_file` gave; anything else raises."""
        name, rows, others, area, precision, curve = parts
        if not (rows > 0 and others > 0 and all(0 <= a <= rows and 0 <= b <= others and a + b > 0 for a, b in curve)):
            raise ValueError("a curve counts rows that are not there")
        points = tuple((found, wrong) for found, wrong in curve)
        return cls(str(name), rows, others, float(area), float(precision), points)


def cumulated(own: AnyArray, others: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
    """The weights of both in cells that hold some, and their running sums; as Python ints where they are large."""
    there = np.flatnonzero((own > 0) | (others > 0))
    kind = np.int64 if int(own.sum()) + int(others.sum()) < MOST_IN_WORDS else object
    some, rest = own[there].astype(kind), others[there].astype(kind)
    return some, rest, np.cumsum(some), np.cumsum(rest)


def thinned(curve: tuple[Counts, ...], most: int = POINTS) -> tuple[Counts, ...]:
    """The curve by few of its points: about evenly far from each other along it, and the last.

    >>> thinned(((1, 0), (2, 0), (3, 0), (3, 9)), 2)
    ((3, 0), (3, 9))
    """
    if len(curve) <= most:
        return curve
    (rows, others), wanted = curve[-1], 1
    kept: list[Counts] = []
    for index, (found, wrong) in enumerate(curve):
        far = (found * others + wrong * rows) * most
        if far >= wanted * 2 * rows * others or index == len(curve) - 1:
            kept.append((found, wrong))
            wanted = far // (2 * rows * others) + 1
    return tuple(kept)


def rankings(
    cells: Mapping[Key, IntArray], rows: Mapping[Key, int], names: Mapping[Key, str], bits: int = 0
) -> tuple[ClassRanking, ...]:
    """The ranking of each class that some rows have and others have not; of two classes, that of the second.

    Rows that a class's cells do not count were judged where it was unknown: it was the least probable there.
    `rows` is the weight of the rows by label. Curves are those of all classes, or of the worst where there are many.
    """
    total, found, weights = sum(rows.values()), list[ClassRanking](), list[tuple[AnyArray, AnyArray]]()
    wanted = sorted(cells)[1:] if len(names) == 2 and len(cells) == 2 else sorted(cells)
    for key in wanted:
        own, everything = cells[key].copy()
        own[-1] += rows.get(key, 0) - own.sum()
        everything[-1] += total - everything.sum()
        if 0 < own.sum() < total:
            weights.append((own, everything - own))
            found.append(ClassRanking.of(names[key], *weights[-1], bits))
    for index in sorted(range(len(found)), key=lambda one: (found[one].roc_area, found[one].name))[:CURVES]:
        found[index] = found[index].with_curve(*weights[index], bits)
    return tuple(found)
