"""The loops for one text at a time: learned, forgotten or judged straight from the counts, no table in between.

Beside the tallies a stream keeps the totals that shares are made of, so one text costs its own words by the classes,
however large the vocabulary is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from candide.arrays import AnyArray, FloatArray, IntArray
from candide.kernels import compiled
from candide.kernels.word_counting import (
    COUNTS,
    LOG,
    PRESENCE,
    UNIT,
    Tallies,
    add_pair,
    count_of,
    damp,
    join_equal,
)
from candide.kernels.words import PAIRS_FULL, Letters, Number, Recipe, Scratch, Terms, document_terms


class Running(NamedTuple):
    """What follows the tallies: totals[class], words[term] over all classes, and in known[0] how many are not zero."""

    totals: IntArray
    words: IntArray
    known: IntArray


@compiled
def amounts_of(
    text: AnyArray,
    stop: Number,
    letters: Letters,
    recipe: Recipe,
    weighting: Number,
    logs: FloatArray,
    terms: Terms,
    scratch: Scratch,
    learning: bool,
) -> Number:
    """The different terms of text[:stop] and their amounts, in the scratch; how many, or what was too small."""
    count = document_terms(text, 0, stop, letters, recipe, terms, scratch, learning)
    if count <= 0:
        return count
    count = join_equal(count, scratch)
    if count > 0 and weighting == LOG:
        damp(count, scratch.amounts, logs)
    elif weighting == PRESENCE:
        scratch.amounts[: max(count, 0)] = 1
    return count


@compiled
def learn_text(
    text: AnyArray,
    stop: Number,
    label: Number,
    letters: Letters,
    recipe: Recipe,
    weighting: Number,
    logs: FloatArray,
    terms: Terms,
    scratch: Scratch,
    tallies: Tallies,
    running: Running,
) -> Number:
    """Learn text[:stop]; 0, or what was too small: then nothing was counted and the caller tries again."""
    if weighting == COUNTS:
        count = document_terms(text, 0, stop, letters, recipe, terms, scratch, True)
    else:
        count = amounts_of(text, stop, letters, recipe, weighting, logs, terms, scratch, True)
    if count < 0:
        return count
    table, pairs = tallies.table, tallies.pairs
    dense = table.shape[1] > 0
    if not dense and 4 * (tallies.used[0] + count) > 3 * (pairs.size >> 1):
        return PAIRS_FULL
    ids, amounts, words = scratch.ids, scratch.amounts, running.words
    total = 0
    for place in range(count):
        term = ids[place]
        amount = 1 if weighting == COUNTS else amounts[place]
        if words[term] == 0 and amount > 0:
            running.known[0] += 1
        words[term] += amount
        total += amount
        if dense:
            table[term, label] += amount
        else:
            add_pair(term, label, amount, pairs, tallies.used)
    running.totals[label] += total
    tallies.documents[label] += 1
    return 0


@compiled
def forget_text(
    text: AnyArray,
    stop: Number,
    label: Number,
    letters: Letters,
    recipe: Recipe,
    weighting: Number,
    logs: FloatArray,
    terms: Terms,
    scratch: Scratch,
    tallies: Tallies,
    running: Running,
    only_ask: bool,
) -> Number:
    """Take text[:stop] away: 0 where that is done, or could be; 1 where it was never learned; or what was too small."""
    count = amounts_of(text, stop, letters, recipe, weighting, logs, terms, scratch, False)
    if count < 0:
        return count
    ids, amounts, words = scratch.ids, scratch.amounts, running.words
    if tallies.documents[label] < 1:
        return 1
    for place in range(count):
        if ids[place] < 0 or count_of(ids[place], label, tallies) < amounts[place]:
            return 1
    if only_ask:
        return 0
    for place in range(count):
        term, amount = ids[place], amounts[place]
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
    text: AnyArray,
    stop: Number,
    letters: Letters,
    recipe: Recipe,
    weighting: Number,
    logs: FloatArray,
    terms: Terms,
    scratch: Scratch,
    tallies: Tallies,
    running: Running,
    smoothing: float,
    complement: bool,
    joint: FloatArray,
) -> Number:
    """Add what text[:stop] says about each class into joint[class]; 0, or what was too small.

    multinomial: log((n + a) / (N + a V)) for each occurrence, N the class's total and V the words that are not zero;
    complement: minus the same of all other classes together. A word no class has seen says nothing.
    """
    if weighting == COUNTS:
        count = document_terms(text, 0, stop, letters, recipe, terms, scratch, False)
    else:
        count = amounts_of(text, stop, letters, recipe, weighting, logs, terms, scratch, False)
    if count < 0:
        return count
    classes = joint.size
    ids, amounts, words, totals = scratch.ids, scratch.amounts, running.words, running.totals
    unit = 1.0 / UNIT if weighting == LOG else 1.0
    dense = tallies.table.shape[1] > 0
    known = running.known[0]
    everything = 0
    for label in range(classes):
        everything += totals[label]
    wholes = np.empty(classes)
    for label in range(classes):
        whole = everything - totals[label] if complement else totals[label]
        wholes[label] = whole * unit + smoothing * known
    sums = np.zeros(classes)
    spoken = 0.0
    for place in range(count):
        term = ids[place]
        if term < 0 or words[term] == 0:
            continue
        amount = unit * amounts[place] if weighting != COUNTS else 1.0
        spoken += amount
        for label in range(classes):
            seen = tallies.table[term, label] if dense else count_of(term, label, tallies)
            if complement:
                seen = words[term] - seen
            if wholes[label] > 0.0:
                sums[label] += amount * np.log(seen * unit + smoothing)
    if spoken > 0.0:
        sign = -1.0 if complement else 1.0
        for label in range(classes):
            whole = wholes[label] if wholes[label] > 0.0 else float(known)
            joint[label] += sign * (sums[label] - spoken * np.log(whole))
    return 0
