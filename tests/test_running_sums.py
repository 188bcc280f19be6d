"""Sums asked while they grow: moments that are those of frozen sums, and bells that are those of the families."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candide import families
from candide.families.base.density import blend, pool
from candide.kernels.bells import log_gamma_ratio
from candide.statistics.sums import Sums
from candide.stream.live_sums import LiveDensity, RunningSums

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
    running = RunningSums.over(Sums.of(values[:over], labels[:over], CLASSES))
    for value, label in zip(values[over:], labels[over:], strict=True):
        running.add(value[None], int(label), 1)
    return running, Sums.of(values, labels, CLASSES)


@given(rows=ROWS, over=st.integers(0, 12))
def test_moments_are_those_of_frozen_sums(rows: list[tuple[float, float, int]], over: int) -> None:
    running, sums = learned(rows, over)
    weight, mean, deviation = running.moments()
    assert running.freeze() == sums
    for part, entries in ((sums, slice(1, None)), (sums.over_classes(), slice(0, 1))):
        np.testing.assert_array_equal(weight[:, entries], part.weight.to_float())
        np.testing.assert_array_equal(mean[:, entries], part.mean)
        np.testing.assert_allclose(deviation[:, entries], part.deviation, rtol=1e-15)


@given(rows=ROWS, over=st.integers(0, 12), gone=st.integers(0, 11))
def test_what_is_taken_away_leaves_no_trace(rows: list[tuple[float, float, int]], over: int, gone: int) -> None:
    running, _ = learned(rows, over)
    *value, label = rows[gone % len(rows)]
    running.moments()
    running.add(np.array([value]), label, -1)
    rest, sums = learned(rows[: gone % len(rows)] + rows[gone % len(rows) + 1 :], 0) if len(rows) > 1 else (None, None)
    if rest is not None:
        np.testing.assert_array_equal(running.moments(), rest.moments())
        assert running.freeze() == sums


@pytest.mark.parametrize("name", ["gaussian", "student", "lognormal"])
@pytest.mark.parametrize("smoothing", [0.0, 0.5])
@given(
    rows=st.lists(st.tuples(st.floats(1e-3, 1e6), st.integers(0, CLASSES - 1)), min_size=2, max_size=9),
    asked=st.floats(1e-200, 1e200),
)
def test_bells_are_those_of_the_family(name: str, smoothing: float, rows: Any, asked: float) -> None:
    family = families.named(name, smoothing=smoothing)
    values, labels = family.summed(np.array([[value] for value, _ in rows])), np.array([label for _, label in rows])
    sums = Sums.of(values, labels, CLASSES)
    block, said = LiveDensity(family, ["size"], sums), np.zeros(CLASSES)
    block.score([(0, "size", asked)], np.arange(CLASSES), said)
    parameters = family.parameters(blend(pool(sums), pool(sums.over_classes()), family.smoothing))
    np.testing.assert_allclose(said, family.log_density(np.array([[asked]]), *parameters)[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("half", [0.5, 3.0, 19.5, 20.5, 1e3, 1e9, 1e15])
def test_the_ratio_of_gamma_functions(half: float) -> None:
    """Γ(a + 1/2) / Γ(a) times Γ(a + 1) / Γ(a + 1/2) is a."""
    assert log_gamma_ratio(half) + log_gamma_ratio(half + 0.5) == pytest.approx(np.log(half), rel=1e-13, abs=1e-13)
