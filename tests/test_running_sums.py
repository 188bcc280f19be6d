"""Sums asked while they grow: moments are those of frozen sums, and densities those of the families."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from candide import families
from candide.families.base.density import blend, pool
from candide.families.base.support import COUNTS
from candide.kernels.densities import log_gamma_ratio
from candide.kernels.digits import leading_bits, length_of
from candide.kernels.shares import log_shares_of, shares_of_scores
from candide.model.predictor import normalised
from candide.statistics.sums import Sums
from candide.stream.live_sums import LiveDensity, join
from candide.stream.running_sums import RunningSums

CLASSES = 3
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-4, 4).map(float),
    st.floats(1.7e9, 1.7e9 + 1),
    st.just(float("nan")),
)
ROWS = st.lists(st.tuples(NUMBERS, NUMBERS, st.integers(0, CLASSES - 1)), min_size=1, max_size=12)


def learned(rows: list[tuple[float, float, int]], over: int) -> tuple[RunningSums, Sums]:
    """Running sums of rows, some of which were there before, and the sums themselves."""
    values, labels = np.array([row[:2] for row in rows]), np.array([row[2] for row in rows])
    running = RunningSums.over(Sums.of(values[:over], labels[:over], CLASSES), 2 * [families.named("gaussian")])
    for value, label in zip(values[over:], labels[over:], strict=True):
        running.add(np.arange(2), value, int(label), 1)
    return running, Sums.of(values, labels, CLASSES)


def frozen(running: RunningSums) -> Sums:
    return running.only(np.arange(CLASSES), np.arange(2))


@given(rows=ROWS, over=st.integers(0, 12))
def test_moments_are_those_of_frozen_sums(rows: list[tuple[float, float, int]], over: int) -> None:
    running, sums = learned(rows, over)
    weight, mean, deviation = running.moments()
    assert frozen(running) == sums
    for part, entries in ((sums, slice(1, None)), (sums.over_classes(), slice(0, 1))):
        np.testing.assert_array_equal(weight[:, entries], part.weight.to_float())
        np.testing.assert_array_equal(mean[:, entries], part.mean)
        np.testing.assert_allclose(deviation[:, entries], part.deviation, rtol=1e-15)


@given(rows=ROWS, over=st.integers(0, 12), gone=st.integers(0, 11))
def test_what_is_taken_away_leaves_no_trace(rows: list[tuple[float, float, int]], over: int, gone: int) -> None:
    running, _ = learned(rows, over)
    *value, label = rows[gone % len(rows)]
    running.moments()
    running.add(np.arange(2), np.array(value), label, -1)
    rest, sums = learned(rows[: gone % len(rows)] + rows[gone % len(rows) + 1 :], 0) if len(rows) > 1 else (None, None)
    if rest is not None:
        np.testing.assert_array_equal(running.moments(), rest.moments())
        assert frozen(running) == sums


COMPILED = [name for name in families.names() if families.named(name).compiled_density is not None]
SIZES = st.one_of(st.floats(1e-3, 1e6), st.integers(0, 9).map(float), st.integers(0, 10**9).map(float))


def test_the_densities_that_kernels_know() -> None:
    assert {"gaussian", "student", "lognormal", "poisson", "negative_binomial"} < set(COMPILED)


def supported(family: Any, rows: list[tuple[float, int]]) -> list[tuple[float, int]]:
    """The rows that a family takes, numbers made whole where it counts."""
    whole = [(float(int(value)) if family.support is COUNTS else value, label) for value, label in rows]
    return [(value, label) for value, label in whole if family.support.holds(np.array(value))]


def block_of(family: Any, rows: list[tuple[float, int]]) -> tuple[LiveDensity, Sums]:
    """A block that has learned rows of one column, and the sums that a batch of them leaves."""
    values = np.array([value for value, _ in rows]).reshape(-1, 1)
    labels = np.array([label for _, label in rows], np.int64)
    block = LiveDensity(family, ["size"], Sums.of(np.zeros((0, 1)), np.zeros(0, np.int64), CLASSES))
    for value, label in rows:
        block.learn(block.read([(0, "size", value)]), label)
    return block, Sums.of(family.summed(values), labels, CLASSES)


@pytest.mark.parametrize("name", COMPILED)
@pytest.mark.parametrize("smoothing", [0.0, 0.5])
@given(
    rows=st.lists(st.tuples(SIZES, st.integers(0, CLASSES - 1)), min_size=2, max_size=9),
    asked=st.one_of(SIZES, st.floats(1e-200, 1e200), st.floats(-9.0, 0.0, allow_subnormal=False)),
)
def test_kernels_say_what_the_family_says(name: str, smoothing: float, rows: Any, asked: float) -> None:
    family = families.named(name, smoothing=smoothing)
    rows = supported(family, rows)
    assume(rows)
    block, sums = block_of(family, rows)
    assert block.freeze() == sums
    said, expected = np.zeros(CLASSES), np.zeros(CLASSES)
    length = block.score([(0, "size", asked)], np.arange(CLASSES), said)
    assert length == family.support.holds(np.array(asked))
    if length:
        parameters = family.parameters(blend(pool(sums), pool(sums.over_classes()), family.smoothing))
        expected = family.log_density(np.array([[asked]]), *parameters)[0]
    np.testing.assert_allclose(said, expected, rtol=1e-9, atol=1e-9)


@given(rows=st.lists(st.tuples(SIZES, st.integers(0, CLASSES - 1)), min_size=2, max_size=9), later=SIZES)
def test_blocks_that_share_a_table_are_what_they_were(rows: Any, later: float) -> None:
    chosen = [families.named(name) for name in COMPILED]
    alone, together = ([block_of(family, supported(family, rows))[0] for family in chosen] for _ in range(2))
    join(together)
    assert len({id(block.builder) for block in together}) == 1
    for one, joined in zip(alone, together, strict=True):
        if supported(one.family, [(later, 0)]) == [(later, 0)]:
            for block in (one, joined):
                block.learn(block.read([(0, "size", later)]), 1)
        said = [np.zeros(CLASSES), np.zeros(CLASSES)]
        for block, scores in zip((one, joined), said, strict=True):
            block.score([(0, "size", later)], np.arange(CLASSES), scores)
        np.testing.assert_array_equal(*said)
        assert one.freeze() == joined.freeze()


@given(joint=st.lists(st.one_of(st.floats(-800.0, 9.0), st.just(-np.inf)), min_size=1, max_size=6))
def test_shares_are_those_of_a_predictor(joint: list[float]) -> None:
    scores, order = np.array(joint), np.arange(len(joint))[::-1].copy()
    shares = shares_of_scores(scores, order)
    if np.isfinite(scores).any():
        np.testing.assert_allclose(shares, normalised(scores[None, order], np.zeros(len(joint)))[0], rtol=1e-14)
    else:
        assert np.isnan(shares).all()


def test_the_prior_is_the_share_of_rows() -> None:
    counts = np.array([3, 5, 0, 2])
    np.testing.assert_allclose(np.exp(log_shares_of(counts, np.array([3, 0, 1]), np.log(10))), [0.2, 0.3, 0.5])


@given(rows=ROWS, over=st.integers(0, 12), asked=st.tuples(NUMBERS, NUMBERS), kept=st.integers(1, CLASSES))
def test_shares_in_one_call_are_those_step_by_step(rows: Any, over: int, asked: Any, kept: int) -> None:
    one, other = (learned(rows, over)[0] for _ in range(2))
    counts, values, order = np.array([4, 1, 3, 0]), np.array(asked), np.arange(kept)[::-1].copy()
    joint = np.zeros(len(counts))
    joint[order] = log_shares_of(counts, order, np.log(8.0))
    one.judge(np.arange(2), values, order, joint)
    shares = other.shares(np.arange(2), values, order, counts, 8.0)
    np.testing.assert_array_equal(shares, shares_of_scores(joint, order))
    np.testing.assert_array_equal(one.table, other.table)


@given(digits=st.lists(st.integers(-2, 2), max_size=5))
def test_digits_end_with_the_last_that_counts(digits: list[int]) -> None:
    length = length_of(np.array(digits, np.int64))
    assert not any(digits[length:])
    assert length == 0 or digits[length - 1]


@pytest.mark.parametrize("number", [1, 2, 3, 2**31 - 1, 2**31, 2**32 - 1])
def test_leading_bits_of_a_digit(number: int) -> None:
    bits, top, rest = leading_bits(np.array([0, number, 0]))
    assert (int(bits) >> (64 - number.bit_length()), top, rest) == (number, 32 + number.bit_length() - 1, False)


@pytest.mark.parametrize("half", [0.5, 3.0, 19.5, 20.5, 1e3, 1e9, 1e15])
def test_the_ratio_of_gamma_functions(half: float) -> None:
    """Γ(a + 1/2) / Γ(a) times Γ(a + 1) / Γ(a + 1/2) is a."""
    assert log_gamma_ratio(half) + log_gamma_ratio(half + 0.5) == pytest.approx(np.log(half), rel=1e-13, abs=1e-13)
