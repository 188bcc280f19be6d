"""Logarithms of quotients of whole numbers in fixed point, for differences so small that doubles would lose them."""

from __future__ import annotations

BITS = 96


def atanh_sum(step: int) -> int:
    """artanh of a number from 0 to 1/3, both in units of 2^-96: step + step^3 / 3 + step^5 / 5 + ..."""
    square, power, total, odd = step * step >> BITS, step, 0, 1
    while power:
        total += power // odd
        power = power * square >> BITS
        odd += 2
    return total


LOG_TWO = 2 * atanh_sum((1 << BITS) // 3)


def fixed_log(above: int, below: int) -> int:
    """log(above / below) in units of 2^-96, for whole numbers above zero of any size.

    log q = 2 artanh((q - 1) / (q + 1)), after powers of two were taken out.

    >>> fixed_log(5, 5), fixed_log(2, 1) / 2**96, fixed_log(10**400, 10**401) / 2**96
    (0, 0.6931471805599453, -2.302585092994046)
    """
    power = above.bit_length() - below.bit_length()
    above, below = above << max(-power, 0), below << max(power, 0)
    step = (abs(above - below) << BITS) // (above + below)
    return power * LOG_TWO + (2 if above > below else -2) * atanh_sum(step)


def log_gap(above: int, below: int, logs: int, weight: int) -> float:
    """log(above / below) - logs / weight, rounded once; 0 where a logarithm does not exist.

    >>> log_gap(3, 2, 0, 1), log_gap(0, 0, 0, 0)
    (0.4054651081081644, 0.0)
    """
    if above <= 0 or below <= 0 or weight <= 0:
        return 0.0
    return (fixed_log(above, below) * weight - (logs << BITS)) / (weight << BITS)
