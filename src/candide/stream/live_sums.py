"""Densities in a stream: blocks of exact sums, which may share one table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.data.cached import cached_property
from candide.data.grid import SMALLEST_NORMAL
from candide.families.base.density import Density
from candide.families.base.support import REAL
from candide.model.summary import refuse_impossible
from candide.statistics.sums import Sums
from candide.statistics.tally import Tally
from candide.stream.cells import number_of, within_support
from candide.stream.live import Cell, Live
from candide.stream.running_sums import RunningSums

FLOATS = frozenset((float,))


class LiveDensity(Live):
    """Any family of one number at a time; the moments of a (column, class) are rounded anew only after it changed.

    Its sums may lie among those of other blocks: `places` tells where.
    """

    family: Density
    builder: RunningSums

    def builder_over(self, seen: Sums) -> RunningSums:
        self.places: IntArray = np.arange(len(self.columns))
        return RunningSums.over(seen, [self.family] * len(self.columns))

    @cached_property
    def is_compiled(self) -> bool:
        """Whether a kernel knows the density."""
        return self.family.compiled_density is not None

    def freeze(self) -> Sums:
        return self.builder.only(np.arange(self.builder.classes), self.places)

    def read(self, cells: list[Cell]) -> FloatArray:
        support = self.family.support
        row = [math.nan] * len(self.columns)
        for index, name, value in cells:
            number = number_of(value, name)
            is_real = support is REAL and math.isfinite(number)
            row[index] = number if is_real else within_support(support, number, name, self.family.name)
        return np.array(row) if self.is_compiled else np.asarray(self.family.summed(np.array([row])))[0]

    def learn(self, values: FloatArray, label: int) -> None:
        self.builder.add(self.places, values, label, 1)

    def refuse_missing(self, values: FloatArray, label: int, left: Tally) -> None:
        self.take_away(values, label)
        rest = self.builder.only(np.array([label]), self.places)
        self.learn(values, label)
        rows = Tally(range(1), left.units[:, [label]], left.bits)
        refuse_impossible(self.family.impossible(rest, tuple(self.columns), rows))

    def take_away(self, values: FloatArray, label: int) -> None:
        self.builder.add(self.places, values, label, -1)

    def holds(self, index: int) -> bool:
        return bool(self.builder.counts[self.places[index], 0] > 0)

    def score(self, cells: list[Cell], order: IntArray, joint: FloatArray) -> float:
        columns = np.array([index for index, _, _ in cells], np.int64)
        numbers = row_numbers([name for _, name, _ in cells], [value for _, _, value in cells])
        if self.is_compiled:
            return float(self.builder.judge(self.places[columns], numbers, order, joint))
        spoken = np.isfinite(numbers) & self.family.support.holds(numbers)
        if spoken.any():
            moments = self.builder.blended(self.places[columns[spoken]], order, self.family.smoothing)
            parameters = self.family.parameters(moments)
            joint[order] += self.family.log_density(numbers[spoken, None], *parameters).sum(axis=0)
        return float(spoken.sum())


def row_numbers(names: Iterable[str], values: Sequence[Any]) -> FloatArray:
    """The values of one row in some columns as numbers, NaN where missing."""
    if are_floats(values):
        return np.array([0.0 if -SMALLEST_NORMAL < value < SMALLEST_NORMAL else value for value in values])
    return np.array([number_of(value, name) for name, value in zip(names, values, strict=True)], np.float64)


def are_floats(values: Iterable[Any]) -> bool:
    """Whether all values are plain floats, which nobody can change."""
    return FLOATS.issuperset(map(type, values))


def join(blocks: Sequence[LiveDensity]) -> None:
    """Let the sums of several blocks lie in one table, so that one kernel looks at all columns of a row."""
    if len({id(block.builder) for block in blocks}) < 2:
        return
    columns = [(block.family, f"{number} {name}") for number, block in enumerate(blocks) for name in block.columns]
    names, first, seen = [name for _, name in columns], 0, []
    for block in blocks:
        last = first + len(block.columns)
        seen.append(block.freeze().widened(names[first:last], names))
        block.places, first = np.arange(first, last), last
    whole = RunningSums.over(reduce(add, seen), [family for family, _ in columns])
    for block in blocks:
        block.builder = whole
