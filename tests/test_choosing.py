"""What fit chooses by leaving rows out: sensible, the same in any order, and nothing where nothing is open."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from candide import NaiveBayes, families, load
from candide.data.batch import Batch
from candide.kernels.calibrating import Coefficients, Scored, loss_and_slope
from candide.model.calibration import IDENTITY
from candide.model.predictor import Predictor, log_sum
from candide.model.tuning import UNTUNED
from strategies import PLAIN

ROWS = 400


def frame(seed: int = 0, rows: int = ROWS) -> pd.DataFrame:
    """A bell, clusters that alternate between the classes, a category, and a copy of the bell."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, rows)
    bell = rng.normal(label, 1.0)
    return pd.DataFrame({
        "bell": bell,
        "clusters": 10.0 * (2 * rng.integers(0, 3, rows) + label) + rng.normal(0, 0.5, rows),
        "colour": np.where(rng.random(rows) < 0.2 + 0.5 * label, "red", "green"),
        "copy": bell + rng.normal(0, 1e-3, rows),
        "label": np.where(label, "yes", "no"),
    })  # fmt: skip


@pytest.fixture(scope="module")
def chosen() -> NaiveBayes:
    return NaiveBayes(families={"copy": "ignore"}).fit(frame(), "label")


def family(model: NaiveBayes, column: str) -> str:
    return next(choice.family.name for choice in model.schema_.choices if choice.column == column)


def test_numbers_without_a_bell_get_a_histogram(chosen):
    assert family(chosen, "clusters") == "histogram"
    assert "log loss" in chosen.schema_.explain()


def test_rows_in_any_order_give_the_same_bits(chosen):
    table = frame().sample(frac=1, random_state=1)
    other = NaiveBayes(families={"copy": "ignore"}).fit(table, "label")
    assert other.schema_ == chosen.schema_
    assert other.trained_.tuning == chosen.trained_.tuning
    assert np.array_equal(other.predict_proba(frame()), chosen.predict_proba(frame()))


@pytest.mark.parametrize(("rows", "measured"), [(12, False), (49, True)])
def test_few_rows_have_bells_of_one_width_and_the_usual_weights(rows, measured):
    """Below fifty rows no families are compared; below twenty of two classes nothing is measured on them."""
    model = NaiveBayes().fit(frame(rows=rows), "label")
    plain = NaiveBayes(**PLAIN).fit(frame(rows=rows), "label")
    numbers = {choice.column for choice in plain.schema_.choices if choice.family.reads == "number"}
    assert {choice.column for choice in model.schema_.choices if choice.family.name == "gaussian_tied"} == numbers
    weight, tuning = set(model.predictor_.calibration.weight.values()), model.trained_.tuning
    assert 0.0 < max(weight) < 1.0
    assert (tuning.quality is not None) == (len(weight) > 1) == measured


def test_the_usual_weights_are_those_of_their_rows():
    """They were measured on none, so they go when rows come; and whoever names families gets a textbook's answers."""
    table, more = frame(rows=12), frame(rows=30)[12:]
    model = NaiveBayes().fit(table, "label")
    assert model.predictor_.calibration is not None
    assert model.partial_fit(more, "label").predictor_.calibration is None
    assert NaiveBayes(families="guess").fit(table, "label").predictor_.calibration is None
    assert NaiveBayes().fit(table[:8], "label").predictor_.calibration is None


def families_of(model):
    return [(choice.column, choice.family, choice.reason) for choice in model.schema_.choices]


def test_what_is_fixed_by_hand_is_not_chosen():
    model = NaiveBayes("guess", "default", calibrate=False).fit(frame(), "label")
    assert model.trained_.tuning == UNTUNED
    given = families.named("gaussian", smoothing=0.25)
    model = NaiveBayes({"clusters": given}, smoothing=2.0, calibrate=False).fit(frame(), "label")
    assert next(c.family for c in model.schema_.choices if c.column == "clusters") == given
    assert next(c.family.smoothing for c in model.schema_.choices if c.column == "colour") == 2.0


def test_partial_fit_reads_families_off_and_calibrates_nothing():
    table = frame()
    begun = NaiveBayes().partial_fit(table[:30], "label").partial_fit(table[30:], "label")
    assert begun.trained_.tuning == UNTUNED
    assert begun.schema_ == NaiveBayes().partial_fit(table, "label").schema_
    assert {choice.column: choice.family.name for choice in begun.schema_.choices}["clusters"] == "histogram"


def test_learning_more_reads_families_anew_and_keeps_calibration(chosen):
    model = NaiveBayes(families={"copy": "ignore"}).fit(frame(), "label")
    model.partial_fit(frame(seed=1), "label")
    assert model.trained_.tuning == chosen.trained_.tuning
    assert model.schema_ != chosen.schema_
    model.forget(frame(seed=1), "label")
    assert model.trained_ == chosen.trained_
    assert np.array_equal(model.predict_proba(frame()), chosen.predict_proba(frame()))


def test_models_fitted_alike_add_up(chosen):
    more = frame(seed=1)
    other = NaiveBayes(families={"copy": "ignore"}).fit(more, "label", like=chosen)
    both = NaiveBayes(families={"copy": "ignore"}).fit(pd.concat([frame(), more]), "label", like=chosen)
    assert (chosen + other).summary_ == both.summary_
    assert np.array_equal((chosen + other).predict_proba(more), both.refit().predict_proba(more))


def test_what_was_chosen_is_saved(chosen, tmp_path):
    chosen.save(tmp_path / "model.candide")
    again = load(tmp_path / "model.candide")
    assert again.trained_.tuning == chosen.trained_.tuning
    assert np.array_equal(again.predict_proba(frame()), chosen.predict_proba(frame()))
    assert np.array_equal(again.decide(frame()), chosen.decide(frame()))


def test_calibration_repairs_counting_twice():
    """Two copies of a column make plain naive Bayes too sure; weights on left-out rows make up for it."""
    table, test = frame(), frame(seed=5, rows=4000)
    columns = ["bell", "copy"]
    models = {on: NaiveBayes("gaussian", calibrate=on).fit(table[columns], table["label"]) for on in (False, True)}
    chances = {on: model.predict_proba(test[columns]) for on, model in models.items()}
    own = (test["label"] == "yes").to_numpy().astype(int)
    loss = {name: -np.log(chance[np.arange(len(own)), own]).mean() for name, chance in chances.items()}
    assert loss[True] < loss[False] - 0.05


def test_one_row_is_answered_as_many_are(chosen):
    table = frame(seed=3, rows=5).drop(columns=["label", "copy"])
    expected = chosen.predict_proba(table)
    for index, row in enumerate(table.to_dict("records")):
        said = chosen.predict_proba_one(row)
        assert list(said.values()) == pytest.approx(expected[index], abs=1e-9)


def test_raw_scores_are_never_calibrated(chosen):
    model = chosen.predictor_
    assert model.calibration is not None
    assert model.calibration != IDENTITY
    table = frame().drop(columns="label")
    raw = Predictor.fit(chosen.trained_.reading)
    assert np.array_equal(chosen.predict_joint_log_proba(table), raw.joint(Batch.of(table)))
    assert np.array_equal(chosen.score_samples(table), log_sum(raw.log_likelihood(Batch.of(table))))


@pytest.mark.parametrize("confidence", [0.6, 0.8, 0.9, 0.95])
def test_of_what_is_answered_the_asked_share_is_right(chosen, confidence):
    test = frame(seed=9, rows=3000)
    decided = chosen.decide(test.drop(columns="label"), confidence=confidence)
    answered = ~np.isin(decided.astype(str), ["unsure", "unfamiliar"])
    assert answered.mean() > 0.1
    assert (decided[answered] == test["label"].to_numpy()[answered]).mean() > confidence - 0.03


def test_strange_rows_are_unfamiliar_and_usual_ones_are_not(chosen):
    test = frame(seed=9, rows=3000).drop(columns="label")
    usual = chosen.decide(test, confidence=0.0)
    assert (usual == "unfamiliar").mean() < 0.03
    strange = test.head(5).assign(bell=1e6)
    assert (chosen.decide(strange, confidence=0.0) == "unfamiliar").all()
    unknown = pd.DataFrame({"bell": [None], "clusters": [None], "colour": ["never seen"]}, dtype=object)
    assert chosen.decide(unknown, confidence=0.0).tolist() == ["unfamiliar"]


@pytest.mark.parametrize("declared", [False, True])
def test_whole_numbers_that_only_tell_together_share_a_bell(declared):
    """Each of two digits alone says nothing, their difference everything: unless they are declared to be names."""
    rng = np.random.default_rng(0)
    label, first = rng.integers(0, 2, 600), rng.integers(2, 12, 600)
    table = pd.DataFrame({"first": first, "second": first + np.where(label == 1, 2, -2)})
    model = NaiveBayes().fit(table.astype("category") if declared else table, label)
    shared = {choice.family.name.startswith("gaussian_") for choice in model.schema_.choices}
    assert shared == {not declared}
    assert (model.score(table, label) == 1.0) == (not declared)


def rounded(margin):
    """The mean of max(0, margin) within a tenth of a nat on either side, as its integral has it."""
    return (np.maximum(margin + 0.1, 0) ** 2 - np.maximum(margin - 0.1, 0) ** 2) / 0.4


def slow_loss(terms, start, logs, bias, weight, power, labels, row_weights, label_smoothing):
    """The twin of the kernel: scores, softmax and label smoothing as the formulas have them."""
    scores = start + bias + np.einsum("br,brc->rc", weight[:, None] * np.exp(-power[:, None] * logs), terms)
    own = scores[np.arange(len(labels)), labels]
    surprise = np.log(np.exp(scores - scores.max(axis=1, keepdims=True)).sum(axis=1)) + scores.max(axis=1) - own
    others = np.arange(scores.shape[1]) != labels[:, None]
    margins = (others * (rounded(own[:, None] - scores) - rounded(own[:, None] - scores - 10))).sum(axis=1)
    return float(row_weights @ (surprise + label_smoothing * margins))


def test_the_loss_of_a_calibration_and_its_slopes_are_those_of_the_formula():
    rng = np.random.default_rng(0)
    rows, blocks, classes = 40, 3, 4
    terms, start = rng.normal(size=(blocks, rows, classes)) * 5, rng.normal(size=(rows, classes))
    logs, labels = rng.normal(size=(blocks, rows)), rng.integers(0, classes, rows)
    row_weights, label_smoothing = rng.integers(0, 3, rows) * 1.0, rng.random(rows) / 10
    point = np.concatenate([rng.normal(size=classes), rng.normal(size=blocks) / 3, [0.0, 0.4, -0.2]])

    def slow(at):
        bias, log_weight, power = np.split(at, [classes, classes + blocks])
        return slow_loss(terms, start, logs, bias, np.exp(log_weight), power, labels, row_weights, label_smoothing)

    bias, log_weight, power = np.split(point, [classes, classes + blocks])
    slopes = Coefficients(np.zeros(classes), np.zeros(blocks), np.zeros(blocks))
    informed, has_length = np.ones(rows), np.ones(blocks, dtype=bool)
    ends, cells = np.arange(rows + 1) * classes, (terms.reshape(blocks, -1), start.ravel())
    which, own = np.tile(np.arange(classes, dtype=np.int32), rows), ends[:-1] + labels
    scored = Scored(*cells, which, ends, own, logs, row_weights, label_smoothing, informed, has_length)
    at = Coefficients(bias, np.exp(log_weight), power)
    found = loss_and_slope(scored, at, 0, rows, slopes)
    assert found == pytest.approx(slow(point), rel=1e-12)
    expected = [(slow(point + step) - slow(point - step)) / 2e-6 for step in np.eye(len(point)) * 1e-6]
    assert np.concatenate(slopes) == pytest.approx(expected, abs=1e-5)


def test_few_rows_that_can_be_told_apart_do_not_give_certainty():
    """Sixty messages are all right when left out, which says nothing against an error in about sixty."""
    lines = (Path(__file__).parents[1] / "examples" / "messages.jsonl").read_text().splitlines()
    texts, labels = zip(*((one["text"], one["label"]) for one in map(json.loads, lines)), strict=True)
    model = NaiveBayes().fit(texts, labels)
    assert model.trained_.tuning.quality.accuracy > 0.95
    assert model.predict_proba(texts).min() > 1e-7
