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
from candide.data.errors import ForgetRefused, OverflowRefused
from candide.families.base.block_rows import BlockRows
from candide.families.base.family import Block
from candide.families.text import Text
from candide.families.words.documents import Documents
from candide.families.words.options import TextOptions
from candide.families.words.word_tally_builder import WordTallyBuilder
from candide.kernels.word_counting import weighed_amount
from candide.model.options import Options
from candide.model.predictor import Predictor, normalised
from candide.model.schema import Choice, Schema
from candide.model.summary import Summary, grid_weights
from candide.model.trained_model import TrainedModel
from candide.selection.leave_one_out import known_labels
from candide.statistics.weight_grid import on_grid
from candide.store import ModelFileRefused
from strategies import PLAIN, Row, Table, blocks_of, one_of, sampled_from, several, tables
from test_leave_one_out import MODELS, any_cut, assert_alike, assert_refits, judged, matrix_of
from test_leave_one_out import text_tables as weighed_texts
from test_store import forged, parts_of
from test_text import RECIPES

#: Counts of many thousand millions leave no room for fractions of them.
SUMMED = ("multinomial", "complement")
every_family = pytest.mark.parametrize("case", families.names())
WEIGHTS = one_of(sampled_from([0.5, 0.25, 1.5, 1.0, 2.0, 1 / 3, 1e-3]), lambda chance: 10 ** chance.uniform(-6, 2))
WHOLE, SMALL, HALVES = sampled_from([1, 2, 50]), sampled_from([1, 2, 3]), sampled_from([0.5])


def weighed(data, case, least=1, most=6):
    """A table whose rows weigh what they like."""
    table = data.draw(tables(blocks_of(case), least=least, most=most, labels=("a", "b"), extreme=False))
    weights = data.draw(several(WEIGHTS, len(table.rows), len(table.rows)))
    return table.of([replace(row, weight=weight) for row, weight in zip(table.rows, weights, strict=True)])


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
    saved = TrainedModel(Options(), schema, table.summary())
    again = store.from_bytes(store.to_bytes(saved))
    assert again == saved
    assert store.to_bytes(again) == store.to_bytes(saved)


@every_family
@given(data=st.data())
def test_answers_are_those_of_counts_in_proportion(case, data):
    """Without smoothing only proportions count: every row four times as heavy changes nothing."""
    smooth = {} if case == "complement" else {"smoothing": 0.0}
    table = data.draw(tables(blocks_of(case, **smooth), least=3, most=6, labels=("a", "b"), extreme=False))
    if case in ("student", "histogram", "gaussian_full", "gaussian_shared", "gaussian_tied", "complement"):
        pytest.skip("the number of rows is part of the family")
    light = table.of([replace(row, weight=row.weight / 4) for row in table.rows])
    one, other = (Predictor.fit(some.summary()).joint(table.batch()) for some in (light, table))
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
    learned = NaiveBayes(**PLAIN).fit(table, label, weights).trained_
    from candide.selection.leave_one_out import LeaveOneOut

    batch = Batch.of(table, label, weights)
    left = LeaveOneOut.of(learned.summary, batch).left_out()
    for row in range(12):
        alone = batch.take(np.array([row]))
        rest = learned.summary - Summary.of(learned.summary.blocks, alone)
        joint = Predictor.fit(rest).joint(alone)[0]
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


def test_whole_numbers_in_a_file_are_never_written_as_fractions():
    schema = Schema((Choice("c", families.named("categorical"), ""),))
    summary = schema.summarize(Batch.of({"c": ["u", "v"]}, ["a", "b"], [0.5, 1.0]))
    head, body = parts_of(store.to_bytes(TrainedModel(Options(), schema, summary)))
    assert head["classes.bits"]["shape"] == [1]
    for name in ("classes.bits", "block 0.bits"):
        start, stop = head[name]["data_offsets"]
        for bits in (0, 31, -1, 2**40):
            changed = body[:start] + np.array([bits]).tobytes() + body[stop:]
            with pytest.raises(ModelFileRefused):
                store.from_bytes(forged(head, changed))
    assert head["__metadata__"]["candide"] == "1"


def test_a_loaded_model_answers_as_before():
    table, label, weights = rows_of(np.random.default_rng(6))
    learned = NaiveBayes(**PLAIN).fit(table, label, weights).trained_
    again = store.from_bytes(store.to_bytes(learned))
    question = Batch.of(table)
    one, other = (normalised(some.predictor.reported(question), some.predictor.log_prior) for some in (learned, again))
    assert np.array_equal(one, other)


# Texts, by every recipe.

every_recipe = pytest.mark.parametrize("options", RECIPES, ids=repr)
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{model['model']} of {model['weighting']}")


def text_tables(options, smoothing=1.0, weights=WEIGHTS, **rows):
    """Texts which weigh what they like, under a recipe."""
    return weighed_texts(options, smoothing, weights=weights, **rows)


def is_scaled(options):
    """Whether a recipe's amounts are fractions themselves, so that what fractions of rows add is rounded once more."""
    return options.weighting in ("log", "unit")


@every_recipe
@given(data=st.data())
def test_summaries_of_texts_add_up_in_any_order_and_split(options, data):
    table = data.draw(text_tables(options))
    shuffled = data.draw(st.permutations(table.rows))
    cut = data.draw(st.integers(0, len(shuffled)))
    left, right = table.of(shuffled[:cut]).summary(), table.of(shuffled[cut:]).summary()
    assert left + right == table.summary() == right + left
    assert table.summary() - right == left
    assert table.summary() - left == right
    assert table.summary().impossible() == ""


@every_recipe
@given(data=st.data())
def test_fractions_of_texts_leave_whole_counts_as_they_were(options, data):
    whole = data.draw(text_tables(options, weights=WHOLE)).summary()
    fractions = data.draw(text_tables(options)).summary()
    assert (whole + fractions) - fractions == whole
    assert (fractions + whole) - whole == fractions


@every_recipe
@given(data=st.data())
def test_halves_of_texts_are_whole_ones_in_bits(options, data):
    """Of scaled amounts, which are no whole numbers of units, each half is rounded: to a unit of 2^-32 a text."""
    table = data.draw(text_tables(options, weights=SMALL))
    halves = [replace(row, weight=row.weight / 2) for row in table.rows]
    twice, once = table.of([*halves, *halves]).summary(), table.summary()
    (found,), (expected,) = twice.statistics, once.statistics
    assert found.bits == expected.bits == 0
    if is_scaled(options):
        assert np.array_equal(found.lines.letters, expected.lines.letters)
        assert np.abs(found.lines.counts - expected.lines.counts).max(initial=0) <= len(table.rows)
        assert np.array_equal(found.documents, expected.documents)
    else:
        assert twice == once


@every_recipe
@given(data=st.data())
def test_whole_weights_among_fractions_add_what_they_always_add(options, data):
    whole = data.draw(text_tables(options, weights=WHOLE))
    light = replace(data.draw(text_tables(options)).rows[0], weight=0.5)
    beside = whole.of([*whole.rows, light]).summary()
    assert beside - whole.of([light]).summary() == whole.summary()


@every_recipe
@given(data=st.data())
def test_a_file_gives_fractions_of_texts_back(options, data):
    table = data.draw(text_tables(options))
    saved = TrainedModel(Options(), Schema((Choice("text", table.blocks[0].family, ""),)), table.summary())
    again = store.from_bytes(store.to_bytes(saved))
    assert again == saved
    assert store.to_bytes(again) == store.to_bytes(saved)


@given(data=st.data())
def test_many_classes_are_counted_by_pairs_alike(data):
    """Beyond 32 classes counts live in a hash of pairs, whose units become smaller half way."""
    count = data.draw(st.integers(34, 40))
    lines = data.draw(several(sampled_from(["a b", "a", "b b c", None]), count, count))
    documents, labels = Documents.of(list(lines), "text"), np.arange(count)
    weights = on_grid(np.array(data.draw(several(WEIGHTS, count, count))))
    for options in (TextOptions(), TextOptions(weighting="log"), TextOptions(idf=True)):
        builder, alone = WordTallyBuilder(options, count), WordTallyBuilder(options, count)
        builder.learn(documents, labels, np.zeros(0, dtype=np.int64))
        whole = builder.freeze()
        builder.learn(documents, labels, weights)
        alone.learn(documents, labels, weights)
        assert builder.freeze() - alone.freeze() == whole
        assert whole + alone.freeze() == builder.freeze()


@every_model
@given(data=st.data(), cut=any_cut, smoothing=st.sampled_from([1.0, 0.25, 0.0]))
def test_a_fraction_of_a_text_is_left_out_by_any_recipe(model, cut, data, smoothing):
    assert_refits(data.draw(text_tables(TextOptions(**model, **cut), smoothing)))


@every_model
@given(data=st.data(), cut=any_cut)
def test_halves_are_left_out_of_whole_counts(model, cut, data):
    """The counts are whole, the rows that are taken out of them are not."""
    table = data.draw(text_tables(TextOptions(**model, **cut), weights=HALVES, most=4))
    assert_refits(table.of([*table.rows, *table.rows]))


@every_model
@given(data=st.data(), cut=any_cut)
def test_a_term_matrix_of_fractions_says_what_the_family_says(model, cut, data):
    options = TextOptions(**model, **cut)
    table = data.draw(text_tables(options))
    weighed, expected = matrix_of(table, options).weighed(options.weighting), judged(table)
    assert_alike(weighed.left_out(options.model, [1.0])[0], expected.terms[0])
    assert np.array_equal(weighed.lengths(len(table.rows)), expected.lengths[0])


@every_model
@given(data=st.data(), cut=any_cut)
def test_what_is_strange_without_a_fraction(model, cut, data):
    table = data.draw(text_tables(TextOptions(**model, **cut), least=2))
    (block,), summary, batch = table.blocks, table.summary(), table.batch()
    labels, weights = known_labels(summary, batch), grid_weights(batch)
    leaving = block.family.leave_one_out(summary.statistics[0], block.columns)
    found = leaving.scores(BlockRows.of(block.family, block.columns, batch, labels, weights)).unseen
    for index, row in enumerate(table.rows):
        alone = table.of([row])
        rest = (summary - alone.summary()).statistics[0]
        parameters, values = block.family.fit(rest, block.columns), block.family.view(alone.batch(), block.columns)
        expected = block.family.assess(parameters, values, (1, rest.classes)).unseen
        assert found[index] == pytest.approx(expected[0], abs=1e-7)


@given(weight=st.integers(0, 2**40), amount=st.integers(0, 2**32))
def test_what_a_weighed_text_adds_is_the_nearest_unit(weight, amount):
    nearest = (weight * amount + 2**31) >> 32
    assert weighed_amount(weight, amount, 32) == (max(nearest, 1) if weight and amount else 0)
    assert weighed_amount((weight >> 32) << 32, amount, 32) == (weight >> 32) * amount


@every_recipe
def test_answers_of_texts_are_those_of_counts_in_proportion(options):
    """Without smoothing a quarter of every row says the same."""
    if options.idf or options.min_count > 1:
        pytest.skip("the number of texts is part of the recipe")
    lines = ["a b b the", "the c", "a c c", None, "b the the a", "c"]
    labels = ["x", "y", "x", "y", "y", "x"]
    rows = tuple(Row((line,), label) for line, label in zip(lines, labels, strict=True))
    table = Table((Block(Text(smoothing=0.0, column="text", options=options), ("text",)),), rows)
    light = table.of([replace(row, weight=0.25) for row in rows])
    one, other = (Predictor.fit(some.summary()).joint(table.batch()) for some in (light, table))
    assert np.allclose(one, other, rtol=1e-7, atol=1e-7)


def posts(rng, rows=80):
    """Texts beside numbers, labels, and weights."""
    label = rng.choice(["spam", "ham"], rows)
    words = {"spam": ["win", "money", "now", "the"], "ham": ["lunch", "meeting", "the", "now"]}
    lines = [" ".join(rng.choice(words[key], rng.integers(1, 9))) for key in label]
    return {"subject": lines, "size": rng.normal(3.0 * (label == "spam"), 1.0)}, label, rng.random(rows) * 2


@pytest.mark.parametrize("options", [PLAIN, {}], ids=["plain", "chosen"])
@pytest.mark.parametrize("ledger", [False, True], ids=["plain", "ledger"])
def test_every_verb_takes_fractions_of_texts(options, ledger, tmp_path):
    table, label, weights = posts(np.random.default_rng(7))
    options = {**options, "families": {"subject": "text", "size": "gaussian"}, "ledger": ledger}
    rest = {name: values[60:] for name, values in table.items()}
    model = NaiveBayes(**options).fit(table, label, weights)
    assert model.summary_.statistics[0].bits == 32
    assert np.allclose(model.predict_proba(table).sum(axis=1), 1)
    half = NaiveBayes(**options).fit(table, label, weights).forget(rest, label[60:], weights[60:])
    assert half.partial_fit(rest, label[60:], sample_weight=weights[60:]).summary_ == model.summary_
    judged = model.evaluate(table, label, leave_one_out=True, sample_weight=weights)
    assert judged.rows == pytest.approx(weights.sum())
    assert judged.accuracy > 0.8
    model.save(tmp_path / "m.candide")
    again = load(tmp_path / "m.candide")
    assert again.summary_ == model.summary_
    assert np.array_equal(again.predict_proba(table), model.predict_proba(table))
    assert model.explain(rest)[0] is not None
    with pytest.raises(ForgetRefused):
        model.forget(rest, label[60:], 2 * weights[60:] + 1)


@pytest.mark.parametrize("recipe", [{}, {"weighting": "log", "model": "complement"}], ids=str)
def test_streams_go_on_from_fractions_of_texts(recipe):
    table, label, weights = posts(np.random.default_rng(8), rows=20)
    asked = {**PLAIN, "families": {"subject": "text", "size": "gaussian"}, "text": TextOptions(**recipe)}
    model = NaiveBayes(**asked, ledger=True).fit(table, label, weights)
    before, ledger = model.summary_, model.trained_.ledger
    row = {name: values[0] for name, values in table.items()}
    alone = {name: [value] for name, value in row.items()}
    told = model.predict_proba_one(row)
    assert np.allclose([told[key] for key in model.classes_], model.predict_proba(alone)[0])
    model.learn_one(row, "spam")
    assert model.summary_ == before + Summary.of(before.blocks, Batch.of(alone, ["spam"]))
    told = model.predict_proba_one(row)
    assert np.allclose([told[key] for key in model.classes_], model.predict_proba(alone)[0])
    model.forget_one(row, "spam")
    assert model.summary_ == before
    assert model.trained_.ledger == ledger


def test_choosing_a_recipe_weighs_rows():
    """Rows that weigh next to nothing do not choose."""
    rng = np.random.default_rng(9)
    table, label, _ = posts(rng, rows=120)
    noise = rng.permutation(label)
    lines = [*table["subject"], *table["subject"]]
    weights = np.repeat([1.0, 1e-9], 120)
    model = NaiveBayes(families="text").fit(lines, [*label, *noise], weights)
    quiet = NaiveBayes(families="text").fit(table["subject"], label)
    assert np.abs(model.predict_proba(lines) - quiet.predict_proba(lines)).max() < 0.1
    assert model.score(table["subject"], label) > 0.9


def test_boosting_takes_texts():
    table, label, _ = posts(np.random.default_rng(10), rows=100)
    frame = np.array([table["subject"], [str(round(size)) for size in table["size"]]], dtype=object).T
    boosted = AdaBoostClassifier(NaiveBayes({"x0": "text", "x1": "categorical"}, smoothing="default", calibrate=False))
    assert (boosted.set_params(n_estimators=5).fit(frame, label).predict(frame) == label).mean() > 0.9


def test_texts_that_do_not_fit_are_refused_before_anything_is_counted():
    model = NaiveBayes(**PLAIN).fit(["a text of words", "another one"], ["a", "b"], [2**31, 1])
    before = model.summary_
    with pytest.raises(OverflowRefused):
        model.partial_fit(["more words"], ["a"], sample_weight=[0.5])
    assert model.summary_ == before
    with pytest.raises(OverflowRefused):
        NaiveBayes(families="text").fit(["many many many words"] * 60, ["a", "b"] * 30, [0.5, 2.0**29] * 30)
    heavy = NaiveBayes(**PLAIN).fit(["word " * 10] * 2, ["a", "b"], [0.5, 2.0**26])
    assert heavy.summary_.statistics[0].class_totals.tolist() == [10 * 2**31, 10 * 2**58]
    with pytest.raises(OverflowRefused):
        heavy.partial_fit(["word " * 10], ["a"], sample_weight=[2.0**26 + 0.5])


def test_fractions_of_texts_in_a_file_are_never_forged():
    for recipe in (TextOptions(), TextOptions(weighting="log"), TextOptions(idf=True)):
        schema = Schema((Choice("t", Text(column="t", options=recipe), ""),))
        summary = schema.summarize(Batch.of({"t": ["u v", "v"]}, ["a", "b"], [0.5, 1.0]))
        head, body = parts_of(store.to_bytes(TrainedModel(Options(), schema, summary)))
        start, stop = head["block 0.bits"]["data_offsets"]
        for bits in (0, 31, -1, 2**40):
            with pytest.raises(ModelFileRefused):
                store.from_bytes(forged(head, body[:start] + np.array([bits]).tobytes() + body[stop:]))
        start, stop = head["block 0.documents"]["data_offsets"]
        for documents in ([2**32, 2**32], [0, 2**32], [-1, 2**32], [2**31, 2**33]):
            with pytest.raises(ModelFileRefused):
                store.from_bytes(forged(head, body[:start] + np.array(documents).tobytes() + body[stop:]))
