"""Scripts written without spaces, seen from Python: where their words are, how many there are, how to write them.

The kernels cut text by the table of the alphabet; here is the same rule for those who show a text or look at it once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from candide.data.arrays import AnyArray
from candide.families.words import alphabet_ranges
from candide.families.words.alphabet import CHARACTERS, marked

OUTSIDE, LETTER, ALONE, MARK, LOOK = range(5)
CHINESE_CHARACTERS_A_WORD, CHARACTERS_A_WORD = 2, 4
CHINESE = "3005-3007 3400-4dbf 4e00-9fff f900-faff 20000-3134a"


def characters(ranges: str) -> str:
    """Ranges as a regular expression has them between brackets.

    >>> characters("41-5a 5f")
    '\\\\U00000041-\\\\U0000005a\\\\U0000005f-\\\\U0000005f'
    """
    pairs = (written.partition("-") for written in ranges.split())
    return "".join(rf"\U{first:0>8}-\U{last or first:0>8}" for first, _, last in pairs)


SPACED_WORDS = re.compile(r"\w+")


class Patterns(NamedTuple):
    """What is looked for in texts that are not ASCII."""

    units: re.Pattern[str]
    chinese: re.Pattern[str]
    gaps: re.Pattern[str]
    looks: re.Pattern[str]


@lru_cache(maxsize=1)
def patterns() -> Patterns:
    """The regular expressions, made when first needed: they are long."""
    unit = f"[{characters(alphabet_ranges.UNSPACED + alphabet_ranges.EMOJI)}]"
    marks, looks = characters(alphabet_ranges.MARKS), characters(alphabet_ranges.LOOKS)
    written = f"{unit}[{marks}{looks}]*", f"[{characters(CHINESE)}]", f"({unit}[{marks}]*) (?={unit})", f"[{looks}]"
    return Patterns(*map(re.compile, written))


def closed_up(term: str) -> str:
    """A run of words as people write it: no space between characters of a script that has none.

    >>> closed_up("東 京 city"), closed_up("new york")
    ('東京 city', 'new york')
    """
    return term if term.isascii() else patterns().gaps.sub(r"\1", term)


def without_looks(text: str) -> str:
    """The text without what only changes how its characters look."""
    return text if text.isascii() else patterns().looks.sub("", text)


def words_in(text: str) -> float:
    """About how many words a text has: by its spaces, or by its length where its script has none.

    >>> words_in("see you there"), words_in("北京"), words_in("今天天气很好，我们去公园。")
    (3, 1.0, 5.5)
    """
    units = 0 if text.isascii() else len(patterns().units.findall(text))
    if not units:
        return len(text.split())
    chinese = len(patterns().chinese.findall(text))
    spaced = len(SPACED_WORDS.findall(patterns().units.sub(" ", text)))
    return spaced + chinese / CHINESE_CHARACTERS_A_WORD + (units - chinese) / CHARACTERS_A_WORD


def spans(text: str) -> Iterator[tuple[int, int]]:
    """Where words begin and end, as the default alphabet has them.

    >>> list(spans("I ❤\\ufe0f 東京!"))
    [(0, 1), (2, 4), (5, 6), (6, 7)]
    """
    start, unspaced, filled = -1, False, False
    for index, kind in enumerate([*character_kinds(text), OUTSIDE]):
        if kind == OUTSIDE or (kind == ALONE and filled) or (kind == LETTER and unspaced):
            if filled:
                yield start, index
            start, unspaced, filled = -1, False, False
        if kind != OUTSIDE:
            start = index if start < 0 else start
            unspaced, filled = unspaced or kind == ALONE, filled or kind != LOOK


def character_kinds(text: str) -> list[int]:
    """What each character is to a word."""
    codes = np.array([ord(character) for character in text], dtype=np.int64)
    kinds: list[int] = kind_table()[codes].tolist()
    return kinds


@lru_cache(maxsize=1)
def kind_table() -> AnyArray:
    """The kind of every character."""
    table = np.full(CHARACTERS, OUTSIDE, dtype=np.uint8)
    table[marked(alphabet_ranges.WORDS)] = LETTER
    table[marked(alphabet_ranges.UNSPACED + alphabet_ranges.EMOJI)] = ALONE
    table[marked(alphabet_ranges.MARKS)] = MARK
    table[marked(alphabet_ranges.LOOKS)] = LOOK
    return table
