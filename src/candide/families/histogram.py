"""Numbers without a bell curve: intervals of the line, each as likely as its rows say."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np

from candide.data.advice import PythonCode
from candide.data.arrays import AnyArray, BoolArray, FloatArray, IntArray
from candide.data.batch import Batch
from candide.data.cached import cached_property
from candide.data.errors import Location, OptionRefused
from candide.families.base.alike_rows import AlikeRows, FoldScores
from candide.families.base.basis import CountBasis, interval_named
from candide.families.base.competing import ColumnLook
from candide.families.base.core import Drawn
from candide.families.base.explaining import Term, shown_number
from candide.families.base.family import AnyFamily
from candide.families.base.leave_one_out import BlockLeftOut, BySubtracting
from candide.families.base.merged import (
    interval_starts,
    known_factorials,
    log_merged,
    log_merged_without,
    summed,
)
from candide.families.base.numbers import OfNumbers
from candide.families.base.profile import STEPS as IN_STEPS
from candide.families.base.profile import Profile, information, log_total
from candide.families.base.tally_without import SlotRows, weights_or_ones
from candide.kernels.counting import count_codes
from candide.kernels.histogram_folds import BinShape, score_bins_without_folds
from candide.kernels.merging import bin_numbers, bins_without_folds
from candide.kernels.scoring import add_lookup
from candide.statistics.cells import Cells
from candide.statistics.column_memory import ColumnMemory
from candide.statistics.tally import Tally, TallyBuilder, outnumber

LARGEST = float(np.finfo(np.float64).max)
BINS = 512
POWERS = np.unique(np.concatenate([np.arange(-64, 65), [-960, -480, -240, -120, 120, 240, 480, 960]]))
"""Where no edges are given, the line is cut at these powers of two on both sides of zero."""

STEPS = 2 ** np.arange(12) - 1
"""Beyond the edges, the line is cut as many spans away as these powers of two say."""

PSEUDOCOUNT = 0.5
"""What each bin near the edges counts for free in its interval; farther out it is less, as under a Cauchy curve."""
LEAST_PSEUDOCOUNT = 1e-300

HISTOGRAMS_AT_HAND = 256
"""Of so many histograms the bins are kept at hand."""


@dataclass(frozen=True)
class Steps:
    """Where the second and later intervals begin, and log density as table[bin, class].

    `filled` are the first and the last bin that rows fell into: nothing is drawn beyond them.
    """

    starts: IntArray
    table: FloatArray
    filled: tuple[int, int]


@dataclass(frozen=True)
class Histogram(OfNumbers[Tally, TallyBuilder, Steps]):
    """Numbers of any shape: several humps, gaps, spikes.

    Rows are counted in some hundreds of fine bins, whose `edges` are part of the schema, so that counts add. At fit
    time neighbouring bins are merged into the intervals that tell the classes apart best for what they cost (MODL,
    Boullé 2006), and (count + smoothing) / (rows + smoothing * intervals) is the chance of an interval in a class.
    Within its interval a bin has its share of all classes together, over its width: this is a density, fine where
    rows are many, while only the intervals speak for or against a class.

    `edges` come from `fitted_to` a sample; without them the line is cut at powers of two. `intervals` holds the
    intervals fixed: the bins at which the second and later ones begin. Each column is a block of its own, `column`.

    >>> sizes = Histogram().fitted_to(np.array([1.0, 2.0, 4.0]), "size")
    >>> sizes.edges
    (0.5, 1.5, 3.0, 5.0)
    """

    smoothing: float = 0.5
    edges: tuple[float, ...] = ()
    intervals: tuple[int, ...] | None = None
    statistic = Tally
    rank = 10
    for_whole_tables = True
    adds_counts = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "edges", checked_edges(tuple(self.edges)))
        if self.intervals is not None:
            starts = [0, *map(int, self.intervals), self.bins]
            if any(start >= stop for start, stop in pairwise(starts)):
                expected = f"ascending numbers of bins from 1 to {self.bins - 1}"
                raise OptionRefused.of_option("intervals", expected, self.intervals)
            object.__setattr__(self, "intervals", tuple(starts[1:-1]))

    def fitted_to(self, values: FloatArray, column: str, bins: int = BINS) -> Self:
        """The same family for one column, with edges that suit the finite ones of some values.

        Few different values have a bin each; of more, those in one cell (`candide.statistics.cells`) share a bin, at
        the finest level with no more cells than `bins`.
        """
        if bins < 1:
            said, expected = f"bins must be a whole number from 1 up, not {bins!r}.", "a whole number from 1 up"
            raise OptionRefused(said, where=Location(value=bins), expected=expected)
        numbers = np.where(np.isfinite(values), values, np.nan)
        cells = Cells.of(numbers, np.zeros(len(numbers), np.int64), 1).with_at_most(bins)
        return replace(self, column=column).with_bins_of(cells)

    def with_bins_of(self, cells: Cells) -> Self:
        """The same family with a bin for each cell."""
        return replace(self, edges=tuple(edges_between(cells).tolist()), intervals=None)

    @classmethod
    def candidates_for(cls, column: ColumnLook) -> list[AnyFamily]:
        return [replace(cls(), column=column.name).with_bins_of(column.cells)] if column.has_shape else []

    def suited_to(self, column: Batch) -> Self:
        (name,) = column.names
        return self.fitted_to(column.numbers([name])[:, 0], name)

    def __hash__(self) -> int:
        return hash((self.column, self.smoothing, len(self.edges), self.edges[:2], self.intervals))

    @property
    def counted_as(self) -> Self:
        return replace(super().counted_as, intervals=None)

    @cached_property
    def cuts(self) -> FloatArray:
        """Everywhere the line is cut: the edges, and outwards from them ever farther apart."""
        return bins_between(self.edges).cuts

    @property
    def bins(self) -> int:
        return len(self.cuts) + 1

    def builder(self, columns: tuple[str, ...], classes: int) -> TallyBuilder:
        if len(columns) != 1:
            raise OptionRefused(
                f"A histogram holds one column, but it was given {len(columns)}.",
                advice=("Give each its own: ", PythonCode("Histogram(column='age')"), "."),
                expected="one column",
            )
        return TallyBuilder(range(self.bins), classes)

    def builder_over(self, seen: Tally) -> TallyBuilder:
        return TallyBuilder.over(seen)

    def _bins_of(self, values: FloatArray) -> IntArray:
        return bin_numbers(np.ascontiguousarray(values[:, 0]), self.cuts)

    def learn(self, builder: TallyBuilder, values: FloatArray, labels: IntArray, weights: AnyArray) -> None:
        weights = builder.reserve(len(values), weights)
        count_codes(self._bins_of(values), labels, weights, builder.table)

    def _of_column(self, seen: ColumnMemory, index: int, column: str) -> Tally:
        """The counts of cells, which lie in one bin each."""
        cells = seen.cells[index]
        units = np.zeros((self.bins, seen.classes), np.int64)
        np.add.at(units, bin_numbers(cells.middle, self.cuts), cells.units)
        return Tally.of(range(self.bins), units, cells.bits)

    def held(self, seen: Tally, columns: tuple[str, ...]) -> BoolArray:
        return np.array([seen.counts.any()])

    def impossible(self, seen: Tally, columns: tuple[str, ...], rows: Tally) -> str:
        return f"more values of '{columns[0]}' than rows" if outnumber(seen, slice(None), rows) else ""

    def settled(self, seen: Tally) -> Self:
        return replace(self, intervals=tuple(self._starts(seen).tolist()))

    @property
    def chooses(self) -> bool:
        return self.intervals is None

    def chosen_from(self, rest: Tally, seen: Tally) -> tuple[Self, Tally]:
        """Without the bins that there would not be: of those between the edges, what only others had filled is shared.

        A bin of one's own would make the least and the largest number look as usual as any other.
        """
        inside = self._inside
        kept = np.flatnonzero(rest.units[inside].any(axis=1) | ~seen.units[inside].any(axis=1))
        if not len(kept) or len(kept) == len(self.edges) - 1:
            return self, rest
        edges = np.array(self.edges)
        between = midpoint(edges[kept[:-1] + 1], edges[kept[1:]])
        fewer = replace(self, edges=(edges[kept[0]], *between.tolist(), edges[kept[-1] + 1]))
        filled = np.flatnonzero(rest.units.any(axis=1))
        units = np.zeros((fewer.bins, rest.classes), dtype=rest.units.dtype)
        np.add.at(units, fewer._bins_of(middles(self.cuts)[filled, None]), rest.units[filled])
        return fewer, Tally.of(range(fewer.bins), units, rest.bits)

    def smoothed_counts(self, seen: Tally) -> AnyArray:
        return summed(seen.counts, self._interval_of_bin(self._starts(seen)))

    def _starts(self, seen: Tally) -> IntArray:
        return interval_starts(seen.counts) if self.intervals is None else np.array(self.intervals, dtype=np.int64)

    def _interval_of_bin(self, starts: IntArray) -> IntArray:
        return np.searchsorted(starts, np.arange(self.bins), side="right")

    def fit(self, seen: Tally, columns: tuple[str, ...]) -> Steps:
        starts = self._starts(seen)
        mass = log_merged(seen.counts, self._interval_of_bin(starts), self.smoothing, self._pseudocounts)
        return Steps(starts, mass - self._log_widths[:, None], self._filled(seen))

    def _filled(self, seen: Tally) -> tuple[int, int]:
        """The first and the last bin with rows; those of all edges, or the middle one, where there is no row."""
        filled = np.flatnonzero(seen.counts.any(axis=1))
        if len(filled):
            return int(filled[0]), int(filled[-1])
        inside = np.flatnonzero(np.isin(self.cuts, self.edges))[1:]
        return (int(inside[0]), int(inside[-1])) if len(inside) else (self.bins // 2, self.bins // 2)

    @property
    def _log_widths(self) -> FloatArray:
        return bins_between(self.edges).log_widths

    @property
    def _pseudocounts(self) -> FloatArray:
        return bins_between(self.edges).pseudocounts

    def score(self, parameters: Steps, values: FloatArray, joint: FloatArray) -> None:
        add_lookup(self._bins_of(values), parameters.table, joint)

    def leave_one_out(self, seen: Tally, columns: tuple[str, ...]) -> BlockLeftOut:
        return BySubtracting(self, seen, columns)

    def score_without(
        self,
        seen: Tally,
        values: FloatArray,
        columns: tuple[str, ...],
        labels: IntArray,
        weights: AnyArray,
        joint: FloatArray,
    ) -> None:
        bins = self._bins_of(values)
        out, which = SlotRows.of(bins, labels, weights, seen.classes)
        parts = self._interval_of_bin(self._starts(seen))
        mass = log_merged_without(seen.counts, parts, self.smoothing, out, self._pseudocounts)
        add_lookup(which, mass - self._log_widths[out.slots, None], joint)

    def scores_in_folds(self, rows: AlikeRows, held: IntArray) -> FoldScores:
        """By the intervals alone: how bins share one is the same in every class."""
        bins = np.full(rows.values, -1)
        bins[: len(rows.numbers)] = bin_numbers(rows.numbers, self.cuts)
        counts = rows.without_folds(held, bins, self.bins)
        return FoldScores(*bins_without_folds(counts, bins, self.smoothing, known_factorials()))

    def said_without_folds(
        self, seen: Tally, values: FloatArray, labels: IntArray, weights: AnyArray, folds: IntArray
    ) -> tuple[FloatArray, FloatArray] | None:
        if seen.bits or not seen.exact or (weights.dtype.kind == "f" and weights.size):
            return None
        score, likelihood = np.zeros((len(labels), seen.classes)), np.zeros((len(labels), seen.classes))
        numbers, each = np.ascontiguousarray(values[:, 0]), weights_or_ones(weights, len(labels))
        bins, shape = self._bins_of(values), self._shape
        score_bins_without_folds(
            seen.units, numbers, bins, labels, each, folds, shape, known_factorials(), score, likelihood
        )
        return score, likelihood

    @property
    def _shape(self) -> BinShape:
        inside = self._inside
        widths = self._log_widths, self._pseudocounts
        return BinShape(self.cuts, inside.start, inside.stop, *widths, float(self.smoothing))

    @property
    def _inside(self) -> slice:
        """The bins between the edges."""
        first = int(np.searchsorted(self.cuts, self.edges[0])) + 1 if self.edges else 0
        return slice(first, first + max(len(self.edges) - 1, 0))

    def terms(
        self, parameters: Steps, values: FloatArray, row: Batch, columns: tuple[str, ...], seen: Tally
    ) -> list[Term]:
        index = int(self._bins_of(values)[0])
        if index < 0:
            return []
        basis = self._basis(seen, parameters.starts, index)
        return [Term(columns[0], shown_number(values[0, 0]), parameters.table[index], basis)]

    def _basis(self, seen: Tally, starts: IntArray, index: int) -> CountBasis:
        """What was counted in the interval that the bin belongs to."""
        bounds = [0, *starts.tolist(), self.bins]
        interval = int(np.searchsorted(starts, index, side="right"))
        first, last = bounds[interval], bounds[interval + 1]
        counts = seen.counts[first:last].sum(axis=0)
        ends = np.concatenate([[-np.inf], self.cuts, [np.inf]])
        low, high = float(ends[first]), float(ends[last])
        note, totals = interval_named(low, high, shown_number), seen.counts.sum(axis=0)
        return CountBasis(counts, totals, float(self.smoothing), len(starts) + 1, note=note, interval=(low, high))

    def profiles(
        self, parameters: Steps, seen: Tally, columns: tuple[str, ...], prior: FloatArray
    ) -> list[Profile]:
        """The intervals, with all of their chance: the outermost are drawn no farther than rows were seen."""
        bounds = [0, *parameters.starts.tolist(), self.bins]
        mass = parameters.table + self._log_widths[:, None]
        logs = np.concatenate([log_total(mass[first:last], axis=0) for first, last in pairwise(bounds)])
        ends = self._drawn_ends(seen, parameters.starts)
        with np.errstate(over="ignore"):
            widths = np.minimum(np.diff(ends), LARGEST)
        table = logs - np.log(widths)[:, None]
        counts = np.add.reduceat(seen.counts, bounds[:-1], axis=0)
        told = float(information(logs, prior))
        return [Profile(columns[0], IN_STEPS, ends[:-1], table, widths, counts, told)]

    def _drawn_ends(self, seen: Tally, starts: IntArray) -> FloatArray:
        """Where intervals begin and the last ends; the outermost end where rows do, but hold a bin at least."""
        ends = np.concatenate([[-LARGEST], self.cuts, [LARGEST]])
        filled = np.flatnonzero(seen.counts.any(axis=1)) if seen.counts.any() else np.array([self.bins // 2])
        first, last = min([filled[0], *(starts[:1] - 1)]), max([filled[-1], *starts[-1:]])
        return np.concatenate([[ends[first]], self.cuts[starts - 1], [ends[last + 1]]])

    def sample(self, parameters: Steps, label: int, rows: int, rng: np.random.Generator) -> Drawn:
        first, last = parameters.filled
        chances = np.exp(parameters.table[first : last + 1, label] + self._log_widths[first : last + 1])
        drawn = first + rng.choice(len(chances), rows, p=chances / chances.sum())
        low, high = np.append(-LARGEST, self.cuts), np.append(self.cuts, LARGEST)
        share = rng.random(rows)
        return [(1 - share) * low[drawn] + share * high[drawn]]


class Bins(NamedTuple):
    """Where the line is cut into bins, the logarithm of the width of each, and what each counts for free."""

    cuts: FloatArray
    log_widths: FloatArray
    pseudocounts: FloatArray


@lru_cache(HISTOGRAMS_AT_HAND)
def checked_edges(edges: tuple[float, ...]) -> tuple[float, ...]:
    """The edges as doubles, refused where they are not finite and ascending.

    A family is made anew, with the same edges, whenever an option of it changes.
    """
    numbers = np.array(edges, dtype=np.float64) + 0.0
    if not (np.all(np.abs(numbers) < LARGEST) and np.all(numbers[1:] > numbers[:-1])):
        raise OptionRefused(
            "The edges of a histogram must be finite numbers, each larger than the one before.",
            expected="finite numbers, each larger than the one before",
        )
    return tuple(numbers.tolist())


@lru_cache(HISTOGRAMS_AT_HAND)
def bins_between(edges: tuple[float, ...]) -> Bins:
    """The bins that edges make: all families that share edges share them."""
    cuts = all_cuts(np.array(edges))
    return Bins(cuts, log_widths(cuts), pseudocounts(cuts, *((edges[0], edges[-1]) if edges else (-1.0, 1.0))))


def edges_between(cells: Cells) -> FloatArray:
    """Edges in the middle between neighbouring cells, and as far outside the first and last as inside."""
    if not len(cells):
        return np.zeros(0)
    low, high = ends_of(cells.middle)
    ends = min(low, cells.lowest[0]), max(high, cells.beyond[-1])
    edges = np.concatenate([[ends[0]], midpoint(cells.highest[:-1], cells.lowest[1:]), [ends[1]]])
    return edges[np.abs(edges) < LARGEST]


def midpoint(low: FloatArray, high: FloatArray) -> FloatArray:
    """A number above low and at most high, in the middle if there is one between them."""
    middle = 0.5 * low + 0.5 * high
    return np.where(middle > low, middle, high)


def ends_of(distinct: FloatArray) -> tuple[float, float]:
    """A number at or below ascending values and one above: infinite where the line ends before."""
    gaps = np.diff(0.5 * distinct) if len(distinct) > 1 else [0.5 * abs(distinct[0]) or 0.5]
    with np.errstate(over="ignore"):
        return distinct[0] - gaps[0], max(distinct[-1] + gaps[-1], np.nextafter(distinct[-1], np.inf))


def all_cuts(edges: FloatArray) -> FloatArray:
    """The edges, and beyond both ends cuts that are ever farther away, up to the largest doubles.

    >>> all_cuts(np.array([0.0, 1.0]))[8:17].tolist()
    [-8.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 9.0, 129.0]
    """
    if not len(edges):
        sizes = 2.0**POWERS
        return np.concatenate([-sizes[::-1], sizes])
    with np.errstate(over="ignore"):
        span = edges[-1] - edges[0] or abs(edges[0]) or 1.0
        away = np.ldexp(span, STEPS)
        cuts = np.unique(np.concatenate([edges[0] - away, edges, edges[-1] + away]))
    return cuts[np.abs(cuts) < LARGEST]


def middles(cuts: FloatArray) -> FloatArray:
    """A number in each bin."""
    ends = np.concatenate([[-LARGEST], cuts, [LARGEST]])
    return midpoint(ends[:-1], ends[1:])


def log_widths(cuts: FloatArray) -> FloatArray:
    """The logarithm of each bin's width; the outermost end at the largest doubles."""
    ends = np.concatenate([[-LARGEST], cuts, [LARGEST]])
    with np.errstate(over="ignore", divide="ignore"):
        widths, halves = np.diff(ends), np.diff(0.5 * ends)
        return np.where(np.isfinite(widths), np.log(widths), np.log(halves) + np.log(2.0))


def pseudocounts(cuts: FloatArray, first: float, last: float) -> FloatArray:
    """What each bin counts for free in its interval: the less the farther it lies from the range of the edges."""
    with np.errstate(over="ignore"):
        span = last - first or abs(first) or 1.0
        outside = np.maximum(np.append(0.0, cuts - last), np.append(first - cuts, 0.0))
        return PSEUDOCOUNT * np.maximum(1 / (1 + np.maximum(outside, 0.0) / span), LEAST_PSEUDOCOUNT)
