"""The loss of calibrated scores and its slope: the inner loops of fitting a calibration."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, BoolArray, FloatArray, IntArray
from candide.kernels import compiled, inlined

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
#: Places without a sign are never counted from the end, which would have to be asked of each.
ONE, TWO, THREE, FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)


class Scored(NamedTuple):
    """Rows as a calibration sees them: what each block says of classes, and where scores start.

    A cell is a class of a row; those of row i are ends[i]:ends[i + 1], and own[i] is that of its label. Classes that
    are impossible for a row may have no cell.

    terms float64[block, cell], start float64[cell], classes int32[cell], ends int64[row + 1], own int64[row], logs
    float64[block, row] (log length), row_weights float64[row], label_smoothing float64[row]: the share of the row that
    counts as each other class, and so what is added for every nat, up to a few, by which its label leads that class.
    informed float64[row] is 1 where something is said of the row, else 0: then there is no bias. has_length
    bool[block] is false where no row of a block has any but a log length of 0.
    """

    terms: FloatArray
    start: FloatArray
    classes: AnyArray
    ends: IntArray
    own: IntArray
    logs: FloatArray
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
    """exp of a number that is not far above zero, to about 1e-13; of `NEGLIGIBLE` where it is below that.

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


@inlined
def fill_factors(weight: float, power: float, logs: FloatArray, factors: FloatArray) -> None:
    """Fill factors[row] with weight * length^-power."""
    for row in range(len(logs)):
        factors[row] = weight * exponential(-power * logs[row])


@compiled
def score_rows(rows: Scored, at: Coefficients, first: int, last: int, scores: FloatArray) -> None:
    """Fill scores[cell] of rows first to last: start + bias + sum of weight * length^-power * terms.

    Cells are counted from the first of these rows on. Scores of rows without weight may be anything.
    """
    bias, weight, power = at
    begin, end, factors = rows.ends[first], rows.ends[last], np.empty(last - first)
    for row in range(first, last):
        start, informed = rows.ends[row], rows.informed[row]
        if rows.ends[row + 1] - start == len(bias):
            for label in range(len(bias)):
                scores[start - begin + label] = rows.start[start + label] + informed * bias[label]
        else:
            for cell in range(start, rows.ends[row + 1]):
                scores[cell - begin] = rows.start[cell] + informed * bias[rows.classes[cell]]
    for block in range(len(weight)):
        factor, terms = weight[block], rows.terms[block, begin:end]
        if power[block] == 0.0:
            for cell in range(end - begin):
                scores[cell] += factor * terms[cell]
        else:
            fill_factors(weight[block], power[block], rows.logs[block, first:last], factors)
            for row in range(first, last):
                if rows.row_weights[row] > 0.0:
                    factor = factors[row - first]
                    for cell in range(rows.ends[row] - begin, rows.ends[row + 1] - begin):
                        scores[cell] += factor * terms[cell]


@compiled
def loss_of_rows(rows: Scored, first: int, last: int, scores: FloatArray, chances: FloatArray) -> float:
    """The loss of rows first to last by their scores[cell], which become its slopes by the scores.

    `chances[cell]` becomes P(class). A row without weight has no slopes and no chances. What needs no row is done for
    all cells at one stroke, as many at a time as a processor takes.
    """
    begin, loss, size = rows.ends[first], 0.0, rows.ends[last] - rows.ends[first]
    targets, own_lead = np.empty(size), np.empty(last - first)
    for row in range(first, last):
        most, own_score = -np.inf, scores[rows.own[row] - begin]
        for cell in range(rows.ends[row] - begin, rows.ends[row + 1] - begin):
            most = max(most, scores[cell])
        own_lead[row - first] = own_score - most
        for cell in range(rows.ends[row] - begin, rows.ends[row + 1] - begin):
            chances[cell] = scores[cell] - most
            scores[cell] = own_score - scores[cell]
    for cell in range(size):
        chances[cell] = exponential(chances[cell])
        targets[cell] = counted_slope(scores[cell])
        scores[cell] = counted_margin(scores[cell])
    for row in range(first, last):
        row_weight, share, own = rows.row_weights[row], rows.label_smoothing[row], rows.own[row] - begin
        start, stop = rows.ends[row] - begin, rows.ends[row + 1] - begin
        if row_weight <= 0.0:
            scores[start:stop] = 0.0
            chances[start:stop] = 0.0
            continue
        targets[own], scores[own] = 0.0, 0.0
        total, aimed = sum_between(chances, start, stop), sum_between(targets, start, stop)
        loss += row_weight * (np.log(total) - own_lead[row - first] + share * sum_between(scores, start, stop))
        slopes_of_row(scores, chances, targets, start, stop, total, row_weight, share)
        scores[own] += row_weight * (share * aimed - 1.0)
    return loss


@compiled
def slopes_of_row(
    scores: FloatArray,
    chances: FloatArray,
    targets: FloatArray,
    start: int,
    stop: int,
    total: float,
    row_weight: float,
    share: float,
) -> None:
    """Divide the chances of a row by their total, and let its scores be slopes, but for what its own class has more."""
    for cell in range(np.uint64(start), np.uint64(stop)):
        chances[cell] /= total
    for cell in range(np.uint64(start), np.uint64(stop)):
        scores[cell] = row_weight * (chances[cell] - share * targets[cell])


@compiled
def sum_between(numbers: FloatArray, start: int, stop: int) -> float:
    """The sum of numbers[start:stop], four at a time.

    Told by places and not by a slice, which costs more than the cells of two classes do.
    """
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    fours = start + (stop - start) // 4 * 4
    for index in range(np.uint64(start), np.uint64(fours), FOUR):
        first += numbers[index]
        second += numbers[index + ONE]
        third += numbers[index + TWO]
        fourth += numbers[index + THREE]
    for index in range(np.uint64(fours), np.uint64(stop)):
        first += numbers[index]
    return (first + second) + (third + fourth)


@compiled
def product_sum_between(left: FloatArray, right: FloatArray, start: int, stop: int) -> float:
    """The sum of left[start:stop] * right[start:stop] alike."""
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    fours = start + (stop - start) // 4 * 4
    for index in range(np.uint64(start), np.uint64(fours), FOUR):
        first += left[index] * right[index]
        second += left[index + ONE] * right[index + ONE]
        third += left[index + TWO] * right[index + TWO]
        fourth += left[index + THREE] * right[index + THREE]
    for index in range(np.uint64(fours), np.uint64(stop)):
        first += left[index] * right[index]
    return (first + second) + (third + fourth)


@compiled
def sum_of(numbers: FloatArray) -> float:
    """The sum of some numbers, four at a time."""
    return sum_between(numbers, 0, numbers.size)


@compiled
def product_sum(left: FloatArray, right: FloatArray) -> float:
    """The sum of products, four at a time."""
    return product_sum_between(left, right, 0, left.size)


@compiled
def loss_and_slope(rows: Scored, at: Coefficients, first: int, last: int, slope: Coefficients) -> float:
    """Sum of -log P(label) over rows first to last, with scores start + bias + sum of weight * length^-power * terms.

    Slopes are added up in place; slope.weight is that by log weight. A class without a cell is behind by far.
    """
    loss, start, room = 0.0, first, CELLS_AT_ONCE
    for row in range(first, last):
        cells = rows.ends[row + 1] - rows.ends[row]
        room = max(room, cells)
        loss += rows.row_weights[row] * rows.label_smoothing[row] * LARGEST_MARGIN * (len(at.bias) - cells)
    scores, chances = np.empty(room), np.empty(room)
    while start < last:
        stop = start + 1
        while stop < last and rows.ends[stop + 1] - rows.ends[start] <= room:
            stop += 1
        score_rows(rows, at, start, stop, scores)
        loss += loss_of_rows(rows, start, stop, scores, chances)
        add_slopes(rows, at, start, stop, scores, slope)
        start = stop
    return loss


@inlined
def add_slopes(
    rows: Scored, at: Coefficients, first: int, last: int, by_score: FloatArray, slope: Coefficients
) -> None:
    """Add the slopes by bias, log weight and power of rows first to last, from those by their scores[cell]."""
    _, weight, power = at
    begin, end, factors = rows.ends[first], rows.ends[last], np.empty(last - first)
    for row in range(first, last):
        start = rows.ends[row]
        if rows.informed[row] > 0.0 and rows.ends[row + 1] - start == len(slope.bias):
            for label in range(len(slope.bias)):
                slope.bias[label] += by_score[start - begin + label]
        elif rows.informed[row] > 0.0:
            for cell in range(start, rows.ends[row + 1]):
                slope.bias[rows.classes[cell]] += by_score[cell - begin]
    for block in range(len(weight)):
        said = rows.terms[block, begin:end]
        if not rows.has_length[block]:
            slope.weight[block] += weight[block] * product_sum(by_score[: end - begin], said)
            continue
        fill_factors(weight[block], power[block], rows.logs[block, first:last], factors)
        for row in range(first, last):
            if rows.row_weights[row] > 0.0:
                start, stop = rows.ends[row] - begin, rows.ends[row + 1] - begin
                moved = factors[row - first] * product_sum_between(by_score, said, start, stop)
                slope.weight[block] += moved
                slope.power[block] -= moved * rows.logs[block, row]


@compiled
def mark_probable(
    rows: Scored, at: Coefficients, first: int, last: int, depth: float, kept: BoolArray
) -> None:
    """Note in kept[cell], for rows first to last, which scores are within so many nats of the best, or of the label."""
    begin, scores = rows.ends[first], np.empty(rows.ends[last] - rows.ends[first])
    score_rows(rows, at, first, last, scores)
    for row in range(first, last):
        most = -np.inf
        for cell in range(rows.ends[row], rows.ends[row + 1]):
            most = max(most, scores[cell - begin])
        for cell in range(rows.ends[row], rows.ends[row + 1]):
            kept[cell] = cell == rows.own[row] or scores[cell - begin] >= most - depth
