"""Sums and squares of columns in slices that never round.

Most values never meet the digits of an exact sum one by one. A block of rows is cut, column by column, into slices so
short that doubles add them and their products without rounding (Rump, Ogita and Oishi 2008; Ozaki et al. 2012); only
the sums of slices are then added to the digits. A value that does not fit its column's slices is a stray, added on its
own; one that is missing adds nothing, not even its weight.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from candide.kernels import compiled, inlined
from candide.kernels.digits import (
    Window,
    add_double,
    add_integer,
    add_product,
    add_weighted,
    exponent_of,
    mantissa_of,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

WIDTH = 64
"""Columns in a tile: a constant, so that the compiler sees that the slots of one class never overlap."""

SLOTS = 9
"""Slice sums kept per column and class: two for x, six for x², and one for the weight of what is there."""

SLICE_BITS = 21
"""A slice of a moment is at most 2^21 units, and the next unit is 2^22 times smaller."""

DEPTH = 3 * SLICE_BITS + 2
"""Three slices reach this many bits below a column's largest value."""

HEAVIEST_BLOCK = 1024
"""Most rows, counted with their weights, whose slice products are added before a flush."""

INFINITE = 1 << 20
"""What a block's highest bit is when one of its values is infinite."""

SMALLEST_EXPONENT = -400
LARGEST_EXPONENT = 480


class WeighedRows(NamedTuple):
    """Rows of numbers, each with its class and its weight.

    `values` is float64[rows, columns], contiguous and read-only, NaN where missing; `labels` int64[rows]. A row weighs
    mantissas[row] · 2^exponents[row], int64[rows] both, below zero where it is taken away. `light`, float64[rows], is
    the same weight where slices take the row, else 0.
    """

    values: Floats
    labels: Integers
    mantissas: Integers
    exponents: Integers
    light: Floats


class MomentWindows(NamedTuple):
    """What rows are added to: Σw, Σw·x and Σw·x², digits int64[columns, classes, D] with a D of their own."""

    weight: Window
    total: Window
    square: Window


class SliceRoom(NamedTuple):
    """Room for a block, given by the caller and written over: splitters, slice sums and strays.

    `splitters` is float64[5, WIDTH] (largest magnitudes, three splitters, limits), `slices` float64[tiles, classes,
    SLOTS · WIDTH], `strays` int64[values in a block + 1].
    """

    splitters: Floats
    slices: Floats
    strays: Integers


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


@inlined
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


@inlined
def slice_rows(
    rows: WeighedRows, first: int, last: int, splitters: Floats, slices: Floats, strays: Integers, count: int
) -> int:
    """Add the slices of columns first to last, and their products, to the slice sums of each class; list the strays.

    At most WIDTH columns are taken. The light weights are whole numbers whose magnitudes add to HEAVIEST_BLOCK at most
    (0 leaves a row out), `splitters` float64[4 · WIDTH] the three splitters and the limit of each column, `slices`
    float64[classes, SLOTS · WIDTH]; strays[count:] gets row · columns + column and has room to spare; the new count is
    returned. High and middle are cut from the value side by side, not one after the other, so that the processor need
    not wait. Every slice is at most 2^21 units and |x| at most 2^43 units of its second slice, so that 2^10 rows stay
    within 2^53 units and no addition here rounds.
    """
    block, labels, weights = rows.values, rows.labels, rows.light
    columns = block.shape[1]
    for row in range(block.shape[0]):
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
            there = value == value
            left_over += 1 if there & (not whole) else 0
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
            mine[column + 8 * WIDTH] += weight if there else 0.0
        if left_over:
            count = list_strays(line, splitters, row * columns + first, strays, count)
    return count


@inlined
def list_strays(line: Floats, splitters: Floats, origin: int, strays: Integers, count: int) -> int:
    """Append origin + column for each value of a row that slices do not hold, without a branch to mispredict."""
    for column in range(line.shape[0]):
        value = line[column]
        tail = value - ((value + splitters[column + WIDTH]) - splitters[column + WIDTH])
        exact_tail = (tail + splitters[column + 2 * WIDTH]) - splitters[column + 2 * WIDTH]
        whole = (tail == exact_tail) & (abs(value) <= splitters[column + 3 * WIDTH])
        strays[count] = origin + column
        count += 1 if (value == value) & (not whole) else 0
    return count


@inlined
def slice_tiles(rows: WeighedRows, room: SliceRoom) -> tuple[int, int, int]:
    """Slice a block of any number of columns, tile by tile; give the strays' count and the bits in use.

    room.slices are added to, room.strays are filled with row · columns + column.
    """
    block, slices, strays = rows.values, room.slices, room.strays
    columns = block.shape[1]
    largest, splitters, limits = room.splitters[0], room.splitters[1:4], room.splitters[4]
    flat = room.splitters[1:].reshape(4 * WIDTH)
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
        count = slice_rows(rows, first, last, flat, slices[tile], strays, count)
    for index in range(count):
        value = block[strays[index] // columns, strays[index] % columns]
        if np.isinf(value):
            return count, lowest, INFINITE
        if value != 0.0:
            exponent = exponent_of(value)
            lowest, highest = min(lowest, exponent), max(highest, exponent + 53)
    return count, lowest, highest


@inlined
def flush_slices(slices: Floats, sums: MomentWindows) -> None:
    """Move slice sums float64[tiles, classes, SLOTS · WIDTH] into the digits, where a column has weight in a class."""
    (weight, weight_low), (total, total_low), (square, square_low) = sums
    columns, classes = weight.shape[:2]
    for label in range(classes):
        for column in range(columns):
            mine = slices[column // WIDTH, label]
            lane = column % WIDTH
            if mine[lane + 8 * WIDTH] == 0.0:
                continue
            add_double(weight[column, label], weight_low, mine[lane + 8 * WIDTH])
            entry = total[column, label]
            add_double(entry, total_low, mine[lane])
            add_double(entry, total_low, mine[lane + WIDTH])
            entry = square[column, label]
            add_double(entry, square_low, mine[lane + 2 * WIDTH])
            add_double(entry, square_low, 2.0 * mine[lane + 3 * WIDTH])
            add_double(entry, square_low, 2.0 * mine[lane + 4 * WIDTH])
            add_double(entry, square_low, mine[lane + 5 * WIDTH])
            add_double(entry, square_low, 2.0 * mine[lane + 6 * WIDTH])
            add_double(entry, square_low, mine[lane + 7 * WIDTH])


@inlined
def add_powers(
    total: Integers, total_low: int, square: Integers, square_low: int, weight: int, exponent: int, value: float
) -> None:
    """Add w·x and w·x² to the digits of one entry; w is weight · 2^exponent, below zero where it is taken away."""
    number, position = mantissa_of(value), exponent_of(value)
    heavy, negative = abs(weight), weight < 0
    add_weighted(total, total_low, heavy, number, position + exponent, negative != (value < 0))
    add_product(square, square_low, heavy, number, number, 2 * position + exponent, negative)


@inlined
def add_value(rows: WeighedRows, row: int, column: int, sums: MomentWindows) -> None:
    """Add w·x and w·x² of one value that is there."""
    label = rows.labels[row]
    total, square = sums.total.digits[column, label], sums.square.digits[column, label]
    weight, exponent = rows.mantissas[row], rows.exponents[row]
    add_powers(total, sums.total.low, square, sums.square.low, weight, exponent, rows.values[row, column])


@inlined
def add_strays(rows: WeighedRows, strays: Integers, sums: MomentWindows) -> None:
    """Add strays one by one; the flush holds their weight already."""
    columns = rows.values.shape[1]
    for stray in strays:
        add_value(rows, stray // columns, stray % columns, sums)


@compiled
def add_row(rows: WeighedRows, row: int, sums: MomentWindows) -> None:
    """Add a row value by value, into digits that are wide enough; it holds no infinity."""
    mantissa, label = rows.mantissas[row], rows.labels[row]
    if mantissa == 0:
        return
    for column in range(rows.values.shape[1]):
        if not np.isnan(rows.values[row, column]):
            entry = sums.weight.digits[column, label]
            add_integer(entry, sums.weight.low, abs(mantissa), rows.exponents[row], mantissa < 0)
            add_value(rows, row, column, sums)


@compiled
def add_rows(rows: WeighedRows, sums: MomentWindows) -> None:
    """Add rows value by value, into digits that are wide enough; they hold no infinity."""
    for row in range(rows.values.shape[0]):
        add_row(rows, row, sums)


@inlined
def rows_between(rows: WeighedRows, start: int, stop: int) -> WeighedRows:
    """The rows from start to stop, the same memory."""
    return WeighedRows(
        rows.values[start:stop],
        rows.labels[start:stop],
        rows.mantissas[start:stop],
        rows.exponents[start:stop],
        rows.light[start:stop],
    )


@inlined
def survey_heavy(rows: WeighedRows, lowest: int, highest: int) -> tuple[int, int]:
    """Widen the bits in use by those of rows that slices do not take."""
    for row in range(rows.values.shape[0]):
        if rows.light[row] == 0.0:
            bottom, top = survey_rows(rows.values[row : row + 1])
            lowest, highest = min(lowest, bottom), max(highest, top)
    return lowest, highest


@compiled
def learn_blocks(
    rows: WeighedRows, reach: tuple[int, int, int, int], room: SliceRoom, sums: MomentWindows
) -> tuple[int, int, int]:
    """Add rows block by block, until the end or a block that cannot be added yet.

    `reach` is (first row, rows in a block, lowest and highest bit of the weights). Rows whose `light` is 0 are added
    value by value. Gives the first row not added, and the bits its block needs: the caller widens the digits and
    calls again, or refuses an INFINITE one.
    """
    start, step, weight_lowest, weight_highest = reach
    total, square = sums.total, sums.square
    while start < rows.values.shape[0]:
        stop = min(start + step, rows.values.shape[0])
        block = rows_between(rows, start, stop)
        room.slices[:] = 0.0
        count, lowest, highest = slice_tiles(block, room)
        lowest, highest = survey_heavy(block, lowest, highest)
        bottom, top = lowest + weight_lowest, highest + weight_highest
        if highest == INFINITE or not (
            in_window(bottom, top, total.low, total.digits.shape[2])
            and in_window(bottom + lowest, top + highest, square.low, square.digits.shape[2])
        ):
            return start, lowest, highest
        flush_slices(room.slices, sums)
        add_strays(block, room.strays[:count], sums)
        for row in range(stop - start):
            if block.light[row] == 0.0:
                add_row(block, row, sums)
        start = stop
    return start, 0, 0
