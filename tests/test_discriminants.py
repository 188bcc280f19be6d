"""Leave-one-out of covariances: down-dating gives what learning the other rows from scratch gives."""

from __future__ import annotations

import numpy as np
import pytest

from candide import families
from candide.data.batch import Batch
from candide.families.base.block_rows import BlockRows
from candide.families.base.family import Block
from candide.families.base.multivariate_normal import units_of
from candide.families.base.multivariate_normal_without import CompleteRows, in_groups
from candide.model.summary import Summary, grid_weights
from candide.selection.leave_one_out import known_labels
from candide.statistics.cross_sums import CrossSums

TOLERANCE = 1e-9
both = pytest.mark.parametrize("name", ["gaussian_full", "gaussian_shared"])


def table(rows=30, columns=4, classes=3, seed=5):
    """Correlated numbers around a centre for each class, and the labels; every class has a row."""
    rng = np.random.default_rng(seed)
    labels = np.arange(rows) % classes
    values = rng.normal(size=(rows, columns)) @ rng.normal(size=(columns, columns))
    return values + 2 * rng.normal(size=(classes, columns))[labels], labels


def leaving(family, values, labels, weights=None):
    """A statistic, and its rows as they are taken out."""
    batch = Batch.of(values, labels, weights)
    summary = Summary.of((Block(family, batch.names),), batch)
    return summary.statistics[0], batch, batch.names, known_labels(summary, batch), grid_weights(batch)


def left_out(family, *given):
    """Every row without itself, [row, class]."""
    seen, batch, columns, *rest = leaving(family, *given)
    return family.leave_one_out(seen, columns).scores(BlockRows.of(family, columns, batch, *rest)).score


def learned_anew(family, *given):
    """The slow twin: for every row the others are learned from scratch, nothing is subtracted."""
    seen, batch, columns, labels, weights = leaving(family, *given)
    joint = np.zeros((len(batch), seen.classes))
    for row in range(len(batch)):
        others = np.delete(np.arange(len(batch)), row)
        builder = family.builder(columns, seen.classes)
        loads = weights[others] if weights.size else weights
        family.learn(builder, family.read(batch.take(others), columns), labels[others], loads)
        parameters = family.fit(builder.freeze(), columns)
        family.score(parameters, family.view(batch.take(np.array([row])), columns), joint[row : row + 1])
    return joint


def assert_learned_anew(family, *given):
    found, expected = left_out(family, *given), learned_anew(family, *given)
    assert np.isfinite(expected).all()
    assert (np.abs(found - expected) <= TOLERANCE * np.maximum(1, np.abs(expected))).all()


def clock(values, labels, rng):
    values[:, 0] = 1.7e9 + rng.normal(size=len(values))


def clock_of_one_class(values, labels, rng):
    values[labels == 1, 0] += 1e12


def missing(values, labels, rng):
    values[rng.random(values.shape) < 0.15] = np.nan
    values[0] = np.nan


def constant(values, labels, rng):
    values[:, 1] = 1.5


def zero(values, labels, rng):
    values[:, 1] = 0.0


def constant_in_each_class(values, labels, rng):
    values[:, 1] = 1000.0 * labels


def constant_but_for_one_row(values, labels, rng):
    values[:, 1] = 1.5
    values[7, 1] = 40.0


def one_hot(values, labels, rng):
    values[:, 1:] = np.eye(*values.shape)[:, 1:]


def outliers(values, labels, rng):
    values[3, 0], values[4, 1] = 1e150, 1e12


def tiny_and_huge(values, labels, rng):
    values *= np.array([1e-300, 1e300, 1e-9, 1e9])


def collinear(values, labels, rng):
    values[:, 3] = values[:, 0] + values[:, 1]


def class_of_one_row(values, labels, rng):
    labels[labels == 2], labels[7] = 0, 2


def classes_of_two_rows(values, labels, rng):
    labels[:] = np.arange(len(labels)) // 2


SHAPES = [
    clock, clock_of_one_class, missing, constant, zero, constant_in_each_class, constant_but_for_one_row, one_hot,
    outliers, tiny_and_huge, collinear, class_of_one_row, classes_of_two_rows,
]  # fmt: skip


@both
@pytest.mark.parametrize("options", [{}, {"smoothing": 0.0}, {"smoothing": 20.0}, {"floor": 1e-3}], ids=str)
@pytest.mark.parametrize(("rows", "columns", "classes"), [(2, 1, 1), (9, 2, 2), (30, 4, 3), (60, 6, 5), (50, 12, 2)])
def test_ordinary_rows(name, options, rows, columns, classes):
    assert_learned_anew(families.named(name, **options), *table(rows, columns, classes))


@both
@pytest.mark.parametrize("weights", [None, (1, 1, 2, 50), (0, 1, 3)], ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_rows_of_every_shape(name, weights, shape):
    rng = np.random.default_rng(8)
    values, labels = table()
    shape(values, labels, rng)
    loads = None if weights is None else rng.choice(weights, len(labels))
    if loads is not None:
        loads[::2] = np.maximum(loads[::2], 1)
    assert_learned_anew(families.named(name), values, labels, loads)


@both
@pytest.mark.parametrize("shape", [clock, missing, constant_in_each_class, outliers, tiny_and_huge])
def test_shapes_without_smoothing(name, shape):
    """Not those that leave a singular covariance: there rounding decides, and only a few digits agree."""
    values, labels = table(60)
    shape(values, labels, np.random.default_rng(8))
    assert_learned_anew(families.named(name, smoothing=0.0), values, labels)


@both
def test_incomplete_rows_are_judged_by_what_they_have_and_leave_nothing(name):
    family = families.named(name)
    values, labels = table()
    values[:5, 1] = np.nan
    seen, batch, columns, *_ = leaving(family, values, labels)
    expected = np.zeros((len(values), seen.classes))
    family.score(family.fit(seen, columns), family.view(batch, columns), expected)
    assert np.array_equal(left_out(family, values, labels)[:5], expected[:5])


def test_ordinary_rows_and_clocks_are_down_dated_and_lone_values_subtracted():
    """Exact subtraction is slow: it is for the few rows that hold nearly all of a column's squares."""
    values, labels = table(600)
    clock(values, labels, np.random.default_rng(8))
    values[3, 1] = 1e9
    seen, _, _, classes, _ = leaving(families.named("gaussian_full"), values, labels)
    groups = list(in_groups(seen, seen.over_classes(), CompleteRows(values, classes, np.ones(600, dtype=np.int64))))
    assert [row for rows, _, exact in groups if exact for row in rows] == [3]
    assert sorted(row for rows, _, _ in groups for row in rows) == list(range(600))


@both
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_rows_judged_in_parts_give_the_same_bits(name, shape):
    rng = np.random.default_rng(8)
    values, labels = table()
    shape(values, labels, rng)
    family, weights = families.named(name), rng.choice((1, 2, 50), 30)
    seen, batch, columns, numbers, loads = leaving(family, values, labels, weights)
    leave_one_out, joint = family.leave_one_out(seen, columns), np.zeros((30, seen.classes))
    for some in np.split(np.arange(30), [1, 2, 3, 10, 17, 24]):
        rows = BlockRows.of(family, columns, batch.take(some), numbers[some], loads[some])
        joint[some] = leave_one_out.scores(rows).score
    assert np.array_equal(joint, left_out(family, values, labels, weights))


@pytest.mark.parametrize("value", [0.0, 1.5, -3.0, 1e-300, 1.7e308])
def test_the_unit_of_a_constant_column_does_not_depend_on_how_many_rows_there_are(value):
    units = [units_of(CrossSums.of(np.full((n, 1), value), np.zeros(n, dtype=np.int64), 1)) for n in range(1, 40)]
    assert len(np.unique(units)) == 1


def test_a_mean_halfway_between_two_doubles_is_subtracted_exactly():
    """Seconds since 1970, where doubles are coarse; 35 less 3 leaves a weight of 32, whose mean is often a tie."""
    rng = np.random.default_rng(2)
    weights = np.repeat([3] * 11 + [1] * 2, 2)
    for _ in range(10):
        values = 1.7e9 + rng.normal(size=(26, 1))
        assert_learned_anew(families.named("gaussian_full"), values, np.arange(26) % 2, weights)


@both
def test_what_is_nearly_left_out_is_what_is_left_out(name):
    """The block's own variances are held fixed, which matters to a class of one row; that row itself is exact."""
    family, rng = families.named(name), np.random.default_rng(5)
    values, labels = table(rows=600)
    weights = rng.integers(0, 3, len(labels))
    values[::13, 2] = np.nan
    labels[20], weights[20] = 3, 1
    seen, batch, columns, *rest = leaving(family, values, labels, weights)
    rows = BlockRows.of(family, columns, batch, *rest)
    exact = family.leave_one_out(seen, columns).scores(rows).score
    nearly = family.nearly_leave_one_out(seen, columns).scores(rows).score
    assert nearly[:, :3] == pytest.approx(exact[:, :3], rel=1e-3)
    assert nearly[:, 3] == pytest.approx(exact[:, 3], rel=0.02)
    assert np.array_equal(nearly[20], exact[20])
