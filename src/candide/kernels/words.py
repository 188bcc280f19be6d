"""From UTF-8 bytes to term numbers: words found, folded and looked up in one pass, with no object per word.

A term is a word, a character, or a run of up to n of them; a word of a script without spaces is one character with its
marks, and two of those that stand together are a term in any case. Its number comes from an open-addressing table whose
keys are one 64-bit integer each:

- a word of up to eight bytes is its own key, packed little-endian;
- a longer word has a key whose top byte is 255 and whose rest is a hash; its bytes are compared in an arena;
- a run of words has a key whose top byte is 254 and whose rest is two numbers of 28 bits: the run without its last
  word, and that word. So n-grams are never spelled while counting.

No byte of UTF-8 is 254 or 255, and no word contains a zero byte, so the three kinds cannot be confused.

A `Reader` is taken apart before the loop over documents, and `Terms` before that over words: what comes out of a tuple
has its references counted.

Documents are numbered whole: when something is too small the kernel stops before the document, the caller makes
room and goes on at the same document. Terms met in the broken attempt are simply found again.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from candide.data.arrays import AnyArray, IntArray
from candide.kernels import compiled, inlined
from candide.kernels.eight_bytes import TOPS, bytes_before, eight_bytes, lower_case, word_marks
from candide.kernels.run_trees import BITS, TERM_SHIFT, after_bits, run_by_bits, run_by_search

#: A whole number as kernels see it.
Number: TypeAlias = int | np.int64

#: What a kernel answers, instead of how many terms it found, when there was no room for them.
TERMS_FULL, ARENA_FULL, SCRATCH_FULL, PAIRS_FULL = -1, -2, -3, -4
#: Not yet looked up.
NOTHING = -8
#: How many runs are fetched from memory together, and how many are searched for.
AHEAD, IN_STEP = 16, 32
#: Numbers below this are terms that are not in the vocabulary, told apart by their hash.
UNKNOWN = -16
#: The most terms a vocabulary can hold.
MOST_TERMS = 1 << 28

EMPTY = np.uint64(0)
ZERO, ONE, THREE, EIGHT, SIXTY_FOUR = np.uint64(0), np.uint64(1), np.uint64(3), np.uint64(8), np.uint64(64)
FIRST_TOP = np.uint64(0x80)
BYTE, LAST_ASCII = np.uint64(0xFF), np.uint64(0x7F)
LEADING, CONTINUING = np.uint64(0xC0), np.uint64(0x80)
HASH_BITS = np.uint64((1 << 56) - 1)
LONG_WORD, RUN_OF_WORDS = np.uint64(0xFF << 56), np.uint64(0xFE << 56)
TERM_BITS = np.uint64(TERM_SHIFT)
MULTIPLIER, SECOND_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
HALF, SIGN = np.uint64(32), np.uint64(2)
#: No letter folds to eight bytes, so a value's top byte may say more of a letter: that it is part of a word but leaves
#: nothing of itself, such as a folded accent; that it is a word by itself, as its script has no spaces; that it is a
#: mark, which belongs to the character before it.
SILENT, UNSPACED, EXTENDING = np.uint64(0xFF << 56), np.uint64(0xFD << 56), np.uint64(0xFB << 56)
SPECIAL, LETTER_BITS = np.uint64(0xF8 << 56), np.uint64((1 << 56) - 1)
SPACE = np.uint64(32)
SHORTEST_LONG_WORD = 9


class Letters(NamedTuple):
    """What each character becomes: 0 ends a word, else the folded UTF-8 bytes packed little-endian.

    The top byte of a value may be that of SILENT, UNSPACED or EXTENDING. `first[byte]` answers for ASCII and holds a
    value above 127 for every other byte; `pages[code >> 7]` says which 128 entries of `values` answer for the rest.
    """

    first: AnyArray
    pages: AnyArray
    values: AnyArray


class Recipe(NamedTuple):
    """How text is cut: fewest characters of a word, shortest and longest run, whether by character, hashed bits.

    `unspaced` is the longest run of characters that stand together where a script has no spaces, if that is longer.
    """

    word_length: int
    shortest: int
    ngrams: int
    by_character: int
    hashed: int
    unspaced: int


class Terms(NamedTuple):
    """A vocabulary: the table of (key, number), the arena of long words, and where to spell each term from.

    length[term] is the number of bytes of a word, with payload[term] its packed bytes up to eight and its start in the
    arena beyond; 0 for a run of words, with payload[term] the two numbers it is made of.
    sizes holds how many terms and how much of the arena are in use, ascii[byte] the number of a character of one byte,
    below zero where it has none yet. Runs may have `nodes` (`run_trees`): then `slots` holds single units.
    """

    slots: AnyArray
    arena: AnyArray
    payload: AnyArray
    length: AnyArray
    sizes: IntArray
    ascii: IntArray
    nodes: AnyArray


class Scratch(NamedTuple):
    """Room for one document: term numbers, amounts, a small table to join equal ones, a long word, a look ahead."""

    ids: IntArray
    amounts: IntArray
    joined: IntArray
    tail: AnyArray
    ahead: AnyArray


class Reader(NamedTuple):
    """What documents are read with: how characters fold, how text is cut, the vocabulary, and room for one document.

    It is what kernels that loop over documents are given.
    """

    letters: Letters
    recipe: Recipe
    terms: Terms
    scratch: Scratch


@compiled
def mixed(key: np.uint64) -> np.uint64:
    """Scatter 64 bits: multiply and fold, twice."""
    value = (key ^ (key >> HALF)) * MULTIPLIER
    value = (value ^ (value >> HALF)) * SECOND_MULTIPLIER
    return value ^ (value >> HALF)


@compiled
def decoded(text: AnyArray, position: Number, stop: Number) -> tuple[Number, Number]:
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
def slot_of(key: np.uint64, slots: AnyArray) -> np.uint64:
    """Where the search for a key begins: a multiplication scatters it, the table's last two entries scale it."""
    return ((key ^ (key >> HALF)) * MULTIPLIER) >> slots[slots.size - 1]


@inlined
def same_word(arena: AnyArray, start: Number, tail: AnyArray, chunks: Number) -> bool:
    """Whether the word that begins there in the arena is the one in `tail`."""
    for chunk in range(chunks):  # noqa: SIM110  (a generator would not compile)
        if arena[start + chunk] != tail[chunk]:
            return False
    return True


@compiled
def new_term(
    key: np.uint64,
    slot: np.uint64,
    begin: Number,
    bytes_long: Number,
    slots: AnyArray,
    payload: IntArray,
    length: IntArray,
    sizes: IntArray,
) -> Number:
    """Give a key the next number, in the empty slot where the search for it ended."""
    term = sizes[0]
    if term >= payload.size:
        return TERMS_FULL
    slots[slot << ONE] = key
    slots[(slot << ONE) + ONE] = np.uint64(term)
    payload[term] = begin
    length[term] = bytes_long
    sizes[0] = term + 1
    return term


@compiled
def number_of_key(
    key: np.uint64,
    begin: Number,
    bytes_long: Number,
    hashed: Number,
    learning: bool,
    slots: AnyArray,
    payload: IntArray,
    length: IntArray,
    sizes: IntArray,
) -> Number:
    """The number of a short word, or of a run (no bytes of its own): found, made when learning, else below UNKNOWN."""
    if hashed:
        return np.int64(mixed(key) >> (SIXTY_FOUR - np.uint64(hashed)))
    mask = np.uint64((slots.size >> 1) - 2)
    slot = slot_of(key, slots)
    stored = slots[slot << ONE]
    while stored != key and stored != EMPTY:
        slot = (slot + ONE) & mask
        stored = slots[slot << ONE]
    if stored == key:
        return np.int64(slots[(slot << ONE) + ONE])
    if not learning:
        return UNKNOWN - 1 - np.int64(mixed(key) >> SIGN)
    return new_term(key, slot, begin, bytes_long, slots, payload, length, sizes)


@compiled
def number_of_long_word(
    tail: AnyArray,
    bytes_long: Number,
    hashed: Number,
    learning: bool,
    slots: AnyArray,
    arena: AnyArray,
    payload: IntArray,
    length: IntArray,
    sizes: IntArray,
) -> Number:
    """The same for a word of more than eight bytes, given in chunks of eight."""
    chunks = (bytes_long + 7) >> 3
    scattered = ZERO
    for chunk in range(chunks):
        scattered = mixed(scattered ^ tail[chunk])
    if hashed:
        return np.int64(scattered >> (SIXTY_FOUR - np.uint64(hashed)))
    key = LONG_WORD | (scattered & HASH_BITS)
    mask = np.uint64((slots.size >> 1) - 2)
    slot = slot_of(key, slots)
    while True:
        stored = slots[slot << ONE]
        if stored == key:
            term: Number = np.int64(slots[(slot << ONE) + ONE])
            if length[term] == bytes_long and same_word(arena, payload[term], tail, chunks):
                return term
        if stored == EMPTY:
            break
        slot = (slot + ONE) & mask
    if not learning:
        return UNKNOWN - 1 - np.int64(scattered >> SIGN)
    start = sizes[1]
    if start + chunks > arena.size:
        return ARENA_FULL
    term = new_term(key, slot, start, bytes_long, slots, payload, length, sizes)
    if term >= 0:
        for chunk in range(chunks):
            arena[start + chunk] = tail[chunk]
        sizes[1] = start + chunks
    return term


@compiled
def number_unknown(left: Number, right: Number) -> Number:
    """What tells an unknown run from others: a number below UNKNOWN, equal for equal runs."""
    return UNKNOWN - 1 - np.int64(mixed(mixed(np.uint64(left)) ^ np.uint64(right)) >> SIGN)


@compiled
def number_of_run(
    left: Number,
    right: Number,
    hashed: Number,
    learning: bool,
    slots: AnyArray,
    payload: IntArray,
    length: IntArray,
    sizes: IntArray,
) -> Number:
    """The number of a run of words: all but its last word, and that word."""
    if hashed:
        pair = np.uint64(left) * SECOND_MULTIPLIER + np.uint64(right)
        return np.int64(mixed(pair ^ RUN_OF_WORDS) >> (SIXTY_FOUR - np.uint64(hashed)))
    if left < 0 or right < 0:
        return number_unknown(left, right)
    pair = (np.uint64(left) << TERM_BITS) | np.uint64(right)
    return number_of_key(RUN_OF_WORDS | pair, np.int64(pair), 0, 0, learning, slots, payload, length, sizes)


@compiled
def add_runs(
    count: Number,
    recipe: Recipe,
    learning: bool,
    ids: IntArray,
    ahead: AnyArray,
    slots: AnyArray,
    payload: IntArray,
    length: IntArray,
    sizes: IntArray,
) -> Number:
    """After `count` units, the runs of two of them, then of three, and so on; how many terms are wanted.

    A run is one shorter run and one more unit. Most runs are rare, so their slots are far away in memory: a few are
    fetched at a time, all at once, before any is looked at. In the end those shorter than wanted are written over.
    """
    hashed = recipe.hashed
    total: Number = count
    before: Number = 0
    unwanted: Number = count if recipe.shortest > 1 else 0
    for size in range(2, recipe.ngrams + 1):
        runs = max(count - size + 1, 0)
        if total + runs > ids.size:
            return SCRATCH_FULL
        for start in range(0, runs, AHEAD):
            stop = min(start + AHEAD, runs)
            for position in range(start, stop):
                left, right = ids[before + position], ids[position + size - 1]
                key = RUN_OF_WORDS | (np.uint64(left) << TERM_BITS) | np.uint64(right)
                slot = slot_of(key, slots) if left >= 0 and right >= 0 and hashed == 0 else ZERO
                ahead[position - start] = slots[slot << ONE]
            for position in range(start, stop):
                left, right = ids[before + position], ids[position + size - 1]
                run = number_of_run(left, right, hashed, learning, slots, payload, length, sizes)
                if UNKNOWN < run < 0:
                    return run
                ids[total + position] = run
        before = total
        total += runs
        if size < recipe.shortest:
            unwanted = total
    if unwanted:
        for kept in range(unwanted, total):
            ids[kept - unwanted] = ids[kept]
    return total - unwanted


@inlined
def runs_of_characters(
    ids: IntArray, before: Number, total: Number, size: Number, runs: Number, nodes: AnyArray, payload: IntArray
) -> None:
    """Number so many runs of a size into ids[total:]: what is one character shorter stands from `before` on."""
    most = len(nodes) - 1
    for position in range(runs):
        left, right = ids[before + position], ids[position + size - 1]
        run: Number = np.int64(NOTHING)
        if 0 <= left < most and right >= 0:
            if right < BITS:
                run = run_by_bits(left, right, nodes)
            else:
                run = run_by_search(left, right, after_bits(left, nodes), nodes, payload)
        ids[total + position] = run if run >= 0 else number_unknown(left, right)


@compiled
def runs_of_words(
    shorter: IntArray, units: IntArray, size: Number, count: Number, nodes: AnyArray, payload: IntArray, runs: IntArray
) -> None:
    """Number so many runs of a size into runs[position], given those one word shorter; words have no bits.

    Below UNKNOWN where there is none. Runs are searched for by halves, some in step: most of the time goes by waiting
    for memory, and so they wait together.
    """
    most, last = len(nodes) - 1, payload.size - 1
    wanted, first, several = np.empty(IN_STEP, np.int64), np.empty(IN_STEP, np.int64), np.empty(IN_STEP, np.int64)
    for position in range(count if most < 1 else 0):
        runs[position] = number_unknown(shorter[position], units[position + size - 1])
    for start in range(0, count if most > 0 else 0, IN_STEP):
        together, longest = min(IN_STEP, count - start), np.int64(1)
        for lane in range(together):
            left, right = shorter[start + lane], units[start + lane + size - 1]
            node = left if 0 <= left < most and right >= 0 else most - 1
            begin, end = np.int64(nodes[node, 0]), np.int64(nodes[node + 1, 0])
            wanted[lane] = (left << TERM_SHIFT) | right if node == left and begin < end else NOTHING
            first[lane] = begin if begin < last else last
            several[lane] = max(end - begin, np.int64(1))
            longest = max(longest, several[lane])
        while longest > 1:
            for lane in range(together):
                half = several[lane] >> 1
                first[lane] += half if payload[first[lane] + half - 1] < wanted[lane] else 0
                several[lane] -= half
            longest -= longest >> 1
        for lane in range(together):
            is_there = payload[first[lane]] == wanted[lane]
            left, right = shorter[start + lane], units[start + lane + size - 1]
            runs[start + lane] = first[lane] if is_there else number_unknown(left, right)


@compiled
def add_tree_runs(count: Number, recipe: Recipe, ids: IntArray, nodes: AnyArray, payload: IntArray) -> Number:
    """The same as `add_runs`, where all runs but the longest have nodes."""
    total: Number = count
    before: Number = 0
    unwanted: Number = count if recipe.shortest > 1 else 0
    for size in range(2, recipe.ngrams + 1):
        runs = max(count - size + 1, 0)
        if total + runs > ids.size:
            return SCRATCH_FULL
        if recipe.by_character:
            runs_of_characters(ids, before, total, size, runs, nodes, payload)
        else:
            runs_of_words(ids[before:], ids, size, runs, nodes, payload, ids[total:])
        before = total
        total += runs
        if size < recipe.shortest:
            unwanted = total
    if unwanted:
        for kept in range(unwanted, total):
            ids[kept - unwanted] = ids[kept]
    return total - unwanted


@inlined
def add_unspaced_runs(
    total: Number,
    stretches: Number,
    recipe: Recipe,
    learning: bool,
    ids: IntArray,
    where: IntArray,
    slots: AnyArray,
    payload: IntArray,
    length: IntArray,
    sizes: IntArray,
) -> Number:
    """After `total` terms, the runs of characters without spaces that are longer than runs of words are; how many then.

    Stretch i of such characters is the where[2 i + 1] units from number where[2 i] on.
    """
    for stretch in range(stretches):
        start, units = where[2 * stretch], where[2 * stretch + 1]
        for unit in range(start, start + units - 1):
            run: Number = ids[unit]
            for size in range(2, min(recipe.unspaced, start + units - unit) + 1):
                run = number_of_run(run, ids[unit + size - 1], recipe.hashed, learning, slots, payload, length, sizes)
                if UNKNOWN < run < 0:
                    return run
                if size > recipe.ngrams:
                    if total >= ids.size:
                        return SCRATCH_FULL
                    ids[total] = run
                    total += 1
    return total


@inlined
def spelled_word(
    text: AnyArray, position: Number, stop: Number, first: AnyArray, pages: AnyArray, values: AnyArray, tail: AnyArray
) -> tuple[Number, np.uint64, Number, Number, bool]:
    """Fold the word that begins at `position`, in any script, byte by byte.

    Returns where it ends, its last bytes packed, how many bytes it has, how many characters, and whether it is one
    character with its marks, of a script without spaces. All but the last bytes are in `tail`, eight by eight; where
    that is too small the position is SCRATCH_FULL.
    """
    key, shift, chunks, characters, unspaced = ZERO, ZERO, 0, 0, False
    while position < stop:
        letter = first[text[position]]
        width: Number = 1
        if letter > LAST_ASCII:
            code, width = decoded(text, position, stop)
            letter = values[(np.int64(pages[code >> 7]) << 7) | (code & 127)]
        if letter >= SPECIAL:
            if letter == SILENT:
                position += width
                continue
            if letter >= UNSPACED:
                if characters > 0:
                    break
                unspaced = True
            letter &= LETTER_BITS
        elif letter == ZERO or unspaced:
            break
        position += width
        characters += 1
        while letter != ZERO:
            if shift == SIXTY_FOUR:
                if chunks >= tail.size:
                    return SCRATCH_FULL, key, 0, 0, unspaced
                tail[chunks] = key
                chunks += 1
                key = ZERO
                shift = ZERO
            key |= (letter & BYTE) << shift
            shift += EIGHT
            letter >>= EIGHT
    return position, key, (chunks << 3) + np.int64(shift >> THREE), characters, unspaced


@inlined
def note_stretch(position: Number, end: Number, count: Number, scratch: Scratch) -> None:
    """Note a character of a script without spaces, unit number `count`, in scratch that is free until terms are joined.

    scratch.joined holds how many stretches of such characters there are, where the last character ended (plus one), and
    how many stand together there; scratch.amounts holds the first unit and the length of each stretch of two or more.
    """
    notes, where = scratch.joined, scratch.amounts
    notes[2] = notes[2] + 1 if notes[1] == position + 1 else 1
    notes[1] = end + 1
    if notes[2] == 2:
        where[2 * notes[0]] = count - 1
        notes[0] += 1
    if notes[2] >= 2:
        where[2 * notes[0] - 1] = notes[2]


@inlined
def word_terms(
    text: AnyArray,
    start: Number,
    stop: Number,
    letters: Letters,
    recipe: Recipe,
    terms: Terms,
    scratch: Scratch,
    learning: bool,
) -> Number:
    """Number the words of text[start:stop] and their runs into scratch.ids; how many, or what was too small.

    ASCII goes eight bytes at a time: one look finds a word's end, its lower case, and where the next word begins. A
    word with other characters in it, and the last bytes of the text, go through `spelled_word`.

    Long because it is the hottest loop of text: in parts, with a tuple taken apart for each document, learning and
    scoring took a quarter longer.
    """
    first, pages, values = letters.first, letters.pages, letters.values
    slots, arena, payload, spelled, sizes = terms.slots, terms.arena, terms.payload, terms.length, terms.sizes
    ids, tail = scratch.ids, scratch.tail
    hashed, word_length, room = recipe.hashed, recipe.word_length, ids.size
    fold = first[65] == np.uint64(97)
    mask = np.uint64((slots.size >> 1) - 2)
    scale = slots[slots.size - 1]
    last_chunk = text.size - 8
    position = start
    count = 0
    scratch.joined[:3] = 0
    while position < stop:
        length: Number = 0
        plain = position <= last_chunk
        if plain:
            chunk = eight_bytes(text, position)
            marks = word_marks(chunk)
            others = marks | (chunk & TOPS)
            if others & FIRST_TOP == ZERO:
                position += bytes_before(others)
                continue
            length = min(bytes_before(marks ^ TOPS), stop - position)
            chunks = 0
            at = position
            while length == 8 and plain:
                if chunks >= tail.size:
                    return SCRATCH_FULL
                tail[chunks] = lower_case(chunk) if fold else chunk
                chunks += 1
                at += 8
                plain = at <= last_chunk
                if plain:
                    chunk = eight_bytes(text, at)
                    marks = word_marks(chunk)
                    others = marks | (chunk & TOPS)
                    length = min(bytes_before(marks ^ TOPS), stop - at)
            if plain:
                rest = others >> np.uint64(8 * length)
                plain = (chunk >> np.uint64(8 * length)) & FIRST_TOP == ZERO or at + length == stop
                key = chunk & ((ONE << np.uint64(8 * length)) - ONE)
                key = lower_case(key) if fold else key
                if length == 0 and chunks > 0:
                    key = tail[chunks - 1]
                end = at + min(8, length + bytes_before(rest))
                length += at - position
        characters = length
        if not plain or length == 0:
            end, key, length, characters, unspaced = spelled_word(text, position, stop, first, pages, values, tail)
            if end < 0 or count >= room:
                return SCRATCH_FULL
            if end == position:
                end += decoded(text, position, stop)[1]
            if unspaced:
                note_stretch(position, end, count, scratch)
        position = end
        if characters < word_length:
            continue
        term: Number = np.int64(NOTHING)
        if length < SHORTEST_LONG_WORD:
            if hashed == 0:
                # Most words end here: short, and known already.
                slot = ((key ^ (key >> HALF)) * MULTIPLIER) >> scale
                stored = slots[slot << ONE]
                while stored != key and stored != EMPTY:
                    slot = (slot + ONE) & mask
                    stored = slots[slot << ONE]
                if stored == key:
                    term = np.int64(slots[(slot << ONE) + ONE])
            if term < 0:
                term = number_of_key(
                    key, np.int64(key), length, hashed, learning, slots, payload, spelled, sizes
                )
        elif length >> 3 >= tail.size:
            return SCRATCH_FULL
        else:
            tail[(length - 1) >> 3] = key
            term = number_of_long_word(tail, length, hashed, learning, slots, arena, payload, spelled, sizes)
        if UNKNOWN < term < 0:
            return term
        if count >= room:
            return SCRATCH_FULL
        ids[count] = term
        count += 1
    if len(terms.nodes):
        return add_tree_runs(count, recipe, ids, terms.nodes, payload)
    total = add_runs(count, recipe, learning, ids, scratch.ahead, slots, payload, spelled, sizes)
    if scratch.joined[0] == 0 or total < 0 or recipe.ngrams >= recipe.unspaced:
        return total
    where = scratch.amounts
    return add_unspaced_runs(total, scratch.joined[0], recipe, learning, ids, where, slots, payload, spelled, sizes)


@inlined
def character_terms(
    text: AnyArray,
    start: Number,
    stop: Number,
    letters: Letters,
    recipe: Recipe,
    terms: Terms,
    scratch: Scratch,
    learning: bool,
) -> Number:
    """The same for characters: each character of the folded text is a unit, a run of white space is one space."""
    pages, values = letters.pages, letters.values
    slots, payload, spelled, sizes = terms.slots, terms.payload, terms.length, terms.sizes
    ids, ascii_units = scratch.ids, terms.ascii
    hashed, first_page = recipe.hashed, np.int64(pages[0]) << 7
    position = start
    count = 0
    after_space = False
    while position < stop:
        code: Number = np.int64(text[position])
        width: Number = 1
        if code < 0x80:
            letter = values[first_page | code]
        else:
            code, width = decoded(text, position, stop)
            letter = values[(np.int64(pages[code >> 7]) << 7) | (code & 127)]
        position += width
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
            is_short = key <= LAST_ASCII and hashed == 0
            term: Number = ascii_units[key] if is_short else np.int64(NOTHING)
            if term < 0:
                term = number_of_key(key, np.int64(key), length, hashed, learning, slots, payload, spelled, sizes)
                if is_short and learning and term >= 0:
                    ascii_units[key] = term
            if UNKNOWN < term < 0:
                return term
            if count >= ids.size:
                return SCRATCH_FULL
            ids[count] = term
            count += 1
    if len(terms.nodes):
        return add_tree_runs(count, recipe, ids, terms.nodes, payload)
    return add_runs(count, recipe, learning, ids, scratch.ahead, slots, payload, spelled, sizes)


@compiled
def document_terms(
    text: AnyArray,
    start: Number,
    stop: Number,
    letters: Letters,
    recipe: Recipe,
    terms: Terms,
    scratch: Scratch,
    learning: bool,
) -> Number:
    """Number the terms of one document, text[start:stop], in order of appearance into scratch.ids.

    Runs follow the units, shortest first. Returns how many there are, or the reason why there was no room.
    When not learning, nothing but the scratch is written and unknown terms get numbers below UNKNOWN, equal for equal
    terms; with hashed bits every term has a number and the vocabulary is not used.
    """
    if recipe.by_character:
        return character_terms(text, start, stop, letters, recipe, terms, scratch, learning)
    return word_terms(text, start, stop, letters, recipe, terms, scratch, learning)


@compiled
def refill(old: AnyArray, new: AnyArray) -> None:
    """Put the entries of one table into a larger, empty one."""
    mask = np.uint64((new.size >> 1) - 2)
    for entry in range(0, old.size - 2, 2):
        key = old[entry]
        if key != EMPTY:
            slot = slot_of(key, new)
            while new[slot << ONE] != EMPTY:
                slot = (slot + ONE) & mask
            new[slot << ONE] = key
            new[(slot << ONE) + ONE] = old[entry + 1]


def empty_slots(capacity: int) -> AnyArray:
    """A table with room for `capacity` keys, a power of two, at most half of which are to be used.

    Its last entry is no key: it holds how far a hash is shifted to become a place in this table.
    """
    slots = np.zeros(2 * capacity + 2, dtype=np.uint64)
    slots[-1] = 65 - capacity.bit_length()
    return slots


@compiled
def mark_unsteady(text: AnyArray, offsets: IntArray, marks: AnyArray) -> Number:
    """Mark the documents that hold a capital sigma or a dotted capital I; how many they are.

    Their UTF-8 is CE A3 and C4 B0. Eight bytes without a top bit cannot hold them, so English is skipped over.
    """
    found = 0
    for row in range(offsets.size - 1):
        position, stop = offsets[row], offsets[row + 1]
        while position < stop:
            if position <= text.size - 8 and eight_bytes(text, position) & TOPS == ZERO:
                position += 8
                continue
            if position + 1 < stop and (
                (text[position] == 0xCE and text[position + 1] == 0xA3)
                or (text[position] == 0xC4 and text[position + 1] == 0xB0)
            ):
                marks[row] = True
                found += 1
                break
            position += 1
    return found
