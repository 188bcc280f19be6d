"""Where the terms of one text lie in it, and how what a term says is shared out among the words it lies in.

Kernels number terms and forget where they were; an explanation of one text wants to know. So a single text is cut once
more here, in Python, by the same tables; the numbers of its terms come from the kernel, in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from candide.families.base.explaining import CHARACTER_RUNS, PAIRS, TRIPLES, WordShare
from candide.families.words.documents import Documents
from candide.families.words.options import TextOptions
from candide.families.words.parameters import TextParameters
from candide.families.words.vocabulary import letters_of, recipe_of
from candide.kernels.words import LETTER_BITS, SILENT, SPACE, SPECIAL, UNSPACED, Letters, Recipe

SILENT_LETTER, UNSPACED_LETTER, SPECIAL_LETTER = int(SILENT), int(UNSPACED), int(SPECIAL)
SPACE_LETTER, SPELLED = int(SPACE), int(LETTER_BITS)


class Unit(NamedTuple):
    """A word, or a character: where it is, how it is spelled, and whether it stands right after one like it.

    That is asked of the characters of scripts without spaces only: two that stand together are read as a word.
    """

    start: int
    end: int
    spelled: str
    goes_on: bool = False


class Placed(NamedTuple):
    """What a term of a text is, where it is no word by itself, and the words that its evidence belongs to."""

    run: str
    words: tuple[WordShare, ...]


def places(parameters: TextParameters, documents: Documents, text: str) -> dict[int, Placed]:
    """Of each kept term of a single text, by its row: the words it lies in, with shares that add up to one."""
    options, recipe = parameters.options, parameters.recipe
    units = text_units(text, options, parameters.letters, recipe)
    found: dict[int, list[tuple[int, int]]] = {}
    for row, run in zip(parameters.numbered_terms(documents), runs_of(units, recipe), strict=True):
        if row >= 0:
            found.setdefault(row, []).append(run)
    owners = owners_of(text, options) if options.characters else {}
    return {row: placed(units, runs, options.characters, owners) for row, runs in found.items()}


def placed(
    units: list[Unit], runs: list[tuple[int, int]], by_character: bool, owners: dict[int, Unit]
) -> Placed:
    """A term that occurs at some places: each gives its words the same, and what is in no word to nobody."""
    shares: dict[tuple[int, int, str], float] = {}
    for first, size in runs:
        words = touched(units[first : first + size], by_character, owners)
        for word in words:
            key = word[:3]
            shares[key] = shares.get(key, 0.0) + 1.0 / (len(words) * len(runs))
    first, size = runs[0]
    alone = size == 1 or all(unit.goes_on for unit in units[first + 1 : first + size])
    run = CHARACTER_RUNS if by_character else "" if alone else PAIRS if size == 2 else TRIPLES
    return Placed(run, tuple(WordShare(*key, share) for key, share in shares.items()))


def touched(run: list[Unit], by_character: bool, owners: dict[int, Unit]) -> list[Unit]:
    """The words that a run lies in, one for each of its words or letters; a nameless one where there is none."""
    if by_character:
        words = [owners[unit.start] for unit in run if unit.start in owners]
        return words or [Unit(0, 0, "")]
    if all(unit.goes_on for unit in run[1:]):
        return [Unit(run[0].start, run[-1].end, "".join(unit.spelled for unit in run))]
    return run


def owners_of(text: str, options: TextOptions) -> dict[int, Unit]:
    """The word that each letter of a text is part of."""
    whole = replace(options, characters=False, ngrams=1, shortest=1)
    words = text_units(text, whole, letters_of(whole), recipe_of(whole))
    return {place: word for word in words for place in range(word.start, word.end)}


def runs_of(units: list[Unit], recipe: Recipe) -> Iterator[tuple[int, int]]:
    """The runs of units, each by its first and how many they are, in the order in which kernels number them."""
    for size in range(recipe.shortest, recipe.ngrams + 1):
        yield from ((first, size) for first in range(len(units) - size + 1))
    if recipe.by_character:
        return
    for first in range(len(units)):
        for size in range(2, min(recipe.unspaced, len(units) - first) + 1):
            if not units[first + size - 1].goes_on:
                break
            if size > recipe.ngrams:
                yield first, size


def text_units(text: str, options: TextOptions, letters: Letters, recipe: Recipe) -> list[Unit]:
    """The words or characters of a text, as the kernels cut it."""
    origin = range(len(text))
    if options.lowered_first and not text.isascii():  # one capital has a lower case of two letters
        origin = [place for place, letter in enumerate(text) for _ in letter.lower()]  # type: ignore[assignment]
        text = text.lower()
    values = letter_values(text, letters)
    units = cut_characters(values) if recipe.by_character else cut_words(values, recipe.word_length)
    return [unit._replace(start=origin[unit.start], end=origin[unit.end - 1] + 1) for unit in units]


def letter_values(text: str, letters: Letters) -> list[int]:
    """What each character becomes, as the kernels' table has it."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.int64)
    values: list[int] = letters.values[(letters.pages[codes >> 7].astype(np.int64) << 7) | (codes & 127)].tolist()
    return values


def cut_characters(values: list[int]) -> Iterator[Unit]:
    """Each character of the folded text, of which one letter may give several; white space is one space."""
    after_space = False
    for place, letter in enumerate(values):
        if letter == SILENT_LETTER or (letter == SPACE_LETTER and after_space):
            continue
        after_space = letter == SPACE_LETTER
        yield from (Unit(place, place + 1, character) for character in folded_bytes(letter).decode())


def cut_words(values: list[int], word_length: int) -> Iterator[Unit]:
    """Words of so many characters at least: the slow twin of the kernels' loop."""
    place, alone_until = 0, -1
    while place < len(values):
        start, letters, alone = place, bytearray(), False
        characters = 0
        while place < len(values):
            letter = values[place]
            if letter != SILENT_LETTER:
                if letter >= UNSPACED_LETTER:
                    if characters:
                        break
                    alone = True
                elif letter < SPECIAL_LETTER and (letter == 0 or alone):
                    break
                characters += 1
                letters += folded_bytes(letter)
            place += 1
        if characters >= word_length:
            yield Unit(start, place, letters.decode(), alone and start == alone_until)
        alone_until = place if alone else -1
        place += place == start


def folded_bytes(letter: int) -> bytes:
    """The bytes that a character becomes."""
    bare = letter & SPELLED
    return bare.to_bytes((bare.bit_length() + 7) // 8, "little")
