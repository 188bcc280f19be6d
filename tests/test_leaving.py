"""Leave-one-out of whatever keeps a tally: taking a row's own counts out gives what a refit without the row gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from candide import families
from candide.data.batch import Batch
from candide.data.errors import ForgetRefused
from candide.families.base.block_rows import BlockRows
from candide.families.base.family import Block
from candide.families.base.leave_one_out import ByRefitting
from candide.families.base.smoothing import own_loo_smoothing
from candide.model.summary import Summary, grid_weights
from candide.selection.leave_one_out import known_labels
from strategies import blocks_of, tables

CASES = ["histogram", "categorical", "bernoulli", "multinomial", "complement"]


def by_subtraction(family, columns, batch, likelihood=False):
    """What the family says without each row, and what the slow default says that refits."""
    summary = Summary.of((Block(family, columns),), batch)
    seen, labels, weights = summary.statistics[0], known_labels(summary, batch), grid_weights(batch)
    rows = BlockRows.of(family, columns, batch, labels, weights)
    found = family.leave_one_out(seen, columns).scores(rows)
    expected = ByRefitting(family.settled(seen), seen, columns).scores(rows)
    assert found.length.tolist() == expected.length.tolist()
    assert_alike(found.unseen, expected.unseen)
    return (found.log_likelihood, expected.log_likelihood) if likelihood else (found.score, expected.score)


def assert_alike(found, expected):
    assert not np.isnan(expected).any()
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


OPTIONS = [{}, {"smoothing": 0.0}, {"smoothing": 1e-3}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("case", [*CASES, "grouped", "missing is value"])
@given(data=st.data())
def test_taking_a_row_out_is_a_refit_without_it(case, options, data):
    more = {"grouped": {"grouped": True}, "missing is value": {"missing_is_value": True}}.get(case, {})
    blocks = blocks_of(case if case in CASES else "categorical", data.draw(st.integers(1, 3)), **options, **more)
    table = data.draw(tables(blocks, least=1, most=12))
    assert_alike(*by_subtraction(blocks[0].family, blocks[0].columns, table.batch()))


@pytest.mark.parametrize("smoothing", [1.0, 0.0])
@given(data=st.data())
def test_the_likelihood_of_complement_is_the_multinomials(smoothing, data):
    blocks = blocks_of("complement", 3, smoothing=smoothing)
    table = data.draw(tables(blocks, least=1, most=12))
    assert_alike(*by_subtraction(blocks[0].family, blocks[0].columns, table.batch(), likelihood=True))


@pytest.mark.parametrize("smoothing", [1.0, 0.0])
@pytest.mark.parametrize("name", ["bernoulli", "multinomial", "complement"])
def test_sparse_rows_are_as_dense_ones(name, smoothing):
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 2, (40, 9)) if name == "bernoulli" else rng.poisson(0.6, (40, 9))
    labels, weights = rng.integers(0, 3, 40), rng.integers(0, 4, 40)
    family, columns = families.named(name, smoothing=smoothing), tuple(f"x{index}" for index in range(9))
    for given_weights in (None, weights):
        dense = Batch.of(counts.astype(float), labels, given_weights)
        thin = Batch.of(sparse.csr_array(counts.astype(float)), labels, given_weights)
        found, expected = by_subtraction(family, columns, thin)
        assert_alike(found, expected)
        assert_alike(found, by_subtraction(family, columns, dense)[0])


@pytest.mark.parametrize("name", ["bernoulli", "multinomial", "complement"])
def test_a_missing_count_says_nothing_and_is_not_observed(name):
    cells = np.array([[1, 0, np.nan], [np.nan, 1, 1], [0, 0, 1], [np.nan, np.nan, np.nan]])
    labels, columns, family = [0, 1, 0, 1], ("x0", "x1", "x2"), families.named(name)
    thin = sparse.csr_array(cells)
    for rows in (cells, thin):
        batch = Batch.of(rows, labels)
        assert_alike(*by_subtraction(family, columns, batch))
        expected = [2, 2, 3, 0] if name == "bernoulli" else [1, 2, 1, 0]
        assert family.evidence_length(None, family.view(batch, columns)).tolist() == expected


def test_a_category_that_only_this_row_held_says_nothing():
    family = families.named("categorical")
    batch = Batch.of({"x": ["a", "a", "b", None]}, ["yes", "no", "no", "yes"])
    found, expected = by_subtraction(family, ("x",), batch)
    assert_alike(found, expected)
    assert found[2].tolist() == [0.0, 0.0] == found[3].tolist()
    fitted = family.fit(Summary.of((Block(family, ("x",)),), batch).statistics[0], ("x",))
    asked = family.view(Batch.of({"x": ["a", "z", None]}), ("x",))
    assert family.evidence_length(fitted, asked).tolist() == [1, 0, 0]


@pytest.mark.parametrize("name", ["categorical", "histogram"])
def test_rows_that_were_never_learned_cannot_be_left_out(name):
    family = families.named(name)
    summary = Summary.of((Block(family, ("x",)),), Batch.of({"x": [1, 2]}, ["yes", "no"]))
    leaving = family.leave_one_out(summary.statistics[0], ("x",))
    with pytest.raises(ForgetRefused, match="never learned"):
        leaving.scores(BlockRows.of(family, ("x",), Batch.of({"x": [1]}), np.array([0]), np.zeros(0, int)))


# Smoothing from a column's own leave-one-out likelihood.


def slow_likelihood(counts, smoothing):
    """Every row by itself."""
    total = 0.0
    for slot, label in np.argwhere(counts):
        for _ in range(counts[slot, label]):
            left = counts.copy()
            left[slot, label] -= 1
            total += np.log((left[slot, label] + smoothing) / (left[:, label].sum() + smoothing * len(counts)))
    return total


@given(st.lists(st.tuples(*[st.integers(0, 6)] * 3), min_size=1, max_size=5))
def test_the_chosen_smoothing_is_the_best_of_the_grid(lines):
    counts, grid = np.array(lines), [1e-9, 0.01, 0.1, 0.5, 1.0, 3.0, 10.0]
    likelihoods = [slow_likelihood(counts, smoothing) for smoothing in grid]
    chosen = own_loo_smoothing(counts, grid)
    assert likelihoods[grid.index(chosen)] == pytest.approx(max(likelihoods), rel=1e-9, abs=1e-9)
    assert own_loo_smoothing(counts[:, ::-1], grid) == chosen


def test_no_smoothing_at_all_is_never_best_where_a_value_was_seen_once():
    assert own_loo_smoothing(np.array([[1, 5], [7, 0]]), [0.0, 0.5]) == 0.5
    assert own_loo_smoothing(np.array([[99, 2], [2, 99]]), [0.0, 50.0]) == 0.0
    assert own_loo_smoothing(np.array([[1], [0]]), [0.0, 0.5]) == 0.5
