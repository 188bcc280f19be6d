"""What the five drop-in classifiers share: learning, forgetting, merging and predicting, as scikit-learn words it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import _check_sample_weight, assert_all_finite, check_is_fitted, validate_data

from candide.api.drop_in.rows import as_floats, on_every_core, row_pieces, stored_values
from candide.api.threads import Shared, reads, writes
from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.batch import checked_weights, labels_of
from candide.data.errors import ForgetRefused, SummariesDisagree
from candide.data.values import as_array, key_of
from candide.families.base.core import Statistic
from candide.kernels.counting import NEGATIVE, NOT_FINITE, flaws
from candide.kernels.scoring import argmax_rows
from candide.model.predictor import log_normalised, normalised
from candide.model.summary import NO_WEIGHTS

Result = TypeVar("Result")


@dataclass(frozen=True)
class DropInSummary:
    """All that is remembered of the rows: two statistics with the same classes. They add and subtract together."""

    labels: Any
    features: Any

    def __add__(self, other: DropInSummary) -> DropInSummary:
        return DropInSummary(self.labels + other.labels, self.features + other.features)

    def __sub__(self, other: DropInSummary) -> DropInSummary:
        return DropInSummary(self.labels - other.labels, self.features - other.features)

    def spread(self, positions: IntArray, classes: int) -> DropInSummary:
        """The same memory among more classes: class i moves to positions[i]."""
        parts: list[Statistic] = [self.labels, self.features]
        return DropInSummary(*(part.spread(positions, classes) for part in parts))


class DropInClassifier(Shared, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that speaks scikit-learn's language and keeps only what was seen.

    What scikit-learn stores as fitted arrays is worked out from that when first asked for, so that learning row by
    row costs what the row costs.
    """

    accepts_sparse: ClassVar[str | bool] = "csr"

    _seen: DropInSummary
    classes_: AnyArray
    n_features_in_: int

    @writes
    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from scratch."""
        X, y, weights = self._read(X, y, sample_weight, reset=True)
        classes, labels = encode_labels(y)
        self._become(classes, self._summarize(X, labels, weights, len(classes)))
        return self

    @writes
    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn more rows. The first call names all classes; the result is that of one `fit` on all rows."""
        first = not hasattr(self, "_seen")
        known = self._known_classes(classes)
        X, y, weights = self._read(X, y, sample_weight, reset=first)
        fresh = self._summarize(X, numbered_among(known, y), weights, len(known))
        self._become(known, fresh if first else self._seen + fresh)
        return self

    @writes
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows back as if they had never been learned: all of them, or none where one cannot have been.

        Classes stay, even when their last row is gone.
        """
        check_is_fitted(self)
        X, y, weights = self._read(X, y, sample_weight, reset=False)
        try:
            labels = numbered_among(self.classes_, y)
        except ValueError as problem:
            raise ForgetRefused(f"{problem}, so these rows were never learned.") from None
        gone = self._summarize(X, labels, weights, len(self.classes_))
        self._become(self.classes_, self._seen - gone)
        return self

    @reads
    def __add__(self, other: Self) -> Self:
        """The model that learned the rows of both. Arguments are the left one's."""
        if type(self) is not type(other):
            return NotImplemented
        other = other._still()
        check_is_fitted(self)
        check_is_fitted(other)
        refuse_disagreement(self, other)
        classes = np.union1d(self.classes_, other.classes_)
        merged = type(self)(**self.get_params(deep=False))
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(merged, name, getattr(self, name))
        merged._become(classes, self._seen_among(classes) + other._seen_among(classes))
        return merged

    @reads
    def predict(self, X: Any) -> AnyArray:
        """The most probable class of each row; ties go to the first."""
        prior = self._prior_where_impossible()
        return self.classes_[np.concatenate(self._by_rows(X, lambda joint: best_of(joint, prior)))]

    @reads
    def predict_proba(self, X: Any) -> FloatArray:
        """P(class | row): finite and summing to one whatever the row holds."""
        prior = self._prior_where_impossible()
        return np.concatenate(self._by_rows(X, lambda joint: normalised(joint, prior)))

    @reads
    def predict_log_proba(self, X: Any) -> FloatArray:
        """log P(class | row)."""
        prior = self._prior_where_impossible()
        return np.concatenate(self._by_rows(X, lambda joint: log_normalised(joint, prior)))

    @reads
    def predict_joint_log_proba(self, X: Any) -> FloatArray:
        """log P(class) + log P(row | class)."""
        return np.concatenate(self._by_rows(X, lambda joint: joint))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_seen")

    @abstractmethod
    def _summarize(self, X: Any, labels: IntArray, weights: AnyArray, classes: int) -> DropInSummary:
        """What must be remembered of these rows; values the model cannot take are refused."""

    @abstractmethod
    def _parameters(self) -> Any:
        """What `_score` needs, made from what was seen."""

    @abstractmethod
    def _prior(self) -> FloatArray:
        """Where every row's joint starts: the log prior of each class."""

    @abstractmethod
    def _score(self, parameters: Any, values: Any, joint: FloatArray) -> None:
        """Add what the values say into joint[row, class]."""

    def _become(self, classes: AnyArray, seen: DropInSummary) -> None:
        """Take on what was learned, as the last step: whatever can be refused was refused before."""
        self.classes_, self._seen = classes, seen
        self._latest: dict[str, Any] = {}

    def _once(self, name: str, make: Callable[[], Result]) -> Result:
        """Something made from what was seen, kept until something else is seen."""
        if name not in self._latest:
            self._latest[name] = make()
        made: Result = self._latest[name]
        return made

    def _read(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[Any, AnyArray, AnyArray]:
        """Rows, labels and weights as scikit-learn would take them, except that no pass looks for NaN in X."""
        X, y = validate_data(
            self, X, y, reset=reset, accept_sparse=self.accepts_sparse, ensure_all_finite=False
        )
        if sample_weight is None:
            return X, y, NO_WEIGHTS
        return X, y, checked_weights(_check_sample_weight(sample_weight, X))

    def _view(self, X: Any) -> Any:
        """Rows to predict."""
        return validate_data(self, X, reset=False, accept_sparse=self.accepts_sparse, ensure_all_finite=False)

    def _piece(self, X: Any, rows: slice) -> Any:
        """Some of the rows, as `_score` takes them."""
        values = as_floats(X, rows)
        self._refuse(X, flaws(stored_values(values)) & NOT_FINITE)
        return values

    def _by_rows(self, X: Any, work: Callable[[FloatArray], Result]) -> list[Result]:
        """Do something with the joint of the rows, some at a time on every core; results in order."""
        check_is_fitted(self)
        X = self._view(X)
        prior, parameters = self._prior(), self._once("parameters", self._parameters)

        def of_rows(rows: slice) -> Result:
            values = self._piece(X, rows)
            joint = np.tile(prior, (rows.stop - rows.start, 1))
            self._score(parameters, values, joint)
            return work(joint)

        return on_every_core(of_rows, list(row_pieces(X)))

    def _prior_where_impossible(self) -> FloatArray:
        """The log prior, which is the answer for a row that every class calls impossible."""
        check_is_fitted(self)
        prior = self._prior()
        return prior if np.isfinite(prior).any() else np.zeros_like(prior)

    def _known_classes(self, classes: Any) -> AnyArray:
        """All classes there will be, from the first call or this one."""
        if not hasattr(self, "_seen"):
            if classes is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            return unique_labels(classes)
        if classes is not None and not np.array_equal(self.classes_, unique_labels(classes)):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {self.classes_!r}"
            )
        return self.classes_

    def _seen_among(self, classes: AnyArray) -> DropInSummary:
        return self._seen.spread(np.searchsorted(classes, self.classes_), len(classes))

    def _refuse(self, X: Any, found: int) -> None:
        """Raise scikit-learn's own words for what the values hold, if anything."""
        name = type(self).__name__
        if found & NOT_FINITE:
            assert_all_finite(X, estimator_name=name, input_name="X")
        if found & NEGATIVE:
            raise ValueError(f"Negative values in data passed to {name} (input X).")


def encode_labels(y: AnyArray) -> tuple[AnyArray, IntArray]:
    """The classes, sorted, and the number of each row's class: found by hashing, not by sorting the rows."""
    labels = labels_of(y)
    classes = as_array(labels.keys).astype(y.dtype)
    if classes.dtype.kind == "f" and (classes != np.floor(classes)).any():
        check_classification_targets(classes)
    return classes, labels.codes


def numbered_among(classes: AnyArray, y: AnyArray) -> IntArray:
    """The number of each row's class; a label that is none of the classes is refused."""
    labels = labels_of(y)
    indices = {key_of(label): index for index, label in enumerate(classes)}
    if any(key not in indices for key in labels.keys):
        unknown = np.array([value for key in labels.keys if key not in indices for value in key[1:]])
        raise ValueError(
            f"The target label(s) {unknown} in y do not exist in the initial classes {classes}"
        )
    return labels.renumbered(indices)  # type: ignore[arg-type]  # no class is missing


def refuse_disagreement(left: DropInClassifier, right: DropInClassifier) -> None:
    """Raise where two models saw different columns or kinds of label."""
    mine, theirs = (
        getattr(model, "feature_names_in_", range(model.n_features_in_)) for model in (left, right)
    )
    if list(mine) != list(theirs):
        raise SummariesDisagree(
            "These models learned from different columns.", advice="Merge models of the same columns."
        )
    if (left.classes_.dtype.kind in "OU") != (right.classes_.dtype.kind in "OU"):
        raise SummariesDisagree(
            "One model has text for labels, the other does not.", advice="Merge models of like labels."
        )


def best_of(joint: FloatArray, prior: FloatArray) -> IntArray:
    """The first largest class of each row; that of the prior where every class is impossible."""
    best = np.empty(len(joint), dtype=np.int64)
    argmax_rows(joint, int(prior.argmax()), best)
    return best
