"""Families of counts that share one total: rows as bags of events."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from candide.data.arrays import AnyArray, Counts, FloatArray, IntArray, is_sparse
from candide.data.batch import Batch
from candide.families.base.basis import CountBasis
from candide.families.base.core import Drawn, P
from candide.families.base.counts import (
    add_counts,
    counts_of_rows,
    entries,
    missing_indices,
    read_counts,
    spoken,
    sum_counts,
    view_counts,
)
from candide.families.base.explaining import MISSING, Silence, Term, shown_number
from candide.families.base.family import Family
from candide.families.base.informative import all_pairs, most_telling
from candide.families.base.profile import EVENTS, Profile, information
from candide.families.base.smoothing import log_shares
from candide.families.base.streaming import BY_EVENTS
from candide.families.base.tally_without import as_rows, weights_or_ones
from candide.kernels.leaving import score_own
from candide.statistics.tally import Tally, TallyBuilder

NAMED = 3
"""Up to so many columns are all named."""


@dataclass(frozen=True)
class Events(Family[Tally, TallyBuilder, Counts, P]):
    """The columns of the block are the kinds of event; a missing count is zero.

    A sampled row holds `sampled_events` events: how many there are is not part of the model.
    """

    smoothing: float = 1.0
    sampled_events: int = 100
    statistic = Tally
    is_read_off = False
    live = BY_EVENTS
    shares_total = True
    adds_counts = True
    zero_is_missing = True

    def builder(self, columns: tuple[str, ...], classes: int) -> TallyBuilder:
        return TallyBuilder(range(len(columns)), classes)

    def builder_over(self, seen: Tally) -> TallyBuilder:
        return TallyBuilder.over(seen)

    def read(self, batch: Batch, columns: tuple[str, ...]) -> Counts:
        return read_counts(batch, columns, self.name)

    def view(self, batch: Batch, columns: tuple[str, ...]) -> Counts:
        return view_counts(batch, columns)

    def values_at(self, values: Counts, wanted: slice | IntArray) -> Counts:
        return counts_of_rows(values, wanted)

    def identified(self, batch: Batch, columns: tuple[str, ...]) -> Counts:
        return self.read(batch, columns)

    def learn(self, builder: TallyBuilder, values: Counts, labels: IntArray, weights: AnyArray) -> None:
        numbers = entries(values)
        weights = builder.reserve(values.shape[0], weights, float(np.nanmax(numbers, initial=0.0)))
        sum_counts(values, labels, weights, builder.table)

    @abstractmethod
    def event_weights(self, counts: AnyArray, totals: AnyArray, kinds: int) -> FloatArray:
        """What one event says, for counts[some kinds of event, class], totals[class] of all, and how many those are."""

    def impossible(self, seen: Tally, columns: tuple[str, ...], rows: Tally) -> str:
        return f"counts of {block_name(columns)} without rows" if seen.units[:, rows.units[0] == 0].any() else ""

    def _score_own_left_out(
        self, seen: Tally, values: Counts, labels: IntArray, weights: AnyArray, joint: FloatArray
    ) -> None:
        """Add the log share of each event, in its own class without the row."""
        said, own = np.zeros(joint.shape), np.zeros(len(labels))
        add_counts(values, log_shares(seen.counts, self.smoothing), said)
        each = weights_or_ones(weights, len(labels))
        score_own(*as_rows(values), seen.counts, float(self.smoothing), labels, each, own)
        said[np.arange(len(labels)), labels] = own
        joint += said

    def evidence_length(self, parameters: P | None, values: Counts) -> FloatArray:
        """How many events each row holds."""
        if not is_sparse(values):
            return np.nansum(values, axis=1)
        rows = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
        return np.bincount(rows, np.nan_to_num(values.data), values.shape[0]).astype(np.float64)

    def _counted_terms(
        self, table: FloatArray, values: Counts, columns: tuple[str, ...], counts: AnyArray, free: float, form: str
    ) -> list[Term]:
        """count * table[column] for each column that holds a count, and the counts[column, class] behind it."""
        totals = counts.sum(axis=0)
        found = []
        for index, count in spoken(values):
            basis = CountBasis(counts[index], totals, free, len(counts), "events", count, form)
            found.append(Term(columns[index], shown_number(count), count * table[index], basis))
        return found

    def _events(
        self, table: FloatArray, shares: FloatArray, seen: Tally, columns: tuple[str, ...], prior: FloatArray
    ) -> Profile:
        """One profile for all columns, from what an event says and from its log share in each class."""
        best = most_telling(all_pairs(seen.counts, table), prior, len(columns))
        return Profile(
            block_name(columns),
            EVENTS,
            tuple(columns[index] for index in best.tolist()),
            table[best],
            counts=seen.counts[best],
            information=float(information(shares, prior)),
            vocabulary=len(columns),
        )

    def silent(
        self, parameters: P, values: Counts, row: Batch, columns: tuple[str, ...], seen: Tally
    ) -> list[Silence]:
        return [Silence(columns[index], "", MISSING) for index in missing_indices(values)]

    def _sampled(self, log_shares: FloatArray, label: int, rows: int, rng: np.random.Generator) -> Drawn:
        """Rows of events, each drawn from the shares of a class."""
        shares = np.exp(log_shares[:, label])
        return list(rng.multinomial(self.sampled_events, shares / shares.sum(), rows).T)


def block_name(columns: tuple[str, ...]) -> str:
    """Some columns in few words.

    >>> block_name(("hens", "eggs")), block_name(("x0", "x1", "x2", "x3"))
    ('hens, eggs', 'x0, x1, ..., x3')
    """
    return ", ".join(columns if len(columns) <= NAMED else (*columns[: NAMED - 1], "...", columns[-1]))
