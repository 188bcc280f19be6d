"""The last digits of a minimum: where a search has come near, Newton's steps tell where it lies to 1e-12.

A search ends where a step lowers the value too little to see, which is some digits before the minimum; where exactly
depends on how a processor rounds. That the slope is zero can be seen much more sharply.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from candide.data.arrays import FloatArray

STEPS = 8
CLOSE = 1e-13
FLAT = 1e-3
"""Where the value bends less than this, no minimum can be told from its neighbours: there the search is believed."""

LONGEST = 0.1
"""Whoever is farther from the minimum than this has not come near."""


def polished(
    point: FloatArray,
    limits: FloatArray,
    slope: Callable[[FloatArray], FloatArray],
    curvature: FloatArray,
) -> FloatArray:
    """The minimum next to a point, from the slope at any point and the curvature near this one.

    `limits[parameter]` are the least and the largest value; what is at a limit stays there.
    """
    free = (point > limits[:, 0]) & (point < limits[:, 1])
    bends, directions = np.linalg.eigh(curvature[np.ix_(free, free)])
    sure = bends > FLAT
    inverse = directions[:, sure] / bends[sure] @ directions[:, sure].T
    before = np.inf
    for _ in range(STEPS):
        step = np.zeros_like(point)
        step[free] = inverse @ slope(point)[free]
        longest = float(np.abs(step).max(initial=0.0))
        if not longest < min(before, LONGEST):
            break
        point, before = np.clip(point - step, *limits.T), longest
        if longest < CLOSE:
            break
    return point
