"""The classifier: any table, the scikit-learn contract, learning more, forgetting, merging, sampling."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn import naive_bayes as peers
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from candide import NaiveBayes
from candide.families.binomial import Binomial

rng = np.random.default_rng(20)
PEOPLE = {
    "age": [22.5, 38.0, None, 35.0, 54.5, 2.0, 27.0, 14.0, 4.0, 58.5],
    "sex": ["m", "f", "f", "f", "m", "m", "f", None, "f", "m"],
    "siblings": [1, 1, 0, 1, 0, 3, 0, 1, 1, 0],
    "alone": [False, False, True, False, True, False, True, False, False, True],
    "survived": ["no", "yes", "yes", "yes", "no", "no", "yes", "yes", "yes", "no"],
}
FEATURES = {name: values for name, values in PEOPLE.items() if name != "survived"}
FAMILIES = {"age": "gaussian", "sex": "categorical", "siblings": "poisson", "alone": "bernoulli"}


def fitted(**options):
    return NaiveBayes(**{"families": FAMILIES, **options}).fit(PEOPLE, "survived")


def some(rows, columns=PEOPLE):
    return {name: [values[row] for row in rows] for name, values in columns.items()}


# The scikit-learn contract.


@parametrize_with_checks([NaiveBayes()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_a_clone_is_unfitted_and_learns_the_same():
    model = fitted(smoothing=0.5, priors="uniform")
    copy = clone(model)
    assert not hasattr(copy, "summary_")
    assert copy.get_params() == model.get_params()
    assert copy.fit(PEOPLE, "survived").summary_ == model.summary_


def test_pickling_keeps_every_bit():
    model = fitted()
    copy = pickle.loads(pickle.dumps(model))
    assert copy.summary_ == model.summary_
    assert np.array_equal(copy.predict_proba(FEATURES), model.predict_proba(FEATURES))


def test_the_same_rows_in_any_frame_give_the_same_bits():
    frames = [PEOPLE, pd.DataFrame(PEOPLE), pl.DataFrame(PEOPLE), pa.table(PEOPLE)]
    models = [NaiveBayes(families=FAMILIES).fit(frame, "survived") for frame in frames]
    for model, frame in zip(models, frames, strict=True):
        assert model.summary_ == models[0].summary_
        assert np.array_equal(model.predict_joint_log_proba(frame), models[0].predict_joint_log_proba(PEOPLE))


def test_guesses_do_not_depend_on_the_frame():
    frames = [PEOPLE, pd.DataFrame(PEOPLE), pl.DataFrame(PEOPLE), pa.table(PEOPLE)]
    assert len({NaiveBayes().fit(frame, "survived").schema_ for frame in frames}) == 1


def test_pandas_categories_and_missing_values_are_read_as_such():
    frame = pd.DataFrame(PEOPLE)
    other = frame.assign(sex=frame["sex"].astype("category"), siblings=frame["siblings"].astype("Int64"))
    assert NaiveBayes(families=FAMILIES).fit(other, "survived").summary_ == fitted().summary_


@pytest.mark.parametrize("family", ["gaussian", "multinomial", "bernoulli", "categorical", "poisson"])
def test_sparse_and_dense_matrices_give_the_same_answers(family):
    dense = (rng.random((40, 6)) < 0.3).astype(float)
    labels = rng.integers(0, 3, 40)
    model = NaiveBayes(families=family).fit(dense, labels)
    for sparse in (sp.csr_array(dense), sp.csc_matrix(dense), sp.coo_array(dense)):
        other = NaiveBayes(families=family).fit(sparse, labels)
        assert other.summary_ == model.summary_
        assert other.predict_joint_log_proba(sparse) == pytest.approx(model.predict_joint_log_proba(dense), rel=1e-12)


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.uint16, np.float32, np.float64, bool])
def test_the_type_of_an_array_changes_nothing(kind):
    matrix, labels = np.array([[0, 1], [1, 1], [1, 0], [0, 0], [1, 1]]), [0, 1, 1, 0, 1]
    expected = NaiveBayes(families="bernoulli").fit(matrix, labels)
    found = NaiveBayes(families="bernoulli").fit(matrix.astype(kind), labels)
    assert found.summary_ == expected.summary_


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1, 1, 0, 1, 0, 0, 1, 0, 1],
        [False, True, True, False, True, False, False, True, False, True],
        np.array([2.0, 7.0, 7.0, 2.0, 7.0, 2.0, 2.0, 7.0, 2.0, 7.0]),
        list("abbabaabab"),
        pd.Series(list("abbabaabab")).astype("category"),
        pl.Series(list("abbabaabab")),
        pa.array(list("abbabaabab")),
    ],
    ids=["int", "bool", "float", "str", "pandas", "polars", "pyarrow"],
)
def test_labels_come_back_as_they_went_in(labels):
    model = NaiveBayes(families=FAMILIES).fit(FEATURES, labels)
    plain = labels.to_pylist() if isinstance(labels, pa.Array) else list(labels)
    assert model.classes_.tolist() == sorted(set(plain))
    assert set(model.predict(FEATURES).tolist()) <= set(plain)


def test_y_may_be_the_name_of_a_column():
    by_name = fitted()
    by_hand = NaiveBayes(families=FAMILIES).fit(FEATURES, PEOPLE["survived"])
    assert by_name.summary_ == by_hand.summary_
    assert np.array_equal(by_name.predict_proba(PEOPLE), by_hand.predict_proba(FEATURES))


def test_columns_are_found_by_name_in_any_order():
    backwards = dict(reversed(FEATURES.items()))
    assert np.array_equal(fitted().predict_proba(backwards), fitted().predict_proba(FEATURES))


# Learning more, forgetting, merging.


def test_partial_fit_in_batches_learns_what_fit_learns():
    model = NaiveBayes(families=FAMILIES)
    for batch in (range(0, 3), range(3, 4), range(4, 10)):
        model.partial_fit(some(batch), "survived")
    assert model.summary_ == fitted().summary_
    assert np.array_equal(model.predict_proba(FEATURES), fitted().predict_proba(FEATURES))


def test_partial_fit_does_not_depend_on_batches_even_for_wild_numbers():
    """scikit-learn's GaussianNB answers differently for the same rows in other batches."""
    rows = np.array([[1e5], [1e5 + 1], [0.01], [0.02], [1e5], [0.03]])
    labels = [0, 0, 1, 1, 0, 1]
    whole = NaiveBayes(families="gaussian").fit(rows, labels)
    parts = NaiveBayes(families="gaussian")
    for row, label in zip(rows, labels, strict=True):
        parts.partial_fit([row], [label])
    assert parts.summary_ == whole.summary_
    assert np.array_equal(parts.predict_proba(rows), whole.predict_proba(rows))


def test_new_classes_and_categories_are_welcome():
    model = NaiveBayes(families="categorical").fit({"colour": ["red", "blue"]}, ["apple", "plum"])
    model.partial_fit({"colour": ["yellow", "yellow"]}, ["banana", "banana"])
    assert model.classes_.tolist() == ["apple", "banana", "plum"]
    assert model.predict({"colour": ["red", "yellow", "blue"]}).tolist() == ["apple", "banana", "plum"]


def test_a_new_column_is_welcome():
    """The rows before it said nothing about it, so that only the new ones count."""
    early = {"colour": ["red", "blue"]}
    late = {"colour": ["red", "blue", None], "price": [1.5, 2.5, 2.0]}
    model = NaiveBayes().fit(early, ["a", "b"])
    model.partial_fit(late, ["a", "b", "b"])
    families = {"colour": "categorical", "price": "gaussian"}
    together = {"colour": ["red", "blue", "red", "blue", None], "price": [None, None, 1.5, 2.5, 2.0]}
    expected = NaiveBayes(families=families).fit(together, ["a", "b", "a", "b", "b"])
    assert model.trained_.reading == expected.summary_
    assert np.array_equal(model.predict_proba(late), expected.predict_proba(late))


def test_a_column_absent_from_later_rows_is_missing_there():
    model = fitted().partial_fit({"age": [30.0], "sex": ["f"]}, ["yes"])
    longer = {name: [*values, None] for name, values in FEATURES.items()}
    longer["age"][-1], longer["sex"][-1] = 30.0, "f"
    expected = NaiveBayes(families=FAMILIES).fit(longer, [*PEOPLE["survived"], "yes"])
    assert model.summary_ == expected.summary_


def test_declared_classes_exist_before_their_rows():
    model = NaiveBayes(families=FAMILIES).partial_fit(some([1, 2]), "survived", classes=["yes", "no", "unknown"])
    assert model.classes_.tolist() == ["no", "unknown", "yes"]
    assert model.predict_proba(FEATURES).sum(axis=1) == pytest.approx(1)


def test_forgetting_is_the_exact_inverse_of_learning():
    model = fitted().forget(some(range(6, 10)), "survived")
    expected = NaiveBayes(families=FAMILIES).fit(some(range(6)), "survived")
    assert model.summary_ == expected.summary_
    assert np.array_equal(model.predict_joint_log_proba(FEATURES), expected.predict_joint_log_proba(FEATURES))


def test_a_class_without_rows_is_forgotten():
    model = NaiveBayes(families="categorical").fit({"x": ["a", "b", "c"]}, [0, 1, 2])
    model.forget({"x": ["c"]}, [2])
    assert model.classes_.tolist() == [0, 1]
    assert model.summary_ == NaiveBayes(families="categorical").fit({"x": ["a", "b"]}, [0, 1]).summary_


def test_adding_models_is_learning_everything():
    monday = NaiveBayes(families=FAMILIES).fit(some(range(4)), "survived")
    tuesday = NaiveBayes(families=FAMILIES).fit(some(range(4, 10)), "survived")
    week = monday + tuesday
    assert week.summary_ == fitted().summary_ == (tuesday + monday).summary_
    assert np.array_equal(week.predict_proba(FEATURES), fitted().predict_proba(FEATURES))
    assert monday.summary_.rows == 4


def test_adding_models_that_disagree_in_options_says_which_are_kept():
    with pytest.warns(UserWarning, match="disagree in priors"):
        merged = fitted(priors="uniform") + fitted()
    assert merged.priors == "uniform"


def test_a_weight_is_a_number_of_rows():
    weights = [1, 2, 0, 1, 3, 1, 1, 1, 2, 1]
    repeated = [row for row, weight in enumerate(weights) for _ in range(weight)]
    weighted = NaiveBayes(families=FAMILIES).fit(PEOPLE, "survived", sample_weight=weights)
    assert weighted.summary_ == NaiveBayes(families=FAMILIES).fit(some(repeated), "survived").summary_


# Priors.


def test_empirical_priors_are_shares_of_rows():
    nothing = {name: [None] for name in FEATURES}
    assert fitted().predict_proba(nothing)[0] == pytest.approx([0.4, 0.6])
    assert fitted(priors="uniform").predict_proba(nothing)[0] == pytest.approx([0.5, 0.5])
    assert fitted(priors={"yes": 0.9, "no": 0.1}).predict_proba(nothing)[0] == pytest.approx([0.1, 0.9])


def test_prior_shift_against_bayes_by_hand():
    model = fitted()
    likelihood = np.exp(model.predict_joint_log_proba(FEATURES)) / [0.4, 0.6]
    joint = likelihood * [0.95, 0.05]
    found = model.predict_proba(FEATURES, priors={"no": 0.95, "yes": 0.05})
    assert found == pytest.approx(joint / joint.sum(axis=1, keepdims=True))
    assert model.predict_log_proba(FEATURES, priors={"no": 0.95, "yes": 0.05}) == pytest.approx(np.log(found))


def test_priors_change_without_a_refit():
    model = fitted()
    before = model.summary_
    model.set_params(priors={"yes": 0.25, "no": 0.75})
    expected = fitted(priors={"yes": 0.25, "no": 0.75}).predict_proba(FEATURES)
    assert np.array_equal(model.predict_proba(FEATURES), expected)
    assert model.summary_ is before


def test_class_weights_are_factors_on_the_prior():
    nothing = {name: [None] for name in FEATURES}
    assert fitted(class_weight={"no": 3}).predict_proba(nothing)[0] == pytest.approx([1.2 / 1.8, 0.6 / 1.8])
    assert fitted(class_weight="balanced").predict_proba(nothing)[0] == pytest.approx([0.5, 0.5])


# Likelihood, explanation, schema, sampling.


def test_log_probabilities_are_the_logarithms_of_probabilities():
    model = fitted()
    joint = model.predict_joint_log_proba(FEATURES)
    assert np.exp(model.predict_log_proba(FEATURES)) == pytest.approx(model.predict_proba(FEATURES))
    assert model.predict(FEATURES).tolist() == model.classes_[joint.argmax(axis=1)].tolist()


def test_score_samples_is_log_of_the_sum_over_classes():
    model = NaiveBayes(families="categorical", smoothing=0).fit({"x": ["a", "a", "b", "b"]}, [0, 0, 0, 1])
    expected = [3 / 4 * 2 / 3, 3 / 4 * 1 / 3 + 1 / 4 * 1]
    assert np.exp(model.score_samples({"x": ["a", "b"]})) == pytest.approx(expected)


def test_an_impossible_row_gets_the_prior_and_no_likelihood():
    model = NaiveBayes(families="bernoulli", smoothing=0).fit({"x": [0, 0, 0], "y": [1, 1, 1]}, [0, 0, 1])
    impossible = {"x": [1], "y": [1]}
    assert model.predict_proba(impossible)[0] == pytest.approx([2 / 3, 1 / 3])
    assert model.score_samples(impossible)[0] == -math.inf


def test_an_explanation_reads_from_the_strongest_evidence_down():
    explanation = fitted().explain(some([0], FEATURES))[0]
    assert explanation.answer == fitted().predict(some([0], FEATURES))[0]
    assert {term.feature for term in explanation.terms} == set(FEATURES)
    head, prior, *evidence = str(explanation).splitlines()
    assert "rather than" in head
    assert "(prior)" in prior
    assert sum(" = " in line for line in evidence) == len(FEATURES)
    assert any("(sum)" in line for line in evidence)
    assert explanation.to_dict()["answer"] == explanation.answer


def test_the_schema_explains_every_column():
    model = NaiveBayes().fit({**PEOPLE, "empty": [None] * 10}, "survived")
    lines = model.schema_.explain().splitlines()
    assert [line.split()[0] for line in lines] == [*FEATURES, "empty"]
    assert "missing" in lines[-1]


def test_missing_can_be_a_value_of_its_own():
    rows, labels = {"answer": ["yes", None, None, "yes"]}, ["here", "gone", "gone", "here"]
    silent = NaiveBayes(missing="ignore").fit(rows, labels)
    telling = NaiveBayes(missing="value").fit(rows, labels)
    assert silent.predict_proba({"answer": [None]})[0] == pytest.approx([0.5, 0.5])
    assert telling.predict_proba({"answer": [None]})[0] == pytest.approx([0.75, 0.25])


def test_samples_have_the_shape_and_values_of_the_rows():
    drawn = fitted().sample(200, seed=1)
    assert drawn.column_names == [*FEATURES, "survived"]
    assert drawn.num_rows == 200
    assert set(drawn["sex"].to_pylist()) == {"m", "f"}
    assert set(drawn["alone"].to_pylist()) <= {0, 1}
    assert all(value >= 0 and value == int(value) for value in drawn["siblings"].to_pylist())
    assert set(drawn["survived"].to_pylist()) == {"yes", "no"}


def test_samples_are_repeatable_by_seed():
    assert fitted().sample(20, seed=7) == fitted().sample(20, seed=7)
    assert fitted().sample(20, seed=7) != fitted().sample(20, seed=8)


def test_samples_of_one_label():
    assert set(fitted().sample(50, label="no", seed=0)["survived"].to_pylist()) == {"no"}


SAMPLED = {
    "gaussian": (rng.normal(40, 3, 400), 40),
    "student": (rng.normal(40, 3, 400), 40),
    "gaussian_full": (rng.normal(40, 3, 400), 40),
    "gaussian_shared": (rng.normal(40, 3, 400), 40),
    "poisson": (rng.poisson(6, 400), 6),
    "negative_binomial": (rng.negative_binomial(3, 0.4, 400), 4.5),
    "geometric": (rng.geometric(0.2, 400) - 1, 4),
    "exponential": (rng.exponential(5, 400), 5),
    "gamma": (rng.gamma(3, 2, 400), 6),
    "lognormal": (rng.lognormal(1, 0.4, 400), math.exp(1.08)),
    "bernoulli": (rng.random(400) < 0.3, 0.3),
    Binomial(trials=10): (rng.binomial(10, 0.3, 400), 3),
}


@pytest.mark.parametrize(("family", "values", "mean"), [(name, *rest) for name, rest in SAMPLED.items()])
def test_samples_have_the_mean_of_what_was_learned(family, values, mean):
    model = NaiveBayes(families=family).fit({"x": values.tolist()}, rng.integers(0, 2, 400))
    drawn = np.array(model.sample(4000, seed=3)["x"].to_pylist(), dtype=float)
    assert drawn.mean() == pytest.approx(np.mean(values), rel=0.1)
    assert drawn.mean() == pytest.approx(mean, rel=0.2)


def test_samples_of_counts_share_one_total():
    model = NaiveBayes(families="multinomial").fit({"a": [30, 0], "b": [10, 40]}, [0, 1])
    drawn = model.sample(100, label=0, seed=5)
    totals = np.add(drawn["a"].to_pylist(), drawn["b"].to_pylist())
    assert (totals == 100).all()
    assert np.mean(drawn["a"].to_pylist()) == pytest.approx(100 * 31 / 42, rel=0.05)


# Against scikit-learn.

COUNTS = rng.poisson(1.2, (60, 8)).astype(float)
LABELS = rng.integers(0, 3, 60)


@pytest.mark.parametrize("weights", [None, rng.integers(0, 4, 60)], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("smoothing", [0.3, 1.0])
@pytest.mark.parametrize(
    ("family", "peer", "rows"),
    [
        ("multinomial", peers.MultinomialNB, COUNTS),
        ("complement", peers.ComplementNB, COUNTS),
        ("bernoulli", peers.BernoulliNB, (COUNTS > 1).astype(float)),
        ("categorical", peers.CategoricalNB, np.minimum(COUNTS, 3)),
    ],
)
def test_probabilities_agree_with_scikit_learn(family, peer, rows, smoothing, weights):
    expected = peer(alpha=smoothing).fit(rows, LABELS, sample_weight=weights).predict_proba(rows)
    model = NaiveBayes(families=family, smoothing=smoothing, calibrate=False).fit(rows, LABELS, sample_weight=weights)
    assert model.predict_proba(rows) == pytest.approx(expected, abs=1e-9)


def test_gaussian_probabilities_agree_with_scikit_learn():
    """scikit-learn adds 1e-9 of the largest variance; where it adds nothing, the numbers are the same."""
    rows = rng.normal(size=(60, 4)) * [1, 2, 3, 4]
    expected = peers.GaussianNB(var_smoothing=0).fit(rows, LABELS)
    model = NaiveBayes(families="gaussian", calibrate=False).fit(rows, LABELS)
    assert model.predict_proba(rows) == pytest.approx(expected.predict_proba(rows), abs=1e-9)
    assert model.predict_joint_log_proba(rows) == pytest.approx(expected.predict_joint_log_proba(rows), rel=1e-9)


def test_a_category_never_seen_is_no_error():
    """scikit-learn's CategoricalNB raises IndexError, and takes 1.9 for 1."""
    model = NaiveBayes(families="categorical").fit(np.array([[0], [1], [1]]), [0, 1, 1])
    assert model.predict_proba([[7], [1.9]]) == pytest.approx(np.array([[1 / 3, 2 / 3]] * 2))


def test_probabilities_sum_to_one_far_out():
    """scikit-learn's GaussianNB gives 2 at 1e17 and NaN at 1e200."""
    model = NaiveBayes(families="gaussian").fit(np.array([[0.0], [1.0], [5.0], [6.0]]), [0, 0, 1, 1])
    far = model.predict_proba([[1e17], [-1e17], [1e200], [1e300]])
    assert far.sum(axis=1) == pytest.approx(np.ones(4))
