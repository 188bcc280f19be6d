"""MultinomialNB: rows that count words or other events."""

from __future__ import annotations

from typing import Any

import numpy as np

from candide.api.drop_in.classifier import DropInSummary
from candide.api.drop_in.counted import CountingNB, label_tally
from candide.api.threads import reads
from candide.data.arrays import AnyArray, Counts, FloatArray, IntArray
from candide.families.base.counts import add_counts, lined_up
from candide.families.base.smoothing import log_shares


class MultinomialNB(CountingNB):
    """Naive Bayes for counts of events, such as words: each class draws events from shares of its own.

    Arguments, attributes and numbers are those of `sklearn.naive_bayes.MultinomialNB`. Whole counts and weights are
    learned and forgotten exactly; fractional ones (tf-idf) are added in float64.

    Parameters
    ----------
    alpha : number or one number a column
        Added to every count (Laplace: 1).
    force_alpha : bool
        Whether an alpha below 1e-10 is kept as it is.
    fit_prior : bool
        Whether the prior follows the class counts; otherwise all classes are alike.
    class_prior : one chance a class, or None

    >>> model = MultinomialNB().fit([[2, 1], [0, 3]], ["spam", "ham"])
    >>> model.predict([[5, 1]]).tolist()
    ['spam']
    """

    def __init__(
        self, *, alpha: Any = 1.0, force_alpha: bool = True, fit_prior: bool = True, class_prior: Any = None
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    @property
    @reads
    def feature_count_(self) -> FloatArray:
        """How much of each column was seen in each class, as [class, column]."""
        return self._seen.features.counts.T.astype(np.float64)

    @property
    @reads
    def feature_log_prob_(self) -> FloatArray:
        """What one count of each column says for each class, as [class, column]."""
        return self._once("parameters", self._parameters)[:, : len(self.classes_)].T

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _summarize(self, X: Any, labels: IntArray, weights: AnyArray, classes: int) -> DropInSummary:
        return DropInSummary(label_tally(labels, weights, classes), self._sums(X, labels, weights, classes))

    def _parameters(self) -> FloatArray:
        return lined_up(log_shares(self._seen.features.counts, self._smoothing_by_column))

    def _score(self, parameters: FloatArray, values: Counts, joint: FloatArray) -> None:
        add_counts(values, parameters, joint)
