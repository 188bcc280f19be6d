"""Columns to look at twice: named in every face, with what was done about it."""

from __future__ import annotations

import datetime
import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from candide import ColumnWarning, NaiveBayes, TextOptions, fit, inspect, report, store
from candide.api.verbs.fitted import Fitted
from candide.data.advice import Message, SetOption
from candide.model.schema import Schema
from candide.store.model_file import canonical_bytes, from_bytes, to_bytes

WARNING = Message("looks like an id. Leave it out with ", SetOption("families", "ignore", "age"), ".")


def warned_of() -> Fitted:
    rows = {"age": [1.5, 2.5, 3.5, 4.0], "colour": ["red", "green", "red", "red"]}
    learned = NaiveBayes().fit(rows, ["x", "y", "x", "y"]).trained_
    age, colour = learned.schema.choices
    return Fitted(replace(learned, schema=Schema((replace(age, warning=WARNING), colour))))


def test_a_model_file_keeps_warnings_and_old_files_have_none():
    saved = warned_of().trained
    assert from_bytes(to_bytes(saved)) == saved
    kept = from_bytes(to_bytes(saved)).schema.warnings
    assert kept == {"age": WARNING}
    assert kept["age"].parts == WARNING.parts
    old = store.load(Path(__file__).parent / "data" / "version-1.candide")
    assert old.schema.warnings == {}


def test_a_model_file_may_not_warn_of_a_column_it_lacks():
    data = to_bytes(warned_of().trained)
    forged = data.replace(b'\\"age\\":[\\"looks', b'\\"abe\\":[\\"looks')
    assert forged != data
    with pytest.raises(store.ModelFileRefused):
        from_bytes(forged)


def test_warnings_are_told_by_schema_card_and_report(tmp_path):
    fitted = warned_of()
    assert f"! {WARNING}" in fitted.trained.schema.explain()
    assert [column["warning"] for column in inspect(fitted)["columns"]] == [WARNING, None]
    report(fitted, tmp_path / "page.html")
    assert "looks like an id" in (tmp_path / "page.html").read_text()
    json.dumps(inspect(fitted)["columns"][0]["warning"])


def test_the_shell_tells_warnings_in_its_own_words(tmp_path, capsys):
    from candide.cli.inspect import show_card

    show_card(inspect(warned_of()), "model.candide")
    shown = capsys.readouterr().out
    assert "Columns to look at twice" in shown
    assert "--family age=ignore" in shown


def test_column_warnings_are_a_category_of_their_own():
    assert issubclass(ColumnWarning, UserWarning)


ROWS = 300
RNG = np.random.default_rng(5)
LABELS = np.where(RNG.random(ROWS) < 0.4, "yes", "no")
HONEST = {
    "measured": RNG.normal(size=ROWS) + (LABELS == "yes"),
    "colour": RNG.choice(["red", "green", "blue"], ROWS),
}
MORE_HONEST = {
    "whole": RNG.integers(0, 5000, ROWS),
    "price": RNG.integers(500, 20_000, ROWS) * 10 + (LABELS == "yes") * 50_000,
    "count": RNG.poisson(3, ROWS),
    "street": RNG.choice([f"street {number}" for number in range(60)], ROWS),
    "humid": RNG.integers(100, 400, ROWS),
}
IDS = {
    "counter": np.arange(1, ROWS + 1),
    "part of a longer counter": RNG.choice(3000, ROWS, replace=False),
    "some rows numbered": np.where(np.arange(ROWS) % 3 == 0, np.arange(ROWS), np.nan),
    "long number": RNG.choice(10**9, ROWS, replace=False),
    "order number": np.cumsum(RNG.integers(1, 10**5, ROWS)) + 10**7,
    "code": [f"{number:012x}" for number in RNG.choice(10**12, ROWS, replace=False)],
    "customer_id": np.where(np.arange(ROWS) % 20 == 0, 777, RNG.choice(10**7, ROWS, replace=False)),
}


def fitted(extra: dict[str, Any], rows: Any = slice(None), **options: Any) -> NaiveBayes:
    columns = {name: np.asarray(values, dtype=object)[rows].tolist() for name, values in {**HONEST, **extra}.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)
        return NaiveBayes(**options).fit(columns, LABELS[rows].tolist())


def family_of(model: NaiveBayes, column: str) -> str | None:
    (choice,) = [choice for choice in model.schema_.choices if choice.column == column]
    return choice.family.name if choice.family else None


def later(extra: dict[str, Any]) -> dict[str, Any]:
    """The honest columns as they were, beside other values."""
    return {**{name: np.asarray(values).tolist() for name, values in HONEST.items()}, **extra}


def test_honest_columns_and_texts_are_not_named():
    notes = [f"the {a} dog met cat {b} at noon" for a, b in RNG.integers(0, 9999, (ROWS, 2))]
    model = fitted({**MORE_HONEST, "note": notes}, text=TextOptions())
    assert family_of(model, "note") == "text"
    assert model.schema_.warnings == {}


def test_ids_are_left_out_and_named():
    model = fitted(IDS)
    assert {name: family_of(model, name) for name in IDS} == dict.fromkeys(IDS)
    assert set(model.schema_.warnings) == set(IDS)
    assert all(f"families={{'{name}': 'guess'}}" in model.schema_.warnings[name] for name in IDS)


@pytest.mark.parametrize("said", ["categorical", "guess"])
def test_what_the_user_said_of_a_column_stands(said):
    model = fitted(IDS, families=dict.fromkeys(IDS, said))
    assert all(family_of(model, name) for name in IDS)
    assert model.schema_.warnings == {}


def test_going_by_the_look_of_values_names_ids_and_keeps_them():
    model = fitted({"counter": IDS["counter"]}, families="guess", calibrate=False)
    assert family_of(model, "counter") is not None
    assert "families={'counter': 'ignore'}" in model.schema_.warnings["counter"]


def test_few_rows_are_no_reason_to_suspect():
    model = fitted({name: values for name, values in IDS.items()}, rows=slice(0, 49))
    assert model.schema_.warnings == {}


def test_the_only_column_is_kept():
    with pytest.warns(ColumnWarning, match="It is kept"):
        model = NaiveBayes().fit(np.arange(200).reshape(-1, 1), np.arange(200) >= 100)
    assert model.score(np.arange(200).reshape(-1, 1), np.arange(200) >= 100) > 0.9


def test_arrays_without_names_are_screened_alike():
    table = np.column_stack([np.arange(ROWS), HONEST["measured"]])
    with pytest.warns(ColumnWarning, match="x0: it looks like an id"):
        model = NaiveBayes().fit(table, LABELS)
    assert [choice.family is None for choice in model.schema_.choices] == [True, False]
    assert model.predict(table).shape == (ROWS,)


def test_ids_do_not_make_later_rows_unfamiliar():
    names = ("counter", "order number")
    model = fitted({name: IDS[name] for name in names})
    answers = model.decide(later({name: (IDS[name] + 10**9).tolist() for name in names}), confidence=0)
    assert np.mean(answers == "unfamiliar") < 0.05


DAYS = [datetime.date(2024, 1, 1) + datetime.timedelta(days=int(day)) for day in RNG.integers(0, 365, ROWS)]
TIMES = {
    "date": (DAYS, [day + datetime.timedelta(days=2000) for day in DAYS]),
    "instant": (
        [datetime.datetime(day.year, day.month, day.day, 12) for day in DAYS],
        [datetime.datetime(day.year + 5, day.month, 1, 12) for day in DAYS],
    ),
    "seconds": ((1.7e9 + np.arange(ROWS) * 1000 % 7919).tolist(), (1.8e9 + np.arange(ROWS)).tolist()),
}


def test_times_are_named_and_later_rows_stay_familiar():
    model = fitted({name: before for name, (before, _) in TIMES.items()})
    assert all(family_of(model, name) for name in TIMES)
    assert all("no say in whether a row is unfamiliar" in model.schema_.warnings[name] for name in TIMES)
    afterwards = later({name: after for name, (_, after) in TIMES.items()})
    assert np.mean(model.decide(afterwards, confidence=0) == "unfamiliar") < 0.05
    strange = {**afterwards, "measured": [1e6] * ROWS}
    assert np.mean(model.decide(strange, confidence=0) == "unfamiliar") > 0.95


def test_the_later_of_two_equal_columns_is_left_out():
    model = fitted({"again": HONEST["measured"], "colour 2": HONEST["colour"]})
    assert family_of(model, "measured") is not None
    assert family_of(model, "again") is None
    assert family_of(model, "colour 2") is None
    assert "the same as 'measured'" in model.schema_.warnings["again"]


@pytest.mark.parametrize("calibrate", [True, False])
def test_recodings_of_another_column_are_named_and_kept(calibrate):
    codes = np.select([HONEST["colour"] == "red", HONEST["colour"] == "green"], [7, 3], 5)
    model = fitted({"code": codes, "warm": 32 - 1.8 * HONEST["measured"]}, calibrate=calibrate)
    assert family_of(model, "code") is not None
    assert family_of(model, "warm") is not None
    assert "the same as 'colour' by other names" in model.schema_.warnings["code"]
    assert "the same as 'measured' by other names" in model.schema_.warnings["warm"]
    assert ("Calibration weighs them" if calibrate else "They count twice") in model.schema_.warnings["warm"]


def test_rows_that_were_copied_do_not_make_columns_copies():
    rows = np.arange(ROWS) // 3
    table = RNG.normal(size=(ROWS, 4))[rows]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ColumnWarning)
        NaiveBayes().fit(table, LABELS[rows])


def test_columns_of_few_rows_that_all_differ_are_no_copies():
    with warnings.catch_warnings():
        warnings.simplefilter("error", ColumnWarning)
        NaiveBayes().fit(RNG.normal(size=(60, 4)), LABELS[:60])


def test_columns_that_are_rarely_anything_but_zero_may_agree():
    table = np.column_stack([np.arange(ROWS) < 3, np.arange(ROWS) < 3, HONEST["measured"]]).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ColumnWarning)
        NaiveBayes().fit(table, LABELS)


def test_a_column_that_gives_the_label_away_is_named_with_numbers_and_kept():
    boats = [f"boat {index % 9}" if label == "yes" else None for index, label in enumerate(LABELS)]
    model = fitted({"boat": boats})
    assert family_of(model, "boat") is not None
    assert "alone it is right about 100.0% of the" in model.schema_.warnings["boat"]
    assert "families={'boat': 'ignore'}" in model.schema_.warnings["boat"]


def test_the_label_by_other_names_is_named_even_where_others_tell_it_too():
    told = np.where(LABELS == "yes", 5.0, -5.0) + RNG.normal(size=ROWS)
    model = fitted({"clear": told, "outcome": np.where(LABELS == "yes", "A", "B")})
    assert set(model.schema_.warnings) == {"outcome"}


def test_the_user_is_warned_of_a_leak_in_a_column_named_by_hand():
    boats = [f"boat {index % 9}" if label == "yes" else None for index, label in enumerate(LABELS)]
    assert "boat" in fitted({"boat": boats}, families={"boat": "categorical"}).schema_.warnings


def test_rows_in_any_order_give_the_same_bytes():
    boats = [f"boat {index % 9}" if label == "yes" else None for index, label in enumerate(LABELS)]
    extra = {**IDS, "date": DAYS, "again": HONEST["measured"], "boat": boats}
    orders = [slice(None), slice(None, None, -1), RNG.permutation(ROWS)]
    models = [fitted(extra, rows=order) for order in orders]
    assert len({canonical_bytes(model.trained_) for model in models}) == 1
    assert len(models[0].schema_.warnings) == len(extra)


def test_the_verb_warns_in_the_card_and_says_nothing_else(capsys):
    rows = {**{name: np.asarray(values).tolist() for name, values in HONEST.items()}, "nr": list(range(ROWS))}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fit({**rows, "label": LABELS.tolist()}, "label")
    assert capsys.readouterr() == ("", "")
    assert [one["column"] for one in inspect(model)["columns"] if one["warning"]] == ["nr"]


def test_many_columns_are_warned_of_in_a_few_lines():
    table = RNG.normal(size=(100, 2))
    with pytest.warns(ColumnWarning, match=r"and 30 more columns, which schema_.explain\(\) tells of"):
        NaiveBayes().fit(np.column_stack([table] * 21), LABELS[:100])


def test_a_warning_points_at_the_line_that_fitted():
    with pytest.warns(ColumnWarning) as caught:
        NaiveBayes().fit(np.column_stack([np.arange(100), HONEST["measured"][:100]]), LABELS[:100])
    assert caught[0].filename == __file__


def test_numbers_that_were_misread_are_no_ids_and_keep_their_own_warning():
    misread = [f"{value:.4f}" for value in HONEST["measured"]]
    misread[7] = "broken"
    model = fitted({"reading": misread, "reading_id": misread})
    assert family_of(model, "reading") == "categorical"
    assert "numbers" in model.schema_.warnings["reading"]
    assert family_of(model, "reading_id") is None


def test_a_column_can_be_odd_in_two_ways():
    (choice,) = Schema((replace(warned_of().trained.schema.choices[0], warning="odd"),)).choices
    assert choice.also_warned("Odder.").warning == "odd. Odder."


def test_saying_how_a_column_is_read_does_not_silence_what_is_found_in_it(tmp_path):
    lines = [f"{index},{HONEST['measured'][index]},{LABELS[index]}" for index in range(ROWS)]
    (tmp_path / "rows.csv").write_text("\n".join(["nr,x,y", *lines]))
    model = fit(tmp_path / "rows.csv", "y", types={"nr": "integer"})
    assert set(model.trained.schema.warnings) == {"nr"}


def test_a_telling_column_that_is_called_an_id_is_kept_and_named_without_a_say_in_novelty():
    numbers = np.sort(RNG.choice(5000, ROWS))[np.argsort(np.argsort(LABELS == "yes", kind="stable"))]
    model = fitted({"sample_id": numbers})
    assert family_of(model, "sample_id") is not None
    assert "looks like an id" in model.schema_.warnings["sample_id"]
    answers = model.decide(later({"sample_id": (numbers + 10**6).tolist()}), confidence=0)
    assert np.mean(answers == "unfamiliar") < 0.05


def test_an_id_that_the_user_keeps_has_no_say_in_novelty():
    model = fitted({"counter": IDS["counter"]}, families={"counter": "gaussian"})
    answers = model.decide(later({"counter": (IDS["counter"] + 10**6).tolist()}), confidence=0)
    assert np.mean(answers == "unfamiliar") < 0.05
