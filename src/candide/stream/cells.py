"""One value of one row: a number, a category, or nothing, with no table around it."""

from __future__ import annotations

import math
from typing import Any

from candide.data.batch import Batch
from candide.data.grid import SMALLEST_NORMAL
from candide.data.values import Key, key_of
from candide.families.base.support import Support, refusal

PLAIN = (str, int, float, bool, bytes)


def number_of(value: Any, name: str) -> float:
    """A value as a number, NaN where missing; as in a table, dates are seconds since 1970, subnormal numbers zero."""
    if isinstance(value, (float, int)):
        try:
            number = float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
        return 0.0 if -SMALLEST_NORMAL < number < SMALLEST_NORMAL else number
    if value is None:
        return math.nan
    return float(Batch.of({name: [value]}).numbers([name])[0, 0])


def within_support(support: Support, value: float, name: str, family: str) -> float:
    """The number itself, or a refusal where the family cannot take it; NaN passes."""
    if value == value and not support.holds(value):  # type: ignore[arg-type]
        raise refusal(name, family, support.needs, 0, value)
    return value


def category_of(value: Any, name: str) -> Key | None:
    """The identity of a category, None where missing."""
    if type(value) is str:
        return ("text", value)
    if type(value) in PLAIN or value is None:
        return key_of(value)
    coded = Batch.of({name: [value]}).categories(name)
    return coded.keys[coded.codes[0]] if coded.codes[0] >= 0 else None
