"""The loops that judge documents by the counts of all the others: each is taken out, scored and put back, in whole
numbers, with no refit. Only the pairs that the document's own words have with classes are looked at."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.kernels import compiled, inlined
from candide.kernels.shares import log_whole, pseudocount_of
from candide.kernels.word_counting import TermWeighting, Texts, common_amount, join_equal, weigh, weighed_amount
from candide.kernels.words import Number, Reader, document_terms

#: What a kernel answers when there was no room for a document's terms, beside the reasons in `words`.
LIST_FULL = -5
MISSING = -1
LOG_TWO = math.log(2.0)


class Rows(NamedTuple):
    """Documents as different terms: those of row i are indptr[i]:indptr[i + 1], in order of first appearance.

    A term below zero is not counted anywhere. amounts are what the document adds, before its weight: occurrences, 1,
    or units of 2^-32. tokens[row] counts its terms with repeats, MISSING where there is no text.

    Terms that no other document holds may be left out, as they say nothing of others, nor of the document once it is
    out: then alone[row] is how many they are, and alone_amounts[row] what they add together. Else both are empty.
    """

    indptr: IntArray
    terms: AnyArray
    amounts: IntArray
    tokens: IntArray
    alone: IntArray
    alone_amounts: IntArray


class Counted(NamedTuple):
    """The counts documents are taken out of: words and the pairs they have with classes, sorted by class.

    kept[word] says which words speak, totals[word] how much was seen of each; a kept word with less than `least` left
    speaks no more. factor[word], where given, multiplies counts; `unit` turns them into what is meant, `amount_unit`
    the amounts of a row. class_weights are the kept words' totals by class as numbers, class_totals the same as counts,
    all_totals those of all words. `shift` is that of `weighed_amount`; documents are in the units of their weights,
    which are those of counts where it is 0.
    """

    indptr: IntArray
    labels: AnyArray
    counts: IntArray
    totals: IntArray
    kept: AnyArray
    factor: FloatArray
    class_totals: IntArray
    class_weights: FloatArray
    all_totals: IntArray
    documents: IntArray
    kept_words: int
    all_words: int
    least: int
    unit: float
    amount_unit: float
    shift: int


class Absence(NamedTuple):
    """What it says that a document has none of the kept words: constant float64[n], certain int64[n].

    certain[i] is how many words all documents hold: without smoothing their absence is impossible, so it is counted
    and not said.
    """

    constant: FloatArray
    certain: IntArray


class Gone(NamedTuple):
    """Scratch: what one document takes with it, counts and weights by class, and the pairs of its terms."""

    counts: IntArray
    weights: FloatArray
    pairs: IntArray
    stays: AnyArray


@compiled
def list_documents(texts: Texts, row: Number, reader: Reader, learning: bool, out: Rows) -> tuple[Number, Number]:
    """List the terms and occurrences of the documents from number `row` on; where it stopped and why (0: all done)."""
    letters, recipe, terms, scratch = reader
    while row < texts.offsets.size - 1:
        begin = out.indptr[row]
        out.indptr[row + 1] = begin
        out.tokens[row] = MISSING
        if texts.missing.size == 0 or not texts.missing[row]:
            start, stop = texts.offsets[row], texts.offsets[row + 1]
            tokens = document_terms(texts.letters, start, stop, letters, recipe, terms, scratch, learning)
            if tokens < 0:
                return row, tokens
            count = join_equal(tokens, scratch)
            if count < 0:
                return row, count
            if begin + count > out.terms.size:
                return row, LIST_FULL
            for index in range(count):
                out.terms[begin + index] = max(scratch.ids[index], -1)
                out.amounts[begin + index] = scratch.amounts[index]
            out.indptr[row + 1] = begin + count
            out.tokens[row] = tokens
        row += 1
    return row, 0


@compiled
def weigh_rows(rows: Rows, weighting: TermWeighting, amounts: IntArray) -> None:
    """Turn occurrences, rows.amounts, into what the weighting makes of them."""
    for row in range(rows.indptr.size - 1):
        start, stop = rows.indptr[row], rows.indptr[row + 1]
        for index in range(start, stop):
            amounts[index] = rows.amounts[index]
        weigh(stop - start, weighting, amounts[start:stop])


@compiled
def part_shared(rows: Rows, places: AnyArray, is_shared: AnyArray, out: Rows) -> None:
    """Write the shared terms of the rows by their places, without amounts, and how many others each row has.

    places[term] is -1 where a term is not shared; is_shared[entry of rows] tells it anew. The caller gives room.
    """
    used = 0
    out.indptr[0] = 0
    for row in range(rows.indptr.size - 1):
        for index in range(rows.indptr[row], rows.indptr[row + 1]):
            place = places[rows.terms[index]]
            is_shared[index] = place >= 0
            if place >= 0:
                out.terms[used] = place
                used += 1
        out.indptr[row + 1] = used
        out.alone[row] = rows.indptr[row + 1] - rows.indptr[row] - (used - out.indptr[row])


@compiled
def weigh_shared(rows: Rows, weighting: TermWeighting, is_shared: AnyArray, out: Rows) -> None:
    """Fill in what the shared terms of rows, parted by `part_shared`, weigh, and what the others come to."""
    longest, used = 1, 0
    for row in range(rows.indptr.size - 1):
        longest = max(longest, rows.indptr[row + 1] - rows.indptr[row])
    amounts = np.empty(longest, np.int64)
    for row in range(rows.indptr.size - 1):
        start, stop = rows.indptr[row], rows.indptr[row + 1]
        common, others = common_amount(stop - start, weighting), np.int64(0)
        if common > 0:
            out.amounts[out.indptr[row] : out.indptr[row + 1]] = common
            out.alone_amounts[row] = common * out.alone[row]
            continue
        for index in range(start, stop):
            amounts[index - start] = rows.amounts[index]
        weigh(stop - start, weighting, amounts)
        used = out.indptr[row]
        for index in range(start, stop):
            if is_shared[index]:
                out.amounts[used] = amounts[index - start]
                used += 1
            else:
                others += amounts[index - start]
        out.alone_amounts[row] = others


@compiled
def sum_rows(rows: Rows, wanted: IntArray, sums: IntArray) -> None:
    """Fill sums[i] with the amounts of all terms of row wanted[i] together."""
    for number in range(wanted.size):
        row = wanted[number]
        whole = rows.alone_amounts[row] if rows.alone.size else 0
        for index in range(rows.indptr[row], rows.indptr[row + 1]):
            whole += rows.amounts[index]
        sums[number] = whole


@compiled
def rows_within(rows: Rows, indptr: IntArray, most: Number) -> Number:
    """How many of the first rows hold no more than so many pairs, and terms of their own, together."""
    looked_at = 0
    for row in range(rows.indptr.size - 1):
        looked_at += rows.alone[row] if rows.alone.size else 0
        for index in range(rows.indptr[row], rows.indptr[row + 1]):
            looked_at += indptr[rows.terms[index] + 1] - indptr[rows.terms[index]]
        if looked_at > most:
            return row
    return rows.indptr.size - 1


@compiled
def copy_rows(rows: Rows, wanted: IntArray, terms: AnyArray, amounts: IntArray) -> None:
    """Write the entries of the wanted rows one after the other; the caller gives room for them."""
    used = 0
    for row in wanted:
        for index in range(rows.indptr[row], rows.indptr[row + 1]):
            terms[used] = rows.terms[index]
            amounts[used] = rows.amounts[index]
            used += 1


@compiled
def tabulate_rows(rows: Rows, labels: IntArray, weights: IntArray, shift: Number, table: IntArray) -> None:
    """Add the rows up into table[term, class]; `shift` is as in `weighed_amount`."""
    indptr, terms, amounts = rows.indptr, rows.terms, rows.amounts
    for row in range(indptr.size - 1):
        label, weight = labels[row], weights[row]
        for index in range(indptr[row], indptr[row + 1]):
            table[terms[index], label] += weighed_amount(weight, amounts[index], shift)


@compiled
def count_rows(
    rows: Rows,
    labels: IntArray,
    weights: IntArray,
    shift: Number,
    by_class: IntArray,
    indptr: IntArray,
    pair_labels: AnyArray,
    counts: IntArray,
) -> Number:
    """Add the rows up by (term, class), the pairs of term i at indptr[i]:indptr[i + 1] by class; how many pairs.

    by_class are the rows in order of their labels, `shift` is as in `weighed_amount`. The caller gives room for as many
    pairs as there are terms in the rows, and zeros in `indptr`.
    """
    words = indptr.size - 1
    for index in range(rows.terms.size):
        indptr[rows.terms[index] + 1] += 1
    for word in range(words):
        indptr[word + 1] += indptr[word]
    filled = indptr[:-1].copy()
    for row in by_class:
        for index in range(rows.indptr[row], rows.indptr[row + 1]):
            word = rows.terms[index]
            pair_labels[filled[word]] = labels[row]
            counts[filled[word]] = weighed_amount(weights[row], rows.amounts[index], shift)
            filled[word] += 1
    total = 0
    for word in range(words):
        begin = indptr[word]
        indptr[word] = total
        for entry in range(begin, filled[word]):
            label, count = pair_labels[entry], counts[entry]
            if count == 0:
                continue
            if total > indptr[word] and pair_labels[total - 1] == label:
                counts[total - 1] += count
                continue
            pair_labels[total] = label
            counts[total] = count
            total += 1
    indptr[words] = total
    return total


@compiled
def sum_kept_words(seen: Counted, class_totals: IntArray, class_weights: FloatArray) -> None:
    """Add up the kept words by class, as counts and as numbers."""
    for word in range(seen.totals.size):
        if seen.kept[word]:
            meant = seen.unit * (seen.factor[word] if seen.factor.size else 1.0)
            for pair in range(seen.indptr[word], seen.indptr[word + 1]):
                class_totals[seen.labels[pair]] += seen.counts[pair]
                class_weights[seen.labels[pair]] += seen.counts[pair] * meant


@inlined
def pair_of(label: Number, low: Number, high: Number, labels: AnyArray) -> Number:
    """Where a label stands among labels[low:high], which are sorted, or -1."""
    end = high
    while low < high:
        middle = (low + high) >> 1
        if labels[middle] < label:
            low = middle + 1
        else:
            high = middle
    return low if low < end and labels[low] == label else np.int64(-1)


@compiled
def take_out(
    rows: Rows, row: Number, label: Number, weight: Number, seen: Counted, gone: Gone
) -> tuple[Number, Number]:
    """Take a document out into `gone`: how many words then speak, and how many there are at all.

    gone.stays says which of its terms go on speaking, gone.pairs where each stands with the document's class, -1 where
    nothing is left there. The first answer is -1 where the counts do not hold the document.
    """
    terms, amounts = rows.terms, rows.amounts
    indptr, labels, counts, totals, kept, factor = seen[:6]
    least, unit, shift = seen.least, seen.unit, seen.shift
    gone_counts, gone_weights, pairs, stays = gone
    gone_counts[:] = 0
    gone_weights[:] = 0.0
    speaking, there = seen.kept_words, seen.all_words
    if rows.alone.size > 0 and weight > 0:
        speaking -= rows.alone[row]
        there -= rows.alone[row]
        gone_counts[label] += weight * rows.alone_amounts[row]
    start, stop = rows.indptr[row], rows.indptr[row + 1]
    for index in range(start, stop):
        word, own = terms[index], weighed_amount(weight, amounts[index], shift)
        stays[index - start] = False
        if word < 0:
            if own > 0:
                return -1, 0
            continue
        mine = pair_of(label, indptr[word], indptr[word + 1], labels)
        if own > 0 and (mine < 0 or counts[mine] < own):
            return -1, 0
        pairs[index - start] = mine
        rest = totals[word] - own
        if rest == 0 and own > 0:
            there -= 1
        if not kept[word]:
            continue
        meant = unit * (factor[word] if factor.size else 1.0)
        gone_counts[label] += own
        gone_weights[label] += own * meant
        if rest >= least:
            stays[index - start] = True
            continue
        speaking -= 1
        for pair in range(indptr[word], indptr[word + 1]):
            left = counts[pair] - (own if pair == mine else 0)
            gone_counts[labels[pair]] += left
            gone_weights[labels[pair]] += left * meant
    return speaking, there


@inlined
def weight_left(label: Number, seen: Counted, gone: Gone) -> float:
    """How much of the kept words a class has left: exactly nothing where no count is left."""
    rest = seen.class_totals[label] - gone.counts[label]
    if seen.factor.size and rest > 0:
        return max(seen.class_weights[label] - gone.weights[label], 0.0)
    return rest * seen.unit


@inlined
def room_for(rows: Rows, classes: Number) -> Gone:
    """Scratch for the longest document."""
    longest = 0
    for row in range(rows.indptr.size - 1):
        longest = max(longest, rows.indptr[row + 1] - rows.indptr[row])
    pairs, stays = np.empty(longest, np.int64), np.empty(longest, np.bool_)
    return Gone(np.zeros(classes, np.int64), np.zeros(classes), pairs, stays)


@compiled
def unknown_without(rows: Rows, weights: IntArray, seen: Counted, out: FloatArray) -> None:
    """What each document's terms that nobody else speaks of add to its log P, into out[row].

    Each unit of their weight counts as one of all that was seen without the document, in all classes together, its
    different words added: -log(G + V). The counts hold every document.
    """
    terms, amounts, totals, kept = rows.terms, rows.amounts, seen.totals, seen.kept
    least, shift, everything = seen.least, seen.shift, 0.0
    for label in range(seen.documents.size):
        everything += seen.all_totals[label]
    for row in range(rows.indptr.size - 1):
        if rows.tokens[row] == MISSING:
            continue
        weight, there, own, unknown = weights[row], seen.all_words, np.int64(0), np.int64(0)
        if rows.alone.size > 0:
            own += weight * rows.alone_amounts[row]
            unknown += rows.alone_amounts[row]
            there -= rows.alone[row] if weight > 0 else 0
        for index in range(rows.indptr[row], rows.indptr[row + 1]):
            word, mine = terms[index], weighed_amount(weight, amounts[index], shift)
            own += mine
            if word < 0 or not kept[word] or totals[word] - mine < least:
                unknown += amounts[index]
            if word >= 0 and mine > 0 and totals[word] == mine:
                there -= 1
        rest = (everything - own) * seen.unit + there
        out[row] = -unknown * seen.amount_unit * math.log(rest) if unknown > 0 and rest > 1.0 else 0.0


@inlined
def floors_of(smoothings: FloatArray) -> FloatArray:
    """What a class says of a word that it never saw: log(smoothing), or 0 where there is none to add to."""
    floors = np.zeros(smoothings.size)
    for which in range(smoothings.size):
        if smoothings[which] > 0:
            floors[which] = math.log(smoothings[which])
    return floors


@compiled
def leave_out_shares(
    rows: Rows,
    labels: IntArray,
    weights: IntArray,
    seen: Counted,
    smoothings: FloatArray,
    pair_logs: FloatArray,
    exposed: bool,
    joint: FloatArray,
) -> Number:
    """Add what each document says by the multinomial of the others, or where `exposed` by their Poisson rates.

    joint[smoothing, row, class] is for several smoothings at once, as most time goes into finding counts in memory.
    pair_logs[pair, smoothing] are the logs of counts with the smoothing added; they are taken here where none are
    given. With smoothing a class that never saw a word is known in advance to say log(smoothing), so sums are of what
    pairs say beyond that. Returns the first row that was never counted, or how many rows there are.

    Long because it is where choosing for texts spends most of its time: with `take_out` apart it took a fifth longer.
    """
    several, _, classes = joint.shape
    gone = Gone(np.zeros(classes, np.int64), np.zeros(classes), np.empty(0, np.int64), np.empty(0, np.bool_))
    gone_counts, gone_weights = gone.counts, gone.weights
    starts, terms, amounts, alone = rows.indptr, rows.terms, rows.amounts, rows.alone.size > 0
    indptr, pair_labels, counts, totals, kept, factors = seen[:6]
    unit, amount_unit, shift, least, weighs = seen.unit, seen.amount_unit, seen.shift, seen.least, seen.factor.size > 0
    sums, hits = np.empty((classes, several)), np.empty(classes, np.int64)
    floors, tabled, meant, amount_meant = floors_of(smoothings), pair_logs.size > 0, seen.unit, seen.amount_unit
    for row in range(starts.size - 1):
        tokens, label, weight = rows.tokens[row], labels[row], weights[row]
        if tokens == MISSING:
            continue
        sums[:] = 0.0
        hits[:] = 0
        gone_counts[:] = 0
        gone_weights[:] = 0.0
        speaking, there, own_gone, own_weight = seen.kept_words, seen.all_words, np.int64(0), 0.0
        if alone and weight > 0:
            speaking -= rows.alone[row]
            there -= rows.alone[row]
            own_gone += weight * rows.alone_amounts[row]
        known, said, alike = 0, 0.0, 0.0
        for index in range(starts[row], starts[row + 1]):
            word, own = terms[index], weighed_amount(weight, amounts[index], shift)
            if word < 0:
                if own > 0:
                    return row
                continue
            rest = totals[word] - own
            there -= 1 if rest == 0 and own > 0 else 0
            if weighs:
                meant, amount_meant = unit * factors[word], amount_unit * factors[word]
            amount, speaks = amounts[index] * amount_meant, kept[word]
            stays, missed = speaks and rest >= least, own > 0
            if speaks:
                own_gone += own
                own_weight += own * meant
                speaking -= 0 if stays else 1
            if stays:
                known += 1
                said += amount
                if exposed:
                    alike += amount * math.log(tokens) - math.lgamma(amount + 1.0)
            for pair in range(indptr[word], indptr[word + 1]):
                other, left = pair_labels[pair], counts[pair]
                is_own = other == label and own > 0
                if is_own:
                    left -= own
                    missed = False
                    if left < 0:
                        return row
                if not stays:
                    if speaks:
                        gone_counts[other] += left
                        gone_weights[other] += left * meant
                elif left > 0:
                    hits[other] += 1
                    if tabled and not is_own:
                        for which in range(several):
                            sums[other, which] += amount * (pair_logs[pair, which] - floors[which])
                    else:
                        for which in range(several):
                            value = math.log(left * meant + smoothings[which])
                            sums[other, which] += amount * (value - floors[which])
            if missed:
                return row
        gone_counts[label] += own_gone
        gone_weights[label] += own_weight
        for other in range(classes):
            left = weight_left(other, seen, gone)
            for which in range(several):
                total, slots = left, speaking
                if exposed:
                    all_left = seen.all_totals[other] - (weight * tokens if other == label else 0)
                    total, slots = all_left * seen.unit, there
                pseudocount = pseudocount_of(total, smoothings[which])
                whole, score = log_whole(total, pseudocount, slots), sums[other, which] + said * floors[which]
                if smoothings[which] == 0.0 and total > 0.0 and hits[other] < known:
                    score = -np.inf
                joint[which, row, other] += score + alike - said * whole
                if exposed and speaking > 0:
                    expected = (left + pseudocount * speaking) / (total + pseudocount * slots)
                    joint[which, row, other] -= tokens * expected
    return rows.indptr.size - 1


@compiled
def leave_out_complements(
    rows: Rows, labels: IntArray, weights: IntArray, seen: Counted, smoothing: float, joint: FloatArray
) -> Number:
    """Add what each document says by the complements of the others; returns as `leave_out_shares` does.

    The document leaves the complement of every class but its own. A term says the same about all classes that it has no
    pair with, its own class apart: `alike`, with what differs added pair by pair.
    """
    classes = joint.shape[1]
    gone = room_for(rows, classes)
    pairs, stays = gone.pairs, gone.stays
    terms, amounts = rows.terms, rows.amounts
    indptr, pair_labels, counts, totals, factors = seen.indptr, seen.labels, seen.counts, seen.totals, seen.factor
    unit, amount_unit, shift = seen.unit, seen.amount_unit, seen.shift
    sums, weights_left = np.empty(classes), np.empty(classes)
    for row in range(rows.indptr.size - 1):
        label, weight = labels[row], weights[row]
        if rows.tokens[row] == MISSING:
            continue
        speaking, _ = take_out(rows, row, label, weight, seen, gone)
        if speaking < 0:
            return row
        sums[:] = 0.0
        said, alike = 0.0, 0.0
        start, stop = rows.indptr[row], rows.indptr[row + 1]
        for index in range(start, stop):
            if not stays[index - start]:
                continue
            word, mine = terms[index], pairs[index - start]
            factor = factors[word] if factors.size else 1.0
            meant, amount = unit * factor, amounts[index] * (amount_unit * factor)
            own = weighed_amount(weight, amounts[index], shift)
            rest = totals[word] - own
            elsewhere = math.log(rest * meant + smoothing)
            said += amount
            alike -= amount * elsewhere
            for pair in range(indptr[word], indptr[word + 1]):
                left = rest - counts[pair]
                if pair == mine:
                    left += own
                sums[pair_labels[pair]] += amount * (elsewhere - math.log(left * meant + smoothing))
        everything, counts_left = 0.0, 0
        for other in range(classes):
            weights_left[other] = weight_left(other, seen, gone)
            everything += weights_left[other]
            counts_left += seen.class_totals[other] - gone.counts[other]
        for other in range(classes):
            counts_elsewhere = counts_left - (seen.class_totals[other] - gone.counts[other])
            others = counts_elsewhere * seen.unit
            if seen.factor.size and counts_elsewhere > 0:
                others = everything - weights_left[other]
            joint[row, other] += said * log_whole(others, pseudocount_of(others, smoothing), speaking)
            if others + smoothing > 0.0:
                joint[row, other] += sums[other] + alike
    return rows.indptr.size - 1


@compiled
def absences(
    starts: IntArray,
    counts: IntArray,
    words: IntArray,
    kept_words: Number,
    unit: float,
    smoothing: float,
    labels: IntArray,
    documents: IntArray,
    out: Absence,
) -> None:
    """What the absence of every kept word says where class labels[i] has documents[i] documents, into out at i.

    Counts and documents are in the same units.

    words[j] of the class's words, j in starts[class]:starts[class + 1], are in counts[j] of its documents; those in
    more than there are belong to the document that was taken out, and are left to the caller.
    """
    constant, certain = out
    for index in range(labels.size):
        there = documents[index] * unit
        certain[index] = 0
        constant[index] = 0.0
        if there + smoothing == 0:
            continue
        constant[index] = kept_words * (math.log(there + smoothing) - math.log(there + 2 * smoothing))
        for entry in range(starts[labels[index]], starts[labels[index] + 1]):
            absent = documents[index] - counts[entry]
            if absent == 0 and smoothing == 0:
                certain[index] += words[entry]
            elif absent >= 0:
                constant[index] += words[entry] * less_absent(absent * unit, there, smoothing)


@inlined
def less_absent(absent: float, there: float, smoothing: float) -> float:
    """By how much absence is less likely for a word that some documents have than for one that none has."""
    return math.log(absent + smoothing) - math.log(there + smoothing)


@compiled
def leave_out_presence(
    rows: Rows,
    labels: IntArray,
    weights: IntArray,
    seen: Counted,
    smoothing: float,
    pair_logs: FloatArray,
    pair_absences: FloatArray,
    by_class: Absence,
    by_row: Absence,
    joint: FloatArray,
) -> Number:
    """Add what each document says by the presence and absence of words in the others; returns as the others do.

    pair_logs are as there, pair_absences from `less_absent`. by_class, from `absences`, is the absence of all words in
    each class; by_row that in each row's class once it has the row's weight less of documents. The document's words are
    taken out of them one by one.
    """
    constant, certain = by_class
    own_constant, own_certain = by_row
    classes = joint.shape[1]
    gone = room_for(rows, classes)
    sums, held, hits = np.empty(classes), np.empty(classes, np.int64), np.empty(classes, np.int64)
    nothing_seen = math.log(smoothing) if smoothing > 0 else -np.inf
    for row in range(rows.indptr.size - 1):
        label, weight = labels[row], weights[row]
        if rows.tokens[row] == MISSING:
            continue
        speaking, _ = take_out(rows, row, label, weight, seen, gone)
        if speaking < 0 or seen.documents[label] < weight:
            return row
        sums[:] = 0.0
        held[:] = 0
        hits[:] = 0
        known, staying = 0, 0
        start = rows.indptr[row]
        for index in range(start, rows.indptr[row + 1]):
            word = rows.terms[index]
            if word < 0 or not seen.kept[word]:
                continue
            known += 1
            staying += gone.stays[index - start]
            for pair in range(seen.indptr[word], seen.indptr[word + 1]):
                other, count = seen.labels[pair], seen.counts[pair]
                there, presence, absence = seen.documents[other], pair_logs[pair], pair_absences[pair]
                absent = there - count
                if other == label and weight > 0:
                    there -= weight
                    absent -= weight
                    count -= weight
                    presence = math.log(count * seen.unit + smoothing)
                    absence = less_absent(absent * seen.unit, there * seen.unit, smoothing)
                if absent == 0 and smoothing == 0:
                    held[other] += 1
                elif absent >= 0:
                    sums[other] -= absence
                if gone.stays[index - start] and count > 0:
                    hits[other] += 1
                    sums[other] += presence
        for other in range(classes):
            there = (seen.documents[other] - (weight if other == label else 0)) * seen.unit
            if there + 2 * smoothing == 0:
                joint[row, other] -= speaking * LOG_TWO
                continue
            whole = math.log(there + 2 * smoothing)
            score = sums[other] + (own_constant[row] if other == label else constant[other])
            score -= known * (math.log(there + smoothing) - whole) + staying * whole
            if hits[other] < staying:
                score += (staying - hits[other]) * nothing_seen
            if held[other] < (own_certain[row] if other == label else certain[other]):
                score = -np.inf
            joint[row, other] += score
    return rows.indptr.size - 1
