"""Rows picked by content from parts that nobody sees together: the very rows that a `Reservoir` picks from all of them.

Equal rows are numbered, and what decides is a hash of content and number. How often a row is there is known only once
all parts are added up, so a part leaves the hash of each different row with its count, some nine bytes a row for four
million rows at the most, beside some rows: four times its share of those to be picked, if parts are alike. These hold
all that are wanted, unless a part is much longer than others or rows are repeated in several of them; what is lacking
is then asked for by its content.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from candide.data.arrays import AnyArray, IntArray
from candide.data.batch import Batch
from candide.data.joined import joined_batches
from candide.kernels.hashing import Hashes, mix_all
from candide.model.row_sample import MOST_MET, ROWS_TO_LOOK_AT, Reservoir, labelled_hashes

KEYS_AT_ONCE = 1 << 22
SHARE, FEWEST = 4, 100
"""Of the rows to be picked, each of many parts holds so many times its share, and so many more."""


def no_hashes() -> Hashes:
    """The hashes of no rows."""
    return np.zeros(0, np.uint64)


@dataclass(frozen=True)
class RowPick:
    """What some rows leave of a pick.

    `contents` are the hashes of different rows, ascending, with their `counts`; `rows` are some of them, one of each
    content in `held`, with the least hash of (content, number) that the part gave it in `keys`.
    """

    limit: int = ROWS_TO_LOOK_AT
    room: int = ROWS_TO_LOOK_AT
    """How many rows are held at the most."""
    seen: int = 0
    contents: Hashes = field(default_factory=no_hashes)
    counts: AnyArray = field(default_factory=lambda: np.zeros(0, np.int64))
    rows: Batch | None = None
    held: Hashes = field(default_factory=no_hashes)
    keys: Hashes = field(default_factory=no_hashes)

    @classmethod
    def of(cls, batches: Iterable[Batch], limit: int = ROWS_TO_LOOK_AT, parts: int = 1) -> RowPick:
        """Look at the rows of one of so many parts, in bounded memory."""
        room = min(limit, SHARE * limit // parts + FEWEST)
        reservoir = Reservoir(room)
        for _ in reservoir.watched(batches):
            pass
        if not reservoir.seen:
            return cls(limit, room)
        keys, rows = reservoir.lowest()
        there = np.flatnonzero(reservoir.met.counts)
        order = there[np.argsort(reservoir.met.known[there])]
        counted = reservoir.met.known[order], narrowed(reservoir.met.counts[order])
        return cls(limit, room, reservoir.seen, *counted)._holding(rows, labelled_hashes(rows), keys)

    def __add__(self, other: RowPick) -> RowPick:
        if not self.seen or not other.seen:
            return self if self.seen else other
        contents, place = np.unique(np.concatenate([self.contents, other.contents]), return_inverse=True)
        counts = np.zeros(len(contents), np.int64)
        np.add.at(counts, place, np.concatenate([self.counts, other.counts], dtype=np.int64))
        most = MOST_MET // 2
        both = replace(
            self,
            room=min(self.limit, self.room + other.room),
            seen=self.seen + other.seen,
            contents=contents[:most],
            counts=narrowed(counts[:most]),
        )
        assert self.rows is not None
        assert other.rows is not None
        held, keys = np.concatenate([self.held, other.held]), np.concatenate([self.keys, other.keys])
        return both._holding(joined_batches([self.rows, other.rows]), held, keys)

    def _holding(self, rows: Batch, held: Hashes, keys: Hashes) -> RowPick:
        """With one row of each content, and no more of them than there is room for: those with the least keys."""
        order = np.lexsort((keys, held))
        first = order[np.diff(held[order], prepend=~held[order[:1]]) != 0]
        if len(first) > self.room:
            first = first[np.argpartition(keys[first], self.room)[: self.room]]
        return replace(self, rows=rows.take(first), held=held[first], keys=keys[first])

    def wanted(self) -> tuple[Hashes, IntArray]:
        """The contents to pick, and how many rows of each."""
        untracked = np.setdiff1d(self.held, self.contents)
        contents = np.concatenate([self.contents, untracked])
        counts = np.concatenate([self.counts, np.ones(len(untracked), np.int64)], dtype=np.int64)
        if self.seen <= self.limit:
            return contents, counts
        keys, places = no_hashes(), np.zeros(0, np.int64)
        for found, at in numbered_keys(contents, counts):
            keys, places = np.concatenate([keys, found]), np.concatenate([places, at])
            if len(keys) > self.limit:
                low = keys <= np.partition(keys, self.limit - 1)[self.limit - 1]
                keys, places = keys[low], places[low]
        copies = np.bincount(places, minlength=len(contents))
        return contents[copies > 0], copies[copies > 0]

    def lacking(self) -> Hashes:
        """The contents that are wanted, but of which no row is held."""
        return np.setdiff1d(self.wanted()[0], self.held)

    def reservoir(self, more: Iterable[Batch] = ()) -> Reservoir:
        """The rows that were wanted, each as often as it is to be there; `more` are rows of contents that lacked."""
        assert self.rows is not None
        rows = joined_batches([self.rows, *more])
        held = labelled_hashes(rows)
        contents, copies = self.wanted()
        order = np.argsort(held, kind="stable")
        places = order[np.searchsorted(held[order], contents)]
        return Reservoir.filled(rows.take(np.repeat(places, copies)), self.seen)


def narrowed(counts: AnyArray) -> AnyArray:
    """Counts in as few bytes as do."""
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))


def numbered_keys(contents: Hashes, counts: IntArray) -> Iterator[tuple[Hashes, AnyArray]]:
    """The key of every row by its content and number, some at a time, and the place of its content."""
    ends = np.cumsum(counts)
    for start in range(0, int(ends[-1]), KEYS_AT_ONCE):
        rows = np.arange(start, min(start + KEYS_AT_ONCE, int(ends[-1])))
        places = np.searchsorted(ends, rows, side="right")
        number = (rows - (ends - counts)[places]).astype(np.uint64)
        yield mix_all(contents[places] ^ mix_all(number)), places


def rows_with(contents: Hashes, batches: Iterable[Batch]) -> list[Batch]:
    """One row of each of these contents that is among the batches."""
    left, found = contents, []
    for batch in batches:
        hashes = labelled_hashes(batch)
        there, first = np.unique(hashes, return_index=True)
        wanted: Any = np.isin(there, left)
        if wanted.any():
            found.append(batch.take(first[wanted]))
            left = np.setdiff1d(left, there[wanted])
    return found
