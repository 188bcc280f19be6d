"""Expected counts: what rows without a label leave behind, each as every class in proportion to its posterior."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

import numpy as np

from candide.data.values import Key
from candide.families.base.family import Block
from candide.model.summary import Summary


@dataclass(frozen=True)
class Expected:
    """Counts of rows without a label, in the blocks of the summary that they stand beside.

    They were made by EM from the labelled rows of that time, so learning, forgetting and merging keep them as they are.
    """

    summary: Summary
    rows: float
    """The weight of the rows that took part; in the summary they may weigh less."""
    labelled: float
    """The weight of the labelled rows there were then: the summary may be newer."""

    def beside(self, learned: Summary) -> Summary:
        """Labelled and expected counts added up; which classes there are, and their prior, labelled rows tell alone."""
        if not self.summary.rows:
            return learned
        together = learned + only_classes(self.summary, learned.classes)
        return replace(together, units=learned.units, bits=learned.bits)

    def taken_from(self, together: Summary, blocks: Collection[Block]) -> Summary:
        """Labelled counts alone, of a summary some blocks of which hold expected counts, too."""
        theirs = only_classes(self.summary, together.classes)
        positions = np.array([together.classes.index(key) for key in theirs.classes], dtype=np.int64)
        known = dict(zip(theirs.blocks, theirs.statistics, strict=True))
        statistics = tuple(
            seen - known[block].spread(positions, len(together.classes)) if block in blocks and block in known else seen
            for block, seen in zip(together.blocks, together.statistics, strict=True)
        )
        return replace(together, statistics=statistics)

    def of(self, change: Callable[[Summary], Summary]) -> Expected:
        """The same rows, remembered in another way."""
        return replace(self, summary=change(self.summary))

    def __add__(self, other: Expected) -> Expected:
        return Expected(self.summary + other.summary, self.rows + other.rows, self.labelled + other.labelled)


def only_classes(summary: Summary, classes: tuple[Key, ...]) -> Summary:
    """A summary without classes that are not among these."""
    kept = np.array([index for index, key in enumerate(summary.classes) if key in classes], dtype=np.int64)
    if len(kept) == len(summary.classes):
        return replace(summary, declared=frozenset())
    statistics = tuple(statistic.only(kept) for statistic in summary.statistics)
    names = tuple(summary.classes[index] for index in kept)
    return Summary(summary.blocks, names, summary.units[kept], statistics, frozenset(), summary.bits)
