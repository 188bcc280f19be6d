"""From UTF-8 bytes to term numbers: words found, folded and looked up in one pass, with no object per word.

A term is a word, a character, or a run of up to n of them. Its number comes from an open-addressing table whose
keys are one 64-bit integer each:

- a word of up to eight bytes is its own key, packed little-endian;
- a longer word has a key whose top byte is 255 and whose rest is a hash; its bytes are compared in an arena;
- a run of words has a key whose top byte is 254 and whose rest is two numbers of 28 bits: the run without its last
  word, and that word. So n-grams are never spelled while counting.

No byte of UTF-8 is 254 or 255, and no word contains a zero byte, so the three kinds cannot be confused.

Documents are numbered whole: when something is too small the kernel stops before the document, the caller makes
room and goes on at the same document. Terms met in the broken attempt are simply found again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from candide.arrays import AnyArray, IntArray
from candide.kernels import compiled

#: What a kernel answers, instead of how many terms it found, when there was no room for them.
TERMS_FULL, ARENA_FULL, SCRATCH_FULL, PAIRS_FULL = -1, -2, -3, -4
#: Numbers below this are terms that are not in the vocabulary, told apart by their hash.
UNKNOWN = -16
#: The most terms a vocabulary can hold.
MOST_TERMS = 1 << 28

EMPTY = np.uint64(0)
ZERO, ONE, EIGHT, SIXTY_FOUR = np.uint64(0), np.uint64(1), np.uint64(8), np.uint64(64)
BYTE, LAST_ASCII = np.uint64(0xFF), np.uint64(0x7E)
LEADING, CONTINUING = np.uint64(0xC0), np.uint64(0x80)
HASH_BITS = np.uint64((1 << 56) - 1)
LONG_WORD, RUN_OF_WORDS = np.uint64(0xFF << 56), np.uint64(0xFE << 56)
TERM_BITS = np.uint64(28)
MULTIPLIER, SECOND_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
HALF, SIGN = np.uint64(32), np.uint64(2)
#: The table's value for a letter that is part of a word but leaves nothing of itself, such as a folded accent.
SILENT = np.uint64(0xFF << 56)
SPACE = np.uint64(32)
SHORTEST_LONG_WORD = 9


class Letters(NamedTuple):
    """What each character becomes: 0 ends a word, else the folded UTF-8 bytes packed little-endian.

    `first[byte]` answers for ASCII and holds a value above 127 for every other byte; `pages[code >> 7]` says which
    128 entries of `values` answer for the rest.
    """

    first: AnyArray
    pages: AnyArray
    values: AnyArray


class Recipe(NamedTuple):
    """How text is cut: characters in the shortest word, longest run, whether units are characters, hashed bits."""

    shortest: int
    ngrams: int
    by_character: int
    hashed: int


class Terms(NamedTuple):
    """A vocabulary: the table (key, number + 1), the arena of long words, and where to spell each term from.

    length[term] is the number of bytes of a word, with place[term] its packed bytes up to eight and its start in the
    arena beyond; 0 for a run of words, with place[term] the two numbers it is made of.
    sizes holds how many terms and how much of the arena are in use.
    """

    slots: AnyArray
    arena: AnyArray
    place: AnyArray
    length: AnyArray
    sizes: IntArray


class Scratch(NamedTuple):
    """Room for one document: term numbers, amounts, a small table to join equal ones, a long word, a window."""

    ids: IntArray
    amounts: IntArray
    joined: IntArray
    tail: AnyArray
    window: IntArray


@compiled
def mixed(key: np.uint64) -> np.uint64:
    """Scatter 64 bits: multiply and fold, twice."""
    value = (key ^ (key >> HALF)) * MULTIPLIER
    value = (value ^ (value >> HALF)) * SECOND_MULTIPLIER
    return value ^ (value >> HALF)


@compiled
def decoded(text: AnyArray, position: int, stop: int) -> tuple[int, int]:
    """The code point at a byte and its width; what is not UTF-8 counts as U+FFFD, one byte wide."""
    lead = np.int64(text[position])
    if lead < 0x80:
        return lead, 1
    if lead < 0xC2 or lead > 0xF4:
        return 0xFFFD, 1
    width = 2 if lead < 0xE0 else (3 if lead < 0xF0 else 4)
    if position + width > stop:
        return 0xFFFD, 1
    code = lead & (0xFF >> (width + 1))
    for step in range(1, width):
        byte = np.int64(text[position + step])
        if byte & 0xC0 != 0x80:
            return 0xFFFD, 1
        code = (code << 6) | (byte & 0x3F)
    if (width == 3 and (code < 0x800 or 0xD800 <= code <= 0xDFFF)) or (
        width == 4 and (code < 0x10000 or code > 0x10FFFF)
    ):
        return 0xFFFD, 1
    return code, width


@compiled
def same_word(arena: AnyArray, start: int, tail: AnyArray, chunks: int) -> bool:
    for chunk in range(chunks):
        if arena[start + chunk] != tail[chunk]:
            return False
    return True


@compiled
def number_of_key(key: np.uint64, place: int, terms: Terms, hashed: int, learning: bool) -> int:
    """The number of a short word or a run: found, made when learning, else below UNKNOWN."""
    scattered = mixed(key)
    if hashed:
        return np.int64(scattered >> (SIXTY_FOUR - np.uint64(hashed)))
    slots = terms.slots
    mask = np.uint64((slots.size >> 1) - 1)
    slot = scattered & mask
    while True:
        stored = slots[slot << ONE]
        if stored == key:
            return np.int64(slots[(slot << ONE) + ONE])
        if stored == EMPTY:
            break
        slot = (slot + ONE) & mask
    if not learning:
        return UNKNOWN - 1 - np.int64(scattered >> SIGN)
    term = terms.sizes[0]
    if term >= terms.place.size:
        return TERMS_FULL
    slots[slot << ONE] = key
    slots[(slot << ONE) + ONE] = np.uint64(term)
    terms.place[term] = place
    terms.sizes[0] = term + 1
    return term


@compiled
def number_of_long_word(tail: AnyArray, chunks: int, length: int, terms: Terms, hashed: int, learning: bool) -> int:
    """The same for a word of more than eight bytes, given in `chunks` of eight."""
    scattered = ZERO
    for chunk in range(chunks):
        scattered = mixed(scattered ^ tail[chunk])
    if hashed:
        return np.int64(scattered >> (SIXTY_FOUR - np.uint64(hashed)))
    key = LONG_WORD | (scattered & HASH_BITS)
    slots = terms.slots
    mask = np.uint64((slots.size >> 1) - 1)
    slot = mixed(key) & mask
    while True:
        stored = slots[slot << ONE]
        if stored == key:
            term = np.int64(slots[(slot << ONE) + ONE])
            if terms.length[term] == length and same_word(terms.arena, terms.place[term], tail, chunks):
                return term
        if stored == EMPTY:
            break
        slot = (slot + ONE) & mask
    if not learning:
        return UNKNOWN - 1 - np.int64(scattered >> SIGN)
    term = terms.sizes[0]
    if term >= terms.place.size:
        return TERMS_FULL
    start = terms.sizes[1]
    if start + chunks > terms.arena.size:
        return ARENA_FULL
    terms.arena[start : start + chunks] = tail[:chunks]
    slots[slot << ONE] = key
    slots[(slot << ONE) + ONE] = np.uint64(term)
    terms.place[term] = start
    terms.length[term] = length
    terms.sizes[0] = term + 1
    terms.sizes[1] = start + chunks
    return term


@compiled
def number_of_word(key: np.uint64, length: int, scratch: Scratch, terms: Terms, hashed: int, learning: bool) -> int:
    """The number of a word of any length: `key` holds its last bytes, the scratch tail those before."""
    if length < SHORTEST_LONG_WORD:
        before = terms.sizes[0]
        term = number_of_key(key, np.int64(key), terms, hashed, learning)
        if terms.sizes[0] != before:
            terms.length[term] = length
        return term
    chunks = (length + 7) >> 3
    if chunks > scratch.tail.size:
        return SCRATCH_FULL
    scratch.tail[chunks - 1] = key
    return number_of_long_word(scratch.tail, chunks, length, terms, hashed, learning)


@compiled
def number_of_run(left: int, right: int, terms: Terms, hashed: int, learning: bool) -> int:
    """The number of a run of words: all but its last word, and that word."""
    if hashed:
        pair = np.uint64(left) * SECOND_MULTIPLIER + np.uint64(right)
        return np.int64(mixed(pair ^ RUN_OF_WORDS) >> (SIXTY_FOUR - np.uint64(hashed)))
    if left < 0 or right < 0:
        pair = mixed(np.uint64(left)) ^ np.uint64(right)
        return UNKNOWN - 1 - np.int64(mixed(pair) >> SIGN)
    pair = (np.uint64(left) << TERM_BITS) | np.uint64(right)
    return number_of_key(RUN_OF_WORDS | pair, np.int64(pair), terms, 0, learning)


@compiled
def add_unit(term: int, count: int, recipe: Recipe, terms: Terms, scratch: Scratch, learning: bool) -> int:
    """Note a unit and the runs that end in it; how many terms the document has then, or what was too small."""
    ids, window = scratch.ids, scratch.window
    if count + recipe.ngrams > ids.size:
        return SCRATCH_FULL
    ids[count] = term
    count += 1
    for size in range(recipe.ngrams - 1, 0, -1):
        window[size] = window[size - 1]
    window[0] = term
    # window[size] was the run of `size` units that ended just before; it becomes the run of size + 1 that ends here.
    for size in range(1, recipe.ngrams):
        if window[size] == TERMS_FULL:
            break
        run = number_of_run(window[size], term, terms, recipe.hashed, learning)
        if UNKNOWN < run < 0:
            return run
        window[size] = run
        ids[count] = run
        count += 1
    return count


@compiled
def word_terms(
    text: AnyArray,
    start: int,
    stop: int,
    letters: Letters,
    recipe: Recipe,
    terms: Terms,
    scratch: Scratch,
    learning: bool,
) -> int:
    """Number the words of text[start:stop] and their runs into scratch.ids; how many, or what was too small.

    The loop over ASCII letters is the whole cost of English text, so everything rare is kept out of it.
    """
    first, pages, values, tail = letters.first, letters.pages, letters.values, scratch.tail
    position = start
    count = 0
    for size in range(recipe.ngrams):
        scratch.window[size] = TERMS_FULL
    while position < stop:
        letter = first[text[position]]
        if letter == ZERO:
            position += 1
            continue
        key = ZERO
        shift = ZERO
        chunks = 0
        extra = 0
        ended = False
        while True:
            while letter - ONE <= LAST_ASCII:
                if shift == SIXTY_FOUR:
                    if chunks >= tail.size:
                        return SCRATCH_FULL
                    tail[chunks] = key
                    chunks += 1
                    key = ZERO
                    shift = ZERO
                key |= letter << shift
                shift += EIGHT
                position += 1
                if position >= stop:
                    ended = True
                    break
                letter = first[text[position]]
            if ended or letter == ZERO:
                break
            code, width = decoded(text, position, stop)
            letter = values[(np.int64(pages[code >> 7]) << 7) | (code & 127)]
            position += width
            if letter == ZERO:
                break
            if letter != SILENT:
                extra -= 1
                while letter != ZERO:
                    if shift == SIXTY_FOUR:
                        if chunks >= tail.size:
                            return SCRATCH_FULL
                        tail[chunks] = key
                        chunks += 1
                        key = ZERO
                        shift = ZERO
                    key |= (letter & BYTE) << shift
                    shift += EIGHT
                    letter >>= EIGHT
                    extra += 1
            if position >= stop:
                break
            letter = first[text[position]]
            if letter == ZERO:
                break
        length = (chunks << 3) + np.int64(shift >> np.uint64(3))
        if length == 0 or length - extra < recipe.shortest:
            continue
        if length < SHORTEST_LONG_WORD:
            # `number_of_word`, written out for the common case of a short word that is known.
            term = number_of_key(key, np.int64(key), terms, recipe.hashed, learning)
            if term >= 0 and recipe.hashed == 0 and terms.length[term] == 0:
                terms.length[term] = length
        else:
            term = number_of_word(key, length, scratch, terms, recipe.hashed, learning)
        if UNKNOWN < term < 0:
            return term
        if recipe.ngrams == 1:
            if count >= scratch.ids.size:
                return SCRATCH_FULL
            scratch.ids[count] = term
            count += 1
        else:
            count = add_unit(term, count, recipe, terms, scratch, learning)
            if count < 0:
                return count
    return count


@compiled
def character_terms(
    text: AnyArray,
    start: int,
    stop: int,
    letters: Letters,
    recipe: Recipe,
    terms: Terms,
    scratch: Scratch,
    learning: bool,
) -> int:
    """The same for characters: each character of the folded text is a unit, a run of white space is one space."""
    position = start
    count = 0
    after_space = False
    for size in range(recipe.ngrams):
        scratch.window[size] = TERMS_FULL
    while position < stop:
        code, width = decoded(text, position, stop)
        position += width
        letter = letters.values[(np.int64(letters.pages[code >> 7]) << 7) | (code & 127)]
        if letter == SILENT or (letter == SPACE and after_space):
            continue
        after_space = letter == SPACE
        while letter != ZERO:
            key = letter & BYTE
            length = 1
            letter >>= EIGHT
            while letter & LEADING == CONTINUING:
                key |= (letter & BYTE) << np.uint64(8 * length)
                length += 1
                letter >>= EIGHT
            term = number_of_word(key, length, scratch, terms, recipe.hashed, learning)
            if UNKNOWN < term < 0:
                return term
            count = add_unit(term, count, recipe, terms, scratch, learning)
            if count < 0:
                return count
    return count


@compiled
def document_terms(
    text: AnyArray,
    start: int,
    stop: int,
    letters: Letters,
    recipe: Recipe,
    terms: Terms,
    scratch: Scratch,
    learning: bool,
) -> int:
    """Number the terms of one document, text[start:stop], in order of appearance into scratch.ids.

    Runs follow the unit they end in, shortest first. Returns how many there are, or the reason why there was no room.
    When not learning, nothing but the scratch is written and unknown terms get numbers below UNKNOWN, equal for equal
    terms; with hashed bits every term has a number and the vocabulary is not used.
    """
    if recipe.by_character:
        return character_terms(text, start, stop, letters, recipe, terms, scratch, learning)
    return word_terms(text, start, stop, letters, recipe, terms, scratch, learning)


@compiled
def refill(old: AnyArray, new: AnyArray) -> None:
    """Put the entries of one table into a larger, empty one; both are (key, number) pairs, sizes powers of two."""
    mask = np.uint64((new.size >> 1) - 1)
    for place in range(0, old.size, 2):
        key = old[place]
        if key != EMPTY:
            slot = mixed(key) & mask
            while new[slot << ONE] != EMPTY:
                slot = (slot + ONE) & mask
            new[slot << ONE] = key
            new[(slot << ONE) + ONE] = old[place + 1]
