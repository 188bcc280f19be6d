"""Explaining a row: what each feature said, and which said nothing and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from candide.data.arrays import FloatArray
from candide.data.batch import Batch
from candide.data.values import shown
from candide.families.base.basis import Basis
from candide.families.base.core import B, Core, P, S, V

MISSING, UNSEEN, IGNORED = "missing", "unseen", "ignored"
CHARACTER_RUNS, PAIRS, TRIPLES = "runs of characters", "pairs of words", "triples of words"
"""What terms of a text are that are no words by themselves."""


class WordShare(NamedTuple):
    """A word of a text: where it begins and ends, how it is read, and its share of what a term says.

    A share without a word is of what lies between words.
    """

    start: int
    end: int
    word: str
    share: float


@dataclass(frozen=True)
class Term:
    """What one feature said: its name, the value as shown, and its log likelihood under each class.

    `basis` is what the likelihood was made of. A term of a text names its `column` and itself, since several readings
    of one column may speak of the same word; `words` are those it lies in, with shares that add up to one, and `run`
    says what it is where it is no word by itself. `factor` is what calibration multiplies the evidence by.
    """

    feature: str
    value: str
    log_likelihood: FloatArray
    basis: Basis | None = None
    column: str = ""
    word: str = ""
    factor: float = 1.0
    run: str = ""
    words: tuple[WordShare, ...] = ()
    added: FloatArray | None = None
    """What a linear layer adds to the reported score: no likelihood, so the raw score knows nothing of it."""

    @property
    def reported(self) -> FloatArray:
        """What the term adds to the reported score of each class."""
        if self.added is not None:
            return self.added
        return self.log_likelihood if self.factor == 1.0 else self.factor * self.log_likelihood


@dataclass(frozen=True)
class Silence:
    """A feature that said nothing, and why: it was missing, its value was never learned, or it has no say."""

    feature: str
    value: str
    why: str


class Explaining(Core[S, B, V, P]):
    """By default a block speaks in one term, as its score does, and is silent of the columns that are missing."""

    def terms(self, parameters: P, values: V, row: Batch, columns: tuple[str, ...], seen: S) -> list[Term]:
        """What a single row says, one term for each feature that spoke; they sum to its score.

        `values` are what `view` made of the row, `seen` is the statistic that the parameters come from: each term tells
        the counts behind it.
        """
        cells = {name: cell_shown(row, name) for name in columns}
        there = [name for name, cell in cells.items() if cell]
        said = np.zeros((1, seen.classes))
        self.score(parameters, values, said)
        name, shown_values = ", ".join(there or columns), ", ".join(cells[name] for name in there)
        return [Term(name, shown_values, said[0])] if said.any() else []

    def silent(self, parameters: P, values: V, row: Batch, columns: tuple[str, ...], seen: S) -> list[Silence]:
        """Which columns of a single row say nothing: missing ones, and values the family cannot take."""
        return [Silence(name, "", MISSING) for name in columns if not cell_shown(row, name)]


def cell_shown(row: Batch, column: str) -> str:
    """The value of a column in a single row as people write it; nothing where it is missing."""
    coded = row.categories(column)
    return shown(coded.keys[coded.codes[0]]) if coded.codes[0] >= 0 else ""


def unheard(value: float) -> tuple[str, str]:
    """A number that says nothing, as shown, and why."""
    return ("", MISSING) if np.isnan(value) else (shown_number(value), IGNORED)


def shown_number(value: float) -> str:
    """A number as people write it.

    >>> shown_number(3.0), shown_number(2.5)
    ('3', '2.5')
    """
    return f"{value:g}" if abs(value) < 1e15 and value != int(value) else f"{value:.15g}"
