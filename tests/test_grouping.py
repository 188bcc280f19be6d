"""Like values of a category merged into groups: against all partitions, and held fixed while counts change."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candide import families, store
from candide.data.batch import Batch
from candide.data.errors import OptionRefused
from candide.families.base.family import Block
from candide.families.base.merged import group_numbers, group_price, log_partitions
from candide.kernels.merging import TINY, squared_often
from candide.model.options import Options
from candide.model.predictor import Predictor
from candide.model.schema import Choice, Schema
from candide.model.summary import Summary
from candide.model.trained_model import TrainedModel

GROUPED = families.named("categorical", grouped=True)


@cache
def partitions(values, groups):
    """How many ways there are to divide values into so many groups: the recurrence."""
    if values == groups:
        return 1
    if not 0 < groups < values:
        return 0
    return groups * partitions(values - 1, groups) + partitions(values - 1, groups - 1)


@pytest.mark.parametrize("values", [1, 2, 3, 5, 8, 20, 100, 300])
def test_the_number_of_partitions(values):
    expected = [math.log(partitions(values, groups)) for groups in range(1, values + 1)]
    assert log_partitions(values) == pytest.approx(expected, abs=0.1 / values)
    cumulated = np.log(values) + np.logaddexp.accumulate(expected)
    assert group_price(values) == pytest.approx(cumulated, abs=0.05)


def every_partition(values):
    """Every way to number the groups of so many values."""
    found = [[0]]
    for _ in range(values - 1):
        found = [[*numbers, group] for numbers in found for group in range(max(numbers) + 2)]
    return found


def cost(counts, numbers):
    """The criterion for values numbered by group."""
    groups, classes = max(numbers) + 1, counts.shape[1]
    total = group_price(len(counts))[groups - 1]
    for group in range(groups):
        part = [int(n) for n in counts[[number == group for number in numbers]].sum(axis=0)]
        total += math.log(math.comb(sum(part) + classes - 1, classes - 1))
        total += math.log(math.factorial(sum(part))) - sum(math.log(math.factorial(n)) for n in part)
    return total


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_grouping_never_beats_all_partitions_and_mostly_finds_the_best(classes):
    rng = np.random.default_rng(classes)
    perfect = 0
    for _ in range(25):
        kinds = rng.dirichlet(np.ones(classes), 2)
        sizes = np.clip(rng.pareto(0.7, 6) * 8, 1, 400).astype(int)
        counts = np.stack([rng.multinomial(size, kinds[rng.integers(2)]) for size in sizes])
        counts = counts[:, counts.any(axis=0)]
        best = min(cost(counts, numbers) for numbers in every_partition(6))
        found = cost(counts, group_numbers(counts).tolist())
        assert found >= best - 1e-9
        perfect += found < best + 1e-9
    assert perfect >= 20


@given(st.lists(st.tuples(*[st.integers(0, 9)] * 3).filter(any), max_size=8))
def test_the_order_of_classes_does_not_matter(lines):
    counts = np.array(lines, dtype=np.int64).reshape(-1, 3)
    numbers = group_numbers(counts)
    assert np.array_equal(group_numbers(counts[:, ::-1]), numbers)
    assert set(numbers) == set(range(len(set(numbers))))


def towns(rng, rows=600, values=60):
    """Sixty towns of two kinds, ten rows each."""
    town = rng.integers(0, values, rows)
    return town, (rng.random(rows) < np.where(town % 2, 0.9, 0.1)).astype(int)


def summary_of(family, values, labels):
    return Summary.of((Block(family, ("town",)),), Batch.of({"town": values}, labels))


def test_towns_of_two_kinds_become_two_groups():
    town, label = towns(np.random.default_rng(0), 3000)
    settled = GROUPED.settled(summary_of(GROUPED, town, label).statistics[0])
    assert [{value % 2 for _, _, value in group} for group in settled.groups] == [{0}, {1}]


def test_groups_say_more_of_new_rows_than_single_values():
    """log P(label | town) of new rows, where each town has few."""
    rng = np.random.default_rng(1)
    (town, label), (asked, answers) = towns(rng), towns(rng, 2000)

    def loss(family):
        model = Predictor.fit(summary_of(family, town, label), priors="uniform")
        joint = model.joint(Batch.of({"town": asked}))
        return (np.logaddexp(*joint.T) - joint[np.arange(2000), answers]).mean()

    assert loss(GROUPED) < 0.97 * loss(families.named("categorical"))


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 2)), min_size=1))
def test_grouped_shares_add_up_to_one(rows):
    values, labels = zip(*rows, strict=True)
    summary = summary_of(GROUPED, list(values), list(labels))
    (fitted,) = GROUPED.fit(summary.statistics[0], ("town",)).values()
    assert np.exp(fitted.table).sum(axis=0) == pytest.approx(np.ones(len(summary.classes)))


def test_settled_groups_stay_while_values_come_and_go():
    values, labels = ["a", "b", "c", "d"] * 20, ["yes", "yes", "no", "no"] * 20
    seen = summary_of(GROUPED, values, labels).statistics[0]
    held = GROUPED.settled(seen)
    assert held.groups == (
        (("town", "text", "a"), ("town", "text", "b")),
        (("town", "text", "c"), ("town", "text", "d")),
    )
    assert held == held.settled(seen - seen)
    more = summary_of(held, ["a", "b", "c", "e"], ["yes", "no", "no", "yes"]).statistics[0]
    table = held.fit(more, ("town",))["town"].table
    groups = np.log([[1 + 1, 1 + 1], [1 + 1, 0 + 1], [0 + 1, 1 + 1]]) - np.log(2 + 3)
    expected = [groups[0] + np.log(0.5), groups[0] + np.log(0.5), groups[1], groups[2]]
    assert table == pytest.approx(np.array(expected))


def test_a_plain_categorical_is_settled_as_it_is():
    plain = families.named("categorical")
    assert plain.settled(summary_of(plain, ["a"], [0]).statistics[0]) is plain
    with pytest.raises(OptionRefused, match="Add grouped=True"):
        families.named("categorical", groups=((("town", "text", "a"),),))


def test_groups_of_any_kind_of_value_come_back_from_a_file():
    values = ["red", 3, 2.5, True, b"\xff", None, "\ud800", 10**400]
    family = families.named("categorical", grouped=True, missing_is_value=True)
    batch = Batch.of({"a": values, "b": values[::-1]}, list("xyxyxyxy"))
    family = family.settled(Summary.of((Block(family, ("a", "b")),), batch).statistics[0])
    assert sum(map(len, family.groups)) == 16
    schema = Schema(tuple(Choice(name, family, "as you said") for name in "ab"))
    saved = TrainedModel(Options(), schema, schema.summarize(batch))
    loaded = store.from_bytes(store.to_bytes(saved))
    assert loaded == saved
    assert loaded.schema.fingerprint == schema.fingerprint
    assert np.array_equal(Predictor.fit(loaded.summary).joint(batch), Predictor.fit(saved.summary).joint(batch))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 40])
def test_a_matrix_is_squared_to_the_last_bit_as_sums_of_outer_products(size):
    points = np.random.default_rng(size).normal(size=(50, size))
    matrix = points.T @ points
    raised = squared_often(matrix, 12)
    for _ in range(12):
        scaled = matrix / max(np.abs(matrix).max(), TINY)
        matrix = sum(np.multiply.outer(scaled[:, inner], scaled[inner]) for inner in range(size))
    assert raised.tobytes() == matrix.tobytes()
