"""The smoothed share of a count as every loop takes it: log(count + free) - log_whole(total, free, slots)."""

from __future__ import annotations

import math

from candide.kernels import compiled
from candide.kernels.words import Number


@compiled
def free_count(total: Number | float, smoothing: float) -> float:
    """What each slot is given for free: the smoothing, or one where there is none and nothing was counted.

    Then all slots have the same share.
    """
    return 1.0 if smoothing == 0.0 and total <= 0.0 else smoothing


@compiled
def log_whole(total: Number | float, free: float, slots: Number | float) -> float:
    """The logarithm of all counts together, those for free among them; 0 where there are no slots."""
    whole = total + free * slots
    return math.log(whole) if whole > 0.0 else 0.0
