"""How many digits of a probability are written: as many as people can use, unless they ask for others."""

from __future__ import annotations

import numpy as np

from candide.api.verbs.writing import TEXTUAL
from candide.data.advice import NamedOption, SetOption
from candide.data.arrays import FloatArray
from candide.data.errors import OptionRefused

USUAL, MOST, ALL = 6, 17, "all"
"""Six significant digits are far beyond what any probability is worth; seventeen are every digit of a double."""

TINY = float(np.finfo(np.float64).tiny)

EXACT_POWER, EXACT_DIGITS = 22, 15
"""Powers of ten up to this one, and whole numbers of so many digits, are doubles: their quotient rounds only once."""


def digits_for(asked: int | str | None, format: str | None) -> int | None:
    """The significant digits of a format, None for all: six in csv and tsv, all elsewhere.

    >>> digits_for(None, "csv"), digits_for(None, "jsonl"), digits_for(3, "tsv"), digits_for("all", "csv")
    (6, None, 3, None)
    """
    if asked is None:
        return USUAL if format in TEXTUAL else None
    if asked == ALL:
        return None
    if isinstance(asked, bool) or not isinstance(asked, int) or not 1 <= asked <= MOST:
        raise OptionRefused.of_option("digits", f"a whole number from 1 to {MOST}, or '{ALL}'", asked)
    if format not in TEXTUAL:
        advice = ("Leave it out, or write ", SetOption("output_format", "csv"), ".")
        raise OptionRefused(NamedOption("digits"), " is for csv and tsv; elsewhere every digit is kept.", advice=advice)
    return asked


def to_digits(chances: FloatArray, digits: int | None) -> FloatArray:
    """Probabilities with so many significant digits. What is not certain does not become one: it stays below.

    >>> to_digits(np.array([0.12345678, 2 / 3, 0.99999999, 1.0, 1.23456789e-30]), 6).tolist()
    [0.123457, 0.666667, 0.999999, 1.0, 1.23457e-30]
    """
    if digits is None or digits >= MOST:
        return chances
    found = chances.copy()
    decimals = digits - 1 - np.floor(np.log10(np.maximum(chances, TINY)))
    usual = (decimals <= EXACT_POWER) & (digits <= EXACT_DIGITS)
    scale = 10.0 ** decimals[usual]
    found[usual] = np.rint(chances[usual] * scale) / scale
    found[~usual] = [float(f"{chance:.{digits}g}") for chance in chances[~usual].tolist()]
    return np.where((found == 1.0) & (chances < 1.0), float(f"0.{'9' * digits}"), found)
