"""Weights that are not whole: counted on a grid of 2^-32, so that everything stays exact, and like scikit-learn's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import AdaBoostClassifier
from sklearn.naive_bayes import GaussianNB

from candide import NaiveBayes, families, load, store
from candide.data.batch import Batch
from candide.data.errors import ForgetRefused, OverflowRefused, RowsRefused
from candide.model.predictor import Model, normalised
from candide.model.schema import Choice, Schema
from candide.model.summary import Summary
from candide.statistics.weight_grid import on_grid
from candide.store import ModelFileRefused, Saved, container
from candide.training.learning import Learned
from strategies import PLAIN, blocks_of, tables
from test_store import forged, parts_of

#: So far the words of texts take whole weights only.
FRACTIONAL = [name for name in families.names() if name != "text"]
#: Counts of many thousand millions leave no room for fractions of them.
SUMMED = ("multinomial", "complement")
every_family = pytest.mark.parametrize("case", FRACTIONAL)
WEIGHTS = st.one_of(st.sampled_from([0.5, 0.25, 1.5, 1.0, 2.0, 1 / 3, 1e-3]), st.floats(1e-6, 100))


def weighed(data, case, least=1, most=6):
    """A table whose rows weigh what they like."""
    table = data.draw(tables(blocks_of(case), least=least, most=most, labels=("a", "b"), extreme=False))
    return table.of([replace(row, weight=data.draw(WEIGHTS)) for row in table.rows])


@every_family
@given(data=st.data())
def test_summaries_add_up_in_any_order_and_split(case, data):
    table = weighed(data, case)
    shuffled = data.draw(st.permutations(table.rows))
    cut = data.draw(st.integers(0, len(shuffled)))
    left, right = table.of(shuffled[:cut]).summary(), table.of(shuffled[cut:]).summary()
    assert left + right == table.summary() == right + left
    assert table.summary() - right == left
    assert table.summary().impossible() == ""


@every_family
@given(data=st.data())
def test_two_halves_are_one_in_bits(case, data):
    table = data.draw(tables(blocks_of(case), least=1, labels=("a", "b"), extreme=case not in SUMMED))
    halves = [replace(row, weight=row.weight / 2) for row in table.rows]
    twice, once = table.of([*halves, *halves]).summary(), table.summary()
    assert twice == once
    assert once.bits == 0
    assert once.units.dtype == np.int64


@every_family
@given(data=st.data())
def test_a_weight_is_the_row_as_often(case, data):
    """Weights of quarters are four times as many rows, each a quarter."""
    table = data.draw(tables(blocks_of(case), least=1, most=4, labels=("a", "b"), extreme=False))
    quarters = [data.draw(st.integers(1, 7)) for _ in table.rows]
    light = [replace(row, weight=number / 4) for row, number in zip(table.rows, quarters, strict=True)]
    many = [replace(row, weight=0.25) for row, n in zip(table.rows, quarters, strict=True) for _ in range(n)]
    assert table.of(light).summary() == table.of(many).summary()


@every_family
@given(data=st.data())
def test_forgetting_what_had_fractions_leaves_whole_counts_as_they_were(case, data):
    whole = data.draw(tables(blocks_of(case), least=1, labels=("a", "b"), extreme=False)).summary()
    fractions = weighed(data, case).summary()
    assert (whole + fractions) - fractions == whole


@every_family
@given(data=st.data())
def test_a_file_gives_them_back(case, data):
    table = weighed(data, case)
    schema = Schema(tuple(Choice(name, block.family, "") for block in table.blocks for name in block.columns))
    saved = Saved(schema, table.summary())
    again = store.from_bytes(store.to_bytes(saved))
    assert again == saved
    assert store.to_bytes(again) == store.to_bytes(saved)


@every_family
@given(data=st.data())
def test_answers_are_those_of_counts_in_proportion(case, data):
    """Without smoothing only proportions count: every row four times as heavy changes nothing."""
    smooth = {} if case == "complement" else {"smoothing": 0.0}
    table = data.draw(tables(blocks_of(case, **smooth), least=3, most=6, labels=("a", "b"), extreme=False))
    if case in ("student", "histogram", "gaussian_full", "gaussian_shared", "complement"):
        pytest.skip("the number of rows is part of the family")
    light = table.of([replace(row, weight=row.weight / 4) for row in table.rows])
    one, other = (Model.fit(some.summary()).joint(table.batch()) for some in (light, table))
    assert np.allclose(one, other, rtol=1e-9, atol=1e-9, equal_nan=True)


def rows_of(rng, rows=60):
    """A mixed table."""
    label = rng.choice(["a", "b", "c"], rows)
    shift = np.array([{"a": 0.0, "b": 1.5, "c": 3.0}[key] for key in label])
    table = {
        "x": rng.normal(shift, 1.0), "wait": rng.exponential(1 + shift), "visits": rng.poisson(1 + shift).astype(float),
        "colour": [rng.choice(["red", "green", key]) for key in label], "flag": rng.random(rows) < 0.2 + shift / 5,
    }  # fmt: skip
    return table, label, rng.random(rows) * 2


@pytest.mark.parametrize("options", [PLAIN, {}], ids=["plain", "chosen"])
def test_every_verb_takes_them(options, tmp_path):
    table, label, weights = rows_of(np.random.default_rng(1))
    first = {name: values[:40] for name, values in table.items()}
    rest = {name: values[40:] for name, values in table.items()}
    model = NaiveBayes(**options).fit(table, label, weights)
    assert np.allclose(model.predict_proba(table).sum(axis=1), 1)
    assert model.summary_.rows == pytest.approx(weights.sum())
    half = NaiveBayes(**options).fit(table, label, weights).forget(rest, label[40:], weights[40:])
    again = half.partial_fit(rest, label[40:], sample_weight=weights[40:])
    assert again.summary_ == model.summary_
    judged = model.evaluate(table, label, leave_one_out=True, sample_weight=weights)
    assert judged.rows == pytest.approx(weights.sum())
    assert 0.3 < judged.accuracy < 1
    assert model.evaluate(table, label).rows == 60
    model.save(tmp_path / "m.candide")
    assert load(tmp_path / "m.candide").summary_ == model.summary_
    assert model.explain(first)[0] is not None
    with pytest.raises(ForgetRefused):
        model.forget(first, label[:40], 2 * weights[:40] + 1)


def test_streams_go_on_from_them():
    table, label, weights = rows_of(np.random.default_rng(2))
    model = NaiveBayes(**PLAIN).fit(table, label, weights)
    rows = [dict(zip(table, cells, strict=True)) for cells in zip(*table.values(), strict=True)]
    before = model.summary_
    asked = model.predict_proba_one(rows[0])
    alone = {name: [value] for name, value in rows[0].items()}
    assert np.allclose([asked[key] for key in model.classes_], model.predict_proba(alone)[0])
    model.learn_one(rows[0], "a")
    assert model.summary_ == before + Summary.of(before.blocks, Batch.of(alone, ["a"]))
    model.forget_one(rows[0], "a")
    assert model.summary_ == before


def test_leave_one_out_is_a_refit_without_the_row():
    table, label, weights = rows_of(np.random.default_rng(3), rows=12)
    learned = NaiveBayes(**PLAIN).fit(table, label, weights).learned_
    from candide.selection.leave_one_out import leave_each_out

    batch = Batch.of(table, label, weights)
    (left,) = leave_each_out(learned.summary, [batch])
    for row in range(12):
        alone = batch.take(np.array([row]))
        rest = learned.summary - Summary.of(learned.summary.blocks, alone)
        joint = Model.fit(rest).joint(alone)[0]
        assert rest.classes == learned.summary.classes
        assert np.allclose(left.prior[row] + left.terms[:, row].sum(axis=0), joint, atol=1e-9)


def test_importance_weights_are_those_of_scikit_learn():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(200, 5)), rng.integers(0, 3, 200)
    weights = rng.exponential(size=200)
    theirs = GaussianNB(var_smoothing=1e-12).fit(x, y, weights)
    ours = NaiveBayes(families="gaussian", smoothing="default", calibrate=False).fit(x, y, weights)
    assert np.abs(ours.predict_proba(x) - theirs.predict_proba(x)).max() < 1e-9


def test_boosting_takes_weights_as_repetition():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(120, 3)), rng.integers(0, 2, 120)
    x[:, 0] += 2 * y
    boosted = AdaBoostClassifier(NaiveBayes(families="gaussian", smoothing="default", calibrate=False), n_estimators=5)
    theirs = AdaBoostClassifier(GaussianNB(), n_estimators=5)
    assert (boosted.fit(x, y).predict(x) == theirs.fit(x, y).predict(x)).mean() > 0.97
    often = rng.integers(1, 5, 120)
    halves = NaiveBayes(**{**PLAIN, "families": "gaussian"}).fit(x, y, often / 2)
    twice = NaiveBayes(**{**PLAIN, "families": "gaussian"}).fit(np.repeat(x, often, axis=0), np.repeat(y, often))
    assert np.allclose(halves.predict_proba(x), twice.predict_proba(x), atol=1e-9)


def test_the_grid():
    assert on_grid(np.array([0.0, 0.5, 1e-30])).tolist() == [0.0, 0.5, 2.0**-32]
    assert on_grid(np.array([1 / 3]))[0] * 2**32 == round(2**32 / 3)
    with pytest.raises(OverflowRefused):
        on_grid(np.array([2.0**31, 0.5]))


def test_what_does_not_fit_is_refused_before_anything_is_counted():
    model = NaiveBayes(**PLAIN).fit({"c": ["u", "v"]}, ["a", "b"], [2**40, 1])
    before = model.summary_
    with pytest.raises(OverflowRefused):
        model.partial_fit({"c": ["u"]}, ["a"], sample_weight=[0.5])
    assert model.summary_ == before


def test_texts_and_ledgers_say_that_they_take_whole_weights():
    with pytest.raises(RowsRefused, match="whole"):
        NaiveBayes(**PLAIN).fit(["a text", "another one"], ["a", "b"], [0.5, 1])
    with pytest.raises(RowsRefused, match="ledger"):
        NaiveBayes(**PLAIN, ledger=True).fit({"x": [1.0, 2.0]}, ["a", "b"], [0.5, 1])


def test_whole_numbers_in_a_file_are_never_written_as_fractions():
    schema = Schema((Choice("c", families.named("categorical"), ""),))
    summary = schema.summarize(Batch.of({"c": ["u", "v"]}, ["a", "b"], [0.5, 1.0]))
    head, body = parts_of(store.to_bytes(Saved(schema, summary)))
    assert head["classes.bits"]["shape"] == [1]
    for name in ("classes.bits", "block 0.bits"):
        start, stop = head[name]["data_offsets"]
        for bits in (0, 31, -1, 2**40):
            changed = body[:start] + np.array([bits]).tobytes() + body[stop:]
            with pytest.raises(ModelFileRefused):
                store.from_bytes(forged(head, changed))
    assert container.VERSION == 1


def test_a_loaded_model_answers_as_before():
    table, label, weights = rows_of(np.random.default_rng(6))
    learned = NaiveBayes(**PLAIN).fit(table, label, weights).learned_
    again = Learned.of(store.from_bytes(store.to_bytes(learned.saved({}))))
    question = Batch.of(table)
    one, other = (normalised(some.model.reported(question), some.model.log_prior) for some in (learned, again))
    assert np.array_equal(one, other)
