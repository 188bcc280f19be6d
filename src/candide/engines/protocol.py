"""What an engine is: it turns rows into a summary, and does one piece of work on every batch of them.

Everything else is the same whoever runs it, since summaries add up to the same bits in any order and any split. An
engine is handed down from where the work begins; who does the work with it does not know which it is.

For an engine of a cluster (`base/cluster.py`) the rows of a source are a plan, which it sends to where they are; any
other batches it does here, as `local` does. `work` is data and a named function (a frozen object with `__call__`, not a
closure over something that changes), so that it can be sent, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from candide.data.batch import Batch
from candide.data.errors import OptionRefused
from candide.data.progress import Watch
from candide.data.values import Key
from candide.families.base.family import Block
from candide.model.row_sample import Reservoir
from candide.model.summary import Summary

if TYPE_CHECKING:
    from candide.sources.source import Source

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

    def is_frame(self, data: Any) -> bool:
        """Whether these are rows in the parts of its cluster, where it has one."""
        return False

    def opened(self, data: Any, **options: Any) -> Source:
        """What a user names, as a source; `options` are those of `open_source`."""
        from candide.sources.opening import open_source  # not needed, and not imported, for rows in memory

        return open_source(data, **options)

    def rows(self, source: Source, work: str, watch: Watch) -> Iterable[Batch]:
        """All rows of a source, once; who watches sees the work from the first batch to the last."""
        with watch(work, source.size) as report:
            yield from source.batches(report)

    def pick(self, batches: Iterable[Batch]) -> Reservoir:
        """Rows from all over, picked by their content."""
        reservoir = Reservoir()
        for _ in reservoir.watched(batches):
            pass
        return reservoir

    def answered(self, source: Any, work: Callable[[Any], Any], reads: Sequence[str]) -> Any:
        """The source's own frame with more columns beside: the tables that `work` makes of its parts, each a source.

        Of a part `work` reads no more than the columns named in `reads`, and answers the rows that are wanted.
        """
        raise OptionRefused(f"The engine '{self.name}' has no frames of its own.")

    def summarize(self, blocks: tuple[Block, ...], batches: Iterable[Batch], declared: Iterable[Key] = ()) -> Summary:
        """The summary of all rows: equal bits however many workers, batches or orders there are."""

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Do the same work on every item, mostly batches, results in order; the first to fail speaks for all.

        Only a few items wait at any time. A batch without rows says that no more have come for now: then none waits.
        """

    def on_one_thread(self) -> Engine:
        """The same for work that is too little to be shared; who has no threads of its own stays as it is."""
        return self


def parts(batch: Batch) -> Iterator[Batch]:
    """The rows in parts small enough that every worker gets some."""
    return batch.split(ROWS_AT_ONCE, BYTES_AT_ONCE, FEWEST_AT_ONCE)


def parts_to_answer(batch: Batch, blocks: Iterable[Block]) -> Iterator[Batch]:
    """The same for rows that these blocks answer."""
    if not any(block.family.has_recipe for block in blocks):
        return parts(batch)
    return batch.split(min(ROWS_AT_ONCE, -(-len(batch) // SHARES)), BYTES_AT_ONCE, FEWEST_TEXTS_AT_ONCE)
