"""The laws: what holds for every family and every statistic, those to come included."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from candide import families
from candide.data.batch import Batch
from candide.data.errors import CandideError, ForgetRefused
from candide.data.values import key_of
from candide.engines import named, protocol
from candide.engines.base.passes import Summarizing
from candide.families.base.discriminant import Discriminant
from candide.families.calendar import Calendar, parts_of
from candide.model.predictor import log_normalised, normalised
from candide.model.summary import Accumulator, Summary
from candide.statistics.cross_sums import CrossSums
from candide.statistics.sums import Sums
from candide.statistics.tally import Tally
from strategies import CASES, Row, Table, blocks_of, questions, rows, tables, takes

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
    question = Batch.of(data.draw(questions(table.blocks)))
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
    indices = np.array(data.draw(st.permutations(range(5)))[:3])
    assert first.spread(indices, 5).only(indices) == first
    assert first.spread(indices, 5) + second.spread(indices, 5) == (first + second).spread(indices, 5)


# Law 7: every engine returns what one big batch returns. Clusters do rows that are here as `local` does; of rows that
# lie elsewhere each part leaves a summary in the form of its file.


@every_family
@given(data=draws, rows_at_once=st.integers(1, 9))
def test_every_engine_returns_what_one_big_batch_returns(case, data, rows_at_once):
    table = drawn(data, case, most=12)
    engine, batch, summary = named(), table.batch(), table.summary()
    halves = [table.of(table.rows[:4]).batch(), table.of(table.rows[4:]).batch()]
    work = Summarizing(table.blocks)
    assert reduce(add, [work.read(work.write(work.over(iter([half]), 1))) for half in halves]) == summary
    for threads in ("1", "2", "3"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CANDIDE_THREADS", threads)
            patch.setattr(protocol, "ROWS_AT_ONCE", rows_at_once)
            assert engine.summarize(table.blocks, [batch]) == summary
            assert engine.summarize(table.blocks, halves) == summary
            assert sum(engine.map(len, batch.split(rows_at_once))) == len(table.rows)


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
    for index in {0, 1, 2} - forgotten:
        expected = expected + parts[index].summary()
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
    broken = [out_of_place(block.family) for block in table.blocks for _ in block.columns]
    accumulator = Accumulator.over(table.summary())
    with pytest.raises(CandideError):
        accumulator.learn(table.of([*table.rows, Row(tuple(broken), "new label")]).batch())
    assert accumulator.freeze() == table.summary()


def out_of_place(family):
    """A value the family cannot learn from, if there is one."""
    return next((cell for cell in (float("inf"), 0.5) if not takes(family, cell)), None)


# Law 8: the likelihood sums or integrates to one.


@pytest.mark.parametrize("name", families.names())
@given(data=draws)
def test_the_likelihood_is_a_probability(name, data):
    """Over the values or words seen, the counts, the events of a row, or the line; complement by its multinomial."""
    columns = 3 if families.named(name).shares_total else 1
    table = data.draw(tables(blocks_of(name, columns), least=3, extreme=False))
    known = {key_of(row.cells[0]): row.cells[0] for row in table.rows if row.cells[0] is not None}
    assume(known)
    family, model = table.blocks[0].family, table.model()
    if family.shares_total:
        total = chances(model, np.eye(columns)).sum(axis=0)
    elif isinstance(family, Calendar):
        parts = {int(parts_of(np.array([float(time)]), family.part)[0]): float(time) for time in known.values()}
        total = chances(model, {"x0": list(parts.values())}).sum(axis=0)
    elif takes(family, "red") and not takes(family, 0.5):
        words = [text for text in known.values() if text]
        assume(words)
        total = chances(model, {"x0": words}).sum(axis=0)
    elif takes(family, "red"):
        total = chances(model, {"x0": list(known.values())}).sum(axis=0)
    elif takes(family, 0.5):
        total = integral(model, inside(family, pieces(known.values())))
    else:
        total = chances(model, inside(family, np.arange(30_000.0))[:, None]).sum(axis=0)
    assert total == pytest.approx(np.ones(total.shape), abs=1e-9)


def chances(model, values):
    """P(row | class) for every row and class."""
    return np.exp(model.log_likelihood(Batch.of(values)) - model.log_prior)


def inside(family, numbers):
    """The numbers that say something to a family."""
    return numbers[~np.isnan(family.view(Batch.of(numbers[:, None]), ("x0",))[:, 0])]


def pieces(points):
    """The line cut wherever a density may bend: at some points, at zero, and at every power of two away from them."""
    far, near = 2.0 ** np.arange(-1000, 200), 2.0 ** np.arange(-60, 200)
    around = [[point - near, point, point + near] for point in map(float, points)]
    return np.unique(np.hstack([-far, 0.0, far, *(edge for edges in around for edge in edges)]))


def integral(model, edges):
    """The integral of the density of each class, piece by piece with twenty Gauss-Legendre nodes."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    middle, half = 0.5 * (edges[1:] + edges[:-1]), 0.5 * np.diff(edges)
    heights = chances(model, (middle[:, None] + half[:, None] * nodes).reshape(-1, 1))
    return np.einsum("pnc,n,p->c", heights.reshape(len(middle), 20, -1), weights, half)


# Law 9: the posterior is finite and sums to one for any input whatever.


@every_family
@pytest.mark.parametrize("smoothing", [None, 0.0])
@given(data=draws)
def test_the_posterior_is_a_probability_whatever_is_asked(case, smoothing, data):
    options = {} if smoothing is None else {"smoothing": smoothing}
    blocks = blocks_of(case, columns=2, **options)
    model = data.draw(tables(blocks, least=1)).model()
    question = Batch.of(data.draw(questions(blocks)))
    joint = model.joint(question)
    assert (joint < np.inf).all()
    posterior = normalised(joint, model.log_prior)
    assert ((posterior >= 0) & (posterior <= 1)).all()
    assert posterior.sum(axis=1) == pytest.approx(np.ones(len(question)), abs=1e-12)
    assert np.exp(log_normalised(joint, model.log_prior)) == pytest.approx(posterior, abs=1e-12)


@every_family
@given(data=draws)
def test_a_row_that_says_nothing_gets_the_prior(case, data):
    table = drawn(data, case, least=1)
    model = table.model()
    nothing = Batch.of({name: [None] for name in table.columns})
    assert model.joint(nothing)[0] == pytest.approx(model.prior_term, abs=0)


# Law 10: an explanation adds up, and names every feature that spoke.


@every_family
@given(data=draws)
def test_an_explanation_adds_up_to_the_joint(case, data):
    table = drawn(data, case, least=1)
    model, question = table.model(), Batch.of(data.draw(questions(table.blocks)))
    for row, explanation in zip(question.split(1), model.explain(question), strict=True):
        joint = model.joint(row)[0]
        assert_close(explanation.joint, joint, 1e-9, magnitude(explanation))
        assert np.array_equal(explanation.posterior, normalised(joint[None], model.log_prior)[0])


@every_family
@given(data=draws)
def test_an_explanation_names_every_feature_that_spoke(case, data):
    table = drawn(data, case, least=1)
    model = table.model()
    asked = data.draw(rows(table.blocks))
    question = table.of([asked]).batch()
    features = [term.feature for term in model.explain(question)[0].terms]
    spoken = [(*feature.split(", "), feature.split(": ")[0], feature.split(" of ")[-1]) for feature in features]
    named = {name for names in spoken for name in names}
    for index, name in enumerate(table.columns):
        silenced = table.of([replace(asked, cells=(*asked.cells[:index], None, *asked.cells[index + 1 :]))]).batch()
        if not np.array_equal(model.joint(silenced), model.joint(question)):
            assert name in named
        if asked.cells[index] is None:
            assert name not in named


def magnitude(explanation):
    """How large the numbers behind a joint are: rounding is relative to them."""
    return np.abs(explanation.prior) + sum(np.abs(term.log_likelihood) for term in explanation.terms)


def assert_close(found, expected, tolerance, scale):
    """Equal where infinite, and elsewhere within the tolerance relative to the scale."""
    finite = np.isfinite(expected)
    assert np.array_equal(found[~finite], expected[~finite])
    assert (np.abs(found[finite] - expected[finite]) <= tolerance * (1 + scale[finite])).all()


# Law 13: names and orders carry no meaning.


@every_family
@given(data=draws)
def test_renaming_classes_permutes_the_answer_and_nothing_else(case, data):
    table = drawn(data, case, least=1)
    question = Batch.of(data.draw(questions(table.blocks)))
    other_name = {"apple": "z", "pear": "m", "quince": "a"}
    renamed = table.of([replace(row, label=other_name[row.label]) for row in table.rows])
    model, other = table.model(), renamed.model()
    order = [other.classes.index(("text", other_name[label])) for _, label in model.classes]
    assert np.array_equal(other.joint(question)[:, order], model.joint(question))


@every_family
@given(data=draws)
def test_renaming_columns_changes_nothing(case, data):
    table = drawn(data, case, least=1)
    question = data.draw(questions(table.blocks))
    other_name = {name: f"{99 - index} renamed" for index, name in enumerate(table.columns)}
    blocks = tuple(with_columns(block, map(other_name.get, block.columns)) for block in table.blocks)
    renamed = replace(table, blocks=blocks)
    asked_again = {other_name[name]: values for name, values in question.items()}
    before, after = table.model().joint(Batch.of(question)), renamed.model().joint(Batch.of(asked_again))
    assert np.array_equal(before, after)


@every_family
@given(data=draws)
def test_permuting_columns_changes_nothing(case, data):
    table = drawn(data, case, least=1)
    question = data.draw(questions(table.blocks))
    blocks = data.draw(st.permutations([permuted(data, block) for block in table.blocks]))
    order = [table.columns.index(name) for block in blocks for name in block.columns]
    shuffled = Table(
        tuple(blocks), tuple(replace(row, cells=tuple(row.cells[index] for index in order)) for row in table.rows)
    )
    model, other = table.model(), shuffled.model()
    batch = Batch.of(question)
    scale = np.array([magnitude(explanation) for explanation in model.explain(batch)])
    assert_close(other.joint(batch), model.joint(batch), column_tolerance(table.blocks), scale)


def permuted(data, block):
    return with_columns(block, data.draw(st.permutations(block.columns)))


def with_columns(block, columns):
    return replace(block, columns=tuple(columns))


def column_tolerance(blocks):
    """A covariance is factored column by column, so that rounding grows with how nearly it is singular."""
    return 1e-9 if any(isinstance(block.family, Discriminant) for block in blocks) else 1e-12
