"""What the four classifiers of counts share: smoothing, priors, and sums of counts class by class."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from candide.api.drop_in.classifier import DropInClassifier, DropInSummary
from candide.api.drop_in.rows import MOST_SPANS, as_floats, on_every_core, row_pieces, row_spans, stored_values
from candide.api.threads import reads
from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.families.base.counts import sum_counts
from candide.kernels.counting import NEGATIVE, NOT_FINITE, NOT_WHOLE, count_labels, flaws
from candide.statistics.tally import Tally
from candide.statistics.weight_grid import CEILING

LEAST_ALPHA = 1e-10
HEAVIEST_SPAN = CEILING // MOST_SPANS


class CountingNB(DropInClassifier):
    """A classifier of counts.

    Whole counts with whole weights are kept as 64-bit whole numbers, so learning, forgetting and merging are exact.
    Fractional counts or weights are added in float64, as scikit-learn does, and then rounded as such sums are.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
        "force_alpha": ["boolean"],
    }

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Any

    class_log_prior_: FloatArray

    @property
    @reads
    def class_count_(self) -> FloatArray:
        """The weight of the rows of each class."""
        return self._seen.labels.counts[0].astype(np.float64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True
        return tags

    def _become(self, classes: AnyArray, seen: DropInSummary) -> None:
        smoothing = self._check_alpha()
        log_prior = self._log_prior(seen.labels.counts[0])
        super()._become(classes, seen)
        self._smoothing, self.class_log_prior_ = smoothing, log_prior

    def _prior(self) -> FloatArray:
        return self.class_log_prior_

    def _log_prior(self, counts: AnyArray) -> FloatArray:
        """As given, as seen, or the same for every class."""
        if self.class_prior is not None:
            if len(self.class_prior) != len(counts):
                raise ValueError("Number of priors must match number of classes.")
            shares = np.asarray(self.class_prior, dtype=np.float64)
        elif self.fit_prior and counts.any():
            shares = counts / counts.sum()
        else:
            shares = np.full(len(counts), 1 / len(counts))
        with np.errstate(divide="ignore"):
            return np.log(shares)

    def _check_alpha(self) -> Any:
        """What to add to every count: one number, or one for each column."""
        alpha: Any = self.alpha if isinstance(self.alpha, Real) else np.asarray(self.alpha, dtype=np.float64)
        if isinstance(alpha, np.ndarray):
            if alpha.shape[0] != self.n_features_in_:
                raise ValueError(
                    "When alpha is an array, it should contains `n_features`. "
                    f"Got {alpha.shape[0]} elements instead of {self.n_features_in_}."
                )
            if alpha.min() < 0:
                raise ValueError("All values in alpha must be greater than 0.")
        if np.min(alpha) < LEAST_ALPHA and not self.force_alpha:
            warnings.warn(
                f"alpha too small will result in numeric errors, setting alpha = {LEAST_ALPHA:.1e}. "
                "Use `force_alpha=True` to keep alpha unchanged.",
                stacklevel=2,
            )
            return np.maximum(alpha, LEAST_ALPHA)
        return alpha

    @property
    def _smoothing_by_column(self) -> Any:
        """The smoothing, broadcasting with counts[column, class]."""
        return self._smoothing[:, None] if np.ndim(self._smoothing) else self._smoothing

    def _sums(
        self, X: Any, labels: IntArray, weights: AnyArray, classes: int, refused: int = NOT_FINITE | NEGATIVE
    ) -> Tally:
        """The values of each column added up by class; those with a refused flaw raise."""
        columns = X.shape[1]

        def of_span(span: slice) -> AnyArray:
            table = np.zeros((classes, columns), weights.dtype).T  # class by class, as rows are counted
            load = 0.0
            for rows in row_pieces(X, span):
                values, mine = as_floats(X, rows), weights[rows]
                found = flaws(stored_values(values))
                self._refuse(X, found & refused)
                load += heaviest_sum(values, mine)
                if found & (NOT_WHOLE | NEGATIVE) or load > HEAVIEST_SPAN:
                    table = table.astype(np.float64, copy=False)
                sum_counts(values, labels[rows], mine, table)
            return table

        return Tally(range(columns), sum_of_tables(on_every_core(of_span, row_spans(X, columns * classes))))


def label_tally(labels: IntArray, weights: AnyArray, classes: int) -> Tally:
    """The weight of each class, as a tally of one slot."""
    counts = np.zeros(classes, dtype=weights.dtype)
    count_labels(labels, weights, counts)
    return Tally(range(1), counts[None])


def heaviest_sum(values: Any, weights: AnyArray) -> float:
    """More than any sum of these rows can reach."""
    data = stored_values(values)
    largest = max(float(data.max()), -float(data.min())) if data.size else 0.0
    return largest * (float(weights.sum()) if weights.size else values.shape[0])


def sum_of_tables(tables: list[AnyArray]) -> AnyArray:
    """The sum of tables, made in the first of them: whole numbers unless one holds fractions."""
    total = tables[0].astype(np.result_type(*tables), order="C")
    for table in tables[1:]:
        total += table
    return total
