"""Rows that wait to be learned: nobody can tell, however many there are and whoever asks between."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from candide import NaiveBayes
from candide.data.errors import ColumnRefused
from candide.training.waiting import MOST_WAITING

RNG = np.random.default_rng(3)
LABELS = RNG.integers(0, 3, 600)
ROWS = RNG.normal(size=(600, 3)) + LABELS[:, None]
ROWS[:, 1] = np.floor(np.exp(ROWS[:, 1]))
ROWS[::7, 2] = np.nan


def batches(model: NaiveBayes, *cuts: int) -> NaiveBayes:
    """The rows learned batch by batch."""
    for rows, labels in zip(np.split(ROWS, cuts), np.split(LABELS, cuts), strict=True):
        model.partial_fit(rows, labels)
    return model


def test_batches_that_wait_are_as_one_batch() -> None:
    asked = NaiveBayes()
    for rows, labels in zip(np.split(ROWS, 6), np.split(LABELS, 6), strict=True):
        asked.partial_fit(rows, labels)
        assert asked.summary_.rows
    waited = batches(NaiveBayes(), 100, 200, 300, 400, 500)
    assert waited.trained_ == asked.trained_
    np.testing.assert_array_equal(waited.predict_proba(ROWS), asked.predict_proba(ROWS))
    assert pickle.loads(pickle.dumps(batches(NaiveBayes(), 100, 300))).trained_ == batches(NaiveBayes(), 100).trained_
    assert waited.forget(ROWS[100:], LABELS[100:]).summary_ == batches(NaiveBayes(), 100).forget(
        ROWS[100:], LABELS[100:]
    ).summary_


def test_many_rows_do_not_wait() -> None:
    many = np.tile(ROWS[:, :2], (MOST_WAITING // 1200 + 1, 1))
    labels = np.tile(LABELS, MOST_WAITING // 1200 + 1)
    parts = NaiveBayes().partial_fit(ROWS[:, :2], LABELS)
    for rows, some in zip(np.array_split(many, 3), np.array_split(labels, 3), strict=True):
        parts.partial_fit(rows, some)
    whole = NaiveBayes().partial_fit(ROWS[:, :2], LABELS).partial_fit(many, labels)
    assert parts.summary_ == whole.summary_


def test_rows_that_wait_are_those_that_were_given() -> None:
    model = NaiveBayes().partial_fit(ROWS[:300], LABELS[:300])
    rows = ROWS[300:].copy()
    model.partial_fit(rows, LABELS[300:])
    rows[:] = 1e9
    assert model.summary_ == batches(NaiveBayes(), 300).summary_


def test_what_cannot_be_learned_is_refused_at_once() -> None:
    model = batches(NaiveBayes(), 300)
    with pytest.raises(ColumnRefused):
        model.partial_fit([[1.0, 2.0, np.inf]], [1])
    assert model.summary_ == batches(NaiveBayes(), 300).summary_


def test_rows_that_wait_are_there_when_rows_come_one_by_one() -> None:
    model = batches(NaiveBayes(), 200, 400)
    row = dict(zip(model.schema_.columns, ROWS[0].tolist(), strict=True))
    one_by_one = batches(NaiveBayes(), 200, 400).learn_one(row, 1)
    assert one_by_one.summary_ == model.partial_fit(ROWS[:1], [1]).summary_


def test_a_stream_that_is_asked_late_answers_as_one_that_is_asked_always() -> None:
    def events(first: int, last: int) -> list[tuple[dict[str, Any], str]]:
        kinds = [{"a": x, "b": y, "c": "red" if x > 1 else "blue", "d": z} for x, y, z in ROWS[first:last].tolist()]
        return list(zip(kinds, map(str, LABELS[first:last]), strict=True))

    late, always = NaiveBayes(), NaiveBayes()
    for model in (late, always):
        for event in events(0, 300):
            model.learn_one(*event)
        model.predict_one({"a": 1.0})
    for row, label in events(300, 600):
        late.learn_one(row, label)
        always.learn_one(row, label).predict_one(row)
    for row, _ in events(0, 20):
        assert late.predict_proba_one(row) == pytest.approx(always.predict_proba_one(row), abs=1e-9)
    for model in (late, always):
        model.forget_one(*events(10, 11)[0])
    assert late.trained_ == always.trained_


@pytest.mark.parametrize("number", [10**400, np.float32(np.inf)])
def test_a_stream_refuses_infinite_numbers_at_once(number: Any) -> None:
    model = NaiveBayes().learn_one({"size": 1}, "a").learn_one({"size": 2.5}, "b")
    before = model.summary_
    with pytest.raises(ColumnRefused):
        model.learn_one({"size": number}, "a")
    assert model.summary_ == before
