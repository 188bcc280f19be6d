"""What the user said of a column, and what is left open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from candide.model.schema import Families, Smoothing


def by_hand(families: Families, column: str) -> Any:
    """What the user said of a column: "auto" where nothing."""
    return families.get(column, "auto") if isinstance(families, Mapping) else families


def is_open(smoothing: Smoothing, column: str) -> bool:
    """Whether smoothing is ours to choose."""
    return smoothing == "auto" or (isinstance(smoothing, Mapping) and column not in smoothing)
