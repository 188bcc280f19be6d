"""Where two learning curves cross: which method is ahead at how many rows, as far as chance lets us say.

Ng & Jordan (2001): a generative classifier comes close to its best with few rows, its discriminative twin needs more
but gets further. So naive Bayes tends to be ahead first, and logistic regression later.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

import numpy as np
from scipy.special import stdtrit

from candide.data.arrays import FloatArray

CHANCE = 0.05
"""A method is ahead where chance alone would give so great a lead, either way, no more often than this."""


@dataclass(frozen=True)
class Duel:
    """Two methods side by side, draw by draw: `leads` says at each size who is ahead: 1, -1, or 0 for nobody.

    `differences` are the means of first minus second in accuracy, `errors` their standard errors.
    """

    first: str
    second: str
    sizes: tuple[int, ...]
    differences: tuple[float, ...]
    errors: tuple[float, ...]
    repeats: tuple[int, ...]

    @classmethod
    def of(
        cls, first: str, second: str, sizes: Sequence[int], ours: Sequence[FloatArray], theirs: Sequence[FloatArray]
    ) -> Duel:
        """From the accuracies of both in every draw of every size; drawn alike, so they are compared in pairs."""
        pairs = [mean_and_error(a - b) for a, b in zip(ours, theirs, strict=True)]
        means, errors = zip(*pairs, strict=True)
        return cls(first, second, tuple(sizes), means, errors, tuple(map(len, ours)))

    @property
    def leads(self) -> tuple[int, ...]:
        """Who is clearly ahead at each size: by Student's t (1908) over the repeats."""
        needed = stdtrit(np.array(self.repeats) - 1, 1 - CHANCE / 2) * self.errors
        clear = np.abs(self.differences) > needed
        return tuple((np.sign(self.differences) * clear).astype(int).tolist())

    @property
    def crossings(self) -> tuple[float, ...]:
        """The numbers of rows at which the lead changes: only from clearly ahead to clearly behind.

        Between the two sizes, it is where the mean curves meet last, on a logarithmic scale of rows.

        >>> Duel("a", "b", (10, 100, 1000), (0.1, 0.0, -0.1), (0.01, 0.01, 0.01), (5, 5, 5)).crossings
        (100.0,)
        """
        spoken = [(index, lead) for index, lead in enumerate(self.leads) if lead]
        turns = [(i, j) for (i, before), (j, after) in pairwise(spoken) if before != after]
        return tuple(self._meeting(i, j) for i, j in turns)

    def _meeting(self, start: int, stop: int) -> float:
        """Where the mean difference last changes its sign between two sizes."""
        sign = math.copysign(1.0, self.differences[stop])
        before = max(index for index in range(start, stop) if self.differences[index] * sign <= 0)
        low, high = self.differences[before], self.differences[before + 1]
        share = low / (low - high)
        logs = np.log([self.sizes[before], self.sizes[before + 1]])
        return round(float(np.exp(logs[0] + share * (logs[1] - logs[0]))), 6)

    @property
    def sentence(self) -> str:
        """What there is to say.

        >>> Duel("a", "b", (10, 100), (0.1, -0.1), (0.01, 0.01), (5, 5)).sentence
        'a is ahead up to about 32 rows, b from there on.'
        """
        if not any(self.leads):
            return f"{self.first} and {self.second} are too close to tell apart at every size."
        return self._crossing() if self.crossings else self._no_crossing()

    def _crossing(self) -> str:
        leaders = [lead for lead, _ in groupby(lead for lead in self.leads if lead)]
        names = [self.first if lead > 0 else self.second for lead in leaders]
        untils = [f"up to about {two_significant_digits(rows):,}" for rows in self.crossings]
        untils[0] += " rows"
        parts = [f"{name} {until}" for name, until in zip(names, untils, strict=False)]
        return f"{', '.join(parts).replace(' up', ' is ahead up', 1)}, {names[-1]} from there on."

    def _no_crossing(self) -> str:
        ahead = [index for index, lead in enumerate(self.leads) if lead]
        names = (self.first, self.second) if self.leads[ahead[0]] > 0 else (self.second, self.first)
        low, high = self.sizes[ahead[0]], self.sizes[ahead[-1]]
        begins, ends = ahead[0] == 0, ahead[-1] == len(self.sizes) - 1
        if len(ahead) <= ahead[-1] - ahead[0]:
            return (
                f"{names[0]} is ahead of {names[1]} at some sizes from {low:,} to {high:,} rows, and nowhere clearly "
                "behind: the curves do not cross."
            )
        if begins and ends:
            return f"{names[0]} is ahead of {names[1]} from {low:,} to {high:,} rows: the curves do not cross."
        if begins or ends:
            where, rest = (f"up to {high:,} rows", "beyond that") if begins else (f"from {low:,} rows on", "below that")
        else:
            where, rest = f"from {low:,} to {high:,} rows" if low < high else f"at {low:,} rows", "elsewhere"
        return f"{names[0]} is ahead of {names[1]} {where}; {rest} they are too close to tell apart."

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "first": self.first,
            "second": self.second,
            "sentence": self.sentence,
            "crossings": list(self.crossings),
            "sizes": list(self.sizes),
            "differences": list(self.differences),
            "standard_errors": list(self.errors),
            "ahead": [{1: self.first, -1: self.second}.get(lead) for lead in self.leads],
        }


def mean_and_error(values: FloatArray) -> tuple[float, float]:
    """The mean of repeats and its standard error.

    >>> mean_and_error(np.array([1.0, 3.0]))
    (2.0, 1.0)
    """
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))


def two_significant_digits(rows: float) -> int:
    """Two digits are as exact as a crossing can be known.

    >>> two_significant_digits(1234.5), two_significant_digits(87.6)
    (1200, 88)
    """
    return int(float(f"{rows:.2g}"))
