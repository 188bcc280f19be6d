"""What a summary remembers of open columns, and without some of the rows that it has learned."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from candide.data.arrays import IntArray
from candide.families.base.family import Block
from candide.families.base.leave_one_out import statistic_of
from candide.families.base.undecided import Undecided
from candide.model.summary import Summary
from candide.selection.leave_one_out import LeaveOneOut


def open_part(summary: Summary, wanted: Container[str]) -> Summary:
    """The cells and counts that a summary remembers of some columns left open, its blocks counting as finely."""
    blocks, statistics = [], []
    for block, seen in zip(summary.blocks, summary.statistics, strict=True):
        columns = tuple(name for name in block.columns if name in wanted)
        if isinstance(block.family, Undecided) and columns:
            some = seen.without_sums()
            some = some if columns == block.columns else some.narrowed(block.columns, columns)
            blocks.append(Block(replace(block.family.counting_like(some), sums=False), columns))
            statistics.append(some)
    return Summary(
        tuple(blocks), summary.classes, summary.units, tuple(statistics), summary.declared, summary.bits
    )


def without_rows(leaving: LeaveOneOut, gone: IntArray) -> Summary:
    """A summary without some of the rows that it has learned."""
    blocks, classes = leaving.summary.blocks, len(leaving.classes)
    rows = (leaving.rows(block).take(block.family, block.columns, gone) for block in blocks)
    pairs = zip(blocks, rows, strict=True)
    statistics = tuple(statistic_of(block.family, block.columns, some, classes) for block, some in pairs)
    return leaving.summary - replace(leaving.learned(gone), blocks=blocks, statistics=statistics)
