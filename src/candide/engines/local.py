"""This machine: batches shared among threads, whose kernels release the interpreter lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from threading import local

from candide.data.batch import Batch
from candide.data.values import Key
from candide.engines.protocol import Engine, Item, Result, parts
from candide.families.base.family import Block
from candide.kernels.threads import in_parallel, thread_count
from candide.model.summary import Accumulator, Summary


@dataclass(frozen=True)
class Local(Engine):
    """The threads of this process."""

    threads: int = field(default_factory=thread_count)
    name: str = "local"

    def summarize(self, blocks: tuple[Block, ...], batches: Iterable[Batch], declared: Iterable[Key] = ()) -> Summary:
        mine = local()
        accumulators: list[Accumulator] = []

        def learn(batch: Batch) -> None:
            if not hasattr(mine, "accumulator"):
                mine.accumulator = Accumulator(blocks)
                accumulators.append(mine.accumulator)
            mine.accumulator.learn(batch)

        for _ in self.map(learn, (part for batch in batches for part in parts(batch))):
            pass
        learned = [accumulator.freeze() for accumulator in accumulators]
        named = tuple(declared)
        return reduce(add, learned if learned and not named else [Summary.empty(blocks, named), *learned])

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        return in_parallel(work, items, self.threads, is_pause)

    def on_one_thread(self) -> Engine:
        return replace(self, threads=1)


def is_pause(item: object) -> bool:
    """Whether this is a batch without rows, which says that no more have come for now."""
    return isinstance(item, Batch) and not len(item) and item.original is None
