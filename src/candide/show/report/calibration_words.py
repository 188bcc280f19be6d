"""What may be said of probabilities: how far they were off, beside what chance alone would do to true ones."""

from __future__ import annotations

import math
from typing import Any

from candide.data.written_numbers import percent

VAGUE = 0.05
"""Where chance may put true probabilities off by more than this, rows are too few to judge them."""

SLIGHT, GREAT = 0.02, 0.1
"""Average errors that are called slight, and great."""

SURE, FEWEST, GAP = 3.0, 20, 0.05
"""A bin is named where it is off by so many standard errors, has so many rows, and lies so far from what was said."""


def calibration_in_words(found: Any) -> str:
    """Whether probabilities can be taken at their word, as far as the rows allow to tell."""
    error, chance = found.calibration_error, found.calibration_error_by_chance
    if error > chance:
        more = f"more than chance explains with {found.rows:,} rows (up to {100 * chance:.1f})"
        look = "seem" if chance > VAGUE else "are"
        said = f"Its probabilities {look} {how_far(found)}: they were off by {points(error)} on average, {more}."
    elif chance > VAGUE:
        said = (
            f"{found.rows:,} rows are too few to judge its probabilities by: they were off by {points(error)} on "
            f"average, and chance alone would make that up to {100 * chance:.1f}."
        )
    else:
        said = (
            f"Its probabilities were off by {points(error)} on average, no more than chance explains with "
            f"{found.rows:,} rows (up to {100 * chance:.1f})."
        )
    return f"{said} {farthest_bin(found)}".strip()


def points(share: float) -> str:
    """A difference of shares.

    >>> points(0.0123)
    '1.2 percentage points'
    """
    return f"{100 * share:.1f} percentage points"


def how_far(found: Any) -> str:
    """In which direction probabilities are off, and whether by little or much."""
    error = found.calibration_error
    lead = sum(part.chances for part in found.reliability) / found.rows - found.accuracy
    direction = "off" if abs(lead) < error / 2 else "too sure" if lead > 0 else "too careful"
    return f"{'slightly ' if error < SLIGHT else 'far ' if error > GREAT else ''}{direction}"


def farthest_bin(found: Any) -> str:
    """The probabilities that are the most surely wrong, where some are."""
    there = [part for part in found.reliability if part.rows >= FEWEST and surely_off(part) > SURE]
    there = [part for part in there if abs(part.accuracy - part.probability) > GAP]
    if not there:
        return ""
    worst = max(there, key=surely_off)
    return (
        f"Where they say about {percent(worst.probability)}, {percent(worst.accuracy)} of {worst.rows:,} answers are "
        "right."
    )


def surely_off(part: Any) -> float:
    """How many standard errors the share that is right lies from the probability said."""
    spread = math.sqrt(part.rows * part.probability * (1 - part.probability))
    return abs(part.right - part.chances) / max(spread, 1e-9)
