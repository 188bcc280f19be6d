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
def count_in_folds(lines: IntArray, labels: IntArray, held: IntArray, counts: IntArray) -> None:
    """Add held[fold, kind] rows to counts[fold, line, class] at lines[fold, kind] and labels[kind]."""
    for fold in range(len(held)):
        for kind in range(len(labels)):
            counts[fold, lines[fold, kind], labels[kind]] += held[fold, kind]
