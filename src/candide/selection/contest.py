"""A contest of families for one column, by what is remembered of it: no row is read again.

All rows of a class that have the same value, or numbers in the same cell, are alike, so one of them is left out for
all. A family that chooses when it is fitted, as a histogram does its intervals, is fitted anew without each of ten
folds, into which the rows of every value are dealt: what was chosen from rows must not be judged by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, BoolArray, FloatArray, IntArray
from candide.data.cached import cached_property
from candide.data.grid import quantized, quantized_number
from candide.data.metrics import LEAST_LOG, UNIT
from candide.families.base.alike_rows import AlikeRows, AlikeScores, FoldScores
from candide.families.base.block_rows import BlockRows
from candide.families.base.family import AnyFamily
from candide.families.base.leave_one_out import statistic_of
from candide.kernels.counting import common_divisor
from candide.kernels.density_contest import density_losses
from candide.kernels.hashing import deal, mix_all
from candide.kernels.left_out_losses import gaps_between, losses_alike, losses_in_folds, summed_losses
from candide.model.summary import NO_WEIGHTS, Summary
from candide.selection.folds import FOLDS
from candide.selection.look import RememberedColumn

DEALT_ONE_BY_ONE = 250
"""Rows alike beyond so many are dealt evenly: chance would hardly do otherwise."""

MOST_COMPARED, FEWEST_CELLS = 4_000_000, 64
"""Cells are joined where a contest would compare more (cell, class, class) triples than this, but to no fewer cells."""

MOST_SCORED = 2_000_000
"""Of very many kinds of rows and classes, some kinds judge for all: no more (kind, class) pairs than this."""

BEST_OF_MANY = 2.0
"""A family must lower the loss of all left-out rows by so many nats to be taken for the plain one: the best of ten
candidates does so by chance."""

NOT_AHEAD = np.zeros(1)

CLEARLY = 2.0
"""Who is behind by so many standard errors of the difference, row by row, would not win without a fold."""


@dataclass(frozen=True)
class Result:
    """A candidate and its log loss when it alone, with the prior, judges rows left out."""

    family: AnyFamily
    loss: float
    prior_loss: float
    """That of the prior alone."""
    rows: int
    """How many rows judged: as few as have these proportions."""
    is_out: bool = field(default=False, compare=False)
    """Whether others, or the prior alone, are so much better that it would hardly win without some of the rows."""
    tells: bool = field(default=False, compare=False)
    """Whether it is so much better than the prior alone that it would hardly be worse without some of the rows."""


class Gaps(NamedTuple):
    """How much more losses[family] are than others in all rows, and the standard error of that."""

    totals: FloatArray
    errors: FloatArray

    def are_clear(self, ahead: AnyArray = NOT_AHEAD) -> BoolArray:
        """Whether they are more by more than chance, where the others are so many nats `ahead` of each already."""
        is_enough = quantized(self.totals) >= BEST_OF_MANY - 1.5 * ahead
        return is_enough & (quantized(self.totals + ahead - CLEARLY * self.errors) > 0)

    def reversed(self) -> Gaps:
        """How much less they are."""
        return Gaps(-self.totals, self.errors)


@dataclass(frozen=True, eq=False)
class ColumnContest:
    """Kinds of rows alike: a value, a class and how many rows there are; and the prior without one of them."""

    rows: AlikeRows
    prior: FloatArray
    """The log prior of each class among rows of other classes, up to a constant."""
    prior_without: FloatArray
    """The same of each class when one of its own rows is left out."""

    @classmethod
    def of(cls, column: RememberedColumn, summary: Summary) -> ColumnContest:
        """The rows of a column; the summary counts all rows, those that lack a value too, which then says nothing."""
        cells = column.cells.with_at_most(max(FEWEST_CELLS, MOST_COMPARED // len(summary.classes) ** 2))
        return cls.of_rows(AlikeRows.of_parts(column.name, cells, column.kept.others, summary.weighed))

    @classmethod
    def of_rows(cls, rows: AlikeRows) -> ColumnContest:
        """Rows alike that are all rows of a summary."""
        counts = whole_counts(rows.weights)
        totals = np.bincount(rows.labels, counts, minlength=rows.classes)
        with np.errstate(divide="ignore"):
            return cls(replace(rows, weights=counts), np.log(totals), np.log(np.maximum(totals - 1, 0)))

    @property
    def prior_losses(self) -> FloatArray:
        """The loss of the prior alone on each kind of rows that judges."""
        labels, classes = self.rows.labels[self._judging], self.rows.classes
        said = AlikeScores(np.zeros((1, classes)), np.zeros(len(labels)), np.zeros(len(labels), np.int64))
        return self._losses(said, labels)

    def losses(self, families: Sequence[AnyFamily]) -> FloatArray:
        """The loss of each family and the prior on each kind of rows that judges, one of them left out.

        [family, kind]; all densities that kernels know are asked at once.
        """
        rows, found = self.rows, np.full((len(families), len(self._judging)), np.nan)
        can_be_scaled = len(rows.numbers) and np.isfinite(rows.numbers[-1] - rows.numbers[0])
        known = [family.density_alike(rows) if can_be_scaled else None for family in families]
        densities = [
            (density.code, family.smoothing, density.floor)
            for family, density in zip(families, known, strict=True)
            if density is not None
        ]
        if densities:
            weights, asked = rows.weights.astype(np.float64), np.array(densities, dtype=np.float64)
            said = density_losses(
                rows.numbers, rows.lines, rows.labels, weights, self._judging, asked, self.prior, self.prior_without
            )
            found[[density is not None for density in known]] = np.minimum(said, -LEAST_LOG)
        for index in np.flatnonzero(np.isnan(found[:, 0])).tolist():
            found[index] = self._losses_of(families[index])
        return found

    def _losses_of(self, family: AnyFamily) -> FloatArray:
        """The losses of one family, by the means that it has."""
        if family.chooses:
            return self._losses_in_folds(family)
        said, some = family.scores_alike(self.rows) or self._left_out(family), self._judging
        judging = said._replace(own=said.own[some], lines=said.lines[some])
        return self._losses(judging, self.rows.labels[some])

    def means(self, losses: FloatArray) -> list[float]:
        """The log loss of all rows that judge, by losses[family, kind], on the grid."""
        weights = self.judging_weights
        rows = float(weights.sum())
        totals = ((large << 20) + small for large, small in summed_losses(losses, weights, UNIT).tolist())
        return [quantized_number(total / UNIT / rows) for total in totals]

    def loss(self, family: AnyFamily) -> float:
        """The log loss of a family and the prior on rows left out, on the grid."""
        return self.means(self.losses([family]))[0]

    def gaps(self, losses: FloatArray, others: FloatArray) -> Gaps:
        """By how much losses[family, kind] are more than others[kind], and the chance of which rows there are."""
        totals, squares = gaps_between(losses, others, self.judging_weights)
        rows = float(self.judging_weights.sum())
        return Gaps(totals, np.sqrt(np.maximum(squares - totals * totals / rows, 0.0)))

    @cached_property
    def rows_in_all(self) -> int:
        """How many rows there are."""
        return int(self.rows.weights.sum())

    @cached_property
    def judging_weights(self) -> IntArray:
        """How many rows there are of each kind that judges."""
        return self.rows.weights[self._judging]

    @cached_property
    def _judging(self) -> IntArray:
        """The kinds of rows that judge: all of them, or some picked by a hash of their number."""
        kinds, most = len(self.rows.labels), max(MOST_SCORED // self.rows.classes, FOLDS)
        if kinds <= most:
            return np.arange(kinds)
        return np.sort(np.argsort(mix_all(np.arange(kinds, dtype=np.uint64)))[:most])

    def _losses_in_folds(self, family: AnyFamily) -> FloatArray:
        """Those of rows alike on average, over the folds that they were dealt into."""
        rows, folds, some = self.rows, dealt(self.rows.weights), self._judging
        said = family.scores_in_folds(rows, folds) or self._fitted_in_folds(family, folds)
        kinds = rows.lines[some], rows.labels[some], np.ascontiguousarray(folds[:, some])
        return losses_in_folds(*said, *kinds, self.prior, self.prior_without, -LEAST_LOG)

    def _left_out(self, family: AnyFamily) -> AlikeScores:
        """What each kind of rows says of itself, [kind, class], by the means that any family has."""
        columns, seen, rows = self._learned(family)
        kinds = np.arange(len(rows))
        said = family.leave_one_out(seen, columns).scores(replace(rows, weights=NO_WEIGHTS)).score
        return AlikeScores(said, said[kinds, rows.labels], kinds)

    def _fitted_in_folds(self, family: AnyFamily, folds: IntArray) -> FoldScores:
        """What each line says when a fold is left out, by the means that any family has."""
        columns, seen, rows = self._learned(family)
        lines = self.rows.lines
        said = np.zeros((len(folds), self.rows.values, seen.classes))
        for fold, held in enumerate(folds):
            here = np.flatnonzero(held)
            some = replace(rows.take(family, columns, here), weights=held[here])
            rest = seen - statistic_of(family, columns, some, seen.classes)
            score = np.zeros((len(here), seen.classes))
            family.score(family.fit(rest, columns), some.values, score)
            said[fold, lines[here]] = score
        return FoldScores(np.tile(np.arange(self.rows.values), (len(folds), 1)), said)

    def _learned(self, family: AnyFamily) -> tuple[tuple[str, ...], Any, BlockRows[Any]]:
        """The column, what the family remembers of the rows, and these."""
        columns = (self.rows.column,)
        rows = BlockRows.of(family, columns, self.rows.batch, self.rows.labels, self.rows.weights)
        return columns, statistic_of(family, columns, rows, self.rows.classes), rows

    def _losses(self, said: AlikeScores, labels: IntArray) -> FloatArray:
        return np.minimum(losses_alike(*said, labels, self.prior, self.prior_without), -LEAST_LOG)


class Losses(NamedTuple):
    """What families lost on rows left out, as the rows of a column judge it."""

    usual: ColumnContest
    prior: FloatArray
    """What the prior alone loses on each kind of rows."""
    alike: list[int]
    """Which entrants are judged by the same kinds of rows as the prior, and their losses[family, kind]."""
    by_kind: FloatArray
    results: list[Result]
    """All entrants, in their order."""

    @classmethod
    def of(cls, column: RememberedColumn, summary: Summary, entrants: Sequence[AnyFamily]) -> Losses:
        """Those of the entrants for a column."""
        usual, results = ColumnContest.of(column, summary), list[Result]()
        prior = usual.prior_losses
        (prior_loss,) = usual.means(prior[None])
        own_rows = [family.judging_rows(column.kept, column.name, summary.weighed) for family in entrants]
        alike = [index for index, rows in enumerate(own_rows) if rows is None]
        by_kind = usual.losses([entrants[index] for index in alike])
        means = iter(usual.means(by_kind))
        for family, rows in zip(entrants, own_rows, strict=True):
            judged = usual if rows is None else ColumnContest.of_rows(rows)
            loss = next(means) if rows is None else judged.loss(family)
            results.append(Result(family, loss, prior_loss, judged.rows_in_all))
        return cls(usual, prior, alike, by_kind, results)

    @property
    def best_first(self) -> list[Result]:
        """The entrants by their log loss; the earlier of equals."""
        return sorted(self.results, key=lambda result: result.loss)


def ranked(column: RememberedColumn, summary: Summary, entrants: Sequence[AnyFamily]) -> list[Result]:
    """The entrants by their log loss on rows left out, best first; the earlier of equals. How clearly is not asked."""
    return Losses.of(column, summary, entrants).best_first


def contest(column: RememberedColumn, summary: Summary, entrants: Sequence[AnyFamily]) -> list[Result]:
    """The entrants by their log loss on rows left out, best first, and how clear that is; the earlier of equals."""
    found = Losses.of(column, summary, entrants)
    usual, prior_losses, alike, losses, results = found
    best_first, losses_of = found.best_first, dict(zip(alike, losses, strict=True))
    plain, taken = entrants[0], clear_winner_first(best_first, entrants[0])[0].family
    beaten = losses_of.get(entrants.index(taken), prior_losses)
    ahead = np.array([nats_ahead(taken, entrants[index], plain) for index in alike])
    beside_prior = usual.gaps(losses, prior_losses)
    is_out, tells = usual.gaps(losses, beaten).are_clear(ahead), beside_prior.reversed().are_clear()
    if best_first[0].loss >= best_first[0].prior_loss:
        is_out |= beside_prior.are_clear()
    for index, out, told in zip(alike, is_out.tolist(), tells.tolist(), strict=True):
        results[index] = replace(results[index], is_out=out, tells=told)
    return found.best_first


def clear_winner_first(results: Sequence[Result], plain: AnyFamily) -> list[Result]:
    """The results, best first, but for the plain family where nobody is better by more than chance, or simpler."""
    own = next(result for result in results if result.family == plain)
    if not results[0].family.is_simple and (own.loss - results[0].loss) * own.rows < BEST_OF_MANY:
        return [own, *(result for result in results if result is not own)]
    return list(results)


def nats_ahead(taken: AnyFamily, other: AnyFamily, plain: AnyFamily) -> float:
    """By how many nats the other must be better than the one that is taken, or may be worse, to be taken for it."""
    if taken == plain:
        return 0.0 if other == plain or other.is_simple else BEST_OF_MANY
    return -BEST_OF_MANY if other == plain and not taken.is_simple else 0.0


def whole_counts(weights: AnyArray) -> IntArray:
    """How many rows there are of each kind: as few as have these proportions, so that rows repeated are no evidence.

    Weights that are not whole are rounded, and light ones made one on average.

    >>> whole_counts(np.array([30, 10])).tolist(), whole_counts(np.array([0.001, 0.003])).tolist()
    ([3, 1], [1, 2])
    """
    if weights.dtype.kind == "i":
        divisor = common_divisor(weights)
        return weights if divisor <= 1 else np.asarray(weights // divisor)
    return np.maximum(np.rint(weights / min(1.0, weights.mean())), 1.0).astype(np.int64)


def dealt(counts: IntArray) -> IntArray:
    """How many rows of each kind fall into each fold, [fold, kind]: by a hash of their number.

    >>> dealt(np.array([3, 1000])).sum(axis=0).tolist()
    [3, 1000]
    """
    evenly = np.maximum(counts - DEALT_ONE_BY_ONE, 0) // FOLDS
    return deal(counts - FOLDS * evenly, FOLDS) + evenly
