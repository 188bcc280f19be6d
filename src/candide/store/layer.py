"""The weights of a linear layer as arrays: terms as they are spelled, and what each adds to each class, in units."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from candide.data.arrays import AnyArray, IntArray
from candide.data.values import Key
from candide.families.words.event_models import NO_INTEGERS
from candide.families.words.linear_text import UNITS, LinearTerms
from candide.kernels.word_merging import Lines
from candide.model.linear_layer import LinearLayer
from candide.statistics.word_tally import running
from candide.store.narrow import narrow, take_narrow
from candide.store.parts import Parts, named_under
from candide.store.refusals import ModelFileRefused

COLUMN = "column {}"
LARGEST = 1000 * UNITS
"""No term adds more than this: products stay finite."""


def layer_data(layer: LinearLayer) -> dict[str, Any]:
    """What a file's head says of a layer."""
    return {
        "classes": list(layer.classes),
        "columns": list(layer.columns),
        "strength": layer.strength,
        "rows": layer.rows,
    }


def layer_arrays(layer: LinearLayer) -> dict[str, AnyArray]:
    """The weights, column by column; a number below zero is an odd one."""
    arrays: dict[str, AnyArray] = {}
    for index, terms in enumerate(layer.columns.values()):
        lines = terms.lines
        arrays |= named_under(
            COLUMN.format(index),
            {
                "word_sizes": narrow(np.diff(lines.offsets)),
                "letters": lines.letters,
                "pairs": narrow(np.diff(lines.indptr)),
                "labels": narrow(lines.labels),
                "units": narrow(np.where(lines.counts < 0, -2 * lines.counts - 1, 2 * lines.counts)),
            },
        )
    return arrays


def read_layer(data: Any, parts: Parts) -> LinearLayer:
    """The layer that was written, its terms in canonical form."""
    classes: tuple[Key, ...] = tuple(map(tuple, data["classes"]))
    names, strength, rows = data["columns"], float(data["strength"]), data["rows"]
    if not all(isinstance(name, str) for name in names) or not (strength > 0 and rows >= 0) or len(data) > 4:
        raise ModelFileRefused("its linear layer does not say what it should")
    columns = {name: read_terms(parts.under(COLUMN.format(index)), len(classes)) for index, name in enumerate(names)}
    parts.refuse_rest()
    return LinearLayer(classes, columns, strength, rows)


def read_terms(parts: Parts, classes: int) -> LinearTerms:
    """The terms of one column."""
    sizes, pairs = take_narrow(parts, "word_sizes"), take_narrow(parts, "pairs")
    offsets, indptr = running(sizes), running(pairs)
    letters = parts.take("letters", np.uint8, int(offsets[-1]))
    labels = take_narrow(parts, "labels", int(indptr[-1]))
    odd = take_narrow(parts, "units", int(indptr[-1]))
    parts.refuse_rest()
    counts = np.where(odd % 2 == 1, -(odd + 1) // 2, odd // 2)
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
