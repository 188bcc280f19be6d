"""The loops that score text: every document numbered, weighed and judged by itself, so its answer has the same bits in
any batch and on any thread. Nothing but the scratch and the answer is written."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.kernels import compiled
from candide.kernels.word_counting import COUNTS, Texts, join_equal, unit_of, weigh
from candide.kernels.words import Letters, Number, Recipe, Scratch, Terms, document_terms


class Weights(NamedTuple):
    """What a term says about each class.

    rows[number] is a term's row, -1 where it says nothing; no rows at all means that numbers are rows.
    A row says table[row, class] or, where the table has no columns, base[row] + (values[pair] for the classes it has a
    pair with, default[class] for the others). factor[row], where given, multiplies the amount.

    Every document that is there says constant[class]. Where `certain` is given, certain[class] is how many terms all of
    the class's documents hold: an infinite entry marks them, and a document that lacks one is impossible.
    rate[class], where given, is said once for each token: then tokens are Poisson events with that exposure.
    """

    rows: IntArray
    factor: FloatArray
    table: FloatArray
    indptr: IntArray
    labels: AnyArray
    values: FloatArray
    base: FloatArray
    default: FloatArray
    constant: FloatArray
    certain: IntArray
    rate: FloatArray


@compiled
def weighed_terms(
    texts: Texts,
    row: Number,
    letters: Letters,
    recipe: Recipe,
    weighting: Number,
    logs: FloatArray,
    terms: Terms,
    scratch: Scratch,
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
    weigh(count, weighting, logs, scratch.amounts)
    return count, tokens


@compiled
def measure_documents(
    texts: Texts,
    row: Number,
    letters: Letters,
    recipe: Recipe,
    weighting: Number,
    logs: FloatArray,
    terms: Terms,
    scratch: Scratch,
    length: FloatArray,
) -> tuple[Number, Number]:
    """The weight of all terms of the documents from number `row` on.

    Returns where it stopped and why (0: all done); missing documents are passed over.
    """
    once, unit = weighting != COUNTS, unit_of(weighting)
    while row < texts.offsets.size - 1:
        if texts.missing.size == 0 or not texts.missing[row]:
            count, _ = weighed_terms(texts, row, letters, recipe, weighting, logs, terms, scratch, once)
            if count < 0:
                return row, count
            said = np.int64(0)
            for place in range(count):
                said += scratch.amounts[place] if once else 1
            length[row] = said * unit
        row += 1
    return row, 0


@compiled
def score_documents(
    texts: Texts,
    row: Number,
    letters: Letters,
    recipe: Recipe,
    weighting: Number,
    logs: FloatArray,
    terms: Terms,
    scratch: Scratch,
    weights: Weights,
    joint: FloatArray,
    likelihood_weights: Weights,
    likelihood: FloatArray,
    length: FloatArray,
    unknown: FloatArray,
) -> tuple[Number, Number]:
    """Add what the documents from number `row` on say into joint[row, class], each cut into terms once.

    Where they have rows, likelihood[row, class] gets what the other weights say of the same terms, length[row] is set
    to the weight of all terms, and unknown[row] to that of the terms that say nothing. Returns where it stopped and why
    (0: all done); missing documents are passed over.
    """
    ids, amounts, rows, rate = scratch.ids, scratch.amounts, weights.rows, weights.rate
    classes = joint.shape[1]
    turns = 2 if likelihood.shape[0] else 1
    poisson = rate.size > 0
    once = weighting != COUNTS or poisson
    unit = unit_of(weighting)
    sums, matched = np.empty(classes), np.empty(classes)
    hits, held = np.empty(classes, np.int64), np.empty(classes, np.int64)
    while row < texts.offsets.size - 1:
        if texts.missing.size and texts.missing[row]:
            row += 1
            continue
        count, tokens = weighed_terms(texts, row, letters, recipe, weighting, logs, terms, scratch, once)
        if count < 0:
            return row, count
        for turn in range(turns):
            said_of, each = (joint, weights) if turn == 0 else (likelihood, likelihood_weights)
            table, factor, base, constant = each.table, each.factor, each.base, each.constant
            indptr, pair_labels, values = each.indptr, each.labels, each.values
            default, certain = each.default, each.certain
            dense = table.shape[1] > 0
            sums[:] = constant
            if dense and not once and factor.size == 0 and rows.size == 0:
                if classes == 2:
                    first, second = sums[0], sums[1]
                    for place in range(count):
                        line = ids[place]
                        if line >= 0:
                            first += table[line, 0]
                            second += table[line, 1]
                    sums[0], sums[1] = first, second
                else:
                    for place in range(count):
                        line = ids[place]
                        if line >= 0:
                            for label in range(classes):
                                sums[label] += table[line, label]
            else:
                matched[:] = 0.0
                hits[:] = 0
                held[:] = 0
                known, said, alike = 0, 0.0, 0.0
                for place in range(count):
                    line = ids[place]
                    if line >= 0 and rows.size:
                        line = rows[line]
                    if line < 0:
                        continue
                    occurrences = amounts[place] if once else 1
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
                    else:
                        known += 1
                        said += amount
                        alike += amount * base[line]
                        for pair in range(indptr[line], indptr[line + 1]):
                            label = pair_labels[pair]
                            hits[label] += 1
                            matched[label] += amount
                            if certain.size and values[pair] == np.inf:
                                held[label] += 1
                            else:
                                sums[label] += amount * values[pair]
                for label in range(classes):
                    sums[label] += alike
                    if hits[label] < known:
                        sums[label] += (said - matched[label]) * default[label]
                    if certain.size and held[label] < certain[label]:
                        sums[label] = -np.inf
            for label in range(classes):
                said_of[row, label] += sums[label] + (tokens * rate[label] if poisson else 0.0)
        if length.size:
            whole, strange = np.int64(0), np.int64(0)
            for place in range(count):
                occurrences = amounts[place] if once else 1
                whole += occurrences
                if ids[place] < 0 or (rows.size > 0 and rows[ids[place]] < 0):
                    strange += occurrences
            length[row] = whole * unit
            unknown[row] = strange * unit
        row += 1
    return row, 0
