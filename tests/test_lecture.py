"""The lecture's worked examples, each with the numbers that come out by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from candide import NaiveBayes

# Words and counts.


def words_of(*documents):
    return [document.lower().split() for document in documents]


def counts(documents, vocabulary):
    """One column a word, one row a document."""
    return {word: [document.count(word) for document in documents] for word in vocabulary}


def vocabulary_of(documents):
    return sorted({word for document in documents for word in document})


def multinomial(documents, labels, smoothing):
    vocabulary = vocabulary_of(documents)
    model = NaiveBayes(families="multinomial", smoothing=smoothing, calibrate=False)
    return model.fit(counts(documents, vocabulary), labels)


def asked(model, document):
    """A document as the columns of a fitted model."""
    return counts(words_of(document), model.feature_names_in_)


def chance_of_word(model, word, label):
    """P(word | label): what one occurrence of the word adds to the joint."""
    index = model.classes_.tolist().index(label)
    nothing = model.predict_joint_log_proba(asked(model, ""))[0, index]
    return math.exp(model.predict_joint_log_proba(asked(model, word))[0, index] - nothing)


HAPPY = words_of(
    "Love Happy Joy Joy Happy",
    "Happy Love Kick Joy Happy",
    "Love Move Joy Good",
    "Love Happy Joy Love Pain",
    "Joy Love Pain Kick Pain",
    "Pain Pain Love kick",
)
HAPPY_LABELS = ["yes"] * 4 + ["no"] * 2


def test_love_pain_joy_love_kick_is_no():
    model = multinomial(HAPPY, HAPPY_LABELS, smoothing=1)
    question = asked(model, "Love Pain Joy Love Kick")
    no, yes = np.exp(model.predict_joint_log_proba(question)[0])
    assert yes == pytest.approx(2 / 3 * 864 / 26**5) == pytest.approx(4.848e-5, rel=1e-3)
    assert no == pytest.approx(1 / 3 * 270 / 16**5) == pytest.approx(8.583e-5, rel=1e-3)
    assert model.predict(question).tolist() == ["no"]
    assert model.predict_proba(question)[0, 0] == pytest.approx(0.6390, abs=5e-5)


NORMAL_WORDS = {"dear": 8, "friend": 5, "lunch": 3, "money": 1}
SPAM_WORDS = {"dear": 2, "friend": 1, "lunch": 0, "money": 4}


def spam_filter(smoothing):
    """Eight normal messages and four of spam; how the words are spread over the messages does not matter."""
    rows = {word: [NORMAL_WORDS[word]] + 7 * [0] + [SPAM_WORDS[word]] + 3 * [0] for word in NORMAL_WORDS}
    return NaiveBayes(families="multinomial", smoothing=smoothing).fit(rows, ["normal"] * 8 + ["spam"] * 4)


@pytest.mark.parametrize("word", NORMAL_WORDS)
def test_word_likelihoods_of_the_spam_example(word):
    model = spam_filter(smoothing=0)
    assert chance_of_word(model, word, "normal") == pytest.approx(NORMAL_WORDS[word] / 17)
    assert chance_of_word(model, word, "spam") == pytest.approx(SPAM_WORDS[word] / 7)


def test_dear_friend_is_normal():
    model = spam_filter(smoothing=0)
    normal, spam = np.exp(model.predict_joint_log_proba(asked(model, "Dear Friend"))[0])
    assert normal == pytest.approx(8 / 12 * 8 / 17 * 5 / 17) == pytest.approx(0.0923, abs=5e-5)
    assert spam == pytest.approx(4 / 12 * 2 / 7 * 1 / 7) == pytest.approx(0.0136, abs=5e-5)
    assert model.predict_proba(asked(model, "Dear Friend"))[0, 0] == pytest.approx(0.8715, abs=5e-5)


def test_lunch_money_is_impossible_for_spam_without_smoothing_and_spam_with_it():
    lunch_money = "Lunch Money Money Money Money"
    unsmoothed, smoothed = spam_filter(smoothing=0), spam_filter(smoothing=1)
    assert unsmoothed.predict_proba(asked(unsmoothed, lunch_money)).tolist() == [[1.0, 0.0]]
    assert smoothed.predict(asked(smoothed, lunch_money)).tolist() == ["spam"]
    normal, spam = np.exp(smoothed.predict_joint_log_proba(asked(smoothed, lunch_money))[0])
    assert normal == pytest.approx(8 / 12 * 4 / 21 * (2 / 21) ** 4)
    assert spam == pytest.approx(4 / 12 * 1 / 11 * (5 / 11) ** 4)


FICTION = words_of("the cat in the hat", "the cat in the tree", "the cow jumped over the moon")
NONFICTION = words_of(
    "the giants won the game", "the stock market was up today", "the candidate won the election"
)


def test_word_likelihoods_of_fiction_and_nonfiction():
    """The lecture divides by 15; both corpora have 5 + 5 + 6 = 16 words."""
    assert sum(map(len, FICTION)) == sum(map(len, NONFICTION)) == 16
    model = multinomial(FICTION + NONFICTION, ["fiction"] * 3 + ["nonfiction"] * 3, smoothing=0)
    assert chance_of_word(model, "cat", "fiction") == pytest.approx(2 / 16)
    assert chance_of_word(model, "jumped", "fiction") == pytest.approx(1 / 16)
    assert chance_of_word(model, "giants", "nonfiction") == pytest.approx(1 / 16)
    assert chance_of_word(model, "won", "nonfiction") == pytest.approx(2 / 16)
    assert chance_of_word(model, "cat", "nonfiction") == 0


def test_a_document_is_the_product_of_its_words():
    """P(y) P(the|y)^2 P(cat|y) P(in|y) P(hat|y)."""
    model = multinomial(FICTION + NONFICTION, ["fiction"] * 3 + ["nonfiction"] * 3, smoothing=0)
    joint = np.exp(model.predict_joint_log_proba(asked(model, "the cat in the hat"))[0])
    assert joint == pytest.approx([1 / 2 * (6 / 16) ** 2 * 2 / 16 * 2 / 16 * 1 / 16, 0])


# The passengers.

PASSENGERS = """
    3 female 31 0 0, 3 female 31 0 1, 1 female 31 0 1, 1 female 31 2 1, 3 female 31 1 1, 2 male 31 0 0,
    2 female 31 0 1, 2 male 31 1 0, 1 male 31 0 0, 2 male 31 0 1, 1 male 31 0 1, 3 male 31 0 1, 3 male 31 0 0,
    2 female 31 1 1, 1 male 52 1 0, 1 male 52 0 1, 1 female 52 0 1, 2 male 52 0 0, 1 female 52 1 1
"""
COLUMNS = ("class", "sex", "age", "family", "survived")
SHIP = dict(zip(COLUMNS, zip(*(line.split() for line in PASSENGERS.split(",")), strict=True), strict=True))


def passengers(smoothing):
    return NaiveBayes(families="categorical", smoothing=smoothing, calibrate=False).fit(SHIP, "survived")


def passenger(ticket, sex, age, family):
    return {"class": [ticket], "sex": [sex], "age": [age], "family": [family]}


def test_the_man_of_31_in_first_class_survives_by_a_hair():
    """The lecture divides by an empirical P(x) and prints 0.503; a posterior sums to one, and this one is 0.5334."""
    model = passengers(smoothing=0)
    question = passenger("1", "male", "31", "0")
    died, survived = np.exp(model.predict_joint_log_proba(question)[0])
    assert survived == pytest.approx(12 / 19 * 6 / 12 * 4 / 12 * 9 / 12 * 8 / 12)
    assert died == pytest.approx(7 / 19 * 2 / 7 * 6 / 7 * 5 / 7 * 5 / 7)
    assert model.predict_proba(question)[0, 1] == pytest.approx(0.5334, abs=5e-5)
    assert model.predict(question).tolist() == ["1"]


@pytest.mark.parametrize("smoothing", [0, 1])
def test_an_age_never_seen_does_not_zero_the_answer(smoothing):
    """The woman of 25: her age says nothing, the rest decides."""
    model = passengers(smoothing)
    posterior = model.predict_proba(passenger("3", "female", "25", "0"))
    assert np.array_equal(posterior, model.predict_proba(passenger("3", "female", None, "0")))
    assert (posterior > 0).all()
    assert posterior.sum() == pytest.approx(1)
    assert model.predict(passenger("3", "female", "25", "0")).tolist() == ["1"]


def test_the_passengers_smoothed():
    """(count + 1) / (rows + values): three tickets, two sexes, two ages, three sizes of family."""
    survived = np.exp(passengers(smoothing=1).predict_joint_log_proba(passenger("1", "male", "31", "0"))[0, 1])
    assert survived == pytest.approx(12 / 19 * 7 / 15 * 5 / 14 * 10 / 14 * 9 / 15)


# The same, worked out step by step.


def test_the_happy_example_worked():
    model = multinomial(HAPPY, HAPPY_LABELS, smoothing=1)
    said = model.explain(asked(model, "Love Pain Joy Love Kick"))[0].worked()
    assert "P(yes) = 4/6 = 0.6667" in said
    assert "yes: (5 + 1)/(19 + 1·7) = 6/26 = 0.2308, 2 times" in said
    yes, no = Fraction(2, 3) * Fraction(864, 26**5), Fraction(1, 3) * Fraction(270, 16**5)
    assert f"yes: 4/6 · 6/26 · 2/26 · (6/26)^2 · 2/26 = {yes.numerator:,}/{yes.denominator:,} = 4.848e-05" in said
    assert f"no: 2/6 · 2/16 · 3/16 · (3/16)^2 · 5/16 = {no.numerator:,}/{no.denominator:,} = 8.583e-05" in said
    assert "P(no | row) = 8.583e-05 / 0.0001343 = 0.6390" in said
    assert said.endswith("no, with 63.9%")


def test_dear_friend_worked():
    model = spam_filter(smoothing=0)
    said = model.explain(asked(model, "Dear Friend"))[0].worked()
    assert "normal: 8/12 · 8/17 · 5/17 = 80/867 = 0.09227" in said
    assert "spam: 4/12 · 2/7 · 1/7 = 2/147 = 0.01361" in said
    assert "= 0.8715" in said


def test_lunch_money_worked_without_smoothing_and_with():
    unsmoothed, smoothed = spam_filter(smoothing=0), spam_filter(smoothing=1)
    lunch_money = "Lunch Money Money Money Money"
    said = unsmoothed.explain(asked(unsmoothed, lunch_money))[0].worked()
    assert "spam: 4/12 · 0/7 · (4/7)^4 = 0" in said
    assert said.endswith("normal, with 100.0%")
    said = smoothed.explain(asked(smoothed, lunch_money))[0].worked()
    assert "spam: (0 + 1)/(7 + 1·4) = 1/11" in said
    assert "spam: 4/12 · 1/11 · (5/11)^4" in said
    assert "Decision\n   spam" in said


def test_the_passenger_worked():
    said = passengers(smoothing=0).explain(passenger("1", "male", "31", "0"))[0].worked()
    assert "P(1) = 12/19 = 0.6316" in said
    assert "1: 12/19 · 6/12 · 4/12 · 9/12 · 8/12 = 1/19 = 0.05263" in said
    assert "0: 7/19 · 2/7 · 6/7 · 5/7 · 5/7 = 300/6,517 = 0.04603" in said
    assert "= 0.5334" in said
    unseen = passengers(smoothing=0).explain(passenger("3", "female", "25", "0"))[0]
    assert unseen.unseen == (("age", "25"),)
    assert "age 25 (unseen): says nothing" in unseen.worked()


# Every smoothed estimate of the lecture's table.


@pytest.mark.parametrize("smoothing", [0.5, 1, 2])
def test_bernoulli_estimate(smoothing):
    """(n + c) / (N + 2 c): three yeses in five rows."""
    model = NaiveBayes(families="bernoulli", smoothing=smoothing).fit({"x": [1, 1, 1, 0, 0, 1]}, [0, 0, 0, 0, 0, 1])
    chance = np.exp(model.predict_joint_log_proba({"x": [1]})[0, 0]) / (5 / 6)
    assert chance == pytest.approx((3 + smoothing) / (5 + 2 * smoothing))


@pytest.mark.parametrize("smoothing", [0.5, 1, 2])
def test_categorical_estimate(smoothing):
    """(n + c) / (N + c e) with e = 3 values, one of them seen in the other class only."""
    rows = {"x": ["red", "red", "blue", "green"]}
    model = NaiveBayes(families="categorical", smoothing=smoothing).fit(rows, [0, 0, 0, 1])
    found = np.exp(model.predict_joint_log_proba({"x": ["red", "blue", "green"]})[:, 0]) / (3 / 4)
    assert found == pytest.approx((np.array([2, 1, 0]) + smoothing) / (3 + 3 * smoothing))


@pytest.mark.parametrize("smoothing", [0.5, 1, 2])
def test_multinomial_estimate(smoothing):
    """(n + c) / (N + c V): the lecture's table prints 2m in the denominator, a slip that would not sum to one."""
    documents = words_of("a a b", "b", "c")
    model = multinomial(documents, ["x", "x", "y"], smoothing)
    found = [chance_of_word(model, word, "x") for word in "abc"]
    assert found == pytest.approx((np.array([2, 2, 0]) + smoothing) / (4 + 3 * smoothing))
    assert sum(found) == pytest.approx(1)


def test_gaussian_estimate():
    """Mean, and variance with 1/N: 1, 2, 6 have mean 3 and variance 14/3."""
    model = NaiveBayes(families="gaussian").fit({"x": [1.0, 2.0, 6.0, 9.0, 11.0]}, [0, 0, 0, 1, 1])
    variance = 14 / 3
    expected = 3 / 5 * math.exp(-((4 - 3) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)
    assert np.exp(model.predict_joint_log_proba({"x": [4.0]})[0, 0]) == pytest.approx(expected)


def test_complement_estimate():
    """theta = (n of the others + c) / (N of the others + c V), score -log theta (Rennie 2003)."""
    documents = words_of("a a b", "b c", "c c c")
    vocabulary = vocabulary_of(documents)
    model = NaiveBayes(families="complement", smoothing=1).fit(counts(documents, vocabulary), ["x", "y", "z"])
    others_of_x = {"a": 0, "b": 1, "c": 4}
    found = {word: model.predict_joint_log_proba(asked(model, word))[0, 0] for word in "abc"}
    assert found == pytest.approx({word: -math.log((n + 1) / (5 + 3)) for word, n in others_of_x.items()})


def test_bayes_theorem_by_hand():
    """Fractions all the way: P(yes | sun) = (2/3 · 2/4) / (2/3 · 2/4 + 1/3 · 1/2)."""
    weather = {"sky": ["sun", "sun", "rain", "rain", "sun", "rain"]}
    model = NaiveBayes(families="categorical", smoothing=0).fit(weather, ["yes"] * 4 + ["no"] * 2)
    yes, no = Fraction(4, 6) * Fraction(2, 4), Fraction(2, 6) * Fraction(1, 2)
    assert model.predict_proba({"sky": ["sun"]})[0] == pytest.approx([float(no / (yes + no)), float(yes / (yes + no))])


# Gaussian discriminant analysis.

POINTS = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [4.0, 4.0], [6.0, 8.0], [8.0, 6.0]])
SIDES = np.array([0, 0, 0, 0, 1, 1, 1])
FIRST = np.eye(2)
SECOND = np.array([[8.0, 4.0], [4.0, 8.0]]) / 3


def bell(point, mean, covariance):
    gap = np.subtract(point, mean)
    exponent = -0.5 * gap @ np.linalg.inv(covariance) @ gap
    return math.exp(exponent) / math.sqrt(np.linalg.det(2 * math.pi * np.asarray(covariance)))


@pytest.mark.parametrize(
    ("family", "covariances"),
    [("gaussian_full", (FIRST, SECOND)), ("gaussian_shared", [(4 * FIRST + 3 * SECOND) / 7] * 2)],
)
def test_gda_by_hand(family, covariances):
    """Means (1, 1) and (6, 6); covariances with 1/N, each class its own or the weighted mean of both."""
    model = NaiveBayes(families=family, smoothing={"x0": 0, "x1": 0}).fit(POINTS, SIDES)
    question = [3.0, 2.0]
    joint = np.exp(model.predict_joint_log_proba([question])[0])
    expected = [4 / 7 * bell(question, (1, 1), covariances[0]), 3 / 7 * bell(question, (6, 6), covariances[1])]
    assert joint == pytest.approx(expected, rel=1e-7)


def test_shared_covariance_makes_a_straight_border():
    """Log odds grow by equal amounts along any line; with a full covariance they bend."""
    line = np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]])

    def bend(family):
        joint = NaiveBayes(families=family).fit(POINTS, SIDES).predict_joint_log_proba(line)
        return np.diff(joint[:, 1] - joint[:, 0], n=2)[0]

    assert bend("gaussian_shared") == pytest.approx(0, abs=1e-9)
    assert abs(bend("gaussian_full")) > 0.1
