"""Default models add up: fitted apart, merged, learned, forgotten or streamed, they remember and choose alike.

On tables made here, and on every real one of ../shared/data where that folder is there (CANDIDE_THOROUGH=1; it takes
minutes).
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from candide import NaiveBayes, fit, forget, learn, store
from candide.api.verbs import reading
from candide.families.base.family import Block
from candide.model.reading import read_as
from candide.model.schema import Choice, Schema
from candide.model.trained_model import TrainedModel
from candide.model.tuning import UNTUNED
from candide.sources import SourceRefused, file_source
from candide.training.reread import reread

SHARED = Path(__file__).parents[2] / "shared" / "data"
LABELS = {
    "adult_train": "income", "adult_test": "income", "mushroom": "edibility", "car": "acceptability",
    "nursery": "recommendation", "voting": "party", "letter": "letter", "spambase": "spam", "german_credit": "risk",
    "breast_cancer": "diagnosis", "heart_cleveland": "disease", "covertype": "Cover_Type", "titanic3": "survived",
}  # fmt: skip
MOST_ROWS = 500
PLAIN: dict[str, Any] = {"calibrate": False}

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def orchard(rows: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    kind = rng.integers(0, 3, rows)
    return pd.DataFrame(
        {
            "weight": rng.normal(100 + 30 * kind, 12),
            "price": rng.lognormal(kind, 0.4),
            "spots": rng.poisson(1 + kind),
            "colour": np.array(["red", "green", "blue", None], dtype=object)[(kind + rng.integers(0, 2, rows)) % 4],
            "ripe": rng.random(rows) < 0.3 + 0.2 * kind,
            "picked": np.datetime64("2024-01-01") + rng.integers(0, 300, rows).astype("timedelta64[D]"),
            "label": np.array(["apple", "pear", "plum"])[kind],
        }
    )


def paths() -> list[Path]:
    return [*sorted(SHARED.glob("pmlb/*.gz")), *sorted(SHARED.glob("table/*"))]


def real_table(path: Path) -> pd.DataFrame:
    """Some rows of a table, its label called so; ids and copies are left out, since only rows show them."""
    rows = pd.read_csv(path, sep="\t" if ".tsv" in path.name else ",")
    name = path.name.split(".")[0]
    rows = rows.rename(columns={"target" if ".tsv" in path.name else LABELS[name]: "label"})
    rows = rows[rows["label"].notna()].sample(min(MOST_ROWS, len(rows)), random_state=0)
    return rows.assign(label=rows["label"].astype(str)).reset_index(drop=True)


def real_tables() -> list[Any]:
    if not SHARED.exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason="the real tables in ../shared/data are not here"))]
    if os.environ.get("CANDIDE_THOROUGH") != "1":
        return [pytest.param(None, marks=pytest.mark.skip(reason="takes minutes: CANDIDE_THOROUGH=1 make test"))]
    return [pytest.param(path, id=path.name.split(".")[0]) for path in paths()]


def parted(rows: pd.DataFrame) -> dict[str, list[pd.DataFrame]]:
    """Halves and tenths by chance, and halves of rows sorted by label."""
    rng = np.random.default_rng(1)
    by_label = rows.sort_values("label", kind="stable")
    return {
        "halves": [rows.iloc[part] for part in np.array_split(rng.permutation(len(rows)), 2)],
        "tenths": [rows.iloc[part] for part in np.array_split(rng.permutation(len(rows)), 10)],
        "sorted": [by_label.iloc[part] for part in np.array_split(np.arange(len(rows)), 2)],
    }


def read_by_contest(trained: TrainedModel, columns: Collection[str]) -> dict[str, Any]:
    """The families that contests read off for some columns, whichever table won on whole rows."""
    return {choice.column: choice.family for choice in reread(only_open(trained, columns)).schema.choices}


def only_open(trained: TrainedModel, columns: Collection[str]) -> TrainedModel:
    """Some columns left open with nothing chosen, and their cells at the level at which choices are read."""
    open_choices = [c for c in trained.schema.choices if c.remembered is not None and c.column in columns]
    undecided = (Choice(c.column, None, "", kind=c.kind, remembered=c.remembered) for c in open_choices)
    schema = Schema(tuple(undecided))
    summary = read_as(trained.summary, schema.memory_blocks, trained.schema.remembered).first_met()
    return replace(trained, schema=schema, summary=summary, tuning=UNTUNED)


def assert_parts_add_up(rows: pd.DataFrame) -> None:
    """Only strings that some part took for the names of its rows are not in the sum."""
    whole = NaiveBayes(**PLAIN).fit(rows, "label").trained_
    for parts in parted(rows).values():
        first, *others = (NaiveBayes(**PLAIN).fit(part, "label") for part in parts)
        for other in others:
            first = first + other
        kept = whole.schema.remembered.keys() & first.schema_.remembered.keys()
        assert not any(pd.api.types.is_numeric_dtype(rows[name]) for name in whole.schema.columns if name not in kept)
        assert only_open(first.trained_, kept).summary == only_open(whole, kept).summary
        assert read_by_contest(first.trained_, kept) == read_by_contest(whole, kept)


def assert_streams_read_alike(rows: pd.DataFrame) -> None:
    fitted = NaiveBayes(**PLAIN).fit(rows, "label")
    streamed = NaiveBayes(**PLAIN)
    values = rows.drop(columns="label").astype(object).where(rows.drop(columns="label").notna(), None)
    for row, label in zip(values.to_dict("records"), rows["label"], strict=True):
        streamed.learn_one(row, label)
    texts = {name: plain for name, plain in fitted.schema_.remembered.items() if plain.has_recipe}
    assert words_of(streamed.trained_, texts) == words_of(fitted.trained_, texts)
    both = streamed.schema_.remembered.keys() & fitted.schema_.remembered.keys()
    assert both == fitted.schema_.remembered.keys() - texts.keys()
    assert read_by_contest(streamed.trained_, both) == read_by_contest(fitted.trained_, both)


def words_of(trained: TrainedModel, texts: dict[str, Any]) -> tuple[Any, ...]:
    """The plain words of some texts, which a stream counts; recipes are chosen from whole rows."""
    blocks = [Block(plain, (name,)) for name, plain in texts.items()]
    return read_as(trained.summary, blocks, {}).statistics


def test_models_fitted_apart_add_up():
    assert_parts_add_up(orchard())


@pytest.mark.parametrize("path", real_tables())
def test_real_tables_fitted_apart_add_up(path):
    assert_parts_add_up(real_table(path))


def test_bells_with_a_covariance_of_other_columns_add_up():
    """Of a column that never varies in one part, that part's bell knows nothing."""
    rng = np.random.default_rng(8)
    kind = rng.integers(0, 2, 400)
    first = rng.normal(size=400)
    table = pd.DataFrame({"a": first, "b": first + np.where(kind, 0.3, -0.3), "c": rng.normal(size=400)})
    rows = table.assign(label=np.array(["no", "yes"])[kind])
    rows.loc[:199, "c"] = 1.0
    first, other = (NaiveBayes(**PLAIN).fit(part, "label") for part in (rows[:200], rows[200:]))
    assert all("gaussian_" in str(model.schema_.blocks[0].family.name) for model in (first, other))
    assert first.schema_.blocks[0].columns != other.schema_.blocks[0].columns
    for merged in (first + other, other + first):
        assert set(merged.schema_.columns) >= {"a", "b"}
        assert merged.predict(table).shape == (400,)


def test_a_stream_has_the_families_that_fit_has():
    assert_streams_read_alike(orchard())


def test_a_stream_counts_the_words_that_fit_counts():
    rows = orchard(120)
    seen = np.array([f"seen by {name} on branch {row} of tree {row % 7}" for row, name in enumerate(rows["label"])])
    assert_streams_read_alike(rows[["weight", "label"]].assign(note=seen))


@pytest.mark.parametrize("path", real_tables())
def test_streams_of_real_tables_have_the_families_that_fit_has(path):
    assert_streams_read_alike(real_table(path))


def test_a_column_given_by_hand_may_have_the_family_of_an_open_one_in_a_stream():
    rows = orchard(80)
    rows["hand"] = rows["weight"] / 3
    by_hand = {**PLAIN, "families": {"hand": "gaussian"}}
    streamed, fitted = NaiveBayes(**by_hand), NaiveBayes(**by_hand)
    fitted.partial_fit(rows[["hand", "weight", "label"]], "label")
    for row in rows[["hand", "weight", "label"]].to_dict("records"):
        streamed.learn_one({"hand": row["hand"], "weight": row["weight"]}, row["label"])
    assert streamed.summary_ == fitted.summary_
    assert streamed.schema_.blocks == fitted.schema_.blocks


def test_learned_and_forgotten_rows_leave_the_bytes_that_were_there():
    rows = orchard()
    model = NaiveBayes().fit(rows[:300], "label")
    before = store.canonical_bytes(model.trained_)
    strange = rows[300:].assign(weight=-987654.321, colour="vermillionish", price=0.0)
    model.learn(strange)
    assert model.schema_ != store.from_bytes(before).schema
    model.forget(strange)
    after = store.canonical_bytes(model.trained_)
    assert after == before
    assert b"vermillionish" not in after
    assert np.float64(-987654.321).tobytes() not in after


def test_a_gamma_gives_way_to_the_first_zero():
    rng = np.random.default_rng(5)
    labels = np.array(["a", "b"] * 300)
    model = NaiveBayes(**PLAIN).fit({"x": rng.gamma(np.where(labels == "a", 1.0, 3.0))}, labels)
    assert model.schema_.choices[0].family.name in ("gamma", "weibull", "exponential", "lognormal")
    model.partial_fit({"x": [0.0, -1.5]}, ["a", "b"])
    assert model.schema_.choices[0].family.name not in ("gamma", "weibull", "exponential", "lognormal")


def test_numbers_that_turn_into_words_are_taken_as_they_are():
    model = NaiveBayes(**PLAIN).fit({"x": [1, 2, 3, 4] * 20}, ["low", "low", "high", "high"] * 20)
    model.partial_fit({"x": ["many", "many", "few"] * 10}, ["high", "high", "low"] * 10)
    (choice,) = model.schema_.choices
    assert choice.family.name == "categorical"
    assert choice.reason.startswith("numbers and text: each value as it is")
    assert model.predict({"x": [1, "many"]}).tolist() == ["low", "high"]


def test_whole_numbers_that_turn_into_decimals():
    rng = np.random.default_rng(6)
    labels = np.array(["a", "b"] * 200)
    model = NaiveBayes(**PLAIN).fit({"x": rng.poisson(np.where(labels == "a", 2, 6))}, labels)
    model.partial_fit({"x": rng.normal(np.where(labels == "a", 2.5, 6.5))}, labels)
    assert "whole" not in model.schema_.choices[0].holds
    assert model.schema_.choices[0].family.support.holds(np.array([2.5])).all()


@pytest.mark.parametrize("kind", ["empty", "numbers"])
def test_a_column_that_looks_different_at_first_gives_the_model_of_shuffled_rows(tmp_path, monkeypatch, kind):
    """A file whose first rows, as many as are looked at, have nothing, or only numbers, where words come later."""
    monkeypatch.setattr(reading, "ROWS_TO_LOOK_AT", 1000)
    monkeypatch.setattr(file_source, "SAMPLE", 1 << 15)
    rng = np.random.default_rng(7)
    count, late = 6_000, np.arange(6_000) >= 4_500
    labels = rng.integers(0, 2, count)
    telling = np.where(labels == 1, rng.choice(["up", "high"], count), rng.choice(["down", "deep"], count))
    first = "" if kind == "empty" else "3"
    rows = pd.DataFrame({"noise": rng.normal(size=count), "x": np.where(late, telling, first), "label": labels})
    rows["later"] = np.where(late, labels * 2 + rng.integers(0, 2, count), np.nan)
    files = [tmp_path / "sorted.csv", tmp_path / "shuffled.csv"]
    rows.to_csv(files[0], index=False)
    rows.sample(frac=1, random_state=2).to_csv(files[1], index=False)
    one, other = (fit(path, "label").trained for path in files)
    assert store.canonical_bytes(one) == store.canonical_bytes(other)
    assert {choice.column: choice.family.name for choice in one.schema.choices}["x"] == "categorical"


def test_learning_a_file_in_which_numbers_turn_into_words(tmp_path):
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_text("x,label\n" + "".join(f"{n % 5},{'ab'[n % 5 > 2]}\n" for n in range(100)))
    second.write_text("x,label\n" + "".join(f"{'3' if n % 4 else 'many'},b\n" for n in range(100)))
    model = learn(fit(first, "label"), second)
    (choice,) = model.trained.schema.choices
    assert choice.reason.startswith("numbers and text: each value as it is")
    told = {slot[2]: counts.sum() for slot, counts in told_values(model.trained)}
    assert told == {0: 20, 1: 20, 2: 20, 3: 95, 4: 20, "many": 25}
    assert store.canonical_bytes(forget(model, second).trained) == store.canonical_bytes(fit(first, "label").trained)


def told_values(trained: TrainedModel) -> list[Any]:
    (seen,) = trained.reading.statistics
    return list(zip(seen.slots, seen.counts, strict=True))


def test_one_mistake_among_very_many_numbers_is_refused(tmp_path):
    path = tmp_path / "typo.csv"
    lines = [f"{number % 97},{'ab'[number % 2]}" for number in range(250_000)]
    lines[240_000] = "l2,a"
    path.write_text("\n".join(["x,label", *lines]) + "\n")
    with pytest.raises(SourceRefused, match=r"holds 'l2', but a number such as 2\.5 was expected"):
        fit(path, "label")
