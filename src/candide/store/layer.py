"""The weights of a linear layer as arrays: terms of texts as they are spelled, those of a table in their order."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.values import Key
from candide.families.pairs.column_bins import ColumnBins
from candide.families.pairs.column_scale import ColumnScale
from candide.families.pairs.linear_table import TABLE_UNITS, TableTerms
from candide.families.words.event_models import NO_INTEGERS
from candide.families.words.linear_text import UNITS, LinearTerms
from candide.kernels.word_merging import Lines
from candide.model.linear_layer import LinearLayer
from candide.statistics.word_tally import running
from candide.store.narrow import narrow, take_narrow
from candide.store.parts import Parts, named_under
from candide.store.refusals import ModelFileRefused

COLUMN, TABLE = "column {}", "table"
LARGEST, LARGEST_OF_TABLE = 1000 * UNITS, 1_000_000 * TABLE_UNITS
"""No term adds more than this: products stay finite."""


def layer_data(layer: LinearLayer) -> dict[str, Any]:
    """What a file's head says of a layer."""
    said = {
        "classes": list(layer.classes),
        "columns": list(layer.columns),
        "strength": layer.strength,
        "rows": layer.rows,
    }
    return said if layer.table is None else {**said, "table": table_data(layer.table)}


def table_data(table: TableTerms) -> dict[str, Any]:
    """How columns of a table are read, and what is kept beside them."""
    scales = [
        {
            "column": scale.column,
            "edges": scale.bins.edges,
            "groups": scale.bins.groups,
            "knots": scale.knots,
            "scores": scale.scores,
            "shares": scale.shares,
        }
        for scale in table.scales
    ]
    return {"scales": scales, "beside": table.beside, "missing_is_value": table.missing_is_value}


def layer_arrays(layer: LinearLayer) -> dict[str, AnyArray]:
    """The weights, column by column; a number below zero is an odd one."""
    arrays: dict[str, AnyArray] = {}
    if layer.table is not None:
        arrays[TABLE] = narrow(odd_below_zero(layer.table.units.ravel()))
    for index, terms in enumerate(layer.columns.values()):
        lines = terms.lines
        arrays |= named_under(
            COLUMN.format(index),
            {
                "word_sizes": narrow(np.diff(lines.offsets)),
                "letters": lines.letters,
                "pairs": narrow(np.diff(lines.indptr)),
                "labels": narrow(lines.labels),
                "units": narrow(odd_below_zero(lines.counts)),
            },
        )
    return arrays


def read_layer(data: Any, parts: Parts) -> LinearLayer:
    """The layer that was written, its terms in canonical form."""
    classes: tuple[Key, ...] = tuple(map(tuple, data["classes"]))
    names, strength, rows = data["columns"], float(data["strength"]), data["rows"]
    is_named = all(isinstance(name, str) for name in names) and len({*classes}) == len(classes) > 0
    if not is_named or not (strength > 0 and rows >= 0) or len(data) > 5:
        raise ModelFileRefused("its linear layer does not say what it should")
    columns = {name: read_terms(parts.under(COLUMN.format(index)), len(classes)) for index, name in enumerate(names)}
    table = read_table(data["table"], parts, len(classes)) if "table" in data else None
    parts.refuse_rest()
    return LinearLayer(classes, columns, strength, rows, table)


def read_table(data: Any, parts: Parts, classes: int) -> TableTerms:
    """The terms of a table: as many as its columns have features and products."""
    scales = tuple(read_scale(**scale) for scale in data["scales"])
    width = sum(scale.width for scale in scales)
    terms, beside = width * (width + 3) // 2, float(data["beside"])
    units = not_odd(take_narrow(parts, TABLE, terms * classes)).reshape(terms, classes)
    is_told = 0 < beside <= 1 and len(data) == 3 and len({scale.column for scale in scales}) == len(scales) > 0
    if not is_told or not (np.abs(units) <= LARGEST_OF_TABLE).all():
        raise ModelFileRefused("its linear layer does not say what it should")
    return TableTerms(scales, units, beside, bool(data["missing_is_value"]))


def read_scale(column: str, edges: Any, groups: Any, knots: Any, scores: Any, shares: Any) -> ColumnScale:
    """How a column is read: by numbers that rise, or by bins each of which has a share."""
    bins = ColumnBins(column, edges, groups)
    of_bins, of_numbers = tuple(map(float, shares)), np.array([knots, scores], dtype=np.float64)
    keys = [key for group in bins.groups for key in group]
    is_told = isinstance(column, str) and len({*keys}) == len(keys) and rises(np.array(bins.edges))
    with np.errstate(over="ignore"):
        has_slopes = rises(of_numbers[0]) and bool(np.isfinite(np.diff(of_numbers[1]) / np.diff(of_numbers[0])).all())
    has_shares = len(of_bins) == bins.bins and all(0 <= share <= 1 for share in of_bins)
    if not (is_told and has_slopes and has_shares) or bool(len(knots)) == bool(bins.bins):
        raise ModelFileRefused("its linear layer does not say how a column is read")
    at, scored = (tuple(one) for one in of_numbers.tolist())
    return ColumnScale(bins, at, scored, of_bins)


def rises(numbers: FloatArray) -> bool:
    """Whether numbers are finite and each is larger than the one before."""
    return bool(np.isfinite(numbers).all() and (np.diff(numbers) > 0).all())


def odd_below_zero(numbers: IntArray) -> IntArray:
    """Whole numbers as numbers from zero up: one below zero is an odd one."""
    return np.where(numbers < 0, -2 * numbers - 1, 2 * numbers)


def not_odd(numbers: IntArray) -> IntArray:
    """The numbers again."""
    return np.where(numbers % 2 == 1, -(numbers + 1) // 2, numbers // 2)


def read_terms(parts: Parts, classes: int) -> LinearTerms:
    """The terms of one column."""
    sizes, pairs = take_narrow(parts, "word_sizes"), take_narrow(parts, "pairs")
    offsets, indptr = running(sizes), running(pairs)
    letters = parts.take("letters", np.uint8, int(offsets[-1]))
    labels = take_narrow(parts, "labels", int(indptr[-1]))
    odd = take_narrow(parts, "units", int(indptr[-1]))
    parts.refuse_rest()
    counts = not_odd(odd)
    by_pair = labels.astype(np.int32), counts
    terms = LinearTerms(Lines(offsets, letters, indptr, *by_pair, NO_INTEGERS.copy()))
    words = terms.words
    if (
        len(sizes) != len(pairs)
        or (pairs == 0).any()
        or not (np.abs(counts) <= LARGEST).all()
        or not counts.all()
        or (labels >= classes).any()
        or not rises_within(labels, indptr)
        or any(word >= after for word, after in itertools.pairwise(words))
    ):
        raise ModelFileRefused("its linear layer is not in canonical form")
    return terms


def rises_within(labels: IntArray, indptr: IntArray) -> bool:
    """Whether the labels of each term are sorted, none of them twice."""
    first = np.zeros(len(labels) + 1, dtype=bool)
    first[indptr] = True
    return bool((np.diff(labels, prepend=-1) > 0)[~first[:-1]].all()) if len(labels) else True
