"""Cells: where numbers lie adds up, subtracts and nests, the same in any order and split."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candide.data.errors import ForgetRefused
from candide.kernels.cells import LARGEST_KEY, ends_of_cells, last_shared_bits, ordered_keys
from candide.statistics.cells import CELLS_AT_FIRST, FINEST_LEVEL, MOST_CELLS, Cells, CellsBuilder
from candide.statistics.weight_grid import bits_of, weights_in_units

CLASSES = 3
finite = st.floats(allow_nan=False, allow_infinity=False)
number = st.one_of(st.sampled_from([0.0, -0.0, 1.0, 2.0, 2.5, -1.5, 5e-324, -5e-324, 1.7e308, -1.7e308]), finite)
cell = st.one_of(number, st.just(np.nan))
weight = st.one_of(st.integers(1, 3).map(float), st.sampled_from([0.5, 0.25, 2.0**-32]))
level = st.integers(1, FINEST_LEVEL)


@st.composite
def weighed(draw, values=cell, columns=1, most=20):
    """Values[row, column], labels and weights: none, whole, or fractions on the grid."""
    rows = draw(st.integers(0, most))
    table = np.array(draw(st.lists(values, min_size=rows * columns, max_size=rows * columns)), dtype=np.float64)
    labels = np.array(draw(st.lists(st.integers(0, CLASSES - 1), min_size=rows, max_size=rows)), dtype=np.int64)
    weights = np.array(draw(st.lists(weight, min_size=rows, max_size=rows)))
    kind = draw(st.sampled_from(["none", "whole", "fractions"]))
    weights = {"none": np.zeros(0, np.int64), "whole": np.ceil(weights).astype(np.int64), "fractions": weights}[kind]
    return table.reshape(rows, columns), labels, weights


def cells_of(rows, level):
    """The cells of a single column, counted in units that are fine enough for its weights."""
    values, labels, weights = rows
    builder = CellsBuilder(CLASSES, level)
    builder.in_units(bits_of(weights))
    builder.learn(values[:, 0], labels, weights_in_units(weights, len(labels), builder.bits))
    return builder.freeze()


def slow_cells(rows, level):
    """The cells one row at a time: the number's bits in order, shifted, in a dictionary."""
    values, labels, weights = rows
    counts: dict[int, list[float]] = {}
    for row, value in enumerate(values[:, 0].tolist()):
        if value == value:
            bits = int(np.float64(value + 0.0).view(np.int64))
            key = bits if bits >= 0 else -(2**63) - 1 - bits
            line = counts.setdefault(key >> (FINEST_LEVEL - level), [0.0] * CLASSES)
            line[labels[row]] += weights[row] if weights.size else 1
    return {cell: line for cell, line in counts.items() if any(line)}


@given(values=st.lists(number, min_size=1))
def test_keys_are_ordered_as_numbers_are_and_lead_back_to_them(values):
    numbers = np.array(values)
    keys = ordered_keys(numbers)
    assert all(np.array_equal(ends, numbers) for ends in ends_of_cells(keys, 0))
    assert np.array_equal(np.less.outer(keys, keys), np.less.outer(numbers, numbers))


def test_the_smallest_and_the_largest_number_have_the_outermost_keys():
    assert ordered_keys(np.finfo(np.float64).max * np.array([-1.0, 1.0])).tolist() == [~LARGEST_KEY, LARGEST_KEY]


def slow_number(key):
    """The double of a key: neither -0.0 nor beyond the largest."""
    key = min(max(-2 if key == -1 else key, ~int(LARGEST_KEY)), int(LARGEST_KEY))
    return float(np.int64(key if key >= 0 else key ^ (2**63 - 1)).view(np.float64))


@given(rows=weighed(), level=level)
def test_the_ends_and_the_middle_of_cells_agree_with_their_slow_twins(rows, level):
    found, shift = cells_of(rows, level), FINEST_LEVEL - level
    for index, cell in enumerate(found.cells.tolist()):
        low, high = slow_number(cell << shift), slow_number(((cell + 1) << shift) - 1)
        middle = min(max(0.5 * low + 0.5 * high, low), high)
        if not found.fractions.any():
            middle = np.ceil(low) if np.floor(middle) < low else np.floor(middle)
        if found.zeros.any() and cell == 0:
            middle = 0.0
        assert (found.lowest[index], found.highest[index], found.middle[index]) == (low, high, middle)


@given(rows=weighed(), level=level)
def test_cells_agree_with_their_slow_twin(rows, level):
    found = cells_of(rows, level)
    assert dict(zip(found.cells.tolist(), found.counts.tolist(), strict=True)) == slow_cells(rows, level)
    assert (np.diff(found.cells) > 0).all()


@given(rows=weighed(), level=level)
def test_marks_count_zeros_and_fractions(rows, level):
    values, labels, weights = rows
    loads = weights if weights.size else np.ones(len(values))
    found = cells_of(rows, level)
    for marked, is_so in ((found.zeros, lambda x: x == 0), (found.fractions, lambda x: x != np.floor(x))):
        there = ~np.isnan(values[:, 0]) & is_so(values[:, 0])
        assert (marked / 2**found.bits).tolist() == [float(loads[there & (labels == c)].sum()) for c in range(CLASSES)]


@given(left=weighed(), right=weighed(), levels=st.tuples(level, level))
def test_cells_of_different_levels_add_at_the_coarser(left, right, levels):
    both = tuple(np.concatenate(pair) for pair in zip(left[:2], right[:2], strict=True))
    loads = [rows[2] if rows[2].size else np.ones(len(rows[0])) for rows in (left, right)]
    together = cells_of((*both, np.concatenate(loads)), min(levels))
    assert cells_of(left, levels[0]) + cells_of(right, levels[1]) == together
    assert cells_of(right, levels[1]) + cells_of(left, levels[0]) == together


@given(rows=weighed(), levels=st.tuples(level, level, level))
def test_cells_nest(rows, levels):
    fine, middle, coarse = sorted(levels, reverse=True)
    assert cells_of(rows, fine).at_level(coarse) == cells_of(rows, coarse)
    assert cells_of(rows, fine).at_level(middle).at_level(coarse) == cells_of(rows, coarse)


@given(rows=weighed(values=number), level=level)
def test_every_number_lies_in_its_cell(rows, level):
    found = cells_of(rows, level)
    assert (found.lowest <= found.middle).all()
    assert (found.middle <= found.highest).all()
    assert (found.highest[:-1] < found.lowest[1:]).all()
    for value in rows[0][:, 0]:
        assert ((found.lowest <= value) & (value <= found.highest)).sum() == 1


@given(left=weighed(), right=weighed(), level=level)
def test_forgetting_takes_back_what_learning_gave(left, right, level):
    one, other = cells_of(left, level), cells_of(right, level)
    assert (one + other) - other == one
    assert one - one == Cells.empty(CLASSES, level)


@given(rows=weighed(values=number), most=st.integers(1, 6))
def test_the_finest_level_with_so_many_cells_is_found(rows, most):
    found = cells_of(rows, FINEST_LEVEL).with_at_most(most)
    occupied = {depth: len(cells_of(rows, depth)) for depth in range(1, FINEST_LEVEL + 1)}
    affordable = [depth for depth, cells in occupied.items() if cells <= most]
    assert found.level == max(affordable, default=1)


@given(cells=st.lists(st.integers(-(2**63), 2**63 - 1), unique=True, min_size=1))
def test_neighbours_fall_together_once_shifted_by_the_bits_they_share(cells):
    ascending = np.array(sorted(cells), dtype=np.int64)
    for here, there, bits in zip(ascending[:-1], ascending[1:], last_shared_bits(ascending).tolist(), strict=True):
        assert int(here) >> bits == int(there) >> bits or (here < 0 <= there and bits == FINEST_LEVEL)
        assert int(here) >> (bits - 1) != int(there) >> (bits - 1)


def test_forgetting_numbers_never_learned_is_refused():
    one = Cells.of(np.array([1.0, 2.0]), np.array([0, 1]), classes=2)
    with pytest.raises(ForgetRefused, match="never learned"):
        one - Cells.of(np.array([2.0]), np.array([0]), classes=2)


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_the_level_of_many_numbers_does_not_depend_on_how_they_were_split(parts):
    values = np.random.default_rng(1).normal(size=20_000)
    labels = np.arange(len(values)) % CLASSES
    whole = Cells.of(values, labels, CLASSES)
    assert CELLS_AT_FIRST / 4 < len(whole) <= CELLS_AT_FIRST
    assert whole == Cells.of(values, labels, CLASSES, level=whole.level)
    split = [Cells.of(values[part::parts], labels[part::parts], CLASSES) for part in range(parts)]
    assert sum(split[1:], split[0]).with_at_most(CELLS_AT_FIRST) == whole


def test_learning_keeps_the_level_until_cells_are_too_many():
    values = np.random.default_rng(2).normal(size=4 * MOST_CELLS)
    labels = np.zeros(len(values), np.int64)
    builder = CellsBuilder(1, FINEST_LEVEL)
    builder.learn(values[:1000], labels[:1000], np.zeros(0, np.int64))
    assert builder.freeze().level == FINEST_LEVEL
    builder.learn(values[1000:], labels[1000:], np.zeros(0, np.int64))
    outgrown = builder.freeze()
    assert len(outgrown) <= MOST_CELLS
    assert outgrown == Cells.of(values, labels, 1, level=outgrown.level)
    assert len(np.unique(ordered_keys(values) >> (FINEST_LEVEL - outgrown.level - 1))) > MOST_CELLS


@given(rows=weighed(), level=level)
def test_bounds_hold_all_numbers_and_are_theirs_where_cells_are_exact(rows, level):
    numbers = rows[0][~np.isnan(rows[0])]
    least, largest = cells_of(rows, level).bounds
    if not len(numbers):
        assert np.isnan([least, largest]).all()
        return
    assert least <= numbers.min() <= numbers.max() <= largest
    assert cells_of(rows, FINEST_LEVEL).bounds == (numbers.min(), numbers.max())
    if (numbers == np.floor(numbers)).all():
        assert (least, largest) == (np.floor(least), np.floor(largest))
    assert (least > 0) == (numbers.min() > 0) or level < 2


@given(rows=weighed(), share=st.floats(0, 1))
def test_quantiles_part_the_numbers_where_cells_are_exact(rows, share):
    values, _, weights = rows
    known, heavy = ~np.isnan(values[:, 0]), weights if weights.size else np.ones(len(values))
    quantile = cells_of(rows, FINEST_LEVEL).quantile(share)
    if known.any():
        whole = heavy[known].sum()
        assert heavy[known & (values[:, 0] < quantile)].sum() <= share * whole + 1e-6
        assert heavy[known & (values[:, 0] <= quantile)].sum() >= share * whole - 1e-6
