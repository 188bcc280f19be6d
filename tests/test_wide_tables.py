"""Wide tables: the columns that tell most have a say, chosen anew without each fold of the rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candide.data.batch import Batch
from candide.kernels.part_gains import SMOOTHING, gain_of_parts, in_parts
from candide.model.options import Options
from candide.model.schema import LEFT_OUT
from candide.selection.folds import CHOICES, dealt_by_label
from candide.selection.wide_tables import (
    LEAST_COLUMNS,
    MANY_ROWS,
    MOST_COLUMNS,
    TELLS_NOTHING,
    gains_of_mixed,
    gains_without_folds,
    without_weak_columns,
)
from candide.training.fit import fit_first_batch


def slow_gain(parts, rows):
    """Every row taken out by itself."""
    filled, gain = sum(map(any, parts)), 0.0
    for part in parts:
        for label, count in enumerate(part):
            left = [total - (other == label) for other, total in enumerate(rows)]
            if not count or not left[label]:
                continue
            joint = []
            for other in range(len(rows)):
                seen = part[other] - (other == label)
                total = sum(line[other] for line in parts) - (other == label)
                joint.append(left[other] * (seen + SMOOTHING) / (total + SMOOTHING * filled))
            gain += count * math.log(joint[label] / sum(joint) * sum(left) / left[label])
    return gain


counts = st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=1, max_size=6)


missed = st.lists(st.integers(0, 4), min_size=3, max_size=3)


@given(parts=counts.filter(lambda parts: any(map(any, parts))), missing=missed)
def test_what_parts_tell_is_what_rows_left_out_tell(parts, missing):
    rows = np.sum(parts, axis=0) + missing
    said = gain_of_parts(np.array(parts, dtype=np.float64), rows.astype(np.float64))
    assert said == pytest.approx(slow_gain(parts, rows.tolist()), rel=1e-9, abs=1e-9)


@given(lines=counts, most=st.integers(1, 4))
def test_parts_hold_neighbouring_lines_and_all_of_them(lines, most):
    lines = np.array(lines, dtype=np.float64)
    parts = in_parts(lines, most)
    assert np.array_equal(parts.sum(axis=0), lines.sum(axis=0))
    starts = np.concatenate([np.cumsum(parts.sum(axis=1)), np.cumsum(lines.sum(axis=1))])
    assert set(starts[:most]) <= {0.0, *starts[most:]}


def test_of_many_columns_those_that_tell_most_have_a_say_without_each_fold():
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 80)
    values = rng.normal(size=(80, MOST_COLUMNS + 60)) + 2.0 * labels[:, None] * (np.arange(MOST_COLUMNS + 60) % 50 == 7)
    batch = Batch.of(values, labels)
    trained = fit_first_batch(Options(), batch)
    schema, heard = without_weak_columns(trained.schema, trained.summary, batch, trained.options)
    assert len(heard.without) == CHOICES
    assert all(len(some) == MOST_COLUMNS for some in (*heard.without, heard.whole))
    kept = {choice.column for choice in schema.choices if choice.rule != LEFT_OUT}
    assert kept == heard.whole.union(*heard.without)
    assert {f"x{index}" for index in range(7, values.shape[1], 50)} <= frozenset.intersection(*heard.without)
    assert len({*heard.without, heard.whole}) > 1  # noise that is among the best with some rows is not with others


@pytest.mark.parametrize("telling", [0, 20])
def test_of_many_rows_and_columns_those_that_tell_nothing_have_no_say(telling):
    rng = np.random.default_rng(6)
    labels, columns = rng.integers(0, 2, MANY_ROWS), MOST_COLUMNS + 1
    values = rng.normal(size=(MANY_ROWS, columns)) + 0.2 * labels[:, None] * (np.arange(columns) < telling)
    batch = Batch.of(values, labels)
    trained = fit_first_batch(Options(), batch)
    schema, heard = without_weak_columns(trained.schema, trained.summary, batch, trained.options)
    kept = {choice.column for choice in schema.choices if choice.rule != LEFT_OUT}
    assert {f"x{index}" for index in range(telling)} <= kept
    assert len(kept) < telling + 2 * LEAST_COLUMNS + columns // 8
    assert min(map(len, (*heard.without, heard.whole))) >= LEAST_COLUMNS
    assert TELLS_NOTHING in {choice.reason for choice in schema.choices if choice.column not in kept}
    some = fit_first_batch(Options(), batch.rows(0, MANY_ROWS - 1))  # of fewer rows, what each tells may add up
    _, heard = without_weak_columns(some.schema, some.summary, batch.rows(0, MANY_ROWS - 1), some.options)
    assert all(len(some) == MOST_COLUMNS for some in (*heard.without, heard.whole))


def test_hundreds_of_columns_that_each_tell_next_to_nothing_are_heard():
    """Each tells two nats of all rows, no more than one of hundreds tells by chance: together they tell much."""
    rng = np.random.default_rng(7)
    labels, columns = rng.integers(0, 2, MANY_ROWS), MOST_COLUMNS + 60
    batch = Batch.of(rng.normal(size=(MANY_ROWS, columns)) + 0.04 * labels[:, None], labels)
    trained = fit_first_batch(Options(), batch)
    _, heard = without_weak_columns(trained.schema, trained.summary, batch, trained.options)
    assert all(len(some) == MOST_COLUMNS for some in (*heard.without, heard.whole))


def test_no_column_is_left_out_of_a_table_that_is_not_wide():
    batch = Batch.of(np.random.default_rng(4).normal(size=(60, 5)), np.arange(60) % 2)
    trained = fit_first_batch(Options(), batch)
    assert without_weak_columns(trained.schema, trained.summary, batch, trained.options)[0] == trained.schema


@pytest.mark.parametrize("weights", [None, [1, 2, 3], [0.5, 1.0, 0.25]])
def test_numbers_taken_out_of_cells_tell_what_summaries_without_a_fold_tell(weights):
    """The slow twin counts in a summary without each fold, as columns that hold other values need it."""
    rng = np.random.default_rng(5)
    labels, columns = rng.integers(0, 3, 120), ("x0", "x1")
    values = np.where(rng.random((120, 2)) < 0.2, np.nan, np.round(rng.normal(size=(120, 2)) + labels[:, None], 1))
    batch = Batch.of(values, labels, None if weights is None else np.resize(weights, 120))
    summary, folds = fit_first_batch(Options(), batch).summary, dealt_by_label(batch.labels.codes) % CHOICES
    slow = gains_of_mixed(summary, columns, batch, folds)
    assert gains_without_folds(summary, columns, batch) == pytest.approx(slow, rel=1e-12)
    assert np.ptp(slow, axis=0).min() > 0
