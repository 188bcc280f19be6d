"""Names, values and words as a picture can hold them: nothing that cannot be drawn, nothing too long."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

UNPRINTABLE = "\ufffd"
WIDE = 1.8
"""How many ordinary letters a Chinese one or an emoji is as wide as."""


def lettered(text: object, longest: int = 24) -> str:
    """A user's string in at most so many letters, ending in … where it was longer.

    >>> lettered("Southampton", 8), lettered("a\\nb\\x00c")
    ('Southam…', 'a b\ufffdc')
    """
    clean = "".join(drawable(letter) for letter in str(text)[: 2 * longest + 8])
    if width(clean) <= longest and len(str(text)) <= 2 * longest + 8:
        return clean
    while clean and width(clean) > longest - 1:
        clean = clean[:-1]
    return f"{clean.rstrip()}…"


def drawable(letter: str) -> str:
    """A letter, or what stands for one that has no shape."""
    return letter if letter.isprintable() else " " if letter.isspace() else UNPRINTABLE


def width(text: str) -> float:
    """How many ordinary letters a text is as wide as."""
    return sum(WIDE if unicodedata.east_asian_width(letter) in "WF" else 1.0 for letter in text)


def apart(texts: Sequence[object], longest: int = 24) -> list[str]:
    """The same for several names: different ones that would look alike are numbered.

    >>> apart(["a very long name", "a very long nose", "fig"], 8)
    ['a ver…·1', 'a ver…·2', 'fig']
    """
    short = [lettered(text, longest) for text in texts]
    alike: dict[str, dict[object, int]] = {}
    for text, name in zip(texts, short, strict=True):
        numbers = alike.setdefault(name, {})
        numbers.setdefault(text, len(numbers) + 1)
    return [
        name if len(alike[name]) == 1 else f"{lettered(text, longest - 2)}·{alike[name][text]}"
        for text, name in zip(texts, short, strict=True)
    ]


def figure_of(value: float, digits: int = 4) -> str:
    """A number in few letters.

    >>> figure_of(190340.9), figure_of(36.783), figure_of(0.00012345), figure_of(-4.0)
    ('190,341', '36.78', '0.0001234', '−4')
    """
    said = f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.{digits}g}"
    return said.replace("-", "−")


def share_of(value: float) -> str:
    """A share as percent, as exact as a picture needs.

    >>> share_of(0.254), share_of(0.0312), share_of(0.999), share_of(0.0)
    ('25%', '3.1%', '99.9%', '0%')
    """
    percent = 100 * value
    near_an_end = 0 < percent < 10 or 99 < percent < 100
    return f"{percent:.1f}%" if near_an_end else f"{percent:.0f}%"
