"""Columns as a linear layer weighs them: what values, and products of two, add to what naive Bayes says of a row.

The layer is fitted on whole rows (`selection/table_layer.py`), so its weights are no counts: they are kept beside the
summary, and values that it does not know say nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np

from candide.data.arrays import AnyArray, BoolArray, FloatArray, IntArray
from candide.data.batch import Batch
from candide.data.values import shown
from candide.families.base.column_values import ColumnValues
from candide.families.base.competing import CATEGORY
from candide.families.base.core import Drawn
from candide.families.base.explaining import Silence, Term, shown_number
from candide.families.base.family import Family
from candide.families.pairs.column_scale import ColumnScale
from candide.kernels.table_products import add_feature_products, credit_columns, shorten_rows
from candide.statistics.tally import Tally

TABLE_UNITS = 1 << 20
"""Weights are whole numbers of one part in so many."""


def owners(scales: Sequence[ColumnScale]) -> IntArray:
    """The number of the column of each feature."""
    return np.repeat(np.arange(len(scales)), [scale.width for scale in scales])


def terms_among(scales: Sequence[ColumnScale], columns: Collection[str]) -> BoolArray:
    """Which features and products are of some columns alone."""
    kept = np.array([scale.column in columns for scale in scales], dtype=bool)[owners(scales)]
    one, other = np.triu_indices(len(kept))
    return np.concatenate([kept, kept[one] & kept[other]])


@dataclass(frozen=True, eq=False)
class TableTerms:
    """What features of columns and products of two add to each class, in parts of `TABLE_UNITS`, [term, class].

    The features come first, then each times itself and all that follow it. `beside` is what all that naive Bayes says
    is multiplied by: calibration has that in its weights.
    """

    scales: tuple[ColumnScale, ...]
    units: IntArray
    beside: float
    missing_is_value: bool = False

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TableTerms)
            and (self.scales, self.beside, self.missing_is_value)
            == (other.scales, other.beside, other.missing_is_value)
            and np.array_equal(self.units, other.units)
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are weighed."""
        return tuple(scale.column for scale in self.scales)

    def only(self, columns: Collection[str]) -> TableTerms:
        """The same for some columns: products with others are gone."""
        scales = tuple(scale for scale in self.scales if scale.column in columns)
        return replace(self, scales=scales, units=self.units[terms_among(self.scales, columns)])

    def relabelled(self, places: IntArray, classes: int) -> FloatArray:
        """The weights of so many classes: of those known at their new places, gone where these are below 0."""
        found, known = np.zeros((len(self.units), classes)), places >= 0
        found[:, places[known]] = self.units[:, known] / TABLE_UNITS
        return found


@dataclass(frozen=True)
class LinearTable(Family[Tally, Any, FloatArray, FloatArray]):
    """The reading of some columns that a layer weighs: no likelihood, and nothing that rows could be counted by."""

    scales: tuple[ColumnScale, ...] = field(default=(), kw_only=True)
    missing_is_value: bool = field(default=False, kw_only=True)
    statistic = Tally
    reads = CATEGORY
    is_joint = True
    is_read_off = False

    def among(self, columns: Collection[str]) -> BoolArray:
        """Which terms are of some columns alone."""
        return terms_among(self.scales, columns)

    @property
    def is_likelihood(self) -> bool:
        return False

    @property
    def is_auxiliary(self) -> bool:
        return True

    @property
    def aspect(self) -> str:
        """What calibration and explanations call it."""
        return "linear"

    def view(self, batch: Batch, columns: tuple[str, ...]) -> FloatArray:
        values = ColumnValues.of(batch, columns, self.missing_is_value).without_infinite()
        return np.concatenate([scale.features(values, index) for index, scale in enumerate(self.scales)], axis=1)

    def view_of_row(self, row: Mapping[str, Any], columns: tuple[str, ...]) -> FloatArray:
        """The same of a single row as streams have it."""
        return self.view(Batch.of({name: [row.get(name)] for name in columns}), columns)

    def score(self, parameters: FloatArray, values: FloatArray, joint: FloatArray) -> None:
        add_feature_products(values, len(self.scales), parameters, joint)

    def log_likelihood(self, parameters: FloatArray, values: FloatArray, joint: FloatArray) -> None:
        """Nothing: how likely the values are is told by the families of the columns."""

    def terms(
        self, parameters: FloatArray, values: FloatArray, row: Batch, columns: tuple[str, ...], seen: Any
    ) -> list[Term]:
        """What each column adds by itself and with others, half of every product: no likelihood, and no counts."""
        credit = np.zeros((len(columns), parameters.shape[1]))
        shorten_rows(values, len(columns), factor := np.empty(1))
        credit_columns(values[0], factor[0], owners(self.scales), parameters, credit)
        return [
            Term(f"{name} with others", value_shown(row, name), np.zeros_like(added), added=added)
            for name, added in zip(columns, credit, strict=True)
            if added.any()
        ]

    def silent(
        self, parameters: FloatArray, values: FloatArray, row: Batch, columns: tuple[str, ...], seen: Any
    ) -> list[Silence]:
        """Nothing: the columns themselves tell what is missing of them."""
        return []

    def builder(self, columns: tuple[str, ...], classes: int) -> NoReturn:
        raise NotImplementedError(NOT_COUNTED)

    def builder_over(self, seen: Tally) -> NoReturn:
        raise NotImplementedError(NOT_COUNTED)

    def read(self, batch: Batch, columns: tuple[str, ...]) -> FloatArray:
        return self.view(batch, columns)

    def learn(self, builder: Any, values: FloatArray, labels: IntArray, weights: AnyArray) -> None:
        raise NotImplementedError(NOT_COUNTED)

    def fit(self, seen: Tally, columns: tuple[str, ...]) -> FloatArray:
        raise NotImplementedError(NOT_COUNTED)

    def sample(self, parameters: FloatArray, label: int, rows: int, rng: np.random.Generator) -> Drawn:
        raise NotImplementedError("columns are drawn by their own families")


def value_shown(row: Batch, column: str) -> str:
    """The value of a column in a single row, a number as short as in the column's own term."""
    coded = row.categories(column)
    if coded.codes[0] < 0:
        return "missing"
    kind, value = key = coded.keys[coded.codes[0]]
    return shown_number(float(value)) if kind == "number" else shown(key)


NOT_COUNTED = "a layer is fitted on whole rows, not counted"
