"""Exact sums that are asked while they grow: a row added, and moments rounded once from the digits.

Entry 0 of each column holds the sums of all classes, entry label + 1 those of a class.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from candide.kernels import compiled, inlined
from candide.kernels.densities import DEVIATION, MEAN, WEIGHT, add_densities, summed_of, takes
from candide.kernels.digits import MASK, leading_bits, length_of, magnitude_of, round_to_bits
from candide.kernels.shares import log_shares_of, shares_of_scores
from candide.kernels.slices import INFINITE, add_powers, in_window, survey_rows

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

SPARE = 3
"""Digits after the last one of a dividend: enough bits of any quotient."""

HEAVIEST_ENTRY = 1 << 31
"""Rows of one entry must stay fewer, so that digits times rows fit in an int64."""


@compiled
def add_summed(
    places: Integers,
    values: Floats,
    entry: int,
    sign: int,
    codes: Integers,
    counts: Integers,
    total: Integers,
    total_low: int,
    square: Integers,
    square_low: int,
    changed: Flags,
) -> tuple[int, int]:
    """Add what is summed of float64[n] in these columns, NaN where missing, to entry 0 and its own; or take it away.

    `codes` say by column what is summed; `counts` and `changed` are [columns, entries], `total` and `square` digits
    [columns, entries, D]. Gives (0, -1), or adds nothing: where a number is outside its density's support the highest
    bit is INFINITE; where digits are too few, both are the lowest and the highest bit to reach.

    Many arguments because a tuple of arrays takes longer to unpack than a row to add.
    """
    row = np.empty((1, len(values)))
    for index in range(len(values)):
        value, code = values[index], codes[places[index]]
        if not (np.isnan(value) or takes(code, value)):
            return 0, INFINITE
        row[0, index] = summed_of(code, value)
    lowest, highest = survey_rows(row)
    if not (
        in_window(lowest, highest, total_low, total.shape[2])
        and in_window(2 * lowest, 2 * highest, square_low, square.shape[2])
    ):
        return lowest, highest
    for index in range(len(values)):
        value, column = row[0, index], places[index]
        if np.isnan(value):
            continue
        for place in (0, entry):
            counts[column, place] += sign
            changed[column, place] = True
            add_powers(total[column, place], total_low, square[column, place], square_low, sign, 0, value)
    return 0, -1


@inlined
def rounded_quotient(digits: Integers, low: int, divisor: int, room: Integers) -> float:
    """Give a number of digits below 2^32 over a divisor below 2^31, rounded once.

    `room` has at least SPARE digits more.
    """
    count, below = len(digits) + SPARE, np.uint64(divisor)
    rest = np.uint64(0)
    for index in range(count - 1, -1, -1):
        rest = (rest << np.uint64(32)) | np.uint64(digits[index - SPARE] if index >= SPARE else 0)
        whole = rest // below if rest >= below else np.uint64(0)
        room[index] = np.int64(whole)
        rest -= whole * below
    bits, top, more = leading_bits(room[:count])
    if top < 0:
        return 0.0
    return np.int64(round_to_bits(bits, top + 32 * (low - SPARE), more or rest != 0)).view(np.float64)


@inlined
def root_of_spread(
    count: int, total: Integers, total_low: int, square: Integers, square_low: int, room: Integers
) -> float:
    """Give the root of count · square - total², over the count: exact to the root, for digits below 2^32.

    `room` is as long as both products, or longer.
    """
    low = min(2 * total_low, square_low)
    room = room[: max(2 * (total_low + len(total)), square_low + len(square)) - low + 2]
    room[:] = 0
    carry, first = 0, square_low - low
    for index in range(len(square)):
        product = square[index] * count + carry
        room[first + index] += product & MASK
        carry = product >> 32
    room[first + len(square)] += carry
    first = 2 * total_low - low
    for one in range(len(total)):
        if total[one] == 0:
            continue
        for other in range(len(total)):
            wide = np.uint64(total[one]) * np.uint64(total[other])
            room[first + one + other] -= np.int64(wide & np.uint64(MASK))
            room[first + one + other + 1] -= np.int64(wide >> np.uint64(32))
    magnitude_of(room, room)
    bits, top, _ = leading_bits(room)
    if top < 0:
        return 0.0
    number, exponent = np.float64(bits), top - 63 + 32 * low
    if exponent % 2:
        number, exponent = 2.0 * number, exponent - 1
    return math.ldexp(math.sqrt(number) / count, exponent // 2)


@compiled
def round_changed(
    places: Integers,
    counts: Integers,
    total: Integers,
    total_low: int,
    square: Integers,
    square_low: int,
    changed: Flags,
    table: Floats,
) -> None:
    """Bring table[moment, column, entry] up to date in some columns where sums have changed, and note that it is."""
    totals, squares = np.empty(total.shape[2], np.int64), np.empty(square.shape[2], np.int64)
    quotient = np.empty(len(totals) + SPARE, np.int64)
    low = min(2 * total_low, square_low)
    high = max(2 * (total_low + len(totals)), square_low + len(squares))
    room = np.empty(high - low + 2, np.int64)
    for column in places:
        for entry in range(counts.shape[1]):
            if not changed[column, entry]:
                continue
            changed[column, entry] = False
            count = counts[column, entry]
            table[WEIGHT, column, entry] = count
            table[MEAN, column, entry] = table[DEVIATION, column, entry] = 0.0
            if count <= 0:
                continue
            is_negative = magnitude_of(total[column, entry], totals)
            magnitude_of(square[column, entry], squares)
            sums, spread = totals[: length_of(totals)], squares[: length_of(squares)]
            mean = rounded_quotient(sums, total_low, count, quotient)
            table[MEAN, column, entry] = -mean if is_negative else mean
            table[DEVIATION, column, entry] = root_of_spread(count, sums, total_low, spread, square_low, room)


@compiled
def judge_numbers(
    places: Integers,
    values: Floats,
    order: Integers,
    codes: Integers,
    prior_rows: Floats,
    floors: Floats,
    counts: Integers,
    total: Integers,
    total_low: int,
    square: Integers,
    square_low: int,
    changed: Flags,
    table: Floats,
    joint: Floats,
) -> int:
    """Round the moments of some columns where they have changed, and `add_densities` of values[i] in places[i].

    Many arguments because a tuple of arrays takes longer to unpack than a row to judge.
    """
    round_changed(places, counts, total, total_low, square, square_low, changed, table)
    return add_densities(places, values, order, codes, prior_rows, floors, table, joint)


@compiled
def shares_by_numbers(
    places: Integers,
    values: Floats,
    order: Integers,
    rows: Integers,
    log_of_all: float,
    codes: Integers,
    prior_rows: Floats,
    floors: Floats,
    counts: Integers,
    total: Integers,
    total_low: int,
    square: Integers,
    square_low: int,
    changed: Flags,
    table: Floats,
) -> Floats:
    """Give the share of each label of `order` by its int64 `rows` of all and by values[i] in places[i], as float64.

    That is `log_shares_of`, `judge_numbers` and `shares_of_scores` in one call: NaN where no label is possible.

    Many arguments because a tuple of arrays takes longer to unpack than a row to judge.
    """
    joint = np.zeros(len(rows))
    joint[order] = log_shares_of(rows, order, log_of_all)
    digits = total, total_low, square, square_low
    judge_numbers(places, values, order, codes, prior_rows, floors, counts, *digits, changed, table, joint)
    return shares_of_scores(joint, order)
