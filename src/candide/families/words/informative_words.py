"""The words that set classes apart, and what a word tells: from the (word, class) pairs that occurred.

There may be a million words and a thousand classes, but never a table of both: a pair that never occurred says what
its class says of any such word.
"""

from __future__ import annotations

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.families.base.informative import EventPairs, most_telling
from candide.families.base.profile import entropy
from candide.families.words.parameters import TextParameters
from candide.kernels.word_scoring import Weights


def telling_rows(parameters: TextParameters, prior: FloatArray) -> IntArray:
    """The kept words that tell most of each class, the most telling first."""
    seen, weights = parameters.seen, parameters.score_weights
    length = longer(weights)
    values = weights.table[seen.words, seen.labels] - weights.base[seen.words] if weights.table.size else weights.values
    says, unheard = values + length[seen.labels], weights.default + length
    return most_telling(EventPairs(seen.words, seen.labels, seen.counts, says, unheard), prior, len(parameters))


def longer(weights: Weights) -> FloatArray:
    """What one more occurrence says by making a text longer: something only where words are Poisson events."""
    return weights.rate if weights.rate.size else np.zeros_like(weights.default)


def said_of(parameters: TextParameters, rows: IntArray) -> FloatArray:
    """What one occurrence of each of some words adds to the score of each class."""
    weights = parameters.score_weights
    said = np.array([parameters.says(row, weights) + longer(weights) for row in rows.tolist()])
    said = said.reshape(len(rows), parameters.seen.classes)
    return np.where(np.isposinf(said), 0.0, said) if weights.certain.size else said


def word_information(parameters: TextParameters, prior: FloatArray) -> float:
    """How many bits one word drawn from a text tells about its class, by the words' shares in each class.

    The sum of P(c) q(w|c) log q(w|c) / q(w) over all words, q(w|c) = (count + smoothing) / (all + smoothing V), where a
    pair that never occurred has the share its class gives any such word.
    """
    from scipy.special import xlogy  # not needed, and slow to import, to predict

    seen = parameters.seen
    slots = max(seen.kept_words, 1)
    totals = seen.by_class(seen.counts) + parameters.smoothing * slots
    nothing = totals == 0
    totals = np.where(nothing, slots, totals)
    unheard = np.where(nothing, 1.0, parameters.smoothing) / totals
    shares = (seen.counts + parameters.smoothing) / totals[seen.labels]
    mixed = prior @ unheard + seen.by_word(prior[seen.labels] * (shares - unheard[seen.labels]))
    never = seen.kept_words - np.bincount(seen.labels, minlength=seen.classes)
    gained = seen.by_class(xlogy(shares, shares)) + never * xlogy(unheard, unheard)
    bits = (prior @ gained - xlogy(mixed, mixed).sum()) / np.log(2)
    return float(np.clip(bits, 0.0, entropy(prior)))
