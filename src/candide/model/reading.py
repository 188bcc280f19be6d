"""What families make of a summary: their own statistics, read off what is remembered of the columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

from candide.families.base.family import AnyFamily, Block
from candide.model.summary import Summary

Memory = tuple[Block, Any]
"""A block of a summary, and its statistic."""


def read_as(summary: Summary, blocks: Sequence[Block], remembered: Mapping[str, AnyFamily]) -> Summary:
    """The same rows as other blocks have them: as they are where one has counted alike, else read off.

    `remembered` tells under which family a column is found where its own is not. Columns that the summary does not
    know have no values.
    """
    if tuple(blocks) == summary.blocks:
        return summary
    memories: dict[AnyFamily, list[Memory]] = {}
    for memory in zip(summary.blocks, summary.statistics, strict=True):
        memories.setdefault(memory[0].family.counted_as, []).append(memory)
    statistics = tuple(statistic_as(block, memories, remembered, len(summary.classes)) for block in blocks)
    return Summary(tuple(blocks), summary.classes, summary.units, statistics, summary.declared, summary.bits)


def statistic_as(
    block: Block, memories: Mapping[AnyFamily, list[Memory]], remembered: Mapping[str, AnyFamily], classes: int
) -> Any:
    """The statistic of one block: the sum of what is found of its columns in each memory that has some.

    Columns whose values speak together cannot be read off one by one: such a block has learned, or is empty.
    """
    found: dict[Block, tuple[Memory, list[str]]] = {}
    speak_together = block.family.is_joint or block.family.shares_total
    for column in block.columns:
        for family in (block.family, None if speak_together else remembered.get(column)):
            memory = None if family is None else memory_of(memories, family, column)
            if memory is not None:
                found.setdefault(memory[0], (memory, []))[1].append(column)
                break
    parts = [part_of(block, tuple(columns), *memory) for memory, columns in found.values()]
    return reduce(add, parts) if parts else block.builder(classes).freeze()


def memory_of(memories: Mapping[AnyFamily, list[Memory]], family: AnyFamily, column: str) -> Memory | None:
    """The memory that has counted a column as the family does."""
    return next((memory for memory in memories.get(family.counted_as, []) if column in memory[0].columns), None)


def part_of(block: Block, columns: tuple[str, ...], memory: Block, seen: Any) -> Any:
    """What a block knows of some of its columns from one memory."""
    if memory.family.counted_as != block.family.counted_as:
        part = block.family.read_off(seen, memory.columns, columns)
    else:
        part = seen if memory.columns == columns else seen.narrowed(memory.columns, columns)
    return part if columns == block.columns else part.widened(columns, block.columns)
