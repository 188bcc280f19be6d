"""From counts to log probabilities: the one place where counts are smoothed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from candide.data.arrays import AnyArray, FloatArray
from candide.data.grid import quantized


def log_shares(counts: AnyArray, smoothing: float | FloatArray) -> FloatArray:
    """The log share of every slot, counts[slot, class], class by class.

    Smoothing may differ from slot to slot, as [slot, 1]; there may be axes between slot and class, each position of
    which is a question of its own. A class that saw nothing gives every slot the same share.

    >>> np.exp(log_shares(np.array([[3, 0], [1, 0]]), 0.0)).round(15).tolist()
    [[0.75, 0.5], [0.25, 0.5]]
    """
    return log_share(counts, counts.sum(axis=0), len(counts), smoothing)


def log_share(
    counts: AnyArray, totals: AnyArray, slots: FloatArray | int, smoothing: float | FloatArray
) -> FloatArray:
    """log((count + smoothing) / (total + smoothing * slots)) of some slots, where the totals of all are known.

    Where nothing was counted and nothing is added, every slot has the same share. Smoothing that differs from slot to
    slot is added up over the counts, so these must be those of all slots.

    >>> float(np.exp(log_share(np.array(3), np.array(4), 2, 1.0)))
    0.6666666666666666
    """
    added = slots * smoothing
    if np.ndim(smoothing):
        added = np.broadcast_to(smoothing, (*counts.shape[:-1], 1)).sum(axis=0)
    wholes = totals + added
    nothing = wholes == 0
    with np.errstate(divide="ignore"):
        if nothing.any():
            return log_raised(counts, np.where(nothing, 1.0, smoothing)) - np.log(np.where(nothing, slots, wholes))
        return log_raised(counts, smoothing) - np.log(wholes)


def log_raised(counts: AnyArray, smoothing: float | FloatArray) -> FloatArray:
    """log(count + smoothing); small whole counts recur, so the logarithm of each is taken only once."""
    if counts.dtype.kind == "i" and np.ndim(smoothing) == 0 and counts.size:
        largest = int(counts.max())
        if largest < counts.size:
            return np.take(np.log(np.arange(largest + 1) + float(smoothing)), counts)
    return np.log(counts + np.asarray(smoothing, dtype=np.float64))


def own_loo_smoothing(counts: AnyArray, grid: Sequence[float]) -> float:
    """The smoothing of a grid under which counts[slot, class] predict themselves best, each row left out in turn.

    Leave-one-out needs no rows here: of the n_vc rows of class c in slot v, each finds n_vc - 1 others among N_c - 1,
    so their log likelihood is Σ n_vc log((n_vc - 1 + a) / (N_c - 1 + a e)) for e slots. Of equals, to a
    millionth of a nat, the first is taken.

    >>> own_loo_smoothing(np.array([[9, 0], [0, 9]]), [0.01, 1.0])
    0.01
    >>> own_loo_smoothing(np.array([[1, 0], [0, 1], [1, 1]]), [0.01, 1.0])
    1.0
    """
    slots, classes = np.nonzero(counts)
    seen, totals = counts[slots, classes].astype(np.float64), counts.sum(axis=0)[classes].astype(np.float64)
    added = np.array(grid)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        left, rest = np.maximum(seen - 1, 0.0), np.maximum(totals - 1, 0.0)
        likelihood = np.sort(seen * (np.log(left + added) - np.log(rest + added * len(counts))), axis=1).sum(axis=1)
    return float(grid[int(np.argmax(quantized(np.where(np.isnan(likelihood), -np.inf, likelihood))))])
