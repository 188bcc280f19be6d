"""Writes `alphabet_ranges.py` from Python's own Unicode data: python -m candide.families.words.alphabet_maker

Run it under a newer Python to move to a newer Unicode. The version is part of every text block's fingerprint, so
models made with different alphabets do not mix unnoticed.
"""

from __future__ import annotations

import sys
import textwrap
import unicodedata
from collections.abc import Iterable
from pathlib import Path

HEADER = '''"""The characters of words and how they fold: Unicode {version}. Written by `alphabet_maker.py`.

Numbers are hexadecimal code points. A range is `first-last` or a single number. A fold is `range:steps`, with how
far every character of the range moves, or `number=numbers` where one becomes several; `first-last/2` takes every
second.
"""

'''
#: Blocks of combining marks that are accents; the marks of other scripts are vowels and belong to the word.
ACCENTS = ((0x300, 0x36F), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF), (0x20D0, 0x20FF), (0xFE20, 0xFE2F))
#: How the letters of scripts begin their names that are written without spaces between words.
UNSPACED = (
    "CJK UNIFIED IDEOGRAPH", "CJK COMPATIBILITY IDEOGRAPH", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA",
    "HENTAIGANA", "VERTICAL KANA", "BOPOMOFO", "NUSHU", "TANGUT", "THAI", "LAO", "KHMER", "MYANMAR", "TAI LE",
    "NEW TAI LUE", "TAI THAM", "TAI VIET", "AHOM", "BALINESE", "JAVANESE",
)  # fmt: skip
#: Blocks whose symbols are emoji; the last one also where Unicode has yet to name them.
EMOJI = ((0x2300, 0x23FF), (0x2600, 0x27BF), (0x2B00, 0x2BFF), (0x1F000, 0x1FAFF))
#: The zero width joiner, skin tones and the tags of flags: like variation selectors, they only change a look.
LOOKS = ((0x200D, 0x200D), (0x1F3FB, 0x1F3FF), (0xE0020, 0xE007F))


def is_unspaced(character: str) -> bool:
    """Letters of a script written without spaces; its digits make numbers, and its marks belong to a letter."""
    category = unicodedata.category(character)
    return category in ("Lo", "Lm", "Nl") and unicodedata.name(character, "").startswith(UNSPACED)


def is_emoji(character: str) -> bool:
    """Symbols that stand for a word."""
    known = ("So", "Cn") if within(character, EMOJI[-1:]) else ("So",)
    return within(character, EMOJI) and unicodedata.category(character) in known


def is_look(character: str) -> bool:
    """What changes how the character before it looks, and says nothing."""
    return within(character, LOOKS) or "VARIATION SELECTOR" in unicodedata.name(character, "")


def within(character: str, blocks: tuple[tuple[int, int], ...]) -> bool:
    """Whether a character is in one of the blocks."""
    return any(low <= ord(character) <= high for low, high in blocks)


def is_word(character: str) -> bool:
    """Letters, marks, numbers and the underscore."""
    return character == "_" or unicodedata.category(character)[0] in "LMN"


def is_mark(character: str) -> bool:
    """Marks that belong to the character before them."""
    return unicodedata.category(character)[0] == "M"


def without_accents(character: str) -> str:
    """The character without the accents it is composed with."""
    parts = unicodedata.normalize("NFD", character)
    left = "".join(part for part in parts if not within(part, ACCENTS))
    return left if len(left) < len(parts) else character


def ranges(codes: Iterable[int]) -> list[str]:
    """Sorted numbers as runs."""
    runs: list[list[int]] = []
    for code in codes:
        if runs and code == runs[-1][1] + 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    return [f"{low:x}" if low == high else f"{low:x}-{high:x}" for low, high in runs]


def folds(changes: dict[int, str]) -> list[str]:
    """Changed characters: runs that move equally far, and those that become none or several."""
    moves = {code: ord(text) - code for code, text in changes.items() if len(text) == 1}
    written = []
    left = sorted(moves)
    while left:
        first = left[0]
        step = 1 if moves.get(first + 1) == moves[first] else 2
        last = first
        while moves.get(last + step) == moves[first] and (last + step) in moves:
            last += step
        taken = set(range(first, last + 1, step))
        left = [code for code in left if code not in taken]
        name = f"{first:x}" if first == last else f"{first:x}-{last:x}" + ("/2" if step == 2 else "")
        written.append(f"{name}:{moves[first]:x}")
    several = {code: "+".join(f"{ord(part):x}" for part in text) for code, text in changes.items() if len(text) != 1}
    return written + [f"{code:x}={parts}" for code, parts in several.items()]


def constant(name: str, entries: list[str]) -> str:
    """A constant as it stands in the file."""
    lines = textwrap.wrap(" ".join(entries), 110, break_on_hyphens=False)
    return f"{name} = \"\"\"\n" + "\n".join(lines) + '\n"""\n'


def main() -> None:
    """Write the file beside this one."""
    characters = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF]
    cases = {ord(c): c.casefold() for c in characters if c.casefold() != c}
    accents = {ord(c): without_accents(c) for c in characters if without_accents(c) != c}
    text = HEADER.format(version=unicodedata.unidata_version)
    text += f'UNICODE = "{unicodedata.unidata_version}"\n\n'
    text += constant("WORDS", ranges(ord(c) for c in characters if is_word(c))) + "\n"
    kinds = {"MARKS": is_mark, "UNSPACED": is_unspaced, "EMOJI": is_emoji, "LOOKS": is_look}
    for name, holds in kinds.items():
        text += constant(name, ranges(ord(c) for c in characters if holds(c))) + "\n"
    spaces = (ord(c) for c in characters if c.isspace() or unicodedata.category(c) == "Cc")
    text += constant("SPACES", ranges(spaces)) + "\n"
    text += constant("CASES", folds(cases)) + "\n"
    text += constant("ACCENTS", folds(accents))
    Path(__file__).with_name("alphabet_ranges.py").write_text(text)


if __name__ == "__main__":
    main()
