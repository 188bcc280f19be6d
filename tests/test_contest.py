"""A contest by what is remembered: what it says of a family is what leaving its rows out one by one says."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from candide import families
from candide.data.batch import Batch
from candide.data.metrics import UNIT, mean_loss, units
from candide.families.base.competing import NUMBER
from candide.families.base.family import Block
from candide.families.base.reading_off import ReadingOff
from candide.families.base.undecided import Undecided
from candide.kernels.counting import common_divisor, counts_above_zero
from candide.kernels.left_out_losses import gaps_between, losses_in_folds, summed_losses
from candide.model.predictor import log_normalised
from candide.model.summary import Summary
from candide.selection.candidates import candidates, in_shared_blocks, live_candidates
from candide.selection.contest import DEALT_ONE_BY_ONE, ColumnContest, contest, dealt, ranked
from candide.selection.folds import FOLDS
from candide.selection.leave_one_out import LeaveOneOut
from candide.selection.look import remembered_column

PLAIN = [
    name
    for name in families.names()
    if (kind := families.class_named(name)).reads == NUMBER
    and not (kind.is_joint or kind.shares_total or families.named(name).chooses)
]


def column(numbers, labels):
    return Batch.of({"x": np.asarray(numbers, dtype=np.float64)}, [str(label) for label in labels])


def remembered(batch):
    summary = Summary.of((Block(Undecided(), batch.names),), batch)
    return remembered_column(summary.statistics[0], batch.names, "x"), summary


def contest_of(batch):
    return ColumnContest.of(*remembered(batch))


def has_no_common_factor(rows):
    """Whether the rows are not some fewer rows, all repeated as often: those are judged as if there once."""
    return math.gcd(*Counter(rows).values()) == 1


def loss_of_rows(batch, block):
    """The slow twin: every row left out by itself."""
    leaving = LeaveOneOut.of_labels(batch)
    posterior = log_normalised(leaving.prior + leaving.score(block), leaving.prior)
    return mean_loss(posterior, leaving.labels, leaving.row_weights)


@pytest.mark.parametrize("name", [*PLAIN, "categorical"])
@given(data=st.data())
def test_rows_alike_are_left_out_as_one_by_one(name, data):
    rows = data.draw(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2)), min_size=4, max_size=40))
    assume(has_no_common_factor(rows))
    shift = 1.0 if name in ("gamma", "lognormal", "weibull") else 0.0
    batch = column([number + shift for number, _ in rows], [label for _, label in rows])
    family = families.named(name, column="x")
    block = Block(family, ("x",))
    assume(len({label for _, label in rows}) > 1)
    assert contest_of(batch).loss(block.family) == pytest.approx(loss_of_rows(batch, block), abs=2e-6)


@given(rows=st.lists(st.tuples(st.sampled_from(["red", "blue", None]), st.integers(0, 2)), min_size=4, max_size=40))
def test_categories_alike_are_left_out_as_one_by_one(rows):
    assume(len({label for _, label in rows}) > 1 and has_no_common_factor(rows))
    batch = Batch.of({"x": [value for value, _ in rows]}, [str(label) for _, label in rows])
    block = Block(families.named("categorical", column="x"), ("x",))
    assert contest_of(batch).loss(block.family) == pytest.approx(loss_of_rows(batch, block), abs=2e-6)


def by_any_means(family):
    """The same family without its shortcuts: rows are left out as of any family."""
    kind, shortcuts = type(family), ("density_alike", "scores_alike", "scores_in_folds")
    default = {name: getattr(ReadingOff, name) for name in shortcuts}
    plain = type(kind.__name__, (kind,), {**default, "__module__": kind.__module__})
    return plain(**{option.name: getattr(family, option.name) for option in fields(family)})


@pytest.mark.parametrize("grouped", [False, True])
@given(
    rows=st.lists(st.tuples(st.sampled_from(["a", "b", "c", "d", 1, 2.5, None]), st.integers(0, 2)), min_size=20),
    missing_is_value=st.booleans(),
)
def test_categories_are_judged_from_counts_as_from_rows(grouped, missing_is_value, rows):
    assume(len({label for _, label in rows}) > 1)
    batch = Batch.of({"x": [value for value, _ in rows]}, [str(label) for _, label in rows])
    found = contest_of(batch)
    family = families.named("categorical", column="x", grouped=grouped, missing_is_value=missing_is_value)
    assert found.loss(family) == pytest.approx(found.loss(by_any_means(family)), abs=2e-6)


@given(
    rows=st.lists(st.tuples(st.one_of(st.none(), st.floats(-9, 9)), st.integers(0, 2)), min_size=20),
    smoothing=st.sampled_from([0.0, 0.5]),
)
def test_intervals_are_judged_from_counts_as_from_rows(rows, smoothing):
    numbers = np.array([np.nan if number is None else number for number, _ in rows])
    assume(len({label for _, label in rows}) > 1 and not np.isnan(numbers).all())
    found = contest_of(column(numbers, [label for _, label in rows]))
    family = families.named("histogram", smoothing=smoothing).fitted_to(numbers, "x")
    assert found.loss(family) == pytest.approx(found.loss(by_any_means(family)), abs=2e-6)


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("classes", [2, 5])
def test_densities_are_judged_from_moments_as_from_exact_sums(name, classes):
    rng = np.random.default_rng(classes)
    labels = rng.integers(0, classes, 300)
    counts = rng.poisson(3 + labels) + 1.0
    for numbers in (counts, np.where(counts > 6, np.nan, counts), 1e6 * counts):
        found = contest_of(column(numbers, labels))
        family = families.named(name, column="x")
        assert found.loss(family) == pytest.approx(found.loss(by_any_means(family)), abs=2e-6)


@given(counts=st.lists(st.integers(1, 3 * DEALT_ONE_BY_ONE), min_size=1, max_size=50))
def test_every_row_is_dealt_into_one_fold(counts):
    folds = dealt(np.array(counts))
    assert folds.shape == (FOLDS, len(counts))
    assert folds.sum(axis=0).tolist() == counts
    assert folds.min() >= 0


def test_folds_hold_about_as_many_rows_and_not_quite():
    folds = dealt(np.full(200, 20)).sum(axis=1)
    assert folds.sum() == 4000
    assert 0 < folds.std() < 60


def test_intervals_found_in_noise_do_not_win():
    rng = np.random.default_rng(3)
    for _ in range(5):
        batch = column(rng.normal(size=400), rng.integers(0, 2, 400))
        found = contest_of(batch)
        histogram = families.named("histogram").fitted_to(batch.numbers(["x"])[:, 0], "x")
        assert found.loss(histogram) >= np.log(2) - 0.01


def test_rows_repeated_are_no_evidence():
    numbers, labels = np.arange(40.0), [str(number % 2) for number in range(40)]
    entrants = [families.named("gaussian", column="x"), families.named("categorical", column="x")]
    plain = contest(*remembered(Batch.of({"x": numbers}, labels)), entrants)
    assert contest(*remembered(Batch.of({"x": numbers}, labels, np.full(40, 100))), entrants) == plain


NUMBERS_OF_A_STREAM = st.lists(st.tuples(st.integers(0, 40), st.booleans()), min_size=60, max_size=80)


@given(rows=NUMBERS_OF_A_STREAM, scale=st.sampled_from([1.0, 0.37, -2.5]))
def test_a_stream_ranks_the_families_that_it_may_ask_as_a_contest_does(rows, scale):
    found, summary = remembered(column([scale * number for number, _ in rows], [label for _, label in rows]))
    guess = families.named("gaussian")
    asked = live_candidates(guess, NUMBER, found)
    assert asked == in_shared_blocks(candidates(guess, NUMBER, found))
    assume(len(summary.classes) == 2)
    assert ranked(found, summary, asked) == contest(found, summary, asked)


def test_numbers_that_never_repeat_are_no_names_in_a_stream():
    numbers = np.arange(40.0)
    once, _ = remembered(column(numbers, numbers % 2))
    twice, _ = remembered(column(np.r_[numbers, 3.0], np.r_[numbers, 3.0] % 2))
    guess = families.named("gaussian")
    names, more = ({family.name for family in live_candidates(guess, NUMBER, seen)} for seen in (once, twice))
    assert more - names == {"categorical"}


def test_of_very_many_kinds_of_rows_some_judge_for_all(monkeypatch):
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 3, 4000)
    batch = column(rng.normal(size=4000) + 2 * labels, labels)
    block = Block(families.named("gaussian", column="x"), ("x",))
    whole = contest_of(batch).loss(block.family)
    monkeypatch.setattr("candide.selection.contest.MOST_SCORED", 1000)
    assert contest_of(batch).loss(block.family) != whole
    assert contest_of(batch).loss(block.family) == pytest.approx(whole, abs=0.1)


def slow_loss_in_fold(said, label, prior, prior_without):
    """-log P(label), by log priors of all others and of the own class."""
    joint = prior + said
    joint[label] = prior_without[label] + said[label]
    return np.logaddexp.reduce(joint) - joint[label]


@pytest.mark.parametrize("classes", [2, 5])
def test_losses_in_folds_and_their_sums_agree_with_slow_twins(classes):
    rng = np.random.default_rng(classes)
    folds, lines, parts, kinds = 3, 6, 4, 15
    part_of, shares = rng.integers(-1, parts, (folds, lines)), np.log(rng.dirichlet(np.ones(classes), (folds, parts)))
    where, labels = np.sort(rng.integers(0, lines, kinds)), rng.integers(0, classes, kinds)
    held = rng.integers(0, 3, (folds, kinds)) + (np.arange(folds)[:, None] == 0)
    prior, prior_without = rng.normal(size=(2, classes))
    found = losses_in_folds(part_of, shares, where, labels, held, prior, prior_without, 3.0)
    for kind in range(kinds):
        each = []
        for fold in range(folds):
            part = part_of[fold, where[kind]]
            said = shares[fold, part] if part >= 0 else np.zeros(classes)
            each.append(min(slow_loss_in_fold(said, labels[kind], prior, prior_without), 3.0))
        assert found[kind] == pytest.approx(np.average(each, weights=held[:, kind]), rel=1e-12)
    losses, weights = np.array([found, 2 * found]), held.sum(axis=0)
    for total, family in zip(summed_losses(losses, weights, UNIT).tolist(), losses, strict=True):
        assert (total[0] << 20) + total[1] == units(family, weights)
    more, squares = gaps_between(losses, found, weights)
    assert more == pytest.approx([0.0, found @ weights])
    assert squares == pytest.approx([0.0, found**2 @ weights])


@given(table=st.lists(st.lists(st.integers(0, 12), min_size=3, max_size=3), min_size=1, max_size=9))
def test_kinds_of_rows_and_their_divisor_agree_with_numpy(table):
    counts = np.array(table, dtype=np.int64)
    lines, labels = np.nonzero(counts)
    for found, expected in zip(counts_above_zero(counts), (lines, labels, counts[lines, labels]), strict=True):
        assert np.array_equal(found, expected)
    assert common_divisor(counts.ravel()) == np.gcd.reduce(counts.ravel())
