"""Which characters make words and what they fold to: tables for the kernels, equal on every machine.

The default alphabet comes from ranges shipped with the package, so that Pythons of different ages agree. The
scikit-learn one asks the running Python, because that is what CountVectorizer does. The first alphabet Candide had
took every script to be written with spaces; it stays for the models that were made with it.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from candide.data.arrays import AnyArray
from candide.families.words import alphabet_ranges
from candide.kernels.words import EXTENDING, SILENT, SPACE, UNSPACED, Letters

CHARACTERS = sys.maxunicode + 1
PAGE, BLOCK = 128, 1 << 14
NOT_ASCII = np.uint64(1 << 63)


def version(words: str) -> str:
    """The name of an alphabet, for the fingerprint of what was counted with it."""
    if words == "sklearn":
        return f"python unicode {unicodedata.unidata_version}"
    if words == "spaced":
        return f"candide unicode {alphabet_ranges.UNICODE}"
    return f"candide 2 unicode {alphabet_ranges.UNICODE}"


@lru_cache(maxsize=16)
def default_letters(fold_case: bool, fold_accents: bool) -> Letters:
    """Words are runs of letters, digits, underscores and marks; characters of scripts without spaces are words alone.

    So are emoji. What only changes how an emoji or a letter looks is silent.
    """
    unspaced, looks = marked(alphabet_ranges.UNSPACED + alphabet_ranges.EMOJI), marked(alphabet_ranges.LOOKS)
    values = folded(encoded(marked(alphabet_ranges.WORDS) | unspaced), fold_case, fold_accents)
    values[unspaced] |= UNSPACED
    values[marked(alphabet_ranges.MARKS) & (values != SILENT)] |= EXTENDING
    values[looks] = SILENT
    return paged(values)


@lru_cache(maxsize=16)
def spaced_letters(fold_case: bool, fold_accents: bool) -> Letters:
    """Words are runs of letters, digits, underscores and combining marks in every script: the first alphabet."""
    return paged(folded(encoded(marked(alphabet_ranges.WORDS)), fold_case, fold_accents))


@lru_cache(maxsize=16)
def character_letters(fold_case: bool, fold_accents: bool) -> Letters:
    """Every character is itself; white space and control characters are a space."""
    values = encoded(np.ones(CHARACTERS, dtype=bool))
    values[marked(alphabet_ranges.SPACES)] = SPACE
    values[0xD800:0xE000] = values[0xFFFD]
    return paged(folded(values, fold_case, fold_accents))


@lru_cache(maxsize=16)
def sklearn_letters(fold_case: bool) -> Letters:
    r"""Words are runs of \w, lower-cased by the running Python; Σ and İ are unsteady: see `documents`."""
    everything = "".join(chr(code) if not 0xD800 <= code < 0xE000 else " " for code in range(CHARACTERS))
    word = np.zeros(CHARACTERS, dtype=bool)
    for found in re.finditer(r"(?u)\w+", everything):
        word[found.start() : found.end()] = True
    plain = encoded(word)
    values = plain.copy()
    if fold_case:
        for code, character in enumerate(everything):
            lowered = character.lower()
            if lowered != character:
                values[code] = plain[ord(lowered)] if len(lowered) == 1 else 0
    return paged(values)


def folded(values: AnyArray, fold_case: bool, fold_accents: bool) -> AnyArray:
    """The values with each character that folds replaced by what it folds to, first accents, then case."""
    accents = dict(changes(alphabet_ranges.ACCENTS)) if fold_accents else {}
    cases = dict(changes(alphabet_ranges.CASES)) if fold_case else {}
    for code in {*accents, *cases}:
        if values[code]:
            bare = accents.get(code, chr(code))
            text = "".join(cases.get(ord(character), character) for character in bare)
            values[code] = int.from_bytes(text.encode(), "little") or SILENT
    return values


def paged(values: AnyArray) -> Letters:
    """A table by code point as pages of 128, those without a word character sharing page 0."""
    rows = values.reshape(-1, PAGE)
    used = np.flatnonzero(rows.any(axis=1))
    pages = np.zeros(len(rows), dtype=np.uint16)
    pages[used] = np.arange(1, len(used) + 1)
    kept = np.concatenate([np.zeros((1, PAGE), dtype=np.uint64), rows[used]])
    first = np.full(256, NOT_ASCII)
    first[:PAGE] = rows[0]
    for table in (first, pages, kept):
        table.flags.writeable = False
    return Letters(first, pages, kept.reshape(-1))


def encoded(held: AnyArray) -> AnyArray:
    """The UTF-8 bytes of the code points that are held, packed little-endian into 64 bits; 0 of others.

    Made block by block, so that a million code points take no more memory than those that are held.
    """
    values = np.zeros(CHARACTERS, dtype=np.uint64)
    for start in range(0, CHARACTERS, BLOCK):
        codes = np.flatnonzero(held[start : start + BLOCK]).astype(np.uint64) + np.uint64(start)
        values[codes] = packed(codes)
    return values


def packed(code: AnyArray) -> AnyArray:
    """The UTF-8 bytes of code points, packed little-endian."""

    def tail(shift: int) -> AnyArray:
        return ((code >> np.uint64(shift)) & np.uint64(0x3F)) | np.uint64(0x80)

    def pack(*parts: AnyArray) -> AnyArray:
        together = np.zeros(len(code), dtype=np.uint64)
        for index, part in enumerate(parts):
            together |= part << np.uint64(8 * index)
        return together

    two = pack((code >> np.uint64(6)) | np.uint64(0xC0), tail(0))
    three = pack((code >> np.uint64(12)) | np.uint64(0xE0), tail(6), tail(0))
    four = pack((code >> np.uint64(18)) | np.uint64(0xF0), tail(12), tail(6), tail(0))
    return np.select([code < 0x80, code < 0x800, code < 0x10000], [code, two, three], four)


def marked(ranges: str) -> AnyArray:
    """Which code points the ranges hold."""
    held = np.zeros(CHARACTERS, dtype=bool)
    for written in ranges.split():
        first, _, last = written.partition("-")
        held[int(first, 16) : int(last or first, 16) + 1] = True
    return held


def changes(folds: str) -> Iterator[tuple[int, str]]:
    """Each character that folds, with what it becomes."""
    for written in folds.split():
        if "=" in written:
            single, _, parts = written.partition("=")
            yield int(single, 16), "".join(chr(int(part, 16)) for part in parts.split("+") if part)
            continue
        codes, _, move = written.partition(":")
        codes, _, step = codes.partition("/")
        first, _, last = codes.partition("-")
        for code in range(int(first, 16), int(last or first, 16) + 1, int(step or 1)):
            yield code, chr(code + int(move, 16))
