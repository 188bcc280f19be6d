"""The reported score stands in one place, and whoever adds it up elsewhere adds up the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from candide.data.batch import Batch
from candide.families.base.family import Block
from candide.families.gaussian import Gaussian
from candide.families.text import Text
from candide.kernels.calibrating import Coefficients
from candide.kernels.scoring import add_evidence
from candide.model.calibration import Calibration
from candide.model.predictor import Predictor, log_normalised
from candide.model.reported import BlockEvidence, is_informed, reported_scores
from candide.model.summary import Summary
from candide.selection.calibration_task import Task
from candide.selection.leave_one_out import LeaveOneOut

BLOCKS = (Block(Text(column="text"), ("text",)), Block(Gaussian(), ("x",)))
CLASSES = (("text", "fig"), ("text", "plum"))
CALIBRATION = Calibration(
    dict(zip(CLASSES, [0.3, -0.3], strict=True)), {"text": 0.7, "x": 1.4}, {"text": 0.5}
)


def rows(count: int = 40) -> Batch:
    rng = np.random.default_rng(2)
    labels = rng.choice(["fig", "plum"], count)
    texts = [" ".join(rng.choice(["a", "b", "c", label], rng.integers(0, 9))) for label in labels]
    return Batch.of({"text": texts, "x": rng.normal(size=count)}, labels)


def by_hand(prior: np.ndarray, text: np.ndarray, length: np.ndarray, x: np.ndarray) -> np.ndarray:
    factor = 0.7 * np.maximum(length, 1.0) ** -0.5
    return prior + np.array([0.3, -0.3]) + factor[:, None] * text + 1.4 * x


def test_the_reported_score_written_out():
    batch = rows()
    model = Predictor.fit(Summary.of(BLOCKS, batch), calibration=CALIBRATION)
    text, x = np.zeros((2, len(batch), 2))
    for said, block, parameters in zip((text, x), model.blocks, model.parameters, strict=True):
        block.family.score(parameters, block.family.view(batch, block.columns), said)
    length = np.array([len(str(value).split()) for value in batch.columns.raw(batch.position("text"))], dtype=float)
    expected = by_hand(model.log_prior, text, length, x)
    np.testing.assert_allclose(model.reported(batch), expected, atol=1e-12)
    np.testing.assert_allclose(model.assess(batch).reported, expected, atol=1e-12)
    for index, why in enumerate(model.explain(batch)):
        assert why.reported == pytest.approx(expected[index], abs=1e-9)
    evidence = [BlockEvidence("text", text, length), BlockEvidence("x", x, None)]
    log_prior = np.tile(model.log_prior, (len(batch), 1))
    found = reported_scores(log_prior, CALIBRATION.biases(model.classes), CALIBRATION, evidence)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_rows_left_out_report_by_the_same_formula():
    batch = rows()
    left = LeaveOneOut.of(Summary.of(BLOCKS, batch), batch).left_out()
    expected = by_hand(left.prior, left.terms[0], left.lengths[0], left.terms[1])
    np.testing.assert_allclose(left.reported(CALIBRATION, CLASSES, BLOCKS), expected, atol=1e-12)


def test_the_kernel_that_fits_a_calibration_adds_up_the_reported_score():
    batch = rows()
    left = LeaveOneOut.of(Summary.of(BLOCKS, batch), batch).left_out()
    task = Task.of(left, np.array([True, False]))
    plain = replace(task, scored=task.scored._replace(label_smoothing=np.zeros(len(batch))))
    loss, _ = plain.loss(Coefficients(np.array([0.3, -0.3]), np.array([0.7, 1.4]), np.array([0.5, 0.0])))
    likely = log_normalised(left.reported(CALIBRATION, CLASSES, BLOCKS), left.prior)
    assert loss == pytest.approx(-likely[np.arange(len(batch)), left.labels].sum(), abs=1e-9)


def test_evidence_is_added_as_arrays_add_it():
    rng = np.random.default_rng(7)
    score, factor = rng.integers(-2, 2, (50, 3)) / 3, rng.random(50)
    score[3], score[4, 1] = 0.5, -np.inf
    scores, informed = rng.random((50, 3)), rng.random(50) < 0.5
    expected = scores + factor[:, None] * score, informed | is_informed(score)
    add_evidence(score, factor, scores, informed)
    np.testing.assert_array_equal(scores, expected[0])
    np.testing.assert_array_equal(informed, expected[1])
