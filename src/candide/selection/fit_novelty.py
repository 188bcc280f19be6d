"""How expected learned rows are without themselves: in each block, and all blocks in one score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from candide.data.arrays import FloatArray
from candide.data.batch import Batch
from candide.data.grid import quantized
from candide.families.base.family import Block
from candide.model.novelty import SCORE_LEVELS, Novelty, log_rank, quantiles, quantiles_of_ascending, row_scores
from candide.selection.counters import counting_columns
from candide.selection.identifiers import identifier_columns
from candide.selection.leave_one_out import LeftOut
from candide.selection.timestamps import timestamp_columns


def novelty_of(blocks: Sequence[Block], left: LeftOut, batches: Sequence[Batch]) -> Novelty:
    """From rows left out, which are those of the batches.

    Blocks that read again what others read have no say, nor have columns whose values are new in each row.
    """
    silent = frozenset(name for batch in batches for name in always_new(blocks, batch))
    no_class = replace(left, terms=left.terms[..., :0], prior=left.prior[:, :0])
    rows = no_class.rows(np.flatnonzero(left.weights > 0))
    kept, families, ranks = {}, {}, np.zeros(rows.lengths.shape)
    heard = np.zeros(rows.lengths.shape, dtype=bool)
    for index, block in enumerate(blocks):
        known = np.flatnonzero((rows.lengths[index] > 0) & np.isfinite(rows.log_marginal[index]))
        if len(known) and not block.family.is_auxiliary and silent.isdisjoint(block.columns):
            each, weights = rows.log_marginal[index, known] / rows.lengths[index, known], rows.weights[known]
            order = np.argsort(each, kind="stable")
            each, weights, known = each[order], weights[order], known[order]
            found = quantiles_of_ascending(each, weights)
            kept[block.key], families[block.key] = tuple(quantized(found).tolist()), block.family.name
            ranks[index, known], heard[index, known] = log_ranks_among_others(each, weights, found), True
    scores = quantiles(quantized(row_scores(ranks, heard)), rows.weights, SCORE_LEVELS)
    return Novelty(kept, families, tuple(scores.tolist()), len(rows.labels))


def always_new(blocks: Sequence[Block], rows: Batch) -> list[str]:
    """Columns that have no say in how familiar rows are: time goes on, and every row has its own name."""
    single = [block.columns[0] for block in blocks if len(block.columns) == 1 and not block.family.has_length]
    return [*timestamp_columns(rows), *identifier_columns(rows, single), *counting_columns(rows, single)]


def log_ranks_among_others(each: FloatArray, weights: FloatArray, found: FloatArray) -> FloatArray:
    """The logarithm of the rank of each row, the least expected first, by the quantiles of all rows.

    For the first, by those of the others: so that one may lie as far beyond them as a new row may.
    """
    ranks = log_rank(found, each)
    if len(each) > 1:
        ranks[0] = log_rank(quantiles_of_ascending(each[1:], weights[1:]), each[:1])[0]
    return ranks
