"""From counts to log probabilities: the one place where counts are smoothed."""

from __future__ import annotations

import numpy as np

from candide.arrays import AnyArray, FloatArray


def log_shares(counts: AnyArray, smoothing: float | FloatArray) -> FloatArray:
    """log((count + smoothing) / (total + smoothing * slots)) for counts[slot, class], class by class.

    Smoothing may differ from slot to slot, as [slot, 1]; there may be axes between slot and class, each position of
    which is a question of its own. A class that saw nothing gives every slot the same share.

    >>> np.exp(log_shares(np.array([[3, 0], [1, 0]]), 0.0)).round(15).tolist()
    [[0.75, 0.5], [0.25, 0.5]]
    """
    slots = len(counts)
    totals = counts.sum(axis=0) + np.broadcast_to(smoothing, (*counts.shape[:-1], 1)).sum(axis=0)
    nothing = totals == 0
    with np.errstate(divide="ignore"):
        shares = log_raised(counts, smoothing)
        shares -= np.log(np.where(nothing, 1.0, totals))
    return np.where(nothing, -np.log(max(slots, 1)), shares) if nothing.any() else shares


def log_raised(counts: AnyArray, smoothing: float | FloatArray) -> FloatArray:
    """log(count + smoothing); small whole counts recur, so the logarithm of each is taken only once."""
    if counts.dtype.kind == "i" and np.ndim(smoothing) == 0 and counts.size:
        largest = int(counts.max())
        if largest < counts.size:
            return np.take(np.log(np.arange(largest + 1) + float(smoothing)), counts)
    return np.log(counts + np.asarray(smoothing, dtype=np.float64))
