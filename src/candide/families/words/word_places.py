"""Where the terms of one text lie in it, and how what a term says is shared out among the words it lies in.

Kernels number terms and forget where they were; an explanation of one text wants to know. So a single text is cut once
more here, in Python, by the same tables; the numbers of its terms come from the kernel, in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
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


NO_WORD = Unit(0, 0, "")


class Placed(NamedTuple):
    """What a term of a text is, where it is no word by itself, and the words that its evidence belongs to."""

    run: str
    words: tuple[WordShare, ...]


def places(parameters: TextParameters, documents: Documents, text: str) -> dict[int, Placed]:
    """Of each kept term of a single text, by its row: the words it lies in, with shares that add up to one."""
    options, recipe = parameters.options, parameters.recipe
    units = cut_once(documents, text, options)
    found: dict[int, list[tuple[int, int]]] = {}
    for row, run in zip(parameters.numbered_terms(documents), runs_of(units, recipe), strict=True):
        if row >= 0:
            found.setdefault(row, []).append(run)
    if options.characters:
        words = cut_once(documents, text, replace(options, characters=False, ngrams=1, shortest=1))
        owners = owners_of(words)
        return {row: placed_letters(units, runs, owners) for row, runs in found.items()}
    return {row: placed_words(units, runs) for row, runs in found.items()}


def placed_words(units: list[Unit], runs: list[tuple[int, int]]) -> Placed:
    """A run of words gives each of them the same; characters that stand together are one word."""
    run, shares = "", []
    for first, size in runs:
        words = units[first : first + size]
        if size == 1 or (words[1].goes_on and words[-1].goes_on):
            whole = "".join(word.spelled for word in words)
            shares.append(WordShare(words[0].start, words[-1].end, whole, 1.0 / len(runs)))
        else:
            run, share = PAIRS if size == 2 else TRIPLES, 1.0 / (size * len(runs))
            shares += [WordShare(word.start, word.end, word.spelled, share) for word in words]
    return Placed(run, tuple(shares))


def placed_letters(units: list[Unit], runs: list[tuple[int, int]], owners: dict[int, Unit]) -> Placed:
    """A run of characters gives to the words it touches, by the letters it has of each; else to no word."""
    shares = []
    for first, size in runs:
        words = [owners[unit.start] for unit in units[first : first + size] if unit.start in owners]
        share = 1.0 / (max(len(words), 1) * len(runs))
        touched = [(word, len(list(letters))) for word, letters in groupby(words)] or [(NO_WORD, 1)]
        shares += [WordShare(word.start, word.end, word.spelled, letters * share) for word, letters in touched]
    return Placed(CHARACTER_RUNS, tuple(shares))


def owners_of(words: list[Unit]) -> dict[int, Unit]:
    """The word that each letter of a text is part of."""
    return {place: word for word in words for place in range(word.start, word.end)}


def cut_once(documents: Documents, text: str, options: TextOptions) -> list[Unit]:
    """The words or characters of a single text, cut once for all readings that share them."""
    recipe = recipe_of(options)
    alphabet = options.words, options.fold_case, options.fold_accents
    key = ("units", *alphabet, recipe.word_length, recipe.by_character)
    if key not in documents.cuts:
        documents.cuts[key] = text_units(text, options, letters_of(options), recipe)
    found: list[Unit] = documents.cuts[key]
    return found


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
