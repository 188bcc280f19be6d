"""The loops that score text: every document numbered, weighed and judged by itself, so its answer has the same bits in
any batch and on any thread. Nothing but the scratch and the answer is written."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.kernels import compiled, inlined
from candide.kernels.word_counting import COUNTS, TermWeighting, Texts, join_equal, unit_of, weigh
from candide.kernels.words import Letters, Number, Reader, Recipe, Scratch, Terms, document_terms

#: An entry of pairs holds how many there are in so many bits.
PAIR_SHIFT = 16


class Weights(NamedTuple):
    """What a term says about each class.

    rows[number - first] is a term's row, -1 where it says nothing; no rows at all means that number - first is, and no
    term has a number below the first.
    A row says table[row, class] or, where the table has no columns, base[row] + (values[pair] for the classes it has a
    pair with, default[class] for the others); there is no base but zero unless `has_base`. Of rows that many classes
    have a pair with these stand in lines[line, class] as well. So that one look tells where to go on, entries[row] is
    -1 - line for these, and for others their first pair, shifted by PAIR_SHIFT, and how many pairs there are.
    factor[row], where given, multiplies the amount.

    Every document that is there says constant[class]. Where `certain` is given, certain[class] is how many terms all of
    the class's documents hold: an infinite entry marks them, and a document that lacks one is impossible.
    rate[class], where given, is said once for each token: then tokens are Poisson events with that exposure.
    """

    rows: IntArray
    first: int
    factor: FloatArray
    table: FloatArray
    indptr: IntArray
    labels: AnyArray
    values: FloatArray
    base: FloatArray
    has_base: bool
    default: FloatArray
    entries: IntArray
    lines: FloatArray
    constant: FloatArray
    certain: IntArray
    rate: FloatArray


class Judged(NamedTuple):
    """What is found out of documents: what they say is added to joint[row, class].

    Where these have rows, so is what other weights say to likelihood[row, class]; length[row] is set to the weight of
    all terms, and unknown[row] to that of the terms that say nothing.
    """

    joint: FloatArray
    likelihood: FloatArray
    length: FloatArray
    unknown: FloatArray


class Said(NamedTuple):
    """Room for what one document says of each class.

    sums and matched amounts are float64[class], hits (pairs met) and held (certain terms met) int64[class].
    """

    sums: FloatArray
    matched: FloatArray
    hits: IntArray
    held: IntArray


@compiled
def fill_table(
    indptr: IntArray, labels: AnyArray, values: FloatArray, base: FloatArray, default: FloatArray, table: FloatArray
) -> None:
    """Fill table[row, class] with all that a row says, pair or no pair."""
    for row in range(indptr.size - 1):
        for label in range(default.size):
            table[row, label] = base[row] + default[label]
        for pair in range(indptr[row], indptr[row + 1]):
            table[row, labels[pair]] = base[row] + values[pair]


@compiled
def weighed_terms(
    texts: Texts,
    row: Number,
    letters: Letters,
    recipe: Recipe,
    terms: Terms,
    scratch: Scratch,
    weighting: TermWeighting,
    once: bool,
) -> tuple[Number, Number]:
    """Number the terms of one document, each different one once where asked; how many, and of how many tokens.

    Amounts are set for different terms only: occurrences, 1, or units of 2^-32, as the weighting says.
    """
    start, stop = texts.offsets[row], texts.offsets[row + 1]
    tokens = document_terms(texts.letters, start, stop, letters, recipe, terms, scratch, False)
    if tokens < 0 or not once:
        return tokens, tokens
    count = join_equal(tokens, scratch)
    weigh(count, weighting, scratch.amounts)
    return count, tokens


@compiled
def measure_documents(
    texts: Texts, row: Number, reader: Reader, weighting: TermWeighting, length: FloatArray
) -> tuple[Number, Number]:
    """The weight of all terms of the documents from number `row` on.

    Returns where it stopped and why (0: all done); missing documents are passed over.
    """
    letters, recipe, terms, scratch = reader
    once, unit = weighting.rule != COUNTS, unit_of(weighting)
    while row < texts.offsets.size - 1:
        if texts.missing.size == 0 or not texts.missing[row]:
            count, _ = weighed_terms(texts, row, letters, recipe, terms, scratch, weighting, once)
            if count < 0:
                return row, count
            said = np.int64(0)
            for index in range(count):
                said += scratch.amounts[index] if once else 1
            length[row] = said * unit
        row += 1
    return row, 0


@inlined
def add_table_rows(
    scratch: Scratch,
    count: Number,
    once: bool,
    unit: float,
    rows: IntArray,
    least: int,
    table: FloatArray,
    sums: FloatArray,
) -> None:
    """Add the rows of table[row, class] that terms have, by numbers from `least` on.

    Two classes are kept out of memory while adding.
    """
    ids, amounts, classes = scratch.ids, scratch.amounts, sums.size
    first, second = sums[0], sums[classes - 1]
    for index in range(count):
        line = ids[index] - least
        if line >= 0 and rows.size:
            line = rows[line]
        if line < 0:
            continue
        amount = amounts[index] * unit if once else unit
        if classes == 2:
            first += amount * table[line, 0]
            second += amount * table[line, 1]
        else:
            for label in range(classes):
                sums[label] += amount * table[line, label]
    if classes == 2:
        sums[0], sums[1] = first, second


@inlined
def add_wide_terms(scratch: Scratch, count: Number, unit: float, lines: FloatArray, sums: FloatArray) -> None:
    """Add the lines of (line, amount) in scratch.joined; four at a time, in order."""
    lined, done = scratch.joined, count - count % 4
    for start in range(0, 2 * done, 8):
        first, second, third, fourth = lined[start], lined[start + 2], lined[start + 4], lined[start + 6]
        of_first, of_second = lined[start + 1] * unit, lined[start + 3] * unit
        of_third, of_fourth = lined[start + 5] * unit, lined[start + 7] * unit
        for label in range(sums.size):
            said = sums[label] + of_first * lines[first, label] + of_second * lines[second, label]
            sums[label] = said + of_third * lines[third, label] + of_fourth * lines[fourth, label]
    for index in range(done, count):
        for label in range(sums.size):
            sums[label] += lined[2 * index + 1] * unit * lines[lined[2 * index], label]


@inlined
def add_lines_and_pairs(
    scratch: Scratch, count: Number, once: bool, unit: float, weights: Weights, sums: FloatArray
) -> None:
    """Add what terms say by their pairs, and then by the lines of those that have one.

    As in `add_weighed_terms`, where all that terms have are amounts, and no default is infinite: what a pair says
    beyond the default of its class is added, and the default once for all terms.
    """
    ids, amounts, rows, base, labels = scratch.ids, scratch.amounts, weights.rows, weights.base, weights.labels
    values, entries, lined, first, has_base = (
        weights.values, weights.entries, scratch.joined, weights.first, weights.has_base
    )  # fmt: skip
    default, wide, spoken, alike = weights.default, 0, 0.0, 0.0
    for index in range(count):
        line = ids[index] - first
        if line >= 0 and rows.size:
            line = rows[line]
        if line < 0:
            continue
        entry, occurrences = entries[line], amounts[index] if once else 1
        amount = occurrences * unit
        if has_base:
            alike += amount * base[line]
        if entry < 0:
            lined[2 * wide], lined[2 * wide + 1] = -1 - entry, occurrences
            wide += 1
            continue
        spoken += amount
        start = entry >> PAIR_SHIFT
        for pair in range(start, start + (entry & ((1 << PAIR_SHIFT) - 1))):
            sums[labels[pair]] += amount * (values[pair] - default[labels[pair]])
    add_wide_terms(scratch, wide, unit, weights.lines, sums)
    for label in range(sums.size):
        sums[label] += alike + spoken * default[label]


@inlined
def add_weighed_terms(
    scratch: Scratch, count: Number, tokens: Number, once: bool, unit: float, weights: Weights, said: Said
) -> None:
    """Add to said.sums what `count` terms in the scratch say, in whatever form the weights are.

    Amounts are those of the scratch in the given unit where terms came `once`, else one for each.
    """
    ids, amounts, rows = scratch.ids, scratch.amounts, weights.rows
    table, factor, certain = weights.table, weights.factor, weights.certain
    indptr, values, entries, lines = weights.indptr, weights.values, weights.entries, weights.lines
    sums, matched, hits, held = said
    classes, dense, poisson = sums.size, table.shape[1] > 0, weights.rate.size > 0
    matched[:] = 0.0
    hits[:] = 0
    held[:] = 0
    known, spoken, alike = 0, 0.0, 0.0
    for index in range(count):
        line = ids[index] - weights.first
        if line >= 0 and rows.size:
            line = rows[line]
        if line < 0:
            continue
        occurrences = amounts[index] if once else 1
        amount = occurrences * unit * (factor[line] if factor.size else 1.0)
        if poisson:
            alike += amount * math.log(tokens) - math.lgamma(amount + 1.0)
        if dense:
            for label in range(classes):
                value = table[line, label]
                if certain.size and value == np.inf:
                    held[label] += 1
                else:
                    sums[label] += amount * value
        elif entries.size and entries[line] < 0:
            alike += amount * weights.base[line]
            for label in range(classes):
                sums[label] += amount * lines[-1 - entries[line], label]
        else:
            known += 1
            spoken += amount
            alike += amount * weights.base[line]
            for pair in range(indptr[line], indptr[line + 1]):
                label = weights.labels[pair]
                hits[label] += 1
                matched[label] += amount
                if certain.size and values[pair] == np.inf:
                    held[label] += 1
                else:
                    sums[label] += amount * values[pair]
    for label in range(classes):
        sums[label] += alike
        if hits[label] < known:
            sums[label] += (spoken - matched[label]) * weights.default[label]
        if certain.size and held[label] < certain[label]:
            sums[label] = -np.inf


@compiled
def score_terms(
    scratch: Scratch, count: Number, tokens: Number, once: bool, unit: float, weights: Weights, said: Said
) -> None:
    """Set said.sums to what a document of `tokens` says by these weights; its terms are as in `add_weighed_terms`."""
    said.sums[:] = weights.constant
    has_amounts_alone = not (weights.factor.size or weights.certain.size or weights.rate.size)
    if has_amounts_alone and weights.table.shape[1]:
        add_table_rows(scratch, count, once, unit, weights.rows, weights.first, weights.table, said.sums)
    elif has_amounts_alone and weights.entries.size and weights.default.min() > -np.inf:
        add_lines_and_pairs(scratch, count, once, unit, weights, said.sums)
    else:
        add_weighed_terms(scratch, count, tokens, once, unit, weights, said)
    if weights.rate.size > 0:
        for label in range(said.sums.size):
            said.sums[label] += tokens * weights.rate[label]


@inlined
def whole_amount(scratch: Scratch, count: Number, once: bool) -> Number:
    """How much `count` terms in the scratch amount to."""
    if not once:
        return np.int64(count)
    whole = np.int64(0)
    for index in range(count):
        whole += scratch.amounts[index]
    return whole


@inlined
def unknown_amount(scratch: Scratch, count: Number, once: bool, rows: IntArray, first: int) -> Number:
    """How much of it says nothing."""
    unknown = np.int64(0)
    for index in range(count):
        line = scratch.ids[index] - first
        if line < 0 or (rows.size > 0 and rows[line] < 0):
            unknown += scratch.amounts[index] if once else 1
    return unknown


@compiled
def judge_terms(
    scratch: Scratch,
    count: Number,
    tokens: Number,
    once: bool,
    unit: float,
    weights: Weights,
    likelihood_weights: Weights,
    said: Said,
    row: Number,
    found: Judged,
) -> None:
    """Note what `count` terms in the scratch say of document `row`."""
    joint, likelihood, length, unknown = found
    score_terms(scratch, count, tokens, once, unit, weights, said)
    for label in range(joint.shape[1]):
        joint[row, label] += said.sums[label]
    if likelihood.shape[0]:
        score_terms(scratch, count, tokens, once, unit, likelihood_weights, said)
        for label in range(joint.shape[1]):
            likelihood[row, label] += said.sums[label]
    if length.size:
        length[row] = whole_amount(scratch, count, once) * unit
    if unknown.size:
        unknown[row] = unknown_amount(scratch, count, once, weights.rows, weights.first) * unit


@inlined
def room_for_said(classes: Number) -> Said:
    """Room for what one document says."""
    return Said(np.empty(classes), np.empty(classes), np.empty(classes, np.int64), np.empty(classes, np.int64))


@compiled
def score_documents(
    texts: Texts,
    row: Number,
    reader: Reader,
    weighting: TermWeighting,
    weights: Weights,
    likelihood_weights: Weights,
    found: Judged,
) -> tuple[Number, Number]:
    """Note what the documents from number `row` on say, each cut into terms once.

    Returns where it stopped and why (0: all done); missing documents are passed over.
    """
    letters, recipe, terms, scratch = reader
    once, unit = weighting.rule != COUNTS or weights.rate.size > 0, unit_of(weighting)
    said = room_for_said(found.joint.shape[1])
    while row < texts.offsets.size - 1:
        if texts.missing.size == 0 or not texts.missing[row]:
            count, tokens = weighed_terms(texts, row, letters, recipe, terms, scratch, weighting, once)
            if count < 0:
                return row, count
            judge_terms(scratch, count, tokens, once, unit, weights, likelihood_weights, said, row, found)
        row += 1
    return row, 0
