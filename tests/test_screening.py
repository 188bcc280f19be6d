"""Columns to look at twice: named in every face, with what was done about it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from candide import ColumnWarning, NaiveBayes, inspect, report, store
from candide.learning import Learned
from candide.schema import Schema
from candide.store.saved import from_bytes, to_bytes
from candide.verbs.fitted import Fitted

WARNING = "looks like an id. Leave it out with families={'age': 'ignore'}."


def warned_of() -> Fitted:
    rows = {"age": [1.5, 2.5, 3.5, 4.0], "colour": ["red", "green", "red", "red"]}
    learned = NaiveBayes().fit(rows, ["x", "y", "x", "y"]).learned_
    age, colour = learned.schema.choices
    return Fitted(replace(learned, schema=Schema((replace(age, warning=WARNING), colour))))


def test_a_model_file_keeps_warnings_and_old_files_have_none():
    saved = warned_of().saved()
    assert from_bytes(to_bytes(saved)) == saved
    assert Learned.of(from_bytes(to_bytes(saved))).schema.warnings == {"age": WARNING}
    old = store.load(Path(__file__).parent / "data" / "version-1.candide")
    assert old.schema.warnings == {}


def test_a_model_file_may_not_warn_of_a_column_it_lacks():
    data = to_bytes(warned_of().saved())
    forged = data.replace(b'\\"age\\":\\"looks', b'\\"abe\\":\\"looks')
    assert forged != data
    with pytest.raises(store.ModelFileRefused):
        from_bytes(forged)


def test_warnings_are_told_by_schema_card_and_report(tmp_path):
    fitted = warned_of()
    assert f"! {WARNING}" in fitted.learned.schema.explain()
    assert [column["warning"] for column in inspect(fitted)["columns"]] == [WARNING, None]
    report(fitted, tmp_path / "page.html")
    assert "looks like an id" in (tmp_path / "page.html").read_text()
    json.dumps(inspect(fitted)["columns"][0]["warning"])


def test_the_shell_tells_warnings_in_its_own_words(tmp_path, capsys):
    from candide.command_line.inspect import show

    show(inspect(warned_of()), "model.candide")
    shown = capsys.readouterr().out
    assert "Columns to look at twice" in shown
    assert "--family age=ignore" in shown


def test_column_warnings_are_a_category_of_their_own():
    assert issubclass(ColumnWarning, UserWarning)
