"""All that is remembered of the rows: label counts and one statistic a block. Summaries add up, exactly."""

from __future__ import annotations

import hashlib
import json
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from candide.data.advice import SetOption, UseVerb
from candide.data.arrays import AnyArray, IntArray
from candide.data.batch import Batch
from candide.data.cached import cached_property
from candide.data.errors import ForgetRefused, LabelsRefused, Location, OverflowRefused, SummariesDisagree
from candide.data.values import Key, shown
from candide.families.base.family import AnyFamily, Block
from candide.kernels.counting import count_labels
from candide.statistics.tally import Tally
from candide.statistics.weight_grid import (
    CEILING,
    bits_of,
    coarsest,
    in_finer_units,
    in_ones,
    on_grid,
    weights_in_units,
)

NO_WEIGHTS = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Summary:
    """The frozen memory of any number of rows, in one canonical form: equal rows, equal summary.

    Classes are sorted. A class exists while it has weight, or when it was declared.
    """

    blocks: tuple[Block, ...]
    classes: tuple[Key, ...]
    units: IntArray
    statistics: tuple[Any, ...]
    declared: frozenset[Key] = field(default_factory=frozenset)
    bits: int = 0
    """Classes weigh so many units of 2^-bits: 1, unless a row had a weight that is not whole."""

    def __post_init__(self) -> None:
        self.units.flags.writeable = False

    @classmethod
    def empty(cls, blocks: Sequence[Block], declared: Iterable[Key] = ()) -> Summary:
        return Accumulator(blocks, declared).freeze()

    @classmethod
    def of(cls, blocks: Sequence[Block], batch: Batch) -> Summary:
        """The summary of one batch."""
        accumulator = Accumulator(blocks)
        accumulator.learn(batch)
        return accumulator.freeze()

    @cached_property
    def counts(self) -> AnyArray:
        """The weight of each class: whole numbers, or doubles where weights were not whole."""
        return self.weighed.counts[0]

    @property
    def weighed(self) -> Tally:
        """The weight of each class, exactly, as a tally of one slot."""
        return Tally(range(1), self.units[None], self.bits)

    @property
    def rows(self) -> Any:
        """The weight of all rows together: a whole number, unless weights are not."""
        return in_ones(sum(self.units.tolist()), self.bits)

    @property
    def fingerprint(self) -> str:
        """A short name for what the summary describes; only equal ones add."""
        return fingerprint(self.blocks)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Summary)
            and self.blocks == other.blocks
            and self.classes == other.classes
            and self.declared == other.declared
            and self.weighed == other.weighed
            and self.statistics == other.statistics
        )

    def __add__(self, other: Summary) -> Summary:
        self._refuse_disagreement(other)
        classes = tuple(sorted({*self.classes, *other.classes}))
        mine, theirs = self._among(classes), other._among(classes)
        rows = mine.weighed + theirs.weighed
        refuse_weight_overflow(sum(rows.units[0].tolist()), rows.bits)
        together = tuple(a + b for a, b in zip(mine.statistics, theirs.statistics, strict=True))
        return Summary(self.blocks, classes, rows.units[0], together, self.declared | other.declared, rows.bits)

    def __sub__(self, other: Summary) -> Summary:
        self._refuse_disagreement(other)
        refuse_unknown_classes(other, self.classes)
        theirs = other._among(self.classes)
        bits = max(self.bits, theirs.bits)
        left, bits = coarsest(self.weighed.at(bits)[0] - theirs.weighed.at(bits)[0], bits)
        refuse_negative(left, bits, self.classes)
        rest = tuple(a - b for a, b in zip(self.statistics, theirs.statistics, strict=True))
        summary = Summary(self.blocks, self.classes, left, rest, self.declared, bits)
        refuse_impossible(summary.impossible())
        return summary.canonical()

    def impossible(self) -> str:
        """What it is about this summary that no rows could have left; nothing where some could.

        It finishes the sentence "without these rows there would be ...".
        """
        for block, statistic in zip(self.blocks, self.statistics, strict=True):
            reason = block.family.impossible(statistic, block.columns, self.weighed)
            if reason:
                return reason
        return ""

    def canonical(self) -> Summary:
        """Without the classes that no row and no declaration holds."""
        alive = np.array([c > 0 or k in self.declared for k, c in zip(self.classes, self.units, strict=True)])
        if alive.all():
            return self
        kept = np.flatnonzero(alive)
        return Summary(
            self.blocks,
            tuple(self.classes[index] for index in kept),
            self.units[kept],
            tuple(statistic.only(kept) for statistic in self.statistics),
            self.declared,
            self.bits,
        )

    def widened(self, blocks: Sequence[Block]) -> Summary:
        """The same rows under a schema with more columns, which none of them had."""
        old = {block.family: (block, s) for block, s in zip(self.blocks, self.statistics, strict=True)}
        statistics = []
        for block in blocks:
            if block.family in old:
                before, statistic = old[block.family]
                same = before.columns == block.columns
                statistics.append(statistic if same else statistic.widened(before.columns, block.columns))
            else:
                statistics.append(block.builder(len(self.classes)).freeze())
        return Summary(tuple(blocks), self.classes, self.units, tuple(statistics), self.declared, self.bits)

    def narrowed(self, blocks: Sequence[Block]) -> Summary:
        """The same rows under a schema with fewer columns: those that none of them has a value in are gone."""
        old = {block.family: (block.columns, s) for block, s in zip(self.blocks, self.statistics, strict=True)}
        statistics = []
        for block in blocks:
            before, statistic = old[block.family]
            statistics.append(statistic if before == block.columns else statistic.narrowed(before, block.columns))
        return Summary(tuple(blocks), self.classes, self.units, tuple(statistics), self.declared, self.bits)

    def with_blocks(self, learned: Summary) -> Summary:
        """The same rows, with blocks that learned them elsewhere in place of those that did not."""
        known = dict(zip(learned.blocks, learned.statistics, strict=True))
        pairs = zip(self.blocks, self.statistics, strict=True)
        statistics = tuple(known.get(block, statistic) for block, statistic in pairs)
        return Summary(self.blocks, self.classes, self.units, statistics, self.declared, self.bits)

    def beside(self, blocks: Sequence[Block], learned: Mapping[Block, Any]) -> Summary:
        """The same rows in these blocks: the summary's own, and some that learned the rows elsewhere."""
        known = {**dict(zip(self.blocks, self.statistics, strict=True)), **learned}
        statistics = tuple(known[block] for block in blocks)
        return Summary(tuple(blocks), self.classes, self.units, statistics, self.declared, self.bits)

    @property
    def counting_blocks(self) -> tuple[Block, ...]:
        """The blocks, counting as finely as what was learned: so that more rows add, and can be taken away again."""
        pairs = zip(self.blocks, self.statistics, strict=True)
        return tuple(Block(block.family.counting_like(seen), block.columns) for block, seen in pairs)

    def first_met(self) -> Summary:
        """The same rows, remembered as finely as rows are that were learned first."""
        pairs = zip(self.blocks, self.statistics, strict=True)
        statistics = tuple(block.family.first_met(statistic) for block, statistic in pairs)
        return Summary(self.blocks, self.classes, self.units, statistics, self.declared, self.bits)

    @property
    def held(self) -> set[str]:
        """The columns that some row has a value in, as far as their statistics can tell."""
        return {
            column
            for block, statistic in zip(self.blocks, self.statistics, strict=True)
            for column, there in zip(block.columns, block.family.held(statistic, block.columns), strict=True)
            if there
        }

    def _among(self, classes: tuple[Key, ...]) -> Summary:
        if classes == self.classes:
            return self
        positions = np.array([classes.index(key) for key in self.classes], dtype=np.int64)
        units = np.zeros(len(classes), dtype=np.int64)
        units[positions] = self.units
        spread = tuple(statistic.spread(positions, len(classes)) for statistic in self.statistics)
        return Summary(self.blocks, classes, units, spread, self.declared, self.bits)

    def _refuse_disagreement(self, other: Summary) -> None:
        if self.blocks != other.blocks:
            raise SummariesDisagree(
                f"These summaries describe different columns or families: {disagreement(self.blocks, other.blocks)}.",
                advice=("Fit the second like the first, with ", UseVerb("fit", (SetOption("like"),)), ", then merge."),
            )


class Accumulator:
    """The one mutable thing: learns and forgets rows in place; `freeze` gives a Summary.

    Classes are numbered in order of appearance here and sorted when frozen. Everything that can be refused is
    refused before anything changes.
    """

    def __init__(self, blocks: Sequence[Block], declared: Iterable[Key] = ()) -> None:
        self.blocks = tuple(blocks)
        self.declared = frozenset(declared)
        self.index_of: dict[Key, int] = {key: index for index, key in enumerate(sorted(self.declared))}
        self.units = np.zeros(max(len(self.index_of), 4), dtype=np.int64)
        self.bits = 0
        self.builders = [block.builder(len(self.index_of)) for block in self.blocks]

    @classmethod
    def over(cls, summary: Summary) -> Accumulator:
        """Go on from a summary."""
        accumulator = cls(summary.blocks)
        accumulator.declared = summary.declared
        accumulator.index_of = {key: index for index, key in enumerate(summary.classes)}
        accumulator.units = np.concatenate([summary.units, np.zeros(4, dtype=np.int64)])
        accumulator.bits = summary.bits
        accumulator.builders = [
            block.family.builder_over(statistic)
            for block, statistic in zip(summary.blocks, summary.statistics, strict=True)
        ]
        return accumulator

    def learn(self, batch: Batch) -> None:
        """Add the rows of a batch with their labels and weights."""
        weights = grid_weights(batch)
        values = [block.family.read(batch, block.columns) for block in self.blocks]
        labels = self._labels(batch)
        self._count(labels, weights)
        for block, builder, block_values in zip(self.blocks, self.builders, values, strict=True):
            block.family.learn(builder, block_values, labels, weights)

    def forget(self, batch: Batch) -> None:
        """Take rows back, as if they had never been learned; refused whole if they cannot all have been."""
        rest = Accumulator.over(self.freeze() - Summary.of(self.blocks, batch))
        self.index_of, self.units, self.bits, self.builders = rest.index_of, rest.units, rest.bits, rest.builders

    def freeze(self) -> Summary:
        """The summary of everything learned and not forgotten."""
        keys = sorted(self.index_of)
        order = np.array([self.index_of[key] for key in keys], dtype=np.int64)
        statistics = tuple(builder.freeze().only(order) for builder in self.builders)
        units, bits = coarsest(self.units[order], self.bits)
        return Summary(self.blocks, tuple(keys), units, statistics, self.declared, bits).canonical()

    def _count(self, labels: IntArray, weights: AnyArray) -> None:
        """Add the rows to the weights of their classes; refused where all together would weigh too much."""
        bits = max(self.bits, bits_of(weights))
        row_units = weights_in_units(weights, len(labels), bits)
        units = in_finer_units(self.units, bits - self.bits)
        refuse_weight_overflow(
            sum(units.tolist()) + (int(row_units.sum(dtype=object)) if row_units.size else len(labels)), bits
        )
        self.units, self.bits = units, bits
        count_labels(labels, row_units, self.units)

    def _labels(self, batch: Batch) -> IntArray:
        """Each row's class number here, new classes being given one."""
        if batch.labels is None:
            raise LabelsRefused("These rows have no labels.", advice="Give one a row.", expected="one label a row")
        for key in batch.labels.keys:
            self.index_of.setdefault(key, len(self.index_of))
        if len(self.index_of) > len(self.units):
            grown = np.zeros(2 * len(self.index_of), dtype=np.int64)
            grown[: len(self.units)] = self.units
            self.units = grown
        for builder in self.builders:
            builder.grow(len(self.index_of))
        return batch.labels.renumbered(self.index_of)


def grid_weights(batch: Batch) -> AnyArray:
    """The weights of a batch: whole numbers, or doubles on the grid; nothing where every row weighs one."""
    if batch.weights is None:
        return NO_WEIGHTS
    return batch.weights if batch.weights.dtype == np.int64 else on_grid(batch.weights)


def refuse_weight_overflow(units: int, bits: int) -> None:
    """Raise where rows of so many units together would weigh too much."""
    if units > CEILING:
        raise OverflowRefused(f"The rows together would weigh more than 2^{62 - bits}.")


def refuse_unknown_classes(gone: Summary, classes: tuple[Key, ...]) -> None:
    """Raise where rows to forget belong to a class that is not there."""
    unknown = [key for key in gone.classes if key not in classes]
    if unknown:
        raise ForgetRefused(
            f"Class '{shown(unknown[0])}' was never learned, so its rows cannot be forgotten.",
            where=Location(value=shown(unknown[0])),
        )


def refuse_negative(left: IntArray, bits: int, classes: tuple[Key, ...]) -> None:
    """Raise where a class would be left with less than no rows."""
    if (left < 0).any():
        index = int(np.argmax(left < 0))
        raise ForgetRefused(
            f"Class '{shown(classes[index])}' has fewer rows than are to be forgotten "
            f"({-left[index] / 2**bits:.15g} too many).",
            where=Location(value=shown(classes[index])),
        )


def refuse_impossible(reason: str) -> None:
    """Raise where forgetting would leave what no rows could have left."""
    if reason:
        raise ForgetRefused(
            f"These rows were never learned, or not with these labels: without them there would be {reason}."
        )


def fingerprint(blocks: Sequence[Block]) -> str:
    """A short name for families and columns: equal for equal blocks."""
    text = json.dumps([block.describe() for block in blocks], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def disagreement(mine: Sequence[Block], theirs: Sequence[Block]) -> str:
    """The first column two schemas see differently, in words."""
    left = {column: block.family for block in mine for column in block.columns}
    right = {column: block.family for block in theirs for column in block.columns}
    for column in (*left, *right):
        here, there = left.get(column), right.get(column)
        if here != there:
            return f"column '{column}' is {family_in_words(here, there)} here and {family_in_words(there, here)} there"
    return "the columns are in a different order"


def family_in_words(family: AnyFamily | None, other: AnyFamily | None) -> str:
    """A family by its name, or by what else sets it apart from the other of the same name."""
    if family is None:
        return "absent"
    if other is None or family.name != other.name:
        return family.name
    mine, theirs = family.describe(), other.describe()
    apart = [f"{name} {reprlib.repr(value)}" for name, value in mine.items() if value != theirs[name]]
    return f"{family.name} ({', '.join(apart)})"
