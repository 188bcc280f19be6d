"""A linear layer on texts: fitted to the least loss, kept beside the counts, in every face, and explained exactly."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import candide
from candide import NaiveBayes, TextOptions
from candide.data.batch import Batch
from candide.data.errors import OptionRefused
from candide.families.words.event_models import NO_INTEGERS
from candide.families.words.linear_text import LinearParameters, LinearTerms
from candide.kernels.linear_refining import RowClasses, TermRows, add_layer, visit_rows
from candide.store.model_file import canonical_bytes, from_bytes, to_bytes

WORDS = ["plum", "fig", "pear", "kiwi", "lime", "date", "sloe", "nut", "oat", "rye", "corn", "pea"]


def texts_that_repeat_themselves(rows: int, seed: int = 7) -> tuple[list[str], list[str]]:
    """Texts in which six words of a crowd stand together and tell little, and one word tells much.

    Naive Bayes hears the crowd six times.
    """
    random = np.random.default_rng(seed)
    sweet, crowded, told = random.random(rows) < 0.5, random.random(rows), random.random(rows)
    texts = []
    for own, crowd, tell in zip(sweet, crowded, told, strict=True):
        words = ["plum fig pear kiwi lime date" if own == (crowd < 0.62) else "sloe nut oat"]
        words += [("rye" if own == (tell < 0.9) else "corn") if tell < 0.95 else "pea", *random.choice(WORDS, 2)]
        texts.append(" ".join(words))
    return texts, np.where(sweet, "sweet", "plain").tolist()


@pytest.fixture(scope="module")
def rows() -> tuple[list[str], list[str]]:
    return texts_that_repeat_themselves(600)


@pytest.fixture(scope="module")
def model(rows: tuple[list[str], list[str]]) -> NaiveBayes:
    texts, labels = rows
    return NaiveBayes(refine="linear").fit({"text": texts}, labels)


def slow_layer(table: np.ndarray, start: np.ndarray, labels: np.ndarray, strength: float) -> np.ndarray:
    """The least penalised log loss, by a general search over all weights."""
    shape = table.shape[1], start.shape[1]
    own = np.eye(shape[1])[labels]

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        added = flat.reshape(shape)
        scores = start + table @ added
        behind = scores - scores.max(axis=1, keepdims=True)
        log_chance = behind - np.log(np.exp(behind).sum(axis=1, keepdims=True))
        slope = table.T @ (np.exp(log_chance) - own) + strength * added
        return float(-(own * log_chance).sum() + strength / 2 * (added**2).sum()), slope.ravel()

    found = minimize(loss, np.zeros(shape).ravel(), jac=True, method="L-BFGS-B", options={"gtol": 1e-9, "ftol": 1e-15})
    return found.x.reshape(shape)


@pytest.mark.parametrize(("classes", "strength"), [(2, 1.0), (2, 0.05), (4, 0.5), (4, 0.02)])
def test_visits_lead_to_the_least_loss(classes: int, strength: float) -> None:
    random = np.random.default_rng(classes)
    table = random.random((80, 12)) * (random.random((80, 12)) < 0.4)
    start, labels = random.normal(0, 1, (80, classes)), random.integers(0, classes, 80)
    row, term = np.nonzero(table)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=80))]).astype(np.int64)
    terms = TermRows(indptr, term.astype(np.int32), table[row, term])
    every = np.arange(0, 80 * classes + 1, classes)
    probable = RowClasses(
        every, np.tile(np.arange(classes, dtype=np.int32), 80), start.ravel(), np.eye(classes)[labels].ravel()
    )
    added, changes = np.zeros((12, classes)), np.ones(80)
    given = terms, (table**2).sum(axis=1), np.ones(80), probable, np.arange(80)
    farthest = [visit_rows(*given, strength, added, changes, 0.0) for _ in range(4000)]
    assert farthest[-1] < 1e-6 < farthest[0]
    np.testing.assert_allclose(added, slow_layer(table, start, labels, strength), atol=1e-4)
    said = np.zeros((80, classes))
    add_layer(terms, np.arange(80), added, said)
    np.testing.assert_allclose(said, table @ added, atol=1e-12)


def test_texts_that_repeat_themselves_are_judged_better(model: NaiveBayes, rows: tuple[list[str], list[str]]) -> None:
    texts, labels = texts_that_repeat_themselves(1000, seed=8)
    naive = NaiveBayes().fit({"text": rows[0]}, rows[1])
    found = [np.mean(one.predict({"text": texts}) == np.array(labels)) for one in (naive, model)]
    assert found[1] > found[0] + 0.015
    said = model.trained_.tuning.quality
    assert said is not None
    assert abs(said.accuracy - found[1]) < 0.06


def test_auto_takes_no_layer_where_labels_are_noise() -> None:
    texts, _ = texts_that_repeat_themselves(300)
    labels = np.random.default_rng(3).choice(["a", "b"], 300)
    assert NaiveBayes(refine="auto").fit({"text": texts}, labels).trained_.tuning.layer is None


def test_auto_takes_a_layer_that_pays(model: NaiveBayes, rows: tuple[list[str], list[str]]) -> None:
    texts, labels = rows
    found = NaiveBayes(refine="auto").fit({"text": texts}, labels)
    assert found.trained_.tuning.layer == model.trained_.tuning.layer


def test_rows_in_another_order_give_the_same_file(model: NaiveBayes, rows: tuple[list[str], list[str]]) -> None:
    texts, labels = rows
    turned = NaiveBayes(refine="linear").fit({"text": texts[::-1]}, labels[::-1])
    assert canonical_bytes(turned.trained_) == canonical_bytes(model.trained_)


def test_a_file_keeps_the_layer(model: NaiveBayes, rows: tuple[list[str], list[str]]) -> None:
    again = from_bytes(to_bytes(model.trained_))
    assert again == model.trained_
    assert again.tuning.layer is not None
    assert len(again.tuning.layer.columns["text"]) > len(WORDS)
    some = Batch.of({"text": rows[0][:9]})
    np.testing.assert_array_equal(again.predictor.reported(some), model.trained_.predictor.reported(some))


def test_explanations_add_up_to_what_is_predicted(model: NaiveBayes, rows: tuple[list[str], list[str]]) -> None:
    some = {"text": [*rows[0][:5], "", "plum fig", "never seen", None]}
    posterior = model.predict_proba(some)
    for why, chances in zip(model.explain(some), posterior, strict=True):
        total = why.reported_prior + why.bias + sum(term.reported for term in why.terms)
        behind = total - total.max()
        np.testing.assert_allclose(np.exp(behind) / np.exp(behind).sum(), chances, atol=1e-9)
    first = model.explain(some)[0]
    assert any("linear" in term.feature for term in first.terms)
    np.testing.assert_allclose(first.joint, model.predict_joint_log_proba(some)[0], atol=1e-9)
    np.testing.assert_allclose(
        sum(one.reported for one in first.evidence) + first.reported_prior + first.bias, first.reported, atol=1e-9
    )


def test_naive_bayes_itself_is_as_it_was(model: NaiveBayes, rows: tuple[list[str], list[str]]) -> None:
    naive, some = NaiveBayes().fit({"text": rows[0]}, rows[1]), {"text": rows[0][:20]}
    for raw in ("predict_joint_log_proba", "score_samples"):
        np.testing.assert_array_equal(getattr(naive, raw)(some), getattr(model, raw)(some))


def test_a_stream_answers_alike_and_keeps_the_layer(model: NaiveBayes, rows: tuple[list[str], list[str]]) -> None:
    live = from_copy(model)
    for text in (*rows[0][:10], "", "plum fig"):
        batch = dict(zip(model.classes_, model.predict_proba({"text": [text]})[0], strict=True))
        one = live.predict_proba_one({"text": text})
        assert all(abs(one[name] - chance) < 1e-9 for name, chance in batch.items())
    live.learn_one({"text": "plum fig"}, "sweet").learn_one({"text": "new"}, "new")
    assert live.predict_proba_one({"text": "plum fig"}).keys() == {*model.classes_, "new"}
    assert live.trained_.tuning.layer == model.trained_.tuning.layer


def from_copy(model: NaiveBayes) -> NaiveBayes:
    """The same model in other hands."""
    from sklearn.base import clone

    other = clone(model)
    other._become(model.trained_)
    return other


def test_learning_and_merging_keep_it_and_forgetting_prunes_it(
    model: NaiveBayes, rows: tuple[list[str], list[str]]
) -> None:
    texts, labels = rows
    layer = model.trained_.tuning.layer
    assert layer is not None
    more = from_copy(model).partial_fit({"text": ["secret words", "secret words"]}, ["sweet", "sweet"])
    assert more.trained_.tuning.layer == layer
    assert (
        model + NaiveBayes(refine="linear", calibrate=True).fit({"text": texts}, labels)
    ).trained_.tuning.layer == layer
    gone = [index for index, text in enumerate(texts) if "rye" in text]
    less = from_copy(model).forget({"text": [texts[i] for i in gone]}, [labels[i] for i in gone])
    left = less.trained_.tuning.layer
    assert left is not None
    assert not any(b"rye" in word for word in left.columns["text"].words)
    assert any(b"rye" in word for word in layer.columns["text"].words)
    kept = [index for index in range(len(texts)) if index not in {*gone}]
    anew = less.refit({"text": [texts[i] for i in kept]}, [labels[i] for i in kept])
    assert anew.trained_.tuning.layer is not None
    assert anew.trained_.tuning.layer.rows == len(kept)


def test_a_layer_does_not_close_the_arrays_that_other_models_share(model: NaiveBayes) -> None:
    """Kernels would else be compiled anew for all texts that are read after it."""
    from_bytes(to_bytes(model.trained_))
    found = LinearTerms.of([b"bad film", b"good"], np.array([[1, 0], [-2, 2]]))
    for terms in (found, found.kept(np.array([1])), found.relabelled(np.array([0, 1]))):
        LinearParameters.of_layer(terms, TextOptions(), 2)
    assert NO_INTEGERS.flags.writeable


def test_a_class_that_left_takes_its_weights_with_it() -> None:
    found = LinearTerms.of([b"fig", b"pear"], np.array([[1, -1, 0], [0, 0, 5]]))
    assert found.relabelled(np.array([0, 1, -1])) == LinearTerms.of([b"fig"], np.array([[1, -1]]))


def test_what_cannot_be_honoured_is_refused() -> None:
    with pytest.raises(OptionRefused, match="column of text"):
        NaiveBayes(refine="linear").fit({"x": np.arange(60.0)}, ["a", "b"] * 30)
    with pytest.raises(OptionRefused, match="calibration"):
        NaiveBayes(refine="linear", calibrate=False).fit({"text": ["a b"] * 4}, ["a", "b"] * 2)
    with pytest.raises(OptionRefused, match="refine"):
        NaiveBayes(refine="quadratic").fit({"text": ["a b"] * 4}, ["a", "b"] * 2)


def test_inspect_names_it_and_leave_one_out_says_it_is_not_judged(
    model: NaiveBayes, rows: tuple[list[str], list[str]]
) -> None:
    card = candide.inspect(model)["layer"]
    assert card["rows"] == 600
    assert card["terms"]["text"] > len(WORDS)
    judged = model.evaluate({"text": rows[0]}, rows[1], leave_one_out=True)
    assert any("linear layer" in note for note in judged.notes)
