"""Rows that lie elsewhere: a plan of how they are read, which an engine sends to where they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from candide.data.batch import Batch
from candide.data.progress import Report
from candide.sources.source import Source

Step = Callable[[Batch], Batch]
"""What is done with each batch on the way: data and a named function, so that it can be sent."""


@dataclass(frozen=True)
class Plan:
    """All rows of a source, once more: in parts, each read by whoever works on it.

    `parts` are whatever the engine knows them by. Whoever iterates has the rows come here, a batch at a time: what no
    engine runs elsewhere still works.
    """

    source: Source
    parts: Any
    home: Callable[[], Iterator[Batch]]
    watching: Callable[[], AbstractContextManager[Report | None]]
    work: str = ""
    steps: tuple[Step, ...] = ()

    def then(self, step: Step) -> Plan:
        """The same rows, with one thing more done to each batch."""
        return replace(self, steps=(*self.steps, step))

    @property
    def number_of_parts(self) -> int | None:
        """How many parts there are, where that is known."""
        return len(self.parts) if isinstance(self.parts, list) else self.source.size.amount

    def size_of(self, index: int) -> int:
        """How much of the source's size a part is: of files their bytes or rows, of a frame one part."""
        part = self.parts[index]
        return (part.size.amount or 0) if isinstance(part, Source) else 1

    def __iter__(self) -> Iterator[Batch]:
        for batch in self.home():
            for step in self.steps:
                batch = step(batch)
            yield batch


def with_step(batches: Iterable[Batch], step: Step) -> Iterable[Batch]:
    """The same rows with one thing done to each batch, by whoever works on it."""
    return batches.then(step) if isinstance(batches, Plan) else map(step, batches)
