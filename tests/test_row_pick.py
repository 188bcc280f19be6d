"""Rows picked by content from parts that nobody sees together: the rows that one reservoir picks from all of them."""

from __future__ import annotations

import pickle
from collections import Counter
from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candide.data.batch import Batch
from candide.model.row_pick import RowPick, rows_with
from candide.model.row_sample import Reservoir


def batch_of(numbers):
    return Batch.of({"x": numbers, "t": [f"row {n % 5}" for n in numbers]}, [str(n % 2) for n in numbers])


def counted(rows: Batch) -> Counter:
    return Counter(zip(rows.numbers(["x"])[:, 0].tolist(), rows.labels.codes.tolist(), strict=True))


def picked_here(numbers, limit):
    reservoir = Reservoir(limit)
    list(reservoir.watched([batch_of(numbers)]))
    return counted(reservoir.rows())


def picked_apart(parts, limit):
    left = [RowPick.of(batch_of(part).split(7) if part else [], limit, len(parts)) for part in parts]
    whole = reduce(add, map(pickle.loads, map(pickle.dumps, left)))
    more = [found for part in parts for found in rows_with(whole.lacking(), [batch_of(part)] if part else [])]
    reservoir = whole.reservoir(more)
    assert reservoir.seen == sum(map(len, parts))
    return counted(reservoir.rows())


@given(
    numbers=st.lists(st.integers(0, 12), min_size=1, max_size=80),
    cuts=st.lists(st.integers(0, 80), max_size=4),
    limit=st.integers(1, 30),
)
def test_parts_pick_what_one_reservoir_picks(numbers, cuts, limit):
    edges = [0, *sorted(min(cut, len(numbers)) for cut in cuts), len(numbers)]
    parts = [numbers[a:b] for a, b in pairwise(edges)]
    assert picked_apart(parts, limit) == picked_here(numbers, limit)


@pytest.mark.parametrize("distinct", [3, 1_000, 1_000_000])
def test_long_parts_pick_what_one_reservoir_picks(distinct):
    numbers = np.random.default_rng(distinct).integers(0, distinct, 20_000).tolist()
    parts = [numbers[at::7] for at in range(7)]
    assert picked_apart(parts, 500) == picked_here(numbers, 500)
