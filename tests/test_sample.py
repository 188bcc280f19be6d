"""Rows that are drawn hold what the columns hold."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from candide import NaiveBayes, families
from candide.api import verbs
from candide.cli.app import app
from candide.data.batch import Batch
from candide.model.domain import Domain, drawn_within
from candide.model.options import Options
from candide.model.sampling import drawn_rows
from candide.model.schema import Choice, Schema
from candide.model.trained_model import TrainedModel
from candide.training.forget import forget_rows
from candide.training.learn import learn_rows
from candide.training.refill import refilled
from strategies import CASES, blocks_of, tables

ROWS = 300


@pytest.mark.parametrize("case", CASES)
@settings(phases=[Phase.explicit, Phase.generate])
@given(data=st.data())
def test_what_is_drawn_can_be_learned(case, data):
    blocks = blocks_of(case)
    table = data.draw(tables(blocks, least=1))
    schema = Schema(tuple(Choice(name, block.family, "") for block in blocks for name in block.columns))
    drawn = drawn_rows(table.model(), schema, "the label", 20, None, np.random.default_rng(0))
    batch = Batch.of(drawn)
    for block in blocks:
        block.family.read(batch, block.columns)
    assert set(drawn["the label"].to_pylist()) <= {row.label for row in table.rows}


def people(rng):
    label = rng.integers(0, 2, ROWS)
    return pd.DataFrame(
        {
            "voice_mails": np.where(rng.random(ROWS) < 0.6, 0, rng.poisson(20, ROWS)),
            "area_code": rng.choice([408, 415, 510], ROWS),
            "age": rng.integers(18, 90, ROWS),
            "balance": rng.normal(label * 3, 4, ROWS).round(2),
            "price": rng.lognormal(label, 1, ROWS),
            "rest": np.where(rng.random(ROWS) < 0.5, 0.0, rng.exponential(2, ROWS)),
            "fair": rng.random(ROWS) < 0.3 + 0.4 * label,
            "colour": rng.choice(["red", "blue"], ROWS),
            "y": np.array(["no", "yes"])[label],
        }
    )


FAMILIES = ["gaussian", "student", "histogram", "gaussian_full", "gaussian_shared"]


@pytest.mark.parametrize("family", ["auto", *FAMILIES])
def test_whole_numbers_are_drawn_whole_and_bounds_are_kept(family):
    frame = people(np.random.default_rng(0))
    numbers = ["voice_mails", "area_code", "age", "balance", "price", "rest"]
    given = "auto" if family == "auto" else dict.fromkeys(numbers, family)
    drawn = NaiveBayes(given).fit(frame, "y").sample(2000, seed=0).to_pandas()
    for name in ("voice_mails", "area_code", "age"):
        assert drawn[name].dtype == np.int64
        assert drawn[name].min() >= (name != "voice_mails")
    assert drawn["rest"].min() >= 0
    assert drawn["price"].min() > 0
    assert drawn["balance"].min() < 0
    assert drawn["fair"].dtype == bool
    assert set(drawn["colour"]) == {"red", "blue"}


@settings(phases=[Phase.explicit, Phase.generate], max_examples=25, deadline=None)
@given(numbers=st.lists(st.one_of(st.integers(-5, 40), st.floats(-1e6, 1e6)), min_size=8, max_size=30))
def test_no_number_is_drawn_beyond_those_learned_of_columns_left_open(numbers):
    rows, labels = {"x": np.array(numbers, dtype=float)}, np.arange(len(numbers)) % 2
    model = NaiveBayes(smoothing="default", calibrate=False).fit(rows, labels)
    drawn = model.sample(200, seed=0)
    if "x" in drawn.column_names:
        found = np.array(drawn["x"].to_pylist(), dtype=float)
        assert min(numbers) <= found.min() <= found.max() <= max(numbers)
        assert not all(float(n).is_integer() for n in numbers) or (found == np.floor(found)).all()


def test_draws_go_as_far_as_the_rows_that_are_learned_by_now():
    rng = np.random.default_rng(0)
    model = NaiveBayes(calibrate=False).fit({"x": rng.normal(50, 10, 400).round()}, rng.integers(0, 2, 400))
    before = model.sample(3000, seed=1)["x"].to_numpy()
    bounds = model.inspect()["columns"][0]["held"]["quantiles"]
    assert bounds["min"] <= before.min() < before.max() <= bounds["max"]
    model.learn({"x": [20.5, 300.0]}, [0, 1])
    after = model.sample(3000, seed=1)["x"].to_numpy()
    assert (after != np.floor(after)).any()
    assert after.max() > before.max()
    model.forget({"x": [20.5, 300.0]}, [0, 1])
    assert (model.sample(3000, seed=1)["x"].to_numpy() == before).all()


def test_values_drawn_together_are_drawn_again_together():
    pairs = iter([np.array([[1.0, 9.0], [2.0, 2.0]]), np.array([[3.0], [4.0]])])
    found = drawn_within(lambda rows: list(next(pairs)), 2, [Domain(largest=5.0), Domain()], together=True)
    assert [values.tolist() for values in found] == [[1.0, 3.0], [2.0, 4.0]]
    pairs = iter([np.array([[1.0, 9.0], [2.0, 2.0]]), np.array([[3.0], [4.0]])])
    found = drawn_within(lambda rows: list(next(pairs)), 2, [Domain(largest=5.0), Domain()], together=False)
    assert [values.tolist() for values in found] == [[1.0, 3.0], [2.0, 2.0]]


def test_a_weekday_is_drawn_from_a_year_wherever_the_times_lie():
    days = pd.date_range("2024-05-01", periods=60)
    labels = np.where(days.day_of_week < 5, "work", "rest")
    model = NaiveBayes(calibrate=False).fit({"day": days}, labels)
    drawn = model.sample(300, label="rest", seed=0)["day"].to_pylist()
    assert np.mean([day.weekday() > 4 for day in drawn]) > 0.9
    assert len({day.month for day in drawn}) == 12


def test_a_histogram_draws_nothing_beyond_what_it_saw():
    rng = np.random.default_rng(0)
    values = rng.uniform(-2, 5.4, 500)
    drawn = NaiveBayes("histogram").fit({"x": values}, rng.integers(0, 2, 500)).sample(5000, seed=1)["x"].to_numpy()
    assert -2.1 < drawn.min() < drawn.max() < 5.5


def test_python_verbs_and_shell_draw_the_same_table(tmp_path):
    frame = people(np.random.default_rng(1))
    model = NaiveBayes().fit(frame, "y")
    model.save(tmp_path / "m.candide")
    drawn = model.sample(30, seed=5)
    assert drawn.column_names == [*frame.columns]
    assert verbs.sample(tmp_path / "m.candide", 30, seed=5) == drawn
    words = ["sample", str(tmp_path / "m.candide"), "-n", "30", "--seed", "5", "-o", str(tmp_path / "rows.jsonl")]
    assert CliRunner().invoke(app, words).exit_code == 0
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert rows == drawn.to_pylist()


def test_a_fraction_learned_later_is_known_by_the_sums_and_forgotten_with_its_row():
    rng = np.random.default_rng(2)
    rows = {"x": rng.integers(0, 50, 200).astype(float)}
    schema = Schema((Choice("x", families.named("gaussian"), "", holds="whole from 0"),))
    batch = Batch.of(rows, rng.integers(0, 2, 200))
    learned = refilled(TrainedModel.empty(Options(), schema), [batch])
    odd = Batch.of({"x": [2.5]}, [1])
    assert is_whole(learned)
    assert not is_whole(learn_rows(learned, [odd]))
    assert is_whole(forget_rows(learn_rows(learned, [odd]), [odd]))


def is_whole(learned):
    drawn = drawn_rows(learned.predictor, learned.schema, None, 100, None, np.random.default_rng(0))
    return all(value == int(value) for value in drawn["x"].to_pylist())
