"""What the values of a feature look like in each class: what pictures draw and cards tell.

A profile is a table of log likelihoods along the feature. It needs nothing but a fitted family, so whatever reads
profiles works for every family there is or will be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from candide.data.arrays import AnyArray, FloatArray
from candide.data.times import shown_time
from candide.families.base.safe_log import safe_log

CURVE, STEPS, COUNTS, VALUES, EVENTS = "curve", "steps", "counts", "values", "events"
"""Kinds: a density along numbers; a density in intervals; whole numbers; named values; things that share a total."""

COVERED, FADED = 0.97, 7.0
"""Points should hold so much of each class's chance, unless it is this much less likely, in nats, where they end."""


@dataclass(frozen=True)
class Profile:
    """The points along one feature and table[point, class], the logarithm of their likelihood in each class.

    - CURVE: `points` are ascending numbers, the table a density there, `widths` what each point stands for.
    - STEPS: `points` are where intervals begin, `widths` how wide they are, the table a density.
    - COUNTS: `points` are whole numbers, the table their chances; `widths`, where given, how many numbers each point
      stands for, there being too many to name them all.
    - VALUES: `points` are names of values, the table their chances.
    - EVENTS: `points` are the most telling of `vocabulary` words (or columns of counts), the most telling first, the
      table what one occurrence adds to the score of each class.

    `counts[point, class]` is what was counted, where something was. `information` is what the feature tells about the
    class, in bits: of a value, or of one event. `factor` is what calibration multiplies the evidence by. `parameters`
    are the numbers behind a curve as its family calls them, each [class].
    """

    column: str
    kind: str
    points: AnyArray | tuple[str, ...]
    table: FloatArray
    widths: FloatArray | None = None
    counts: AnyArray | None = None
    information: float = 0.0
    vocabulary: int = 0
    factor: float = 1.0
    parameters: Mapping[str, FloatArray] = field(default_factory=dict)
    #: The kind of times that the points are, where they are seconds since 1970.
    times: str = ""

    def point_named(self, point: float, written: Callable[[float], str]) -> str:
        """A point along numbers as it is written: as a time where it is one."""
        return shown_time(float(point), self.times) if self.times else written(float(point))

    @property
    def masses(self) -> FloatArray:
        """The chance of each point in each class, all that the points hold being one; not for events."""
        logs = self.table if self.widths is None else self.table + safe_log(self.widths)[:, None]
        whole = log_total(logs, axis=0)
        return np.exp(logs - np.where(np.isfinite(whole), whole, 0.0))


def information(table: FloatArray, prior: FloatArray, widths: FloatArray | None = None) -> FloatArray:
    """How many bits a value tells about the class: the sum of P(c) P(x | c) log2 P(x | c) / P(x).

    `table` is log likelihood [..., point, class]. What the points do not cover is left out, so that each class sums to
    one over them; a class that none of them suits is left out, too.

    >>> coin = np.log([[0.5, 0.5], [0.5, 0.5]])
    >>> with np.errstate(divide="ignore"):
    ...     signal = np.log([[1.0, 0.0], [0.0, 1.0]])
    >>> information(np.stack([coin, signal]), np.array([0.5, 0.5])).tolist()
    [0.0, 1.0]
    """
    asked = prior > 0
    logs = table[..., asked] if widths is None else table[..., asked] + safe_log(widths)[:, None]
    whole = log_total(logs, axis=-2)
    there = np.isfinite(whole)
    chances = np.where(there, prior[asked], 0.0)
    chances = chances / np.maximum(chances.sum(axis=-1, keepdims=True), 1e-300)
    logs = np.where(there, logs - np.where(there, whole, 0.0), -np.inf)
    mixed = log_total(logs + safe_log(chances), axis=-1)
    shares = np.exp(logs)
    gained = shares * np.where(shares > 0, logs - np.where(np.isfinite(mixed), mixed, 0.0), 0.0)
    bits = (gained.sum(axis=-2, keepdims=True) * chances).sum(axis=(-2, -1)) / np.log(2)
    return np.asarray(np.clip(bits, 0.0, entropy(prior)))


def covered(table: FloatArray, widths: FloatArray | None = None) -> FloatArray:
    """How much of each class's chance the points of a table[point, class] hold, about 1 where they hold all."""
    logs = table if widths is None else table + safe_log(widths)[:, None]
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(log_total(logs, axis=0))[0])


def reaches_beyond(table: FloatArray, widths: FloatArray | None = None) -> AnyArray:
    """Which classes have chances where the points end: they hold too little, or the outermost stand for too much.

    A class that fades out before the points end is not among them.
    """
    if not len(table):
        return np.zeros(table.shape[1], dtype=bool)
    with np.errstate(invalid="ignore"):
        fades = np.maximum(table[0], table[-1]) < table.max(axis=0) - FADED
    held = covered(table, widths)
    return ((held < COVERED) | (held > 1 / COVERED)) & ~fades


def entropy(prior: FloatArray) -> float:
    """How many bits it takes to tell the class: the most that anything can tell about it.

    >>> entropy(np.array([0.25, 0.25, 0.25, 0.25])), entropy(np.array([1.0, 0.0]))
    (2.0, 0.0)
    """
    chances = prior[prior > 0]
    return float(-(chances * np.log2(chances)).sum()) + 0.0


def log_total(logs: FloatArray, axis: int) -> FloatArray:
    """log of the sum of exp along an axis, which stays; -inf where there is nothing to sum."""
    largest = logs.max(axis=axis, keepdims=True, initial=-np.inf)
    safe = np.where(np.isfinite(largest), largest, 0.0)
    return np.asarray(safe + safe_log(np.exp(logs - safe).sum(axis=axis, keepdims=True)))
