"""What a histogram says of rows by intervals that were found without their fold."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from candide.data.arrays import BoolArray, FloatArray, IntArray
from candide.kernels import compiled, inlined
from candide.kernels.merging import log_shares_of_parts, merge_bins


class BinShape(NamedTuple):
    """The bins of a histogram: where the line is cut, from which bin to which lie between the edges, and their widths.

    cuts float64[bins - 1], log_widths float64[bins]; pseudocounts float64[bins] are added to what a bin counts in its
    interval, which has a `smoothing`.
    """

    cuts: FloatArray
    first: int
    last: int
    log_widths: FloatArray
    pseudocounts: FloatArray
    smoothing: float


@inlined
def line_totals(counts: IntArray) -> IntArray:
    """The sum of each line of counts[line, column]."""
    totals = np.zeros(len(counts), np.int64)
    for line in range(len(counts)):
        for column in range(counts.shape[1]):
            totals[line] += counts[line, column]
    return totals


@inlined
def bins_left(all_rows: IntArray, rest: IntArray, shape: BinShape) -> tuple[BoolArray, FloatArray, FloatArray]:
    """Which bins there would be had only the rest been seen, and where each begins and ends.

    Of bins between the edges, what only others had filled is shared by the nearest that are left, and at either end by
    the bin beyond, which is as wide as all of them.
    """
    low, high = np.full(len(rest), -np.inf), np.full(len(rest), np.inf)
    for cut in range(len(shape.cuts)):
        low[cut + 1] = high[cut] = shape.cuts[cut]
    there = np.ones(len(rest), np.bool_)
    before, begin, is_any = -1, -1, False
    for slot in range(shape.first, shape.last):
        there[slot] = rest[slot] > 0 or all_rows[slot] == 0
        is_any |= there[slot]
    if not is_any:
        there[:] = True
    for slot in range(shape.first, shape.last):
        if there[slot]:
            if 0 <= before < slot - 1:
                middle = 0.5 * high[before] + 0.5 * low[slot]
                high[before] = low[slot] = middle if middle > high[before] else low[slot]
            before, begin = slot, slot if begin < 0 else begin
    if begin > shape.first > 0:
        high[shape.first - 1] = low[begin]
        low[shape.first - 1] = low[begin] - (high[before] - low[begin])
    if 0 <= before < shape.last - 1 and shape.last < len(there):
        low[shape.last] = high[before]
        high[shape.last] = high[before] + (high[before] - low[begin])
    return there, low, high


@inlined
def bin_left(slot: int, value: float, there: BoolArray, high: FloatArray, shape: BinShape) -> int:
    """The bin that a number is in once its own is shared: one of the neighbours that are left, or beyond the edges."""
    before, after = slot, slot
    while before >= shape.first and not there[before]:
        before -= 1
    while after < shape.last and not there[after]:
        after += 1
    if before >= shape.first and (value < high[before] or after >= len(there)):
        return before
    return before if before >= 0 and before < shape.first else after


@compiled
def score_bins_without_folds(
    counts: IntArray,
    values: FloatArray,
    bins: IntArray,
    labels: IntArray,
    weights: IntArray,
    folds: IntArray,
    shape: BinShape,
    known: FloatArray,
    score: FloatArray,
    likelihood: FloatArray,
) -> None:
    """Add to score[row, class] the log density of each row's bin by intervals found without the row's fold.

    counts[bin, class] are those of all rows; a bin below zero says nothing, and of a row in a fold below zero nothing
    is asked. Added to likelihood[row, class] is the log
    density of bins as they would be without the fold: a bin of one's own would make any number look usual.
    """
    shares, all_rows = np.zeros(counts.shape), line_totals(counts)
    for fold in range(folds.max() + 1 if len(folds) else 0):
        if not (folds == fold).any():
            continue
        rest = counts.copy()
        for row in range(len(bins)):
            if folds[row] == fold and bins[row] >= 0:
                rest[bins[row], labels[row]] -= weights[row]
        intervals = merge_bins(rest, known)
        log_shares_of_parts(rest, intervals, shape.smoothing, shares)
        totals = line_totals(rest)
        there, low, high = bins_left(all_rows, totals, shape)
        pool = totals + shape.pseudocounts
        wholes, left = np.zeros(len(counts)), np.zeros(len(counts))
        for slot in range(len(counts)):
            wholes[intervals[slot]] += pool[slot]
            left[intervals[slot]] += pool[slot] * there[slot]
        for row in range(len(bins)):
            slot = bins[row]
            if folds[row] != fold or slot < 0:
                continue
            part = intervals[slot]
            within = math.log(pool[slot]) - math.log(wholes[part]) - shape.log_widths[slot]
            for label in range(counts.shape[1]):
                score[row, label] += shares[part, label] + within
            own = slot if there[slot] else bin_left(slot, values[row], there, high, shape)
            width = high[own] - low[own]
            log_width = math.log(width) if 0 < width < np.inf else shape.log_widths[own]
            part = intervals[own]
            within = math.log(pool[own]) - math.log(left[part]) - log_width
            for label in range(counts.shape[1]):
                likelihood[row, label] += shares[part, label] + within
