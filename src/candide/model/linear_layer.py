"""A linear layer on what naive Bayes says: fitted on whole rows, kept beside the counts like calibration."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from candide.data.arrays import FloatArray
from candide.data.values import Key
from candide.families.base.family import AnyFamily, Block
from candide.families.pairs.linear_table import LinearTable, TableTerms
from candide.families.words.linear_text import LinearParameters, LinearTerms, LinearText

LayerBlock = tuple[Block, LinearParameters | FloatArray]
"""How a layer reads columns, and what that adds."""


@dataclass(frozen=True)
class LinearLayer:
    """What terms of columns of text, or values of a table and products of two, add to the score of each class.

    Classes and columns go by name: what was learned later gets nothing.
    """

    classes: tuple[Key, ...]
    columns: Mapping[str, LinearTerms]
    strength: float
    """How strongly weights were held to nothing, that is to naive Bayes: chosen by rows that had no part in them."""
    rows: float
    """How many rows there were when it was fitted: it may be older than the counts."""
    table: TableTerms | None = None

    def blocks(self, beside: Sequence[Block], classes: Sequence[Key]) -> tuple[LayerBlock, ...]:
        """Its readings of columns that other blocks read too, with parameters for these classes."""
        families = refined_families(beside)
        places = np.array([classes.index(key) if key in classes else -1 for key in self.classes], dtype=np.int64)
        found = list[LayerBlock]()
        for column, terms in self.columns.items():
            if column in families:
                family = LinearText.beside(families[column])
                parameters = LinearParameters.of_layer(terms.relabelled(places), family.options, len(classes))
                found.append((Block(family, (column,)), parameters))
        read = {name for block in beside for name in block.columns}
        if self.table is not None and (table := self.table.only(read)).scales:
            reading = LinearTable(scales=table.scales, missing_is_value=table.missing_is_value)
            found.append((Block(reading, table.columns), table.relabelled(places, len(classes))))
        return tuple(found)

    def only(self, columns: Collection[str], classes: Collection[Key]) -> LinearLayer:
        """The same for these columns and classes alone."""
        stay = tuple(key for key in self.classes if key in classes)
        places = np.array([stay.index(key) if key in stay else -1 for key in self.classes], dtype=np.int64)
        kept = {name: terms.relabelled(places) for name, terms in self.columns.items() if name in columns}
        table = self.table
        if table is not None:
            units = table.units[:, places >= 0]
            table = replace(table, units=units).only(columns)
            table = table if table.scales else None
        return replace(self, classes=stay, columns=kept, table=table)


def refined_families(blocks: Sequence[Block]) -> dict[str, AnyFamily]:
    """The first family of each column whose words a layer may weigh."""
    return {block.columns[0]: block.family for block in reversed(blocks) if block.family.can_be_refined}
