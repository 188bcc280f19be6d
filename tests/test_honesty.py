"""What a model says of itself is what new rows give: on noise it is the prior, and says so."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest

from candide import NaiveBayes, engines
from candide.api import verbs
from candide.data.batch import Batch
from candide.families.histogram import Histogram
from candide.model.options import Options
from candide.selection.fit_calibration import Calibrating
from candide.selection.fold_choices import FoldChoices, FoldSummaries
from candide.selection.folds import CHOICES, choice_folds, dealt_by_label
from candide.selection.judging import Judging, under_choices
from candide.selection.leave_one_out import LeaveOneOut
from candide.selection.read_off import decisions
from candide.selection.wide_tables import Heard
from candide.training.fit import fit_rows

WORDS = np.array([f"word{index}" for index in range(200)])


def noise(rows: int, columns: int, kind: str, seed: int) -> dict[str, list]:
    """A table, or texts, that tell nothing about the label."""
    rng = np.random.default_rng(seed)
    table: dict[str, list] = {"y": rng.choice(["no", "yes"], rows, p=[0.4, 0.6]).tolist()}
    if kind == "text":
        table["text"] = [" ".join(rng.choice(WORDS, 12)) for _ in range(rows)]
        return table
    for index in range(columns):
        number = rng.normal(size=rows) if index % 3 else rng.exponential(size=rows)
        table[f"c{index}"] = number.tolist() if kind == "numbers" or index % 2 else rng.choice([*"abcd"], rows).tolist()
    return table


SHAPES = [(30, 3, "numbers"), (60, 40, "mixed"), (100, 20, "numbers"), (60, 300, "numbers"), (80, 0, "text")]
WIDER = [(30, 3, "mixed"), (60, 1000, "numbers"), (100, 300, "mixed"), (200, 2000, "numbers"), (400, 0, "text")]
thorough = pytest.mark.skipif(os.environ.get("CANDIDE_THOROUGH") != "1", reason="takes minutes: CANDIDE_THOROUGH=1")


def said_and_lost(rows: int, columns: int, kind: str, seed: int) -> tuple[bool, float]:
    """Whether the interval holds the share of the commonest class, and what fresh rows lose beyond the prior."""
    table = noise(rows + 300, columns, kind, seed)
    fresh = {name: values[rows:] for name, values in table.items()}
    learned = {name: values[:rows] for name, values in table.items()}
    own = np.arange(300), (np.array(fresh.pop("y")) == "yes").astype(int)
    model = NaiveBayes(families={"text": "text"} if kind == "text" else "auto").fit(learned, "y")
    low, high = model.trained_.tuning.quality.interval
    prior = np.tile(model.predictor_.log_prior, (300, 1))
    lost = prior[own].mean() - np.log(model.predict_proba(fresh)[own]).mean()
    return bool(low <= np.exp(prior[0].max()) <= high), float(lost)


@pytest.mark.parametrize(("shapes", "seeds"), [(SHAPES, 2), pytest.param([*SHAPES, *WIDER], 6, marks=thorough)])
def test_on_noise_the_model_is_the_prior_and_says_so(shapes, seeds):
    """The interval holds the share of the commonest class, and fresh rows lose nothing to the prior."""
    trials = [said_and_lost(*shape, 10 * seed + shape[1]) for seed in range(seeds) for shape in shapes]
    held, lost = zip(*trials, strict=True)
    assert np.mean(held) >= 0.9
    assert np.mean(lost) <= 0.02
    assert np.median(lost) <= 1e-9


def said_and_given(rows: int, columns: int, telling: int, seed: int) -> tuple[float, float, bool]:
    """The accuracy said of a model, that of new rows, and whether the interval holds it."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, rows + 3000)
    numbers = rng.normal(size=(rows + 3000, columns)) + 0.5 * labels[:, None] * (np.arange(columns) < telling)
    model = NaiveBayes().fit(numbers[:rows], labels[:rows])
    said, given = model.trained_.tuning.quality, model.score(numbers[rows:], labels[rows:])
    return said.accuracy, given, said.interval[0] <= given <= said.interval[1]


MORE_SHAPES = [pytest.param(shape, 40, marks=thorough) for shape in [(60, 10, 3), (120, 60, 6), (400, 30, 6)]]


@pytest.mark.parametrize(("shape", "draws"), [((120, 24, 3), 16), *MORE_SHAPES])
def test_what_is_said_is_what_new_rows_give(shape, draws):
    """Few columns of many tell a little: rows that had a say in choosing, or in weights, flattered."""
    said, given, held = zip(*(said_and_given(*shape, seed) for seed in range(draws)), strict=True)
    assert np.mean(said) - np.mean(given) < 2 * np.sqrt(0.5 / (draws * shape[0])) + 0.02
    assert np.mean(held) >= 0.875


def test_what_is_said_of_many_classes_is_what_new_rows_give():
    rng = np.random.default_rng(0)
    labels, rows = rng.integers(0, 30, 5000), 2000
    numbers = 1.5 * rng.normal(size=(30, 4))[labels] + rng.normal(size=(5000, 4))
    model = NaiveBayes().fit(numbers[:rows], labels[:rows])
    said, given = model.trained_.tuning.quality, model.score(numbers[rows:], labels[rows:])
    assert said.interval[0] <= given <= said.interval[1]
    chances = model.predict_proba(numbers[rows:])[np.arange(3000), labels[rows:]]
    assert said.log_loss == pytest.approx(-np.log(chances).mean(), abs=0.05)


@pytest.mark.parametrize("option", ["priors", "class_weight"])
def test_what_is_asked_for_as_prior_is_never_taken_back(option):
    """Calibration is fitted as if priors were those of the rows, so others shift answers by the log of the ratio."""
    table = noise(400, 2, "numbers", 3)
    table["c1"] = [value + (label == "yes") for value, label in zip(table["c1"], table["y"], strict=True)]
    asked = {"no": 0.99, "yes": 0.01}
    usual = NaiveBayes().fit(table, "y")
    rare = NaiveBayes(**{option: asked}).fit(table, "y")
    rows = {name: values for name, values in table.items() if name != "y"}
    log_odds = [np.diff(np.log(model.predict_proba(rows)), axis=1)[:, 0] for model in (usual, rare)]
    own = np.exp(usual.predictor_.log_prior)
    before = np.log(own[1] / own[0]) if option == "priors" else 0.0
    np.testing.assert_allclose(log_odds[1] - log_odds[0], np.log(0.01 / 0.99) - before, atol=1e-9)
    assert (rare.predict(rows) == "yes").mean() < 0.05 < (usual.predict(rows) == "yes").mean()


def test_where_nothing_is_known_the_answer_is_the_prior():
    rng = np.random.default_rng(4)
    labels = rng.choice(["ham", "spam"], 200, p=[0.7, 0.3])
    texts = [" ".join([*rng.choice(WORDS[:30], 5), *(["prize"] if one == "spam" else [])]) for one in labels]
    model = NaiveBayes().fit({"text": texts, "size": rng.normal(size=200) + (labels == "spam"), "y": labels}, "y")
    prior = np.exp(model.predictor_.log_prior)
    assert model.predictor_.calibration is not None
    assert model.predictor_.calibration.biases(model.predictor_.classes).any()
    for text in ("", "never seen before"):
        asked = {"text": [text], "size": [None]}
        np.testing.assert_allclose(model.predict_proba(asked)[0], prior, rtol=1e-12)
        assert not model.explain(asked)[0].bias.any()
    model.learn_one({"text": texts[0], "size": 1.0}, labels[0])
    chances = model.predict_proba_one({"text": "", "size": None})
    counts = np.array([(labels == name).sum() + (labels[0] == name) for name in ("ham", "spam")])
    np.testing.assert_allclose([chances["ham"], chances["spam"]], counts / 201, rtol=1e-12)


def test_columns_that_tell_nothing_have_no_weight():
    table = noise(400, 6, "numbers", 5)
    table["c0"] = [value + 2.0 * (label == "yes") for value, label in zip(table["c0"], table["y"], strict=True)]
    weight = NaiveBayes().fit(table, "y").predictor_.calibration.weight
    assert weight["c0"] > 0.5
    assert sum(value == 0.0 for value in weight.values()) >= 2


def test_the_last_digit_of_a_column_deals_no_row_anew():
    table = noise(150, 4, "numbers", 6)
    table["c1"] = [value + (label == "yes") for value, label in zip(table["c1"], table["y"], strict=True)]
    rows = {name: values for name, values in table.items() if name != "y"}
    before = NaiveBayes().fit(table, "y").predict_proba(rows)
    for name in rows:
        nudged = {**table, name: np.nextafter(table[name], np.inf).tolist()}
        after = NaiveBayes().fit(nudged, "y").predict_proba({key: nudged[key] for key in rows})
        np.testing.assert_allclose(after, before, atol=1e-6)


def test_zeros_a_unit_below_zero_are_zeros():
    rng = np.random.default_rng(0)
    labels = rng.choice(["a", "b"], 200)
    paid = np.where(rng.random(200) < 0.3, 0.0, rng.exponential(np.where(labels == "a", 1.0, 3.0)))
    table = {"paid": paid, "size": rng.normal(size=200)}
    below = {**table, "paid": np.where(paid == 0, np.nextafter(0.0, -1.0), paid)}
    model, nudged = (NaiveBayes().fit(rows, labels) for rows in (table, below))
    assert nudged.trained_ == model.trained_
    assert (nudged.predict_proba(below) == model.predict_proba(table)).all()
    rows = [dict(zip(below, map(float, row), strict=True)) for row in zip(*below.values(), strict=True)]
    assert [*nudged.predict_proba_one(rows[0]).values()] == pytest.approx(model.predict_proba(table)[0], abs=1e-9)
    nudged.learn_one(rows[0], "a")
    model.learn({name: values[:1] for name, values in table.items()}, ["a"])
    assert nudged.trained_.summary == model.trained_.summary


def test_every_row_is_judged_by_families_chosen_without_it():
    """The slow twin: fit the other folds, and see which families win."""
    table = noise(200, 4, "numbers", 7)
    batch = Batch.of({name: values for name, values in table.items() if name != "y"}, table["y"])
    trained = fit_rows(Options(), batch)
    decided = decisions(trained.summary, trained.schema, trained.options, engines.named())
    apart = FoldSummaries.of(trained.summary, trained.schema, batch, trained.options, engines.named())
    choices = FoldChoices.of(decided, apart, Heard(), engines.named())
    assert np.array_equal(choices.folds, dealt_by_label(batch.labels.codes))
    for fold, families in enumerate(choices.families):
        others = fit_rows(Options(calibrate=False), batch.take(np.flatnonzero(choices.folds % CHOICES != fold)))
        for choice in others.schema.choices:
            if families.get(choice.column) is not None and not choice.rule:
                assert families[choice.column].name == choice.family.name


@pytest.mark.parametrize("deal", [1, 2])
def test_another_deal_parts_rows_that_shared_a_fold(deal):
    """And every fold still has about the same share of each class."""
    labels = np.random.default_rng(3).integers(0, 3, 500)
    first, other = dealt_by_label(labels) % CHOICES, dealt_by_label(labels, deal) % CHOICES
    shared = np.histogram2d(first, other, bins=CHOICES)[0]
    assert np.abs(shared - len(labels) / CHOICES**2).max() <= 5
    for label in range(3):
        assert np.ptp(np.bincount(other[labels == label], minlength=CHOICES)) <= 2


def test_left_out_figures_say_that_choices_are_fixed():
    table = noise(120, 3, "numbers", 8)
    found = verbs.evaluate(verbs.fit(table, "y"), table, leave_one_out=True)
    assert "chosen from these rows" in found.notes[0]
    fixed = verbs.evaluate(verbs.fit(table, "y", families="guess", smoothing="default", calibrate=False), table,
                           leave_one_out=True)  # fmt: skip
    assert not fixed.notes


def test_a_class_whose_only_row_is_in_one_fold_is_no_obstacle():
    """Without that fold there is one class, and nothing to tell; the loss used to be no number."""
    table = noise(120, 3, "numbers", 9)
    table["y"] = ["no"] * 119 + ["yes"]
    found = NaiveBayes().fit(table, "y").trained_.tuning.quality
    assert np.isfinite(found.log_loss)
    assert found.accuracy >= 119 / 120 - 1e-9


def test_no_fold_is_known_to_what_judges_it():
    """Other labels in a fold change nothing about how its rows are weighed, but for families chosen with them."""
    table = noise(120, 4, "numbers", 10)
    table["c1"] = [value + (label == "yes") for value, label in zip(table["c1"], table["y"], strict=True)]
    rows = {name: values for name, values in table.items() if name != "y"}
    fixed = Options(families="guess")
    batch = Batch.of(rows, table["y"])
    trained = fit_rows(fixed, batch)
    folds = FoldChoices(dealt_by_label(batch.labels.codes))
    here = choice_folds(folds.folds)[2]
    turned = np.array(table["y"])
    turned[here] = np.where(turned[here] == "yes", "no", "yes")
    other = Batch.of(rows, turned.tolist())
    found = []
    for some in (batch, other):
        again = fit_rows(fixed, some)
        leaving = LeaveOneOut.of(again.reading, some, everyone=some)
        calibrating = Calibrating.of(leaving.left_out(), again.reading.classes, again.reading.blocks)
        apart = list(Judging(again.reading, trained.schema, leaving, folds, engines.named(), calibrating).apart())
        found.append({tuple(rows.tolist()): calibration for rows, calibration in apart})
    assert found[0][tuple(here.tolist())] == found[1][tuple(here.tolist())]
    assert found[0] != found[1]


def test_blocks_are_asked_only_of_rows_that_they_judge():
    """A histogram that only some choices have is fitted without folds of their rows alone, with the same answers."""
    rng = np.random.default_rng(6)
    labels, numbers = rng.integers(0, 2, 200), rng.normal(size=(2, 200))
    batch = Batch.of({"a": numbers[0] + labels, "b": numbers[1]}, [f"c{label}" for label in labels])
    trained = fit_rows(Options(families="guess"), batch)
    bins = {name: Histogram().fitted_to(batch.numbers([name])[:, 0], name) for name in ("a", "b")}
    families = tuple({"a": bins["a"], "b": bins["b"] if fold < 2 else None} for fold in range(CHOICES))
    choices = FoldChoices(dealt_by_label(batch.labels.codes), families)
    judged = choices.folds_judged(trained.schema, ())
    assert [block.columns for block in judged] == [("b",)]
    leaving, asked = LeaveOneOut.of_labels(batch), choices.judging(trained.schema)
    found = under_choices(leaving, choices, trained.schema, asked, engines.named())
    plain = leaving.in_folds(asked, None, choices.folds)
    assert (choices.joined(trained.schema, asked, plain, found.prior).terms == found.terms).all()
    assert not choices.folds_judged(trained.schema, asked)


@pytest.mark.parametrize(("dependence", "most"), [("none", 1.0), ("auto", 2.0)])
def test_no_value_is_believed_more_than_its_counts_say(dependence, most):
    """A table that follows a rule: a larger weight would lower the loss further. Beside pairs it may be twice that."""
    rng = np.random.default_rng(8)
    table = {f"c{index}": rng.choice(["on", "off"], 600) for index in range(6)}
    table["y"] = np.where((table["c0"] == "on") | (table["c1"] == "on"), "yes", "no")
    model = NaiveBayes(dependence=dependence).fit(table, "y")
    assert max(model.predictor_.calibration.weight.values()) <= most
    for explanation in model.explain({name: values[:20] for name, values in table.items() if name != "y"}):
        for term in explanation.terms:
            assert np.ptp(term.reported) < math.log(600) + 4
