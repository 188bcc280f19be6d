"""Counts without one of the rows they were made of: exact leave-one-out for whatever keeps a tally."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, Counts, FloatArray, IntArray, is_sparse
from candide.data.errors import ForgetRefused
from candide.families.base.smoothing import log_share, log_shares

ROOM_PER_ROW = 8
"""Codes are told apart by a list of all possible ones where that is at most so many a row, else by sorting."""


class SlotRows(NamedTuple):
    """Rows to be taken out, one at a time: the slot each was counted in, its class and its weight."""

    slots: IntArray
    labels: IntArray
    weights: IntArray

    @classmethod
    def of(cls, slots: IntArray, labels: IntArray, weights: AnyArray, classes: int) -> tuple[SlotRows, IntArray]:
        """The different rows there are, and which of them each row is: -1 where it was not counted, its slot below 0.

        >>> different, which = SlotRows.of(np.array([5, -1, 5, 2]), np.array([0, 1, 0, 1]), np.zeros(0), 2)
        >>> different.slots.tolist(), different.labels.tolist(), which.tolist()
        ([2, 5], [1, 0], [1, -1, 1, 0])
        """
        amounts, amount = np.unique(weights, return_inverse=True) if weights.size else (np.ones(1, dtype=np.int64), 0)
        codes = np.where(slots < 0, -1, (slots * classes + labels) * len(amounts) + amount)
        known, which = distinct(codes)
        pairs = known // len(amounts)
        return cls(pairs // classes, pairs % classes, amounts[known % len(amounts)]), which


def distinct(codes: IntArray) -> tuple[IntArray, IntArray]:
    """The different codes from 0 up, and where among them each is; -1 for those below."""
    room = int(codes.max(initial=-1)) + 1
    if room > ROOM_PER_ROW * len(codes):
        known, which = np.unique(codes, return_inverse=True)
        below = int(np.searchsorted(known, 0))
        return known[below:], which - below
    there = np.zeros(room, dtype=bool)
    there[codes[codes >= 0]] = True
    return np.flatnonzero(there), np.append(np.cumsum(there) - 1, -1)[codes]


def log_shares_without(counts: AnyArray, smoothing: float, out: SlotRows) -> FloatArray:
    """What `log_shares` gives each row's slot once the row has left, [row, class]: only its own class changes."""
    shares = log_shares(counts, smoothing)[out.slots]
    left = counts[out.slots, out.labels] - out.weights
    totals = counts.sum(axis=0)[out.labels] - out.weights
    with np.errstate(invalid="ignore"):
        shares[np.arange(len(left)), out.labels] = log_share(left, totals, len(counts), smoothing)
    return shares


def refuse_slots_never_learned(counts: AnyArray, out: SlotRows) -> None:
    """Raise where a row weighs more than what was counted in its slot with its class."""
    if (counts[out.slots, out.labels] < out.weights).any():
        raise ForgetRefused("Some of these rows were never learned, so they cannot be left out.")


def weights_or_ones(weights: AnyArray, rows: int) -> IntArray:
    """The weight of each row; one for every row where none are given."""
    return weights if weights.size else np.ones(rows, dtype=np.int64)


def as_rows(counts: Counts) -> tuple[AnyArray, AnyArray, FloatArray]:
    """Dense or sparse counts as a CSR matrix: where rows begin, the column of each entry, and the entries."""
    if is_sparse(counts):
        return counts.indptr, counts.indices, np.asarray(counts.data, dtype=np.float64)
    rows, columns = counts.shape
    starts = np.arange(rows + 1, dtype=np.int32 if counts.size < 2**31 else np.int64) * columns
    return starts, np.tile(np.arange(columns, dtype=np.int32), rows), counts.ravel()
