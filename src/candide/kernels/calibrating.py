"""The loss of calibrated scores and its slope: the inner loops of fitting a calibration."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from candide.data.arrays import BoolArray, FloatArray, IntArray
from candide.kernels import compiled

#: exp of less than this adds nothing to one.
NEGLIGIBLE = -40.0
#: Evidence against a class beyond this many nats of the best is cut off: exp(-1000) is nothing already.
FARTHEST = 1e3
#: A margin of more nats than this over another class costs no more than a margin of this.
LARGEST_MARGIN = 10.0
#: That cost sets in and ends within so many nats on either side: no minimum is found to the last digit at a kink.
ROUNDED = 0.1
#: So many scores are worked on at a time: they stay in the fastest memory.
CELLS_AT_ONCE = 8192


class Scored(NamedTuple):
    """Rows as a calibration sees them: what each block says, and where scores start.

    terms float64[block, row, class], start float64[row, class], logs float64[block, row] (log length), labels
    int64[row], row_weights float64[row], label_smoothing float64[row]: the share of the row that counts as each other
    class, and so what is added for every nat, up to a few, by which its label leads that class. informed
    float64[row] is 1 where something is said of the row, else 0: then there is no bias. has_length bool[block] is false
    where no row of a block has any but a log length of 0.
    """

    terms: FloatArray
    start: FloatArray
    logs: FloatArray
    labels: IntArray
    row_weights: FloatArray
    label_smoothing: FloatArray
    informed: FloatArray
    has_length: BoolArray


class Coefficients(NamedTuple):
    """What a calibration fits, or the slopes by it: bias float64[class], weight and power float64[block]."""

    bias: FloatArray
    weight: FloatArray
    power: FloatArray


@compiled
def look_over(said: FloatArray, informed: FloatArray) -> bool:
    """Whether something in said[row, class] must be cut off; informed[row] becomes 1 where classes differ."""
    rows, classes = said.shape
    too_far = False
    for row in range(rows):
        best, least = said[row, 0], said[row, 0]
        for label in range(1, classes):
            best, least = max(best, said[row, label]), min(least, said[row, label])
        if best != least:
            informed[row] = 1.0
        if not (least >= best - FARTHEST and best < np.inf):
            too_far = True
    return too_far


@compiled
def cut_off(said: FloatArray) -> None:
    """Make what is impossible in said[row, class], or nearly so, very improbable, so that sums stay finite."""
    rows, classes = said.shape
    for row in range(rows):
        best = said[row, 0]
        for label in range(1, classes):
            best = max(best, said[row, label])
        if not np.isfinite(best):
            best = 0.0
        for label in range(classes):
            said[row, label] = max(said[row, label], best - FARTHEST)


@compiled
def exponential(number: float) -> float:
    """exp of a number that is not above zero, to about 1e-13; of `NEGLIGIBLE` where it is below that.

    Without a branch or a call, so that a processor takes several at a time: exp(x / 2048) squared eleven times.
    """
    part = max(number, NEGLIGIBLE) * (1.0 / 2048)
    power = 1 / 120 + part * (1 / 720)
    power = 1 + part * (1 + part * (1 / 2 + part * (1 / 6 + part * (1 / 24 + part * power))))
    power *= power
    power *= power
    power *= power
    power *= power
    power *= power
    power *= power
    power *= power
    power *= power
    power *= power
    power *= power
    return power * power


@compiled
def counted_margin(margin: float) -> float:
    """A margin over another class as it counts: from 0 up to `LARGEST_MARGIN`, with round corners."""
    low = min(max(margin + ROUNDED, 0.0), 2 * ROUNDED)
    high = min(max(margin - (LARGEST_MARGIN - ROUNDED), 0.0), 2 * ROUNDED)
    straight = max(margin - ROUNDED, 0.0) - max(margin - (LARGEST_MARGIN + ROUNDED), 0.0)
    return straight + (low * low - high * high) / (4 * ROUNDED)


@compiled
def counted_slope(margin: float) -> float:
    """The slope of a margin as it counts."""
    low = min(max(margin + ROUNDED, 0.0), 2 * ROUNDED)
    high = min(max(margin - (LARGEST_MARGIN - ROUNDED), 0.0), 2 * ROUNDED)
    return (low - high) / (2 * ROUNDED)


@compiled
def score_rows(rows: Scored, at: Coefficients, first: int, last: int, scores: FloatArray) -> None:
    """Fill scores[row, class] of rows first to last: start + bias + sum of weight * length^-power * terms."""
    bias, weight, power = at
    classes, count = len(bias), last - first
    for row in range(count):
        for label in range(classes):
            scores[row, label] = rows.start[first + row, label] + rows.informed[first + row] * bias[label]
    added = scores[:count].reshape(count * classes)
    for block in range(len(weight)):
        factor = weight[block]
        if power[block] == 0.0:
            terms = rows.terms[block, first:last].reshape(count * classes)
            for cell in range(count * classes):
                added[cell] += factor * terms[cell]
        else:
            for row in range(count):
                factor = weight[block] * np.exp(-power[block] * rows.logs[block, first + row])
                for label in range(classes):
                    scores[row, label] += factor * rows.terms[block, first + row, label]


@compiled
def loss_of_rows(rows: Scored, first: int, last: int, scores: FloatArray, chances: FloatArray) -> float:
    """The loss of rows first to last by their scores[row, class], which become its slopes by the scores.

    `chances[row, class]` becomes P(class).
    """
    classes, loss = scores.shape[1], 0.0
    targets = np.empty(classes)
    for row in range(last - first):
        row_weight, own = rows.row_weights[first + row], rows.labels[first + row]
        share, here, chance = rows.label_smoothing[first + row], scores[row], chances[row]
        most = here[0]
        for label in range(1, classes):
            if here[label] > most:
                most = here[label]
        own_score = here[own]
        for label in range(classes):
            chance[label] = exponential(here[label] - most)
        for label in range(classes):
            targets[label] = share * counted_slope(own_score - here[label])
            here[label] = counted_margin(own_score - here[label])
        targets[own], here[own] = 0.0, 0.0
        total = sum_of(chance)
        loss += row_weight * (np.log(total) - (own_score - most) + share * sum_of(here))
        for label in range(classes):
            chance[label] /= total
            here[label] = row_weight * (chance[label] - targets[label])
        here[own] += row_weight * (sum_of(targets) - 1.0)
    return loss


@compiled
def sum_of(numbers: FloatArray) -> float:
    """The sum of some numbers, four at a time."""
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    fours = len(numbers) // 4 * 4
    for index in range(0, fours, 4):
        first += numbers[index]
        second += numbers[index + 1]
        third += numbers[index + 2]
        fourth += numbers[index + 3]
    for index in range(fours, len(numbers)):
        first += numbers[index]
    return (first + second) + (third + fourth)


@compiled
def product_sum(left: FloatArray, right: FloatArray) -> float:
    """The sum of products, four at a time."""
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    fours = len(left) // 4 * 4
    for index in range(0, fours, 4):
        first += left[index] * right[index]
        second += left[index + 1] * right[index + 1]
        third += left[index + 2] * right[index + 2]
        fourth += left[index + 3] * right[index + 3]
    for index in range(fours, len(left)):
        first += left[index] * right[index]
    return (first + second) + (third + fourth)


@compiled
def loss_and_slope(rows: Scored, at: Coefficients, first: int, last: int, slope: Coefficients) -> float:
    """Sum of -log P(label) over rows first to last, with scores start + bias + sum of weight * length^-power * terms.

    Slopes are added up in place; slope.weight is that by log weight.
    """
    classes = len(at.bias)
    at_once, loss = max(1, CELLS_AT_ONCE // classes), 0.0
    scores, chances = np.empty((at_once, classes)), np.empty((at_once, classes))
    for start in range(first, last, at_once):
        stop = min(start + at_once, last)
        score_rows(rows, at, start, stop, scores)
        loss += loss_of_rows(rows, start, stop, scores, chances)
        add_slopes(rows, at, start, stop, scores, slope)
    return loss


@compiled
def add_slopes(
    rows: Scored, at: Coefficients, first: int, last: int, by_score: FloatArray, slope: Coefficients
) -> None:
    """Add the slopes by bias, log weight and power of rows first to last, from those by their scores[row, class]."""
    _, weight, power = at
    classes, count = by_score.shape[1], last - first
    for row in range(count):
        for label in range(classes):
            slope.bias[label] += rows.informed[first + row] * by_score[row, label]
    flat = by_score[:count].reshape(count * classes)
    for block in range(len(weight)):
        if not rows.has_length[block]:
            said = rows.terms[block, first:last].reshape(count * classes)
            slope.weight[block] += weight[block] * product_sum(flat, said)
            continue
        for row in range(count):
            length = rows.logs[block, first + row]
            moved = weight[block] * np.exp(-power[block] * length)
            moved *= product_sum(by_score[row], rows.terms[block, first + row])
            slope.weight[block] += moved
            slope.power[block] -= moved * length
