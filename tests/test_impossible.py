"""What no rows could have left is refused: forgetting what was never learned, in every face, and forged statistics."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from candide import NaiveBayes, families, store
from candide.api.drop_in import GaussianNB
from candide.data.batch import Batch
from candide.data.errors import CandideError, ForgetRefused
from candide.model.predictor import Predictor, normalised
from candide.model.summary import Summary
from candide.statistics.cross_sums import CrossSums
from candide.statistics.exact import ExactSums
from candide.statistics.semidefinite import is_semidefinite, is_semidefinite_exactly
from candide.statistics.sums import Sums
from candide.statistics.tally import Tally
from strategies import CASES, PLAIN, blocks_of, tables, takes

every_family = pytest.mark.parametrize("case", CASES)


def forgets(summary, gone):
    try:
        return summary - gone
    except ForgetRefused:
        return None


def answers_are_finite(summary, question):
    """Whatever can be asked of a model has an answer."""
    model = Predictor.fit(summary)
    joint = model.joint(question)
    assert not np.isnan(joint).any()
    assert np.allclose(normalised(joint, model.log_prior).sum(axis=1), 1)
    assert len(model.explain(question)) == len(question)
    model.profiles()
    model.sample(3, None, np.random.default_rng(0))


@every_family
@given(data=st.data())
def test_forgetting_what_was_never_learned_is_refused_or_harmless(case, data):
    """The law: the model is untouched, or it still answers."""
    blocks = blocks_of(case)
    learned = data.draw(tables(blocks, least=2, most=6, labels=("a", "b"), extreme=False))
    strangers = data.draw(tables(blocks, least=1, most=2, labels=("a", "b"), extreme=False))
    summary = learned.summary()
    before = Summary.of(blocks, learned.batch())
    rest = forgets(summary, strangers.summary())
    assert summary == before
    if rest is not None and rest.classes:
        answers_are_finite(rest, learned.batch())


def as_dict(table, row):
    return {name: cell for name, cell in zip(table.columns, row.cells, strict=True) if cell is not None}


@pytest.mark.parametrize("case", families.names())
@given(data=st.data())
def test_a_stream_refuses_as_a_summary_does(case, data):
    blocks = blocks_of(case)
    learned = data.draw(tables(blocks, least=2, most=6, labels=("a", "b"), extreme=False))
    (stranger,) = data.draw(tables(blocks, least=1, most=1, labels=("a", "b"), extreme=False)).rows
    row = as_dict(learned, stranger)
    assume(row)
    given_families = {name: block.family for block in blocks for name in block.columns}
    model = NaiveBayes(**{**PLAIN, "families": given_families})
    cells = {name: [row.cells[index] for row in learned.rows] for index, name in enumerate(learned.columns)}
    model.partial_fit(cells, [row.label for row in learned.rows])
    before = store.canonical_bytes(model.trained_)
    alone = learned.of([replace(stranger, weight=1)]).batch()
    rest = forgets(model.trained_.summary, Summary.of(model.trained_.schema.blocks, alone))
    try:
        model.forget_one(row, stranger.label)
    except CandideError:
        assert rest is None
        assert store.canonical_bytes(model.trained_) == before
    else:
        assert model.trained_.summary == rest


@every_family
@given(data=st.data())
def test_what_was_learned_can_always_be_forgotten(case, data):
    """The other side of the law, over the whole range of doubles: nothing learned is called impossible."""
    blocks = blocks_of(case, columns=data.draw(st.integers(1, 3)))
    table = data.draw(tables(blocks, least=1, most=8))
    gone = data.draw(st.lists(st.sampled_from(table.rows), unique_by=id, max_size=len(table.rows)))
    kept = [row for row in table.rows if not any(row is other for other in gone)]
    assert table.summary() - table.of(gone).summary() == table.of(kept).summary()
    assert table.summary().impossible() == ""


ISSUE = {"x": [10.0, 10.1, 9.9, 1.0, 2.0, 3.0]}, ["a", "a", "a", "b", "b", "b"]


#: To a calendar half a second is the same weekday as ten: it was learned.
OF_NUMBERS = [name for name in families.names() if takes(families.named(name), 10.1) and name != "calendar"]


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_the_row_of_the_issue_is_refused(name):
    model = NaiveBayes(**{**PLAIN, "families": name}).fit(*ISSUE)
    before = store.canonical_bytes(model.trained_)
    for forget in (lambda: model.forget({"x": [0.5]}, ["a"]), lambda: model.forget_one({"x": 0.5}, "a")):
        with pytest.raises(CandideError, match="learned"):
            forget()
    assert store.canonical_bytes(model.trained_) == before
    assert model.predict(ISSUE[0]).tolist() == ISSUE[1]


def test_the_drop_in_refuses_it_too():
    model = GaussianNB().fit(np.array(ISSUE[0]["x"])[:, None], ISSUE[1])
    with pytest.raises(ForgetRefused):
        model.forget([[0.0]], ["a"])
    assert model.predict([[10.0], [2.0]]).tolist() == ["a", "b"]


def test_a_row_without_the_column_was_not_among_rows_that_all_had_it():
    model = NaiveBayes(**{**PLAIN, "families": {"x": "gaussian", "y": "categorical"}})
    model.fit({"x": [1.0, 2.0, 3.0], "y": ["u", "v", "u"]}, ["a", "a", "b"])
    for row in ({"y": "u"}, {"x": 1.0}):
        with pytest.raises(ForgetRefused):
            model.forget_one(row, "a")
        with pytest.raises(ForgetRefused):
            model.forget({"x": [row.get("x")], "y": [row.get("y")]}, ["a"])


FEW = (0.0, 1.0, 2.0, 3.0)


@pytest.mark.parametrize("family", ["poisson", "gaussian", "exponential"])
def test_the_inequalities_hold_for_every_small_bag_and_tell_most_others(family):
    """All bags of three of four numbers, less any one number: refused unless some bag of two has these sums."""
    named = families.named(family)
    block = blocks_of(family, columns=1)
    for values in itertools.combinations_with_replacement(FEW, 3):
        summary = Summary.of(block, Batch.of({"x0": list(values)}, ["a"] * 3))
        for gone in FEW:
            rest = forgets(summary, Summary.of(block, Batch.of({"x0": [gone]}, ["a"])))
            total, square = sum(values) - gone, sum(v * v for v in values) - gone * gone
            if gone in values:
                assert rest is not None
            elif family == "poisson":
                pairs = itertools.combinations_with_replacement(range(8), 2)
                exists = any(a + b == total and a * a + b * b == square for a, b in pairs)
                assert exists or rest is None or 2 * square > total * total, (values, gone)
            elif 2 * square < total * total:
                assert rest is None
    assert named.impossible(summary.statistics[0], ("x0",), summary.weighed) == ""


@given(data=st.data(), size=st.integers(1, 5))
def test_semidefinite_is_what_the_exact_elimination_says(data, size):
    """Matrices of few rows are singular, and one unit less in a corner is not semi-definite: doubles cannot tell."""
    entries = st.integers(-3, 3) if data.draw(st.booleans()) else st.integers(-(2**60), 2**60)
    few = data.draw(st.lists(st.lists(entries, min_size=size, max_size=size), min_size=1, max_size=size))
    made = np.array(few, dtype=object)
    matrix = made.T.dot(made)
    assert is_semidefinite(matrix)
    assert is_semidefinite_exactly(matrix)
    dented = matrix.copy()
    dented[0, 0] -= 1
    assert is_semidefinite(dented) == is_semidefinite_exactly(dented) == no_negative_minor(dented)


def no_negative_minor(matrix):
    """Sylvester's criterion for semi-definite matrices: every principal minor, by fractions."""
    indices = range(len(matrix))
    picks = [pick for size in indices for pick in itertools.combinations(indices, size + 1)]
    return all(determinant([[Fraction(int(matrix[i, j])) for j in pick] for i in pick]) >= 0 for pick in picks)


def determinant(lines):
    if not lines:
        return Fraction(1)
    pivot = next((line for line in lines if line[0]), None)
    if pivot is None:
        return Fraction(0)
    sign = (-1) ** lines.index(pivot)
    rest = [line for line in lines if line is not pivot]
    inner = [[a - line[0] / pivot[0] * b for a, b in zip(line[1:], pivot[1:], strict=True)] for line in rest]
    return sign * pivot[0] * determinant(inner)


def test_a_covariance_that_no_rows_have_is_refused():
    """Each column alone is possible; only together they are not."""
    values = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [5.0, 5.0]])
    block = blocks_of("gaussian_full")
    summary = Summary.of(block, Batch.of({"x0": values[:, 0], "x1": values[:, 1]}, ["a"] * 4))
    stranger = Summary.of(block, Batch.of({"x0": [1.0], "x1": [2.0]}, ["a"]))
    seen, gone = summary.statistics[0], stranger.statistics[0]
    assert isinstance(seen, CrossSums)
    assert (seen - gone).impossible() == ""
    with pytest.raises(ForgetRefused, match="products"):
        _ = summary - stranger


def test_sums_know_how_they_can_be_wrong():
    good = Sums.of(np.array([[1.0], [3.0]]), np.array([0, 0]), 1)
    assert good.impossible() == ""
    less = ExactSums.of(np.array([[7.9]]))
    assert Sums(good.weight, good.total, less).impossible()
    assert Sums(ExactSums.zeros((1, 1)), good.total, good.square).impossible()


@given(data=st.data())
def test_logarithms_stay_within_what_mean_and_variance_allow(data):
    values = data.draw(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=6))
    family = families.named("gamma")
    seen = Sums.of(np.array(values)[:, None], np.zeros(len(values), dtype=np.int64), 1, logs=True)
    rows = Tally(range(1), np.array([[len(values)]]))
    assert family.impossible(seen, ("x",), rows) == ""
    moved = data.draw(st.sampled_from([2.0**-34, 1.0, 100.0]))
    higher = Sums(seen.weight, seen.total, seen.square, seen.log + ExactSums.of(np.array([[moved * len(values)]])))
    gap = np.log(np.mean(values)) - np.mean(np.log(values))
    if moved > gap + 1e-9:
        assert family.impossible(higher, ("x",), rows)
