"""Columns in which numbers stand beside words: each value as what it is."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pyarrow as pa

from candide.data.batch import ArrowColumns, Batch
from candide.sources.kinds import MISSING, NUMBER, matches_all

MIXED = "mixed"
"""What a model knows a column as that holds both."""


def with_numbers(batch: Batch, columns: Collection[str]) -> Batch:
    """The batch with those texts of some columns as numbers that look like one.

    >>> batch = Batch.of({"size": ["12", "big", None, "2.5"]})
    >>> with_numbers(batch, ["size"]).columns.raw(0)
    [12, 'big', None, 2.5]
    """
    if not columns or not isinstance(batch.columns, ArrowColumns):
        return batch
    pairs = zip(batch.names, batch.columns.columns, strict=True)
    values = tuple(as_they_are(column) if name in columns else column for name, column in pairs)
    return replace(batch, columns=replace(batch.columns, columns=values))


def as_they_are(column: Any) -> Any:
    """A column of text as a list of numbers, words and gaps; other columns stay what they are."""
    if not pa.types.is_string(column.type):
        return column
    return [None if text is None or text in MISSING else value_in(text) for text in column.to_pylist()]


def value_in(text: str) -> Any:
    """The number that a text is, or the text itself; what no double can hold stays text."""
    if not matches_all(pa.array([text.strip()]), NUMBER):
        return text
    number = float(text)
    if not math.isfinite(number):
        return text
    return int(number) if number == int(number) else number
