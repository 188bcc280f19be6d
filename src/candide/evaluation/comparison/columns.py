"""How each column is read, alike by every method: as numbers, as categories or as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from candide.data.batch import Batch
from candide.families.base.competing import CATEGORY, TEXT, TRUTH
from candide.families.base.family import AnyFamily
from candide.model.options import Options
from candide.model.schema import OPEN, Families
from candide.selection.candidates import holds_numbers


@dataclass(frozen=True)
class ColumnKinds:
    """Columns by what they hold, and the family that each looks like."""

    guessed: dict[str, AnyFamily]
    numbers: tuple[str, ...]
    categories: tuple[str, ...]
    texts: tuple[str, ...]

    @classmethod
    def of(cls, batch: Batch, families: Families = "auto") -> ColumnKinds:
        """Look at all rows once, so that a column is read alike however few rows are learned.

        Numbers are numbers, however few, unless there are only two or they are said to be categories.

        >>> rows = {"age": [31, 52, 8] * 3, "alone": [0, 0, 1] * 3, "class": [1, 2, 3] * 3, "sex": ["f", "m", "f"] * 3}
        >>> ColumnKinds.of(Batch.of(rows)).numbers, ColumnKinds.of(Batch.of(rows)).categories
        (('age', 'class'), ('alone', 'sex'))
        """
        choices = Options(families).choose(batch).choices
        guessed = {choice.column: choice.family for choice in choices if choice.family is not None}
        texts = tuple(name for name, family in guessed.items() if family.reads == TEXT)
        categories = tuple(
            name
            for name, family in guessed.items()
            if family.reads in (CATEGORY, TRUTH)
            and (said_by_hand(families, name) or not many_numbers(batch.only([name])))
        )
        numbers = tuple(name for name in guessed if name not in {*texts, *categories})
        return cls(guessed, numbers, categories, texts)


def said_by_hand(families: Families, name: str) -> bool:
    """Whether the user chose the family of a column."""
    return (families.get(name, "auto") if isinstance(families, Mapping) else families) not in OPEN


def many_numbers(column: Batch) -> bool:
    """Whether a column holds more than two different numbers."""
    if not holds_numbers(column):
        return False
    numbers = column.numbers(column.names)
    return len(np.unique(numbers[np.isfinite(numbers)])) > 2
