"""How much of each word was seen with each class: what text leaves behind, however many words and classes there are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Protocol, Self

import numpy as np

from candide.data.arrays import AnyArray, IntArray
from candide.data.cached import cached_property
from candide.data.errors import ForgetRefused, Location, OverflowRefused
from candide.kernels.word_merging import Lines, class_totals, merge_lines, sort_pairs, word_totals
from candide.statistics.weight_grid import CEILING, coarsest, in_finer_units

NOTHING = np.zeros(0, dtype=np.int64)
MANY_TO_FEW = 4
"""Where words have so many times as many counts as others, the others are spelled to join them."""


class Unspelled(Protocol):
    """Words with their counts by class in an order of their own, each pair once and by class: spelled when asked."""

    @property
    def indptr(self) -> IntArray: ...

    @property
    def labels(self) -> AnyArray: ...

    @property
    def counts(self) -> IntArray: ...

    def spelled(self) -> Lines:
        """The same as lines: words sorted bytewise, none of them without pairs."""

    def relabelled(self, labels: AnyArray, counts: IntArray) -> Self:
        """The same words with other pairs, as many for each."""

    def joined(self, other: Self) -> Self:
        """The counts of both together."""


@dataclass(frozen=True, eq=False)
class WordTally:
    """Counts for the (word, class) pairs that occurred, added and subtracted exactly.

    As `lines`, words are sorted bytewise and written as Arrow writes them; their pairs are sorted by class. `documents`
    counts the documents of each class, `frequency` those that hold each word, where that is kept. There are no zero
    pairs and no words without pairs, so equal documents leave equal bytes. A tally that nobody has compared, added or
    saved yet may hold its words unspelled.

    >>> monday = WordTally.of([("cat", 0, 1), ("dog", 0, 2), ("dog", 1, 2)], documents=[1, 1])
    >>> tuesday = WordTally.of([("ant", 0, 5), ("dog", 1, 1)], documents=[1, 1])
    >>> (monday + tuesday).words()
    [b'ant', b'cat', b'dog']
    >>> monday + tuesday - monday == tuesday
    True
    """

    words_seen: Lines | Unspelled
    documents: IntArray
    bits: int = 0
    """All is counted in units of 2^-bits: 1, unless a document had a weight that is not whole."""
    scaled: bool = False
    """Whether pairs are counted in units of 2^-32 whatever documents weigh, as the recipe scales their amounts."""

    def __post_init__(self) -> None:
        seen = self.words_seen
        for array in (*(seen if isinstance(seen, Lines) else (seen.labels, seen.counts)), self.documents):
            array.flags.writeable = False

    @classmethod
    def of(
        cls,
        pairs: Iterable[tuple[str | bytes, int, int]],
        documents: Sequence[int],
        frequency: dict[bytes, int] | None = None,
    ) -> WordTally:
        """From (word, class, count), one by one: for small examples."""
        table: dict[bytes, dict[int, int]] = {}
        for word, label, count in pairs:
            spelled = word.encode() if isinstance(word, str) else word
            row = table.setdefault(spelled, {})
            row[label] = row.get(label, 0) + count
        words = sorted(word for word in table if any(table[word].values()))
        cells = [sorted((label, n) for label, n in table[word].items() if n) for word in words]
        lines = Lines(
            offsets=running([len(word) for word in words]),
            letters=np.frombuffer(b"".join(words), dtype=np.uint8).copy(),
            indptr=running([len(row) for row in cells]),
            labels=np.array([label for row in cells for label, _ in row], dtype=np.int32),
            counts=np.array([count for row in cells for _, count in row], dtype=np.int64),
            frequency=NOTHING.copy() if frequency is None else np.array([frequency[w] for w in words], dtype=np.int64),
        )
        return cls(lines, np.array(documents, dtype=np.int64))

    @cached_property
    def lines(self) -> Lines:
        """The words in canonical order, with their counts."""
        if isinstance(self.words_seen, Lines):
            return self.words_seen
        lines = self.words_seen.spelled()
        for array in lines:
            array.flags.writeable = False
        return lines

    @property
    def classes(self) -> int:
        return len(self.documents)

    @cached_property
    def _words(self) -> int:
        ends = self.words_seen.indptr
        return int(np.count_nonzero(ends[1:] != ends[:-1]))

    def __len__(self) -> int:
        """How many different words there are."""
        return self._words

    def words(self) -> list[bytes]:
        """Every word, sorted; an object each, so for people and tests."""
        spelled, offsets = self.lines.letters.tobytes(), self.lines.offsets.tolist()
        return [spelled[start:stop] for start, stop in pairwise(offsets)]

    @cached_property
    def word_totals(self) -> IntArray:
        """How much of each word was seen, in all classes together."""
        totals = np.zeros(len(self), dtype=np.int64)
        word_totals(self.lines.indptr, self.lines.counts, totals)
        return totals

    @cached_property
    def class_totals(self) -> IntArray:
        """How much was seen with each class, all words together."""
        totals = np.zeros(self.classes, dtype=np.int64)
        class_totals(self.words_seen.labels, self.words_seen.counts, totals)
        return totals

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, WordTally)
            and self.bits == other.bits
            and np.array_equal(self.documents, other.documents)
            and all(np.array_equal(a, b) for a, b in zip(self.lines, other.lines, strict=True))
        )

    def __add__(self, other: WordTally) -> WordTally:
        bits = max(self.bits, other.bits)
        mine, theirs = self.at(bits), other.at(bits)
        both = [a + b for a, b in zip(mine.class_totals.tolist(), theirs.class_totals.tolist(), strict=True)]
        if largest_total(both, bits) > CEILING:
            raise OverflowRefused(f"The counts of words would exceed 2^{62 - bits}.")
        return mine._merged(theirs, 1)

    def __sub__(self, other: WordTally) -> WordTally:
        bits = max(self.bits, other.bits)
        return self.at(bits)._merged(other.at(bits), -1)

    @property
    def count_bound(self) -> int:
        """How much was counted, as far as it must fit in 64 bits."""
        return largest_total(self.class_totals.tolist(), self.bits)

    def at(self, bits: int) -> WordTally:
        """The same counts in units that are as small, or smaller."""
        finer = bits - self.bits
        if finer <= 0:
            return self
        counts = self.lines.counts if self.scaled else in_finer_units(self.lines.counts, finer)
        lines = self.lines._replace(counts=counts, frequency=in_finer_units(self.lines.frequency, finer))
        return replace(self, words_seen=lines, documents=in_finer_units(self.documents, finer), bits=bits)

    def canonical(self) -> WordTally:
        """The one form of counts: in ones where all of them are whole."""
        if not self.bits:
            return self
        lines, bits = self.lines, self.bits
        weighed = [self.documents, lines.frequency, *([] if self.scaled else [lines.counts])]
        if any(coarsest(units, bits)[1] for units in weighed):
            return self
        counts = lines.counts if self.scaled else lines.counts >> bits
        lines = lines._replace(counts=counts, frequency=lines.frequency >> bits)
        return replace(self, words_seen=lines, documents=self.documents >> bits, bits=0)

    def _merged(self, other: WordTally, sign: int) -> WordTally:
        documents = self.documents + sign * other.documents
        if (documents < 0).any():
            raise ForgetRefused("More documents are to be forgotten than were learned.")
        if not len(other):
            return replace(self, documents=documents).canonical()
        if not len(self) and sign > 0:
            return replace(other, documents=documents).canonical()
        if sign > 0 and (together := joined_unspelled(self.words_seen, other.words_seen)) is not None:
            return replace(self, words_seen=together, documents=documents).canonical()
        mine, theirs = self.lines, other.lines
        out = Lines(
            offsets=np.zeros(len(self) + len(other) + 1, dtype=np.int64),
            letters=np.empty(len(mine.letters) + len(theirs.letters), dtype=np.uint8),
            indptr=np.zeros(len(self) + len(other) + 1, dtype=np.int64),
            labels=np.empty(len(mine.labels) + len(theirs.labels), dtype=np.int32),
            counts=np.empty(len(mine.counts) + len(theirs.counts), dtype=np.int64),
            frequency=np.empty(len(mine.frequency) + len(theirs.frequency), dtype=np.int64),
        )
        words, pairs, index = merge_lines(mine, theirs, sign, out)
        if words < 0:
            word = bytes(theirs.letters[theirs.offsets[index] : theirs.offsets[index + 1]])
            raise ForgetRefused(
                f"{word.decode('utf-8', 'replace')!r} was seen less often than is to be forgotten.",
                where=Location(value=word.decode("utf-8", "replace")),
            )
        return replace(self, words_seen=trimmed_lines(out, int(words), int(pairs)), documents=documents).canonical()

    def impossible(self) -> str:
        """What it is about these counts that no documents could have left; nothing where some could.

        That no pair is below zero is seen to where counts are merged or read.
        """
        frequency = self.words_seen.frequency if isinstance(self.words_seen, Lines) else NOTHING
        rare = frequency.size and (frequency > self.documents.sum(dtype=np.float64)).any()
        return "words in more documents than there are" if rare else ""

    def spread(self, positions: IntArray, classes: int) -> WordTally:
        """The same counts among more classes: class i moves to positions[i]."""
        documents = np.zeros(classes, dtype=np.int64)
        documents[positions] = self.documents
        names = np.asarray(positions, dtype=np.int32)
        return replace(self, words_seen=with_classes_called(self.words_seen, names), documents=documents)

    def only(self, positions: IntArray) -> WordTally:
        """The counts of some classes, in the given order.

        Where a class that has words is left out, the kept document frequencies can no longer be known and still
        count its documents; summaries leave out only classes without rows.
        """
        if np.array_equal(positions, np.arange(self.classes)):
            return self
        names = np.full(self.classes, -1, dtype=np.int32)
        names[positions] = np.arange(len(positions), dtype=np.int32)
        words: Lines | Unspelled = self.lines if (names < 0).any() else self.words_seen
        words = with_classes_called(words, names)
        words = without_others(words) if isinstance(words, Lines) else words
        return replace(self, words_seen=words, documents=self.documents[positions]).canonical()

    def widened(self, before: Sequence[str], after: Sequence[str]) -> WordTally:
        """A text block has one column, so it is never wider."""
        return self


def with_classes_called(words: Lines | Unspelled, names: AnyArray) -> Lines | Unspelled:
    """The words with class i called names[i]."""
    labels, counts = names[words.labels], words.counts
    if (np.diff(names) < 0).any():
        labels, counts = labels.copy(), counts.copy()
        sort_pairs(words.indptr, labels, counts)
    if isinstance(words, Lines):
        return words._replace(labels=labels, counts=counts)
    return words.relabelled(labels, counts)


def joined_unspelled(mine: Lines | Unspelled, theirs: Lines | Unspelled) -> Any:
    """Unspelled words of both together; nothing where some are spelled, or where few come to many."""
    if isinstance(mine, Lines) or isinstance(theirs, Lines) or MANY_TO_FEW * len(theirs.counts) < len(mine.counts):
        return None
    return mine.joined(theirs)


def largest_total(class_totals: list[int], bits: int) -> int:
    """The most that was counted of a class; of all classes together where weights are fractions and units small."""
    return sum(class_totals) if bits else max(class_totals, default=0)


def running(sizes: Sequence[int] | AnyArray) -> IntArray:
    """Where each of some things of these sizes begins, and where the last ends."""
    total = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=total[1:])
    return total


def trimmed_lines(lines: Lines, words: int, pairs: int) -> Lines:
    """The lines in use, in memory of their own size."""
    return Lines(
        lines.offsets[: words + 1].copy(),
        lines.letters[: lines.offsets[words]].copy(),
        lines.indptr[: words + 1].copy(),
        lines.labels[:pairs].copy(),
        lines.counts[:pairs].copy(),
        lines.frequency[:words].copy() if lines.frequency.size else NOTHING.copy(),
    )


def without_others(lines: Lines) -> Lines:
    """The lines without pairs of classes called -1, and without words that then have none."""
    kept = lines.labels >= 0
    before = running(kept)[lines.indptr]
    alive = np.diff(before) > 0
    return take_words(
        lines._replace(indptr=before, labels=lines.labels[kept], counts=lines.counts[kept]), np.flatnonzero(alive)
    )


def take_words(lines: Lines, words: IntArray) -> Lines:
    """Some of the words, in the given order, with their pairs."""
    letters = gathered(lines.offsets, words)
    pairs = gathered(lines.indptr, words)
    return Lines(
        running(np.diff(lines.offsets)[words]),
        lines.letters[letters],
        running(np.diff(lines.indptr)[words]),
        lines.labels[pairs],
        lines.counts[pairs],
        lines.frequency[words] if lines.frequency.size else NOTHING.copy(),
    )


def gathered(starts: IntArray, wanted: IntArray) -> IntArray:
    """The positions of everything that belongs to the wanted ones, one after the other."""
    sizes = np.diff(starts)[wanted]
    ends = np.cumsum(sizes)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts[wanted] - (ends - sizes), sizes)
