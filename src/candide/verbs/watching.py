"""Who is told how far long work has come: nobody, unless a face asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from candide.sources import Size

Report = Callable[[int], None]
Watch = Callable[[str, Size], AbstractContextManager[Report | None]]
"""Given what is done and how much there is, a context whose value is told of each step."""


@contextmanager
def unwatched(work: str, size: Size) -> Iterator[Report | None]:
    """Nobody looks."""
    yield None
