"""GaussianNB: numbers that cluster around a middle."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from candide.api.drop_in.classifier import DropInClassifier, DropInSummary
from candide.api.drop_in.rows import on_every_core, read_only, row_spans
from candide.api.threads import reads
from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.families.base.bell import add_normal_densities
from candide.families.base.density import LEAST_DEVIATION
from candide.kernels.counting import NOT_FINITE
from candide.model.summary import NO_WEIGHTS
from candide.statistics.moments import InfiniteValue
from candide.statistics.sums import Sums


class GaussianNB(DropInClassifier):
    """Naive Bayes for numbers: the bell curve with each class's own mean and variance in each column.

    Arguments, attributes and numbers are those of `sklearn.naive_bayes.GaussianNB`, except that sums are exact,
    fractional weights included: the result does not depend on the order of the rows or on how they were batched.
    (scikit-learn's `partial_fit` takes the epsilon of the new batch away from variances that hold another.)

    Parameters
    ----------
    priors : one chance a class, or None for the class counts
    var_smoothing : number
        The share of the largest variance of all columns that is added to every variance.

    >>> model = GaussianNB().fit([[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"])
    >>> model.predict([[3.0]]).tolist()
    ['low']
    """

    accepts_sparse = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "priors": ["array-like", None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, *, priors: Any = None, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    class_prior_: FloatArray

    @property
    @reads
    def class_count_(self) -> FloatArray:
        """The weight of the rows of each class."""
        return weight_of_classes(self._weighted)

    @property
    @reads
    def theta_(self) -> FloatArray:
        """The mean of each column in each class, as [class, column]."""
        return self._weighted.mean.T.copy()

    @property
    @reads
    def var_(self) -> FloatArray:
        """The variance of each column in each class, epsilon included, as [class, column]."""
        return self._weighted.variance.T + self.epsilon_

    @property
    @reads
    def epsilon_(self) -> float:
        """What is added to every variance: it comes from all rows alike, whatever they weigh."""
        return float(self._var_smoothing * self._everything().variance.max())

    @property
    def _weighted(self) -> Sums:
        return self._seen.features

    def _everything(self) -> Sums:
        """The sums of all rows, each counted once."""
        return self._once("everything", lambda: self._seen.labels.over_classes())

    def _become(self, classes: AnyArray, seen: DropInSummary) -> None:
        prior = self._class_prior(weight_of_classes(seen.features))
        super()._become(classes, seen)
        self.class_prior_, self._var_smoothing = prior, self.var_smoothing

    def _summarize(self, X: Any, labels: IntArray, weights: AnyArray, classes: int) -> DropInSummary:
        once = self._sums(X, labels, NO_WEIGHTS, classes)
        return DropInSummary(once, self._sums(X, labels, weights, classes) if weights.size else once)

    def _sums(self, X: AnyArray, labels: IntArray, weights: AnyArray, classes: int) -> Sums:
        """The exact sums of the rows; NaN and infinity are refused."""

        def of_span(span: slice) -> Sums:
            return Sums.of(X[span], labels[span], classes, weights[span] if weights.size else None)

        try:
            first, *rest = on_every_core(of_span, row_spans(X, X.shape[1] * classes))
        except InfiniteValue:
            self._refuse(X, NOT_FINITE)
            raise
        sums = sum(rest, start=first)
        if not weights.size and (sums.over_classes().weight.to_float() != len(X)).any():
            self._refuse(X, NOT_FINITE)
        return sums

    def _class_prior(self, counts: FloatArray) -> FloatArray:
        """As given, or as seen."""
        if self.priors is None:
            return counts / counts.sum() if counts.any() else np.full(len(counts), 1 / len(counts))
        priors = np.asarray(self.priors, dtype=np.float64)
        if len(priors) != len(counts):
            raise ValueError("Number of priors must match number of classes.")
        if not np.isclose(priors.sum(), 1.0):
            raise ValueError("The sum of the priors should be 1.")
        if (priors < 0).any():
            raise ValueError("Priors must be non-negative.")
        return priors

    def _prior(self) -> FloatArray:
        with np.errstate(divide="ignore"):
            return np.log(self.class_prior_)

    def _parameters(self) -> tuple[FloatArray, FloatArray]:
        """Mean and deviation as [column, class]; deviations join without squaring, so that 1e200 works."""
        smallest = np.sqrt(self._var_smoothing) * self._everything().deviation.max()
        deviation = np.maximum(np.hypot(self._weighted.deviation, smallest), LEAST_DEVIATION)
        return self._weighted.mean, deviation

    def _score(
        self, parameters: tuple[FloatArray, FloatArray], values: FloatArray, joint: FloatArray
    ) -> None:
        if not add_normal_densities(parameters, values, joint):
            self._refuse(values, NOT_FINITE)

    def _piece(self, X: Any, rows: slice) -> FloatArray:
        """Some of the rows; the score itself finds what is not finite."""
        return read_only(np.ascontiguousarray(X[rows], dtype=np.float64))


def weight_of_classes(seen: Sums) -> FloatArray:
    """The weight of each class: every column has seen all of it."""
    return seen.weight.take(np.zeros(1, dtype=np.int64)).to_float()[0]
