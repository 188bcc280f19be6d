"""The words of text as arrays: in canonical order, runs as numbers of words, whole numbers in as few bytes as do."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from candide.data.arrays import AnyArray, IntArray
from candide.families.base.family import Block
from candide.families.words.canonical_terms import CanonicalTerms, canonical_terms, numbered_lines, vocabulary_of
from candide.families.words.numbered_words import NumberedWords
from candide.families.words.options import TextOptions
from candide.kernels.word_merging import Lines
from candide.statistics.weight_grid import CEILING, FINEST
from candide.statistics.word_tally import WordTally, gathered, running
from candide.store.narrow import least_width, narrow, take_narrow
from candide.store.parts import Parts
from candide.store.refusals import ModelFileRefused

LOW_BITS = 32
OUT_OF_FORM = "its words are not in canonical form"


def write_words(seen: WordTally, block: Block) -> dict[str, AnyArray]:
    """Words, their pairs, and the documents of each class; runs of words or characters by numbers of these."""
    options = options_of(block)
    arrays = by_numbers(seen, options) if has_runs(options) else by_letters(seen.lines)
    arrays |= {"documents": seen.documents}
    return {**arrays, "bits": np.array([seen.bits])} if seen.bits else arrays


def options_of(block: Block) -> TextOptions:
    """The recipe of a block of text."""
    options: TextOptions = block.family.options  # type: ignore[attr-defined]  # only text has a word tally
    return options


def has_runs(options: TextOptions) -> bool:
    """Whether terms are made of others; hashed ones have no parts."""
    return options.longest > 1 and not options.hashed and not options.keeps_frequency


def by_letters(lines: Lines) -> dict[str, AnyArray]:
    """Every word as it is spelled."""
    more = {"frequency": lines.frequency} if lines.frequency.size else {}
    sizes = {"word_sizes": narrow(np.diff(lines.offsets)), "letters": lines.letters}
    return {**sizes, **more, **pair_arrays(np.diff(lines.indptr), lines.labels, lines.counts)}


def by_numbers(seen: WordTally, options: TextOptions) -> dict[str, AnyArray]:
    """Single words as they are spelled, and runs by their parts."""
    words = seen.words_seen
    if not isinstance(words, NumberedWords):
        words = numbered_lines(seen.lines, options.characters)
    terms, numbers = canonical_terms(words)
    labels, counts = words.labels, words.counts
    if (np.diff(numbers) < 0).any():
        pairs = gathered(words.indptr, numbers)
        labels, counts = labels[pairs], counts[pairs]
    arrays = {
        "word_sizes": narrow(np.diff(terms.offsets)),
        "letters": terms.letters,
        "lengths": terms.sizes,
        "children": narrow(terms.children),
        "last": narrow(terms.last),
    }
    return {**arrays, **pair_arrays(np.diff(words.indptr)[numbers], labels, counts)}


def pair_arrays(sizes: IntArray, labels: AnyArray, counts: IntArray) -> dict[str, AnyArray]:
    """How many pairs each term has, and their labels and counts, the bits of large ones beyond 32 apart."""
    arrays = {"pairs": narrow(sizes), "labels": narrow(labels), "counts": narrow(counts)}
    if arrays["counts"].dtype != np.int64:
        return arrays
    low = (counts & ((1 << LOW_BITS) - 1)).astype(np.uint32).view(np.int32)
    return arrays | {"counts": low, "high": narrow(counts >> LOW_BITS)}


def read_words(parts: Parts, block: Block, classes: int) -> WordTally:
    """Words in canonical order, each with its pairs in order of class, and no pair without a count.

    All is counted in ones, or in units of the grid where something is not whole. Files of format 1 have every word
    spelled, and numbers of 64 bits.
    """
    options, documents = options_of(block), parts.take("documents", np.int64, classes)
    fractions = parts.has("bits")
    bits = int(parts.take("bits", np.int64, 1)[0]) if fractions else 0
    if parts.has("offsets"):
        words: Lines | NumberedWords = read_spelled(parts)
    elif has_runs(options):
        words = read_runs(parts, options)
    else:
        words = read_lines(parts, options)
    sizes = np.diff(words.indptr)
    good = (
        all_within(words.labels, 0, classes - 1)
        and all_within(words.counts, 1, CEILING)
        and all_within(documents, 0, CEILING)
        and ascending_within(words.labels, running(sizes[sizes > 0]))
        and totals_fit(words.labels, words.counts, bits)
        and bits == (FINEST if fractions else 0)
        and (not isinstance(words, Lines) or are_lines(words, options))
    )
    if not good:
        raise ModelFileRefused(OUT_OF_FORM)
    seen = WordTally(words, documents, bits, scaled=options.unit > 1)
    if seen.canonical().bits != bits:
        raise ModelFileRefused(OUT_OF_FORM)
    return seen


def read_spelled(parts: Parts) -> Lines:
    """Words as format 1 has them."""
    offsets, letters = parts.take("offsets", np.int64, None), parts.take("letters", np.uint8, None)
    indptr, labels = parts.take("indptr", np.int64, len(offsets)), parts.take("labels", np.int32, None)
    counts, frequency = parts.take("counts", np.int64, len(labels)), parts.take("frequency", np.int64, None)
    if not cuts(offsets, letters.size, least=0) or not cuts(indptr, labels.size, least=1):
        raise ModelFileRefused(OUT_OF_FORM)
    return Lines(offsets, letters, indptr, labels, counts, frequency)


def read_lines(parts: Parts, options: TextOptions) -> Lines:
    """Every word as it is spelled."""
    offsets, letters = read_letters(parts)
    sizes, labels, counts = read_pairs(parts, len(offsets) - 1)
    frequency = np.zeros(0, dtype=np.int64)
    if options.keeps_frequency and len(sizes):
        frequency = parts.take("frequency", np.int64, len(sizes))
    if sizes.size and sizes.min() < 1:
        raise ModelFileRefused(OUT_OF_FORM)
    return Lines(offsets, letters, running(sizes), labels, counts, frequency)


def read_runs(parts: Parts, options: TextOptions) -> NumberedWords:
    """Single words as they are spelled, and runs by their parts; nothing that no counted term needs."""
    offsets, letters = read_letters(parts)
    lengths = parts.take("lengths", np.int64, None)
    children, last = take_narrow(parts, "children"), take_narrow(parts, "last")
    terms = CanonicalTerms(offsets, letters, lengths, children, last)
    if not are_canonical(terms, options.longest):
        raise ModelFileRefused(OUT_OF_FORM)
    sizes, labels, counts = read_pairs(parts, int(lengths.sum()))
    needed = sizes > 0
    needed[: len(children)] |= children > 0
    needed[last] = True
    vocabulary = vocabulary_of(terms, options.characters) if needed.all() else None
    if vocabulary is None:
        raise ModelFileRefused(OUT_OF_FORM)
    return NumberedWords(vocabulary, options.characters, running(sizes), labels, counts)


def are_canonical(terms: CanonicalTerms, longest: int) -> bool:
    """Whether units are sorted, and runs by their parts, which are there."""
    sizes = terms.sizes
    if not 1 <= len(sizes) <= longest or not all_within(sizes[1:], 1, len(terms.last)):
        return False
    if len(terms.offsets) - 1 != sizes[0] or sizes[1:].sum() != len(terms.last):
        return False
    starts = running(sizes)
    begun = [terms.children[start:stop].sum() for start, stop in pairwise(starts[:-1])]
    return bool(
        len(terms.children) == starts[-2] * (len(sizes) > 1)
        and np.array_equal(begun, sizes[1:])
        and all_within(terms.last, 0, int(sizes[0]) - 1)
        and ascending_within(terms.last, running(terms.children[terms.children > 0]))
        and ascending_words(terms.offsets, terms.letters)
    )


def read_letters(parts: Parts) -> tuple[IntArray, AnyArray]:
    """Words as Arrow writes them."""
    offsets, letters = running(take_narrow(parts, "word_sizes")), parts.take("letters", np.uint8, None)
    if offsets[-1] != letters.size:
        raise ModelFileRefused(OUT_OF_FORM)
    return offsets, letters


def read_pairs(parts: Parts, terms: int) -> tuple[IntArray, AnyArray, IntArray]:
    """How many pairs each term has, and their labels and counts."""
    sizes, labels = take_narrow(parts, "pairs", terms), take_narrow(parts, "labels").astype(np.int32)
    if parts.has("high"):
        low = parts.take("counts", np.int32, len(labels)).view(np.uint32)
        high = take_narrow(parts, "high", len(labels))
        counts = (high << LOW_BITS) | low
        if not all_within(high, 0, CEILING >> LOW_BITS) or least_width(counts) != np.int64:
            raise ModelFileRefused(OUT_OF_FORM)
    else:
        counts = take_narrow(parts, "counts", len(labels))
    if sizes.sum() != len(labels):
        raise ModelFileRefused(OUT_OF_FORM)
    return sizes, labels, counts


def are_lines(lines: Lines, options: TextOptions) -> bool:
    """Whether spelled words are sorted, and kept as the recipe says."""
    words = len(lines.offsets) - 1
    return bool(
        all_within(lines.frequency, 0, CEILING)
        and len(lines.frequency) == (words if options.keeps_frequency else 0)
        and ascending_words(lines.offsets, lines.letters)
        and (options.hashed is None or are_slots(lines.offsets, lines.letters, options.hashed))
    )


def cuts(indices: IntArray, end: int, least: int) -> bool:
    """Whether places lead from 0 to the end in steps of at least so many."""
    return bool(len(indices) and indices[0] == 0 and indices[-1] == end and (indices[1:] - least >= indices[:-1]).all())


def all_within(numbers: AnyArray, low: int, high: int) -> bool:
    """Whether every number lies between the two."""
    return not numbers.size or bool(low <= numbers.min() and numbers.max() <= high)


def ascending_within(labels: AnyArray, indptr: IntArray) -> bool:
    """Whether the labels of each word grow."""
    grows = labels[1:] > labels[:-1]
    grows[indptr[1:-1] - 1] = True
    return bool(grows.all())


def are_slots(offsets: IntArray, letters: AnyArray, bits: int) -> bool:
    """Whether words are numbers of slots, each of four bytes."""
    return bool((np.diff(offsets) == 4).all() and all_within(letters.view(">u4"), 0, (1 << bits) - 1))


def ascending_words(offsets: IntArray, letters: AnyArray) -> bool:
    """Whether each word is larger than the one before, bytewise."""
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(letters)]
    words = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)
    return bool(pc.all(pc.less(words[:-1], words[1:]), min_count=0).as_py())


def totals_fit(labels: AnyArray, counts: IntArray, bits: int) -> bool:
    """Whether the counts of each class together, or of all where weights are fractions, stay below 2^62."""
    if not counts.size or int(counts.max()) <= CEILING // len(counts):
        return True
    if bits:
        return bool(counts.sum(dtype=np.float64) <= CEILING)
    return bool(np.bincount(labels, weights=counts).max() <= CEILING)
