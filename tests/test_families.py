"""Each family against SciPy or a closed form: its parameters, its smoothing, its refusals, its far tails."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from candide import NaiveBayes, families
from candide.data.batch import Batch
from candide.data.errors import ColumnRefused, OptionRefused
from candide.families.base.family import Block
from candide.families.binomial import Binomial
from candide.model.predictor import Predictor
from candide.model.summary import Summary

rng = np.random.default_rng(4)
LABELS = np.array([0] * 12 + [1] * 9)
POSITIVE = np.concatenate([rng.gamma(3.0, 2.0, 12), rng.gamma(1.0, 9.0, 9)])
COUNTS = np.concatenate([rng.negative_binomial(2, 0.3, 12), rng.poisson(7, 9)]).astype(float)
GRID = np.array([0.5, 1.0, 2.25, 7.0, 30.0])
WHOLE = np.arange(12.0)


def log_likelihood(family, values, asked, labels=LABELS):
    """log p(asked | class) after learning one column."""
    block = Block(family, ("x0",))
    model = Predictor.fit(Summary.of((block,), Batch.of(np.reshape(values, (-1, 1)), labels)))
    return model.log_likelihood(Batch.of(np.reshape(asked, (-1, 1)).astype(float))) - model.log_prior


def unsmoothed(name, **options):
    return families.named(name, smoothing=0.0, **options)


def by_class(values, log_density):
    """The expected answer: each class's own rows turned into a log density over the points asked."""
    return np.column_stack([log_density(values[label == LABELS]) for label in (0, 1)])


# Maximum likelihood, where smoothing is zero.


def test_gaussian():
    expected = by_class(POSITIVE, lambda x: stats.norm.logpdf(GRID, x.mean(), x.std()))
    assert log_likelihood(unsmoothed("gaussian"), POSITIVE, GRID) == pytest.approx(expected, rel=1e-12)


def test_lognormal():
    expected = by_class(POSITIVE, lambda x: stats.lognorm.logpdf(GRID, np.log(x).std(), scale=np.exp(np.log(x).mean())))
    assert log_likelihood(unsmoothed("lognormal"), POSITIVE, GRID) == pytest.approx(expected, rel=1e-9)


def test_gamma():
    def density(x):
        shape, _, scale = stats.gamma.fit(x, floc=0)
        return stats.gamma.logpdf(GRID, shape, scale=scale)

    assert log_likelihood(unsmoothed("gamma"), POSITIVE, GRID) == pytest.approx(by_class(POSITIVE, density), rel=1e-6)


def test_weibull_has_the_mean_and_variance_of_the_logarithms():
    def density(x):
        shape = math.pi / math.sqrt(6 * np.log(x).var())
        return stats.weibull_min.logpdf(GRID, shape, scale=np.exp(np.log(x).mean() + np.euler_gamma / shape))

    assert log_likelihood(unsmoothed("weibull"), POSITIVE, GRID) == pytest.approx(by_class(POSITIVE, density), rel=1e-9)


def test_weibull_finds_the_shape_and_scale_that_rows_were_drawn_from():
    drawn = 3.0 * np.random.default_rng(0).weibull(1.5, 20_000)
    block = Block(unsmoothed("weibull"), ("x0",))
    ((shape, log_scale),) = Predictor.fit(Summary.of((block,), Batch.of({"x0": drawn}, ["a"] * 20_000))).parameters
    assert shape[0, 0] == pytest.approx(1.5, rel=0.03)
    assert math.exp(log_scale[0, 0]) == pytest.approx(3.0, rel=0.03)


def test_exponential():
    expected = by_class(POSITIVE, lambda x: stats.expon.logpdf(GRID, scale=x.mean()))
    assert log_likelihood(unsmoothed("exponential"), POSITIVE, GRID) == pytest.approx(expected, rel=1e-12)


def test_poisson():
    expected = by_class(COUNTS, lambda x: stats.poisson.logpmf(WHOLE, x.mean()))
    assert log_likelihood(unsmoothed("poisson"), COUNTS, WHOLE) == pytest.approx(expected, rel=1e-12)


def test_geometric_counts_from_zero():
    expected = by_class(COUNTS, lambda x: stats.geom.logpmf(WHOLE + 1, 1 / (1 + x.mean())))
    assert log_likelihood(unsmoothed("geometric"), COUNTS, WHOLE) == pytest.approx(expected, rel=1e-12)


def test_binomial():
    values = rng.binomial(11, 0.4, 21).astype(float)
    expected = by_class(values, lambda x: stats.binom.logpmf(WHOLE, 11, x.mean() / 11))
    assert log_likelihood(Binomial(smoothing=0.0, trials=11), values, WHOLE) == pytest.approx(expected, rel=1e-9)


def test_negative_binomial_by_moments_and_poisson_where_counts_vary_less():
    values = np.array([0, 1, 1, 2, 9, 11, 0, 3, 14, 2, 0, 5, 4, 5, 5, 5, 4, 6, 5, 5, 6], dtype=float)
    wild, calm = values[LABELS == 0], values[LABELS == 1]
    assert wild.var() > wild.mean()
    assert calm.var() < calm.mean()
    successes = wild.mean() ** 2 / (wild.var() - wild.mean())
    expected = [
        stats.nbinom.logpmf(WHOLE, successes, successes / (successes + wild.mean())),
        stats.poisson.logpmf(WHOLE, calm.mean()),
    ]
    found = log_likelihood(unsmoothed("negative_binomial"), values, WHOLE)
    assert found == pytest.approx(np.column_stack(expected), rel=1e-9)


def test_student_is_the_textbook_posterior_predictive():
    """Normal-inverse-gamma with k prior rows of mean M and variance V: Student(n + k) around the pooled mean."""
    mean, variance, prior_rows = POSITIVE.mean(), POSITIVE.var(), 2.0

    def density(x):
        rows = len(x) + prior_rows
        centre = (len(x) * x.mean() + prior_rows * mean) / rows
        shrinkage = len(x) * prior_rows / rows * (x.mean() - mean) ** 2
        spread = (len(x) * x.var() + prior_rows * variance + shrinkage) / rows
        return stats.t.logpdf(GRID, rows, centre, math.sqrt(spread * (rows + 1) / rows))

    found = log_likelihood(families.named("student", smoothing=prior_rows), POSITIVE, GRID)
    assert found == pytest.approx(by_class(POSITIVE, density), rel=1e-9)


@pytest.mark.parametrize("name", ["gaussian_full", "gaussian_shared"])
def test_discriminants_against_scipy(name):
    points = rng.normal(size=(21, 3)) @ rng.normal(size=(3, 3)) + LABELS[:, None]
    parts = [points[label == LABELS] for label in (0, 1)]
    own = [np.cov(part.T, bias=True) for part in parts]
    shared = (12 * own[0] + 9 * own[1]) / 21
    covariances = own if name == "gaussian_full" else [shared, shared]
    model = NaiveBayes(families=unsmoothed(name, floor=0.0), priors="uniform").fit(points, LABELS)
    expected = [
        stats.multivariate_normal.logpdf(points, part.mean(axis=0), covariance)
        for part, covariance in zip(parts, covariances, strict=True)
    ]
    found = model.predict_joint_log_proba(points) - math.log(0.5)
    assert found == pytest.approx(np.column_stack(expected), rel=1e-9)


@pytest.mark.parametrize("name", ["gaussian_full", "gaussian_shared"])
def test_discriminants_predict_from_the_marginal_of_what_is_observed(name):
    points = rng.normal(size=(21, 3)) @ rng.normal(size=(3, 3)) + LABELS[:, None]
    whole = NaiveBayes(families=name).fit(points, LABELS)
    part = NaiveBayes(families=name).fit(points[:, [0, 2]], LABELS)
    asked = points.copy()
    asked[:, 1] = np.nan
    assert whole.predict_joint_log_proba(asked) == pytest.approx(part.predict_joint_log_proba(points[:, [0, 2]]))


# Smoothing: so many rows of the whole column, given to each class for free.

DENSITIES = ["gaussian", "lognormal", "gamma", "weibull", "exponential", "poisson", "geometric", "negative_binomial"]


@pytest.mark.parametrize("name", DENSITIES)
def test_smoothing_is_rows_of_the_whole_column_for_free(name):
    """Two classes of one value each, smoothed by two rows of both: four rows each, one value three times as often."""
    free = np.array([1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0, 1.0])
    smoothed = log_likelihood(families.named(name, smoothing=2.0), [1.0, 1.0, 3.0, 3.0], [1.0, 2.0], [0, 0, 1, 1])
    expected = log_likelihood(unsmoothed(name), free, [1.0, 2.0], [0, 0, 0, 0, 1, 1, 1, 1])
    assert smoothed == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", [*DENSITIES, "student", "gaussian_full", "gaussian_shared"])
@pytest.mark.parametrize("smoothing", [0.0, 1.0])
def test_a_class_that_never_saw_a_column_borrows_its_overall_shape(name, smoothing):
    block = Block(families.named(name, smoothing=smoothing), ("x0",))
    seen = Summary.of((block,), Batch.of({"x0": [1.0, 2.0, 4.0, None]}, ["a", "a", "a", "b"]))
    stranger = Predictor.fit(seen).log_likelihood(Batch.of({"x0": [2.0]}))[0, 1]
    assert np.isfinite(stranger)
    if smoothing == 0 and name in DENSITIES:
        familiar = Predictor.fit(seen).log_likelihood(Batch.of({"x0": [2.0]}))[0, 0] + math.log(1 / 3)
        assert stranger == pytest.approx(familiar)


def test_a_class_of_equal_values_is_not_infinitely_sure():
    """The variance is at least a billionth of the whole column's."""
    values = [5.0, 5.0, 4.0, 6.0]
    found = log_likelihood(families.named("gaussian"), values, [5.0], [0, 0, 1, 1])[0, 0]
    assert found == pytest.approx(stats.norm.logpdf(0.0, scale=math.sqrt(1e-9 * np.var(values))))


def test_a_constant_column_says_nothing():
    found = log_likelihood(families.named("gaussian"), [5.0, 5.0, 5.0], [5.0, 7.0], [0, 1, 1])
    assert found[:, 0] == pytest.approx(found[:, 1], rel=1e-15)


# What a family cannot take, in a sentence.


@pytest.mark.parametrize(
    ("name", "bad", "needs"),
    [
        ("gaussian", math.inf, "a finite number"),
        ("student", -math.inf, "a finite number"),
        ("gaussian_full", math.inf, "a finite number"),
        ("gaussian_shared", math.inf, "a finite number"),
        ("lognormal", 0.0, "a number above zero"),
        ("gamma", -1.0, "a number above zero"),
        ("weibull", 0.0, "a number above zero"),
        ("exponential", -0.5, "a number from zero up"),
        ("poisson", 0.5, "a count (0, 1, 2, ...)"),
        ("geometric", -1.0, "a count (0, 1, 2, ...)"),
        ("negative_binomial", 2.0**53, "a count (0, 1, 2, ...)"),
        ("multinomial", -1.0, "a count (0, 1, 2, ...)"),
        ("complement", 0.5, "a count (0, 1, 2, ...)"),
        ("bernoulli", 2.0, "0 or 1 (or a truth value)"),
        ("binomial", 2.0, "a whole number from 0 to 1 (trials=1)"),
    ],
)
def test_the_sentence_of_refusal(name, bad, needs):
    with pytest.raises(ColumnRefused) as caught:
        NaiveBayes(families=name).fit({"first": [1, 1, 1], "second": [1, 1, bad]}, [0, 1, 0])
    message = str(caught.value)
    assert message.startswith(f"second: '{name}' needs {needs} in every row, but row 3 holds ")
    assert "families={'second': " in message


@pytest.mark.parametrize("trials", [0, -1, 2.5])
def test_binomial_needs_a_whole_number_of_trials(trials):
    with pytest.raises(OptionRefused, match="trials must be a whole number from 1 up"):
        Binomial(trials=trials)


@pytest.mark.parametrize("name", families.names())
def test_every_family_knows_its_name_and_describes_itself(name):
    family = families.named(name)
    assert family.name == name
    assert families.named(**{("name" if key == "family" else key): v for key, v in family.describe().items()}) == family


# Far out.


@pytest.mark.parametrize("name", ["gaussian", "student", "gaussian_full", "exponential", "lognormal", "weibull"])
def test_moving_farther_out_never_favours_the_narrower_class(name):
    """Floors and replaced underflows make others prefer the narrow class again once a value is far enough."""
    narrow, wide = np.array([1.9, 2.0, 2.1, 2.05]), np.array([0.5, 2.0, 9.0, 4.0])
    values, labels = np.concatenate([narrow, wide]), [0] * 4 + [1] * 4
    distances = 10.0 ** np.arange(2, 301, 2)
    found = log_likelihood(families.named(name), values, distances, labels)
    assert (found[:, 0] < found[:, 1]).all()


@pytest.mark.parametrize("name", ["gaussian", "student", "gaussian_full", "gaussian_shared"])
def test_farther_is_never_likelier(name):
    values, labels = np.array([-1.0, 0.0, 1.0, 4.0, 5.0, 7.0]), [0, 0, 0, 1, 1, 1]
    for side in (1, -1):
        far = side * 10.0 ** np.arange(1, 301)
        assert (np.diff(log_likelihood(families.named(name), values, far, labels), axis=0) <= 0).all()


@pytest.mark.parametrize("name", ["gaussian", "student", "gaussian_full", "gaussian_shared"])
def test_timestamps_keep_their_spread(name):
    """Around 1.7e9 with a spread of ten, E[x²] - m² in doubles gives nothing, or less."""
    early, late = 1.7e9 + np.array([-10.0, 0.0, 10.0]), 1.7e9 + np.array([50.0, 60.0, 70.0])
    shifted = np.concatenate([early, late])
    labels = [0, 0, 0, 1, 1, 1]
    asked = np.array([-5.0, 30.0, 66.0])
    near_zero = log_likelihood(families.named(name), shifted - 1.7e9, asked, labels)
    assert log_likelihood(families.named(name), shifted, asked + 1.7e9, labels) == pytest.approx(near_zero, rel=1e-6)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1.0, 1e150, 1e300])
@pytest.mark.parametrize(
    "name", ["gaussian", "student", "gaussian_full", "gaussian_shared", "exponential", "gamma", "weibull"]
)
def test_units_do_not_matter(name, scale):
    """Metres or parsecs: the same posterior."""
    values, labels, asked = np.array([1.0, 2.0, 4.0, 5.0, 7.0, 9.0]), [0, 0, 0, 1, 1, 1], np.array([1.0, 4.5, 6.0])
    plain = log_likelihood(families.named(name), values, asked, labels)
    scaled = log_likelihood(families.named(name), values * scale, asked * scale, labels)
    assert scaled[:, 0] - scaled[:, 1] == pytest.approx(plain[:, 0] - plain[:, 1], rel=1e-6)
