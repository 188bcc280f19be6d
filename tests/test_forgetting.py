"""What forgetting leaves behind: of rows that are gone, nothing but choices; and after refit not even these."""

from __future__ import annotations

import json
import random
import re
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from candide import NaiveBayes, families, load, store
from candide.api import verbs
from candide.cli.app import app
from candide.data.errors import ColumnRefused, RowsRefused
from candide.training.traces import CHOICES_REMEMBER
from strategies import CASES, MIXTURE, ORDINARY, PLAIN, taken

Rows = dict[str, list[Any]]

#: Families in which a zero is as good as missing, or only complete rows count: they cannot tell who had a column.
CANNOT_TELL = ("complement", "gaussian_full", "gaussian_shared", "multinomial")
NUMBER, EXTREME = 31.0625, 987654.28125
WORD, COLOUR, COLUMN, CLASS = "zyxgloxinia", "vermillionish", "secretcolumn", "whistleblower"
FILE = "patients-ward-9.csv"


def family_for(case: str, index: int) -> Any:
    return families.names()[index % len(families.names())] if case == MIXTURE else case


def some_rows(case: str, columns: list[str], labels: list[str], count: int, seed: int) -> Rows:
    """Rows that the families of a case take."""
    rng = random.Random(seed)
    pools = [taken(families.named(family_for(case, index)), ORDINARY) for index in range(len(columns))]
    rows: Rows = {
        name: [rng.choice([*pool, None]) for _ in range(count)] for name, pool in zip(columns, pools, strict=True)
    }
    first = {name: [pool[0], *values] for (name, values), pool in zip(rows.items(), pools, strict=True)}
    return {**first, "label": [labels[0], *(rng.choice(labels) for _ in range(count))]}


def beside_each_other(case: str) -> tuple[NaiveBayes, Rows, Rows]:
    """A model of some rows, those rows, and others that bring a class and, where the family can tell, a column."""
    columns = [f"{name} column" for name in families.names()] if case == MIXTURE else ["size", "shape"]
    more = [] if case in CANNOT_TELL else ["later"]
    given = {name: family_for(case, index) for index, name in enumerate(columns)} if case == MIXTURE else case
    old = some_rows(case, columns, ["apple", "pear"], 40, seed=1)
    new = some_rows(case, [*columns, *more], ["pear", "quince"], 12, seed=2)
    if case == MIXTURE:
        new["later"] = [index / 4 for index in range(len(new["label"]))]
    model = NaiveBayes(given, smoothing="default", calibrate=False).fit(old, "label")
    return model, old, new


def canonical(model: NaiveBayes) -> bytes:
    return store.canonical_bytes(model.trained_)


def singly(rows: Rows) -> list[tuple[dict[str, Any], str]]:
    names = [name for name in rows if name != "label"]
    return [
        ({name: rows[name][index] for name in names}, label) for index, label in enumerate(rows["label"])
    ]


@pytest.mark.parametrize("case", CASES)
def test_learned_and_forgotten_rows_leave_equal_bytes(case: str) -> None:
    model, _, new = beside_each_other(case)
    before = canonical(model)
    model.partial_fit(new, "label")
    assert canonical(model) != before
    assert canonical(model.forget(new, "label")) == before


@pytest.mark.parametrize("case", CASES)
def test_a_stream_that_learned_and_forgot_leaves_equal_bytes(case: str) -> None:
    model, _, new = beside_each_other(case)
    before, columns = canonical(model), model.n_features_in_
    rows = singly(new)
    for row, label in rows:
        model.learn_one(row, label)
    assert "quince" in model.classes_
    for row, label in reversed(rows):
        model.forget_one(row, label)
    assert canonical(model) == before
    assert model.n_features_in_ == columns


def mixed(count: int, seed: int) -> Rows:
    """Numbers, counts, categories, truths and texts that tell two classes apart; chosen for and calibrated."""
    rng = random.Random(seed)
    labels = [rng.choice(["ill", "well"]) for _ in range(count)]
    words = {"ill": ["fever", "cough", "tired", "pain"], "well": ["fine", "happy", "rested", "fit"]}
    return {
        "weight": [rng.gauss(60 if label == "ill" else 75, 9) for label in labels],
        "humps": [rng.choice([1.0, 9.0]) + rng.random() + 4 * (label == "ill") for label in labels],
        "visits": [rng.randrange(9) + 2 * (label == "ill") for label in labels],
        "colour": [rng.choice(["red", "pale", "pink"]) for _ in labels],
        "smokes": [rng.random() < (0.7 if label == "ill" else 0.2) for label in labels],
        "note": [
            " ".join(rng.choice([*words[label], "the", "patient", "says"]) for _ in range(6)) + f" {index}"
            for index, label in enumerate(labels)
        ],
        "label": labels,
    }


def telltale() -> Rows:
    """Rows with everything that must not be found again."""
    return {
        "weight": [EXTREME, NUMBER],
        "humps": [EXTREME, -EXTREME],
        "visits": [4_021, 3],
        "colour": [COLOUR, "red"],
        "smokes": [True, None],
        "note": [f"the {WORD} says fine fine fine", "the patient says cough"],
        COLUMN: ["gloxinia", "rose"],
        "label": [CLASS, "ill"],
    }


def together(*parts: Rows) -> Rows:
    names = list(dict.fromkeys(name for part in parts for name in part))
    return {name: [v for part in parts for v in part.get(name, [None] * len(part["label"]))] for name in names}


def written(rows: Rows, path: Path) -> str:
    """Rows as JSON lines, a missing value as an absent key."""
    lines = [{name: rows[name][at] for name in rows if rows[name][at] is not None} for at in range(len(rows["label"]))]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def found_in(data: bytes, names_only: bool) -> list[Any]:
    """What of the telltale rows a file still holds: names, and numbers in any form they might be written in."""
    names = [WORD, COLOUR, COLUMN, CLASS, FILE.removesuffix(".csv")]
    found: list[Any] = [name for name in names if name.encode() in data]
    numbers = [] if names_only else [EXTREME, -EXTREME, NUMBER]
    forms = {n: [repr(n).encode(), f"{n:g}".encode(), struct.pack("<d", n), struct.pack(">d", n)] for n in numbers}
    return found + [number for number, ways in forms.items() if any(way in data for way in ways)]


def test_default_choices_and_calibration_come_back_too() -> None:
    model = NaiveBayes().fit(mixed(150, 3), "label")
    before = canonical(model)
    model.partial_fit(telltale(), "label")
    assert canonical(model.forget(telltale(), "label")) == before


def test_the_file_forgets_names_and_after_refit_numbers_too(tmp_path: Path) -> None:
    kept = written(mixed(150, 4), tmp_path / "kept.jsonl")
    gone = written(telltale(), tmp_path / FILE)
    model = tmp_path / "model.candide"
    verbs.fit([kept, gone], "label", model, format="jsonl")
    assert set(found_in(model.read_bytes(), names_only=True)) == {WORD, COLOUR, COLUMN, CLASS, FILE[:-4]}
    after = verbs.forget(model, gone, format="jsonl")
    assert CHOICES_REMEMBER in after.notes
    assert found_in(model.read_bytes(), names_only=True) == []
    assert after.trained.tuning.quality is None
    verbs.refit(model, kept)
    assert found_in(model.read_bytes(), names_only=False) == []


def test_refit_is_a_fit_that_never_saw_the_rows(tmp_path: Path) -> None:
    kept = written(mixed(150, 4), tmp_path / "kept.jsonl")
    gone = written(telltale(), tmp_path / "gone.jsonl")
    model = tmp_path / "model.candide"
    verbs.fit([kept, gone], "label", model)
    verbs.forget(model, gone)
    verbs.refit(model, kept)
    never = verbs.fit(kept, "label", tmp_path / "never.candide")
    assert without_time(model) == without_time(tmp_path / "never.candide")
    assert verbs.load(model) == never


def without_time(path: Path) -> bytes:
    saved = store.load(path)
    return store.to_bytes(replace(saved, provenance={**saved.provenance, "created": ""}))


def test_refit_of_a_classifier() -> None:
    rows, gone = mixed(120, 5), telltale()
    model = NaiveBayes().fit(together(rows, gone), "label").forget(gone, "label").refit(rows, "label")
    assert canonical(model) == canonical(NaiveBayes().fit(rows, "label"))


def test_refit_refuses_rows_that_are_not_those_of_the_model() -> None:
    rows = mixed(60, 6)
    model = NaiveBayes(**PLAIN).fit(rows, "label")
    before = canonical(model)
    fewer = {name: values[1:] for name, values in rows.items()}
    with pytest.raises(RowsRefused, match=r"rows of class '(ill|well)' where the model holds"):
        model.refit(fewer, "label")
    with pytest.raises(RowsRefused, match="other values"):
        model.refit({**rows, "weight": [rows["weight"][0] + 2**-20, *rows["weight"][1:]]}, "label")
    with pytest.raises(ColumnRefused, match="never learned"):
        model.refit({**rows, "new": rows["weight"]}, "label")
    assert canonical(model) == before
    shuffled = {name: values[::-1] for name, values in reversed(rows.items())}
    model.refit({**shuffled, "empty": [None] * 60}, "label")


def test_a_forgotten_class_leaves_the_calibration() -> None:
    rows = mixed(150, 7)
    rows["label"][:40] = ["tired"] * 40
    model = NaiveBayes().fit(rows, "label")
    assert ("text", "tired") in model.trained_.tuning.calibration.bias
    model.forget({name: values[:40] for name, values in rows.items()}, "label")
    assert set(model.trained_.tuning.calibration.bias) == {("text", "ill"), ("text", "well")}


def test_calibration_stays_with_its_block_when_the_first_column_goes() -> None:
    rng = random.Random(8)
    labels = [rng.choice(["a", "b"]) for _ in range(200)]
    rows: Rows = {
        "first": [rng.gauss(0, 1) if index < 60 else None for index in range(200)],
        "second": [rng.gauss(3 * (label == "a"), 1) for label in labels],
        "label": labels,
    }
    model = NaiveBayes("gaussian").fit(rows, "label")
    weight = model.trained_.tuning.calibration.weight["first"]
    head = {name: values[:60] for name, values in rows.items()}
    one_by_one = NaiveBayes.of(model.trained_)
    model.forget(head, "label")
    for row, label in singly(head):
        one_by_one.forget_one(row, label)
    for forgetful in (model, one_by_one):
        assert forgetful.schema_.columns == ("second",)
        assert forgetful.trained_.tuning.calibration.weight == {"second": weight}
        assert forgetful.predict_proba({"second": [1.0]})[0, 0] == pytest.approx(
            forgetful.predict_proba_one({"second": 1.0})["a"]
        )
    assert canonical(model) == canonical(one_by_one)


def test_columns_of_an_array_and_columns_the_user_named_stay() -> None:
    import numpy as np

    X = np.array([[1.0, np.nan], [2.0, np.nan], [4.0, 5.0], [3.0, np.nan]])
    model = NaiveBayes("gaussian", calibrate=False).fit(X, ["a", "b", "a", "b"]).forget(X[2:3], ["a"])
    assert model.schema_.columns == ("x0", "x1")
    assert len(model.predict(X)) == 4
    rows = {"x": [1.0, 2.0, 3.0], "y": [None, None, 7.0]}
    named = NaiveBayes({"y": "gaussian"}).fit(rows, ["a", "b", "a"])
    named.forget({"x": [3.0], "y": [7.0]}, ["a"])
    assert named.schema_.columns == ("x", "y")


def test_a_column_that_went_comes_back_as_what_it_then_is() -> None:
    stream = NaiveBayes().learn_one({"size": 1.0}, "a").learn_one({"size": 2.0, "kind": 3.5}, "b")
    stream.forget_one({"size": 2.0, "kind": 3.5}, "b")
    assert stream.schema_.columns == ("size",)
    stream.learn_one({"kind": "round"}, "b")
    assert [choice.family.name for choice in stream.schema_.choices] == ["gaussian", "categorical"]


def test_reasons_hold_no_values_of_the_data() -> None:
    rows = together(mixed(150, 9), {name: [values[0]] * 3 for name, values in telltale().items()})
    for options in ({}, PLAIN):
        told = NaiveBayes(**options).fit(rows, "label").schema_.explain()
        assert found_in(told.encode().replace(COLUMN.encode(), b""), names_only=False) == []
        assert "4021" not in told


def test_warnings_and_names_of_gone_columns_in_reasons_go_too(tmp_path: Path) -> None:
    """A warning may name values; the reason of a copy names the column that it copies."""
    rng = random.Random(11)
    labels = [rng.choice(["ill", "well"]) for _ in range(200)]
    rows: Rows = {
        "size": [rng.gauss(5 * (label == "ill"), 1) for label in labels],
        "mostly": [*(f"{rng.randrange(60)}.5" for _ in range(198)), COLOUR, COLOUR],
        COLUMN: [*([None] * 150), *(rng.gauss(0, 1) for _ in range(50))],
        "copy": [],
        "label": labels,
    }
    rows["copy"] = rows[COLUMN]
    model = NaiveBayes().fit(rows, "label")
    assert COLOUR in model.schema_.warnings["mostly"]
    assert COLUMN in model.schema_.choices[-1].reason
    for row, label in singly(some(rows, range(150, 200))):
        model.forget_one(row, label)
    model.save(tmp_path / "model.candide")
    assert found_in((tmp_path / "model.candide").read_bytes(), names_only=True) == []


def some(rows: Rows, indices: range) -> Rows:
    return {name: [values[index] for index in indices] for name, values in rows.items()}


def test_reasons_of_older_models_are_mended_when_rows_are_forgotten() -> None:
    model = NaiveBayes(**PLAIN).fit({"size": [1.5, 2.5, 3.5]}, ["a", "b", "a"])
    learned = model.trained_
    old = replace(learned.schema.choices[0], reason="numbers from -1e+06 to 3.5; log loss of left-out rows 0.5")
    before = replace(learned, schema=replace(learned.schema, choices=(old,)))
    gone = {"size": [3.5]}
    for after in (NaiveBayes.of(before).forget(gone, ["a"]), NaiveBayes.of(before).forget_one({"size": 3.5}, "a")):
        assert after.schema_.choices[0].reason == "numbers; log loss of left-out rows 0.5"


def test_the_shell_forgets_refits_and_says_so(tmp_path: Path) -> None:
    kept = written(mixed(80, 10), tmp_path / "kept.jsonl")
    gone = written(telltale(), tmp_path / "gone.jsonl")
    model = str(tmp_path / "model.candide")
    run = CliRunner().invoke
    assert run(app, ["fit", kept, gone, "--label", "label", "-o", model]).exit_code == 0
    forgotten = run(app, ["forget", model, gone])
    assert "2 rows forgotten" in forgotten.output
    assert "refit" in forgotten.output
    card = run(app, ["inspect", model]).output
    assert "jsonl" not in card
    assert re.search(r"forget +\d{4}-", card)
    assert "chosen anew from its 80 rows" in run(app, ["refit", model, kept]).output
    refused = run(app, ["refit", model, gone])
    assert refused.exit_code != 0
    assert load(model).summary_.rows == 80
