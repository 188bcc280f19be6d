"""Which words of a text spoke: what runs of words and of letters said, shared out among the words they are part of."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from candide.families.words.unspaced import closed_up, spans, without_looks
from candide.model.explanation import Explanation

LONGEST_RUN = 3
"""Words in a run, at most; as `TextOptions` has it."""


def bare(text: str) -> str:
    """Without capitals and accents."""
    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))


FOLDINGS: tuple[Callable[[str], str], ...] = (str, str.casefold, str.lower, bare)
"""How a text may have been folded before it was learned: not at all first."""


@dataclass(frozen=True)
class Word:
    """Where a word of a text begins and ends, and the log odds it spoke."""

    start: int
    end: int
    lead: float


def log_odds_of_words(why: Explanation, column: str) -> dict[str, float]:
    """The log odds of each term of a column of text."""
    first, second = why.ranked[:2]
    leads = zip(why.evidence, why.leads(first, second).tolist(), strict=True)
    return {one.terms[0].word: lead for one, lead in leads if one.terms[0].word and one.terms[0].column == column}


def words_that_spoke(text: str, said: Mapping[str, float]) -> list[Word]:
    """The words of a text in order, with what the terms they are part of said; silent ones are left out.

    A term that occurs several times, or has several words, gives each its share.

    >>> words_that_spoke("Win a prize!", {"win": 1.5, "a prize": -1.0})
    [Word(start=0, end=3, lead=1.5), Word(start=4, end=5, lead=-0.5), Word(start=6, end=11, lead=-0.5)]
    """
    indices = list(spans(text))
    leads = [0.0] * len(indices)
    readings = [FoldedText(text, indices, fold) for fold in FOLDINGS]
    for term, lead in said.items():
        found = [] if math.isnan(lead) else first_found(readings, term)
        for word in found:
            leads[word] += lead / len(found)
    return [Word(*index, lead) for index, lead in zip(indices, leads, strict=True) if lead and not math.isnan(lead)]


@dataclass(frozen=True)
class FoldedText:
    """A text as it looks after folding, and where terms are found in it."""

    text: str
    spans: list[tuple[int, int]]
    fold: Callable[[str], str]

    @cached_property
    def runs(self) -> dict[str, list[int]]:
        """The numbers of the words in each run of words, wherever it occurs."""
        words = [self.fold(without_looks(self.text[start:end])) for start, end in self.spans]
        found: dict[str, list[int]] = {}
        for first in range(len(words)):
            for last in range(first + 1, min(first + LONGEST_RUN, len(words)) + 1):
                found.setdefault(closed_up(" ".join(words[first:last])), []).extend(range(first, last))
        return found

    @cached_property
    def letters(self) -> tuple[str, list[int]]:
        """The folded text with single spaces, and the number of the word each letter is of, or -1."""
        owners = [-1] * len(self.text)
        for word, (start, end) in enumerate(self.spans):
            owners[start:end] = [word] * (end - start)
        parts: list[tuple[str, int]] = []
        for letter, owner in zip(self.text, owners, strict=True):
            if not letter.isspace():
                parts += [(folded, owner) for folded in self.fold(letter)]
            elif parts and parts[-1][0] != " ":
                parts.append((" ", -1))
        return "".join(letter for letter, _ in parts), [owner for _, owner in parts]

    def within(self, term: str) -> list[int]:
        """For each letter of a run of letters, wherever it occurs, the number of the word it is of."""
        text, owners = self.letters
        found: list[int] = []
        index = text.find(term) if term else -1
        while index >= 0:
            found += [owner for owner in owners[index : index + len(term)] if owner >= 0]
            index = text.find(term, index + 1)
        return found


def first_found(readings: list[FoldedText], term: str) -> list[int]:
    """The words a term is part of: as a run of words if it is one, else as a run of letters."""
    for reading in readings:
        if term in reading.runs:
            return reading.runs[term]
    return next((found for reading in readings if (found := reading.within(term))), [])
