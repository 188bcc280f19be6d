"""Numbers as people read them: few digits, and never certainty that is not there."""

from __future__ import annotations


def percent(value: float) -> str:
    """One digit after the point; never 100 % for what is not certain.

    >>> percent(0.99999), percent(1.0), percent(0.5)
    ('>99.9%', '100.0%', '50.0%')
    """
    return ">99.9%" if 0.9995 <= value < 1 else "<0.1%" if 0 < value < 0.0005 else f"{value:.1%}"


def three_digits(value: float | None) -> str:
    """Three digits after the point, or a dash where there is nothing to say.

    >>> three_digits(0.5), three_digits(None)
    ('0.500', '-')
    """
    return "-" if value is None else f"{value:.3f}"
