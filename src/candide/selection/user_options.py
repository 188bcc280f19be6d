"""What the user said of a column, and what is left open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from candide.families.base.family import Family
from candide.model.options import Options
from candide.model.schema import IGNORE, OPEN, Choice, Families, Schema, Smoothing


def by_hand(families: Families, column: str) -> Any:
    """What the user said of a column: "auto" where nothing."""
    return families.get(column, "auto") if isinstance(families, Mapping) else families


def is_open(smoothing: Smoothing, column: str) -> bool:
    """Whether smoothing is ours to choose."""
    return smoothing == "auto" or (isinstance(smoothing, Mapping) and column not in smoothing)


def is_settled(options: Options, schema: Schema) -> bool:
    """Whether rows are only counted: all families, recipes and smoothing were said, and nothing is calibrated."""
    return not options.calibrate and all(is_said(options, choice) for choice in schema.choices)


def is_said(options: Options, choice: Choice) -> bool:
    """Whether all about a column was said by the user."""
    said, family = by_hand(options.families, choice.column), choice.family
    if family is None or isinstance(said, Family):
        return said == IGNORE or isinstance(said, Family)
    if said in OPEN or family.chooses:
        return False
    given = options.text.get(choice.column) if isinstance(options.text, Mapping) else options.text
    is_read_as_said = not family.has_recipe or (given is not None and given == given.definite())
    is_smoothed = not (family.adds_counts or family.has_recipe) or not is_open(options.smoothing, choice.column)
    return is_read_as_said and is_smoothed
