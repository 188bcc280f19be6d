"""The laws: what holds for every family and every statistic, those to come included."""

from __future__ import annotations

import os
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import CASES, LABELS, MIXTURE, Row, Table, blocks_of, questions, tables, takes

from candide import families
from candide.bases.density import Density
from candide.bases.discriminant import Discriminant
from candide.bases.family import Block
from candide.batch import Batch
from candide.engines import local
from candide.errors import CandideError, ForgetRefused
from candide.model import Model, normalised
from candide.statistics.cross_sums import CrossSums
from candide.statistics.sums import Sums
from candide.statistics.tally import Tally
from candide.summary import Accumulator, Summary

every_family = pytest.mark.parametrize("case", CASES)
draws = st.data()


def drawn(data, case, tables_wanted=1, **options):
    """Some tables of one kind."""
    blocks = blocks_of(case, columns=data.draw(st.integers(1, 3)))
    found = [data.draw(tables(blocks, **options)) for _ in range(tables_wanted)]
    return found[0] if tables_wanted == 1 else found


# Laws 1 to 6: summaries add up, exactly.


@every_family
@given(data=draws)
def test_adding_nothing_changes_nothing(case, data):
    table = drawn(data, case)
    summary, empty = table.summary(), Summary.empty(table.blocks)
    assert summary + empty == summary == empty + summary
    assert table.of([]).summary() == empty


@every_family
@given(data=draws)
def test_addition_commutes(case, data):
    left, right = (table.summary() for table in drawn(data, case, 2))
    assert left + right == right + left


@every_family
@given(data=draws)
def test_addition_associates(case, data):
    first, second, third = (table.summary() for table in drawn(data, case, 3))
    assert (first + second) + third == first + (second + third)


@every_family
@given(data=draws, cut=st.integers(0, 8))
def test_a_union_in_any_order_is_the_sum_of_its_parts(case, data, cut):
    table = drawn(data, case)
    shuffled = data.draw(st.permutations(table.rows))
    left, right = table.of(shuffled[:cut]), table.of(shuffled[cut:])
    assert left.summary() + right.summary() == table.summary() == table.of(shuffled).summary()


@every_family
@given(data=draws)
def test_subtraction_takes_back_what_addition_gave(case, data):
    left, right = (table.summary() for table in drawn(data, case, 2))
    assert (left + right) - right == left
    assert left - left == Summary.empty(left.blocks)


@every_family
@given(data=draws)
def test_a_weight_of_two_is_the_row_twice(case, data):
    table = drawn(data, case)
    heavy = table.of([replace(row, weight=2 * row.weight) for row in table.rows])
    assert heavy.summary() == table.of(table.rows + table.rows).summary()


@every_family
@given(data=draws)
def test_a_weight_of_zero_is_no_row(case, data):
    table = drawn(data, case)
    weightless = [replace(row, weight=0) for row in table.rows]
    assert table.of([*table.rows, *weightless]).summary() == table.summary()


@every_family
@given(data=draws)
def test_equal_summaries_give_equal_answers(case, data):
    """A model is a pure function of a summary: the order of the rows leaves no trace."""
    table = drawn(data, case, least=1)
    question = data.draw(questions(table.blocks))
    backwards = table.of(table.rows[::-1])
    assert np.array_equal(table.model().joint(question), backwards.model().joint(question), equal_nan=True)


# The same for the statistics by themselves, in all the ways they are combined.


def tally_of(values, labels, classes):
    """Open slots: the value itself, where it is known."""
    slots = sorted({float(value) for value in values.ravel() if value == value})
    counts = np.zeros((len(slots), classes), dtype=np.int64)
    for row, label in zip(values, labels, strict=True):
        for value in row[row == row]:
            counts[slots.index(value), label] += 1
    return Tally.of(slots, counts)


def fixed_tally_of(values, labels, classes):
    """Fixed slots: how often each column was above zero."""
    counts = np.zeros((values.shape[1], classes), dtype=np.int64)
    for row, label in zip(values, labels, strict=True):
        counts[:, label] += row > 0
    return Tally.of(range(values.shape[1]), counts)


STATISTICS = {
    "tally with open slots": tally_of,
    "tally with fixed slots": fixed_tally_of,
    "sums": Sums.of,
    "sums with logarithms": lambda values, labels, classes: Sums.of(np.abs(values) + 1, labels, classes, logs=True),
    "cross sums": CrossSums.of,
}
every_statistic = pytest.mark.parametrize("statistic", STATISTICS.values(), ids=STATISTICS)
numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 1.0, 1e300, -1e300, 1e-300, 5e-324, float("nan")]),
)


def statistics(statistic, columns=2, classes=3):
    """The statistic of any rows."""
    row = st.tuples(st.tuples(*[numbers] * columns), st.integers(0, classes - 1))

    def of(drawn_rows):
        values = np.array([cells for cells, _ in drawn_rows], dtype=float).reshape(len(drawn_rows), columns)
        return statistic(values, np.array([label for _, label in drawn_rows], dtype=np.int64), classes)

    return st.lists(row, max_size=6).map(of)


@every_statistic
@given(data=draws)
def test_statistics_form_an_exact_group(statistic, data):
    first, second, third = (data.draw(statistics(statistic)) for _ in range(3))
    empty = first - first
    assert first + empty == first
    assert first + second == second + first
    assert (first + second) + third == first + (second + third)
    assert (first + second) - second == first


@every_statistic
@given(data=draws)
def test_a_statistic_moves_among_classes_and_back(statistic, data):
    first, second = data.draw(statistics(statistic)), data.draw(statistics(statistic))
    places = np.array(data.draw(st.permutations(range(5)))[:3])
    assert first.spread(places, 5).only(places) == first
    assert first.spread(places, 5) + second.spread(places, 5) == (first + second).spread(places, 5)


# Law 7: every engine returns what one big batch returns.


@every_family
@pytest.mark.parametrize("threads", [1, 2, 3])
@given(data=draws, rows_at_once=st.integers(1, 9))
def test_the_local_engine_returns_what_one_big_batch_returns(case, threads, data, rows_at_once):
    table = drawn(data, case, most=12)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CANDIDE_THREADS", str(threads))
        patch.setattr(local, "ROWS_AT_ONCE", rows_at_once)
        assert local.threads() == threads
        assert local.summarize(table.blocks, [table.batch()]) == table.summary()
        halves = [table.of(table.rows[:4]).batch(), table.of(table.rows[4:]).batch()]
        assert local.summarize(table.blocks, halves) == table.summary()


@every_family
@given(data=draws)
def test_learning_and_forgetting_in_any_interleaving_is_arithmetic(case, data):
    parts = drawn(data, case, 3)
    forgotten = data.draw(st.sets(st.integers(0, 2)))
    events = data.draw(st.permutations([0, 1, 2, *forgotten]))
    accumulator, learned = Accumulator(parts[0].blocks), set()
    for event in events:
        act = accumulator.forget if event in learned else accumulator.learn
        act(parts[event].batch())
        learned.add(event)
    expected = Summary.empty(parts[0].blocks)
    for place in {0, 1, 2} - forgotten:
        expected = expected + parts[place].summary()
    assert accumulator.freeze() == expected


@every_family
@given(data=draws)
def test_an_accumulator_goes_on_from_a_summary(case, data):
    before, after = drawn(data, case, 2)
    accumulator = Accumulator.over(before.summary())
    accumulator.learn(after.batch())
    assert accumulator.freeze() == before.summary() + after.summary()
    accumulator.forget(before.batch())
    assert accumulator.freeze() == after.summary()


# Forgetting what was never learned.


@every_family
@given(data=draws)
def test_forgetting_more_rows_than_were_learned_is_refused_whole(case, data):
    table = drawn(data, case, least=1)
    too_many = table.of([*table.rows, table.rows[0]])
    refuses_and_stays(table, too_many)


@every_family
@given(data=draws)
def test_forgetting_a_class_never_learned_is_refused_whole(case, data):
    table = drawn(data, case, least=1)
    stranger = table.of([replace(table.rows[0], label="nobody")])
    refuses_and_stays(table, stranger)


def refuses_and_stays(learned, unlearned):
    """Forgetting is refused, in place and by subtraction, and leaves everything as it was."""
    accumulator = Accumulator.over(learned.summary())
    with pytest.raises(ForgetRefused):
        accumulator.forget(unlearned.batch())
    assert accumulator.freeze() == learned.summary()
    with pytest.raises(ForgetRefused):
        learned.summary() - unlearned.summary()


@every_family
@given(data=draws)
def test_forgetting_other_rows_is_refused_or_exactly_undone(case, data):
    """Sums cannot tell every stranger from a friend; what they let pass still comes back bit by bit."""
    table, other = drawn(data, case, 2, least=1)
    accumulator = Accumulator.over(table.summary())
    try:
        accumulator.forget(other.batch())
    except ForgetRefused:
        pass
    else:
        accumulator.learn(other.batch())
    assert accumulator.freeze() == table.summary()


@every_family
@given(data=draws)
def test_a_refused_batch_leaves_nothing_behind(case, data):
    table = drawn(data, case, least=1)
    if case == "categorical":
        pytest.skip("categorical takes every value, so no batch of it is refused")
    broken = [float("inf") if takes(block.family, 1) and not takes(block.family, "red") else None
              for block in table.blocks for _ in block.columns]
    accumulator = Accumulator.over(table.summary())
    with pytest.raises(CandideError):
        accumulator.learn(table.of([*table.rows, Row(tuple(broken), "new label")]).batch())
    assert accumulator.freeze() == table.summary()


# Law 8: the likelihood sums or integrates to one.

MODERATE = {"least": 3, "extreme": False}
COUNTED = np.arange(200_000.0)


def chances(block, parameters, values, classes):
    """P(values | class) for each row and class."""
    batch = Batch.of(values)
    logs = np.zeros((len(batch), classes))
    block.family.log_likelihood(parameters, block.family.view(replaced_names(batch, block), block.columns), logs)
    return np.exp(logs)


def replaced_names(batch, block):
    return batch if batch.names == block.columns else Batch.of(dict(zip(block.columns, batch.numbers(batch.names).T, strict=True)))


def pieces(points):
    """The line cut where a density may bend: at the points, and at every power of two away from them."""
    steps = 2.0 ** np.arange(-1000, 200)
    near = 2.0 ** np.arange(-60, 200)
    return np.unique(np.concatenate([-steps, [0.0], steps, *([p - near, [p], p + near] for p in points if p)], axis=None))


def integral(density, edges):
    """The integral over all pieces, by Gauss and Legendre."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    middle, half = 0.5 * (edges[1:] + edges[:-1]), 0.5 * np.diff(edges)
    values = density((middle[:, None] + half[:, None] * nodes).ravel())
    return np.einsum("pnc,n,p->c", values.reshape(len(middle), 20, -1), weights, half)


@pytest.mark.parametrize("name", families.names())
@given(data=draws)
def test_the_likelihood_is_a_probability(name, data):
    family = families.named(name)
    table = data.draw(tables(blocks_of(name, columns=1 if isinstance(family, Density | Discriminant) else 3), **MODERATE))
    (block,), summary = table.blocks, table.summary()
    parameters, classes = family.fit(summary.statistics[0], block.columns), len(summary.classes)
    known = sorted({row.cells[0] for row in table.rows if row.cells[0] is not None}, key=repr)
    if takes(family, "red"):
        totals = sum_over_values(block, parameters, table, classes)
    elif not isinstance(family, Density | Discriminant):
        totals = sum_over_columns(block, parameters, classes)
    elif takes(family, 0.5):
        totals = integral(lambda x: chances(block, parameters, x[:, None], classes), inside(family, pieces(known)))
    else:
        totals = chances(block, parameters, inside(family, COUNTED)[:, None], classes).sum(axis=0)
    assert totals == pytest.approx(np.ones(totals.shape), abs=1e-9)
