"""Gaussian discriminant analysis: blocks of numbers with a covariance, the lecture's GDA."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from candide.data.arrays import AnyArray, BoolArray, FloatArray, IntArray
from candide.data.batch import Batch
from candide.families.base.basis import MEAN_OF, DensityBasis
from candide.families.base.core import Drawn
from candide.families.base.explaining import Term, shown_number
from candide.families.base.leave_one_out import BlockLeftOut, BySubtracting
from candide.families.base.multivariate_normal import (
    NormalParameters,
    log_densities,
    multivariate_log_densities,
    units_of,
)
from candide.families.base.multivariate_normal_nearly_without import nearly_without
from candide.families.base.multivariate_normal_without import CompleteRows, rests
from candide.families.base.numbers import OfNumbers
from candide.families.base.support import REAL
from candide.statistics.cross_sums import CrossSums, CrossSumsBuilder
from candide.statistics.exact import ExactSums
from candide.statistics.tally import Tally


@dataclass(frozen=True)
class Discriminant(OfNumbers[CrossSums, CrossSumsBuilder, NormalParameters]):
    """A bell in as many dimensions as the block has columns.

    Learns from rows complete in the block; predicts from whatever is observed, by the bell of those columns.
    `smoothing` rows with the whole block's variances and no correlation are mixed into each covariance, and
    `floor` of those variances is added, so that it can always be inverted.
    """

    smoothing: float = 1.0
    floor: float = 1e-9
    statistic = CrossSums
    for_whole_tables = True
    is_joint = True
    is_read_off = False

    @abstractmethod
    def pooled(self, own: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Each class's covariance before smoothing, and the number of rows behind it; one where all classes share it.

        `own` covariances are [..., class, column, column], their weights [..., class].
        """

    def builder(self, columns: tuple[str, ...], classes: int) -> CrossSumsBuilder:
        return CrossSumsBuilder(len(columns), classes)

    def builder_over(self, seen: CrossSums) -> CrossSumsBuilder:
        return CrossSumsBuilder.over(seen)

    def learn(self, builder: CrossSumsBuilder, values: FloatArray, labels: IntArray, weights: AnyArray) -> None:
        builder.learn(values, labels, weights if weights.size else None)

    def value_sums(self, seen: CrossSums) -> tuple[ExactSums, ...]:
        return (seen.total,)

    def memory(self, columns: int, classes: int) -> int:
        return 8 * columns**2 * classes

    def impossible(self, seen: CrossSums, columns: tuple[str, ...], rows: Tally) -> str:
        sums = seen.of_columns.whole
        possible = (REAL.could_sum_to(sums) & sums.within(rows.units.astype(object), rows.bits)).all(axis=1)
        if not possible.all():
            return f"sums of '{columns[int(np.argmin(possible))]}' that no rows have"
        return "" if seen.semidefinite() else f"products of {', '.join(map(repr, columns))} that no rows have"

    def fit(self, seen: CrossSums, columns: tuple[str, ...]) -> NormalParameters:
        everyone = seen.over_classes()
        exponents = units_of(everyone)[0]
        whole = np.diagonal(everyone.covariance(exponents)[0])
        covariance = self.blended(seen.covariance(exponents), seen.weights, whole)
        mean = np.where(seen.weights[:, None] > 0, seen.mean, everyone.mean)
        of_class = np.broadcast_to(covariance, (seen.classes, *covariance.shape[1:]))
        return NormalParameters(exponents, np.ldexp(mean, -exponents), of_class)

    def blended(self, own: FloatArray, weights: FloatArray, whole: FloatArray) -> FloatArray:
        """Covariances[..., class or 1, column, column] with the prior mixed in, from each class's own and its weight.

        `whole` are the variances[..., column] of the whole block.
        """
        pooled, rows = self.pooled(own, weights)
        prior = np.where(whole > 0, whole, 1.0)[..., None, :, None] * np.eye(whole.shape[-1])
        free = np.where((rows == 0) & (self.smoothing == 0), 1.0, self.smoothing)
        share = (rows / (rows + free))[..., None, None]
        return np.asarray(share * pooled + (1 - share) * prior + self.floor * prior)

    def score(self, parameters: NormalParameters, values: FloatArray, joint: FloatArray) -> None:
        observed = ~np.isnan(values)
        patterns, which = np.unique(observed, axis=0, return_inverse=True)
        for index, pattern in enumerate(patterns):
            rows = np.flatnonzero(which == index)
            columns = np.flatnonzero(pattern)
            if len(columns):
                joint[rows] += multivariate_log_densities(parameters, values[np.ix_(rows, columns)], columns)

    def leave_one_out(self, seen: CrossSums, columns: tuple[str, ...]) -> BlockLeftOut:
        return BySubtracting(self, seen, columns)

    def score_without(
        self,
        seen: CrossSums,
        values: FloatArray,
        columns: tuple[str, ...],
        labels: IntArray,
        weights: AnyArray,
        joint: FloatArray,
    ) -> None:
        learned, out = learned_rows(values, labels, weights)
        if not learned.all():
            joint[~learned] += self._unlearned_terms(seen, values[~learned], columns)
        said = np.empty((len(out.labels), seen.classes))
        for rest in rests(seen, out):
            covariance = self.blended(rest.covariance, rest.weights, rest.whole)
            said[rest.rows] = log_densities(rest.mean, covariance, out.values[rest.rows], rest.exponents)
        joint[learned] += said

    def _unlearned_terms(self, seen: CrossSums, values: FloatArray, columns: tuple[str, ...]) -> FloatArray:
        """Rows that were never learned, being incomplete, leave nothing behind when they are taken out."""
        said = np.zeros((len(values), seen.classes))
        self.score(self.fit(seen, columns), values, said)
        return said

    def nearly_leave_one_out(self, seen: CrossSums, columns: tuple[str, ...]) -> BlockLeftOut:
        return BySubtracting(self, seen, columns, score_without=self.score_nearly_without)

    def score_nearly_without(
        self,
        seen: CrossSums,
        values: FloatArray,
        columns: tuple[str, ...],
        labels: IntArray,
        weights: AnyArray,
        joint: FloatArray,
    ) -> None:
        """What `score_without` adds, with the variances of the whole block as they are."""
        learned, out = learned_rows(values, labels, weights)
        _, behind = self.pooled(np.zeros((seen.classes, 1, 1)), seen.weights)
        fitted = self.fit(seen, columns)
        said, doubtful = nearly_without(fitted, seen.weights, behind, float(self.smoothing), out)
        known = np.flatnonzero(learned)
        joint[known[~doubtful]] += said[~doubtful]
        rest = np.setdiff1d(np.arange(len(labels)), known[~doubtful])
        if len(rest):
            exact, row_weights = np.zeros((len(rest), seen.classes)), weights[rest] if weights.size else weights
            self.score_without(seen, values[rest], columns, labels[rest], row_weights, exact)
            joint[rest] += exact

    def terms(
        self, parameters: NormalParameters, values: FloatArray, row: Batch, columns: tuple[str, ...], seen: CrossSums
    ) -> list[Term]:
        """One term for the whole block: a covariance cannot be split by column."""
        spoke = np.flatnonzero(~np.isnan(values[0]))
        if not len(spoke):
            return []
        name = ", ".join(columns[index] for index in spoke)
        shown = ", ".join(shown_number(values[0, index]) for index in spoke)
        means = {
            f"{MEAN_OF}{columns[index]}": np.ldexp(parameters.mean[:, index], parameters.exponents[index])
            for index in spoke
        }
        basis = DensityBasis(self.name, means, "the height of a bell in as many dimensions as there are columns", shown)
        return [Term(name, shown, multivariate_log_densities(parameters, values[:1, spoke], spoke)[0], basis)]

    def named_parameters(self, parameters: NormalParameters, index: int) -> dict[str, FloatArray]:
        means, deviations = centres_and_spreads(parameters)
        return {"mean": means[index], "deviation": deviations[index]}

    def centre_and_spread(
        self, parameters: NormalParameters, seen: CrossSums, classes: int
    ) -> tuple[FloatArray, FloatArray]:
        return centres_and_spreads(parameters)

    def sample(self, parameters: NormalParameters, label: int, rows: int, rng: np.random.Generator) -> Drawn:
        root = np.linalg.cholesky(parameters.covariance[label])
        drawn = parameters.mean[label] + rng.standard_normal((rows, len(root))) @ root.T
        with np.errstate(over="ignore"):
            return list(REAL.within(np.ldexp(drawn, parameters.exponents)).T)


def learned_rows(values: FloatArray, labels: IntArray, weights: AnyArray) -> tuple[BoolArray, CompleteRows]:
    """Which rows were learned, being complete and of some weight, and these."""
    row_weights = weights if weights.size else np.ones(len(labels), dtype=np.int64)
    learned = ~np.isnan(values).any(axis=1) & (row_weights > 0)
    return learned, CompleteRows(values[learned], labels[learned], row_weights[learned])


def centres_and_spreads(parameters: NormalParameters) -> tuple[FloatArray, FloatArray]:
    """Mean and deviation of each (column, class)."""
    deviation = np.sqrt(np.diagonal(parameters.covariance, axis1=1, axis2=2))
    with np.errstate(over="ignore"):
        return np.ldexp(parameters.mean, parameters.exponents).T, np.ldexp(deviation, parameters.exponents).T
