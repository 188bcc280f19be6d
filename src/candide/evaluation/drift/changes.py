"""What it is about a column that moved: shares of values, of missing values and of words, medians and means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from candide.data.arrays import FloatArray
from candide.data.times import shown_duration, shown_time
from candide.evaluation.drift.divergence import BEYOND, Divergence, by_chance

MISSING, MEDIAN, QUARTILES, MEAN, DEVIATION, VALUE, WORD = (
    "missing", "median", ("lower quartile", "upper quartile"), "mean", "deviation", "value", "word",
)  # fmt: skip
ALONE = 5.0
"""Among thousands of values or words one goes farther by chance than any one: so many deviations."""

MOST = 10
"""So many values, and words in either direction, are told of."""


@dataclass(frozen=True)
class Shift:
    """One thing before and after: a number such as the median, or the share of a value, a word, of what is missing."""

    what: str
    before: float
    after: float
    name: str = ""
    """Which value or word it is."""

    @property
    def is_share(self) -> bool:
        """Whether it is told in percent."""
        return self.what in (MISSING, VALUE, WORD)

    def in_words(self, times: str = "") -> str:
        """The change as people say it; `times` is the kind of times that the column holds, if any.

        >>> Shift("median", 3.0, 5.25).in_words(), Shift("value", 0.5, 0.25, "red").in_words()
        ('median 5.25, was 3', 'red 25%, was 50%')
        """
        told = share_in_words if self.is_share else number_in_words(self.what, times)
        before, after = told(self.before), told(self.after)
        named = f"{after} missing" if self.what == MISSING else f"{self.name or self.what} {after}"
        return f"{named}, was {before}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return asdict(self)


def number_in_words(what: str, times: str) -> Callable[[float], str]:
    """How a number of a column is written."""
    if not times:
        return "{:.4g}".format
    return shown_duration if what == DEVIATION else lambda seconds: shown_time(round(seconds), times)


def share_in_words(share: float) -> str:
    """A share in percent, with a digit behind the point where it is small.

    >>> share_in_words(0.25), share_in_words(0.031), share_in_words(0.00012), share_in_words(0.0)
    ('25%', '3.1%', '0.012%', '0%')
    """
    return f"{100 * share:.0f}%" if share >= 0.1 or not share else f"{100 * share:.2g}%"


def changed_shares(
    what: str,
    names: Sequence[str],
    before: FloatArray,
    after: FloatArray,
    repeated: float = 1.0,
    deviations: float = BEYOND,
) -> list[Shift]:
    """The names whose share of all counts moved beyond chance, taken one by one, the farthest first.

    `before` and `after` may count more than has a name: the names are of the first lines.
    """
    totals = float(before.sum()), float(after.sum())
    if not min(totals) > 0:
        return []
    shares = before[: len(names)] / totals[0], after[: len(names)] / totals[1]
    bits = bits_apart(*shares)
    limit = Divergence(0.0, *by_chance(1, totals[0] / repeated, totals[1] / repeated)).limit_at(deviations)
    order = [index for index in np.argsort(-bits, kind="stable").tolist() if bits[index] > limit]
    return [Shift(what, float(shares[0][index]), float(shares[1][index]), names[index]) for index in order]


def bits_apart(before: FloatArray, after: FloatArray) -> FloatArray:
    """The divergence of two cells, one of which has these shares: for many at once.

    >>> bits_apart(np.array([0.0, 0.5]), np.array([1.0, 0.5])).tolist()
    [1.0, 0.0]
    """
    found = np.zeros(len(before))
    for cell in ((before, after), (1 - before, 1 - after)):
        middle = np.maximum(0.5 * cell[0] + 0.5 * cell[1], np.finfo(np.float64).tiny)
        for share in cell:
            found += 0.5 * share * np.log2(np.where(share > 0, share / middle, 1.0))
    return np.maximum(found, 0.0)


def most_in_each_direction(changes: Sequence[Shift]) -> tuple[Shift, ...]:
    """The first ones that grew, then the first that shrank."""
    grown = [change for change in changes if change.after > change.before]
    shrunk = [change for change in changes if change.after <= change.before]
    return (*grown[:MOST], *shrunk[:MOST])
