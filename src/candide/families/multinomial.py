"""Counts that share one total: how often each word, product or event occurred in a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from candide.data.arrays import AnyArray, Counts, FloatArray, IntArray, is_sparse
from candide.data.batch import Batch
from candide.families.base.basis import SHARE, CountBasis
from candide.families.base.counts import (
    add_counts,
    entries,
    missing_places,
    read_counts,
    spoken,
    sum_counts,
    view_counts,
)
from candide.families.base.family import MISSING, Family, Silence, Term, shown_number
from candide.families.base.informative import all_pairs, most_telling
from candide.families.base.profile import EVENTS, Profile, information
from candide.families.base.smoothing import log_shares
from candide.families.base.streaming import BY_EVENTS
from candide.families.base.tally_without import as_rows, loads
from candide.kernels.leaving import score_own
from candide.statistics.tally import Tally, TallyBuilder

NAMED = 3
"""Up to so many columns are all named."""


@dataclass(frozen=True)
class Multinomial(Family):
    """A row is a bag of events, each drawn from its class's shares (count + smoothing) / (all + smoothing * V).

    The columns of the block are the V kinds of event; a missing count is zero. The factor that counts orderings is
    the same for every class and left out: this is the likelihood of the events one by one.

    A sampled row holds `sampled_events` events: how many there are is not part of the model.
    """

    smoothing: float = 1.0
    sampled_events: int = 100
    statistic = Tally
    rank = 130
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

    def learn(self, builder: TallyBuilder, values: Counts, labels: IntArray, weights: AnyArray) -> None:
        numbers = entries(values)
        weights = builder.reserve(values.shape[0], weights, float(np.nanmax(numbers, initial=0.0)))
        sum_counts(values, labels, weights, builder.table)

    def impossible(self, seen: Tally, columns: tuple[str, ...], rows: Tally) -> str:
        return f"counts of {block_name(columns)} without rows" if seen.units[:, rows.units[0] == 0].any() else ""

    def fit(self, seen: Tally, columns: tuple[str, ...]) -> Any:
        return log_shares(seen.counts, self.smoothing)

    def score(self, parameters: Any, values: Counts, joint: FloatArray) -> None:
        add_counts(values, parameters, joint)

    def score_without(
        self,
        seen: Tally,
        batch: Batch,
        columns: tuple[str, ...],
        labels: IntArray,
        weights: AnyArray,
        joint: FloatArray,
    ) -> None:
        values = self.view(batch, columns)
        said, own = np.zeros(joint.shape), np.zeros(len(labels))
        add_counts(values, log_shares(seen.counts, self.smoothing), said)
        score_own(*as_rows(values), seen.counts, float(self.smoothing), labels, loads(weights, len(labels)), own)
        said[np.arange(len(labels)), labels] = own
        joint += said

    def evidence_length(self, parameters: Any, values: Counts) -> FloatArray:
        """How many events each row holds."""
        if not is_sparse(values):
            return np.nansum(values, axis=1)
        rows = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
        return np.bincount(rows, np.nan_to_num(values.data), values.shape[0]).astype(np.float64)

    def terms(
        self, parameters: Any, values: Counts, columns: tuple[str, ...], seen: Tally | None = None
    ) -> list[Term]:
        counts = None if seen is None else seen.counts
        return self._counted_terms(parameters, values, columns, counts, float(self.smoothing), SHARE)

    def _counted_terms(
        self, table: FloatArray, values: Counts, columns: tuple[str, ...], counts: Any, free: float, form: str
    ) -> list[Term]:
        """count * table[column] for each column that holds a count, and the counts[column, class] behind it."""
        totals = None if counts is None else counts.sum(axis=0)
        found = []
        for place, count in spoken(values):
            basis = None
            if totals is not None:
                basis = CountBasis(counts[place], totals, free, len(counts), "events", count, form)
            found.append(Term(columns[place], shown_number(count), count * table[place], basis))
        return found

    def profiles(self, parameters: Any, seen: Tally, columns: tuple[str, ...], prior: FloatArray) -> list[Profile]:
        return [self._events(parameters, parameters, seen, columns, prior)]

    def _events(
        self, table: FloatArray, shares: FloatArray, seen: Tally, columns: tuple[str, ...], prior: FloatArray
    ) -> Profile:
        """One profile for all columns, from what an event says and from its log share in each class."""
        best = most_telling(all_pairs(seen.counts, table), prior, len(columns))
        return Profile(
            block_name(columns),
            EVENTS,
            tuple(columns[place] for place in best.tolist()),
            table[best],
            counts=seen.counts[best],
            information=float(information(shares, prior)),
            vocabulary=len(columns),
        )

    def silent(
        self, parameters: Any, values: Counts, row: Batch, columns: tuple[str, ...], seen: Tally | None = None
    ) -> list[Silence]:
        return [Silence(columns[place], "", MISSING) for place in missing_places(values)]

    def sample(
        self, parameters: Any, label: int, rows: int, rng: np.random.Generator
    ) -> list[AnyArray | list[Any]]:
        shares = np.exp(parameters[:, label])
        return list(rng.multinomial(self.sampled_events, shares / shares.sum(), rows).T)


def block_name(columns: tuple[str, ...]) -> str:
    """Some columns in few words.

    >>> block_name(("hens", "eggs")), block_name(("x0", "x1", "x2", "x3"))
    ('hens, eggs', 'x0, x1, ..., x3')
    """
    return ", ".join(columns if len(columns) <= NAMED else (*columns[: NAMED - 1], "...", columns[-1]))
