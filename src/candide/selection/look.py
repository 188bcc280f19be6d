"""What a column looks like at first sight, by what is remembered of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from candide.data.cached import cached_property
from candide.data.times import is_time
from candide.families.base.competing import CATEGORY, NUMBER, TIME, TRUTH
from candide.model.domain import held_by_cells
from candide.model.guess import Guess, guess_numbers, guess_times, guess_words
from candide.statistics.cells import CELLS_AT_FIRST, FINEST_LEVEL, Cells
from candide.statistics.column_memory import ColumnMemory
from candide.statistics.tally import Tally

Found = TypeVar("Found")

EMPTY = Guess("ignore", "every value is missing")


@dataclass(frozen=True, eq=False)
class RememberedColumn:
    """One column of a summary that was left open: its cells, its other values, and where times fall in the calendar.

    Choices read the cells at the finest level with no more than some hundreds of them, whichever level they are kept
    at: so they are the same for all summaries of the same rows.
    """

    name: str
    kept: ColumnMemory
    kind: str = ""
    """How its values are written: see `Choice.kind`."""
    found: dict[Hashable, Any] = field(default_factory=dict, repr=False)
    """What was worked out of it so far."""

    def once(self, key: Hashable, find: Callable[[], Found]) -> Found:
        """What `find` works out of the column, the first time that it is asked for."""
        if key not in self.found:
            self.found[key] = find()
        found: Found = self.found[key]
        return found

    @cached_property
    def cells(self) -> Cells:
        return self.kept.cells[0].with_at_most(CELLS_AT_FIRST)

    @cached_property
    def others(self) -> Tally:
        """The values that are no numbers, being missing left aside."""
        counted = self.kept.others
        if not counted.slots:
            return counted
        kept = [line for line, slot in enumerate(counted.open_slots) if slot[1] != "missing"]
        return Tally(tuple(counted.open_slots[line] for line in kept), counted.units[kept], counted.bits)

    @property
    def holds(self) -> str:
        """Which numbers it holds, as `candide.model.domain` says it."""
        return "" if self.others.slots else held_by_cells(self.kept.cells[0], signed=is_time(self.kind))

    @cached_property
    def look(self) -> tuple[str, Guess]:
        """What the column holds, and the family that this suggests."""
        cells, others = self.cells, self.others
        kinds = sorted({kind for _, kind, _ in others.open_slots})
        if kinds and len(cells):
            lost = "" if cells.level == FINEST_LEVEL else ", numbers only as far as they are remembered one by one"
            return CATEGORY, Guess("categorical", f"numbers and {' and '.join(kinds)}: each value as it is{lost}")
        if kinds == ["truth"]:
            return TRUTH, Guess("bernoulli", "truth values")
        if kinds == ["text"]:
            counts = others.counts.sum(axis=1)
            return CATEGORY, guess_words([str(value) for _, _, value in others.open_slots], counts)
        if kinds:
            return CATEGORY, Guess("categorical", "categories")
        if not len(cells):
            return CATEGORY, EMPTY
        counts = cells.counts.sum(axis=1)
        if is_time(self.kind):
            found = guess_times(cells.middle, counts, self.kind.partition(" ")[0])
            return TIME, Guess("gaussian", found.reason)
        return NUMBER, guess_numbers(cells.middle, counts)


def remembered_column(seen: ColumnMemory, columns: tuple[str, ...], name: str, kind: str = "") -> RememberedColumn:
    """One of the columns that a block remembers: its cells and counts, by which choices are made."""
    return RememberedColumn(name, seen.counts_of(columns.index(name), name), kind)
