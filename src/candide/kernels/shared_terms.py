"""Documents judged by the smoothed shares of all the others, where every term speaks: the quickest way to leave out.

Only terms that several documents hold are looked at. Frequent ones have a line of what they say for each class, which
is added at one stroke; of the others only the classes that saw them are looked at.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.kernels import compiled, inlined
from candide.kernels.shares import log_whole
from candide.kernels.word_leaving import MISSING, Counted, Rows
from candide.kernels.words import Number

#: Terms that more documents hold than this are alike: they come first, in their own order.
MOST_HELD = 4096
#: Factors are multiplied until the product is as large, or as small.
LARGEST = 1e100
#: Where no more terms than this go with a document, what classes then hold is worked out once for all such documents.
FEW_GONE = 64


class ShareTable(NamedTuple):
    """What terms of some rows say beyond log(smoothing), which a class says that never saw them.

    The first terms, so many as are `wide`, have lines, where the rows hold them: places int32[term] tells which, counts
    int64[line, 1 + class] are that of all classes and of each, gains float64[line, smoothing * class]. Others, from the
    first pair that no line stands for, have gains float64[pair, smoothing], or none, and are then worked out.
    """

    wide: int
    places: AnyArray
    counts: IntArray
    gains: FloatArray
    first_pair: int
    pair_gains: FloatArray


@compiled
def number_shared(rows: Rows, places: AnyArray) -> tuple[Number, Number]:
    """Number the terms that two documents or more hold into places[term], the most frequent first, -1 for others.

    The caller gives zeros; there is no term below zero. Returns how many there are of both.
    """
    for index in range(rows.terms.size):
        places[rows.terms[index]] += 1
    starts, alone = np.zeros(MOST_HELD + 1, np.int64), 0
    for term in range(places.size):
        held = min(places[term], MOST_HELD)
        if held >= 2:
            starts[MOST_HELD - held + 1] += 1
        else:
            alone += held
    for index in range(1, starts.size):
        starts[index] += starts[index - 1]
    for term in range(places.size):
        held = min(places[term], MOST_HELD)
        if held < 2:
            places[term] = -1
            continue
        places[term] = starts[MOST_HELD - held]
        starts[MOST_HELD - held] += 1
    return starts[MOST_HELD - 2], alone


@compiled
def share_table(rows: Rows, seen: Counted, smoothings: FloatArray, wide: int, tabled: bool) -> ShareTable:
    """The table for the terms that some rows hold; `tabled` tells whether pairs without a line have gains, too."""
    terms, indptr, labels, all_counts, unit = rows.terms, seen.indptr, seen.labels, seen.counts, seen.unit
    classes, several, floors = seen.documents.size, smoothings.size, np.log(smoothings)
    places, lines, first_pair = np.full(indptr.size - 1, -1, np.int32), 0, indptr[wide]
    pair_gains = np.empty((all_counts.size - first_pair if tabled else 0, several))
    for index in range(rows.indptr[0], rows.indptr[-1]):
        term = terms[index]
        if places[term] >= 0:
            continue
        places[term] = lines
        if term < wide:
            lines += 1
        elif tabled:
            for pair in range(indptr[term], indptr[term + 1]):
                for which in range(several):
                    gain = math.log(all_counts[pair] * unit + smoothings[which]) - floors[which]
                    pair_gains[pair - first_pair, which] = gain
    counts, gains = np.zeros((lines, 1 + classes), np.int64), np.zeros((lines, several * classes))
    for term in range(wide):
        line = places[term]
        if line < 0:
            continue
        counts[line, 0] = seen.totals[term]
        for pair in range(indptr[term], indptr[term + 1]):
            counts[line, 1 + labels[pair]] = all_counts[pair]
            for which in range(several):
                gain = math.log(all_counts[pair] * unit + smoothings[which]) - floors[which]
                gains[line, which * classes + labels[pair]] = gain
    return ShareTable(wide, places, counts, gains, first_pair, pair_gains)


@compiled
def leave_out_shared(
    rows: Rows,
    labels: IntArray,
    weights: IntArray,
    seen: Counted,
    smoothings: FloatArray,
    table: ShareTable,
    joint: FloatArray,
) -> Number:
    """Add what each document says by the multinomial of the others into joint[smoothing, row, class].

    Rows are without the terms that one document holds, every term speaks, and smoothings are above zero. Most terms of
    a document have the same amount: of them logarithms are taken of products, which lie between those by the least and
    by the most smoothing. Returns the first row that was never counted, or how many rows there are.

    Long because it is the hottest loop of choosing: parts of it would be given arrays, term by term, whose references
    are counted.
    """
    several, _, classes = joint.shape
    starts, terms, amounts = rows.indptr, rows.terms, rows.amounts
    indptr, pair_labels, counts, totals, unit = seen.indptr, seen.labels, seen.counts, seen.totals, seen.unit
    wide, places, line_counts, gains, first_pair, pair_gains = table
    tabled, floors = len(pair_gains) > 0, np.log(smoothings)
    sums, own_sums, products = np.empty(several * classes), np.empty(several), np.empty(several)
    most_smoothing, least_smoothing = smoothings.max(), smoothings.min()
    wholes, is_known = np.empty((FEW_GONE + 1, several * classes)), np.zeros(FEW_GONE + 1, np.bool_)
    for row in range(starts.size - 1):
        if rows.tokens[row] == MISSING:
            continue
        label, weight = labels[row], weights[row]
        sums[:], own_sums[:], products[:], largest, smallest = 0.0, 0.0, 1.0, 1.0, 1.0
        usual, spoken = least_amount(amounts, starts[row], starts[row + 1]), 0.0
        speaking, own_gone, said = seen.kept_words, weight * rows.alone_amounts[row], 0.0
        speaking -= rows.alone[row] if weight > 0 else 0
        for index in range(starts[row], starts[row + 1]):
            term, own = terms[index], weight * amounts[index]
            own_gone += own
            line = places[term] if term < wide else 0
            total = line_counts[line, 0] if term < wide else totals[term]
            if total <= own:
                if total < own:
                    return row
                speaking -= 1 if own > 0 else 0
                continue
            amount, left = amounts[index] * seen.amount_unit, -own
            said += amount
            if term < wide:
                for cell in range(sums.size):
                    sums[cell] += amount * gains[line, cell]
                left += line_counts[line, 1 + label]
            else:
                for pair in range(indptr[term], indptr[term + 1]):
                    other = pair_labels[pair]
                    if other == label:
                        left += counts[pair]
                    for which in range(several):
                        gain = (
                            pair_gains[pair - first_pair, which]
                            if tabled
                            else math.log(counts[pair] * unit + smoothings[which]) - floors[which]
                        )
                        sums[which * classes + other] += amount * gain
            if left < 0:
                return row
            if left > 0 and own > 0:
                spoken += amount
                if amounts[index] == usual:
                    count = left * unit
                    largest, smallest = largest * (count + most_smoothing), smallest * (count + least_smoothing)
                    for which in range(several):
                        products[which] *= count + smoothings[which]
                    if largest > LARGEST or smallest < 1.0 / LARGEST:
                        add_products(amount, products, own_sums)
                        largest, smallest = 1.0, 1.0
                else:
                    for which in range(several):
                        own_sums[which] += amount * math.log(left * unit + smoothings[which])
        add_products(usual * seen.amount_unit, products, own_sums)
        for which in range(several):
            own_sums[which] -= spoken * floors[which]
        slot = min(seen.kept_words - speaking, FEW_GONE)
        whole = wholes[slot]
        if slot == FEW_GONE or not is_known[slot]:
            fill_wholes(seen, smoothings, speaking, whole)
            is_known[slot] = True
        for which in range(several):
            own_score = joint[which, row, label]
            for other in range(classes):
                cell = which * classes + other
                joint[which, row, other] += sums[cell] + said * (floors[which] - whole[cell])
            if weight > 0:
                own_whole = log_whole((seen.class_totals[label] - own_gone) * unit, smoothings[which], speaking)
                joint[which, row, label] = own_score + (own_sums[which] + said * (floors[which] - own_whole))
    return starts.size - 1


@inlined
def add_products(amount: float, products: FloatArray, sums: FloatArray) -> None:
    """Add so much of the logarithms of products[smoothing], which begin anew."""
    for which in range(products.size):
        sums[which] += amount * math.log(products[which])
        products[which] = 1.0


@inlined
def least_amount(amounts: AnyArray, start: Number, stop: Number) -> Number:
    """The least of some amounts, which is that of most terms of a document."""
    least: Number = amounts[start] if start < stop else 0
    for index in range(start + 1, stop):
        least = min(least, amounts[index])
    return least


@inlined
def fill_wholes(seen: Counted, smoothings: FloatArray, speaking: Number, whole: FloatArray) -> None:
    """Fill whole[smoothing * class] with the logs of all counts and pseudocounts where so many terms speak."""
    classes = seen.documents.size
    for which in range(smoothings.size):
        for label in range(classes):
            whole[which * classes + label] = log_whole(
                seen.class_totals[label] * seen.unit, smoothings[which], speaking
            )
