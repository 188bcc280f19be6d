"""The loops for one text at a time: learned, forgotten or judged straight from the counts, no table in between.

Beside the tallies a stream keeps the totals that shares are made of, so one text costs its own words by the classes,
however large the vocabulary is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.kernels import compiled
from candide.kernels.shares import log_whole, pseudocount_of
from candide.kernels.word_counting import (
    COUNTS,
    Tallies,
    TermWeighting,
    add_pair,
    count_of,
    join_equal,
    unit_of,
    weigh,
)
from candide.kernels.words import PAIRS_FULL, Letters, Number, Reader, Recipe, Scratch, Terms, document_terms


class Running(NamedTuple):
    """What follows the tallies: totals[class], words[term] over all classes, and in known[0] how many are not zero."""

    totals: IntArray
    words: IntArray
    known: IntArray


class Open(NamedTuple):
    """A text block as the loops see it; `State` is the same, flat."""

    reader: Reader
    weighting: TermWeighting
    tallies: Tallies
    running: Running


#: All arrays of a text block in one plain tuple, in the order of `opened`: what a call costs is mostly handing over
#: arrays, and a plain tuple of them costs a third of what named tuples do.
State = tuple[AnyArray, ...]


def state_of(reader: Reader, weighting: TermWeighting, tallies: Tallies, running: Running) -> State:
    """The arrays of a text block, flat."""
    letters, recipe, terms, scratch = reader
    numbers = np.array([*recipe, weighting.rule])
    return (numbers, weighting.logs, *letters, *terms, *scratch, *tallies, *running)


@compiled
def opened(state: Any) -> Any:
    """The block that `state_of` made flat."""
    numbers = state[0]
    return Open(
        Reader(
            Letters(state[2], state[3], state[4]),
            Recipe(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]),
            Terms(state[5], state[6], state[7], state[8], state[9], state[10], state[11]),
            Scratch(state[12], state[13], state[14], state[15], state[16]),
        ),
        TermWeighting(numbers[6], state[1]),
        Tallies(state[17], state[18], state[19], state[20], state[21]),
        Running(state[22], state[23], state[24]),
    )


@compiled
def terms_of(text: AnyArray, stop: Number, block: Any, learning: bool, once: bool) -> Number:
    """The terms of text[:stop], in the scratch; how many, or what was too small.

    Each different term comes once with its amount, unless each occurrence counts for itself and `once` is not asked.
    """
    letters, recipe, terms, scratch = block.reader
    count = document_terms(text, 0, stop, letters, recipe, terms, scratch, learning)
    if count <= 0:
        return count
    if block.weighting.rule == COUNTS and not once:
        scratch.amounts[:count] = 1
        return count
    count = join_equal(count, scratch)
    weigh(count, block.weighting, scratch.amounts)
    return count


@compiled
def learn_text(text: AnyArray, stop: Number, label: Number, weight: Number | float, state: State) -> Number:
    """Learn text[:stop]; 0, or what was too small: then nothing was counted and the caller tries again.

    Counts are whole numbers and the weight is 1, or both are float64: then old events fade as weights grow.
    """
    block = opened(state)
    count = terms_of(text, stop, block, True, False)
    if count < 0:
        return count
    tallies, running = block.tallies, block.running
    table, pairs = tallies.table, tallies.pairs
    dense = table.shape[1] > 0
    if not dense and 4 * (tallies.used[0] + count) > 3 * (pairs.size >> 1):
        return PAIRS_FULL
    ids, amounts, words = block.reader.scratch.ids, block.reader.scratch.amounts, running.words
    total = 0 * weight
    for index in range(count):
        term, amount = ids[index], weight * amounts[index]
        if words[term] == 0 and amount > 0:
            running.known[0] += 1
        words[term] += amount
        total += amount
        if dense:
            table[term, label] += amount
        else:
            add_pair(term, label, amount, pairs, tallies.used)
    running.totals[label] += total
    tallies.documents[label] += weight
    return 0


@compiled
def forget_text(text: AnyArray, stop: Number, label: Number, only_ask: bool, state: State) -> Number:
    """Take text[:stop] away: 0 where that is done, or could be; 1 where it was never learned; or what was too small."""
    block = opened(state)
    count = terms_of(text, stop, block, False, True)
    if count < 0:
        return count
    tallies, running = block.tallies, block.running
    ids, amounts, words = block.reader.scratch.ids, block.reader.scratch.amounts, running.words
    if tallies.documents[label] < 1:
        return 1
    for index in range(count):
        if ids[index] < 0 or count_of(ids[index], label, tallies) < amounts[index]:
            return 1
    if only_ask:
        return 0
    for index in range(count):
        term, amount = ids[index], amounts[index]
        if tallies.table.shape[1] > 0:
            tallies.table[term, label] -= amount
        else:
            add_pair(term, label, -amount, tallies.pairs, tallies.used)
        words[term] -= amount
        running.totals[label] -= amount
        if words[term] == 0 and amount > 0:
            running.known[0] -= 1
    tallies.documents[label] -= 1
    return 0


@compiled
def score_text(
    text: AnyArray, stop: Number, scale: float, smoothing: float, complement: bool, joint: FloatArray, state: State
) -> float:
    """Add what text[:stop] says about each class into joint[class]; the weight of all terms, or what was too small.

    multinomial: log((n + a) / (N + a V)) for each occurrence, N the class's total and V the words that are not zero;
    complement: minus the same of all other classes together. A word no class has seen says nothing. `scale` is what
    counts are multiplied by: 1, or what is left of them where they fade.
    """
    block = opened(state)
    count = terms_of(text, stop, block, False, False)
    if count < 0:
        return float(count)
    tallies = block.tallies
    classes = joint.size
    ids, amounts = block.reader.scratch.ids, block.reader.scratch.amounts
    words, totals, known = block.running.words, block.running.totals, block.running.known[0]
    unit = unit_of(block.weighting)
    sign = -1.0 if complement else 1.0
    everything = 0.0
    for label in range(classes):
        everything += totals[label]
    pseudocounts, wholes = np.empty(classes), np.empty(classes)
    for label in range(classes):
        total = (everything - totals[label] if complement else totals[label]) * (unit * scale)
        pseudocounts[label] = pseudocount_of(total, smoothing)
        wholes[label] = log_whole(total, pseudocounts[label], known)
    length = np.int64(0)
    for index in range(count):
        term, amount = ids[index], sign * (unit * amounts[index])
        length += amounts[index]
        if term < 0 or words[term] == 0:
            continue
        for label in range(classes):
            seen = count_of(term, label, tallies)
            if complement:
                seen = words[term] - seen
            joint[label] += amount * (np.log(seen * (unit * scale) + pseudocounts[label]) - wholes[label])
    return length * unit
