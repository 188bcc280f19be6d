"""BernoulliNB: rows of yes and no, where a no speaks too."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval

from candide.api.drop_in.classifier import DropInSummary
from candide.api.drop_in.counted import CountingNB, label_tally, sum_of_tables
from candide.api.drop_in.rows import PIECE, SparseRows, as_floats, on_every_core, row_pieces, row_spans, stored_values
from candide.api.threads import reads
from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.families.base.counts import add_counts
from candide.families.base.smoothing import log_shares
from candide.kernels.counting import NOT_FINITE, count_sparse_truths, count_truths, flaws
from candide.kernels.scoring import add_truth_bytes, add_truths, byte_tables
from candide.statistics.tally import Tally

LARGEST_BYTE_TABLES = 1 << 18
"""Cells of the tables by which eight columns are looked up at once; larger ones would not stay in cache."""


@dataclass(frozen=True)
class BernoulliParameters:
    """log P(no | class) and log P(yes | class) as [column, class], and their sums for eight columns at a time."""

    no: FloatArray
    yes: FloatArray
    bytes: FloatArray | None


class BernoulliNB(CountingNB):
    """Naive Bayes for yes and no: a value above `binarize` is a yes, any other a no.

    Arguments, attributes and numbers are those of `sklearn.naive_bayes.BernoulliNB`. Noes are counted, not inferred
    from the chance of a yes, so log P(no) is exact however rare a no is. Whole weights are learned and forgotten
    exactly; fractional ones are added in float64.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior
        As for `MultinomialNB`; alpha is added to the yeses and to the noes.
    binarize : number or None
        None takes the values as they are: 0 or 1.

    >>> model = BernoulliNB().fit([[1, 0], [0, 1]], ["left", "right"])
    >>> model.predict([[1, 0]]).tolist()
    ['left']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CountingNB._parameter_constraints,
        "binarize": [None, Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    @property
    @reads
    def feature_count_(self) -> FloatArray:
        """How often each column was a yes in each class, as [class, column]."""
        return self._seen.features.counts[self.n_features_in_ :].T.astype(np.float64)

    @property
    @reads
    def feature_log_prob_(self) -> FloatArray:
        """log P(yes | class), as [class, column]."""
        return self._once("parameters", self._parameters).yes.T

    def _read(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[Any, AnyArray, AnyArray]:
        X, y, weights = super()._read(X, y, sample_weight, reset)
        return once_each(X), y, weights

    def _view(self, X: Any) -> Any:
        return once_each(super()._view(X))

    def _summarize(self, X: Any, labels: IntArray, weights: AnyArray, classes: int) -> DropInSummary:
        rows_of_class = label_tally(labels, weights, classes)
        if self.binarize is None:
            yes = self._sums(X, labels, weights, classes, refused=NOT_FINITE).counts
            return DropInSummary(rows_of_class, truth_tally(np.concatenate([rows_of_class.counts - yes, yes])))
        return DropInSummary(rows_of_class, self._truths(X, labels, weights, classes))

    def _truths(self, X: Any, labels: IntArray, weights: AnyArray, classes: int) -> Tally:
        """How often each column was a no and a yes, by class."""
        columns, threshold = X.shape[1], float(self.binarize or 0.0)

        def of_span(span: slice) -> AnyArray:
            both = np.zeros((2 * columns, classes), dtype=weights.dtype)
            no, yes = both[:columns], both[columns:]
            for rows in row_pieces(X, span):
                values, mine, heavy = as_floats(X, rows), labels[rows], weights[rows]
                self._refuse(X, flaws(stored_values(values)) & NOT_FINITE)
                if isinstance(values, SparseRows):
                    stored = (values.indptr, values.indices, values.data)
                    count_sparse_truths(*stored, threshold, mine, heavy, no, yes)
                else:
                    count_truths(values, threshold, mine, heavy, no, yes)
            if sp.issparse(X):
                no += label_tally(labels[span], weights[span], classes).counts
            return both

        return truth_tally(sum_of_tables(on_every_core(of_span, row_spans(X, 2 * columns * classes))))

    def _parameters(self) -> BernoulliParameters:
        no, yes = np.split(np.maximum(self._seen.features.counts, 0), 2)
        no, yes = log_shares(np.stack([no, yes]), self._smoothing_by_column)
        small = 32 * no.size <= LARGEST_BYTE_TABLES
        return BernoulliParameters(no, yes, byte_tables(no, yes) if small else None)

    def _score(self, parameters: BernoulliParameters, values: FloatArray | SparseRows, joint: FloatArray) -> None:
        no, yes = parameters.no, parameters.yes
        if self.binarize is None:
            joint += no.sum(axis=0)
            add_counts(values, yes - no, joint)
        elif not isinstance(values, SparseRows):
            self._score_dense(parameters, values, joint)
        elif np.isfinite(no).all() and np.isfinite(yes).all():
            joint += no.sum(axis=0)
            truths = (values.data > self.binarize).astype(np.float64)
            add_counts(replace(values, data=truths), yes - no, joint)
        else:
            step = max(1, PIECE // values.shape[1])
            for first in range(0, values.shape[0], step):
                rows = slice(first, min(first + step, values.shape[0]))
                self._score_dense(parameters, SparseRows.of(values, rows).toarray(), joint[rows])

    def _score_dense(self, parameters: BernoulliParameters, values: FloatArray, joint: FloatArray) -> None:
        threshold = float(self.binarize or 0.0)
        if parameters.bytes is None:
            add_truths(values, threshold, parameters.no, parameters.yes, joint)
        else:
            add_truth_bytes(values, threshold, parameters.bytes, joint)


def truth_tally(counts: AnyArray) -> Tally:
    """A tally of noes, then yeses; a rounded difference of fractional weights is not below nothing."""
    return Tally(range(len(counts)), counts if counts.dtype == np.int64 else np.maximum(counts, 0.0))


def once_each(X: Any) -> Any:
    """The same matrix with every entry stored once: whether a value is above the threshold asks for all of it."""
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X
