"""Profiles: along every feature they say what the model says there, and how much the feature tells about the class."""

from __future__ import annotations

import calendar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from candide import NaiveBayes, TextOptions, families
from candide.data.batch import Batch
from candide.families.base.competing import CATEGORY
from candide.families.base.density import Density
from candide.families.base.family import Block
from candide.families.base.grid_points import WHOLE_NUMBERS, worth_seeing
from candide.families.base.informative import LEAST_A_CLASS, MOST_A_CLASS, all_pairs, how_telling, most_telling
from candide.families.base.profile import COUNTS, CURVE, EVENTS, STEPS, VALUES, covered, entropy, information
from candide.families.words.informative_words import telling_rows, word_information
from candide.families.words.parameters import TextParameters
from candide.model.calibration import Calibration
from candide.model.predictor import Predictor
from candide.model.summary import Summary
from candide.statistics.word_tally import WordTally
from strategies import CASES, blocks_of, tables

NUMERIC = (CURVE, COUNTS)
DENSE = 1e-9


def model_of(family, columns, labels):
    """A model of one block."""
    return Predictor.fit(Summary.of((Block(family, tuple(columns)),), Batch.of(columns, labels)))


def typical(family, rows=400, seed=0):
    """Two classes of a column that a family suits, drawn from numbers it takes, and the labels."""
    rng = np.random.default_rng(seed)
    low = np.arange(rows) % 2 == 0
    labels = np.where(low, "low", "high").tolist()
    if family.name == "text":
        words = np.array(["ant", "bee", "cat", "dog"])
        chances = ([0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4])
        return [" ".join(rng.choice(words, 6, p=chances[int(flag)])) for flag in low], labels
    if family.name == "bernoulli":
        return (rng.random(rows) < np.where(low, 0.2, 0.7)).astype(int).tolist(), labels
    if family.reads == CATEGORY or not takes(family, 0.5):
        return rng.poisson(np.where(low, 2, 6)).clip(0, getattr(family, "trials", 100)).tolist(), labels
    return rng.gamma(3.0, np.where(low, 1.0, 2.0)).tolist(), labels


def takes(family, number):
    return bool(family.takes(np.array([number]))[0])


def family_named(name):
    return families.named(name, **({"trials": 12} if name == "binomial" else {}))


# What a profile says is what the model says.


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_a_profile_is_sound_whatever_was_learned(case, data):
    """No numbers but numbers, no more told than there is to tell, and one profile for each feature."""
    model = data.draw(tables(blocks_of(case), least=1)).model()
    most = entropy(np.exp(model.log_prior))
    profiles = model.profiles()
    assert len({profile.column for profile in profiles}) == len(profiles)
    for profile in profiles:
        assert profile.table.shape == (len(profile.points), len(model.classes))
        assert not np.isnan(profile.table).any()
        assert 0 <= profile.information <= most
        assert profile.counts is None or profile.counts.shape == profile.table.shape
        if profile.kind in (CURVE, STEPS, COUNTS):
            assert np.isfinite(profile.points).all()
            assert (np.diff(profile.points) > 0).all()
        if profile.widths is not None:
            assert profile.widths.shape == profile.points.shape
            assert np.isfinite(profile.widths).all()
            assert (profile.widths > 0).all()


@pytest.mark.parametrize("name", families.names())
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_numbers_say_in_a_profile_what_they_say_alone_in_a_row(name, data):
    """In extreme columns too; and every place is a number that the family takes."""
    (block,) = blocks_of(name)
    model = data.draw(tables((block,), least=1)).model()
    for profile in model.profiles():
        if profile.kind not in NUMERIC:
            continue
        rows = {column: np.full(len(profile.points), np.nan) for column in block.columns}
        rows[profile.column] = profile.points
        values = block.family.view(Batch.of(rows), block.columns)
        said = np.zeros(profile.table.shape)
        block.family.score(model.parameters[0], values, said)
        assert np.isfinite(values[:, block.columns.index(profile.column)]).all()
        assert same(profile.table, said)


def same(found, expected):
    finite = np.isfinite(expected)
    close = np.abs(found[finite] - expected[finite]) <= 1e-9 * (1 + np.abs(expected[finite]))
    return np.array_equal(found[~finite], expected[~finite]) and close.all()


@pytest.mark.parametrize("name", families.names())
def test_a_value_says_in_a_profile_what_it_says_in_an_explanation(name):
    family = family_named(name)
    column, labels = typical(family)
    model = model_of(family, {"x": column}, labels)
    (profile,) = model.profiles()
    indices = [str(index) if profile.kind in (VALUES, EVENTS) else float(index) for index in profile.points]
    for index, said in zip(indices, profile.table, strict=True):
        (term,) = model.explain(Batch.of({"x": [asked(profile, index)]}))[0].terms
        if profile.kind == STEPS:
            assert said[1] - said[0] == pytest.approx(term.log_likelihood[1] - term.log_likelihood[0], abs=1e-9)
        else:
            assert said == pytest.approx(term.log_likelihood, abs=1e-9, rel=1e-9)


def asked(profile, index):
    """A cell that holds a place of a profile."""
    if profile.kind == VALUES:
        days = {day: 86400 * number for number, day in enumerate(calendar.day_name, start=4)}  # 5 January 1970: Monday
        return {"no": 0, "yes": 1, **days}[index] if not index.lstrip("-").isdigit() else int(index)
    return 1 if profile.kind == EVENTS and index == "x" else index


@pytest.mark.parametrize(
    ("event", "idf"),
    [
        ("multinomial", False), ("multinomial", True), ("complement", False), ("complement", True),
        ("bernoulli", False), ("poisson", False),
    ],
)  # fmt: skip
def test_one_occurrence_of_a_word_adds_what_its_profile_says(event, idf):
    weighting = "presence" if event == "bernoulli" else "counts"
    family = families.named("text", options=TextOptions(model=event, weighting=weighting, idf=idf))
    model = model_of(family, {"x": ["ant bee bee", "bee cat cat cat", "dog", "dog ant"]}, list("aabb"))
    (profile,) = model.profiles()
    empty, scores = np.zeros((1, 2)), np.zeros((len(profile.points), 2))
    family.score(model.parameters[0], family.view(Batch.of({"x": [""]}), ("x",)), empty)
    family.score(model.parameters[0], family.view(Batch.of({"x": list(profile.points)}), ("x",)), scores)
    assert profile.table[:, 1] - profile.table[:, 0] == pytest.approx(np.diff(scores - empty)[:, 0], abs=1e-9)
    assert profile.vocabulary == 4
    assert {"bee", "cat", "dog"} <= set(profile.points) <= {"ant", "bee", "cat", "dog"}


# Points.


@pytest.mark.parametrize("name", families.names())
def test_places_hold_about_all_of_what_may_happen(name):
    family = family_named(name)
    column, labels = typical(family)
    for profile in model_of(family, {"x": column}, labels).profiles():
        if profile.kind != EVENTS:
            assert covered(profile.table, profile.widths) == pytest.approx(1.0, abs=0.03)
            assert len(profile.points) <= WHOLE_NUMBERS + 100


@pytest.mark.parametrize("name", [n for n in families.names() if isinstance(families.named(n), Density)])
def test_a_family_that_suits_the_rows_badly_is_still_seen_whole(name):
    """Ages around forty are no waiting times, but what an exponential says of them reaches from zero to far above."""
    family = families.named(name, **({"trials": 60} if name == "binomial" else {}))
    rows = np.random.default_rng(1).normal(40, 2, 300).round()
    (profile,) = model_of(family, {"x": rows}, ["a", "b", "b"] * 100).profiles()
    assert covered(profile.table, profile.widths) == pytest.approx(1.0, abs=0.05)


def test_a_spike_beside_a_plain_is_seen():
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(0, 1e-4, 500), rng.uniform(-100, 100, 500)])
    (profile,) = model_of(families.named("gaussian"), {"x": rows}, ["spike"] * 500 + ["plain"] * 500).profiles()
    assert covered(profile.table, profile.widths) == pytest.approx(1.0, abs=0.01)
    assert profile.information > 0.99


def test_many_whole_numbers_stand_for_their_neighbours():
    rows = np.random.default_rng(0).poisson([1000, 3000], (300, 2)).ravel()
    (profile,) = model_of(families.named("poisson"), {"x": rows}, ["a", "b"] * 300).profiles()
    assert profile.kind == COUNTS
    assert (profile.points == np.floor(profile.points)).all()
    assert len(profile.points) <= 250
    assert covered(profile.table, profile.widths) == pytest.approx(1.0, abs=0.01)
    assert profile.information == pytest.approx(1.0, abs=1e-6)


def test_few_whole_numbers_are_all_there():
    found = worth_seeing(np.array([3.0]), np.array([1.5]), lambda x: (x >= 0) & (x <= 10) & (x == np.floor(x)))
    assert found.points.tolist() == [float(number) for number in range(len(found.points))]
    assert found.widths is None
    assert found.whole


def test_a_histogram_is_drawn_no_farther_than_its_rows():
    rows = np.concatenate([np.linspace(0, 1, 200), np.linspace(2, 3, 200)])
    family = families.named("histogram").fitted_to(rows, "x")
    (profile,) = model_of(family, {"x": rows}, ["a"] * 200 + ["b"] * 200).profiles()
    assert profile.kind == STEPS
    assert -0.1 < profile.points[0] <= 0
    assert 3 < profile.points[-1] + profile.widths[-1] < 3.1
    assert covered(profile.table, profile.widths) == pytest.approx(1.0, abs=1e-12)
    assert profile.counts.sum() == 400
    assert profile.information == pytest.approx(1.0, abs=0.05)


# Information.


def test_information_by_hand():
    """P(yes | a) = 3/4, P(yes | b) = 1/4, even classes: 1 - H(1/4) bits."""
    table = np.log([[0.25, 0.75], [0.75, 0.25]])
    by_hand = 1 + 0.25 * np.log2(0.25) + 0.75 * np.log2(0.75)
    assert information(table, np.array([0.5, 0.5])) == pytest.approx(by_hand, abs=1e-15)
    rows = {"x": [1, 1, 1, 0, 0, 0, 0, 1]}
    (profile,) = model_of(families.named("bernoulli", smoothing=0.0), rows, list("aaaabbbb")).profiles()
    assert profile.information == pytest.approx(by_hand, abs=1e-15)
    assert profile.counts.tolist() == [[1, 3], [3, 1]]


def test_information_of_two_bells_is_the_integral():
    """Against quadrature on a very fine grid."""
    family = families.named("gaussian")
    rows = np.concatenate([[-1.0, 1.0], [0.5, 2.5]])
    (profile,) = model_of(family, {"x": rows}, list("aabb")).profiles()
    fine = np.linspace(-12, 14, 200_001)[:, None]
    table = -0.5 * (fine - np.array([0.0, 1.5])) ** 2 - 0.5 * np.log(2 * np.pi)
    exact = information(table, np.array([0.5, 0.5]), np.full(len(fine), 26 / 200_000))
    assert profile.information == pytest.approx(float(exact), abs=1e-4)


@pytest.mark.parametrize("name", families.names())
def test_a_column_without_a_hint_tells_nothing(name):
    """The same values in both classes."""
    family = family_named(name)
    column, _ = typical(family)
    twice = {"x": [cell for cell in column for _ in "ab"]}
    for profile in model_of(family, twice, list("ab") * len(column)).profiles():
        assert profile.information == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("name", ["bernoulli", "categorical"])
def test_a_column_that_is_the_class_tells_it_all(name):
    family = families.named(name, smoothing=0.0)
    (profile,) = model_of(family, {"x": [0, 1, 1, 1]}, list("abbb")).profiles()
    assert profile.information == pytest.approx(entropy(np.array([0.25, 0.75])), abs=1e-15)


@pytest.mark.parametrize("name", ["gaussian", "student", "gaussian_full", "gaussian_shared", "lognormal"])
def test_bells_far_apart_tell_it_all(name):
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(100, 1, 300), rng.normal(900, 1, 100)])
    (profile,) = model_of(families.named(name), {"x": rows}, ["a"] * 300 + ["b"] * 100).profiles()
    assert profile.information == pytest.approx(entropy(np.array([0.75, 0.25])), abs=1e-3)


def test_a_class_without_a_chance_changes_nothing():
    table = np.log([[0.2, 0.7, 0.1], [0.8, 0.3, 0.9]])
    assert information(table, np.array([0.4, 0.6, 0.0])) == pytest.approx(
        float(information(table[:, :2], np.array([0.4, 0.6]))), abs=1e-15
    )


def test_events_tell_the_same_as_columns_and_as_words():
    """One table of counts, read by the multinomial and by the text family."""
    counts = {"ant": [3, 0, 1], "bee": [1, 2, 0], "cat": [0, 0, 4]}
    texts = [" ".join(word for word in counts for _ in range(counts[word][row])) for row in range(3)]
    (columns,) = model_of(families.named("multinomial"), counts, list("abc")).profiles()
    (words,) = model_of(families.named("text"), {"x": texts}, list("abc")).profiles()
    assert words.information == pytest.approx(columns.information, abs=1e-12)
    assert words.points == columns.points
    assert words.table == pytest.approx(columns.table, abs=1e-12)
    assert words.counts == pytest.approx(columns.counts)
    assert columns.column == "ant, bee, cat"


# Telling words.


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_pairs_that_occurred_are_enough(data):
    """The words picked from pairs are those picked from the whole table of words by classes, and tell as much."""
    classes = data.draw(st.integers(1, 5))
    cells = st.tuples(st.sampled_from("abcdefgh"), st.integers(0, classes - 1), st.integers(1, 9))
    tally = WordTally.of(data.draw(st.lists(cells, min_size=1, max_size=20)), documents=[1] * classes)
    model = data.draw(st.sampled_from(["multinomial", "complement", "poisson"]))
    parameters = TextParameters.of(tally, TextOptions(model=model).definite(), data.draw(st.sampled_from([0.01, 1.0])))
    prior = np.array(data.draw(st.lists(st.floats(0.1, 1.0), min_size=classes, max_size=classes)))
    prior /= prior.sum()
    counts = np.zeros((len(parameters), classes))
    counts[parameters.seen.words, parameters.seen.labels] = parameters.seen.counts
    weights = parameters.score_weights
    rate = weights.rate if weights.rate.size else 0.0
    table = np.array([parameters.says(row, weights) + rate for row in range(len(parameters))])
    pairs = all_pairs(counts, table)
    amounts = how_telling(pairs, prior, len(counts)).reshape(counts.shape)
    found = telling_rows(parameters, prior)
    assert set(found) == {row for row in range(len(counts)) if (amounts[row] > 1e-12).any()} | {
        row for row in found if (np.abs(amounts[row]) <= 1e-12).any()
    }
    best = amounts.max(axis=1)[found]
    assert (best[:-1] >= best[1:] - 1e-12).all()
    shares = np.log(counts + parameters.smoothing)
    shares -= np.log(np.exp(shares).sum(axis=0))
    assert word_information(parameters, prior) == pytest.approx(float(information(shares, prior)), abs=1e-9)


def test_each_class_has_its_words():
    """Words of its own come first; a word that all share tells nothing."""
    texts = [f"the the own{label} own{label} rare{label}x{copy}" for label in range(30) for copy in range(3)]
    labels = [f"class {label:02}" for label in range(30) for _ in range(3)]
    (profile,) = model_of(families.named("text"), {"x": texts}, labels).profiles()
    assert set(profile.points[:30]) == {f"own{label}" for label in range(30)}
    assert "the" not in profile.points
    assert profile.vocabulary == 121
    assert len(profile.points) <= 30 * MOST_A_CLASS


def test_a_thousand_classes_have_a_few_words_each():
    counts = np.eye(1000) * 7 + 1
    rows = most_telling(all_pairs(counts, np.log(counts / counts.sum(axis=0))), np.full(1000, 1e-3), 1000)
    assert sorted(rows.tolist()) == list(range(1000))
    assert len(rows) <= 1000 * LEAST_A_CLASS


# All blocks of a model.


def test_calibration_is_in_the_factor():
    """For text, that of a text of the mean length."""
    family = families.named("text")
    model = model_of(family, {"x": ["a b c d e f", "a b"]}, ["one", "two"])
    calibrated = Predictor.fit(model.summary, calibration=Calibration(weight={"x": 0.5}, power={"x": 0.5}))
    assert [profile.factor for profile in model.profiles()] == [1.0]
    assert [profile.factor for profile in calibrated.profiles()] == [pytest.approx(0.25)]


def test_a_mixed_model_has_a_profile_for_each_column():
    rng = np.random.default_rng(0)
    labels = np.repeat(["a", "b"], 60)
    rows = {
        "size": rng.normal(0, 1, 120) + 3 * (labels == "b"),
        "colour": rng.choice(["red", "green"], 120).tolist(),
        "note": rng.choice(["good day", "bad night", "a day"], 120).tolist(),
    }
    model = NaiveBayes(families={"note": "text"}).fit(rows, labels).trained_.predictor
    told = {profile.column: profile.information for profile in model.profiles()}
    assert set(rows) <= set(told)
    assert max(told, key=told.get) == "size"
