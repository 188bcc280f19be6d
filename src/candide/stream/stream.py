"""A stream of single rows: learned and forgotten in place, judged straight from the counts, frozen on demand."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from candide.data.advice import PythonCode, UseVerb
from candide.data.arrays import AnyArray, FloatArray
from candide.data.batch import Batch, labels_of
from candide.data.errors import ColumnRefused, ForgetRefused, LabelsRefused, Location, OptionRefused, OverflowRefused
from candide.data.values import Coded, Key, is_missing, shown
from candide.families.base.competing import TEXT
from candide.families.base.family import AnyFamily, Block
from candide.families.base.streaming import BY_EVENTS, BY_MOMENTS, BY_PAIRS, BY_TRUTHS, BY_VALUES, BY_WORDS
from candide.families.base.undecided import Undecided
from candide.kernels.running import HEAVIEST_ENTRY
from candide.kernels.scoring import argmax_rows
from candide.kernels.shares import log_shares_of, shares_of_scores
from candide.model.calibration import Calibration
from candide.model.expected import only_classes
from candide.model.linear_layer import LayerBlock
from candide.model.predictor import Priors, log_priors, normalised
from candide.model.reported import BlockEvidence, reported_scores
from candide.model.schema import Choice, Schema
from candide.model.summary import Summary
from candide.model.trained_model import NO_COLUMNS, TrainedModel
from candide.statistics.ledger import HASH, Ledger
from candide.statistics.sums import Sums
from candide.statistics.tally import Tally
from candide.statistics.weight_grid import CEILING, coarsest
from candide.statistics.word_tally import WordTally
from candide.stream.columns import choices_for, row_of
from candide.stream.layout import Layout, row_cells
from candide.stream.live import Cell, Live
from candide.stream.live_pairs import LivePair
from candide.stream.live_sums import LiveDensity, join
from candide.stream.live_tallies import LiveCategories, LiveCounts, LiveTruths
from candide.stream.live_words import LiveText, LiveWords
from candide.stream.open_columns import OpenColumns, held_values
from candide.training.reread import expected_as, reread
from candide.training.row_hashes import identities
from candide.training.traces import is_array, without_origin, without_traces, without_values

FEW_CLASSES = 64
FEWEST_ROWS, GROWTH = 16, 4
"""Families of open columns are read off once there are so many rows, and whenever there are so many times more or less.

A stream that began with nothing answers by families that are judged straight from the counts; frozen, by the best.
"""

MOST_CAUGHT_UP = 256
"""Blocks of open columns learn so many rows one by one when somebody asks; beyond, they are made anew."""

MOST_LAYOUTS = 64
"""So many kinds of rows, by the columns they have, are known by heart."""

LIVE: dict[tuple[type, str], type[Live]] = {
    (Tally, BY_VALUES): LiveCategories,
    (Tally, BY_TRUTHS): LiveTruths,
    (Tally, BY_EVENTS): LiveCounts,
    (Tally, BY_PAIRS): LivePair,
    (Sums, BY_MOMENTS): LiveDensity,
    (WordTally, BY_WORDS): LiveWords,
    (WordTally, ""): LiveText,
}
"""Which block suits a family, by its statistic and the way it may be judged from it; any other is made anew."""


class Stream:
    """Everything learned so far, open: an event costs its own features by the classes.

    Text (multinomial and complement), categories, truth values, counts and all densities are judged from the counts and
    sums as they stand. Any other block (full covariance; text with thresholds, stop words, inverse frequencies, or the
    bernoulli and poisson models) is frozen and fitted when it is asked after a change: correct, but slower.

    A refused row changes nothing. Threads may share a stream: events take turns.
    """

    #: What a row adds to the counts, which are in units of 2^-bits, and to the ledger, which has units of its own.
    weight: float = 1
    one_noted = 1
    half_life: float | None = None
    #: Whether columns without a family given are left open; what fades cannot be read off.
    keeps_open = True

    def __init__(self, learned: TrainedModel) -> None:
        self.events = threading.RLock()
        self.clean = False
        self.layered: tuple[int, tuple[Key, ...], tuple[LayerBlock, ...]] = (0, (), ())
        self.answers_live = not learned.summary.rows
        self._open(learned)

    def _open(self, learned: TrainedModel) -> None:
        """Go on from what was learned."""
        summary, reading = learned.summary, learned.reading
        self.frozen: TrainedModel | None = learned
        self.expected_of = None if learned.expected is None else learned
        nothing = Summary.empty((), summary.declared)
        self.declares = bool(summary.declared)
        self.learned = replace(learned, schema=NO_COLUMNS, summary=nothing, ledger=None, expected=None)
        self.choices, self.pairs = list(learned.schema.choices), learned.schema.pairs
        ledger = learned.ledger
        self.noted = None if ledger is None else dict(zip(ledger.hashes.tolist(), ledger.units.tolist(), strict=True))
        self.one_noted = 1 << ledger.bits if ledger is not None else 1
        self.index_of = {key: index for index, key in enumerate(summary.classes)}
        self.width = len(self.index_of)
        self.free: list[int] = []
        self.counts: AnyArray = summary.units.copy()
        self.rows: float = sum(summary.units.tolist())
        self.bits = summary.bits
        if self.bits:
            self.weight = 1 << self.bits
        self.live_blocks: dict[AnyFamily, Live] = {
            block.family: self.live(block.family, list(block.columns), statistic)
            for block, statistic in zip(reading.blocks, reading.statistics, strict=True)
        }
        memories = zip(summary.blocks, summary.statistics, strict=True)
        self.kept_blocks: dict[AnyFamily, Live] = {
            block.family: self.live(block.family, list(block.columns), seen)
            for block, seen in zip(summary.blocks, summary.statistics, strict=True)
            if block.family not in self.live_blocks and not isinstance(block.family, Undecided)
        }
        self.open = next(
            (OpenColumns(b.family, b.columns, seen) for b, seen in memories if isinstance(b.family, Undecided)), None
        )
        self.read_at = self.rows
        self.live_rows, self.is_due = 0, False
        self.columns: dict[str, list[tuple[Live, int]]] = {choice.column: [] for choice in self.choices}
        for block in self.live_blocks.values():
            self._note(block, len(block.columns))
        self.order = np.zeros(0, dtype=np.int64)
        self.classes: tuple[Key, ...] = ()
        self._note_families()
        self._list_classes()

    def __reduce__(self) -> tuple[type[Stream], tuple[TrainedModel]]:
        return Stream, (self.freeze(),)

    def learn(self, x: Any, y: Any) -> bool:
        """Learn one row; whether it brought new columns."""
        with self.events:
            key = self._label(y)
            row, layout = self._read(x)
            held = held_values(row) if self.keeps_open else {}
            values = self._values(row, layout)
            if self.rows >= CEILING:
                raise OverflowRefused("The rows together would weigh more than 2^62.")
            new = [name for name in layout.unknown if self._can_choose(name, row[name])]
            if new:
                self._widen(choices_for(self.learned.options, row, new, self.keeps_open), row)
                layout = self._layout(row)
                values = self._values(row, layout)
            remembered = held if layout.is_open or self.open is None else self.open.taken(held)
            if self.noted is not None:
                one = self._identity(row, key)
                self.noted[one] = self.noted.get(one, 0) + self.one_noted
            label = self._class_index(key)
            for block, read in values:
                block.learn(read, label)
            if self.open is not None:
                self._let_wait(self.open, remembered, label)
            self.counts[label] += self.weight
            self.rows += self.weight
            if self.counts[label] == self.weight:
                self._list_classes()
            self.frozen = None
            self.is_due |= max(FEWEST_ROWS * self.weight, GROWTH * self.read_at) <= self.rows
            return bool(new)

    def _refresh(self) -> None:
        """Bring the blocks that answer up to date with the rows learned since somebody last asked.

        Families are read off anew where rows are many more, or fewer, or hold what a family does not take.
        """
        if self.open is None:
            return
        rows = self.open.rows
        if rows == self.live_rows and not self.is_due:
            return
        is_behind = self.live_rows < self.open.passed or rows > self.live_rows + MOST_CAUGHT_UP
        if not (self.is_due or is_behind):
            self._catch_up(self.open)
        if self.is_due:
            self._go_on_from(reread(self._unread_rows(), answers_live=self.answers_live))
        elif is_behind:
            self._go_on_from(self._unread_rows(), self.read_at)

    def _let_wait(self, waiting: OpenColumns, values: dict[str, Any], label: int) -> None:
        """Let a row wait to be learned; many are learned together, and by the blocks that answer if they keep up."""
        waiting.learn(values, label)
        if waiting.is_full:
            if waiting.passed <= self.live_rows and waiting.rows <= self.live_rows + MOST_CAUGHT_UP:
                self._catch_up(waiting)
            waiting.freeze(self.width)

    def _catch_up(self, waiting: OpenColumns) -> None:
        """Let the blocks of open columns learn the rows that they have not seen yet."""
        for row, label in waiting.learned[self.live_rows - waiting.passed :]:
            try:
                self._learn_late(row, label)
            except ColumnRefused:
                self.is_due = True
        self.live_rows = waiting.rows

    def _learn_late(self, row: Mapping[str, Any], label: int) -> None:
        layout = self._layout(row)
        if layout.sums is not None and not layout.sums.add(layout.places, layout.numbers(row), label, 1):
            self.is_due = True
        for block, columns in layout.others:
            if block not in self.at_once:
                block.learn(block.read(row_cells(row, columns)), label)

    def _unread_rows(self) -> TrainedModel:
        """All of it but the ledger, with the families that the stream answers by."""
        schema = self._schema
        expected = None if self.expected_of is None else expected_as(self.expected_of, schema)
        return replace(self.learned, schema=schema, summary=self._summary(schema), expected=expected)

    def _go_on_from(self, learned: TrainedModel, read_at: float | None = None) -> None:
        """Answer by other families, or by what the same families make of the rows by now."""
        noted, one_noted = self.noted, self.one_noted
        self._open(learned)
        self.frozen, self.noted, self.one_noted = None, noted, one_noted
        self.read_at = self.read_at if read_at is None else read_at

    def _values(self, row: Mapping[str, Any], layout: Layout) -> list[tuple[Live, Any]]:
        """What each block is to learn of a row at once.

        Where the family of an open column does not take its value, another is read off once somebody asks.
        """
        values: list[tuple[Live, Any]] = []
        if not self.at_once:
            return values
        for block, cells in [*layout.cells(row), *self._kept(row)]:
            if block not in self.at_once:
                continue
            try:
                values.append((block, block.read(cells)))
            except ColumnRefused:
                if not self._is_read_off(block):
                    raise
                self.is_due = True
        return values

    def _kept(self, row: Mapping[str, Any]) -> list[tuple[Live, list[Cell]]]:
        """The cells of blocks that learn but do not speak, such as the plain words of a text that is read otherwise."""
        return [
            (block, [(index, name, row[name]) for index, name in enumerate(block.columns) if name in row])
            for block in self.kept_blocks.values()
            if any(name in row for name in block.columns)
        ]

    def _is_read_off(self, block: Live) -> bool:
        """Whether what a block answers by is read off what is remembered of its columns in any case."""
        return self.open is not None and block.family.is_read_off and block.columns[0] in self.open.columns

    def forget(self, x: Any, y: Any) -> bool:
        """Forget one row, or refuse where it cannot have been learned; whether columns went with it."""
        with self.events:
            key = self._label(y)
            row = row_of(x, self.texts)
            if key not in self.index_of:
                raise ForgetRefused(
                    f"Class '{shown(key)}' was never learned, so its rows cannot be forgotten.",
                    where=Location(value=shown(key)),
                )
            unknown = next((name for name in row if name not in self.columns and not is_missing(row[name])), None)
            if unknown is not None:
                raise ColumnRefused(
                    f"Column '{unknown}' was never learned, so this row was not either.", where=Location(column=unknown)
                )
            self._refresh()
            label = self.index_of[key]
            if self.counts[label] < self.weight:
                raise ForgetRefused(
                    f"Class '{shown(key)}' has no rows left.",
                    where=Location(value=shown(key)),
                )
            cells = dict([*self._layout(row).cells(row), *self._kept(row)])
            learned = [*self.live_blocks.values(), *self.kept_blocks.values()]
            values = [(block, block.read(cells.get(block, []))) for block in learned]
            left = self.counts[: self.width].copy()
            left[label] -= self.weight
            counted = self._with_expected(Tally(range(1), left[None], self.bits))
            for block, read in values:
                block.refuse_missing(read, label, counted)
            held = {name: value for name, value in row.items() if not is_missing(value)}
            if self.open is not None:
                self.open.refuse_missing(self.open.taken(held), label, int(left[label]) >> self.bits)
            if self.noted is not None:
                self._strike_out(self._identity(row, key))
            for block, read in values:
                block.take_away(read, label)
            if self.open is not None:
                self.open.forget(self.open.taken(held), label)
            self.counts[label] -= self.weight
            self.rows -= self.weight
            if self.counts[label] == 0 and self.expected_of is not None:
                self._open(self._unread())  # the number of the class must not be given to another
                return False
            if self.counts[label] == 0:
                self._free(key)
            telling = [(block, some) for block, some in cells.items() if block.family not in self.pairs]
            emptied = {name for block, some in telling for name in block.emptied(some)}
            columns = len(self.choices)
            if emptied or not self.counts[label] or not self.clean:
                self._scrub(emptied)
            self.frozen = None
            self._give_back(cells)
            self.is_due |= GROWTH * self.rows <= self.read_at
            return len(self.choices) < columns

    def _identity(self, row: Mapping[str, Any], key: Key) -> bytes:
        """What a row is noted as in the ledger."""
        blocks = self._schema.memory_blocks
        columns = {name: [row.get(name)] for block in blocks for name in block.columns}
        single = replace(Batch.of(columns), labels=Coded(np.zeros(1, dtype=np.int64), (key,)))
        one: bytes = identities(blocks, single).tolist()[0]
        return one

    def _strike_out(self, one: bytes) -> None:
        """Take a row out of the ledger, or refuse where it is not in it."""
        assert self.noted is not None
        if one not in self.noted:
            raise ForgetRefused("This row was never learned: the ledger does not hold it. Nothing was forgotten.")
        if self.noted[one] < self.one_noted:
            raise ForgetRefused(
                f"This row was learned with a weight of {self.noted[one] / self.one_noted:g} only, so it cannot be "
                "forgotten as a whole one. Nothing was forgotten.",
                advice=("Give its weight to ", UseVerb("forget"), "."),
            )
        self.noted[one] -= self.one_noted
        if not self.noted[one]:
            del self.noted[one]

    def _scrub(self, emptied: set[str]) -> None:
        """Let go of what only the row just forgotten had beside the sums; see `candide.training.traces`."""
        before, known = self._blocks(), self.learned.tuning
        gone = set() if is_array(self._schema) else emptied - self.learned.options.columns_named
        if gone:
            self._narrow(gone)
        if gone or not self.clean:
            self.choices = list(without_values(self._schema, gone).choices)
            self.clean = True
        tuning = without_traces(known, before, self._blocks(), self.classes)
        origin = without_origin(self.learned.provenance)
        self.learned = replace(self.learned, tuning=tuning, provenance=origin)

    def posterior(self, x: Any, priors: Priors, class_weight: Priors | None) -> dict[Any, float]:
        """P(class | row) of every class there is; nothing where there is none yet."""
        with self.events:
            if not self.classes:
                return {}
            self._refresh()
            shares = self._shares(x, priors, class_weight).tolist()
            if shares[0] != shares[0]:
                joint = self._joint(x, priors, class_weight)
                shares = normalised(joint[None, self.order], self._log_prior(priors, class_weight))[0].tolist()
            return dict(zip(self.names, shares, strict=True))

    def _shares(self, x: Any, priors: Priors, class_weight: Priors | None) -> FloatArray:
        """P(class | row) of every class, NaN where all are impossible; where kernels know all of it, in one call."""
        is_plain = self.calibration is None and not self.declares and not isinstance(x, str)
        if is_plain and priors == "empirical" and class_weight is None:
            row, layout = self._read(x)
            if layout.sums is not None and not layout.others:
                numbers = layout.numbers(row)
                return layout.sums.shares(layout.places, numbers, self.order, self.counts, self.rows)
        return shares_of_scores(self._joint(x, priors, class_weight), self.order)

    def best(self, x: Any, priors: Priors, class_weight: Priors | None) -> Any:
        """The most probable class: the first of ties, the prior's where all are impossible, None if there is none."""
        with self.events:
            if not self.classes:
                return None
            self._refresh()
            joint = self._joint(x, priors, class_weight)[self.order]
            index = int(joint.argmax())
            if not joint[index] > -math.inf:
                found = np.zeros(1, dtype=np.int64)
                argmax_rows(joint[None, :], int(self._log_prior(priors, class_weight).argmax()), found)
                index = int(found[0])
            return self.names[index]

    def _with_expected(self, left: Tally) -> Tally:
        """The rows of each class that blocks count: labelled ones that are left, and those expected beside them."""
        if self.expected_of is None or self.expected_of.expected is None:
            return left
        counts = only_classes(self.expected_of.expected.summary, tuple(self.index_of))
        positions = np.array([self.index_of[key] for key in counts.classes], dtype=np.int64)
        return left + counts.weighed.spread(positions, self.width)

    def freeze(self) -> TrainedModel:
        """All of it as it stands; learning goes on in place."""
        with self.events:
            if self.frozen is None:
                self.frozen = self._unread() if self.open is None else reread(self._unread())
            return self.frozen

    def _unread(self) -> TrainedModel:
        """All of it, with the families that the stream answers by."""
        return replace(self._unread_rows(), ledger=self._ledger())

    @property
    def _schema(self) -> Schema:
        """The families that the stream answers by."""
        return Schema(tuple(self.choices), self.pairs)

    def _blocks(self) -> tuple[Block, ...]:
        return tuple(Block(family, tuple(block.columns)) for family, block in self.live_blocks.items())

    def _summary(self, schema: Schema) -> Summary:
        keys = tuple(sorted(self.index_of))
        order = np.array([self.index_of[key] for key in keys], dtype=np.int64)
        statistics = tuple(self._remembered(block).only(order) for block in schema.memory_blocks)
        units, bits = coarsest(self.counts[order], self.bits)
        declared = self.learned.summary.declared
        summary = Summary(schema.memory_blocks, keys, units, statistics, declared, bits)
        if self.expected_of is not None and self.expected_of.expected is not None:
            live = [block for block in schema.memory_blocks if block.family in self.live_blocks]
            summary = self.expected_of.expected.taken_from(summary, live)
        return summary.canonical()

    def _remembered(self, block: Block) -> Any:
        """What is remembered of a block, classes as in the stream; a live block may also speak for open columns."""
        if self.open is not None and block.family == self.open.family:
            return self.open.freeze(self.width)
        live = (self.live_blocks | self.kept_blocks)[block.family]
        if tuple(live.columns) == block.columns:
            return live.freeze()
        return live.freeze().narrowed(live.columns, block.columns)

    def _ledger(self) -> Ledger | None:
        if self.noted is None:
            return None
        units = np.array([*self.noted.values()], dtype=np.int64)
        return Ledger.of(np.array([*self.noted], HASH), units, self.one_noted.bit_length() - 1)

    def _joint(self, x: Any, priors: Priors, class_weight: Priors | None) -> FloatArray:
        """Prior and what every block says of a row, as score[class], calibrated; classes without rows do not count."""
        row, layout = self._read(x)
        if isinstance(x, str) and not self.texts:
            raise ColumnRefused(
                "This model has no column 'text'.",
                advice=("Give the row as ", PythonCode("{column: value}"), "."),
                where=Location(column="text"),
            )
        joint = self._start(priors, class_weight)
        if self.calibration is not None:
            bias = self._in_places(self.calibration.biases(self.classes))
            return reported_scores(joint[None], bias, self.calibration, self._evidence(row, layout))[0]
        for block, columns in layout.others:
            block.score(row_cells(row, columns), self.order, joint)
        if layout.sums is not None:
            layout.sums.judge(layout.places, layout.numbers(row), self.order, joint)
        return joint

    @property
    def calibration(self) -> Calibration | None:
        """What `fit` found, which learning more does not change."""
        return self.learned.tuning.calibration

    def _evidence(self, row: Mapping[str, Any], layout: Layout) -> Iterator[BlockEvidence]:
        """What every block says of a row, and of how much of it."""
        for block, cells in layout.cells(row):
            score = np.zeros((1, self.width))
            length = block.score(cells, self.order, score[0])
            yield BlockEvidence(Block(block.family, tuple(block.columns)).key, score, np.array([length]))
        for reading, parameters in self._layer():
            values = reading.family.view_of_row(row, reading.columns)  # type: ignore[attr-defined]
            added = np.zeros((1, len(self.classes)))
            reading.family.score(parameters, values, added)
            yield BlockEvidence(reading.key, self._in_places(added[0])[None], None)

    def _layer(self) -> tuple[LayerBlock, ...]:
        """What a linear layer that was fitted before adds to the classes there are; made anew where these change."""
        layer, classes = self.learned.tuning.layer, tuple(self.classes)
        if layer is None:
            return ()
        if self.layered[:2] != (id(layer), classes):
            self.layered = id(layer), classes, layer.blocks(self._blocks(), classes)
        return self.layered[2]

    def _start(self, priors: Priors, class_weight: Priors | None) -> FloatArray:
        """What the prior adds to each class."""
        if not self.has_prior and self.calibration is None:
            if priors != "empirical" or class_weight is not None:
                raise OptionRefused("'complement' is a score, not a likelihood: priors and weights do nothing to it.")
            return np.zeros(self.width)
        return self._in_places(self._log_prior(priors, class_weight))

    def _in_places(self, by_class: FloatArray) -> FloatArray:
        """One number a class, where the class is in this stream."""
        if self.in_order:
            return by_class
        placed = np.zeros(self.width)
        placed[self.order] = by_class
        return placed

    def _log_prior(self, priors: Priors, class_weight: Priors | None) -> FloatArray:
        if priors == "empirical" and class_weight is None and not self.declares:
            return log_shares_of(self.counts, self.order, math.log(self.rows))
        counted = Summary((), self.classes, self.counts[self.order], (), bits=self.bits)
        return log_priors(counted, priors, class_weight)

    def _read(self, x: Any) -> tuple[Mapping[str, Any], Layout]:
        """A row, and where blocks find its columns: where rows have had the same, they need no second look."""
        layout = self.layouts.get(tuple(x)) if type(x) is dict else None
        if layout is not None:
            return x, layout
        row = row_of(x, self.texts)
        return row, self._layout(row)

    def _layout(self, row: Mapping[str, Any]) -> Layout:
        """Where blocks find their columns in rows that have those of this one."""
        names = tuple(row)
        layout = self.layouts.get(names)
        if layout is None:
            if len(self.layouts) >= MOST_LAYOUTS:
                self.layouts.clear()
            layout = self.layouts[names] = self._layout_of(names)
        return layout

    def _layout_of(self, names: Iterable[str]) -> Layout:
        columns: dict[Live, list[tuple[int, str]]] = {block: [] for block in self.missing_readers}
        for name in names:
            for block, index in self.columns.get(name, []):
                columns.setdefault(block, []).append((index, name))
        blocks = [(block, sorted(columns[block])) for block in self.live_blocks.values() if block in columns]
        join(self.together)
        joined = [(block, index, name) for block in self.together for index, name in sorted(columns.get(block, []))]
        return Layout(
            [name for _, _, name in joined],
            np.array([block.places[index] for block, index, _ in joined], np.int64),
            joined[0][0].builder if joined else None,
            [(block, some) for block, some in blocks if block not in self.together],
            blocks,
            [name for name in names if name not in self.columns],
            self.open is not None and {*self.open.columns}.issuperset(names),
        )

    def _label(self, y: Any) -> Key:
        plain = ("text", y) if type(y) is str else ("number", y) if type(y) is int else None
        if plain is not None and plain in self.index_of:
            return plain
        key = labels_of([y]).keys[0]
        kinds = sorted({kind for kind, _ in (*self.index_of, key)})
        if len(kinds) > 1:
            raise LabelsRefused(f"Labels mix {' and '.join(kinds)}.", advice="Make them all of one type.")
        return key

    def _can_choose(self, name: str, value: Any) -> bool:
        """Whether a family can be had for a new column: a missing value says nothing, so its column can wait."""
        families = self.learned.options.families
        given = families.get(name, "auto") if isinstance(families, Mapping) else families
        return given != "auto" or not is_missing(value)

    def _class_index(self, key: Key) -> int:
        """The number of a class here, a new one being given that of one that is gone, or the next."""
        if key not in self.index_of and self.free:
            self.index_of[key] = self.free.pop()
        elif key not in self.index_of:
            self.index_of[key] = self.width
            self.width += 1
            if self.width > len(self.counts):
                self.counts = np.pad(self.counts, (0, self.width))
            for block in (*self.live_blocks.values(), *self.kept_blocks.values()):
                block.grow(self.width)
        return self.index_of[key]

    def _free(self, key: Key) -> None:
        """Let another class have the number of one without rows: exact sums of nothing are zero."""
        if key not in self.learned.summary.declared:
            self.free.append(self.index_of.pop(key))
        self._list_classes()

    def _give_back(self, changed: Iterable[Live]) -> None:
        """Give back the memory of what was forgotten, once it outweighs what is left."""
        if len(self.free) > len(self.index_of) + FEW_CLASSES:
            self._open(self._unread())
            return
        for block in changed:
            if block.is_sparse():
                block.compact()

    def _list_classes(self) -> None:
        """Which classes there are: those with rows and those declared, sorted."""
        declared = self.learned.summary.declared
        self.classes = tuple(sorted(k for k, index in self.index_of.items() if self.counts[index] or k in declared))
        self.names = [value for _, value in self.classes]
        self.order = np.array([self.index_of[key] for key in self.classes], dtype=np.int64)
        self.in_order = self.order.tolist() == list(range(self.width))
        for block in self.live_blocks.values():
            block.parameters = None

    def _note_families(self) -> None:
        """What the choice of families decides for all rows."""
        self.texts = [choice.column for choice in self.choices if choice.family and choice.family.reads == TEXT]
        self.missing_readers = [block for block in self.live_blocks.values() if block.reads_missing]
        waiting = set() if self.open is None else {*self.open.columns}
        live = self.live_blocks.values()
        answering = [block for block in live if block.family in self.pairs or not waiting.issuperset(block.columns)]
        self.at_once: set[Live] = {*answering, *self.kept_blocks.values()}
        densities = [block for block in self.live_blocks.values() if isinstance(block, LiveDensity)]
        self.together = [block for block in densities if block.is_compiled and block not in self.at_once]
        self.layouts: dict[tuple[str, ...], Layout] = {}
        self.has_prior = not self.live_blocks or any(family.is_likelihood for family in self.live_blocks)

    def _widen(self, choices: list[Choice], row: Mapping[str, Any]) -> None:
        """Take in new columns, once it is known that their families take the row."""
        fresh: dict[AnyFamily, list[str]] = {}
        for choice in choices:
            if choice.family is not None:
                fresh.setdefault(choice.family, []).append(choice.column)
        for family, names in fresh.items():
            self._empty(family, names).read([(index, name, row[name]) for index, name in enumerate(names)])
        self._remember([choice for choice in choices if choice.remembered is not None])
        for family, names in fresh.items():
            if family in self.live_blocks:
                self.live_blocks[family].widen(names)
            else:
                self.live_blocks[family] = self._empty(family, names)
            self._note(self.live_blocks[family], len(names))
        self.choices += choices
        self.columns.update({choice.column: [] for choice in choices if choice.family is None})
        self._note_families()

    def _remember(self, choices: list[Choice]) -> None:
        """Take in new columns that are left open."""
        if not choices:
            return
        names, family = [choice.column for choice in choices], choices[0].remembered
        if self.open is not None:
            self.open.widen(names)
        else:
            assert isinstance(family, Undecided)
            self.open = OpenColumns(family, names, family.builder(tuple(names), self.width).freeze())

    def _narrow(self, gone: set[str]) -> None:
        """Let columns go that no row has a value in."""
        pairs, self.pairs = self.pairs, self._schema.without(gone).pairs
        lost = {*pairs} - {*self.pairs}
        if self.open is not None:
            self.open.narrow([name for name in self.open.columns if name not in gone])
            self.open = self.open if self.open.columns else None
        for blocks in (self.live_blocks, self.kept_blocks):
            for family, block in list(blocks.items()):
                kept = [name for name in block.columns if name not in gone]
                if not kept or family in lost:
                    del blocks[family]
                elif len(kept) < len(block.columns):
                    block.narrow(kept)
        self.choices = [choice for choice in self.choices if choice.column not in gone]
        self.columns = {choice.column: [] for choice in self.choices}
        for block in self.live_blocks.values():
            self._note(block, len(block.columns))
        self._note_families()

    def _empty(self, family: AnyFamily, names: list[str]) -> Live:
        return self.live(family, names, family.builder(tuple(names), self.width).freeze())

    def _note(self, block: Live, new: int) -> None:
        """Remember where the block's newest columns are."""
        first = len(block.columns) - new
        for index, name in enumerate(block.columns[first:]):
            self.columns.setdefault(name, []).append((block, first + index))

    def live(self, family: AnyFamily, columns: list[str], seen: Any) -> Live:
        """The block of a stream that suits a family."""
        if not counts_ones(seen):
            return Live(family, columns, seen)
        return LIVE.get((family.statistic, family.live), Live)(family, columns, seen)


def counts_ones(seen: Any) -> bool:
    """Whether all weights in a statistic are whole, and not too large: then they can be looked at one by one."""
    if isinstance(seen, Tally | WordTally):
        return seen.bits == 0
    if isinstance(seen, Sums):
        return seen.weight.low >= 0 and bool((seen.weight.to_float() < HEAVIEST_ENTRY // 2).all())
    return True
