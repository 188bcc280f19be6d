"""Exact sums as digits: base 2^32, one int64 each, so that about 2^30 numbers can be added before a carry must move.

The small superaccumulator of Neal (2015), "Fast exact summation using small and large superaccumulators". Digit `i` of
an accumulator whose window starts at `low` counts multiples of 2^(32 (low + i)).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from candide.kernels import compiled

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Magnitude = int | np.uint64

MASK = 0xFFFFFFFF


class Window(NamedTuple):
    """Sums in the making: digits int64[..., D], of which digit 0 counts multiples of 2^(32 low)."""

    digits: Integers
    low: int


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
def magnitude_of(digits: Integers, out: Integers) -> bool:
    """Fill out[: D], which may be `digits`, with the magnitude of a sum, digits below 2^32; tell if it is negative."""
    carry = 0
    for index in range(len(digits)):
        moved = digits[index] + carry
        out[index] = moved & MASK
        carry = moved >> 32
    if carry >= 0:
        return False
    borrow = 0
    for index in range(len(digits)):
        moved = borrow - out[index]
        out[index] = moved & MASK
        borrow = moved >> 32
    return True


@compiled
def settle(digits: Integers) -> None:
    """Carry in place, entry by entry, until all digits of an entry share its sign and are below 2^32.

    `digits` is int64[entries, D] with |digit| ≤ 2^62, and every sum fits in D digits.
    """
    for line in digits:
        if magnitude_of(line, line):
            for index in range(len(line)):
                line[index] = -line[index]


@compiled
def combine(left: Integers, left_offset: int, right: Integers, right_offset: int, sign: int, out: Integers) -> None:
    """Fill out = left + sign · right, each int64[entries, D], placed at its offset in the zeroed `out`, settled."""
    for entry in range(out.shape[0]):
        for index in range(left.shape[1]):
            out[entry, index + left_offset] += left[entry, index]
        for index in range(right.shape[1]):
            out[entry, index + right_offset] += sign * right[entry, index]
    settle(out)


@compiled
def occupied(digits: Integers) -> tuple[int, int]:
    """Give the first and one past the last digit plane of int64[entries, D] that is not all zero; (0, 0) if none."""
    first, last = digits.shape[1], 0
    for entry in range(digits.shape[0]):
        for index in range(first):
            if digits[entry, index] != 0:
                first = index
                break
        for index in range(digits.shape[1] - 1, last - 1, -1):
            if digits[entry, index] != 0:
                last = index + 1
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
def length_of(digits: Integers) -> int:
    """Give how many digits there are up to the last that is not zero."""
    length = len(digits)
    while length > 0 and digits[length - 1] == 0:
        length -= 1
    return length


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
    width = (np.float64(head).view(np.int64) >> 52) - 1022  # a whole number below 2^53 says how many bits it has
    bits = head << np.uint64(64 - width)
    second = np.uint64(abs(entry[top - 1])) if top > 0 else np.uint64(0)
    bits |= second << np.uint64(32 - width)
    rest = False
    if top > 1:
        third = np.uint64(abs(entry[top - 2]))
        bits |= third >> np.uint64(width)
        rest = (third & ((np.uint64(1) << np.uint64(width)) - np.uint64(1))) != 0
    for index in range(top - 2):
        rest = rest or entry[index] != 0
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
        bits, index, rest = leading_bits(digits[entry])
        out[entry] = 0
        if index >= 0:
            out[entry] = round_to_bits(bits, index + 32 * low, rest)
            for digit in digits[entry]:
                if digit < 0:
                    out[entry] |= np.int64(-(2**63))
                    break
