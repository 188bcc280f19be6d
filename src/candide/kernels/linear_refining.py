"""The loops of the linear layer on text: rows as numbers of terms, what terms add to each class, found row by row.

The layer has the least penalised log loss

    sum over rows of weight * -log softmax(start + sum over terms of amount * added[term])[own class]
    + strength / 2 * sum of added^2

Where it is least, a term adds the sum of what the rows that hold it lack, added[term] = sum of weight * amount * (own -
chance) / strength, own being 1 for the row's class and 0 for others. So each row is visited in turn and its chances are
set to what they must be while all other rows stay as they are: dual coordinate ascent (Yu, Huang & Lin 2011), here with
all classes of a row at once. Only classes that are at all probable for a row are looked at.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.kernels import compiled, inlined

MOST_STEPS, NEAR_ENOUGH, UNHEARD = 60, 1e-7, -20.0
"""Newton's steps end there, a few are usual; a class so far behind has no say in its own score."""


class TermRows(NamedTuple):
    """Rows as terms: those of a row are terms[indptr[row]:indptr[row + 1]], each with its amount."""

    indptr: IntArray
    terms: AnyArray
    amounts: FloatArray


class RowClasses(NamedTuple):
    """The classes that are probable for each row, labels[indptr[row]:indptr[row + 1]], what is said of each before.

    `chances` are what was found of them so far: 1 for the row's own class at first, where terms add nothing.
    """

    indptr: IntArray
    labels: AnyArray
    start: FloatArray
    chances: FloatArray


@inlined
def add_terms_of_row(rows: TermRows, row: int, labels: AnyArray, added: FloatArray, scores: FloatArray) -> None:
    """Add to scores[place] what the terms of a row add to the class labels[place]."""
    terms, amounts = rows.terms, rows.amounts
    if len(labels) == 2:
        one, other, first, second = labels[0], labels[1], 0.0, 0.0
        for index in range(rows.indptr[row], rows.indptr[row + 1]):
            term, amount = terms[index], amounts[index]
            first += amount * added[term, one]
            second += amount * added[term, other]
        scores[0] += first
        scores[1] += second
        return
    for index in range(rows.indptr[row], rows.indptr[row + 1]):
        term, amount = terms[index], amounts[index]
        for place in range(len(labels)):
            scores[place] += amount * added[term, labels[place]]


@inlined
def move_terms_of_row(rows: TermRows, row: int, labels: AnyArray, moved: FloatArray, added: FloatArray) -> None:
    """Add amount * moved[place] to what each term of a row adds to the class labels[place]."""
    terms, amounts = rows.terms, rows.amounts
    if len(labels) == 2:
        one, other, first, second = labels[0], labels[1], moved[0], moved[1]
        for index in range(rows.indptr[row], rows.indptr[row + 1]):
            term, amount = terms[index], amounts[index]
            added[term, one] += amount * first
            added[term, other] += amount * second
        return
    for index in range(rows.indptr[row], rows.indptr[row + 1]):
        term, amount = terms[index], amounts[index]
        for place in range(len(labels)):
            added[term, labels[place]] += amount * moved[place]


@inlined
def log_chance(score: float, own_say: float, above: float) -> float:
    """The root of log chance + own_say * chance = score, found by Newton's steps from `above` it.

    The left side is convex in log chance, so steps from above never pass the root.
    """
    found = above
    for _ in range(MOST_STEPS):
        chance = own_say * math.exp(found)
        step = (found + chance - score) / (1.0 + chance)
        found -= step
        if step < NEAR_ENOUGH:
            break
    return found


@inlined
def set_chances(scores: FloatArray, own_say: float, chances: FloatArray, logs: FloatArray) -> None:
    """Set chances to the softmax of scores, each of which they themselves lower by own_say * chance.

    They begin as they were when scores were a little different. With z the logarithm of what exp(score) is divided by,
    log chance + own_say * chance = score - z. The sum of chances falls with z and is convex in it: Newton's steps rise
    to where it is one, after at most one that falls, and begin where no chance is above one. `logs` is room.
    """
    largest, total = scores.max(), 0.0
    for place in range(len(scores)):
        total += math.exp(scores[place] - largest - own_say * (chances[place] - 1.0))
    least = largest - own_say
    z, before = max(least, least + math.log(total)), 0.0
    for turn in range(MOST_STEPS):
        excess, slope = -1.0, 0.0
        for place in range(len(scores)):
            left = scores[place] - z
            above = min(left, 0.0) if turn == 0 else min(min(left, 0.0), logs[place] + max(0.0, before - z))
            logs[place] = left if left < UNHEARD else log_chance(left, own_say, above)
            chances[place] = math.exp(logs[place])
            excess += chances[place]
            slope += chances[place] / (1.0 + own_say * chances[place])
        if abs(excess) < NEAR_ENOUGH:
            break
        before, z = z, max(least, z + excess / slope)


@compiled
def visit_rows(
    rows: TermRows,
    squares: FloatArray,
    weights: FloatArray,
    classes: RowClasses,
    wanted: IntArray,
    strength: float,
    added: FloatArray,
    changes: FloatArray,
    settled: float,
) -> float:
    """Set the chances of the wanted rows, one after the other, and what terms add with them.

    squares[row] is the sum of its squared amounts. Rows whose chances changed by less than `settled` at their last
    visit, as changes[row] tells, are passed over. `classes.chances`, added[term, class] and changes are changed; the
    most that a chance had to change is returned.
    """
    most = 0
    for row in wanted:
        most = max(most, classes.indptr[row + 1] - classes.indptr[row])
    room, farthest = np.empty((3, most)), 0.0
    for row in wanted:
        if changes[row] < settled:
            continue
        begin, end = classes.indptr[row], classes.indptr[row + 1]
        scores, found, logs = room[0, : end - begin], room[1, : end - begin], room[2, : end - begin]
        labels, chances = classes.labels[begin:end], classes.chances[begin:end]
        own_say, share = weights[row] * squares[row] / strength, weights[row] / strength
        for place in range(end - begin):
            scores[place] = classes.start[begin + place] + own_say * chances[place]
            found[place] = chances[place]
        add_terms_of_row(rows, row, labels, added, scores)
        set_chances(scores, own_say, found, logs)
        change = 0.0
        for place in range(end - begin):
            moved = chances[place] - found[place]
            change = max(change, abs(moved))
            chances[place], found[place] = found[place], moved * share
        move_terms_of_row(rows, row, labels, found, added)
        changes[row] = change
        farthest = max(farthest, change)
    return farthest


@compiled
def add_layer(rows: TermRows, wanted: IntArray, added: FloatArray, scores: FloatArray) -> None:
    """Add to scores[place, class] what the terms of the row wanted[place] add."""
    for place in range(len(wanted)):
        for index in range(rows.indptr[wanted[place]], rows.indptr[wanted[place] + 1]):
            amount, line = rows.amounts[index], added[rows.terms[index]]
            for label in range(len(line)):
                scores[place, label] += amount * line[label]
