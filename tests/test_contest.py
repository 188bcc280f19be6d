"""A contest by cells: what it says of a family is what leaving its rows out one by one says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from candide import families
from candide.data.batch import Batch
from candide.families.base.competing import NUMBER
from candide.families.base.family import Block
from candide.selection.columns import contest, own_loss
from candide.selection.contest import DEALT_ONE_BY_ONE, CellContest, dealt
from candide.selection.folds import FOLDS
from candide.selection.leave_one_out import LeaveOneOut

PLAIN = [
    name
    for name in families.names()
    if (kind := families.class_named(name)).reads == NUMBER
    and not (kind.is_joint or kind.shares_total or families.named(name).chooses)
]


def column(numbers, labels):
    return Batch.of({"x": np.asarray(numbers, dtype=np.float64)}, [str(label) for label in labels])


@pytest.mark.parametrize("name", [*PLAIN, "categorical"])
@given(data=st.data())
def test_rows_alike_are_left_out_as_one_by_one(name, data):
    rows = data.draw(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2)), min_size=4, max_size=40))
    shift = 1.0 if name in ("gamma", "lognormal", "weibull") else 0.0
    batch = column([number + shift for number, _ in rows], [label for _, label in rows])
    family = families.named(name, column="x")
    block = Block(family, ("x",))
    assume(len({label for _, label in rows}) > 1)
    assert CellContest.of(batch).loss(block) == pytest.approx(own_loss(LeaveOneOut.of_labels(batch), block), abs=1e-9)


@given(counts=st.lists(st.integers(1, 3 * DEALT_ONE_BY_ONE), min_size=1, max_size=50))
def test_every_row_is_dealt_into_one_fold(counts):
    folds = dealt(np.array(counts))
    assert folds.shape == (FOLDS, len(counts))
    assert folds.sum(axis=0).tolist() == counts
    assert folds.min() >= 0


def test_folds_hold_about_as_many_rows_and_not_quite():
    folds = dealt(np.full(200, 20)).sum(axis=1)
    assert folds.sum() == 4000
    assert 0 < folds.std() < 60


def test_intervals_found_in_noise_do_not_win():
    rng = np.random.default_rng(3)
    for _ in range(5):
        batch = column(rng.normal(size=400), rng.integers(0, 2, 400))
        found = CellContest.of(batch)
        histogram = families.named("histogram").fitted_to(batch.numbers(["x"])[:, 0], "x")
        assert found.loss(Block(histogram, ("x",))) >= np.log(2) - 0.01


def test_all_rows_of_a_column_have_their_say():
    """The few rows that are left out one by one say nothing of a column that is empty in them."""
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 2, 3000)
    numbers = np.where(np.arange(3000) < 1000, np.nan, rng.choice([-4.0, 4.0], 3000) * labels + rng.normal(size=3000))
    batch = column(numbers, labels)
    entrants = [families.named("gaussian", column="x"), families.named("histogram").fitted_to(numbers, "x")]
    leaving = LeaveOneOut.of_labels(batch.rows(0, 1000))
    assert contest(leaving, entrants, batch)[0].family.name == "histogram"


def test_rows_that_weigh_more_are_left_out_whole():
    numbers, labels = np.arange(40.0), np.arange(40) % 2
    weighed = Batch.of({"x": numbers}, [str(label) for label in labels], np.full(40, 100))
    entrants = [families.named("gaussian", column="x"), families.named("categorical", column="x")]
    leaving = LeaveOneOut.of_labels(weighed)
    for result in contest(leaving, entrants, weighed):
        assert result.loss == own_loss(leaving, Block(result.family, ("x",)))
