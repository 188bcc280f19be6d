"""This machine: batches shared among threads, whose kernels release the interpreter lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import local
from typing import TypeVar

from candide.bases.family import Block
from candide.batch import Batch
from candide.summary import Accumulator, Summary
from candide.values import Key

Result = TypeVar("Result")
ROWS_AT_ONCE = 1 << 15


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

    in_parallel(learn, (part for batch in batches for part in batch.split(ROWS_AT_ONCE)))
    total = Summary.empty(blocks, declared)
    for accumulator in accumulators:
        total = total + accumulator.freeze()
    return total


def in_parallel(work: Callable[[Batch], Result], batches: Iterable[Batch]) -> list[Result]:
    """Do the same work on every batch, results in order; the first batch to fail speaks for all."""
    with ThreadPoolExecutor(threads()) as pool:
        return list(pool.map(work, batches))
