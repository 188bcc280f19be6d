"""Exact sums of doubles: digits that carry later, and slices that never round.

A sum is kept as digits in base 2^32, one int64 each, so that about 2^30 numbers can be added before a carry must
move (the small superaccumulator of Neal 2015, "Fast exact summation using small and large superaccumulators").
Digit `i` of an accumulator whose window starts at `low` counts multiples of 2^(32 (low + i)).

Most values never meet those digits one by one. A block of rows is cut, column by column, into slices so short that
doubles add them and their products without rounding (Rump, Ogita and Oishi 2008; Ozaki et al. 2012); only the sums
of slices are then added to the digits. A value that does not fit its column's slices is a stray, added on its own.
"""

import numpy as np
from numpy.typing import NDArray

from candide.kernels import compiled

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Magnitude = int | np.uint64

WIDTH = 64
"""Columns in a tile: a constant, so that the compiler sees that the slots of one class never overlap."""

SLOTS = 8
"""Slice sums kept per column and class: two for x, six for x²."""

SLICE_BITS = 21
"""A slice of a moment is at most 2^21 units, and the next unit is 2^22 times smaller."""

CROSS_BITS = 20
"""Slices for cross sums are one bit shorter, as four of their products are added together."""

DEPTH = 3 * SLICE_BITS + 2
"""Three slices reach this many bits below a column's largest value."""

HEAVIEST_BLOCK = 1024
"""Most rows, counted with their weights, whose slice products are added before a flush."""

INFINITE = 1 << 20
"""What a block's highest bit is when one of its values is infinite."""

MASK = 0xFFFFFFFF
SMALLEST_EXPONENT = -400
LARGEST_EXPONENT = 480


@compiled
def exponent_of(value: float) -> int:
    """Give the power of two of a finite double's lowest mantissa bit."""
    field = (np.float64(value).view(np.int64) >> 52) & 0x7FF
    return int(max(field, np.int64(1))) - 1075


@compiled
def mantissa_of(value: float) -> int:
    """Give the magnitude of a finite double as an integer multiple of 2^exponent_of(value)."""
    bits = np.float64(value).view(np.int64)
    fraction = bits & 0xFFFFFFFFFFFFF
    if (bits >> 52) & 0x7FF:
        fraction |= 1 << 52
    return int(fraction)


@compiled
def add_integer(entry: Integers, low: int, magnitude: Magnitude, position: int, negative: bool) -> None:
    """Add ± magnitude · 2^position to one entry's digits, leaving carries for later.

    `magnitude` is below 2^64; each digit moves by less than 2^32. The window must hold the sum.
    """
    unsigned = np.uint64(magnitude)
    if unsigned == 0:
        return
    offset = position - 32 * low
    if offset < 0:
        unsigned >>= np.uint64(-offset)
        offset = 0
    digit = offset >> 5
    shift = np.uint64(offset & 31)
    mask = np.uint64(MASK)
    rest = np.uint64(32) - shift
    first = np.int64((unsigned << shift) & mask)
    second = np.int64((unsigned >> rest) & mask)
    third = np.int64((unsigned >> np.uint64(32)) >> rest)
    if negative:
        first, second, third = -first, -second, -third
    entry[digit] += first
    entry[digit + 1] += second
    if third != 0:
        entry[digit + 2] += third


@compiled
def add_double(entry: Integers, low: int, value: float) -> None:
    """Add a finite double to one entry's digits."""
    add_integer(entry, low, mantissa_of(value), exponent_of(value), value < 0)


@compiled
def add_weighted(entry: Integers, low: int, weight: int, mantissa: Magnitude, position: int, negative: bool) -> None:
    """Add ± weight · mantissa · 2^position to one entry's digits; weight ≤ 2^63, mantissa < 2^64."""
    if weight == 1:
        add_integer(entry, low, mantissa, position, negative)
        return
    mask, half = np.uint64(MASK), np.uint64(32)
    heavy, number = np.uint64(weight), np.uint64(mantissa)
    heavy_low, heavy_high = heavy & mask, heavy >> half
    number_low, number_high = number & mask, number >> half
    add_integer(entry, low, heavy_low * number_low, position, negative)
    add_integer(entry, low, heavy_low * number_high, position + 32, negative)
    add_integer(entry, low, heavy_high * number_low, position + 32, negative)
    add_integer(entry, low, heavy_high * number_high, position + 64, negative)


@compiled
def add_product(entry: Integers, low: int, weight: int, left: int, right: int, position: int, negative: bool) -> None:
    """Add ± weight · left · right · 2^position to one entry's digits; left and right < 2^53."""
    mask, half = np.uint64(MASK), np.uint64(32)
    one, two = np.uint64(left), np.uint64(right)
    one_low, one_high, two_low, two_high = one & mask, one >> half, two & mask, two >> half
    bottom, up, down = one_low * two_low, one_low * two_high, one_high * two_low
    middle = (bottom >> half) + (up & mask) + (down & mask)
    lower = (bottom & mask) | (middle << half)
    upper = one_high * two_high + (up >> half) + (down >> half) + (middle >> half)
    add_weighted(entry, low, weight, lower, position, negative)
    add_weighted(entry, low, weight, upper, position + 64, negative)


@compiled
def settle(digits: Integers) -> None:
    """Carry in place, entry by entry, until all digits of an entry share its sign and are below 2^32.

    `digits` is int64[entries, D] with |digit| ≤ 2^62, and every sum fits in D digits.
    """
    entries, count = digits.shape
    for entry in range(entries):
        carry = 0
        for place in range(count):
            moved = digits[entry, place] + carry
            digits[entry, place] = moved & MASK
            carry = moved >> 32
        if carry < 0:
            borrow = 0
            for place in range(count):
                moved = -digits[entry, place] + borrow
                digits[entry, place] = -(moved & MASK)
                borrow = moved >> 32


@compiled
def combine(left: Integers, left_offset: int, right: Integers, right_offset: int, sign: int, out: Integers) -> None:
    """Fill out = left + sign · right, each int64[entries, D], placed at its offset in the zeroed `out`, settled."""
    for entry in range(out.shape[0]):
        for place in range(left.shape[1]):
            out[entry, place + left_offset] += left[entry, place]
        for place in range(right.shape[1]):
            out[entry, place + right_offset] += sign * right[entry, place]
    settle(out)


@compiled
def occupied(digits: Integers) -> tuple[int, int]:
    """Give the first and one past the last digit plane of int64[entries, D] that is not all zero; (0, 0) if none."""
    first, last = digits.shape[1], 0
    for entry in range(digits.shape[0]):
        for place in range(first):
            if digits[entry, place] != 0:
                first = place
                break
        for place in range(digits.shape[1] - 1, last - 1, -1):
            if digits[entry, place] != 0:
                last = place + 1
                break
    if last == 0:
        return 0, 0
    return first, last


@compiled
def place_doubles(values: Floats, low: int, out: Integers) -> None:
    """Add values[i] to the entry out[i] of int64[entries, D], which the caller made wide enough."""
    for entry in range(values.shape[0]):
        add_double(out[entry], low, values[entry])


@compiled
def leading_bits(entry: Integers) -> tuple[np.uint64, int, bool]:
    """Give an entry's top 64 bits as an unsigned number, their top bit's place, and whether bits are left below.

    The place is −1 for an entry of zero, and counts from the entry's own first digit.
    """
    top = entry.shape[0] - 1
    while top >= 0 and entry[top] == 0:
        top -= 1
    if top < 0:
        return np.uint64(0), -1, False
    head = np.uint64(abs(entry[top]))
    width = 0
    while (head >> np.uint64(width)) != 0:
        width += 1
    bits = head << np.uint64(64 - width)
    second = np.uint64(abs(entry[top - 1])) if top > 0 else np.uint64(0)
    bits |= second << np.uint64(32 - width)
    rest = False
    if top > 1:
        third = np.uint64(abs(entry[top - 2]))
        bits |= third >> np.uint64(width)
        rest = (third & ((np.uint64(1) << np.uint64(width)) - np.uint64(1))) != 0
    for place in range(top - 2):
        rest = rest or entry[place] != 0
    return bits, 32 * top + width - 1, rest


@compiled
def round_to_bits(bits: np.uint64, exponent: int, rest: bool) -> int:
    """Give the IEEE bits of the positive double nearest to a number with these leading 64 bits, ties to even.

    `exponent` is the power of two of the top bit. A carry out of the mantissa moves into the exponent by itself.
    """
    if exponent > 1023:
        return 0x7FF << 52
    kept = 53 if exponent >= -1022 else 53 - (-1022 - exponent)
    if kept < 0:
        return 0
    leading = np.uint64(bits)
    half = np.uint64(1) << np.uint64(63 - kept)
    dropped = leading & (half + half - np.uint64(1))
    mantissa = np.int64(leading >> np.uint64(64 - kept)) if kept > 0 else np.int64(0)
    above = dropped > half or (dropped == half and (rest or (mantissa & 1) == 1))
    field = mantissa + np.int64(above)
    if exponent >= -1022:
        field += (exponent + 1022) << 52
    return int(field)


@compiled
def to_doubles(digits: Integers, low: int, out: Integers) -> None:
    """Fill out, int64[entries], with the IEEE bits of each settled entry, rounded to nearest, ties to even."""
    for entry in range(digits.shape[0]):
        bits, place, rest = leading_bits(digits[entry])
        out[entry] = 0
        if place >= 0:
            out[entry] = round_to_bits(bits, place + 32 * low, rest)
            for digit in digits[entry]:
                if digit < 0:
                    out[entry] |= np.int64(-(2**63))
                    break


@compiled
def labels_fit(labels: Integers, classes: int) -> bool:
    """Tell whether all labels int64[rows] lie between 0 and classes − 1."""
    outside = 0
    for label in labels:
        outside |= (label < 0) | (label >= classes)
    return outside == 0


@compiled
def survey_rows(values: Floats) -> tuple[int, int]:
    """Give the lowest and the highest bit in use in float64[rows, columns]; NaN is passed over.

    The highest bit is INFINITE if a value is infinite, and below the lowest if there is nothing but zeros.
    """
    lowest, highest = INFINITE, -INFINITE
    for row in range(values.shape[0]):
        for value in values[row]:
            if value == 0.0 or np.isnan(value):
                continue
            if np.isinf(value):
                return lowest, INFINITE
            exponent = exponent_of(value)
            lowest, highest = min(lowest, exponent), max(highest, exponent + 53)
    return lowest, highest


@compiled
def in_window(lowest: int, highest: int, low: int, width: int) -> bool:
    """Tell whether numbers between these bits fit `width` digits from `low` on, with two digits for carries."""
    return lowest > highest or (lowest >= 32 * low and (highest >> 5) + 3 <= low + width)


@compiled
def choose_splitters(largest: Floats, columns: int, bits: int, splitters: Floats, limits: Floats) -> None:
    """Fill splitters[s, column] so that (x + splitter) − splitter is slice s of x, for |x| ≤ limits[column].

    Slices are `bits` long, the later ones with a sign (ExtractScalar of Rump, Ogita and Oishi 2008). The limit is
    the power of two above `largest`. A column whose products might leave the range of doubles gets a limit no
    value keeps.
    """
    for column in range(columns):
        exponent = exponent_of(largest[column]) + 53 if largest[column] > 0.0 else SMALLEST_EXPONENT - 1
        outside = exponent < SMALLEST_EXPONENT or exponent > LARGEST_EXPONENT
        limits[column] = -1.0 if outside else 2.0**exponent
        if outside and largest[column] == 0.0:
            limits[column] = 0.0
        for part in range(splitters.shape[0]):
            unit = exponent - bits - (bits + 1) * part
            splitters[part, column] = 0.0 if outside else 1.5 * 2.0 ** (unit + 52)


@compiled
def sample_largest(block: Floats, first: int, last: int, largest: Floats) -> None:
    """Fill the largest magnitude of columns first to last, looking at every fourth row of many.

    A value above the power of two this gives is a stray, so a sample is enough, and an outlier spoils no block.
    """
    rows = block.shape[0]
    largest[:] = 0.0
    for row in range(0, rows, 4 if rows >= 256 else 1):
        line = block[row][first:last]
        for column in range(last - first):
            magnitude = abs(line[column])
            before = largest[column]
            largest[column] = magnitude if magnitude > before else before


@compiled
def slice_rows(
    block: Floats,
    first: int,
    last: int,
    labels: Integers,
    weights: Floats,
    splitters: Floats,
    slices: Floats,
    strays: Integers,
    count: int,
) -> int:
    """Add the slices of columns first to last, and their products, to the slice sums of each class; list the strays.

    `block` is float64[rows, columns], of which at most WIDTH are taken, `weights` whole numbers whose magnitudes
    add to HEAVIEST_BLOCK at most (0 leaves a row out), `splitters` float64[4 · WIDTH] the three splitters and the
    limit of each column, `slices` float64[classes, SLOTS · WIDTH]; strays[count:] gets row · columns + column and
    has room to spare; the new count is returned. High and middle are cut from the value side by side, not one after
    the other, so that the processor need not wait. Every slice is at most 2^21 units and |x| at most 2^43 units of
    its second slice, so that 2^10 rows stay within 2^53 units and no addition here rounds.
    """
    rows, columns = block.shape
    for row in range(rows):
        weight = weights[row]
        if weight == 0.0:
            continue
        line, mine = block[row][first:last], slices[labels[row]]
        left_over = 0
        for column in range(last - first):
            value = line[column]
            high = (value + splitters[column]) - splitters[column]
            both = (value + splitters[column + WIDTH]) - splitters[column + WIDTH]
            middle, tail = both - high, value - both
            exact_tail = (tail + splitters[column + 2 * WIDTH]) - splitters[column + 2 * WIDTH]
            whole = (tail == exact_tail) & (abs(value) <= splitters[column + 3 * WIDTH])
            left_over += 0 if whole else 1
            high = high if whole else 0.0
            middle = middle if whole else 0.0
            tail = tail if whole else 0.0
            both = both if whole else 0.0
            heavy_high, heavy_middle, heavy_tail = weight * high, weight * middle, weight * tail
            mine[column] += weight * both
            mine[column + WIDTH] += heavy_tail
            mine[column + 2 * WIDTH] += heavy_high * high
            mine[column + 3 * WIDTH] += heavy_high * middle
            mine[column + 4 * WIDTH] += heavy_high * tail
            mine[column + 5 * WIDTH] += heavy_middle * middle
            mine[column + 6 * WIDTH] += heavy_middle * tail
            mine[column + 7 * WIDTH] += heavy_tail * tail
        if left_over:
            count = list_strays(line, splitters, row * columns + first, strays, count)
    return count


@compiled
def list_strays(line: Floats, splitters: Floats, origin: int, strays: Integers, count: int) -> int:
    """Append origin + column for each value of a row that slices do not hold, without a branch to mispredict."""
    for column in range(line.shape[0]):
        value = line[column]
        tail = value - ((value + splitters[column + WIDTH]) - splitters[column + WIDTH])
        exact_tail = (tail + splitters[column + 2 * WIDTH]) - splitters[column + 2 * WIDTH]
        strays[count] = origin + column
        count += 0 if (tail == exact_tail) & (abs(value) <= splitters[column + 3 * WIDTH]) else 1
    return count


@compiled
def slice_tiles(
    block: Floats, labels: Integers, weights: Floats, scratch: Floats, slices: Floats, strays: Integers
) -> tuple[int, int, int]:
    """Slice a block of any number of columns, tile by tile; give the strays' count and the bits in use.

    `slices` is float64[tiles, classes, SLOTS · WIDTH], `scratch` float64[5, WIDTH], `strays` int64[block size + 1],
    filled with row · columns + column.
    """
    columns = block.shape[1]
    largest, splitters, limits = scratch[0], scratch[1:4], scratch[4]
    flat = scratch[1:].reshape(4 * WIDTH)
    lowest, highest, count = INFINITE, -INFINITE, 0
    for tile in range(slices.shape[0]):
        first = tile * WIDTH
        last = min(first + WIDTH, columns)
        sample_largest(block, first, last, largest)
        choose_splitters(largest, last - first, SLICE_BITS, splitters, limits)
        for column in range(last - first):
            if limits[column] > 0.0:
                exponent = exponent_of(limits[column]) + 52
                lowest, highest = min(lowest, exponent - DEPTH), max(highest, exponent)
        count = slice_rows(block, first, last, labels, weights, flat, slices[tile], strays, count)
    for index in range(count):
        value = block[strays[index] // columns, strays[index] % columns]
        if np.isinf(value):
            return count, lowest, INFINITE
        if value != 0.0 and not np.isnan(value):
            exponent = exponent_of(value)
            lowest, highest = min(lowest, exponent), max(highest, exponent + 53)
    return count, lowest, highest


@compiled
def flush_slices(
    slices: Floats,
    class_weights: Floats,
    weight: Integers,
    weight_low: int,
    total: Integers,
    total_low: int,
    square: Integers,
    square_low: int,
) -> None:
    """Move slice sums into the digits int64[columns, classes, D] of weight, total and square."""
    columns, classes = weight.shape[:2]
    for label in range(classes):
        if class_weights[label] == 0.0:
            continue
        for column in range(columns):
            mine = slices[column // WIDTH, label]
            place = column % WIDTH
            add_double(weight[column, label], weight_low, class_weights[label])
            entry = total[column, label]
            add_double(entry, total_low, mine[place])
            add_double(entry, total_low, mine[place + WIDTH])
            entry = square[column, label]
            add_double(entry, square_low, mine[place + 2 * WIDTH])
            add_double(entry, square_low, 2.0 * mine[place + 3 * WIDTH])
            add_double(entry, square_low, 2.0 * mine[place + 4 * WIDTH])
            add_double(entry, square_low, mine[place + 5 * WIDTH])
            add_double(entry, square_low, 2.0 * mine[place + 6 * WIDTH])
            add_double(entry, square_low, mine[place + 7 * WIDTH])


@compiled
def add_value(
    value: float,
    mantissa: int,
    exponent: int,
    total: Integers,
    total_low: int,
    square: Integers,
    square_low: int,
) -> None:
    """Add w·x and w·x² to one entry each, where the weight is mantissa · 2^exponent, either sign."""
    number, position = mantissa_of(value), exponent_of(value)
    heavy, negative = abs(mantissa), mantissa < 0
    add_weighted(total, total_low, heavy, number, position + exponent, negative != (value < 0))
    add_product(square, square_low, heavy, number, number, 2 * position + exponent, negative)


@compiled
def add_strays(
    block: Floats,
    labels: Integers,
    mantissas: Integers,
    exponents: Integers,
    strays: Integers,
    weight: Integers,
    weight_low: int,
    total: Integers,
    total_low: int,
    square: Integers,
    square_low: int,
) -> None:
    """Add strays one by one; the flush holds their weight already, so a missing value takes its own back."""
    columns = block.shape[1]
    for stray in strays:
        row, column = stray // columns, stray % columns
        value, label = block[row, column], labels[row]
        mantissa, exponent = mantissas[row], exponents[row]
        if np.isnan(value):
            add_integer(weight[column, label], weight_low, abs(mantissa), exponent, mantissa > 0)
        else:
            add_value(value, mantissa, exponent, total[column, label], total_low, square[column, label], square_low)


@compiled
def add_rows(
    block: Floats,
    labels: Integers,
    mantissas: Integers,
    exponents: Integers,
    weight: Integers,
    weight_low: int,
    total: Integers,
    total_low: int,
    square: Integers,
    square_low: int,
) -> None:
    """Add rows value by value, into digits int64[columns, classes, D] that are wide enough.

    `block` is float64[rows, columns] without infinities; a row's weight is mantissas[row] · 2^exponents[row].
    """
    rows, columns = block.shape
    for row in range(rows):
        mantissa, exponent, label = mantissas[row], exponents[row], labels[row]
        if mantissa == 0:
            continue
        for column in range(columns):
            value = block[row, column]
            if not np.isnan(value):
                add_integer(weight[column, label], weight_low, abs(mantissa), exponent, mantissa < 0)
                add_value(
                    value,
                    mantissa,
                    exponent,
                    total[column, label],
                    total_low,
                    square[column, label],
                    square_low,
                )


@compiled
def learn_blocks(
    values: Floats,
    labels: Integers,
    mantissas: Integers,
    exponents: Integers,
    light: Floats,
    reach: tuple[int, int, int, int],
    scratch: Floats,
    slices: Floats,
    strays: Integers,
    weight: Integers,
    weight_low: int,
    total: Integers,
    total_low: int,
    square: Integers,
    square_low: int,
) -> tuple[int, int, int]:
    """Add float64[rows, columns] block by block, until the end or a block that cannot be added yet.

    `reach` is (first row, rows in a block, lowest and highest bit of the weights). Rows whose `light` is 0 are added
    value by value. Gives the first row not added, and the bits its block needs: the caller widens the digits and
    calls again, or refuses an INFINITE one. Scratch arrays are the caller's, as in `slice_tiles`.
    """
    start, step, weight_lowest, weight_highest = reach
    class_weights = np.zeros(weight.shape[1])
    while start < values.shape[0]:
        stop = min(start + step, values.shape[0])
        block, mine, heavy = values[start:stop], labels[start:stop], light[start:stop]
        slices[:] = 0.0
        count, lowest, highest = slice_tiles(block, mine, heavy, scratch, slices, strays)
        class_weights[:] = 0.0
        for row in range(stop - start):
            class_weights[mine[row]] += heavy[row]
            if heavy[row] == 0.0:
                bottom, top = survey_rows(block[row : row + 1])
                lowest, highest = min(lowest, bottom), max(highest, top)
        bottom, top = lowest + weight_lowest, highest + weight_highest
        if highest == INFINITE or not (
            in_window(bottom, top, total_low, total.shape[2])
            and in_window(bottom + lowest, top + highest, square_low, square.shape[2])
        ):
            return start, lowest, highest
        flush_slices(slices, class_weights, weight, weight_low, total, total_low, square, square_low)
        numbers, powers = mantissas[start:stop], exponents[start:stop]
        add_strays(
            block,
            mine,
            numbers,
            powers,
            strays[:count],
            weight,
            weight_low,
            total,
            total_low,
            square,
            square_low,
        )
        for row in range(stop - start):
            if heavy[row] == 0.0:
                one = slice(row, row + 1)
                add_rows(
                    block[one],
                    mine[one],
                    numbers[one],
                    powers[one],
                    weight,
                    weight_low,
                    total,
                    total_low,
                    square,
                    square_low,
                )
        start = stop
    return start, 0, 0


@compiled
def slice_block(block: Floats, splitters: Floats, limits: Floats, slices: Floats, fits: NDArray[np.bool_]) -> None:
    """Cut float64[rows, columns] into slices float64[rows, parts, columns]; zero a row that leaves a residue.

    `splitters` is float64[parts, columns]; fits[row] says whether the row was cut without residue.
    """
    rows, columns = block.shape
    for row in range(rows):
        fits[row] = True
        for column in range(columns):
            rest = block[row, column]
            for part in range(splitters.shape[0]):
                piece = (rest + splitters[part, column]) - splitters[part, column]
                slices[row, part, column] = piece
                rest = rest - piece
            fits[row] &= (rest == 0.0) & (abs(block[row, column]) <= limits[column])
        if not fits[row]:
            slices[row] = 0.0


@compiled
def add_vectors(sums: Floats, total: Integers, total_low: int, label: int) -> None:
    """Add slice sums float64[parts, columns] to total[columns, label]."""
    for part in range(sums.shape[0]):
        for column in range(sums.shape[1]):
            add_double(total[column, label], total_low, sums[part, column])


@compiled
def add_weights(entry: Integers, low: int, mantissas: Integers, exponents: Integers) -> None:
    """Add every mantissa · 2^exponent to one entry's digits."""
    for row in range(mantissas.shape[0]):
        add_integer(entry, low, abs(mantissas[row]), exponents[row], mantissas[row] < 0)


@compiled
def multiply_slices(heavy: Floats, flat: Floats, gram: Floats) -> None:
    """Fill gram, float64[n, n], with heavyᵀ · flat, both float64[rows, n], where heavy is flat times row weights.

    Written out because a BLAS brings threads of its own, which fight with the engine's. The products are exact in
    any order, as the units of Ozaki et al. (2012) keep every partial sum within 2^53. `rows` is a multiple of four.
    """
    size = flat.shape[1]
    gram[:] = 0.0
    for row in range(0, flat.shape[0], 4):
        for left in range(size):
            one, two, three, four = heavy[row, left], heavy[row + 1, left], heavy[row + 2, left], heavy[row + 3, left]
            line_1, line_2, line_3, line_4 = (
                flat[row][left:],
                flat[row + 1][left:],
                flat[row + 2][left:],
                flat[row + 3][left:],
            )
            mine = gram[left][left:]
            for right in range(size - left):
                mine[right] += (one * line_1[right] + two * line_2[right]) + (
                    three * line_3[right] + four * line_4[right]
                )
    for left in range(size):
        for right in range(left):
            gram[left, right] = gram[right, left]


@compiled
def add_gram(gram: Floats, product: Integers, product_low: int, label: int) -> None:
    """Add the slice products float64[parts, columns, parts, columns] to product[pairs, label].

    Pairs are the upper triangle row by row. Parts with the same sum of indices share one unit, so they are added
    as doubles first: at most 4 · 2^40 · 2048 = 2^53 units.
    """
    parts, columns = gram.shape[:2]
    pair = 0
    for left in range(columns):
        for right in range(left, columns):
            for depth in range(2 * parts - 1):
                added = 0.0
                for part in range(max(0, depth - parts + 1), min(depth, parts - 1) + 1):
                    added += gram[part, left, depth - part, right]
                add_double(product[pair, label], product_low, added)
            pair += 1


@compiled
def add_cross_rows(
    block: Floats,
    mantissas: Integers,
    exponents: Integers,
    skip: NDArray[np.bool_],
    label: int,
    total: Integers,
    total_low: int,
    product: Integers,
    product_low: int,
) -> None:
    """Add w·x and every w·x_j·x_k of the rows not skipped to total[columns, label] and product[pairs, label]."""
    rows, columns = block.shape
    for row in range(rows):
        if skip[row]:
            continue
        heavy, negative, exponent = abs(mantissas[row]), mantissas[row] < 0, exponents[row]
        pair = 0
        for left in range(columns):
            value = block[row, left]
            number, position = mantissa_of(value), exponent_of(value) + exponent
            flipped = negative != (value < 0)
            add_weighted(total[left, label], total_low, heavy, number, position, flipped)
            for right in range(left, columns):
                other = block[row, right]
                add_product(
                    product[pair, label],
                    product_low,
                    heavy,
                    number,
                    mantissa_of(other),
                    position + exponent_of(other),
                    flipped != (other < 0),
                )
                pair += 1


LOG_TWO_HIGH = 6.93147180369123816490e-01
LOG_TWO_LOW = 1.90821492927058770002e-10


@compiled
def grid_log(values: Floats) -> Floats:
    """Give the natural logarithm of float64[n], rounded to a multiple of 2^-40; NaN where it does not exist.

    Only + − × ÷ and exponent extraction are used: IEEE fixes their bits, while every libm has its own `log`.
    log m = 2 artanh((m − 1)/(m + 1)) for m between √½ and √2; ln 2 is split in two so that k ln 2 does not round.
    """
    out = np.empty(values.shape[0], np.float64)
    for index in range(values.shape[0]):
        value = values[index]
        if not value > 0.0 or value == np.inf:
            out[index] = value if value == np.inf else np.nan
            continue
        shift = 0
        if value < 2.2250738585072014e-308:
            value *= 18014398509481984.0
            shift = 54
        bits = np.float64(value).view(np.int64)
        power = (bits >> 52) - 1023
        scaled = np.int64((bits & 0xFFFFFFFFFFFFF) | (1023 << 52)).view(np.float64)
        if scaled > 1.4142135623730951:
            scaled *= 0.5
            power += 1
        ratio = (scaled - 1.0) / (scaled + 1.0)
        squared = ratio * ratio
        series = 0.0
        for odd in range(23, 1, -2):
            series = (series + 1.0 / odd) * squared
        fine = 2.0 * ratio + 2.0 * ratio * series
        exponent = np.float64(power - shift)
        result = exponent * LOG_TWO_HIGH + (exponent * LOG_TWO_LOW + fine)
        out[index] = np.rint(result * 1099511627776.0) / 1099511627776.0
    return out
