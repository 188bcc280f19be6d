"""Newton's steps find the calibration that a slow and obvious search finds, whatever the order of rows and threads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from candide.families.base.family import Block
from candide.families.gaussian import Gaussian
from candide.families.text import Text
from candide.kernels.calibrating import NEGLIGIBLE, counted_margin, counted_slope, exponential
from candide.selection import calibration_task
from candide.selection.calibration_task import Task
from candide.selection.fit_calibration import HOLD_TOGETHER, Calibrating, Objective
from candide.selection.leave_one_out import LeftOut
from candide.selection.newton import Bends, damped_step

SHAPES = [(60, 2, 1, 0), (200, 3, 4, 1), (150, 5, 2, 2), (2500, 4, 12, 1), (300, 30, 1, 2), (80, 2, 40, 0)]


def problem(seed: int, rows: int, classes: int, tables: int, texts: int, strength: float = 1.0) -> Calibrating:
    """Rows of which blocks say something true and something random; a few things are impossible."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, rows)
    labels[:classes] = np.arange(classes)
    blocks = [Block(Gaussian(), (f"x{index}",)) for index in range(tables)]
    blocks += [Block(Text(column=f"t{index}"), (f"t{index}",)) for index in range(texts)]
    terms = rng.normal(size=(len(blocks), rows, classes)) * rng.uniform(0.3, 3, (len(blocks), 1, 1))
    terms[:, np.arange(rows), labels] += strength * rng.uniform(0, 2, (len(blocks), 1))
    terms[0, ::17, 0] = np.where(labels[::17] == 0, terms[0, ::17, 0], -np.inf)
    terms[:, 5] = 0.0
    lengths = rng.integers(1, 30, (len(blocks), rows)).astype(float)
    prior = np.tile(np.log(np.bincount(labels) / rows), (rows, 1))
    left = LeftOut(labels, rng.integers(1, 3, rows).astype(float), prior, terms, lengths, np.zeros_like(lengths))
    return Calibrating.of(left, [("int", label) for label in range(classes)], blocks)


def some_point(calibrating: Calibrating, seed: int) -> np.ndarray:
    low, high = np.clip(calibrating.limits.T, -1.0, 1.0)
    return np.random.default_rng(seed).uniform(low, high) * 0.7


@pytest.mark.parametrize("shape", SHAPES[:5])
def test_slope_and_curvature_are_what_small_steps_show(shape):
    calibrating = problem(1, *shape)
    loss, point = Objective(calibrating.task, calibrating.texts), some_point(calibrating, 2)
    slope, bends = loss.value_and_slope(point)[1], sum(loss.curvature(point))
    free = np.flatnonzero(calibrating.limits[:, 0] < calibrating.limits[:, 1])
    step = 1e-5
    for index in free:
        there, back = point.copy(), point.copy()
        there[index] += step
        back[index] -= step
        (more, ahead), (less, behind) = loss.value_and_slope(there), loss.value_and_slope(back)
        assert (more - less) / (2 * step) == pytest.approx(slope[index], rel=1e-6, abs=1e-4)
        assert (ahead - behind)[free] / (2 * step) == pytest.approx(bends[index][free], rel=1e-2, abs=0.2)
    assert np.linalg.eigvalsh(loss.curvature(point).upwards).min() > -1e-6


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("strength", [0.3, 1.0, 4.0])
def test_no_slow_search_finds_less(shape, strength):
    calibrating = problem(3, *shape, strength)
    (loss, found), limits = calibrating.whole, calibrating.limits
    assert found.value == pytest.approx(loss.value_and_slope(found.point)[0], rel=1e-12)
    slow = minimize(
        loss.value_and_slope, loss.start(), jac=True, method="L-BFGS-B", bounds=limits, options={"ftol": 1e-12}
    )
    assert found.value <= slow.fun + 1e-4
    assert (found.point >= limits[:, 0]).all()
    assert (found.point <= limits[:, 1]).all()


def test_the_order_of_rows_changes_no_bit_of_a_calibration():
    first = problem(4, 4000, 3, 3, 1)
    order = np.random.default_rng(0).permutation(4000)
    scored = first.task.scored
    cells = (scored.ends[:-1][order, None] + np.arange(3)).ravel()
    by_row = {name: getattr(scored, name)[order] for name in ("row_weights", "label_smoothing", "informed")}
    own = scored.ends[:-1] + first.task.labels[order]
    terms, logs = np.ascontiguousarray(scored.terms[:, cells]), scored.logs[:, order].copy()
    moved = scored._replace(terms=terms, start=scored.start[cells], own=own, logs=logs, **by_row)
    second = replace(first, task=Task(moved, 3))
    assert second.calibration == first.calibration


def test_classes_that_are_next_to_impossible_have_no_part():
    """Of thirty classes a few are probable in a row; without the others the minimum is nearly where it was."""
    calibrating = problem(8, 3000, 30, 1, 2, strength=9.0)
    asked, found = calibrating.whole
    assert asked.task.size < calibrating.task.size / 2
    assert (asked.task.labels == calibrating.task.labels).all()
    every = replace(asked, task=calibrating.task).value_and_slope(found.point)
    assert asked.value_and_slope(found.point)[0] == pytest.approx(every[0], rel=1e-3)
    assert np.abs(every[1]).max() < 1e-3 * calibrating.task.weight


def test_a_step_that_is_held_back_leads_downhill():
    """Where each number was held back by itself, the step led uphill, and a search could end there."""
    upwards, wanted = np.array([[102.0, 400.0], [400.0, 1600.0]]), np.array([8.0, -1.9])
    step = damped_step(Bends(upwards, np.zeros((2, 2))), np.ones(2, dtype=bool), upwards @ wanted, 0.0)
    assert step == pytest.approx(wanted / 8, rel=1e-3)
    assert step @ upwards @ wanted > 0


def test_the_number_of_threads_changes_no_bit(monkeypatch):
    monkeypatch.setattr(calibration_task, "WORTH_THREADS", 0)
    monkeypatch.setattr(calibration_task, "ROWS_AT_ONCE", 256)
    monkeypatch.setattr(calibration_task, "ROOTS_AT_ONCE", 4096)
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("CANDIDE_THREADS", threads)
        calibrating = problem(5, 2000, 4, 3, 1)
        without = [fitted for _, fitted in calibrating.without(np.arange(2000) % 5)]
        found.append((calibrating.whole[1].point.tobytes(), without))
    assert found[0] == found[1]


@pytest.mark.parametrize("rows", [300, 4000])
def test_without_a_fold_is_as_if_the_fold_were_not_there(rows):
    calibrating = problem(6, rows, 3, 4, 1)
    folds = np.arange(rows) % 5
    for here, found in calibrating.without(folds):
        weights = calibrating.task.scored.row_weights.copy()
        weights[here] = 0.0
        alone = replace(calibrating, task=calibrating.task.weighed(weights)).calibration
        assert list(found.weight.values()) == pytest.approx(list(alone.weight.values()), rel=0.01)
        assert list(found.bias.values()) == pytest.approx(list(alone.bias.values()), abs=0.01)


def test_what_says_nothing_has_no_weight():
    calibrating = problem(7, 100, 2, 1, 0)
    silent = replace(calibrating.task, scored=calibrating.task.scored._replace(terms=np.zeros((1, 200))))
    found = replace(calibrating, task=silent).calibration
    assert set(found.weight.values()) == set(found.bias.values()) == {0.0}


def columns(said: np.ndarray, labels: np.ndarray) -> Calibrating:
    """A table of two classes: said[column, row] is the log odds that a column gives the second."""
    terms = np.stack([np.zeros_like(said), said], axis=2)
    ones, prior = np.ones(len(labels)), np.full((len(labels), 2), np.log(0.5))
    left = LeftOut(labels, ones, prior, terms, np.ones(said.shape), np.zeros(said.shape))
    blocks = [Block(Gaussian(), (f"x{index}",)) for index in range(len(said))]
    return Calibrating.of(left, [("int", 0), ("int", 1)], blocks)


def test_rows_tell_how_strongly_weights_are_held_together():
    rng = np.random.default_rng(8)
    labels = rng.integers(0, 2, 2000)
    signs = 2.0 * labels - 1
    alike = 0.4 * (rng.normal(size=(40, 2000)) + 0.2 * signs)
    assert columns(alike, labels).whole[0].together == max(HOLD_TOGETHER)
    repeated = np.concatenate([2 * (rng.normal(size=(3, 2000)) + signs), rng.normal(size=(1, 2000)).repeat(8, axis=0)])
    assert columns(repeated, labels).whole[0].together == min(HOLD_TOGETHER)


def test_small_parts_of_the_kernel_beside_what_they_stand_for():
    numbers = np.linspace(NEGLIGIBLE, 0.0, 997)
    assert [exponential(number) for number in numbers] == pytest.approx(np.exp(numbers).tolist(), rel=1e-12)
    assert exponential(-1e9) == pytest.approx(np.exp(NEGLIGIBLE))
    margins = np.linspace(-3.0, 14.0, 1701)
    counted = np.array([counted_margin(margin) for margin in margins])
    assert np.abs(counted - np.clip(margins, 0.0, 10.0)).max() <= 0.026
    slopes = np.array([counted_slope(margin) for margin in margins])
    assert np.gradient(counted, margins)[1:-1] == pytest.approx(slopes[1:-1], abs=0.03)
