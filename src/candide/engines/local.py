"""This machine: batches shared among threads, whose kernels release the interpreter lock."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import local
from typing import TypeVar

from candide.data.batch import Batch
from candide.data.values import Key
from candide.families.base.family import Block
from candide.model.summary import Accumulator, Summary

Result = TypeVar("Result")
ROWS_AT_ONCE = 1 << 15
BYTES_AT_ONCE = 1 << 22


def threads() -> int:
    """How many threads to use: the machine's cores, or CANDIDE_THREADS."""
    asked = os.environ.get("CANDIDE_THREADS", "")
    return int(asked) if asked.isdigit() and int(asked) > 0 else os.cpu_count() or 1


def summarize(blocks: tuple[Block, ...], batches: Iterable[Batch], declared: Iterable[Key] = ()) -> Summary:
    """The summary of all rows: equal bits however many threads, batches or orders there are."""
    mine = local()
    accumulators: list[Accumulator] = []

    def learn(batch: Batch) -> None:
        if not hasattr(mine, "accumulator"):
            mine.accumulator = Accumulator(blocks)
            accumulators.append(mine.accumulator)
        mine.accumulator.learn(batch)

    for _ in in_parallel(learn, (part for batch in batches for part in parts(batch))):
        pass
    total = Summary.empty(blocks, declared)
    for accumulator in accumulators:
        total = total + accumulator.freeze()
    return total


def parts(batch: Batch) -> Iterator[Batch]:
    """The rows in parts small enough that every thread gets some."""
    return batch.split(ROWS_AT_ONCE, BYTES_AT_ONCE)


def in_parallel(work: Callable[[Batch], Result], batches: Iterable[Batch]) -> Iterator[Result]:
    """Do the same work on every batch, results in order; the first batch to fail speaks for all.

    Only a few batches wait at any time, so a source of any length needs little memory. A batch without rows says
    that no more have come for now: then none waits.
    """
    workers = threads()
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for batch in batches:
                pauses = isinstance(batch, Batch) and not len(batch) and batch.original is None
                if not pauses:
                    waiting.append(pool.submit(work, batch))
                while len(waiting) > (0 if pauses else 2 * workers):
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
