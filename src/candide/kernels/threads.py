"""Kernels on every core: they release the interpreter lock, so threads of this process share arrays and the work."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def thread_count() -> int:
    """How many threads to use: the machine's cores, or CANDIDE_THREADS."""
    asked = os.environ.get("CANDIDE_THREADS", "")
    return int(asked) if asked.isdigit() and int(asked) > 0 else os.cpu_count() or 1


def never(item: object) -> bool:
    """No item is a pause."""
    return False


def in_parallel(
    work: Callable[[Item], Result],
    items: Iterable[Item],
    threads: int | None = None,
    is_pause: Callable[[Item], bool] = never,
) -> Iterator[Result]:
    """Do the same work on every item, results in order; the first item to fail speaks for all.

    Only a few items wait at any time, so a source of any length needs little memory. An item that is a pause says that
    no more have come for now: it is not worked on, and then none waits. One item alone needs no thread.

    >>> list(in_parallel(abs, [-1, 2, -3], threads=2))
    [1, 2, 3]
    """
    threads = threads or thread_count()
    items = iter(items)
    first = list(islice(items, 2))
    if len(first) < 2:
        yield from (work(item) for item in first if not is_pause(item))
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for item in chain(first, items):
                pauses = is_pause(item)
                if not pauses:
                    waiting.append(pool.submit(work, item))
                while len(waiting) > (0 if pauses else 2 * threads):
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
