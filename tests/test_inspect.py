"""The card of a model: what it tells is what the model holds, and it stays readable however large the model is."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from candide import NaiveBayes, families
from candide.api import verbs
from candide.cli.cards import COLUMNS_SHOWN, features_of
from candide.cli.inspect import show_card
from strategies import PLAIN

ORCHARD = str(Path(__file__).parents[1] / "examples" / "orchard.csv")
MESSAGES = str(Path(__file__).parents[1] / "examples" / "messages.jsonl")
WIDTH = 80


@pytest.fixture(scope="module")
def fitted():
    return verbs.fit(ORCHARD, "fruit")


@pytest.fixture(scope="module")
def card(fitted):
    return json.loads(json.dumps(verbs.inspect(fitted), default=str))


def by_column(card):
    return {column["column"]: column for column in card["columns"]}


def printed(card, capsys, model="m.candide"):
    show_card(card, model)
    return capsys.readouterr().out


# What it tells.


def test_columns_tell_what_their_profiles_tell(fitted, card):
    told = {profile.column: profile.information for profile in fitted.trained.predictor.profiles()}
    assert {name: column["information"] for name, column in by_column(card).items()} == pytest.approx(told)
    assert card["bits"] == pytest.approx(-sum(one["prior"] * np.log2(one["prior"]) for one in card["classes"]))
    assert [one["name"] for one in features_of(card)] == sorted(told, key=lambda name: -told[name])


def test_parameters_go_by_their_names_and_are_the_models(fitted, card):
    found = by_column(card)["weight_g"]
    assert found["family"] == "gaussian"
    (index,) = [n for n, block in enumerate(fitted.trained.predictor.blocks) if "weight_g" in block.columns]
    column = fitted.trained.predictor.blocks[index].columns.index("weight_g")
    mean, deviation = fitted.trained.predictor.parameters[index]
    for label, name in enumerate(fitted.classes):
        assert found["parameters"][name] == {
            "mean": pytest.approx(mean[column, label]), "deviation": pytest.approx(deviation[column, label])
        }  # fmt: skip


def test_shares_of_values_sum_to_one_and_telling_ones_have_their_counts(card):
    found = by_column(card)["colour"]
    for name in found["parameters"]:
        assert sum(found["parameters"][name].values()) == pytest.approx(1.0)
    assert next(iter(found["telling"]["plum"])) == "purple"
    assert found["telling"]["plum"]["purple"] > 50
    assert found["values"]["plum"].startswith("purple ")
    assert found["smoothing"] > 0


def test_quality_is_what_fit_measured(fitted, card):
    quality = fitted.trained.tuning.quality
    assert card["quality"]["rows"] == 600
    for name in ("accuracy", "log_loss", "raw_log_loss", "calibration_error", "baseline"):
        assert card["quality"][name] == pytest.approx(getattr(quality, name))
    assert card["quality"]["interval"] == pytest.approx(list(quality.interval))
    assert card["quality"]["curve"][-1]["rows"] > card["quality"]["curve"][0]["rows"]


def test_the_calibration_in_use_is_told(fitted, card):
    calibration = fitted.trained.tuning.calibration
    assert card["calibration"]["weight"] == pytest.approx(dict(calibration.weight))
    assert by_column(card)["price_cent"]["factor"] == pytest.approx(calibration.weight["price_cent"])


def test_text_tells_its_vocabulary_and_its_words(capsys):
    found = verbs.fit(MESSAGES, "label", families={"text": "text"}, smoothing="default", calibrate=False)
    column = by_column(verbs.inspect(found))["text"]
    (index,) = [n for n, block in enumerate(found.trained.predictor.blocks) if block.columns == ("text",)]
    assert column["vocabulary"] == len(found.trained.predictor.parameters[index])
    assert column["per"] == "word"
    assert all(1 <= len(words) <= 8 for words in column["telling"].values())
    shown = printed(verbs.inspect(found), capsys)
    assert f"{column['vocabulary']:,}" in shown
    assert all(word in shown for words in column["telling"].values() for word in words)


def test_columns_that_share_a_total_speak_as_one(capsys):
    rows = {f"word{index}": [index % 3, 1, 2, index % 2] for index in range(30)}
    found = NaiveBayes(families="multinomial", smoothing=1.0, calibrate=False).fit(rows, list("abab"))
    card = verbs.inspect(found)
    assert [one["name"] for one in features_of(card)] == ["word0, word1, ..., word29"]
    assert all(column["together"] == "word0, word1, ..., word29" for column in card["columns"])
    assert "an event" in printed(card, capsys)


@pytest.mark.parametrize("name", families.names())
def test_every_family_has_a_card(name, capsys):
    column = [2, 1, 2, 3, 1, 2] if name not in ("bernoulli", "binomial") else [1, 0, 1, 1, 1, 0]
    rows = ["one two two", "two", "one", "three", "three two", "one one"] if name == "text" else {"x": column}
    card = verbs.inspect(NaiveBayes(families=name, smoothing="default", calibrate=False).fit(rows, list("aaabbb")))
    (found,) = card["columns"]
    assert found["family"] == name
    assert 0 <= found["information"] <= card["bits"]
    assert set(found["values"]) == {"a", "b"}
    assert found["parameters"] or found["vocabulary"]
    json.dumps(card, default=str, allow_nan=True)
    assert name in printed(card, capsys)


def test_columns_left_open_tell_what_they_hold(card):
    table = pd.read_csv(ORCHARD)
    for name, column in by_column(card).items():
        held = column["held"]
        assert held["missing"] == pytest.approx(table[name].isna().mean())
        assert held["different"] == table[name].nunique()
        if table[name].dtype.kind in "fi":
            numbers = table[name].dropna()
            shares = [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1]
            found = np.quantile(numbers, shares, method="inverted_cdf").tolist()
            assert list(held["quantiles"].values()) == found
        else:
            assert held["quantiles"] is None


def test_where_numbers_are_too_many_to_be_kept_apart_quantiles_are_near():
    numbers = np.random.default_rng(0).lognormal(3, 1, 20_000)
    found = NaiveBayes(smoothing="default", calibrate=False).fit({"x": numbers}, np.arange(20_000) % 2)
    held = by_column(verbs.inspect(found))["x"]["held"]
    assert (held["different"], held["exact"]) == (None, False)
    shares = [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1]
    assert list(held["quantiles"].values()) == pytest.approx(np.quantile(numbers, shares).tolist(), rel=0.02)


def test_what_is_held_follows_learning_and_forgetting():
    when = pd.to_datetime(["2024-01-05", "2024-03-01", "2023-12-31", None])
    model = NaiveBayes(calibrate=False).fit(pd.DataFrame({"x": [1.0, 2.0, None, 4.0], "when": when}), list("abab"))
    before = by_column(verbs.inspect(model))
    assert before["when"]["held"]["quantiles"]["min"].startswith("2023-12-31")
    far = {"x": [900.0], "when": pd.to_datetime(["2030-01-01"])}
    later = by_column(verbs.inspect(model.learn(far, ["a"])))
    assert later["x"]["held"]["quantiles"]["max"] == 900
    assert later["x"]["held"]["missing"] == 0.2
    assert by_column(verbs.inspect(model.forget(far, ["a"]))) == before


def test_families_set_by_hand_keep_no_more_than_they_need():
    card = verbs.inspect(NaiveBayes("gaussian", calibrate=False).fit({"x": [1.0, 2.0, 5.0, 6.0]}, list("aabb")))
    assert by_column(card)["x"]["held"] is None


def test_calibration_tells_when_it_is_older_than_the_counts(capsys):
    table = pd.read_csv(ORCHARD)
    model = NaiveBayes().fit(table[:300], "fruit")
    assert verbs.inspect(model)["calibration"]["rows"] == 300
    assert "Calibrated when" not in printed(verbs.inspect(model), capsys)
    card = verbs.inspect(model.learn(table[300:], "fruit"))
    assert (card["rows"], card["calibration"]["rows"]) == (600, 300)
    assert "Calibrated when the model held 300 rows; now it holds 600." in printed(card, capsys)


# What it looks like.


def test_a_card_reads_from_the_whole_to_the_parts(card, capsys):
    shown = printed(card, capsys)
    parts = ["600 rows: fruit", "Classes", "Quality", "accuracy", "Columns, the most telling first",
             "How each was chosen", "What each column holds", "What each class looks like", "Options and origin",
             "learned from"]  # fmt: skip
    indices = [shown.index(part) for part in parts]
    assert indices == sorted(indices)
    assert shown.index("weight_g") < shown.index("orchard ")
    assert "mean log" in shown


def test_without_a_measure_it_says_how_to_measure(capsys, tmp_path):
    found = verbs.fit(ORCHARD, "fruit", **PLAIN)
    shown = printed(verbs.inspect(found), capsys)
    assert "Not measured" in shown
    assert f"candide evaluate m.candide {ORCHARD} --leave-one-out" in shown
    assert "Calibration" not in shown


def test_a_thousand_columns_stay_readable(capsys):
    rng = np.random.default_rng(0)
    labels = np.repeat(["a", "b"], 50)
    wide = rng.normal(0, 1, (100, 1000))
    wide[:, 700] += 6 * (labels == "b")
    card = verbs.inspect(NaiveBayes(**PLAIN).fit(wide, labels))
    shown = printed(card, capsys).splitlines()
    assert len(card["columns"]) == 1000
    assert len(shown) < 100
    assert max(map(len, shown)) <= WIDTH
    assert f"and {1000 - COLUMNS_SHOWN} more, which tell less" in shown
    assert features_of(card)[0]["column"] == card["columns"][700]["column"]


def test_many_classes_stay_readable(capsys):
    rng = np.random.default_rng(0)
    labels = [f"class {number:03}" for number in range(150) for _ in range(4)]
    rows = {
        "size": [float(name[-3:]) + rng.normal() for name in labels],
        "note": [f"{name[-3:]}st some thing {name[-2:]}nd" for name in labels],
    }
    given = {"size": "gaussian", "note": "text"}
    card = verbs.inspect(NaiveBayes(families=given, smoothing="default", calibrate=False).fit(rows, labels))
    shown = printed(card, capsys).splitlines()
    assert len(shown) < 110
    assert max(len(line) for line in shown if "as you said" not in line) <= WIDTH
    assert "and 130 more" in shown
    assert "007st" in by_column(card)["note"]["telling"]["class 007"]
    assert len(by_column(card)["size"]["parameters"]) == 150


def test_hostile_names_do_not_break_the_card(capsys):
    rows = {"x" * 200: [1.5, 2.5, 3.5, 4.5], "[bold]y[/bold]": ["[red]a", "b" * 300, "c", "d"]}
    given = {"[bold]y[/bold]": "categorical"}
    shown = printed(verbs.inspect(NaiveBayes(families=given, calibrate=False).fit(rows, list("abab"))), capsys)
    assert "[bold]y[/bold]" in shown
    assert "[red]a" in shown
    assert max(map(len, shown.splitlines())) <= 200


def test_a_classifier_can_be_inspected_too():
    rows = {"x": [1.0, 2.0, 5.0, 6.0]}
    card = verbs.inspect(NaiveBayes(**PLAIN).fit(rows, list("aabb")))
    assert card["rows"] == 4
    assert card["quality"] is None
    assert by_column(card)["x"]["parameters"]["a"] == {"mean": 1.5, "deviation": 0.5}
