"""Choosing the recipe of a text column by leave-one-out, and models that read a text more than once."""

from __future__ import annotations

import numpy as np
import pytest

from candide import NaiveBayes, TextOptions, load
from candide.data.batch import Batch
from candide.families.text import Text
from candide.families.words.options import AUTO
from candide.model.options import Options
from candide.store.model_file import canonical_bytes
from candide.training.fit import fit_rows

OPEN = TextOptions(ngrams=AUTO, weighting=AUTO, model=AUTO)


def corpus(rows=240, classes=3, seed=0):
    """Texts whose order of words tells some classes apart, and whose words tell others."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, rows)
    texts = []
    for label in labels:
        pair = "not good" if label == 0 else "good not"
        topic = rng.choice(["film", "plot"] if label < 2 else ["goal", "match"])
        noise = rng.choice([f"word{i}" for i in range(30)], 4)
        texts.append(" ".join([*noise[:2], pair, str(topic), *noise[2:]]))
    return texts, [f"class {label}" for label in labels]


@pytest.fixture(scope="module")
def fitted():
    return NaiveBayes().fit(*corpus())


def families_of(model):
    choice = model.schema_.choices[0]
    return choice.family, *choice.auxiliary


def test_pairs_are_read_where_order_matters(fitted):
    main, *auxiliary = families_of(fitted)
    assert (main.options.shortest, main.options.longest, main.is_auxiliary) == (1, 1, False)
    assert "2-grams" in [family.aspect for family in auxiliary]
    assert all(family.is_auxiliary and not family.is_likelihood for family in auxiliary)
    assert fitted.evaluate(*corpus(seed=1)).accuracy > 0.95
    assert "left-out accuracy" in fitted.schema_.explain()


def test_every_reading_is_a_block_with_a_name_of_its_own(fitted):
    keys = [block.key for block in fitted.trained_.schema.blocks]
    assert keys[0] == "text"
    assert len(set(keys)) == len(keys) > 1
    assert set(fitted.trained_.tuning.calibration.weight) == set(keys)


def test_few_rows_choose_nothing():
    texts, labels = corpus(49)
    assert families_of(NaiveBayes().fit(texts, labels)) == (Text(column="text"),)
    assert families_of(NaiveBayes(text=OPEN).fit(texts, labels)) == (Text(column="text"),)


def test_one_class_chooses_nothing():
    texts, _ = corpus()
    with pytest.warns(UserWarning, match="only one class"):
        model = NaiveBayes().fit(texts, ["x"] * len(texts))
    assert families_of(model) == (Text(column="text"),)


def test_partial_fit_and_streams_take_auto_as_the_default():
    texts, labels = corpus()
    assert families_of(NaiveBayes(text=OPEN).partial_fit(texts, labels)) == (Text(column="text"),)
    assert families_of(NaiveBayes(text=OPEN).learn_one(texts[0], labels[0])) == (Text(column="text"),)


def test_auto_resolves_to_the_defaults():
    assert OPEN.definite() == TextOptions()
    assert Text(options=OPEN) == Text()
    assert TextOptions(weighting=AUTO, model="bernoulli").definite().weighting == "presence"
    assert TextOptions(ngrams=AUTO, shortest=2).definite().ngrams == 2


def test_a_recipe_given_by_hand_stays():
    texts, labels = corpus()
    given = TextOptions(weighting="log", model="complement")
    (family,) = families_of(NaiveBayes(text=given).fit(texts, labels))
    assert family.options == given
    (family,) = families_of(NaiveBayes(text=given, smoothing=0.7).fit(texts, labels))
    assert (family.options, family.smoothing) == (given, 0.7)
    by_hand = Text(0.4, "text", TextOptions(ngrams=2))
    assert families_of(NaiveBayes(families={"text": by_hand}).fit(texts, labels)) == (by_hand,)


def test_what_is_left_open_is_chosen():
    texts, labels = corpus()
    main, *auxiliary = families_of(NaiveBayes(text=TextOptions(weighting="presence", ngrams=AUTO)).fit(texts, labels))
    assert {family.options.weighting for family in (main, *auxiliary)} == {"presence"}
    assert all(family.options.model == "multinomial" for family in (main, *auxiliary))
    assert {family.smoothing for family in families_of(NaiveBayes(smoothing=0.5).fit(texts, labels))} == {0.5}


def test_without_calibration_there_is_one_reading():
    texts, labels = corpus()
    model = NaiveBayes(calibrate=False).fit(texts, labels)
    (family,) = families_of(model)
    assert family.options.longest == 2
    assert model.evaluate(*corpus(seed=1)).accuracy > 0.9


def test_the_order_of_rows_is_moot(fitted):
    texts, labels = corpus()
    order = np.random.default_rng(5).permutation(len(texts))
    other = NaiveBayes().fit([texts[i] for i in order], [labels[i] for i in order])
    mine, theirs = (canonical_bytes(model.trained_) for model in (fitted, other))
    assert mine == theirs


def test_a_saved_model_says_the_same(fitted, tmp_path):
    fitted.save(tmp_path / "text.candide")
    again = load(tmp_path / "text.candide")
    assert again.schema_ == fitted.schema_
    asked = corpus(seed=2)[0]
    assert np.array_equal(again.predict_proba(asked), fitted.predict_proba(asked))


def test_a_stream_says_what_the_model_says():
    texts, labels = corpus()
    model = NaiveBayes().fit(texts, labels).learn_one("not good new film", "class 0")
    assert len(families_of(model)) > 1
    asked = [*corpus(20, seed=3)[0], "unknown words only", ""]
    table = model.predict_proba(asked)
    for row, text in enumerate(asked):
        assert list(model.predict_proba_one(text).values()) == pytest.approx(table[row], abs=1e-9)
        assert model.predict_one(text) == model.predict([text])[0]


def test_explanations_of_all_readings_add_up(fitted):
    asked = corpus(5, seed=4)[0]
    for row, explanation in enumerate(fitted.explain(asked)):
        assert explanation.joint == pytest.approx(fitted.predict_joint_log_proba(asked)[row], abs=1e-9)
        assert any("(2-grams)" in term.feature for term in explanation.terms)


def test_texts_are_drawn_from_the_first_reading(fitted):
    drawn = fitted.sample(4, seed=0).column("text").to_pylist()
    assert all(isinstance(text, str) and text for text in drawn)


def test_the_likelihood_is_that_of_the_first_reading(fitted):
    asked = corpus(6, seed=6)[0]
    alone = NaiveBayes(families={"text": families_of(fitted)[0]}, calibrate=False).fit(*corpus())
    assert fitted.score_samples(asked) == pytest.approx(alone.score_samples(asked), abs=1e-9)


def test_learning_more_keeps_the_recipe(fitted):
    texts, labels = corpus()
    more, theirs = corpus(30, seed=7)
    model = NaiveBayes().fit(texts, labels).partial_fit(more, theirs)
    assert model.schema_ == fitted.schema_
    assert model.trained_.tuning == fitted.trained_.tuning
    assert model.forget(more, theirs).summary_ == fitted.summary_


def test_unknown_words_are_unfamiliar(fitted):
    decided = fitted.decide(["qwe rty uio pas dfg", *corpus(20, seed=8)[0]], confidence=0.0)
    assert decided[0] == "unfamiliar"
    assert (decided[1:] != "unfamiliar").mean() > 0.8


def test_a_text_beside_other_columns_is_chosen_for_alone():
    texts, labels = corpus()
    numbers = np.random.default_rng(9).normal(size=len(texts))
    model = NaiveBayes().fit({"size": numbers, "body": texts}, labels)
    choice = next(choice for choice in model.schema_.choices if choice.column == "body")
    assert choice.family.column == "body"
    assert choice.auxiliary
    rows = {"size": numbers[:5], "body": texts[:5]}
    assert model.predict_proba(rows).sum(axis=1) == pytest.approx(1.0)


@pytest.mark.parametrize("options", [{"ngrams": 1, "shortest": 2}, {"shortest": 0}, {"ngrams": "many"}], ids=str)
def test_runs_that_make_no_sense_are_refused(options):
    from candide.data.errors import OptionRefused

    with pytest.raises(OptionRefused):
        TextOptions(**options)


def separable(rows, words):
    """Texts of two classes that share no word which tells, beside words that do not."""
    rng = np.random.default_rng(0)
    told = [[f"{kind}{i}" for i in range(30)] + [f"z{i}" for i in range(30)] for kind in "ab"]
    return [" ".join(rng.choice(told[row % 2], words)) for row in range(rows)], [row % 2 for row in range(rows)]


@pytest.mark.parametrize(("rows", "words"), [(60, 5), (60, 300), (400, 20)])
def test_texts_that_can_be_told_apart_have_sane_odds(rows, words):
    """However sure leave-one-out is, and however short a text: rows that never failed say so much, and no more."""
    texts, labels = separable(rows, words)
    chances = NaiveBayes().fit(texts, labels).predict_proba([*texts, "a1", "a1 a2", "b1 b2 b3"])
    assert np.abs(np.log(chances[:, 0] / chances[:, 1])).max() < 15 + 2 * np.log(rows)
    assert np.log(chances[-3, 0] / chances[-3, 1]) < 3 + np.log(rows)


@pytest.mark.parametrize("source", [corpus(), separable(60, 5), separable(60, 60)], ids=["order", "short", "long"])
def test_a_term_says_no_more_than_its_counts_support(source):
    """Seen at most n times: within a few nats of log(n), whatever calibration made of it."""
    texts, labels = source
    model = NaiveBayes().fit(texts, labels)
    words = sorted({word for text in texts[:20] for word in text.split()})
    for explanation in model.explain([*texts[:10], *words[:10], " ".join(words[:2])]):
        for term in explanation.terms:
            assert np.ptp(term.reported) <= np.log(len(texts)) + 6


def test_labels_dealt_at_random_leave_the_prior():
    """Nothing can be learned from them, and the best of many recipes must not pretend that there is."""
    gaps = []
    for seed in range(4):
        texts, labels = corpus(160, seed=seed)
        labels = np.random.default_rng(seed).permutation(labels)
        model = NaiveBayes().fit(texts[:100], labels[:100])
        own = [list(model.classes_).index(label) for label in labels[100:]]
        prior = np.log([(labels[:100] == key).mean() for key in model.classes_])
        said = np.log(model.predict_proba(texts[100:])[np.arange(60), own])
        gaps.append(prior[own].mean() - said.mean())
    assert np.mean(gaps) < 0.02


def test_the_recipe_of_a_long_source_comes_from_all_of_it():
    """The first rows of a sorted file are of one class: what suits them is not what suits all."""
    texts, labels = corpus()
    by_class = sorted(zip(labels, texts, strict=True))
    rows = Batch.of({"text": [text for _, text in by_class]}, [label for label, _ in by_class])
    several = [rows.rows(first, first + 40) for first in range(0, len(rows), 40)]
    samples = several[0], rows.take(np.arange(0, 240, 5))
    models = [fit_rows(Options(), sample, lambda: iter(several)) for sample in samples]
    assert len(models[0].schema.choices[0].families) > 1
    assert canonical_bytes(models[0]) == canonical_bytes(models[1])
