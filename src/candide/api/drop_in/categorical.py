"""CategoricalNB: columns of categories numbered 0, 1, 2, ..."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from candide.api.drop_in.classifier import DropInSummary
from candide.api.drop_in.counted import CountingNB, label_tally, sum_of_tables
from candide.api.drop_in.rows import as_floats, as_integers, on_every_core, row_pieces, row_spans, stored_values
from candide.api.threads import reads
from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.batch import FIRST_ROW
from candide.data.errors import ColumnRefused, Location
from candide.families.base.smoothing import log_shares
from candide.kernels.counting import NEGATIVE, NOT_FINITE, NOT_WHOLE, code_limits, count_code_rows, flaws
from candide.kernels.scoring import LANES, add_code_rows
from candide.statistics.tally import Tally


@dataclass(frozen=True)
class Shares:
    """log P(category | class) of each column, and all of them in one table as `add_code_rows` takes it."""

    by_column: list[FloatArray]
    offsets: IntArray
    table: FloatArray


class CategoricalNB(CountingNB):
    """Naive Bayes for categories: each category of a column has its own share in each class.

    Arguments, attributes and numbers are those of `sklearn.naive_bayes.CategoricalNB`, except that a category never
    seen says nothing instead of raising, and a fraction such as 1.9 is refused instead of becoming 1. Whole weights
    are learned and forgotten exactly; fractional ones are added in float64.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior
        As for `MultinomialNB`, but alpha is one number.
    min_categories : whole number, one a column, or None
        Categories each column has at least, seen or not.

    >>> model = CategoricalNB().fit([[0, 1], [1, 2]], ["left", "right"])
    >>> model.predict([[1, 7]]).tolist()
    ['right']
    """

    accepts_sparse = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CountingNB._parameter_constraints,
        "min_categories": [None, "array-like", Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories

    n_categories_: IntArray

    @property
    @reads
    def category_count_(self) -> list[FloatArray]:
        """How often each category was seen in each class: for each column [class, category]."""
        return [counts.T.astype(np.float64) for counts in self._counts_by_column()]

    @property
    @reads
    def feature_log_prob_(self) -> list[FloatArray]:
        """log P(category | class): for each column [class, category]."""
        return [shares.T for shares in self._once("parameters", self._parameters).by_column]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.sparse = False
        tags.input_tags.positive_only = True
        return tags

    def _become(self, classes: AnyArray, seen: DropInSummary) -> None:
        widths = at_least(self.min_categories, widths_seen(seen.features, self.n_features_in_))
        super()._become(classes, seen)
        self.n_categories_ = widths

    def _summarize(self, X: Any, labels: IntArray, weights: AnyArray, classes: int) -> DropInSummary:
        columns = X.shape[1]

        def limits(span: slice) -> tuple[IntArray, IntArray]:
            lowest, highest = np.zeros(columns, dtype=np.int64), np.zeros(columns, dtype=np.int64)
            for rows in row_pieces(X, span):
                code_limits(self._codes(X, rows), lowest, highest)
            return lowest, highest

        lowest, highest = zip(*on_every_core(limits, row_spans(X, columns)), strict=True)
        self._refuse(X, NEGATIVE if np.min(lowest) < 0 else 0)
        offsets = offsets_of(np.max(highest, axis=0) + 1)

        def count(span: slice) -> AnyArray:
            table = np.zeros((offsets[-1], classes), dtype=weights.dtype)
            for rows in row_pieces(X, span):
                count_code_rows(self._codes(X, rows), offsets, labels[rows], weights[rows], table)
            return table

        table = sum_of_tables(on_every_core(count, row_spans(X, int(offsets[-1]) * classes)))
        return DropInSummary(label_tally(labels, weights, classes), category_tally(table, offsets))

    def _codes(self, X: AnyArray, rows: slice) -> IntArray:
        """Some rows of categories; what is no whole number is refused."""
        if X.dtype.kind == "f":
            found = flaws(stored_values(as_floats(X, rows)))
            self._refuse(X, found & (NOT_FINITE | NEGATIVE))
            if found & NOT_WHOLE:
                raise_fraction(X, rows)
        return as_integers(X, rows)

    def _piece(self, X: AnyArray, rows: slice) -> IntArray:
        return self._codes(X, rows)

    def _counts_by_column(self) -> list[AnyArray]:
        """Counts as [category, class] for each column, the categories that were not seen included."""
        offsets = offsets_of(self.n_categories_)
        seen = self._seen.features
        counts = np.zeros((offsets[-1], seen.classes), dtype=seen.counts.dtype)
        if seen.slots:
            column, category = np.array(seen.slots).T
            counts[offsets[column] + category] = seen.counts
        return np.split(counts, offsets[1:-1])

    def _parameters(self) -> Shares:
        shares = [log_shares(counts, self._smoothing) for counts in self._counts_by_column()]
        classes = len(self.classes_)
        table = np.zeros((sum(map(len, shares)) + 1, -(-classes // LANES) * LANES))
        table[:-1, :classes] = np.concatenate(shares)
        return Shares(shares, offsets_of(self.n_categories_), table)

    def _score(self, parameters: Shares, values: IntArray, joint: FloatArray) -> None:
        if not add_code_rows(values, parameters.offsets, parameters.table, joint):
            self._refuse(values, NEGATIVE)


def offsets_of(widths: IntArray) -> IntArray:
    """Where the slots of each column begin, and where the last one's end."""
    return np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)


def category_tally(table: AnyArray, offsets: IntArray) -> Tally:
    """A tally of the (column, category) pairs that were seen, from table[slot, class]."""
    seen = np.flatnonzero(table.any(axis=1))
    columns = np.searchsorted(offsets, seen, side="right") - 1
    slots = zip(columns.tolist(), (seen - offsets[columns]).tolist(), strict=True)
    return Tally(tuple(slots), table[seen])


def widths_seen(seen: Tally, columns: int) -> IntArray:
    """One more than the highest category seen in each column."""
    widths = np.zeros(columns, dtype=np.int64)
    if seen.slots:
        column, category = np.array(seen.slots).T
        np.maximum.at(widths, column, category + 1)
    return widths


def at_least(asked: Any, widths: IntArray) -> IntArray:
    """The number of categories of each column, and no fewer than the user asked for."""
    if asked is None:
        return widths
    least = np.array(asked)
    if not np.issubdtype(least.dtype, np.signedinteger):
        raise ValueError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
    if least.shape not in ((), widths.shape):
        raise ValueError(
            f"'min_categories' should have shape ({len(widths)},) when an array-like is provided. "
            f"Got {least.shape} instead."
        )
    return np.maximum(widths, least).astype(np.int64)


def raise_fraction(X: AnyArray, rows: slice) -> None:
    """Name the first value that is no category."""
    values = X[rows]
    row, column = np.argwhere(values != np.floor(values))[0]
    number, value = rows.start + row + FIRST_ROW, values[row, column]
    raise ColumnRefused(
        f"Categories must be whole numbers, but row {number:,}, column {column} holds {value}.",
        advice="Number the categories 0, 1, 2, ..., for example with OrdinalEncoder.",
        where=Location(row=int(number), column=str(column), value=float(value)),
        expected="a whole number",
    )
