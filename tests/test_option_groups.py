"""Options that several commands share are declared once, and every command that has them has them alike."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from candide.api.verbs.reading import SourceOptions
from candide.cli.app import app
from candide.cli.groups import with_groups
from candide.cli.options import ModelOptions, ReadingOptions, RowsOut
from candide.model.options import Options

COMMANDS: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]
READING = ("fit", "predict", "explain", "evaluate", "compare", "report", "learn", "forget", "refit")


@dataclass(frozen=True)
class Inner:
    size: Annotated[int, typer.Option("--size", help="How large.")] = 3


@dataclass(frozen=True, kw_only=True)
class Outer:
    name: Annotated[str, typer.Argument(help="Whose.")]
    inner: Inner
    loud: Annotated[bool, typer.Option("--loud", help="How loud.")] = False


def shouting() -> tuple[typer.Typer, list[Any]]:
    told: list[Any] = []
    small = typer.Typer()

    @small.command()
    @with_groups
    def shout(outer: Outer, times: int = 1) -> None:
        """Shout."""
        told.append((outer, times))

    return small, told


def test_a_command_is_given_its_groups_made_of_what_was_typed():
    small, told = shouting()
    found = CliRunner().invoke(small, ["me", "--size", "5", "--loud", "--times", "2"])
    assert found.exit_code == 0, found.output
    assert told == [(Outer(name="me", inner=Inner(5), loud=True), 2)]
    CliRunner().invoke(small, ["you"])
    assert told[1] == (Outer(name="you", inner=Inner(3)), 1)


def test_the_help_of_a_command_names_the_options_of_its_groups_in_their_place():
    shown = CliRunner().invoke(shouting()[0], ["--help"]).output
    indices = [shown.index(word) for word in ("--size", "How large.", "--loud", "--times")]
    assert indices == sorted(indices)
    assert "outer" not in shown.lower()


def described(command: str) -> dict[str, Any]:
    return {
        one.name: (one.opts, one.help, one.metavar, one.default, one.required, one.multiple, str(one.type))
        for one in COMMANDS[command].params
        if hasattr(one, "multiple")
    }


@pytest.mark.parametrize("command", READING)
def test_every_command_that_reads_rows_reads_them_alike(command):
    names = [one.name for one in fields(ReadingOptions)]
    here, first = described(command), described("fit")
    assert [name for name in here if name in names] == names
    assert {name: here[name] for name in names} == {name: first[name] for name in names}


def test_commands_and_verbs_read_by_the_same_options():
    assert {one.name for one in fields(ReadingOptions)} | {"format"} == {*SourceOptions.__annotations__}
    assert {*ReadingOptions().for_verb()} | {"format"} == {*SourceOptions.__annotations__}


def test_rows_are_written_alike():
    names = [one.name for one in fields(RowsOut)]
    predict, sample = described("predict"), described("sample")
    assert {name: predict[name] for name in names} == {name: sample[name] for name in names}


OWN = {
    "data": {
        "fit compare learn forget cluster": "nothing to do without",
        "predict explain refit": "or texts, or what the model remembers",
        "report": "or what fit measured",
    },
    "label": {
        "fit compare": "the column to learn",
        "evaluate report": "a model knows its label",
        "sample": "a class",
    },
    "output": {
        "fit cluster": "a model",
        "merge": "a model, without which there is nothing to do",
        "learn forget refit": "a model, which is written over unless another is named",
        "predict sample explain": "what is printed otherwise",
        "compare": "a picture",
        "report": "a page, which is always written",
    },
    "format": {
        "fit evaluate compare inspect report learn forget refit merge cluster demo": "results",
        "predict sample": "rows",
        "explain": "results, also as a page",
    },
    "text": {"fit evaluate cluster": "how texts are read", "predict explain": "a text to answer"},
    "priors": {"fit evaluate": "of the model", "predict": "of other rows; else the model's"},
    "rows": {"explain": "which", "compare": "how many"},
    "folds": {"evaluate": "leaves out one row at a time otherwise", "compare": "always has some"},
    "seed": {"evaluate sample": "by chance otherwise", "compare cluster": "is always the same unless asked"},
}
"""Options of one name that are not one option: the commands that have each, and what it is in them."""


def test_an_option_that_several_commands_have_is_one_option_unless_there_is_a_reason():
    names = {name for command in COMMANDS for name in described(command)}
    for name in names - {"help"}:
        kinds: dict[str, set[str]] = {}
        for command in COMMANDS:
            if name in described(command):
                kinds.setdefault(repr(described(command)[name]), set()).add(command)
        expected = [set(commands.split()) for commands in OWN.get(name, {})]
        assert name in OWN or len(kinds) == 1, f"--{name} differs: {kinds}"
        assert name not in OWN or sorted(kinds.values(), key=sorted) == sorted(expected, key=sorted), name


def test_every_command_that_fits_a_model_is_told_alike_what_it_is_to_be():
    names = [one.name for one in fields(ModelOptions)]
    fit, evaluate = described("fit"), described("evaluate")
    assert {name: fit[name] for name in names} == {name: evaluate[name] for name in names}
    assert {*ModelOptions().for_verb()} == {*Options().as_dict()} - {"ledger", "unlabelled"}


def test_learn_forget_and_refit_take_the_same():
    alike = [{name: said for name, said in described(verb).items() if name != "data"} for verb in ("forget", "refit")]
    work = {name: described("fit")[name] for name in ("engine", "scheduler", "master")}
    assert described("learn") == described("forget")
    assert alike[0] == alike[1] | work  # a cluster may count what is learned or forgotten
    arguments = [[one.name for one in COMMANDS[name].params][:2] for name in ("learn", "forget", "refit")]
    assert arguments == [["model", "data"]] * 3
