"""Working ahead: the next few pieces are prepared on other cores while the current one is used."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from candide.kernels.threads import thread_count

Item = TypeVar("Item")
Result = TypeVar("Result")


class Pause:
    """Said among items when no more have come for now: whatever is finished should be handed on."""


PAUSE = Pause()


def ahead(work: Callable[[Item], Result], items: Iterable[Item | Pause]) -> Iterator[Result | Pause]:
    """The results in order; only as many wait as keep every core busy, and none while the items pause.

    >>> list(ahead(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    waiting: deque[Future[Result]] = deque()
    threads = thread_count()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                if isinstance(item, Pause):
                    while waiting:
                        yield waiting.popleft().result()
                    yield item
                    continue
                waiting.append(pool.submit(work, item))
                if len(waiting) > threads + 1:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
