"""Passes over rows that lie elsewhere: what each part leaves, as bytes, and how what two parts left becomes one.

A summary travels in the model file's own form and is checked wherever it is read. Parts may be worked on anywhere, more
than once, and be added up in any order: nothing is counted but what a whole part has left.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Protocol

from candide.data.batch import Batch
from candide.data.errors import CandideError
from candide.data.values import Key
from candide.engines.base.plan import Step
from candide.engines.protocol import parts as pieces
from candide.families.base.family import Block
from candide.kernels.hashing import Hashes
from candide.model.row_pick import RowPick, rows_with
from candide.model.summary import Accumulator, Summary
from candide.sources.rejects import KeptRejects, Reject
from candide.sources.source import Source
from candide.store.summary_file import summary_from_bytes, summary_to_bytes


class Pass(Protocol):
    """One kind of work over all rows, as data."""

    def over(self, batches: Iterator[Batch], parts: int) -> Any:
        """What the rows of one part leave, or of several that are read one after the other."""

    def write(self, left: Any) -> bytes:
        """The form in which that travels."""

    def read(self, data: bytes) -> Any:
        """What was written."""


@dataclass(frozen=True)
class Summarizing:
    """Count the rows."""

    blocks: tuple[Block, ...]
    declared: tuple[Key, ...] = ()

    def over(self, batches: Iterator[Batch], parts: int) -> Summary:
        accumulator = Accumulator(self.blocks, self.declared)
        for batch in batches:
            for piece in pieces(batch):
                accumulator.learn(piece)
        return accumulator.freeze()

    def write(self, left: Summary) -> bytes:
        return summary_to_bytes(left)

    def read(self, data: bytes) -> Summary:
        return summary_from_bytes(data, self.blocks)


class AsPython:
    """How rows and what was made of them travel: as Python sends its objects."""

    def write(self, left: Any) -> bytes:
        return pickle.dumps(left, protocol=5)

    def read(self, data: bytes) -> Any:
        return pickle.loads(data)


@dataclass(frozen=True)
class Picking(AsPython):
    """Pick rows by content, from so many parts in all."""

    parts: int = 1

    def over(self, batches: Iterator[Batch], parts: int) -> RowPick:
        return RowPick.of(map(without_original, batches), parts=max(1, self.parts // parts))


@dataclass(frozen=True)
class Fetching(AsPython):
    """Find a row of each of these contents."""

    contents: Hashes

    def over(self, batches: Iterator[Batch], parts: int) -> list[Batch]:
        return rows_with(self.contents, map(without_original, batches))


@dataclass(frozen=True)
class Working(AsPython):
    """Do the same work on every batch; results in order."""

    work: Callable[[Any], Any]

    def over(self, batches: Iterator[Batch], parts: int) -> list[Any]:
        return [self.work(batch) for batch in batches]


def without_original(batch: Batch) -> Batch:
    """The rows as they were read: how they were written stays where they are."""
    return replace(batch, original=None)


@dataclass(frozen=True)
class Account:
    """What happened to the rows of some parts, beside what they left."""

    number: int = 0
    """The first of the parts, in the order of the rows."""
    rows: int = 0
    unwanted: int = 0
    parts: int = 0
    nbytes: int = 0
    """How many bytes the parts left, and those that they became on the way."""
    rejected: int = 0
    rejects: tuple[Reject, ...] = ()
    """Rows that could not be read: all, or the first of each part where nobody lists them."""
    problem: Exception | None = None

    def __add__(self, other: Account) -> Account:
        first, second = sorted((self, other), key=lambda account: account.number)
        return Account(
            first.number,
            self.rows + other.rows,
            self.unwanted + other.unwanted,
            self.parts + other.parts,
            self.nbytes + other.nbytes,
            self.rejected + other.rejected,
            (*first.rejects, *second.rejects),
            first.problem or second.problem,
        )


Left = tuple[bytes, Account]
"""What parts leave, and what happened in them; no bytes where something was refused."""


@dataclass(frozen=True)
class Job:
    """A pass as it is sent to where rows are: what is done to each batch, and how tables of a frame are read."""

    work: Pass
    steps: tuple[Step, ...] = ()
    source: Source | None = None
    lists_rejects: bool = False

    def left_by(self, number: int, items: Iterable[Any], parts: int = 1) -> Left:
        """What one part leaves, or so many; what it refuses is an answer, too, and no reason to try again elsewhere."""
        reading = PartRows(self, number)
        try:
            data = self.work.write(self.work.over(reading.batches(items), parts))
        except CandideError as problem:
            return b"", Account(number, parts=parts, problem=problem)
        return data, replace(reading.account, parts=parts, nbytes=len(data))

    def together(self, left: Iterable[Left]) -> Left:
        """What several parts left, as one; two are in memory at a time."""
        waiting = iter(left)
        alone, account = next(waiting)
        found = None
        for data, happened in waiting:
            account += happened
            if account.problem is None:
                found = (self.work.read(alone) if found is None else found) + self.work.read(data)
        if account.problem is not None or found is None:
            return b"" if account.problem is not None else alone, account
        data = self.work.write(found)
        return data, replace(account, nbytes=account.nbytes + len(data))


@dataclass
class PartRows:
    """The batches of a part, and an account of them."""

    job: Job
    number: int
    account: Account = field(init=False)

    def __post_init__(self) -> None:
        self.account = Account(self.number)

    def batches(self, items: Iterable[Any]) -> Iterator[Batch]:
        """Items are sources of their own, or tables of a frame."""
        for item in items:
            source = item if isinstance(item, Source) else self._table(item)
            source.may_be_empty = True
            source.rejects = rejects = KeptRejects(source.rejects, self.job.lists_rejects)
            for batch in source.batches():
                self.account = replace(self.account, rows=self.account.rows + len(batch))
                yield reduce(lambda rows, step: step(rows), self.job.steps, batch)
            self.account += Account(
                self.number, unwanted=source.unwanted, rejected=rejects.count, rejects=tuple(rejects.listed)
            )

    def _table(self, table: Any) -> Source:
        from candide.sources.frame import FrameSource

        assert isinstance(self.job.source, FrameSource)
        return self.job.source.of_part(table, self.number)
