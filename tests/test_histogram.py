"""Histograms: bins that suit a sample, intervals that suit the classes, and a density all the way out."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candide import NaiveBayes, families, store
from candide.data.batch import Batch
from candide.data.errors import ColumnRefused, OptionRefused
from candide.families.base.block_rows import BlockRows
from candide.families.base.family import Block
from candide.families.base.leave_one_out import statistic_of
from candide.families.base.merged import interval_starts, known_factorials
from candide.families.histogram import LARGEST, Histogram, log_widths
from candide.kernels.merging import ROUNDING, bin_numbers, interval_price, merge_neighbours
from candide.model.options import Options
from candide.model.predictor import Predictor
from candide.model.schema import Choice, Schema
from candide.model.summary import Summary
from candide.model.trained_model import TrainedModel
from candide.selection.folds import FOLDS, scores_without_folds

numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-5, 5),
    st.sampled_from([0.0, -0.0, 1.0, 5e-324, -5e-324, 1e-323, LARGEST, -LARGEST, 1 + 2**-52, 1.7e9, 1.7e9 + 1]),
)
samples = st.lists(numbers, min_size=1, max_size=30).map(np.array)


def log_likelihood(family, values, labels, asked):
    """log p(asked | class) after learning one column."""
    seen = Summary.of((Block(family, ("x0",)),), Batch.of(np.reshape(values, (-1, 1)), labels))
    model = Predictor.fit(seen)
    return model.log_likelihood(Batch.of(np.reshape(asked, (-1, 1)))) - model.log_prior


# Bins.


@given(values=st.lists(st.one_of(numbers, st.just(math.nan))).map(np.array), cuts=samples.map(np.unique))
def test_a_bin_counts_the_cuts_at_or_below(values, cuts):
    expected = [-1 if value != value else sum(cut <= value for cut in cuts) for value in values]
    assert bin_numbers(values.astype(float), cuts).tolist() == expected


@given(values=samples, bins=st.integers(1, 6))
def test_bins_are_finite_cells_that_cover_the_line(values, bins):
    family = Histogram().fitted_to(values, "x", bins)
    assert np.isfinite(family.cuts).all()
    assert (np.diff(family.cuts) > 0).all()
    assert np.isfinite(log_widths(family.cuts)).all()
    assert family.bins < bins + 2 * len(values) + 30
    assert set(family.edges) <= set(family.cuts.tolist())


@given(values=samples)
def test_few_values_have_a_bin_each(values):
    family = Histogram().fitted_to(values, "x")
    found = bin_numbers(values, family.cuts)
    assert len(set(found.tolist())) == len(np.unique(values))


def test_many_values_share_bins_by_cells_and_zero_stays_apart():
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(size=9000), np.zeros(500), [np.nan, np.inf]])
    edges = np.array(Histogram().fitted_to(values, "x", bins=64).edges)
    assert 32 <= len(edges) <= 65
    finite = values[np.isfinite(values)]
    counts = np.bincount(bin_numbers(finite, edges))
    assert counts[0] == 0
    assert counts.sum() == len(finite)
    alone = finite[bin_numbers(finite, edges) == bin_numbers(np.array([0.0]), edges)[0]]
    assert (alone == 0.0).all()


def test_no_values_no_edges():
    assert Histogram().fitted_to(np.array([np.nan, np.inf]), "x").edges == ()
    assert Histogram().fitted_to(np.array([7.0]), "x").edges == (3.5, 10.5)


def test_edges_and_intervals_that_make_no_sense_are_refused():
    for edges in ((1.0, 1.0), (2.0, 1.0), (0.0, math.inf), (math.nan,)):
        with pytest.raises(OptionRefused, match="edges of a histogram"):
            Histogram(edges=edges)
    for intervals in ((0,), (3, 3), (10_000,)):
        with pytest.raises(OptionRefused, match="ascending numbers of bins"):
            Histogram(intervals=intervals)
    with pytest.raises(OptionRefused, match="from 1 up"):
        Histogram().fitted_to(np.ones(3), "x", bins=0)
    with pytest.raises(OptionRefused, match="one column, but it was given 2"):
        Histogram().builder(("a", "b"), 2)
    with pytest.raises(ColumnRefused, match="needs a finite number in every row, but row 2 holds an infinite"):
        Histogram().read(Batch.of({"x": [1.0, math.inf]}), ("x",))


# Merging, against slow twins.


def cost(parts, price):
    """The criterion, written down as Boullé does; `parts` are lists of class counts."""
    total = price[len(parts) - 1]
    for part in parts:
        rows, classes = sum(part), len(part)
        total += math.log(math.comb(rows + classes - 1, classes - 1))
        total += math.log(math.factorial(rows)) - sum(math.log(math.factorial(count)) for count in part)
    return total


def joined(counts, starts):
    """The class counts of the parts that begin at these slots."""
    return [[int(n) for n in part.sum(axis=0)] for part in np.split(counts, starts[1:])]


def slowly_merged(counts, price):
    """Try every pair of neighbours, merge the best, again and again; the best partition on the way."""
    starts = list(range(len(counts)))
    tried = [starts]
    while len(starts) > 1:
        fewer = [starts[:n] + starts[n + 1 :] for n in range(1, len(starts))]
        starts = min(fewer, key=lambda some: cost(joined(counts, some), price))
        tried.append(starts)
    return min(cost(joined(counts, starts), price) for starts in tried)


tallies = st.integers(1, 4).flatmap(
    lambda classes: st.lists(
        st.lists(st.sampled_from([0, 0, 1, 2, 7, 40]), min_size=classes, max_size=classes).filter(any),
        min_size=1,
        max_size=8,
    )
).map(np.array)


@given(counts=tallies)
def test_merging_agrees_with_its_slow_twin_and_never_beats_all_partitions(counts):
    price = interval_price(float(counts.sum()), len(counts))
    starts = merge_neighbours(counts, price, known_factorials())
    assert starts[0] == 0
    found = cost(joined(counts, starts.tolist()), price)
    assert found == pytest.approx(slowly_merged(counts, price), rel=1e-9)
    slots = range(1, len(counts))
    every = (some for size in range(len(counts)) for some in itertools.combinations(slots, size))
    assert found >= min(cost(joined(counts, [0, *some]), price) for some in every) - 1e-9


def slow_starts(counts, price):
    """Of all neighbours whose union costs least more, merge the first, again and again; the best, and fewest, parts."""
    near = ROUNDING * (1.0 + math.lgamma(counts.sum() + 1.0))
    starts, best, found = list(range(len(counts))), math.inf, []
    while True:
        parts = joined(counts, starts)
        total = cost(parts, price)
        if total <= best + near:
            best, found = total, starts
        if len(starts) == 1:
            return found
        alone = [cost([part], [0.0]) for part in parts]
        unions = (cost([[m + n for m, n in zip(*two, strict=True)]], [0.0]) for two in itertools.pairwise(parts))
        more = [union - sum(two) for union, two in zip(unions, itertools.pairwise(alone), strict=True)]
        least = next(place for place, amount in enumerate(more) if amount <= min(more) + near)
        starts = starts[: least + 1] + starts[least + 2 :]


@given(slots=st.integers(1, 40), classes=st.integers(1, 3), seed=st.integers(0, 2**32 - 1))
def test_merging_takes_the_first_of_the_cheapest_neighbours_each_time_however_many_slots(slots, classes, seed):
    rng = np.random.default_rng(seed)
    counts = rng.choice([0, 0, 1, 1, 2, 9], size=(slots, classes))
    counts[~counts.any(axis=1), 0] = 1
    price = interval_price(float(counts.sum()), slots)
    assert merge_neighbours(counts, price, known_factorials()).tolist() == slow_starts(counts, price)


def test_merging_mostly_finds_the_best_partition():
    rng = np.random.default_rng(5)
    perfect = 0
    for _ in range(60):
        chances = np.repeat(rng.dirichlet(np.ones(3), 3), [3, 2, 3], axis=0)
        counts = np.stack([rng.multinomial(rng.integers(1, 60), line) for line in chances])
        price = interval_price(float(counts.sum()), 8)
        every = (some for size in range(8) for some in itertools.combinations(range(1, 8), size))
        best = min(cost(joined(counts, [0, *some]), price) for some in every)
        starts = merge_neighbours(counts, price, known_factorials()).tolist()
        perfect += cost(joined(counts, starts), price) < best + 1e-9
    assert perfect >= 50


def test_what_intervals_cost():
    expected = [math.log(50) + math.log(math.comb(50 + parts - 1, parts - 1)) for parts in range(1, 9)]
    assert interval_price(50.0, 8) == pytest.approx(expected, rel=1e-12)


@given(counts=tallies)
def test_the_order_of_classes_and_empty_bins_do_not_matter(counts):
    starts = interval_starts(counts)
    assert np.array_equal(interval_starts(counts[:, ::-1]), starts)
    assert np.array_equal(interval_starts(np.insert(counts, 1, 0, axis=1)), starts)
    gaps = np.zeros((3 * len(counts), counts.shape[1]), dtype=np.int64)
    gaps[1::3] = counts
    assert np.array_equal(interval_starts(gaps), 3 * starts)


def test_counts_may_be_huge():
    counts = np.array([[2**60, 1], [2**59, 2**59], [0, 2**60]])
    assert interval_starts(counts).tolist() == [1, 2]
    assert interval_starts(np.zeros((4, 2), dtype=np.int64)).tolist() == []


# The density.


@given(values=samples, data=st.data(), smoothing=st.sampled_from([0.0, 0.5]), bins=st.sampled_from([2, 512]))
def test_the_density_integrates_to_one(values, data, smoothing, bins):
    """Bin by bin, out to the largest doubles: density times width."""
    labels = data.draw(st.lists(st.integers(0, 2), min_size=len(values), max_size=len(values)))
    family = Histogram(smoothing).fitted_to(values, "x0", bins)
    middles = np.append(-LARGEST, family.cuts)
    densities = log_likelihood(family, values, labels, middles)
    assert (densities < np.inf).all()
    total = np.exp(densities + log_widths(family.cuts)[:, None]).sum(axis=0)
    assert total == pytest.approx(np.ones(len(total)), abs=1e-9)


def test_only_intervals_speak_for_a_class():
    rng = np.random.default_rng(2)
    values, labels = rng.normal(size=400), rng.integers(0, 2, 400)
    family = Histogram().fitted_to(values, "x0")
    densities = log_likelihood(family, values, labels, np.linspace(-9, 9, 50))
    assert densities[:, 0] - densities[:, 1] == pytest.approx(np.zeros(50), abs=1e-12)
    assert len(np.unique(densities[:, 0].round(6))) > 10


def test_humps_that_take_turns_are_told_apart():
    rng = np.random.default_rng(1)
    hump = rng.integers(0, 6, 2000)
    values, labels = 10.0 * hump + rng.normal(size=2000), hump % 2
    train, test = slice(0, 1500), slice(1500, 2000)

    def accuracy(family):
        said = log_likelihood(family, values[train], labels[train], values[test])
        return (said.argmax(axis=1) == labels[test]).mean()

    histogram = Histogram().fitted_to(values[train], "x0")
    assert accuracy(families.named("gaussian")) < 0.75
    assert accuracy(histogram) > 0.99
    seen = Summary.of((Block(histogram, ("x0",)),), Batch.of(values[train, None], labels[train])).statistics[0]
    assert len(histogram.settled(seen).intervals) == 5


def test_timestamps_keep_their_spread():
    """Around 1.7e9 with a spread of ten, purely relative bins see nothing."""
    values, labels = 1.7e9 + np.array([-10.0, -9, 0, 10, 50, 51, 60, 70] * 3), [0, 0, 0, 0, 1, 1, 1, 1] * 3
    asked = 1.7e9 + np.array([-5.0, 66.0])
    blind = log_likelihood(Histogram(), values, labels, asked)
    assert (blind[:, 0] == blind[:, 1]).all()
    assert log_likelihood(Histogram().fitted_to(values, "x0"), values, labels, asked).argmax(axis=1).tolist() == [0, 1]


def test_a_number_far_outside_is_improbable_but_not_impossible():
    values, labels = np.linspace(0, 1, 200), [0, 1] * 100
    asked = np.array([0.5, 3.0, 1e3, 1e100, LARGEST, -LARGEST])
    said = log_likelihood(Histogram().fitted_to(values, "x0"), values, labels, asked)
    assert np.isfinite(said).all()
    assert (np.diff(said[:5], axis=0) < 0).all()


def test_drawn_numbers_come_from_the_density():
    rng = np.random.default_rng(8)
    values = np.concatenate([rng.normal(size=1000), rng.normal(50, 1, 1000)])
    labels = np.repeat([0, 1], 1000)
    family = Histogram().fitted_to(values, "x0")
    seen = Summary.of((Block(family, ("x0",)),), Batch.of(values[:, None], labels))
    columns, _ = Predictor.fit(seen).sample(2000, ("number", 1), np.random.default_rng(0))
    drawn = columns["x0"].astype(float)
    assert np.isfinite(drawn).all()
    assert abs(np.median(drawn) - 50) < 0.2
    assert ((drawn > 45) & (drawn < 55)).mean() > 0.8


def test_everywhere_something_can_be_drawn():
    family = Histogram(edges=(-1.6e308, 1.6e308))
    seen = Summary.of((Block(family, ("x0",)),), Batch.of({"x0": [-1.7e308, 0.0, 1.7e308]}, [0, 0, 0]))
    columns, _ = Predictor.fit(seen).sample(500, None, np.random.default_rng(0))
    assert np.isfinite(columns["x0"].astype(float)).all()


# What is held fixed, and kept.


def test_settled_intervals_stay_while_counts_change():
    values, labels = np.array([1.0, 2, 3, 11, 12, 13] * 5), np.array([0, 0, 0, 1, 1, 1] * 5)
    family = Histogram().fitted_to(values, "x0")
    block = Block(family, ("x0",))
    seen = Summary.of((block,), Batch.of(values[:, None], labels)).statistics[0]
    held = family.settled(seen)
    assert held == held.settled(seen - seen)
    assert np.array_equal(held.fit(seen, ("x0",)).table, family.fit(seen, ("x0",)).table)
    assert len(held.fit(seen - seen, ("x0",)).starts) == 1
    assert len(family.fit(seen - seen, ("x0",)).starts) == 0


def test_a_histogram_comes_back_from_a_file():
    family = Histogram(0.25).fitted_to(np.array([1.0, 3.0, 0.1, 1e300]), "x")
    blocks = []
    for kept in (family, replace(family, intervals=(3, 9)), Histogram(column="x")):
        schema = Schema((Choice("x", kept, "as you said"),))
        saved = TrainedModel(Options(), schema, schema.summarize(Batch.of({"x": [1.0, 2.5, None]}, [0, 1, 0])))
        loaded = store.from_bytes(store.to_bytes(saved))
        assert loaded == saved
        assert loaded.schema.fingerprint == schema.fingerprint
        blocks += loaded.schema.blocks
    assert len(set(blocks)) == 3


def test_a_histogram_in_a_classifier():
    rng = np.random.default_rng(3)
    values, labels = rng.normal(size=(300, 2)), rng.integers(0, 2, 300)
    values[:, 0] += 4 * labels
    by_column = {f"x{index}": Histogram().fitted_to(values[:, index], f"x{index}") for index in range(2)}
    model = NaiveBayes(families=by_column).fit(values, labels)
    assert (model.predict(values) == labels).mean() > 0.95


@given(data=st.data())
def test_folds_are_judged_as_by_a_histogram_fitted_without_them(data):
    rows = data.draw(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2)), min_size=12, max_size=80))
    numbers = np.array([[float(number) if number else np.nan] for number, _ in rows])
    labels = np.array([label for _, label in rows])
    weights = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(rows), max_size=len(rows))))
    family = Histogram().fitted_to(numbers[:, 0], "x")
    every = BlockRows(numbers, labels, weights)
    seen = statistic_of(family, ("x",), every, 3)
    said = scores_without_folds(Block(family, ("x",)), seen, every, np.arange(len(rows)) % FOLDS)
    for fold in range(FOLDS):
        some = every.take(family, ("x",), np.arange(fold, len(rows), FOLDS))
        expected = np.zeros((len(some), 3))
        family.score(family.fit(seen - statistic_of(family, ("x",), some, 3), ("x",)), some.values, expected)
        assert said.score[fold::FOLDS] == pytest.approx(expected, rel=1e-12, abs=1e-12)
        anew, rest = family.chosen_from(seen - statistic_of(family, ("x",), some, 3), seen)
        likely = anew.assess(anew.fit(rest, ("x",)), some.values, expected.shape).log_likelihood
        assert said.log_likelihood[fold::FOLDS] == pytest.approx(likely, rel=1e-12, abs=1e-12)


def test_rows_in_no_fold_are_not_asked_and_change_nothing_of_others():
    rng = np.random.default_rng(4)
    numbers, labels = rng.normal(size=(90, 1)), rng.integers(0, 2, 90)
    family, folds = Histogram().fitted_to(numbers[:, 0], "x"), np.arange(90) % FOLDS
    block, every = Block(family, ("x",)), BlockRows(numbers, labels, np.zeros(0))
    seen, asked = statistic_of(family, ("x",), every, 2), (folds != 3) & (folds != 9)
    whole = scores_without_folds(block, seen, every, folds)
    some = scores_without_folds(block, seen, every, np.where(asked, folds, -1))
    for all_rows, few in ((whole.score, some.score), (whole.log_likelihood, some.log_likelihood)):
        assert (few[asked] == all_rows[asked]).all()
        assert not few[~asked].any()
