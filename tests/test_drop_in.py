"""The drop-in classifiers: scikit-learn's numbers, exact inverses, and none of the mistakes of others."""

from __future__ import annotations

import math
import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.naive_bayes
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import candide
from candide.api.drop_in import rows as drop_in_rows
from candide.data.errors import ColumnRefused, ForgetRefused, SummariesDisagree
from candide.kernels import counting, scoring

NAMES = ["BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB"]
COUNTED = [name for name in NAMES if name != "GaussianNB"]
SPARSE = ["BernoulliNB", "ComplementNB", "MultinomialNB"]
ANSWERS = ["predict_joint_log_proba", "predict_log_proba", "predict_proba", "predict"]
CLASSES = ("apple", "pear", "quince")
NO_WEIGHTS = np.zeros(0, dtype=np.int64)


def ours(name, **options):
    return getattr(candide, name)(**options)


def theirs(name, **options):
    return getattr(sklearn.naive_bayes, name)(**options)


def fitted_names(model):
    return [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]


def assert_same(mine, other, atol=1e-9, **options):
    """Equal or close, for arrays and lists of arrays."""
    if isinstance(other, list):
        assert len(mine) == len(other)
        for left, right in zip(mine, other, strict=True):
            assert_same(left, right, atol=atol, **options)
    elif np.asarray(other).dtype.kind in "OUS":
        np.testing.assert_array_equal(mine, other, **options)
    else:
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=atol, **options)


def assert_parity(mine, other, X):
    for name in fitted_names(other):
        assert_same(getattr(mine, name), getattr(other, name), err_msg=name)
    for answer in ANSWERS[:3]:
        assert_same(getattr(mine, answer)(X), getattr(other, answer)(X), err_msg=answer)
    best, chances = mine.predict(X), other.predict_proba(X)
    chosen = chances[np.arange(len(best)), np.searchsorted(mine.classes_, best)]
    assert_same(chosen, chances.max(axis=1))


def assert_equal_models(left, right, X):
    """Equal bits in what is remembered, in what is made of it, and in the answers."""
    assert left._seen.features == right._seen.features
    for name in ("class_count_", "feature_count_", "category_count_", "theta_", "var_", "feature_log_prob_"):
        if hasattr(right, name):
            for mine, other in zip(getattr(left, name), getattr(right, name), strict=True):
                np.testing.assert_array_equal(mine, other, err_msg=name)
    np.testing.assert_array_equal(left.predict_joint_log_proba(X), right.predict_joint_log_proba(X))


@st.composite
def tables(draw, most_rows=30):
    """Whole numbers, so that every classifier takes them, with three labels and maybe weights."""
    rows = draw(st.integers(3, most_rows))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = rng.integers(0, draw(st.integers(2, 9)), (rows, draw(st.integers(2, 12)))).astype(np.float64)
    y = np.array(CLASSES)[np.concatenate([[0, 1, 2], rng.integers(0, 3, rows - 3)])]
    weights = draw(st.sampled_from(["none", "whole", "fractional"]))
    if weights == "none":
        return X, y, None
    return X, y, rng.integers(1, 5, rows) if weights == "whole" else rng.random(rows) + 0.1


@st.composite
def options(draw, name, columns):
    if name == "GaussianNB":
        return {
            "priors": draw(st.sampled_from([None, [0.2, 0.3, 0.5]])),
            "var_smoothing": draw(st.sampled_from([1e-9, 1e-2])),
        }
    chosen = {
        "alpha": draw(st.sampled_from([1.0, 0.5, 1e-3])),
        "fit_prior": draw(st.booleans()),
        "class_prior": None if name == "ComplementNB" else draw(st.sampled_from([None, [0.2, 0.3, 0.5]])),
    }
    if name == "ComplementNB":
        chosen["norm"] = draw(st.booleans())
    if name == "BernoulliNB":
        chosen["binarize"] = draw(st.sampled_from([0.0, 1.0, 2.5]))
    if name == "CategoricalNB":
        chosen["min_categories"] = draw(st.sampled_from([None, 12]))
    elif name != "BernoulliNB" and draw(st.booleans()):
        chosen["alpha"] = np.linspace(0.1, 2.0, columns)
    return chosen


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_scikit_learn_gives_the_same_numbers(name, data):
    X, y, weights = data.draw(tables())
    chosen = data.draw(options(name, X.shape[1]))
    if name == "GaussianNB":
        X = X + np.random.default_rng(len(X)).normal(size=X.shape)
    mine, other = (made(name, **chosen).fit(X, y, weights) for made in (ours, theirs))
    assert_parity(mine, other, X)


@pytest.mark.parametrize("name", SPARSE)
@given(data=st.data())
def test_sparse_rows_are_the_same_rows(name, data):
    X, y, weights = data.draw(tables())
    chosen = data.draw(options(name, X.shape[1]))
    for matrix in (sp.csr_array(X), sp.csr_matrix(X), sp.csc_array(X)):
        mine = ours(name, **chosen).fit(matrix, y, weights)
        assert_parity(mine, theirs(name, **chosen).fit(X, y, weights), X)
        assert_same(mine.predict_joint_log_proba(matrix), mine.predict_joint_log_proba(X))


@pytest.mark.parametrize("name", SPARSE)
def test_fractional_counts_are_added_as_scikit_learn_does(name):
    rng = np.random.default_rng(0)
    X, y = rng.random((40, 7)), rng.integers(0, 3, 40)
    assert_parity(ours(name).fit(X, y), theirs(name).fit(X, y), X)


def test_bernoulli_smooths_each_column_as_told():
    """scikit-learn's own adds one alpha a column to one count a class, and so fails."""
    X, y = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0]]), np.array([0, 0, 1])
    model = ours("BernoulliNB", alpha=[1.0, 2.0, 3.0]).fit(X, y)
    assert_same(np.exp(model.feature_log_prob_), [[2 / 4, 2 / 6, 5 / 8], [2 / 3, 3 / 5, 3 / 7]])


def test_bernoulli_takes_values_as_they_are_when_told_to():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (40, 7)).astype(float), rng.integers(0, 3, 40)
    for rows in (X, sp.csr_array(X)):
        mine, other = (made("BernoulliNB", binarize=None) for made in (ours, theirs))
        assert_parity(mine.fit(rows, y), other.fit(X, y), X)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_batches_make_no_difference(name, data):
    X, y, weights = data.draw(tables())
    if weights is not None and weights.dtype.kind == "f" and name != "GaussianNB":
        weights = np.ones(len(X))
    if name == "GaussianNB":
        X = X * 10.0 ** np.random.default_rng(len(X)).integers(-9, 9, X.shape)
    cut = data.draw(st.integers(1, len(X) - 1))
    whole = ours(name).fit(X, y, weights)
    parts = ours(name)
    for part in (slice(cut, None), slice(0, cut)):
        parts.partial_fit(X[part], y[part], CLASSES, None if weights is None else weights[part])
    assert_equal_models(parts, whole, X)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_forgetting_is_the_inverse_of_learning_and_merging_adds(name, data):
    X, y, weights = data.draw(tables())
    fractional = weights is not None and weights.dtype.kind == "f"
    if fractional and name != "GaussianNB":
        weights = None
    if name == "GaussianNB":
        X = X + np.random.default_rng(len(X)).normal(size=X.shape)
    cut = data.draw(st.integers(3, len(X)))
    first, second = slice(0, cut), slice(cut - 1, None)
    weigh = lambda part: None if weights is None else weights[part]  # noqa: E731
    left = ours(name).fit(X[first], y[first], weigh(first))
    right = ours(name).fit(X[second], y[second], weigh(second))
    both = ours(name).fit(
        np.concatenate([X[first], X[second]]),
        np.concatenate([y[first], y[second]]),
        None if weights is None else np.concatenate([weights[first], weights[second]]),
    )
    assert_equal_models(left + right, both, X)
    assert_equal_models(right + left, both, X)
    assert_equal_models(both.forget(X[second], y[second], weigh(second)), left, X)


@pytest.mark.parametrize("name", COUNTED)
def test_forgetting_fractional_weights_leaves_no_dust(name):
    rng = np.random.default_rng(3)
    X, y, weights = rng.integers(0, 3, (30, 4)), rng.integers(0, 2, 30), rng.random(30)
    kept = ours(name).fit(X[:20], y[:20], weights[:20])
    model = ours(name).fit(X, y, weights).forget(X[20:], y[20:], weights[20:])
    assert_same(model.predict_joint_log_proba(X), kept.predict_joint_log_proba(X))
    model.forget(X[:20], y[:20], weights[:20])
    assert not model.class_count_.any()


@pytest.mark.parametrize("name", NAMES)
def test_what_was_never_learned_cannot_be_forgotten(name):
    X, y = np.array([[0, 1], [1, 0], [2, 2]]), np.array([0, 1, 1])
    model = ours(name).fit(X, y)
    before = pickle.dumps(model._seen)
    strangers = [([[5, 0]], [0]), ([[0, 1], [0, 1]], [0, 0]), ([[0, 1]], [7])]
    if name in ("BernoulliNB", "CategoricalNB"):  # the others keep sums, from which another row may have been taken
        strangers.append(([[0, 1]], [1]))
    for rows, labels in strangers:
        with pytest.raises(ForgetRefused):
            model.forget(rows, labels)
        assert pickle.dumps(model._seen) == before


@pytest.mark.parametrize("name", NAMES)
def test_merging_strangers_is_refused(name):
    model = ours(name).fit([[0, 1], [1, 0]], [0, 1])
    with pytest.raises(SummariesDisagree, match="columns"):
        model + ours(name).fit([[0], [1]], [0, 1])
    with pytest.raises(SummariesDisagree, match="text"):
        model + ours(name).fit([[0, 1], [1, 0]], ["a", "b"])
    with pytest.raises(TypeError):
        model + 1
    assert (model + ours(name).fit([[1, 1], [0, 0]], [2, 1])).classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", NAMES)
def test_answers_have_the_same_bits_in_any_batch_and_with_any_number_of_threads(name, monkeypatch):
    rng = np.random.default_rng(5)
    X, y = rng.integers(0, 5, (3000, 11)).astype(float), rng.integers(0, 4, 3000)
    weights = rng.random(3000)
    model = ours(name).fit(X, y, weights)
    joint = model.predict_joint_log_proba(X)
    monkeypatch.setattr(drop_in_rows, "PIECE", 700)
    monkeypatch.setattr(drop_in_rows, "SPAN", 2000)
    alone = np.concatenate([model.predict_joint_log_proba(X[row : row + 1]) for row in range(0, 3000, 100)])
    np.testing.assert_array_equal(alone, joint[::100])
    answers = []
    for threads in ("1", "3"):
        monkeypatch.setenv("CANDIDE_THREADS", threads)
        np.testing.assert_array_equal(model.predict_joint_log_proba(X), joint)
        answers.append(ours(name).fit(X, y, weights).predict_joint_log_proba(X))
    np.testing.assert_array_equal(*answers)
    whole = ours(name).fit(X, y)
    monkeypatch.undo()
    assert_equal_models(whole, ours(name).fit(X, y), X)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", [np.float32, np.int64, np.int32, np.uint8, bool, "F", "object", "frozen"])
def test_any_kind_of_array_is_the_same_rows(name, kind):
    rng = np.random.default_rng(6)
    X, y = rng.integers(0, 2, (50, 4)).astype(float), rng.integers(0, 3, 50)
    if kind == "F":
        other = np.asfortranarray(X)
    elif kind == "frozen":
        other = X.copy()
        other.flags.writeable = False
    else:
        other = X.astype(kind)
    assert_equal_models(ours(name).fit(other, y), ours(name).fit(X, y), X)
    np.testing.assert_array_equal(ours(name).fit(X, y).predict_proba(other), ours(name).fit(X, y).predict_proba(X))


@pytest.mark.parametrize("labels", [[0, 1, 1], [2.0, 1.0, 1.0], ["b", "a", "a"], [True, False, False]])
def test_labels_keep_their_type(labels):
    X, y = [[0], [1], [1]], np.array(labels)
    for name in NAMES:
        model, other = ours(name).fit(X, y), theirs(name).fit(X, y)
        assert model.classes_.dtype == other.classes_.dtype
        assert model.predict(X).tolist() == other.predict(X).tolist()
        assert model.fit(X, y.astype(object)).predict(X).tolist() == other.predict(X).tolist()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_no_numbers_are_refused_in_scikit_learns_words(name, bad):
    X, y = np.ones((5, 2)), [0, 1, 0, 1, 0]
    model, broken = ours(name).fit(X, y), X.copy()
    broken[3, 1] = bad
    for call in (lambda m: m.fit(broken, y), lambda m: m.predict(broken)):
        with pytest.raises(ValueError, match="Input X contains") as said:
            call(model)
        with pytest.raises(ValueError, match="Input X contains") as expected:
            call(theirs(name).fit(X, y))
        if name != "CategoricalNB":
            assert str(said.value).splitlines()[0] == str(expected.value).splitlines()[0]
    assert model.predict(X).shape == (5,)


@pytest.mark.parametrize("name", NAMES)
def test_a_refused_fit_changes_nothing(name):
    option = {"priors": [0.5, 0.5]} if name == "GaussianNB" else {"class_prior": [0.5, 0.5]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ours(name, **option).fit([[0], [0], [1]], [0, 0, 1])
        before = model.predict_joint_log_proba([[0], [1]])
        with pytest.raises(ValueError, match="Number of priors must match number of classes"):
            model.fit([[0], [1], [2]], [0, 1, 2])
    np.testing.assert_array_equal(model.predict_joint_log_proba([[0], [1]]), before)
    with pytest.raises(ValueError, match="is not the same as on last call to partial_fit"):
        model.partial_fit([[0], [1]], [0, 1], classes=[0, 1, 2])
    with pytest.raises(ValueError, match="do not exist in the initial classes"):
        model.partial_fit([[0]], [9])


@pytest.mark.parametrize("name", NAMES)
def test_models_clone_and_pickle(name):
    model = ours(name).fit([[0, 1], [1, 0], [1, 1]], [0, 1, 1])
    assert not hasattr(clone(model), "classes_")
    assert_equal_models(pickle.loads(pickle.dumps(model)), model, [[1, 1]])


def test_gaussian_epsilon_does_not_depend_on_batches():
    """scikit-learn's variance becomes 33,333 here instead of 0.0000275."""
    wide, narrow = np.array([[0.0], [1e7], [2e7]]), np.array([[1.0], [1.01], [1.02]])
    X, y = np.concatenate([wide, narrow]), np.array([0, 0, 0, 1, 1, 1])
    parts = ours("GaussianNB").partial_fit(wide, y[:3], [0, 1]).partial_fit(narrow, y[3:])
    whole = ours("GaussianNB").fit(X, y)
    assert_equal_models(parts, whole, X)
    assert_same(whole.var_, theirs("GaussianNB").fit(X, y).var_)


def test_gaussian_variance_of_timestamps_is_exact():
    X = 1.7e9 + np.array([[0.0], [10.0], [3.5], [4.25]])
    model = ours("GaussianNB", var_smoothing=0.0).fit(X, [0, 0, 0, 0])
    exact = [Fraction(value) for value in X[:, 0]]
    mean = sum(exact) / 4
    assert model.theta_[0, 0] == float(mean)
    assert model.var_[0, 0] == float(sum((value - mean) ** 2 for value in exact) / 4)


@pytest.mark.parametrize("far", [1e17, -1e17, 1e200, -1e300, 1.7e308, 5e-324])
def test_gaussian_probabilities_sum_to_one_however_far(far):
    X = np.array([[0.0, 1.0], [1.0, 2.0], [5.0, 5.0], [6.0, 7.0]])
    model = ours("GaussianNB").fit(X, [0, 0, 1, 1])
    for row in ([far, far], [far, 1.0], [-far, far]):
        chances = model.predict_proba([row])
        assert np.isfinite(chances).all()
        assert math.isclose(chances.sum(), 1.0, rel_tol=1e-12)
        assert math.isclose(np.exp(model.predict_log_proba([row])).sum(), 1.0, rel_tol=1e-12)


def test_gaussian_farther_is_never_likelier():
    model = ours("GaussianNB").fit([[0.0], [1.0], [5.0], [6.5]], [0, 0, 1, 1])
    joint = model.predict_joint_log_proba([[10.0**power] for power in range(1, 300, 20)])
    assert (np.diff(joint, axis=0) < 0).all()


def test_gaussian_learns_from_numbers_near_the_largest():
    X = np.array([[1e200], [3e200], [-1e300], [-2e300]])
    model = ours("GaussianNB").fit(X, [0, 0, 1, 1])
    assert model.predict(X).tolist() == [0, 0, 1, 1]
    assert np.isfinite(model.predict_proba(X)).all()


def test_gaussian_without_smoothing_survives_a_constant_column():
    X = np.array([[1.0, 0.0], [1.0, 1.0], [2.0, 4.0], [2.0, 5.0]])
    model = ours("GaussianNB", var_smoothing=0.0).fit(X, [0, 0, 1, 1])
    assert model.predict(X).tolist() == [0, 0, 1, 1]
    assert np.isfinite(model.predict_proba([[3.0, 0.0]])).all()


def test_categories_never_seen_say_nothing():
    model = ours("CategoricalNB").fit([[0, 1], [1, 0], [1, 1]], [0, 1, 1])
    assert_same(model.predict_joint_log_proba([[7, 99]])[0], model.class_log_prior_)
    alone = model.predict_joint_log_proba([[1, 99]])[0]
    assert_same(alone, model.class_log_prior_ + model.feature_log_prob_[0][:, 1])


def test_fractions_are_no_categories():
    model = ours("CategoricalNB").fit([[0.0], [1.0]], [0, 1])
    for refused in (model.fit, model.partial_fit):
        with pytest.raises(ColumnRefused, match=r"row 2, column 0 holds 1\.9"):
            refused([[1.0], [1.9]], [0, 1])
    with pytest.raises(ColumnRefused, match=r"holds 1\.9"):
        model.predict([[1.9]])


def test_a_no_too_rare_for_one_minus_the_chance_is_still_possible():
    X = np.ones((5, 1))
    model = ours("BernoulliNB", alpha=1e-20).fit(X, np.zeros(5))
    assert_same(model.predict_joint_log_proba([[0.0]]), [[math.log(1e-20) - math.log(5)]])


def test_without_smoothing_what_is_impossible_everywhere_leaves_the_prior():
    for name in ("BernoulliNB", "MultinomialNB", "CategoricalNB"):
        model = ours(name, alpha=0.0).fit([[1, 0, 0], [1, 0, 0], [0, 1, 0]], [0, 0, 1])
        assert_same(model.predict_proba([[1, 1, 1]]), [[2 / 3, 1 / 3]])
        assert model.predict([[1, 1, 1]]).tolist() == [0]
        assert_same(model.predict_proba([[1, 0, 0]]), [[1.0, 0.0]])


def test_complement_warns_that_a_prior_has_no_effect():
    X, y = [[1, 0], [0, 1], [1, 1]], [0, 1, 1]
    with pytest.warns(UserWarning, match="no effect"):
        model = ours("ComplementNB", class_prior=[0.9, 0.1]).fit(X, y)
    assert_same(model.predict_proba(X), ours("ComplementNB").fit(X, y).predict_proba(X))


def test_counts_beyond_float64_stay_exact():
    heavy = 2**57
    model = ours("MultinomialNB").fit([[1], [1]], [0, 0], [heavy, 1])
    model.forget([[1]], [0], [heavy])
    assert model.feature_count_.tolist() == [[1.0]]


def test_stored_twice_is_one_value_to_bernoulli():
    twice = sp.csr_array((np.array([0.5, 0.6, 1.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    model = ours("BernoulliNB", binarize=1.0).fit(twice, [0, 1])
    assert model.feature_count_.tolist() == [[1.0, 0.0], [0.0, 0.0]]


def kernel_case(seed, rows=150, columns=11, classes=3):
    """Random numbers with some NaN, labels, and weights of both kinds and none."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)).round(1)
    X[rng.random(X.shape) < 0.05] = np.nan
    weights = [NO_WEIGHTS, rng.integers(0, 5, rows), rng.random(rows)][seed % 3]
    return rng, X, rng.integers(0, classes, rows), weights


def each_weight(weights, rows):
    return weights if weights.size else np.ones(rows, dtype=np.int64)


seeds = st.integers(0, 2**20)


@given(seed=seeds)
def test_kernels_that_count_codes(seed):
    rng, _, labels, weights = kernel_case(seed)
    codes = rng.integers(-1, 4, (150, 3))
    table, slow = (np.zeros((12, 3), weights.dtype) for _ in range(2))
    counting.count_codes(codes[:, 0].copy(), labels, weights, table)
    for code, label, weight in zip(codes[:, 0], labels, each_weight(weights, 150), strict=True):
        if code >= 0:
            slow[code, label] += weight
    np.testing.assert_array_equal(table, slow)
    lowest, highest = np.zeros(3, np.int64), np.zeros(3, np.int64)
    counting.code_limits(codes, lowest, highest)
    np.testing.assert_array_equal([lowest, highest], [codes.min(axis=0), codes.max(axis=0)])
    counting.count_code_rows(np.abs(codes), np.array([0, 4, 8]), labels, weights, table)
    for row, label, weight in zip(np.abs(codes), labels, each_weight(weights, 150), strict=True):
        for column, code in enumerate(row):
            slow[4 * column + code, label] += weight
    np.testing.assert_array_equal(table, slow)
    counts = np.zeros(3, weights.dtype)
    counting.count_labels(labels, weights, counts)
    np.testing.assert_allclose(counts, np.bincount(labels, each_weight(weights, 150), 3), rtol=1e-13)


@given(data=st.lists(st.floats() | st.integers(-3, 3).map(float), max_size=20))
def test_kernels_that_look_for_flaws(data):
    data = np.array(data, dtype=np.float64)
    found = counting.flaws(data)
    assert bool(found & counting.NOT_FINITE) == (not np.isfinite(data).all())
    assert bool(found & counting.NEGATIVE) == bool((data < 0).any())
    finite = data[np.isfinite(data)]
    if len(finite) == len(data):
        assert bool(found & counting.NOT_WHOLE) == any(x != math.floor(x) or x >= 2**53 for x in data)
    bad = [i for i, x in enumerate(data) if not (math.isnan(x) or (0 <= x < 2**53 and x == math.floor(x)))]
    assert counting.first_bad_count(data) == (bad[0] if bad else -1)


@given(seed=seeds)
def test_kernels_that_sum_counts(seed):
    _, X, labels, weights = kernel_case(seed)
    counts = np.abs(X).round()
    weight = each_weight(weights, len(X))
    slow = np.zeros((11, 3), weights.dtype)
    for label in range(3):
        mine = labels == label
        slow[:, label] = (np.nan_to_num(counts[mine]) * weight[mine, None]).sum(axis=0)
    dense, sparse = np.zeros_like(slow), np.zeros_like(slow)
    matrix = sp.csr_array(counts)
    counting.sum_dense(counts, labels, weights, dense)
    counting.sum_sparse(matrix.indptr, matrix.indices, matrix.data, labels, weights, sparse)
    np.testing.assert_allclose(dense, slow, rtol=1e-12)
    np.testing.assert_allclose(sparse, slow, rtol=1e-12)


@given(seed=seeds)
def test_kernels_that_count_truths(seed):
    _, X, labels, weights = kernel_case(seed)
    weight = each_weight(weights, len(X))
    slow = [np.zeros((11, 3), weights.dtype) for _ in range(2)]
    for row, label, heavy in zip(X, labels, weight, strict=True):
        slow[0][:, label] += heavy * (row <= 0.5)
        slow[1][:, label] += heavy * (row > 0.5)
    no, yes = np.zeros_like(slow[0]), np.zeros_like(slow[0])
    counting.count_truths(X, 0.5, labels, weights, no, yes)
    np.testing.assert_allclose([no, yes], slow, rtol=1e-12)
    rows_of_class = np.zeros(3, weights.dtype)
    counting.count_labels(labels, weights, rows_of_class)
    no, yes = np.tile(rows_of_class, (11, 1)), np.zeros_like(yes)
    matrix = sp.csr_array(X)
    counting.count_sparse_truths(matrix.indptr, matrix.indices, matrix.data, 0.5, labels, weights, no, yes)
    np.testing.assert_allclose([no, yes], slow, rtol=1e-9, atol=1e-12)


@given(seed=seeds)
def test_kernels_that_look_up_codes(seed):
    rng = np.random.default_rng(seed)
    classes = int(rng.integers(1, 10))
    codes = rng.integers(-1 if seed % 2 else 0, 7, (40, 3))
    offsets = np.array([0, 4, 6, 11])
    table = rng.normal(size=(11, classes))
    start = rng.normal(size=(40, classes))
    padded = np.zeros((12, -(-classes // scoring.LANES) * scoring.LANES))
    padded[:11, :classes] = table
    joint, slow = start.copy(), start.copy()
    assert scoring.add_code_rows(codes, offsets, padded, joint) == (codes.min() >= 0)
    for row, line in enumerate(codes):
        for column, code in enumerate(line):
            if 0 <= code < offsets[column + 1] - offsets[column]:
                slow[row] += table[offsets[column] + code]
    np.testing.assert_allclose(joint, slow, rtol=1e-12, atol=1e-12)
    joint, slow = start.copy(), start.copy()
    scoring.add_lookup(codes[:, 0].copy(), table, joint)
    for row, code in enumerate(codes[:, 0]):
        if code >= 0:
            slow[row] += table[code]
    np.testing.assert_array_equal(joint, slow)


@given(seed=seeds)
def test_kernels_that_score_counts(seed):
    rng, X, _, _ = kernel_case(seed)
    table, start = rng.normal(size=(11, 3)), rng.normal(size=(150, 3))
    table[rng.random(table.shape) < 0.05] = -np.inf
    counts = np.abs(X).round()
    slow = start.copy()
    for row, line in enumerate(counts):
        for slot, count in enumerate(line):
            if count > 0:
                slow[row] += count * table[slot]
    dense, sparse = start.copy(), start.copy()
    matrix = sp.csr_array(counts)
    scoring.add_dense(counts, table, dense)
    scoring.add_sparse(matrix.indptr, matrix.indices, matrix.data, table, sparse)
    np.testing.assert_array_equal(dense, slow)
    np.testing.assert_array_equal(sparse, slow)


@given(seed=seeds)
def test_kernels_that_score_truths(seed):
    rng, X, _, _ = kernel_case(seed, columns=1 + seed % 19)
    no, yes = rng.normal(size=(2, X.shape[1], 3))
    start = rng.normal(size=(150, 3))
    slow, joint = start.copy(), start.copy()
    for row, line in enumerate(X):
        for column, value in enumerate(line):
            slow[row] += yes[column] if value > 0.5 else no[column] * (value <= 0.5)
    scoring.add_truths(X, 0.5, no, yes, joint)
    np.testing.assert_allclose(joint, slow, rtol=1e-12, atol=1e-12)
    present, joint, slow = np.nan_to_num(X), start.copy(), start.copy()
    scoring.add_truth_bytes(present, 0.5, scoring.byte_tables(no, yes), joint)
    scoring.add_truths(present, 0.5, no, yes, slow)
    np.testing.assert_allclose(joint, slow, rtol=1e-12, atol=1e-12)


@given(seed=seeds)
def test_kernel_that_scores_bells(seed):
    rng, X, _, _ = kernel_case(seed)
    mean, inverse, constant = rng.normal(size=(11, 3)), rng.random((11, 3)) + 0.1, rng.normal(size=(11, 3))
    start = rng.normal(size=(150, 3))
    joint, slow = start.copy(), start.copy()
    scoring.add_gaussian(X, mean, inverse, constant, joint)
    for row, line in enumerate(X):
        for column, value in enumerate(line):
            if not math.isnan(value):
                z = (value - mean[column]) * inverse[column]
                slow[row] += constant[column] - 0.5 * z**2
    np.testing.assert_allclose(joint, slow, rtol=1e-12, atol=1e-10)
    X[17, 4], X[18, 5] = 1e250, np.inf
    disturbed = start.copy()
    scoring.add_gaussian(X, mean, inverse, constant, disturbed)
    others = np.delete(np.arange(150), [17, 18])
    np.testing.assert_array_equal(disturbed[others], joint[others])
    assert np.isfinite(disturbed).all()


@given(seed=seeds)
def test_kernel_that_picks_the_best(seed):
    rng = np.random.default_rng(seed)
    joint = rng.integers(-2, 2, (60, 4)).astype(float)
    joint[5] = -np.inf
    best = np.empty(60, dtype=np.int64)
    scoring.argmax_rows(joint, 2, best)
    expected = joint.argmax(axis=1)
    expected[5] = 2
    np.testing.assert_array_equal(best, expected)
