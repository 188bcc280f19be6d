"""How far two distributions lie apart, in bits, and how far chance alone would have moved them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from candide.data.arrays import FloatArray

BEYOND = 3.5
"""What lies so many standard deviations beyond what chance would do is no chance: once in 4,000 it still is."""

FAR_APART = 12.0
"""Bells whose means are so many deviations apart do not meet."""


@dataclass(frozen=True)
class Divergence:
    """The Jensen-Shannon divergence: 0 bits where two distributions are the same, 1 bit where they share nothing.

    Counts of the same distribution differ too. For k cells and n rows on either side 8 ln 2 / (1/n + 1/n) times the
    divergence is then about a chi square with k - 1 degrees of freedom, so `chance` is what no drift at all would
    leave on average, and `limit` what it hardly ever leaves.

    >>> same = Divergence.of(np.array([50.0, 50.0]), np.array([55.0, 45.0]))
    >>> round(same.bits, 4), round(same.chance, 4), same.is_beyond_chance
    (0.0018, 0.0036, False)
    >>> Divergence.of(np.array([50.0, 50.0]), np.array([90.0, 10.0])).is_beyond_chance
    True
    """

    bits: float
    chance: float = 0.0
    spread: float = 0.0
    """The standard deviation of what chance leaves."""

    @classmethod
    def of(cls, before: FloatArray, after: FloatArray, repeated: float = 1.0) -> Divergence:
        """From counts of the same cells; each thing counted is there `repeated` times for one that chance has drawn."""
        drawn = float(before.sum()) / repeated, float(after.sum()) / repeated
        if not min(drawn) > 0:
            return NO_DIVERGENCE
        freedom = int(np.count_nonzero(before + after)) - 1
        return cls(jensen_shannon(before, after), *by_chance(freedom, *drawn))

    @classmethod
    def of_bells(cls, apart: float, before: float, after: float) -> Divergence:
        """Of two normal distributions with means so many deviations apart, each the mean of so many rows."""
        grid = np.linspace(-FAR_APART, FAR_APART, 2001)
        shift = min(abs(apart), FAR_APART) / 2
        bells = [np.exp(-0.5 * (grid - mean) ** 2) for mean in (-shift, shift)]
        return cls(jensen_shannon(*bells), *by_chance(1, before, after))

    @classmethod
    def weighted(cls, parts: Sequence[Divergence], weights: Sequence[float]) -> Divergence:
        """The sum of divergences, each times a weight; those that chance moved did so independently."""
        pairs = list(zip(parts, weights, strict=True))
        return cls(
            sum(weight * part.bits for part, weight in pairs),
            sum(weight * part.chance for part, weight in pairs),
            math.sqrt(sum((weight * part.spread) ** 2 for part, weight in pairs)),
        )

    @property
    def limit(self) -> float:
        """What chance hardly ever exceeds."""
        return self.limit_at(BEYOND)

    def limit_at(self, deviations: float) -> float:
        """What chance exceeds as often as a bell so many deviations (Wilson and Hilferty 1931: a root is one)."""
        if not self.chance:
            return 0.0
        ninth = (self.spread / self.chance) ** 2 / 9
        return self.chance * (1 - ninth + deviations * math.sqrt(ninth)) ** 3

    @property
    def is_beyond_chance(self) -> bool:
        """Whether something moved, as far as counts can tell."""
        return self.bits > self.limit

    @property
    def excess(self) -> float:
        """The bits that chance does not explain."""
        return self.bits - self.chance

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {"bits": self.bits, "chance": self.chance, "limit": self.limit, "moved": self.is_beyond_chance}


NO_DIVERGENCE = Divergence(0.0)


def jensen_shannon(before: FloatArray, after: FloatArray) -> float:
    """The mean information, in bits, that one draw gives on which of two distributions it comes from (Lin 1991).

    >>> jensen_shannon(np.array([1.0, 1.0]), np.array([7.0, 7.0])), jensen_shannon(np.array([1, 0]), np.array([0, 1]))
    (0.0, 1.0)
    """
    shares = before / before.sum(), after / after.sum()
    middle = 0.5 * shares[0] + 0.5 * shares[1]
    found = 0.0
    for share in shares:
        there = share > 0
        found += 0.5 * float(np.sum(share[there] * np.log2(share[there] / middle[there])))
    return min(max(found, 0.0), 1.0)


def by_chance(freedom: int, before: float, after: float) -> tuple[float, float]:
    """Mean and standard deviation of the divergence of two draws of so many from one distribution."""
    unit = (1 / before + 1 / after) / (8 * math.log(2))
    return freedom * unit, math.sqrt(2 * freedom) * unit
