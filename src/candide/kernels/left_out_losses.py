"""The loop behind a contest: the log loss of rows alike, by what they say of their own class and of all others."""

from __future__ import annotations

import math

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.kernels import compiled

LEAST_SHARE = 1e-200
"""Where all other classes together are less than this beside the likeliest, they are added up by themselves."""


@compiled
def others_together(said: FloatArray, prior: FloatArray, own: int) -> float:
    """The log of the joint probability of all classes but one: said[class] and the log prior of each."""
    top = -np.inf
    for label in range(len(said)):
        if label != own:
            top = max(top, prior[label] + said[label])
    if top - top != 0.0:
        return top
    total = 0.0
    for label in range(len(said)):
        if label != own:
            total += math.exp(prior[label] + said[label] - top)
    return top + math.log(total)


@compiled
def losses_alike(
    said: FloatArray,
    own: FloatArray,
    lines: IntArray,
    labels: IntArray,
    prior: FloatArray,
    prior_without: FloatArray,
) -> FloatArray:
    """-log P(own class) of each kind of rows, float64[kind], by the joint probability of its class and of all others.

    A kind is one of labels[kind], where own[kind] is what it says of its class, and said[lines[kind], class] what it
    says of the others. Log priors are those of other classes, prior[class], and of the own class without the row,
    prior_without[class]; a constant in both does not matter. Where everything is impossible the prior speaks alone.
    Kinds of one line stand together, so that the exponentials of a line are taken once.
    """
    kinds, classes = len(lines), said.shape[1]
    losses, shares, silent = np.empty(kinds), np.empty(classes), np.zeros(classes)
    line, top = -1, 0.0
    for kind in range(kinds):
        label = labels[kind]
        if lines[kind] != line:
            line, top = lines[kind], -np.inf
            for other in range(classes):
                top = max(top, prior[other] + said[line, other])
            for other in range(classes):
                shares[other] = math.exp(prior[other] + said[line, other] - top)
        rest = 0.0
        for other in range(classes):
            rest += 0.0 if other == label else shares[other]
        joint = prior_without[label] + own[kind]
        others = top + math.log(rest) if rest > LEAST_SHARE else others_together(said[line], prior, label)
        largest = max(joint, others)
        if largest - largest != 0.0 or joint != joint or others != others:
            joint, others = prior_without[label], others_together(silent, prior, label)
        behind = others - joint
        losses[kind] = behind + math.log1p(math.exp(-behind)) if behind > 0 else math.log1p(math.exp(behind))
    return losses


@compiled
def losses_in_folds(
    parts: IntArray,
    shares: FloatArray,
    lines: IntArray,
    labels: IntArray,
    held: IntArray,
    prior: FloatArray,
    prior_without: FloatArray,
    most: float,
) -> FloatArray:
    """-log P(own class) of each kind of rows, float64[kind], on average over the folds that its rows were dealt into.

    Without a fold, a line of values belongs to parts[fold, line], below zero where it says nothing, and a part says
    shares[fold, part, class]. A kind has lines[kind], labels[kind] and held[fold, kind] rows in each fold. No loss is
    above `most`; priors are as in `losses_alike`, which is asked once for all kinds of a part and class.
    """
    folds, silent, classes = shares.shape
    said, losses, rows = np.zeros((silent + 1, classes)), np.zeros(len(lines)), np.zeros(len(lines))
    for fold in range(folds):
        table = np.full((silent + 1, classes), -1.0)
        for part in range(silent):
            for label in range(classes):
                said[part, label] = shares[fold, part, label]
        asked = 0
        for kind in range(len(lines)):
            part = parts[fold, lines[kind]] if parts[fold, lines[kind]] >= 0 else silent
            if held[fold, kind] > 0 and table[part, labels[kind]] < 0.0:
                table[part, labels[kind]] = 0.0
                asked += 1
        own_parts, own_labels, own = np.empty(asked, np.int64), np.empty(asked, np.int64), np.empty(asked)
        asked = 0
        for part in range(silent + 1):
            for label in range(classes):
                if table[part, label] == 0.0:
                    own_parts[asked], own_labels[asked], own[asked] = part, label, said[part, label]
                    asked += 1
        found = losses_alike(said, own, own_parts, own_labels, prior, prior_without)
        for index in range(asked):
            table[own_parts[index], own_labels[index]] = min(found[index], most)
        for kind in range(len(lines)):
            if held[fold, kind] > 0:
                part = parts[fold, lines[kind]] if parts[fold, lines[kind]] >= 0 else silent
                losses[kind] += table[part, labels[kind]] * held[fold, kind]
                rows[kind] += held[fold, kind]
    return losses / rows


@compiled
def summed_losses(losses: FloatArray, weights: IntArray, unit: float) -> IntArray:
    """The sum over all rows of losses[family, kind], of which there are weights[kind], int64[family, 2].

    In parts of `unit`, as a number of 2^20 and the rest: whole numbers add up alike in any order, and these have room.
    """
    totals = np.zeros((len(losses), 2), np.int64)
    for family in range(len(losses)):
        for kind in range(len(weights)):
            whole = np.int64(np.rint(losses[family, kind] * unit))
            totals[family, 0] += (whole >> 20) * weights[kind]
            totals[family, 1] += (whole & 0xFFFFF) * weights[kind]
    return totals


@compiled
def gaps_between(losses: FloatArray, others: FloatArray, weights: IntArray) -> FloatArray:
    """By how much losses[family, kind] are more than others[kind] in all rows, and the sum of squares: [2, family]."""
    gaps = np.zeros((2, len(losses)))
    for family in range(len(losses)):
        for kind in range(len(weights)):
            more = losses[family, kind] - others[kind]
            gaps[0, family] += more * weights[kind]
            gaps[1, family] += more * more * weights[kind]
    return gaps
