"""The loops that score texts whose words have numbers already, so that several readings of a text look them up once."""

from __future__ import annotations

from typing import NamedTuple

from candide.data.arrays import AnyArray, IntArray
from candide.kernels import compiled
from candide.kernels.word_counting import COUNTS, TermWeighting, join_equal, unit_of, weigh
from candide.kernels.word_scoring import Judged, Weights, judge_terms, room_for_said
from candide.kernels.words import SCRATCH_FULL, Number, Scratch


class InNumbers(NamedTuple):
    """Documents whose terms have numbers: runs[size - shortest, position] is that of the run that begins there.

    Those of document i begin at starts[i]:starts[i + 1], as far as they end there; missing is bool[document].
    """

    runs: IntArray
    shortest: int
    starts: IntArray
    missing: AnyArray


@compiled
def score_numbered(
    texts: InNumbers,
    row: Number,
    scratch: Scratch,
    weighting: TermWeighting,
    weights: Weights,
    likelihood_weights: Weights,
    found: Judged,
) -> tuple[Number, Number]:
    """The same for documents whose terms have numbers already."""
    runs, shortest, starts, missing = texts
    once, unit = weighting.rule != COUNTS or weights.rate.size > 0, unit_of(weighting)
    said, ids = room_for_said(found.joint.shape[1]), scratch.ids
    while row < starts.size - 1:
        if missing[row]:
            row += 1
            continue
        tokens = 0
        for which in range(runs.shape[0]):
            for position in range(starts[row], starts[row + 1] - shortest - which + 1):
                if tokens >= ids.size:
                    return row, SCRATCH_FULL
                ids[tokens] = runs[which, position]
                tokens += 1
        count = join_equal(tokens, scratch) if once else tokens
        if count < 0:
            return row, count
        if once:
            weigh(count, weighting, scratch.amounts)
        judge_terms(scratch, count, tokens, once, unit, weights, likelihood_weights, said, row, found)
        row += 1
    return row, 0
