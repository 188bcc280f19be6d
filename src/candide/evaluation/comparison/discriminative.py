"""The discriminative methods, scikit-learn's: logistic regression, and a linear SVM for text.

The one place below the faces that knows scikit-learn, which is imported only when a method learns.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from candide.data.arrays import AnyArray, FloatArray
from candide.data.batch import Batch
from candide.data.values import Key
from candide.evaluation.comparison.columns import ColumnKinds

MOST_STEPS = 1000
FEWER_STEPS = 300
"""Without a penalty, weights may grow for ever where the classes can be parted; and nobody is the better for it."""


@dataclass(frozen=True)
class Discriminative:
    """A fitted linear classifier behind the encoding of its rows."""

    encoding: Encoding
    classifier: Any
    classes: tuple[Key, ...]

    @classmethod
    def of(cls, classifier: Any, columns: ColumnKinds, batch: Batch) -> Discriminative:
        """Encode the rows and learn them."""
        assert batch.labels is not None
        codes = batch.labels.codes
        encoding = Encoding.of(columns, batch)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # not quite converged, or no column left: still an answer
            classifier.fit(encoding.matrix(batch), codes)
        return cls(encoding, classifier, tuple(batch.labels.keys[code] for code in classifier.classes_.tolist()))

    def log_posterior(self, batch: Batch) -> FloatArray:
        """log P(class | row), [row, class]; where scores are no log odds, only the order of classes means anything."""
        scores = np.asarray(self.classifier.decision_function(self.encoding.matrix(batch)), dtype=np.float64)
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros(len(scores)), scores])
        shifted = scores - scores.max(axis=1, keepdims=True)
        return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def logistic_regression(columns: ColumnKinds, batch: Batch) -> Discriminative:
    """With scikit-learn's own settings: an L2 penalty of strength 1."""
    from sklearn.linear_model import LogisticRegression

    return Discriminative.of(LogisticRegression(max_iter=MOST_STEPS), columns, batch)


def plain_logistic_regression(columns: ColumnKinds, batch: Batch) -> Discriminative:
    """Without a penalty: the likeliest weights, as in Ng & Jordan (2001), or as near as so many steps lead."""
    from sklearn.linear_model import LogisticRegression

    return Discriminative.of(LogisticRegression(C=np.inf, max_iter=FEWER_STEPS), columns, batch)


def linear_svm(columns: ColumnKinds, batch: Batch) -> Discriminative:
    """With scikit-learn's own settings, and a fixed seed."""
    from sklearn.svm import LinearSVC

    return Discriminative.of(LinearSVC(random_state=0), columns, batch)


@dataclass(frozen=True)
class Encoding:
    """How rows become a matrix, as learned from some of them.

    Numbers are shifted and scaled to mean 0 and deviation 1, and missing ones become the mean. Every category is a
    column, missing being one of them; one never seen is in no column, and of two one column is enough. Words count by
    tf-idf.
    """

    columns: ColumnKinds
    mean: FloatArray
    deviation: FloatArray
    slots: dict[str, dict[Key, int]]
    words: dict[str, Any]

    @classmethod
    def of(cls, columns: ColumnKinds, batch: Batch) -> Encoding:
        """Learn means, categories and words."""
        numbers = finite(batch.numbers(columns.numbers))
        present = ~np.isnan(numbers)
        rows = np.maximum(present.sum(axis=0), 1)
        mean = np.where(present, numbers, 0.0).sum(axis=0) / rows
        deviation = np.sqrt((np.where(present, numbers - mean, 0.0) ** 2).sum(axis=0) / rows)
        slots = {name: category_slots(batch, name) for name in columns.categories}
        words = {name: tf_idf(column_texts(batch, name)) for name in columns.texts}
        return cls(columns, mean, np.where(deviation > 0, deviation, 1.0), slots, words)

    def matrix(self, batch: Batch) -> Any:
        """The rows as a matrix: dense where there are only numbers, else sparse."""
        from scipy import sparse

        numbers = (finite(batch.numbers(self.columns.numbers)) - self.mean) / self.deviation
        numbers = np.nan_to_num(numbers, nan=0.0)
        if not (self.slots or any(self.words.values())):
            return numbers
        parts = [sparse.csr_array(numbers)] if numbers.shape[1] else []
        parts += [sparse.csr_array(one_hot(batch, name, slots)) for name, slots in self.slots.items()]
        parts += [words.transform(column_texts(batch, name)) for name, words in self.words.items() if words is not None]
        return sparse.hstack(parts, format="csr")


def finite(numbers: FloatArray) -> FloatArray:
    """Numbers, where infinity is missing."""
    return np.where(np.isfinite(numbers), numbers, np.nan)


def category_slots(batch: Batch, name: str) -> dict[Key, int]:
    """A place for each category; the last is for missing ones, if there are any."""
    coded = batch.categories(name)
    seen = [coded.keys[code] for code in np.unique(coded.codes[coded.codes >= 0]).tolist()]
    return {key: index for index, key in enumerate([*seen, MISSING] if (coded.codes < 0).any() else seen)}


MISSING: Key = ("missing", None)


def one_hot(batch: Batch, name: str, slots: dict[Key, int]) -> Any:
    """A row's category as a 1 in its place; nothing for one that was never seen."""
    from scipy import sparse

    coded = batch.categories(name)
    indices = np.where(coded.codes >= 0, coded.renumbered(slots), slots.get(MISSING, -1))
    first = 1 if len(slots) == 2 else 0
    known = np.flatnonzero(indices >= first)
    where = (known.astype(np.int32), (indices[known] - first).astype(np.int32))  # all that a linear SVM takes
    return sparse.csr_array((np.ones(len(known)), where), shape=(len(indices), len(slots) - first))


def tf_idf(texts: list[str]) -> Any:
    """How words count, from some texts; None where they hold no word at all."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        return TfidfVectorizer(sublinear_tf=True).fit(texts)
    except ValueError:
        return None


def column_texts(batch: Batch, name: str) -> list[str]:
    """The texts of a column; a missing one is empty."""
    raw = batch.columns.raw(batch.position(name))
    values: AnyArray | list[Any] = raw.to_pylist() if isinstance(raw, (pa.Array, pa.ChunkedArray)) else raw
    return ["" if value is None or value != value else str(value) for value in values]
