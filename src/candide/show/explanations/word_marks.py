"""Which places of a text spoke, and for which side: what is credited to its words, in the order of the text."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from candide.model.explanation import Explanation

LOUD, FAINT = 0.5, 0.05
"""Log odds from which a word is fully coloured, unless one is louder; and the share of that below which it is plain."""


@dataclass(frozen=True)
class Word:
    """Where a word of a text begins and ends, and the log odds it spoke."""

    start: int
    end: int
    lead: float


def words_that_spoke(why: Explanation, column: str) -> list[Word]:
    """The words of a text in order, with all that is credited to each of them; silent ones are left out.

    Where words overlap, as pairs of characters of a script without spaces do, each part has its share of both.
    """
    leads = leads_by_place(why, column)
    edges = sorted({edge for place in leads for edge in place})
    parts = [0.0] * len(edges)
    for (start, end), lead in leads.items():
        for index in range(bisect_left(edges, start), bisect_left(edges, end)):
            parts[index] += lead * (edges[index + 1] - edges[index]) / (end - start)
    found = (Word(*place, lead) for place, lead in zip(pairwise(edges), parts, strict=False))
    return [word for word in found if word.lead and not math.isnan(word.lead)]


def leads_by_place(why: Explanation, column: str) -> dict[tuple[int, int], float]:
    """The log odds of the answer over the runner-up at each place of a text where a word stands."""
    first, second = why.ranked[:2]
    leads: dict[tuple[int, int], float] = {}
    for part in (part for one in why.words if one.word and one.column == column for part in one.parts):
        leads[part.place] = leads.get(part.place, 0.0) + part.lead(first, second)
    return leads


def heard(words: Sequence[Word]) -> list[tuple[Word, float]]:
    """The words that are loud enough to be coloured, each beside how full its colour is, up to one.

    >>> [(word.start, share) for word, share in heard([Word(0, 3, 1.0), Word(4, 5, -0.25), Word(6, 8, 0.01)])]
    [(0, 1.0), (4, 0.25)]
    """
    loudest = max([LOUD, *(abs(word.lead) for word in words if math.isfinite(word.lead))])
    shares = ((word, min(abs(word.lead) / loudest, 1.0)) for word in words)
    return [(word, share) for word, share in shares if share >= FAINT]
