"""What a column met in a stream is taken for: as the user said, else by the type of its first value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from candide.data.advice import PythonCode
from candide.data.batch import TEXT
from candide.data.errors import Location, RowsRefused
from candide.families.base.undecided import Undecided
from candide.families.words.unspaced import words_in
from candide.model.guess import Guess
from candide.model.options import Options, only
from candide.model.schema import Choice, chosen, families_by_column, is_left_to_us

SEVERAL_WORDS = 2
STRINGS = frozenset((str,))


def choices_for(options: Options, row: Mapping[str, Any], names: Sequence[str], leaves_open: bool) -> list[Choice]:
    """A family for each of these columns of a row, by which it answers until enough is known to read one off."""
    given = families_by_column(only(options.families, list(names)), names)
    smoothing = only(options.smoothing, list(names))
    recipes = options.text if isinstance(options.text, Mapping) else {}
    choices = []
    for name in names:
        if name in given:
            guess = Guess(given[name], "as you said")
        elif name in recipes:
            guess = Guess("text", "as you said")
        else:
            guess = guess_of(name, row[name], leaves_open)
        choice = chosen(name, guess, smoothing, options.missing == "value", options.text)
        is_text = name == TEXT and isinstance(row[name], str)
        is_open = leaves_open and name not in given and name not in recipes and not is_text
        if is_open and is_left_to_us(options.families, name):
            choice = replace(choice, remembered=Undecided(missing_is_value=options.missing == "value"))
        choices.append(choice)
    return choices


def guess_of(column: str, value: Any, leaves_open: bool = False) -> Guess:
    """A family from one value; where it is left open, several words may still turn out to be categories.

    >>> guess_of("note", "see you there").family, guess_of("colour", "red").family, guess_of("size", 3).family
    ('text', 'categorical', 'gaussian')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        if column == TEXT or (not leaves_open and words_in(value) >= SEVERAL_WORDS):
            return Guess("text", "the first row held several words" if column != TEXT else "a text")
        return Guess("categorical", "the first row held a word")
    if isinstance(value, bool):
        return Guess("bernoulli", "the first row held a truth value")
    if isinstance(value, bytes):
        return Guess("categorical", "the first row held bytes")
    return Guess("gaussian", "the first row held a number")


def row_of(x: Any, text_columns: Sequence[str]) -> Mapping[str, Any]:
    """One row as {column: value}: a string is the model's text."""
    if isinstance(x, str):
        return {text_columns[0] if len(text_columns) == 1 else TEXT: x}
    if not isinstance(x, Mapping):
        raise RowsRefused(
            f"One row is a text or a mapping of columns to values, not {type(x).__name__}.",
            advice=(
                "For many rows use ", PythonCode("partial_fit"), ", ", PythonCode("forget"), " and ",
                PythonCode("predict"), ".",
            ),
            where=Location(value=type(x).__name__),
            expected="a text or a mapping",
        )
    return x if STRINGS.issuperset(map(type, x)) else {str(name): value for name, value in x.items()}
