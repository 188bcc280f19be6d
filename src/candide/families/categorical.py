"""One of several values: a colour, a country, a ticket class."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from candide.data.advice import NamedOption, SetOption
from candide.data.arrays import AnyArray, BoolArray, Counts, FloatArray, IntArray
from candide.data.batch import Batch
from candide.data.errors import OptionRefused
from candide.data.values import Coded, Key, key_of, shown
from candide.families.base.alike_rows import AlikeRows, AlikeScores, FoldScores
from candide.families.base.basis import CountBasis
from candide.families.base.block_scores import BlockScores
from candide.families.base.competing import CATEGORY, MANY_VALUES, NUMBER, ColumnLook
from candide.families.base.core import Drawn
from candide.families.base.explaining import MISSING, UNSEEN, Silence, Term
from candide.families.base.family import AnyFamily, Family
from candide.families.base.identity import MISSING_VALUE, CodedColumns
from candide.families.base.leave_one_out import BlockLeftOut, BySubtracting
from candide.families.base.merged import group_numbers, log_merged, log_merged_without, summed
from candide.families.base.profile import VALUES, Profile, information
from candide.families.base.smoothing import log_share, log_shares
from candide.families.base.streaming import BY_VALUES
from candide.families.base.tally_without import SlotRows, weights_or_ones
from candide.kernels.counting import count_codes
from candide.kernels.merging import log_shares_of_parts
from candide.kernels.scoring import add_lookup
from candide.statistics.column_memory import ColumnMemory
from candide.statistics.tally import Tally, TallyBuilder, outnumber
from candide.statistics.weight_grid import in_finer_units

if TYPE_CHECKING:
    from candide.families.words.options import TextOptions

Slot = tuple[str, str, Any]


@dataclass(frozen=True)
class Values:
    """The values one column has shown, log P(value | class) as table[value, class], and log P of a value never seen."""

    keys: tuple[Key, ...]
    table: FloatArray
    log_unseen: float = 0.0


@dataclass(frozen=True)
class Categorical(Family[Tally, TallyBuilder, CodedColumns, dict[str, Values]]):
    """Each value of a column has its own share in each class: (count + smoothing) / (rows + smoothing * values).

    A value never seen is no evidence. Missing is no evidence either, unless `missing_is_value`.

    Where values are many and rows few, `grouped` lets like values share their evidence: MODL merges them at fit time,
    P(value | class) = P(group | class) * share of the value in its group, and smoothing is for each group. `groups`
    holds the groups fixed, each a tuple of (column, kind, value); a value in none of them is a group of its own.
    """

    smoothing: float = 1.0
    missing_is_value: bool = False
    grouped: bool = False
    groups: tuple[tuple[Slot, ...], ...] | None = None
    statistic = Tally
    reads = CATEGORY
    rank = 40
    adds_counts = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.groups is None:
            return
        if not self.grouped:
            needed = ("Add ", SetOption("grouped", True), ".")
            raise OptionRefused(NamedOption("groups"), " say which values belong together.", advice=needed)
        object.__setattr__(self, "groups", tuple(tuple(tuple(slot) for slot in group) for group in self.groups))

    @classmethod
    def candidates_for(cls, column: ColumnLook) -> list[AnyFamily]:
        """Numbers that are few enough to be names; and beside categories each by itself, like ones in groups."""
        if column.kind == CATEGORY and isinstance(column.guess, cls):
            return [replace(column.guess, grouped=True)]
        return [cls()] if column.kind == NUMBER and column.distinct <= MANY_VALUES else []

    def asked_for(self, column: str, missing_is_value: bool, recipe: TextOptions | None) -> Self:
        return replace(self, missing_is_value=True) if missing_is_value else self

    @property
    def counted_as(self) -> Self:
        return replace(self, smoothing=Categorical.smoothing, grouped=False, groups=None)

    @property
    def live(self) -> str:
        return "" if self.grouped else BY_VALUES

    @property
    def fades(self) -> bool:
        return not self.grouped

    def describe(self) -> dict[str, Any]:
        if self.groups is None:
            return super().describe()
        return {**super().describe(), "groups": tuple(tuple(map(plain, group)) for group in self.groups)}

    def builder(self, columns: tuple[str, ...], classes: int) -> TallyBuilder:
        return TallyBuilder((), classes)

    def builder_over(self, seen: Tally) -> TallyBuilder:
        return TallyBuilder.over(seen)

    def read(self, batch: Batch, columns: tuple[str, ...]) -> CodedColumns:
        return [(name, self._column(batch, name)) for name in columns]

    view = read

    def values_at(self, values: CodedColumns, wanted: slice | IntArray) -> CodedColumns:
        return [(name, coded[wanted]) for name, coded in values]

    def identified(self, batch: Batch, columns: tuple[str, ...]) -> CodedColumns | Counts:
        return self.read(batch, columns)

    def _column(self, batch: Batch, name: str) -> Coded:
        coded = batch.categories(name)
        if not self.missing_is_value:
            return coded
        keys = (MISSING_VALUE, *coded.keys)
        return Coded(coded.codes + 1, keys)

    def learn(
        self, builder: TallyBuilder, values: CodedColumns, labels: IntArray, weights: AnyArray
    ) -> None:
        for name, coded in values:
            units = builder.reserve(len(coded), weights)
            indices = builder.indices_for([(name, *key) for key in coded.keys])
            count_codes(np.append(indices, -1)[coded.codes], labels, units, builder.table)

    def _of_column(self, seen: ColumnMemory, index: int, column: str) -> Tally:
        """The counts of other values, and of cells, the middle of which stands for their numbers."""
        cells, others = seen.cells[index], seen.values_of(column)
        bits = max(cells.bits, others.bits)
        numbers = [(column, *key) for key in map(key_of, cells.middle.tolist()) if key is not None]
        units = np.concatenate([in_finer_units(cells.units, bits - cells.bits), others.at(bits)])
        slots = [*numbers, *others.open_slots]
        kept = [line for line, slot in enumerate(slots) if self.missing_is_value or slot[1:] != MISSING_VALUE]
        return Tally.of([slots[line] for line in kept], units[kept], bits)

    def held(self, seen: Tally, columns: tuple[str, ...]) -> BoolArray:
        names = {name for name, *key in seen.open_slots if tuple(key) != MISSING_VALUE}
        return np.array([column in names for column in columns])

    def impossible(self, seen: Tally, columns: tuple[str, ...], rows: Tally) -> str:
        for name, indices in by_column(seen, columns).items():
            if outnumber(seen, indices, rows):
                return f"more values of '{name}' than rows"
        return ""

    def fit(self, seen: Tally, columns: tuple[str, ...]) -> dict[str, Values]:
        fitted = {}
        for name, indices in by_column(seen, columns).items():
            keys, counts = tuple(seen.open_slots[index][1:] for index in indices), seen.counts[indices]
            if self.grouped:
                table = log_merged(counts, self._group_numbers(name, keys, counts), self.smoothing)
            else:
                table = log_shares(counts, self.smoothing)
            fitted[name] = Values(keys, table, float(log_unseen(counts.sum(), len(keys))))
        return fitted

    def settled(self, seen: Tally) -> Self:
        if not self.grouped or self.groups is not None:
            return self
        groups: dict[tuple[str, int], list[Slot]] = {}
        columns = tuple(dict.fromkeys(name for name, _, _ in seen.open_slots))
        for name, indices in by_column(seen, columns).items():
            numbers: list[int] = group_numbers(seen.counts[indices]).tolist()
            for index, number in zip(indices, numbers, strict=True):
                groups.setdefault((name, number), []).append(seen.open_slots[index])
        return replace(self, groups=tuple(sorted(map(tuple, groups.values()))))

    @property
    def chooses(self) -> bool:
        return self.grouped and self.groups is None

    def smoothed_counts(self, seen: Tally) -> AnyArray:
        slots = seen.open_slots
        if not slots:
            return seen.counts
        return summed(seen.counts, self._group_numbers(slots[0][0], tuple(slot[1:] for slot in slots), seen.counts))

    def _group_numbers(self, name: str, keys: tuple[Key, ...], counts: AnyArray) -> IntArray:
        """The group of each value, from 0 up."""
        if not self.grouped:
            return np.arange(len(keys))
        if self.groups is None:
            return group_numbers(counts)
        fixed = {slot: number for number, group in enumerate(self.groups) for slot in group}
        found = [fixed.get((name, *key), len(self.groups) + index) for index, key in enumerate(keys)]
        return np.unique(np.array(found, dtype=np.int64), return_inverse=True)[1]

    def score(
        self, parameters: dict[str, Values], values: CodedColumns, joint: FloatArray
    ) -> None:
        for name, coded in values:
            known = {key: index for index, key in enumerate(parameters[name].keys)}
            add_lookup(coded.renumbered(known), parameters[name].table, joint)

    def assess(self, parameters: dict[str, Values], values: CodedColumns, shape: tuple[int, int]) -> BlockScores:
        """A value never seen is no evidence for any class, but it is evidence of strangeness."""
        said, unseen = super().assess(parameters, values, shape), np.zeros(shape[0])
        for name, coded in values:
            known = coded.renumbered(dict.fromkeys(parameters[name].keys, 0)) >= 0
            unseen += np.where((coded.codes >= 0) & ~known, parameters[name].log_unseen, 0.0)
        return replace(said, unseen=unseen)

    def leave_one_out(self, seen: Tally, columns: tuple[str, ...]) -> BlockLeftOut:
        return BySubtracting(self, seen, columns, unseen_without=self.unseen_without)

    def unseen_without(
        self, seen: Tally, values: CodedColumns, columns: tuple[str, ...], labels: IntArray, weights: AnyArray
    ) -> FloatArray:
        """What is added to log P of each row for values that no other row holds."""
        unseen, each, indices = np.zeros(len(labels)), weights_or_ones(weights, len(labels)), by_column(seen, columns)
        for name, coded in values:
            counts = seen.counts[indices[name]]
            slots = {seen.open_slots[index][1:]: slot for slot, index in enumerate(indices[name])}
            left = np.append(counts.sum(axis=1), 0)[coded.renumbered(slots)] - each
            alone = (coded.codes >= 0) & (left <= 0)
            unseen += np.where(alone, log_unseen(counts.sum() - each, len(slots) - 1), 0.0)
        return unseen

    def score_without(
        self,
        seen: Tally,
        values: CodedColumns,
        columns: tuple[str, ...],
        labels: IntArray,
        weights: AnyArray,
        joint: FloatArray,
    ) -> None:
        indices = by_column(seen, columns)
        for name, coded in values:
            keys, counts = tuple(seen.open_slots[index][1:] for index in indices[name]), seen.counts[indices[name]]
            codes = coded.renumbered({key: index for index, key in enumerate(keys)})
            numbers = self._group_numbers(name, keys, counts)
            out, which = SlotRows.of(codes, labels, weights, seen.classes)
            add_lookup(which, log_merged_without(counts, numbers, self.smoothing, out), joint)

    def scores_alike(self, rows: AlikeRows) -> AlikeScores | None:
        """From the counts of each line, where lines are what the family tells apart."""
        if self.grouped or not self._tells_lines_apart(rows):
            return None
        known = self._known_lines(rows)
        counts, totals = rows.counts[known], rows.counts[known].sum(axis=0)
        said = np.zeros((rows.values, rows.classes))
        said[known] = np.where(counts.sum(axis=1, keepdims=True) > 1, log_shares(counts, self.smoothing), 0.0)
        with np.errstate(invalid="ignore"):
            own = log_share(rows.weights - 1, totals[rows.labels] - 1, len(known), self.smoothing)
        alone = rows.counts.sum(axis=1)[rows.lines] <= 1
        silent = alone | ~np.isin(rows.lines, known)
        return AlikeScores(said, np.where(silent, 0.0, own), rows.lines)

    def scores_in_folds(self, rows: AlikeRows, held: IntArray) -> FoldScores | None:
        """By the groups alone: how values share one is the same in every class. Values in no other fold are unseen."""
        if not self._tells_lines_apart(rows):
            return None
        known = self._known_lines(rows)
        places = np.full(rows.values, -1)
        places[known] = np.arange(len(known))
        counts = rows.without_folds(held, places, len(known))
        parts, shares = np.full((len(held), rows.values), -1), np.zeros(counts.shape)
        for fold, rest in enumerate(counts):
            there = np.flatnonzero(rest.any(axis=1))
            if len(there):
                parts[fold, known[there]] = group_numbers(rest[there])
                log_shares_of_parts(rest[there], parts[fold, known[there]], self.smoothing, shares[fold])
        return FoldScores(parts, shares)

    def _tells_lines_apart(self, rows: AlikeRows) -> bool:
        """Whether lines of rows alike are the values themselves, being missing at most one of them."""
        return type(self).view is Categorical.view and (None not in rows.others or not rows.counts[-1].any())

    def _known_lines(self, rows: AlikeRows) -> IntArray:
        """The lines that hold a value."""
        is_value = np.ones(rows.values, dtype=bool)
        if not self.missing_is_value:
            is_value[len(rows.numbers) :] = [value is not None for value in (*rows.others, None)]
        return np.flatnonzero(is_value & rows.counts.any(axis=1))

    def evidence_length(self, parameters: dict[str, Values] | None, values: CodedColumns) -> FloatArray:
        """How many columns of each row hold a value that was ever seen, or any where that is not asked."""
        if parameters is None:
            return np.sum([coded.codes >= 0 for _, coded in values], axis=0, dtype=np.float64)
        seen = [coded.renumbered(dict.fromkeys(parameters[name].keys, 0)) >= 0 for name, coded in values]
        return np.sum(seen, axis=0, dtype=np.float64)

    def terms(
        self,
        parameters: dict[str, Values],
        values: CodedColumns,
        row: Batch,
        columns: tuple[str, ...],
        seen: Tally,
    ) -> list[Term]:
        spoken = []
        for name, coded in values:
            key = coded.keys[coded.codes[0]] if coded.codes[0] >= 0 else None
            if key in parameters[name].keys:
                index = parameters[name].keys.index(key)
                basis = self._basis(seen, name, parameters[name].table, index)
                spoken.append(Term(self.feature(name), self.spelled(key), parameters[name].table[index], basis))
        return spoken

    def feature(self, column: str) -> str:
        """What of a column is spoken of."""
        return column

    def spelled(self, key: Key) -> str:
        """A value as it is shown."""
        return said(key)

    def _basis(self, seen: Tally, name: str, table: FloatArray, index: int) -> CountBasis:
        """The counts of a value, or of all values in its group: those whose evidence differs by the same factor."""
        start = bisect_left(seen.open_slots, (name,))
        counts = seen.counts[start : start + len(table)]
        if not self.grouped:
            return CountBasis(counts[index], counts.sum(axis=0), float(self.smoothing), len(table))
        with np.errstate(invalid="ignore"):
            shapes = np.round(table - table.max(axis=1, keepdims=True), 9)
        groups, which = np.unique(shapes, axis=0, return_inverse=True)
        alike = which.ravel() == which.ravel()[index]
        note = "it and its like" if alike.sum() > 1 else ""
        return CountBasis(
            counts[alike].sum(axis=0), counts.sum(axis=0), float(self.smoothing), len(groups), note=note
        )

    def profiles(
        self, parameters: dict[str, Values], seen: Tally, columns: tuple[str, ...], prior: FloatArray
    ) -> list[Profile]:
        found = []
        for name, indices in by_column(seen, columns).items():
            table, names = parameters[name].table, tuple(map(self.spelled, parameters[name].keys))
            told = float(information(table, prior))
            found.append(Profile(name, VALUES, names, table, counts=seen.counts[indices], information=told))
        return found

    def silent(
        self,
        parameters: dict[str, Values],
        values: CodedColumns,
        row: Batch,
        columns: tuple[str, ...],
        seen: Tally,
    ) -> list[Silence]:
        found = []
        for name, coded in values:
            if coded.codes[0] < 0:
                found.append(Silence(name, "", MISSING))
            elif (key := coded.keys[coded.codes[0]]) not in parameters[name].keys:
                unseen = Silence(self.feature(name), self.spelled(key), UNSEEN)
                found.append(Silence(name, "", MISSING) if key == MISSING_VALUE else unseen)
        return found

    def sample(self, parameters: dict[str, Values], label: int, rows: int, rng: np.random.Generator) -> Drawn:
        drawn: Drawn = []
        for column in parameters.values():
            values = [None if key == MISSING_VALUE else key[1] for key in column.keys]
            if not values:
                drawn.append([None] * rows)
                continue
            picked = rng.choice(len(values), rows, p=np.exp(column.table[:, label]))
            drawn.append([values[index] for index in picked])
        return drawn


def log_unseen(rows: AnyArray | float, values: int) -> FloatArray:
    """log P of a value never seen, beside so many rows of so many values: as likely as one seen once would be."""
    return -np.log(np.maximum(np.asarray(rows, dtype=np.float64) + values, 1.0))


def said(key: Key) -> str:
    """A value as it is shown, also where being missing is one."""
    return "(missing)" if key == MISSING_VALUE else shown(key)


def by_column(seen: Tally, columns: tuple[str, ...]) -> dict[str, list[int]]:
    """Where the values of each column are among the slots."""
    indices: dict[str, list[int]] = {name: [] for name in columns}
    for index, (name, _, _) in enumerate(seen.open_slots):
        indices[name].append(index)
    return indices


def plain(slot: Slot) -> Slot:
    """A slot that JSON can write: bytes as hexadecimal digits."""
    column, kind, value = slot
    return column, kind, value.hex() if isinstance(value, bytes) else value
