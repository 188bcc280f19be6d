"""Scripts written without spaces, seen from Python: how many words there are, and how to write them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from candide.families.words import alphabet_ranges

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


@lru_cache(maxsize=1)
def patterns() -> Patterns:
    """The regular expressions, made when first needed: they are long."""
    unit = f"[{characters(alphabet_ranges.UNSPACED + alphabet_ranges.EMOJI)}]"
    marks, looks = characters(alphabet_ranges.MARKS), characters(alphabet_ranges.LOOKS)
    written = f"{unit}[{marks}{looks}]*", f"[{characters(CHINESE)}]", f"({unit}[{marks}]*) (?={unit})"
    return Patterns(*map(re.compile, written))


def closed_up(term: str) -> str:
    """A run of words as people write it: no space between characters of a script that has none.

    >>> closed_up("東 京 city"), closed_up("new york")
    ('東京 city', 'new york')
    """
    return term if term.isascii() else patterns().gaps.sub(r"\1", term)


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
