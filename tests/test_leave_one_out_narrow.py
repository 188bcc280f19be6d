"""Law 11 where it is hardest: columns far from zero and narrow, where taking a row out in doubles loses digits.

What leaving out is held to, a refit, is itself held to arithmetic in forty digits.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

from candide import families
from candide.data.batch import Batch
from candide.families.base.block_rows import BlockRows
from candide.families.base.density import Density
from candide.families.base.density_moments import Pool, blend, pool
from candide.families.base.density_without import (
    DensityLeftOut,
    SummedRows,
    among,
    exactly_without,
    in_rows,
    left_out_each,
)
from candide.families.base.discriminant import Discriminant
from candide.families.base.family import Block
from candide.families.gamma import log_height, shape_from
from candide.kernels.logarithm import grid_log
from candide.model.predictor import Predictor
from candide.model.summary import Summary
from candide.selection.leave_one_out import LeaveOneOut
from candide.statistics.logarithms import fixed_log
from candide.statistics.sums import Sums

TRIALS = 4_000_000_000
OFFSETS = (1.0, 1e3, 1e6, 1e9)
SPREADS = (1e-1, 1e-3, 1e-4, 1e-6)
DENSITIES = [name for name in families.names() if isinstance(families.named(name), (Density, Discriminant))]
LABELS = "abc" * 5
PRECISION = 60


def family_of(name, **options):
    more = {"trials": TRIALS} if name == "binomial" else {}
    return families.named(name, **more, **options)


def column(family, offset, spread, seed=0):
    """Numbers around an offset, a little apart by class; whole where the family asks for it."""
    rng = np.random.default_rng(seed)
    classes = np.array(["abc".index(label) for label in LABELS])
    values = np.abs(offset * (1 + spread * (rng.standard_normal(len(LABELS)) + 0.5 * classes)))
    support = getattr(family, "support", None)
    return np.rint(values) if support is not None and not support.holds(np.array([0.5]))[0] else values


def judged(family, values, weights):
    blocks = (Block(family, ("x",)),)
    batch = Batch.of({"x": values}, list(LABELS), weights)
    summary = Summary.of(blocks, batch)
    found = LeaveOneOut.of(summary, batch).left_out().joint
    for index in range(0, len(values), 4):
        some = slice(index, index + 1)
        row = Batch.of({"x": values[some]}, list(LABELS[some]), weights[some])
        yield found[index], Predictor.fit(summary - Summary.of(blocks, row)).joint(row)[0]


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("name", DENSITIES)
def test_leaving_out_is_refitting_in_narrow_columns(name, offset, spread):
    for smoothing in (1.0, 0.0):
        if smoothing == 0 and name.startswith("gaussian_"):
            continue  # a covariance without smoothing may be all but singular
        family = family_of(name, smoothing=smoothing)
        weights = [1, 1, 2] * 5
        for found, expected in judged(family, column(family, offset, spread), weights):
            assert np.abs(found - expected) == pytest.approx(0, abs=1e-9 * (1 + np.abs(expected).max()))


# The refit itself, by numbers of sixty digits.


def exact(work):
    with localcontext() as context:
        context.prec = PRECISION
        return work()


def decimal(number):
    ratio = Fraction(number)
    return Decimal(ratio.numerator) / Decimal(ratio.denominator)


@lru_cache(maxsize=1)
def bernoulli():
    """B2, B4, ... B30."""
    numbers = [Fraction(1)]
    for n in range(1, 31):
        choose, total = 1, Fraction(0)
        for k in range(n):
            total += choose * numbers[k]
            choose = choose * (n + 1 - k) // (k + 1)
        numbers.append(-total / (n + 1))
    return numbers[2::2]


def log_gamma(x):
    """Stirling's series, after stepping up to where it is exact."""
    shift = Decimal(0)
    while x < 60:
        shift += x.ln()
        x += 1
    tau = 2 * fixed_pi()
    series = sum(decimal(b) / (2 * n * (2 * n - 1) * x ** (2 * n - 1)) for n, b in enumerate(bernoulli(), 1))
    return (x - Decimal("0.5")) * x.ln() - x + tau.ln() / 2 + series - shift


def digamma(x):
    shift = Decimal(0)
    while x < 60:
        shift += 1 / x
        x += 1
    series = sum(decimal(b) / (2 * n * x ** (2 * n)) for n, b in enumerate(bernoulli(), 1))
    return x.ln() - 1 / (2 * x) - series - shift


@lru_cache(maxsize=1)
def fixed_pi():
    """By Machin's formula."""

    def arctan_of_inverse(n):
        return sum(Decimal((-1) ** k) / ((2 * k + 1) * Decimal(n) ** (2 * k + 1)) for k in range(60))

    return exact(lambda: 4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239)))


COUNTS = [(0, 3.5), (7, 2.25), (10_000, 9_900.5), (10**6, 1.001e6), (10**9, 1e9 + 1e4), (3, 1e9), (10**9, 5.0)]


@pytest.mark.parametrize(("count", "mean"), COUNTS)
def test_chances_of_large_counts_are_right(count, mean):
    def poisson():
        return count * decimal(mean).ln() - decimal(mean) - log_gamma(Decimal(count + 1))

    def negative_binomial(waited):
        r, m = decimal(waited), decimal(mean)
        ways = log_gamma(r + count) - log_gamma(r) - log_gamma(Decimal(count + 1))
        return ways + r * (r / (r + m)).ln() + count * (m / (r + m)).ln()

    def binomial():
        share, rest = decimal(mean / TRIALS), TRIALS - count
        ways = log_gamma(Decimal(TRIALS + 1)) - log_gamma(Decimal(count + 1)) - log_gamma(Decimal(rest + 1))
        return ways + count * share.ln() + rest * (1 - share).ln()

    def geometric():
        return count * (decimal(mean) / (1 + decimal(mean))).ln() - (1 + decimal(mean)).ln()

    value, rate = np.array([[float(count)]]), np.array([[mean]])
    assert close(family_of("poisson").log_density(value, rate), exact(poisson))
    assert close(family_of("binomial").log_density(value, rate / TRIALS), exact(binomial))
    assert close(family_of("geometric").log_density(value, rate / (1 + rate), 1 / (1 + rate)), exact(geometric))
    for waited in (0.25, 40.0, 1e5, 3e7, 1e12):
        said = family_of("negative_binomial").log_density(value, rate, np.array([[waited]]))
        assert close(said, exact(lambda waited=waited: negative_binomial(waited))), waited


def close(said, expected):
    return float(said[0, 0]) == pytest.approx(float(expected), abs=1e-9, rel=1e-12)


def test_many_successes_are_not_taken_for_a_poisson_of_large_counts():
    """Counts near 10^9 that spread ten times as far as a Poisson's: some 10^7 successes."""
    family = family_of("negative_binomial", smoothing=0.0)
    rng = np.random.default_rng(0)
    values = np.rint(1e9 + 3.2e5 * rng.standard_normal((2000, 1)))
    seen = Summary.of((Block(family, ("x",)),), Batch.of({"x": values[:, 0]}, ["a"] * 2000)).statistics[0]
    far = family.log_density(np.array([[1e9 + 3.2e5]]), *family.fit(seen, ("x",)))
    assert far[0, 0] == pytest.approx(-np.log(3.2e5 * np.sqrt(2 * np.pi)) - 0.5, abs=0.1)


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("spread", [0.3, 1e-2, 1e-3, 2e-4])
def test_gammas_of_narrow_columns_are_the_most_likely_ones(offset, spread):
    """By the sums that are kept: exact means, and the exact mean of logarithms on the grid."""
    family = family_of("gamma", smoothing=0.0)
    values = column(family, offset, spread, seed=3)
    seen = Summary.of((Block(family, ("x",)),), Batch.of({"x": values}, ["a"] * len(values))).statistics[0]
    shape, mean = (float(part[0, 0]) for part in family.fit(seen, ("x",)))

    def work():
        logs = sum(map(Fraction, grid_log(values).tolist()), Fraction(0)) / len(values)
        middle = sum(map(Fraction, values.tolist()), Fraction(0)) / len(values)
        gap = decimal(middle).ln() - decimal(logs)
        a, off = decimal(shape), Decimal(1)
        for _ in range(3):  # Newton steps from the answer given: it must not move
            off = a.ln() - digamma(a) - gap
            a = 1 / (1 / a + off / (-Decimal("0.5") - 1 / (6 * a)))
        x, m = decimal(values[0]), decimal(middle)
        return a, a * (a / m).ln() - log_gamma(a) + (a - 1) * x.ln() - a * x / m

    best, expected = exact(work)
    assert shape == pytest.approx(float(best), rel=1e-9)
    said = family.log_density(values[:1, None], np.array([[shape]]), np.array([[mean]]))
    assert float(said[0, 0]) == pytest.approx(float(expected), abs=1e-9, rel=1e-9)


def test_a_sharp_shape_solves_its_equation():
    for shape in (0.01, 0.7, 19.0, 21.0, 1e3, 1e6, 9e7):
        gap = exact(lambda shape=shape: decimal(shape).ln() - digamma(decimal(shape)))
        assert shape_from(np.array([float(gap)]))[0] == pytest.approx(shape, rel=1e-12)
        a = decimal(shape)
        height = exact(lambda a=a: a * a.ln() - a - log_gamma(a))
        assert log_height(np.array([shape]))[0] == pytest.approx(float(height), abs=1e-12)


RATIOS = [(3, 2), (2, 3), (1, 10**300), (10**300, 7), (10**9 + 1, 10**9)]


@pytest.mark.parametrize(("above", "below"), RATIOS, ids=lambda number: f"{number:.1e}")
def test_logarithms_in_fixed_point_are_right(above, below):
    expected = exact(lambda: (Decimal(above) / Decimal(below)).ln() * 2**96)
    assert abs(fixed_log(above, below) - int(expected)) < 2**20


def test_rows_of_every_weight_leave_a_clock_as_it_was():
    """Seconds since 1970 within a minute: which way a mean is rounded shows in the eighth digit."""
    rng = np.random.default_rng(5)
    values = 1.7e9 + rng.integers(0, 60, len(LABELS)) + rng.random(len(LABELS))
    family = replace(family_of("gaussian"), smoothing=0.5)
    for found, expected in judged(family, values, rng.integers(1, 9, len(LABELS)).tolist()):
        assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", ["gaussian", "student"])
@pytest.mark.parametrize("prior_rows", [0.0, 1.0])
def test_numbers_left_out_in_doubles_say_what_exact_sums_say(prior_rows, name):
    """The slow twin goes back to exact sums for every row: clocks, outliers, equal values, and a class of one row."""
    rng = np.random.default_rng(4)
    columns = [
        rng.normal(size=40), 1.7e9 + rng.integers(0, 9, 40), np.append(rng.normal(size=39), 1e9), np.full(40, 0.1),
        1e300 * rng.normal(size=40), 1e-300 * rng.normal(size=40),
    ]  # fmt: skip
    labels, weights = np.append(rng.integers(0, 2, 39), 2), rng.integers(1, 4, 40)
    family = family_of(name, smoothing=prior_rows)
    for values in columns:
        seen, out = Sums.of(values[:, None], labels, 3, weights), SummedRows(values, labels, weights)
        rows = BlockRows(values[:, None], labels, weights, Batch.of({"x": values}))
        found = DensityLeftOut.of(family, seen).scores(rows).score
        own, everyone = pool(exactly_without(seen, out)), pool(exactly_without(seen.over_classes(), all_alike(out)))
        exact = blend(among(seen, Pool(*(part if part is None else part[0] for part in own)), labels),
                      in_rows(Pool(*(part if part is None else part[0] for part in everyone))), prior_rows)  # fmt: skip
        expected = family.log_density(values[:, None], *family.parameters(exact))
        assert found == pytest.approx(expected, rel=1e-9)
        known_to_doubles = left_out_each(family, rows, 3)
        assert known_to_doubles is None or known_to_doubles.score == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", [name for name in DENSITIES if getattr(family_of(name), "contest_density", None)])
def test_numbers_need_no_sums_where_rows_are_all_there_is(name):
    rng = np.random.default_rng(6)
    labels, weights = rng.integers(0, 3, 200), rng.integers(1, 4, 200)
    values = np.where(rng.random((200, 2)) < 0.1, np.nan, rng.poisson(20 + 5 * labels[:, None], (200, 2)) + 1.0)
    family = family_of(name)
    rows = BlockRows(values, labels, weights, Batch.of(values))
    summed = family.summed(values)
    expected = DensityLeftOut.of(family, Sums.of(summed, labels, 3, weights, family.needs_logs)).scores(rows)
    found = left_out_each(family, rows, 3)
    assert found is not None
    assert found.score == pytest.approx(expected.score, rel=1e-10)
    assert np.array_equal(found.length, expected.length)


def all_alike(out):
    """The same rows as if there were one class."""
    return out._replace(labels=np.zeros_like(out.labels))
