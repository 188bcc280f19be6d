"""Exact sums against slow, obvious twins written with fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from candide.kernels.logarithm import grid_log
from candide.statistics.cross_moments import CrossBuilder
from candide.statistics.exact import ExactSums
from candide.statistics.moments import InfiniteValue, MomentsBuilder, moments

modest = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])

finite = st.floats(allow_nan=False, allow_infinity=False)
awkward = st.one_of(
    finite,
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1e300, -1e300, 1e-300, 1.0, 1 + 2**-52]),
    st.integers(-1000, 1000).map(float),
)
cells = st.one_of(awkward, st.just(math.nan))
whole_weights = st.one_of(st.integers(0, 20), st.integers(0, 2**62))
fractional_weights = st.floats(0, 1e308, allow_nan=False)


def exactly(sums):
    """Every sum as a Fraction."""
    numbers, exponent = sums.integers()
    return [Fraction(int(number)) * Fraction(2) ** exponent for number in numbers.ravel()]


def nearest(number):
    """The double nearest to a Fraction."""
    try:
        return number.numerator / number.denominator
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def slow_moments(values, labels, classes, weights=None):
    """The twin of `moments`, row by row in fractions."""
    columns = values.shape[1]
    sums = [[Fraction(0)] * (columns * classes) for _ in range(3)]
    for row, label in enumerate(labels):
        weight = Fraction(1 if weights is None else weights[row].item())
        for column in range(columns):
            value = float(values[row, column])
            if math.isnan(value):
                continue
            index = column * classes + label
            for power in range(3):
                sums[power][index] += weight * Fraction(value) ** power
    return sums


def slow_cross(values, labels, classes, weights=None):
    """The twin of `CrossBuilder`, row by row in fractions."""
    columns = values.shape[1]
    pairs = [(left, right) for left in range(columns) for right in range(left, columns)]
    weight_sums = [Fraction(0)] * classes
    totals = [Fraction(0)] * (columns * classes)
    products = [Fraction(0)] * (len(pairs) * classes)
    for row, label in enumerate(labels):
        if np.isnan(values[row]).any():
            continue
        weight = Fraction(1 if weights is None else weights[row].item())
        numbers = [Fraction(float(value)) for value in values[row]]
        weight_sums[label] += weight
        for column in range(columns):
            totals[column * classes + label] += weight * numbers[column]
        for index, (left, right) in enumerate(pairs):
            products[index * classes + label] += weight * numbers[left] * numbers[right]
    return [weight_sums, totals, products]


def full_slices(bits):
    """A double whose slices of so many bits are all as large as they can be, and odd."""
    return int(("1" * bits + ("0" + "1" * bits) * 2)[:53], 2) * 2.0**-53


def assert_canonical(sums):
    digits = sums.digits
    assert not digits.flags.writeable
    assert (np.abs(digits) < 2**32).all()
    assert ((digits >= 0).all(axis=-1) | (digits <= 0).all(axis=-1)).all()
    if digits.shape[-1]:
        assert digits[..., 0].any()
        assert digits[..., -1].any()
    else:
        assert sums.low == 0


def assert_sums(found, wanted):
    for sums, numbers in zip(found, wanted, strict=True):
        assert_canonical(sums)
        assert exactly(sums) == numbers


@st.composite
def tables(draw, most_rows=12, cell=cells):
    rows, columns, classes = draw(st.integers(0, most_rows)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    values = [draw(st.lists(cell, min_size=columns, max_size=columns)) for _ in range(rows)]
    labels = draw(st.lists(st.integers(0, classes - 1), min_size=rows, max_size=rows))
    weights = draw(
        st.one_of(
            st.none(),
            st.lists(whole_weights, min_size=rows, max_size=rows).map(lambda w: np.array(w, np.int64)),
            st.lists(fractional_weights, min_size=rows, max_size=rows).map(lambda w: np.array(w, np.float64)),
        )
    )
    return np.array(values, np.float64).reshape(rows, columns), np.array(labels, np.int64), classes, weights


def rows_of(kind, rows=700, columns=5, seed=1):
    """Tables large enough for slices, of one character each."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rows, columns))
    if kind == "timestamps":
        values = 1.7e9 + 10 * values
    if kind == "scales":
        values *= 10.0 ** np.array([300, -300, -310, 0, 120])[:columns]
    if kind == "outliers":
        values[::50] *= 1e200
        values[7::50] *= 1e-200
    if kind == "missing":
        values[rng.random(values.shape) < 0.3] = np.nan
    if kind == "counts":
        values = rng.poisson(3.0, size=values.shape).astype(float)
    if kind == "denormals":
        values = rng.integers(-5, 6, size=values.shape) * 5e-324
    if kind == "full mantissas":
        values = rng.choice([-1.0, 1.0], size=values.shape) * np.nextafter(2.0, 0.0)
    if kind == "zeros":
        values *= -0.0
    return values


KINDS = [
    "normals",
    "timestamps",
    "scales",
    "outliers",
    "missing",
    "counts",
    "denormals",
    "full mantissas",
    "zeros",
]


def weights_of(kind, rows, seed=2):
    rng = np.random.default_rng(seed)
    return {
        "none": None,
        "small": rng.integers(0, 4, rows),
        "mixed": np.where(rng.random(rows) < 0.2, rng.integers(0, 2**62, rows), rng.integers(0, 17, rows)),
        "whole doubles": rng.integers(0, 9, rows).astype(float),
        "fractional": np.where(rng.random(rows) < 0.5, rng.random(rows), 2.0 ** rng.integers(-1000, 1000, rows)),
        "sixteen": np.full(rows, 16),
    }[kind]


@modest
@given(st.lists(awkward, max_size=8), st.data())
def test_addition_and_subtraction_are_exact(left, data):
    right = data.draw(st.lists(awkward, min_size=len(left), max_size=len(left)))
    one, two = ExactSums.of(np.array(left, float)), ExactSums.of(np.array(right, float))
    assert exactly(one) == [Fraction(number) for number in left]
    assert exactly(one + two) == [Fraction(a) + Fraction(b) for a, b in zip(left, right, strict=True)]
    assert exactly(one - two) == [Fraction(a) - Fraction(b) for a, b in zip(left, right, strict=True)]
    assert one + two - two == one
    assert (one == two) == (exactly(one) == exactly(two))
    assert one - one == ExactSums.zeros(len(left))
    assert hash(one + two) == hash(two + one)
    for sums in (one, two, one + two, one - two):
        assert_canonical(sums)


@modest
@given(st.lists(awkward, min_size=1, max_size=6), st.lists(awkward, min_size=1, max_size=6))
def test_floats_are_correctly_rounded(left, right):
    pairs = [(a, b) for a in left for b in right]
    one = ExactSums.of(np.array([a for a, _ in pairs]))
    two = ExactSums.of(np.array([b for _, b in pairs]))
    for sums in (one, one + two, one - two, one + one + two):
        numbers = exactly(sums)
        assert sums.to_float().tolist() == [nearest(number) for number in numbers]
        assert sums.signs().tolist() == [(number > 0) - (number < 0) for number in numbers]
    assert one.signs().dtype == np.int8


def test_squares_round_to_subnormals_ties_and_infinity():
    rng = np.random.default_rng(5)
    scale = 2.0 ** rng.integers(-545, -500, (400, 1))
    values = np.vstack([rng.normal(size=(400, 1)) * scale, [[2.0**-537.5]], [[1e160]], [[2.0**-538]]])
    labels = np.arange(len(values))
    square = moments(values, labels, len(values))[2]
    assert square.to_float().ravel().tolist() == [nearest(number) for number in exactly(square)]
    assert square.to_float()[0, 401] == math.inf
    ties = ExactSums.of(np.array([1.0, 1.0, 2.0**53, -(2.0**53)]))
    steps = ExactSums.of(np.array([2.0**-53, 2.0**-53 + 2.0**-105, 1.0, -3.0]))
    assert (ties + steps).to_float().tolist() == [1.0, 1 + 2**-52, 2.0**53, -(2.0**53) - 4]
    assert (ties + steps + ExactSums.of(np.full(4, 5e-324))).to_float().tolist() == [
        1 + 2**-52,
        1 + 2**-52,
        2.0**53 + 2,
        -(2.0**53) - 2,
    ]


@modest
@given(st.integers(1, 3), st.integers(1, 4), st.data())
def test_sums_along_an_axis(rows, columns, data):
    numbers = data.draw(st.lists(awkward, min_size=rows * columns, max_size=rows * columns))
    values = np.array(numbers).reshape(rows, columns)
    sums = ExactSums.of(values)
    for axis in (0, 1, -1):
        wanted = [sum(map(Fraction, line)) for line in (values.T if axis == 0 else values).tolist()]
        assert exactly(sums.sum(axis)) == wanted
        assert_canonical(sums.sum(axis))
    assert sums.sum().sum() == sums.sum(1).sum()


def test_take_and_spread_are_inverse_and_trim():
    sums = ExactSums.of(np.array([[1e300, 2.0, 3.0], [4.0, 0.0, 1e-300]]))
    middle = sums.take(np.array([1]), axis=1)
    assert middle == ExactSums.of(np.array([[2.0], [0.0]]))
    assert_canonical(middle)
    wide = sums.spread(np.array([4, 0, 2]), 6, axis=-1)
    assert wide.shape == (2, 6)
    assert wide.take(np.array([4, 0, 2]), axis=1) == sums
    assert wide.to_float()[0].tolist() == [2.0, 0.0, 3.0, 0.0, 1e300, 0.0]
    assert wide.sum(1) == sums.sum(1)
    with pytest.raises(ValueError, match="position"):
        sums.spread(np.array([1, 1, 2]), 6, axis=1)
    with pytest.raises(ValueError, match="shape"):
        sums + wide
    with pytest.raises(ValueError, match="axis"):
        sums.sum(2)


def test_only_finite_numbers_become_sums():
    for number in (math.inf, -math.inf, math.nan):
        with pytest.raises(ValueError, match="finite"):
            ExactSums.of(np.array([1.0, number]))


def test_sums_are_frozen_and_unequal_to_strangers():
    sums = ExactSums.of(np.array([1.0]))
    with pytest.raises(ValueError, match="read-only"):
        sums.digits[0, 0] = 2
    with pytest.raises(AttributeError):
        sums.low = 3
    assert sums != "1"
    assert sums != ExactSums.of(np.array([1.0, 0.0]))
    assert sums != ExactSums.of(np.array([2.0**32]))


@modest
@given(tables())
def test_moments_agree_with_fractions(table):
    assert_sums(moments(*table), slow_moments(*table))


@modest
@given(tables(), st.randoms(use_true_random=False), st.integers(0, 12))
def test_order_and_split_do_not_matter(table, random, cut):
    values, labels, classes, weights = table
    order = list(range(len(values)))
    random.shuffle(order)
    whole = moments(*table)
    shuffled = [part if part is None else part[order] for part in (values, labels, weights)]
    assert moments(shuffled[0], shuffled[1], classes, shuffled[2]) == whole
    builder, parts = MomentsBuilder(values.shape[1], classes), []
    for piece in (slice(0, cut), slice(cut, None)):
        heavy = None if weights is None else weights[piece]
        parts.append(moments(values[piece], labels[piece], classes, heavy))
        builder.learn(values[piece], labels[piece], heavy)
    assert builder.freeze() == whole
    assert tuple(one + two for one, two in zip(*parts, strict=True)) == whole
    assert tuple(sums - one for sums, one in zip(whole, parts[0], strict=True)) == parts[1]


@pytest.mark.parametrize("weighted", ["none", "small", "mixed", "whole doubles", "fractional", "sixteen"])
@pytest.mark.parametrize("kind", KINDS)
def test_blocks_agree_with_fractions(kind, weighted):
    values, weights = rows_of(kind), weights_of(weighted, 700)
    labels = np.random.default_rng(3).integers(0, 3, 700)
    whole = moments(values, labels, 3, weights)
    assert_sums(whole, slow_moments(values, labels, 3, weights))
    order = np.random.default_rng(4).permutation(700)
    heavy = None if weights is None else weights[order]
    assert moments(np.asfortranarray(values[order]), labels[order], 3, heavy) == whole


@pytest.mark.parametrize("columns", [1, 2, 7, 64, 65, 130])
def test_many_blocks_and_any_width_agree_with_single_rows(columns):
    rng = np.random.default_rng(columns)
    values = rng.normal(size=(5000, columns)) * 2.0 ** rng.integers(-30, 30, (5000, 1))
    values[rng.random(values.shape) < 0.05] = np.nan
    labels = rng.integers(0, 2, 5000)
    single = MomentsBuilder(columns, 2)
    for start in range(0, 5000, 20):
        single.learn(values[start : start + 20], labels[start : start + 20])
    wanted = single.freeze()
    assert moments(values, labels, 2) == wanted
    assert moments(np.asfortranarray(values), labels, 2) == wanted
    padded = np.full((10000, 2 * columns), 7.0)
    padded[::2, ::2] = values
    assert moments(padded[::2, ::2], labels, 2) == wanted
    assert moments(values[::-1], labels[::-1], 2) == wanted


def test_the_heaviest_block_does_not_round():
    largest = np.nextafter(2.0, 0.0)
    values = np.tile(np.array([[largest, -largest, 1 + 2**-52, full_slices(21)]]), (9000, 1))
    labels = np.zeros(9000, np.int64)
    for weight in (1, 16):
        _, total, square = moments(values, labels, 1, np.full(9000, weight))
        count = 9000 * weight
        assert exactly(total) == [count * Fraction(value) for value in values[0]]
        assert exactly(square) == [count * Fraction(value) ** 2 for value in values[0]]


def test_huge_numbers_cancel():
    values = np.array([[1e300], [1.0], [-1e300]])
    _, total, square = moments(values, np.zeros(3, np.int64), 1)
    assert total == ExactSums.of(np.array([[1.0]]))
    assert exactly(square) == [2 * Fraction(1e300) ** 2 + 1]


def test_timestamps_keep_their_variance():
    values = rows_of("timestamps", rows=4000, columns=2)
    weight, total, square = moments(values, np.zeros(4000, np.int64), 1)
    for column in range(2):
        count, first, second = (exactly(sums)[column] for sums in (weight, total, square))
        numbers = [Fraction(value) for value in values[:, column]]
        mean = sum(numbers) / 4000
        assert second / count - (first / count) ** 2 == sum((x - mean) ** 2 for x in numbers) / 4000


def test_grow_adds_classes_at_the_end():
    values, labels = rows_of("normals"), np.arange(700) % 3
    builder = MomentsBuilder(5, 2)
    early = labels < 2
    builder.learn(values[early], labels[early])
    builder.grow(3)
    builder.learn(values[~early], labels[~early])
    assert builder.freeze() == moments(values, labels, 3)
    with pytest.raises(ValueError, match="shrink"):
        builder.grow(1)


@pytest.mark.parametrize("builder_class", [MomentsBuilder, CrossBuilder])
def test_forgetting_is_the_inverse_of_learning(builder_class):
    values, labels = rows_of("outliers"), np.arange(700) % 3
    for weighted in ("none", "mixed", "fractional"):
        weights = weights_of(weighted, 700)
        builder = builder_class(5, 3)
        builder.learn(values[:9], labels[:9])
        before = builder.freeze()
        builder.learn(values, labels, weights)
        assert builder.freeze() != before
        builder.forget(values[::-1], labels[::-1], None if weights is None else weights[::-1])
        assert builder.freeze() == before


@pytest.mark.parametrize("builder_class", [MomentsBuilder, CrossBuilder])
@pytest.mark.parametrize("weighted", ["none", "mixed"])
@pytest.mark.parametrize(("rows", "row"), [(5, 3), (6000, 5999), (6000, 0)])
def test_a_refused_infinity_changes_nothing(builder_class, weighted, rows, row):
    values, labels = rows_of("normals", rows=rows), np.arange(rows) % 3
    weights = weights_of(weighted, rows)
    builder = builder_class(5, 3)
    builder.learn(values[:2], labels[:2])
    before = builder.freeze()
    values[row, 4] = -math.inf
    with pytest.raises(InfiniteValue) as refused:
        builder.learn(values, labels, weights)
    assert (refused.value.row, refused.value.column, refused.value.args) == (row, 4, (row, 4))
    assert isinstance(refused.value, ValueError)
    assert builder.freeze() == before


@pytest.mark.parametrize("builder_class", [MomentsBuilder, CrossBuilder])
def test_impossible_rows_are_refused(builder_class):
    builder, values, labels = builder_class(2, 2), np.ones((3, 2)), np.zeros(3, np.int64)
    refused = [
        (values, labels + 2, None),
        (values, labels - 1, None),
        (values, labels[:2], None),
        (values[:, :1], labels, None),
        (values, labels, np.array([1, -1, 1])),
        (values, labels, np.array([1.0, math.nan, 1.0])),
        (values, labels, np.array([1.0, math.inf, 1.0])),
        (values, labels, np.array([1.0, -0.5, 1.0])),
        (values, labels, np.ones(2)),
        (values, labels, np.full(3, 2**62 + 1)),
    ]
    for table in refused:
        with pytest.raises(ValueError, match=r"must|need|expected"):
            builder.learn(*table)
    assert builder.freeze() == builder_class(2, 2).freeze()


def test_carries_move_before_they_run_out():
    builder = MomentsBuilder(2, 1)
    row, label = np.array([[2.0 - 2**-52, -(2.0 - 2**-52)]]), np.zeros(1, np.int64)
    heavy = np.array([2**62 - 1])
    for _ in range(50):
        builder._additions = 1 << 29
        builder.learn(row, label, heavy)
    value, weight = Fraction(2) - Fraction(1, 2**52), 50 * (2**62 - 1)
    assert_sums(builder.freeze(), [[weight] * 2, [weight * value, -weight * value], [weight * value**2] * 2])


def test_no_rows_and_no_columns():
    assert moments(np.ones((0, 2)), np.zeros(0, np.int64), 3) == (ExactSums.zeros((2, 3)),) * 3
    assert moments(np.ones((5, 0)), np.zeros(5, np.int64), 3) == (ExactSums.zeros((0, 3)),) * 3


@modest
@given(tables())
def test_cross_sums_agree_with_fractions(table):
    values, labels, classes, weights = table
    builder = CrossBuilder(values.shape[1], classes)
    builder.learn(values, labels, weights)
    assert_sums(builder.freeze(), slow_cross(*table))


@pytest.mark.parametrize("weighted", ["none", "mixed", "fractional", "sixteen"])
@pytest.mark.parametrize("kind", KINDS)
def test_cross_blocks_agree_with_fractions(kind, weighted):
    rows = 300
    values, weights = rows_of(kind, rows, 4), weights_of(weighted, rows)
    labels = np.random.default_rng(3).integers(0, 2, rows)
    whole = CrossBuilder(4, 2)
    whole.learn(np.asfortranarray(values), labels, weights)
    assert_sums(whole.freeze(), slow_cross(values, labels, 2, weights))
    parts = CrossBuilder(4, 1)
    parts.grow(2)
    for rows_here in np.array_split(np.random.default_rng(4).permutation(rows), 5):
        heavy = None if weights is None else weights[rows_here]
        parts.learn(values[rows_here], labels[rows_here], heavy)
    assert parts.freeze() == whole.freeze()


def test_cross_sums_of_the_heaviest_block_do_not_round():
    largest = np.nextafter(2.0, 0.0)
    values = np.tile(np.array([[largest, -largest, full_slices(20)]]), (9001, 1))
    for weight in (1, 15):
        builder = CrossBuilder(3, 1)
        builder.learn(values, np.zeros(9001, np.int64), np.full(9001, weight))
        _, total, product = builder.freeze()
        one, two, three = (Fraction(value) for value in values[0])
        pairs = [one * one, one * two, one * three, two * two, two * three, three * three]
        assert exactly(total) == [9001 * weight * number for number in (one, two, three)]
        assert exactly(product) == [9001 * weight * number for number in pairs]


def test_grid_log_is_close_and_on_the_grid():
    rng = np.random.default_rng(6)
    spread = 2.0 ** rng.uniform(-1074, 1024, 20000)
    near_one = 1 + rng.normal(size=5000) * 10.0 ** rng.uniform(-15, -1, 5000)
    roots = np.nextafter(math.sqrt(2) * 2.0 ** np.arange(-500, 500), np.array([[0.0], [np.inf]])).ravel()
    special = np.array([5e-324, 1.5e-323, 2.2250738585072014e-308, 1.7976931348623157e308, 1.0, 2.0, 0.5])
    values = np.concatenate([spread, near_one, roots, special])
    found = grid_log(values)
    wanted = np.array([math.log(value) for value in values])
    assert (np.abs(found - wanted) <= 2.0**-40).all()
    assert (found * 2.0**40 == np.rint(found * 2.0**40)).all()
    assert found[-3] == 0.0


def test_grid_log_outside_its_domain():
    found = grid_log(np.array([math.nan, 0.0, -0.0, -1.0, -math.inf, math.inf]))
    assert np.isnan(found[:5]).all()
    assert found[5] == math.inf
