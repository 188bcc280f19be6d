"""Yes or no: something is there or it is not, and its absence speaks too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from candide.data.arrays import AnyArray, BoolArray, Counts, FloatArray, IntArray, is_sparse
from candide.data.batch import Batch
from candide.families.base.basis import CountBasis
from candide.families.base.competing import TRUTH
from candide.families.base.core import Drawn
from candide.families.base.counts import add_counts, counts_of_rows, entries, inside, missing_indices, row_and_column
from candide.families.base.explaining import MISSING, Silence, Term
from candide.families.base.family import Family
from candide.families.base.leave_one_out import BlockLeftOut, BySubtracting
from candide.families.base.numbers import numbers_there, silent_numbers
from candide.families.base.profile import VALUES, Profile, information
from candide.families.base.smoothing import log_share
from candide.families.base.streaming import BY_TRUTHS
from candide.families.base.support import TRUTHS, refusal
from candide.families.base.tally_without import as_rows, weights_or_ones
from candide.kernels.counting import count_labels, count_sparse_truths, count_truths
from candide.kernels.leaving import truths_own
from candide.kernels.scoring import add_truths
from candide.statistics.tally import Tally, TallyBuilder, outnumber

THRESHOLD = 0.5


@dataclass(frozen=True)
class Chances:
    """log P(no | class) and log P(yes | class), each [column, class]."""

    no: FloatArray
    yes: FloatArray


@dataclass(frozen=True)
class Bernoulli(Family[Tally, TallyBuilder, Counts, Chances]):
    """Truth values, 0 or 1: P(yes) = (yeses + smoothing) / (rows where present + 2 * smoothing).

    The noes are counted, not inferred, so missing values neither help nor hurt, and log P(no) never suffers from
    subtracting a share near one from one.
    """

    smoothing: float = 1.0
    statistic = Tally
    reads = TRUTH
    live = BY_TRUTHS
    adds_counts = True

    def builder(self, columns: tuple[str, ...], classes: int) -> TallyBuilder:
        return TallyBuilder(range(2 * len(columns)), classes)

    def builder_over(self, seen: Tally) -> TallyBuilder:
        return TallyBuilder.over(seen)

    def held(self, seen: Tally, columns: tuple[str, ...]) -> BoolArray:
        return np.asarray(seen.counts.reshape(2, len(columns), -1).any(axis=(0, 2)))

    def read(self, batch: Batch, columns: tuple[str, ...]) -> Counts:
        values = batch.counts(columns)
        numbers = entries(values)
        outside = ~(TRUTHS.holds(numbers) | np.isnan(numbers))
        if outside.any():
            index = int(np.argmax(outside))
            row, column = row_and_column(values, index)
            raise refusal(columns[column], self.name, TRUTHS.needs, batch.start + row, float(numbers[index]))
        return values

    def view(self, batch: Batch, columns: tuple[str, ...]) -> Counts:
        return inside(TRUTHS, batch.counts(columns))

    def values_at(self, values: Counts, wanted: slice | IntArray) -> Counts:
        return counts_of_rows(values, wanted)

    def identified(self, batch: Batch, columns: tuple[str, ...]) -> Counts:
        return self.read(batch, columns)

    def learn(self, builder: TallyBuilder, values: Counts, labels: IntArray, weights: AnyArray) -> None:
        rows, columns = values.shape
        weights = builder.reserve(rows, weights)
        no, yes = builder.table[:columns], builder.table[columns:]
        if not is_sparse(values):
            count_truths(values, THRESHOLD, labels, weights, no, yes)
            return
        rows_of_class = np.zeros(no.shape[1], dtype=no.dtype)
        count_labels(labels, weights, rows_of_class)
        no += rows_of_class
        count_sparse_truths(
            values.indptr, values.indices, values.data, THRESHOLD, labels, weights, no, yes
        )

    def impossible(self, seen: Tally, columns: tuple[str, ...], rows: Tally) -> str:
        for index, name in enumerate(columns):
            if outnumber(seen, [index, len(columns) + index], rows):
                return f"more values of '{name}' than rows"
        return ""

    def fit(self, seen: Tally, columns: tuple[str, ...]) -> Chances:
        no, yes = seen.counts[: len(columns)], seen.counts[len(columns) :]
        return chances(no, yes, no + yes, self.smoothing)

    def smoothed_counts(self, seen: Tally) -> AnyArray:
        return seen.counts

    def score(self, parameters: Chances, values: Counts, joint: FloatArray) -> None:
        no, yes = parameters.no, parameters.yes
        if is_sparse(values) and np.isfinite([no, yes]).all() and not np.isnan(values.data).any():
            joint += no.sum(axis=0)
            add_counts(values, yes - no, joint)
        else:
            add_truths(values.toarray() if is_sparse(values) else values, THRESHOLD, no, yes, joint)

    def leave_one_out(self, seen: Tally, columns: tuple[str, ...]) -> BlockLeftOut:
        return BySubtracting(self, seen, columns)

    def score_without(
        self,
        seen: Tally,
        values: Counts,
        columns: tuple[str, ...],
        labels: IntArray,
        weights: AnyArray,
        joint: FloatArray,
    ) -> None:
        said, own = np.zeros(joint.shape), np.zeros(len(labels))
        self.score(self.fit(seen, columns), values, said)
        no, yes = seen.counts[: len(columns)], seen.counts[len(columns) :]
        each = weights_or_ones(weights, len(labels))
        for weight in np.unique(each):
            left_no, left_yes, rows = (np.maximum(counts - weight, 0) for counts in (no, yes, no + yes))
            left = chances(left_no, left_yes, rows, self.smoothing)
            wanted = np.flatnonzero(each == weight)
            truths_own(*as_rows(values), THRESHOLD, wanted, labels, left.no, left.yes, own)
        said[np.arange(len(labels)), labels] = own
        joint += said

    def evidence_length(self, parameters: Chances | None, values: Counts) -> FloatArray:
        if not is_sparse(values):
            return numbers_there(values)
        rows = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
        missing = np.bincount(rows, np.isnan(values.data), values.shape[0])
        return np.asarray(values.shape[1] - missing, dtype=np.float64)

    def terms(
        self, parameters: Chances, values: Counts, row: Batch, columns: tuple[str, ...], seen: Tally
    ) -> list[Term]:
        truths = values.toarray()[0] if is_sparse(values) else values[0]
        found = []
        for index, name in enumerate(columns):
            if not np.isnan(truths[index]):
                yes = bool(truths[index])
                said = (parameters.yes if yes else parameters.no)[index]
                found.append(Term(name, "yes" if yes else "no", said, self._basis(seen, index, len(columns), yes)))
        return found

    def _basis(self, seen: Tally, index: int, columns: int, yes: bool) -> CountBasis:
        no, there = seen.counts[index], seen.counts[columns + index]
        return CountBasis(there if yes else no, no + there, float(self.smoothing), 2)

    def profiles(
        self, parameters: Chances, seen: Tally, columns: tuple[str, ...], prior: FloatArray
    ) -> list[Profile]:
        tables = np.stack([parameters.no, parameters.yes], axis=1)
        counts = np.stack([seen.counts[: len(columns)], seen.counts[len(columns) :]], axis=1)
        told = information(tables, prior).tolist()
        return [
            Profile(name, VALUES, ("no", "yes"), tables[index], counts=counts[index], information=told[index])
            for index, name in enumerate(columns)
        ]

    def silent(
        self, parameters: Chances, values: Counts, row: Batch, columns: tuple[str, ...], seen: Tally
    ) -> list[Silence]:
        if is_sparse(values):
            return [Silence(columns[index], "", MISSING) for index in missing_indices(values)]
        return silent_numbers(values, row, columns)

    def sample(self, parameters: Chances, label: int, rows: int, rng: np.random.Generator) -> Drawn:
        return [(rng.random(rows) < chance).astype(np.int64) for chance in np.exp(parameters.yes[:, label])]


def chances(no: AnyArray, yes: AnyArray, rows: AnyArray, smoothing: float) -> Chances:
    """The smoothed log shares of no and yes in the rows."""
    return Chances(log_share(no, rows, 2, smoothing), log_share(yes, rows, 2, smoothing))
