"""Kernels on every core: they release the interpreter lock, so threads of this process share arrays and the work."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from itertools import chain, islice
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def thread_count() -> int:
    """How many threads to use: the machine's cores, or CANDIDE_THREADS."""
    asked = os.environ.get("CANDIDE_THREADS", "")
    return int(asked) if asked.isdigit() and int(asked) > 0 else os.cpu_count() or 1


@cache
def pool_of(threads: int) -> ThreadPoolExecutor:
    """So many threads, started once and kept: some work is asked for thousands of times, for a millisecond each.

    Another thread starts the first one. Ctrl-C reaches the main thread only, and a thread whose start it interrupted
    would be known to nobody: the process would wait for it for ever before it ends. Later ones are ended by the first.
    """
    with ThreadPoolExecutor(1) as starter:
        return starter.submit(started_pool, threads).result()


def started_pool(threads: int) -> ThreadPoolExecutor:
    """A pool whose first thread runs."""
    pool = ThreadPoolExecutor(threads)
    pool.submit(int).result()
    return pool


if hasattr(os, "register_at_fork"):
    # A forked process inherits the pool, but none of its threads.
    os.register_at_fork(after_in_child=pool_of.cache_clear)


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
    no more have come for now: it is not worked on, and then none waits. One item alone needs no thread. Work may ask
    for work in parallel itself: whoever waits for an item that no thread has begun does it meanwhile.

    >>> list(in_parallel(abs, [-1, 2, -3], threads=2))
    [1, 2, 3]
    """
    threads = threads or thread_count()
    items = iter(items)
    first = list(islice(items, 2))
    if len(first) < 2 or threads == 1:
        yield from (work(item) for item in chain(first, items) if not is_pause(item))
        return
    pool = pool_of(threads)
    waiting: deque[tuple[Item, Future[Result]]] = deque()

    def next_result() -> Result:
        item, future = waiting.popleft()
        return work(item) if future.cancel() else future.result()

    try:
        for item in chain(first, items):
            pauses = is_pause(item)
            if not pauses:
                waiting.append((item, pool.submit(work, item)))
            while len(waiting) > (0 if pauses else 2 * threads):
                yield next_result()
        while waiting:
            yield next_result()
    finally:
        wait([future for _, future in waiting if not future.cancel()])
