"""A linear layer on what naive Bayes says of texts: fitted on whole rows, kept beside the counts like calibration."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from candide.data.values import Key
from candide.families.base.family import AnyFamily, Block
from candide.families.words.linear_text import LinearParameters, LinearTerms, LinearText


@dataclass(frozen=True)
class LinearLayer:
    """What terms of some columns add to the score of each class.

    Classes and columns go by name: what was learned later gets nothing.
    """

    classes: tuple[Key, ...]
    columns: Mapping[str, LinearTerms]
    strength: float
    """How strongly weights were held to nothing, that is to naive Bayes: chosen by rows that had no part in them."""
    rows: float
    """How many rows there were when it was fitted: it may be older than the counts."""

    def blocks(self, beside: Sequence[Block], classes: Sequence[Key]) -> tuple[tuple[Block, LinearParameters], ...]:
        """Its readings of columns that are read as texts by other blocks, with parameters for these classes."""
        families = refined_families(beside)
        places = np.array([classes.index(key) if key in classes else -1 for key in self.classes], dtype=np.int64)
        found = []
        for column, terms in self.columns.items():
            if column in families:
                family = LinearText.beside(families[column])
                parameters = LinearParameters.of_layer(terms.relabelled(places), family.options, len(classes))
                found.append((Block(family, (column,)), parameters))
        return tuple(found)

    def only(self, columns: Collection[str], classes: Collection[Key]) -> LinearLayer:
        """The same for these columns and classes alone."""
        stay = tuple(key for key in self.classes if key in classes)
        places = np.array([stay.index(key) if key in stay else -1 for key in self.classes], dtype=np.int64)
        kept = {name: terms.relabelled(places) for name, terms in self.columns.items() if name in columns}
        return replace(self, classes=stay, columns=kept)


def refined_families(blocks: Sequence[Block]) -> dict[str, AnyFamily]:
    """The first family of each column whose words a layer may weigh."""
    return {block.columns[0]: block.family for block in reversed(blocks) if block.family.can_be_refined}
