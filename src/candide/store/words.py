"""The words of text as arrays: as `WordTally` keeps them, checked when read."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from candide.data.arrays import AnyArray, IntArray
from candide.families.base.family import Block
from candide.families.words.options import TextOptions
from candide.kernels.word_merging import Lines
from candide.statistics.weight_grid import CEILING, FINEST
from candide.statistics.word_tally import WordTally
from candide.store.parts import Parts
from candide.store.refusals import ModelFileRefused


def write_words(seen: WordTally, block: Block) -> dict[str, AnyArray]:
    """Words, their pairs, and the documents of each class."""
    arrays = {"documents": seen.documents, **seen.lines._asdict()}
    return {**arrays, "bits": np.array([seen.bits])} if seen.bits else arrays


def read_words(parts: Parts, block: Block, classes: int) -> WordTally:
    """Words in bytewise order, each with its pairs in order of class, and no pair without a count.

    All is counted in ones, or in units of the grid where something is not whole.
    """
    options: TextOptions = block.family.options  # type: ignore[attr-defined]  # only text has a word tally
    documents = parts.take("documents", np.int64, classes)
    offsets, letters = parts.take("offsets", np.int64, None), parts.take("letters", np.uint8, None)
    indptr, labels = parts.take("indptr", np.int64, len(offsets)), parts.take("labels", np.int32, None)
    counts, frequency = parts.take("counts", np.int64, len(labels)), parts.take("frequency", np.int64, None)
    fractions = parts.has("bits")
    bits = int(parts.take("bits", np.int64, 1)[0]) if fractions else 0
    good = (
        cuts(offsets, letters.size, least=0)
        and cuts(indptr, labels.size, least=1)
        and all_within(labels, 0, classes - 1)
        and all_within(counts, 1, CEILING)
        and all_within(documents, 0, CEILING)
        and all_within(frequency, 0, CEILING)
        and len(frequency) == (len(offsets) - 1 if options.keeps_frequency else 0)
        and ascending_within(labels, indptr)
        and ascending_words(offsets, letters)
        and totals_fit(labels, counts, bits)
        and bits == (FINEST if fractions else 0)
        and (options.hashed is None or are_slots(offsets, letters, options.hashed))
    )
    if not good:
        raise ModelFileRefused("its words are not in canonical form")
    lines = Lines(offsets, letters, indptr, labels, counts, frequency)
    seen = WordTally(lines, documents, bits, scaled=options.unit > 1)
    if seen.canonical().bits != bits:
        raise ModelFileRefused("its words are not in canonical form")
    return seen


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
