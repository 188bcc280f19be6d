"""Who is told how far long work has come: nobody, unless a face asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TypeVar

Item = TypeVar("Item")
Report = Callable[[int], None]


@dataclass(frozen=True)
class Size:
    """How much there is to do: an amount of bytes, rows, columns, ..., or None where nobody knows."""

    amount: int | None
    unit: str


Watch = Callable[[str, Size], AbstractContextManager[Report | None]]
"""Given what is done and how much there is, a context whose value is told of each step."""


@contextmanager
def unwatched(work: str, size: Size) -> Iterator[Report | None]:
    """Nobody looks."""
    yield None


def counted(items: Iterable[Item], report: Report | None) -> Iterator[Item]:
    """The items as they come; each is reported once the next is asked for."""
    for item in items:
        yield item
        if report is not None:
            report(1)
