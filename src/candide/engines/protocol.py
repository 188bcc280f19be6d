"""What an engine is: it turns rows into a summary, and does one piece of work on every batch of them.

Everything else is the same whoever runs it, since summaries add up to the same bits in any order and any split. An
engine is handed down from where the work begins; who does the work with it does not know which it is.

An engine of a cluster fits behind the same two methods. `batches` is then a plan that only it can run, such as a frame
of Spark or Dask; any other batches it does here, as `local` does. `work` is data and a named function (a frozen
object with `__call__`, not a closure over something that changes), so that it can be sent to where the rows are:

- Spark: `summarize` is `frame.mapInArrow(...)`, where each partition fills an `Accumulator` and returns one row, its
  summary in the form of the model file; rounds of `groupBy(number // 16).applyInArrow(...)` then add sixteen summaries
  to one until a single one comes home. `map` is `mapInArrow` too, with what the work returns in Arrow's form.
- Dask: `summarize` is a delayed `Accumulator` for each partition and a tree of `+`; `map` is `client.map` with
  results gathered in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

from candide.data.batch import Batch
from candide.data.values import Key
from candide.families.base.family import Block
from candide.model.summary import Summary

Item = TypeVar("Item")
Result = TypeVar("Result")

ROWS_AT_ONCE = 1 << 15
BYTES_AT_ONCE = 1 << 22
FEWEST_AT_ONCE = 1 << 11
"""Fewer rows at once would cost more for their columns than for themselves, however wide they are."""
SHARES, FEWEST_TEXTS_AT_ONCE = 4, 1 << 7
"""Rows with texts are answered in so many parts, if each has so many rows: a text is work enough."""


class Engine(Protocol):
    """Runs work over rows, wherever they are."""

    @property
    def name(self) -> str:
        """The name users write: the name of the file the engine lives in."""

    def summarize(self, blocks: tuple[Block, ...], batches: Iterable[Batch], declared: Iterable[Key] = ()) -> Summary:
        """The summary of all rows: equal bits however many workers, batches or orders there are."""

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Do the same work on every item, mostly batches, results in order; the first to fail speaks for all.

        Only a few items wait at any time. A batch without rows says that no more have come for now: then none waits.
        """


def parts(batch: Batch) -> Iterator[Batch]:
    """The rows in parts small enough that every worker gets some."""
    return batch.split(ROWS_AT_ONCE, BYTES_AT_ONCE, FEWEST_AT_ONCE)


def parts_to_answer(batch: Batch, blocks: Iterable[Block]) -> Iterator[Batch]:
    """The same for rows that these blocks answer."""
    if not any(block.family.has_recipe for block in blocks):
        return parts(batch)
    return batch.split(min(ROWS_AT_ONCE, -(-len(batch) // SHARES)), BYTES_AT_ONCE, FEWEST_TEXTS_AT_ONCE)
