"""Columns that mean something together: a ticket's class and a sex, a width and a height; or three of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from candide.data.advice import NamedOption
from candide.data.arrays import AnyArray, BoolArray, FloatArray, IntArray
from candide.data.batch import Batch
from candide.data.errors import OptionRefused
from candide.families.base.basis import CountBasis
from candide.families.base.competing import CATEGORY
from candide.families.base.core import Drawn
from candide.families.base.explaining import Silence, Term, cell_shown
from candide.families.base.family import Family
from candide.families.base.leave_one_out import BlockLeftOut, BySubtracting
from candide.families.base.profile import Profile
from candide.families.base.streaming import BY_PAIRS
from candide.families.base.tally_without import weights_or_ones
from candide.families.pairs.column_bins import ColumnBins
from candide.families.pairs.pair_look import PairLook
from candide.kernels.counting import count_codes
from candide.kernels.pair_terms import (
    PairCounts,
    add_pair_terms_without,
    believe,
    fill_pair_table,
    pair_counts,
    rows_beside,
)
from candide.kernels.scoring import add_lookup
from candide.statistics.tally import Tally, TallyBuilder, outnumber

NO_BINS = ColumnBins("")


@dataclass(frozen=True)
class Pair(Family[Tally, TallyBuilder, IntArray, FloatArray]):
    """What two columns say beyond their parts, log P(a, b | class) - log P(a | class) - log P(b | class).

    Each column has a few bins, and rows are counted by the cell of both. `smoothing` rows are added to those counted in
    a cell and to those that independent columns would have there, so that what few rows show is believed a little: no
    rows say nothing, and neither do a cell that was never seen, a missing value and one that has no bin. It is
    evidence beside that of the columns themselves, no likelihood of theirs.

    Where a table follows a rule, a pair says more than its shares do: it is believed `strength` times, but no cell
    beyond what its rows support.

    Where a pair has earned it a third column may join: then a and b stand for the two together, and for the third.
    """

    smoothing: float = 0.5
    strength: float = field(default=1.0, kw_only=True)
    first: ColumnBins = field(default=NO_BINS, kw_only=True)
    second: ColumnBins = field(default=NO_BINS, kw_only=True)
    third: ColumnBins = field(default=NO_BINS, kw_only=True)
    missing_is_value: bool = field(default=False, kw_only=True)
    statistic = Tally
    reads = CATEGORY
    is_joint = True
    is_read_off = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.smoothing > 0:
            raise OptionRefused(NamedOption("smoothing"), " of a pair must be above 0.", expected="a number above 0")
        if not 0 <= self.strength < np.inf:
            raise OptionRefused("A pair cannot be believed less than not at all.", expected="a strength from 0 up")

    def describe(self) -> dict[str, Any]:
        named = zip(("first", "second", "third"), self.parts, strict=False)
        return {**super().describe(), **{name: part.describe() for name, part in named}}

    @property
    def parts(self) -> tuple[ColumnBins, ...]:
        """The bins of each column, two or three."""
        return (self.first, self.second, self.third) if self.third.bins else (self.first, self.second)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(part.column for part in self.parts)

    @property
    def is_likelihood(self) -> bool:
        return False

    @property
    def is_auxiliary(self) -> bool:
        return True

    @property
    def aspect(self) -> str:
        return f"with {' and '.join(self.columns[1:])}"

    @property
    def live(self) -> str:
        return BY_PAIRS

    @property
    def cells(self) -> int:
        """How many cells rows are counted by."""
        return math.prod(self.bins)

    @property
    def bins(self) -> tuple[int, ...]:
        """How many bins each column has."""
        return tuple(part.bins for part in self.parts)

    @property
    def counted_as(self) -> Self:
        return replace(self, strength=1.0)

    def builder(self, columns: tuple[str, ...], classes: int) -> TallyBuilder:
        return TallyBuilder(range(self.cells), classes)

    def builder_over(self, seen: Tally) -> TallyBuilder:
        return TallyBuilder.over(seen)

    def read(self, batch: Batch, columns: tuple[str, ...]) -> IntArray:
        return crossed_cells([part.of_rows(batch, self.missing_is_value) for part in self.parts], self.bins)

    view = read

    def values_at(self, values: IntArray, wanted: slice | IntArray) -> IntArray:
        return values[wanted]

    def learn(self, builder: TallyBuilder, values: IntArray, labels: IntArray, weights: AnyArray) -> None:
        count_codes(values, labels, builder.reserve(len(values), weights), builder.table)

    def counted(self, seen: Tally) -> PairCounts:
        """The counts as the kernels take them."""
        return pair_counts(seen.counts.astype(np.float64), self.bins[-1], float(self.smoothing))

    def fit(self, seen: Tally, columns: tuple[str, ...]) -> FloatArray:
        table, counts = np.empty(seen.units.shape), self.counted(seen)
        fill_pair_table(counts, table, 0.0)
        believe(table, counts.cells.sum(axis=1), float(self.strength))
        return table

    def score(self, parameters: FloatArray, values: IntArray, joint: FloatArray) -> None:
        add_lookup(values, parameters, joint)

    def log_likelihood(self, parameters: FloatArray, values: IntArray, joint: FloatArray) -> None:
        """Nothing: how likely the values are is told by the families of the columns."""

    def evidence_length(self, parameters: FloatArray | None, values: IntArray) -> FloatArray:
        return (values >= 0).astype(np.float64)

    def leave_one_out(self, seen: Tally, columns: tuple[str, ...]) -> BlockLeftOut:
        return BySubtracting(self, seen, columns, likelihood_without=no_likelihood)

    def score_without(
        self,
        seen: Tally,
        values: IntArray,
        columns: tuple[str, ...],
        labels: IntArray,
        weights: AnyArray,
        joint: FloatArray,
    ) -> None:
        counts, row_weights = self.counted(seen), weights_or_ones(weights, len(labels)).astype(np.float64)
        terms, rows = np.zeros_like(joint), rows_beside(counts, values, row_weights)
        add_pair_terms_without(counts, values, labels, row_weights, terms)
        believe(terms, rows, float(self.strength))
        joint += terms

    def terms(
        self, parameters: FloatArray, values: IntArray, row: Batch, columns: tuple[str, ...], seen: Tally
    ) -> list[Term]:
        if values[0] < 0 or not parameters[values[0]].any():
            return []
        places = map(int, np.unravel_index(int(values[0]), self.bins))
        shown_values = " and ".join(cell_shown(row, name) or "missing" for name in self.columns)
        named = (f"{part.column} {part.shown(place)}" for part, place in zip(self.parts, places, strict=True))
        totals = seen.counts.sum(axis=0)
        basis = CountBasis(seen.counts[values[0]], totals, self.smoothing, self.cells, note=" and ".join(named))
        return [Term(" and ".join(self.columns), shown_values, parameters[values[0]], basis)]

    def silent(
        self, parameters: FloatArray, values: IntArray, row: Batch, columns: tuple[str, ...], seen: Tally
    ) -> list[Silence]:
        """Nothing: the columns themselves tell what is missing of them."""
        return []

    def held(self, seen: Tally, columns: tuple[str, ...]) -> BoolArray:
        """None: the columns themselves tell what is held of them."""
        return np.zeros(len(columns), dtype=bool)

    def impossible(self, seen: Tally, columns: tuple[str, ...], rows: Tally) -> str:
        if outnumber(seen, slice(None), rows):
            return f"more values of {' and '.join(map(repr, self.columns))} than rows"
        return ""

    def memory(self, columns: int, classes: int) -> int:
        return 8 * self.cells * classes

    def profiles(
        self, parameters: FloatArray, seen: Tally, columns: tuple[str, ...], prior: FloatArray
    ) -> list[Profile]:
        """None: a pair is no feature along which values lie."""
        return []

    def look(self, parameters: FloatArray, seen: Tally, factor: float) -> PairLook:
        """What the pair looks like, where calibration multiplies it so."""
        shape = *self.bins, seen.classes
        return PairLook(self.parts, parameters.reshape(shape), seen.counts.reshape(shape), factor)

    def sample(self, parameters: FloatArray, label: int, rows: int, rng: np.random.Generator) -> Drawn:
        raise NotImplementedError("columns are drawn by their own families")


def crossed_cells(codes: Sequence[AnyArray], bins: Sequence[int]) -> IntArray:
    """The cell of each row by the bins of its columns, which have so many; -1 where one is missing.

    >>> crossed_cells([np.array([0, 1, 1]), np.array([2, 0, -1])], [2, 3])
    array([ 2,  3, -1])
    """
    cells: IntArray = codes[0].astype(np.int64)
    for more, width in zip(codes[1:], bins[1:], strict=True):
        cells = np.where((cells < 0) | (more < 0), -1, cells * width + more)
    return cells


def no_likelihood(*_: Any) -> None:
    """A pair adds nothing to the likelihood of values."""
