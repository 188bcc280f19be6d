"""The smoothed share of a count, as every loop takes it: log(count + pseudocount) - log_whole(...)."""

from __future__ import annotations

import math

from candide.kernels import compiled
from candide.kernels.words import Number


@compiled
def pseudocount_of(total: Number | float, smoothing: float) -> float:
    """What is added to each slot: the smoothing, or one where there is none and nothing was counted.

    Then all slots have the same share.
    """
    return 1.0 if smoothing == 0.0 and total <= 0.0 else smoothing


@compiled
def log_whole(total: Number | float, pseudocount: float, slots: Number | float) -> float:
    """The logarithm of all counts and pseudocounts together; 0 where there are no slots."""
    whole = total + pseudocount * slots
    return math.log(whole) if whole > 0.0 else 0.0
