"""From counts to log probabilities: the one place where counts are smoothed."""

from __future__ import annotations

import numpy as np

from candide.arrays import AnyArray, FloatArray


def log_shares(counts: AnyArray, smoothing: float) -> FloatArray:
    """log((count + smoothing) / (total + smoothing * slots)) for counts[slot, class], class by class.

    A class that saw nothing gives every slot the same share.

    >>> np.exp(log_shares(np.array([[3, 0], [1, 0]]), 0.0)).tolist()
    [[0.75, 0.5], [0.25, 0.5]]
    """
    raised = counts + float(smoothing)
    totals = raised.sum(axis=0)
    nothing = totals == 0
    with np.errstate(divide="ignore"):
        shares = np.log(np.where(nothing, 1.0, raised)) - np.log(np.where(nothing, len(counts), totals))
    return np.asarray(shares, dtype=np.float64)
