"""Advice is data: worded for Python and for a shell, it names what is really there and can be followed."""

from __future__ import annotations

import ast
import json
import pickle
import re
import shlex
import warnings
from collections.abc import Iterator
from dataclasses import fields
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import candide
from candide import NaiveBayes, TextOptions, families, fit
from candide.api import verbs
from candide.api.verbs.reading import SourceOptions
from candide.cli.app import app
from candide.cli.wording import commands_with, flag, in_shell, running_command, typed_option
from candide.data.advice import (
    KINDS,
    Install,
    Message,
    NamedOption,
    PythonCode,
    SetOption,
    UseVerb,
    joined_parts,
    plain_part,
    read_part,
)
from candide.data.errors import NOWHERE, CandideError, ColumnRefused, Location, RowNeverLearned
from candide.store.messages import message_data, read_message

SOURCE = Path(candide.__file__).parent
BELOW_SHELL = [path for path in sorted(SOURCE.rglob("*.py")) if path.parent.name != "cli"]
TYPES_COMMANDS = {"touring.py"}  # the tour runs commands, so it has to spell them
COMMANDS: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]

BY_HAND = {
    one.name for kind in (TextOptions, *map(families.class_named, families.names())) for one in fields(kind)
}
"""What families and texts can be given, in Python."""

WORDED = [
    (SetOption("families", "ignore", "name"), "families={'name': 'ignore'}", "--family name=ignore"),
    (SetOption("families", "ignore", "it's mine"), "families={\"it's mine\": 'ignore'}", None),
    (SetOption("families", key="name"), "families={'name': ...}", "--family name=..."),
    (SetOption("types", "number 1,5", "price"), "types={'price': 'number 1,5'}", "--type 'price=number 1,5'"),
    (SetOption("na", ["?", "-"]), "na=['?', '-']", "--na '?' --na -"),
    (SetOption("columns", ["age", "sex"]), "columns=['age', 'sex']", "--columns age,sex"),
    (SetOption("encoding", "latin-1"), "encoding='latin-1'", "--encoding latin-1"),
    (SetOption("where", "a = 'b' and c > 1"), "where=\"a = 'b' and c > 1\"", "--where \"a = 'b' and c > 1\""),
    (SetOption("force", True), "force=True", "--force"),
    (SetOption("calibrate", False), "calibrate=False", "--no-calibrate"),
    (SetOption("answer"), "answer=...", "--answer"),
    (SetOption("folds", 5), "folds=5", "--folds 5"),
    (SetOption("half_life", None), "half_life=None", "half_life=None"),
    (NamedOption("strict"), "strict", "--strict"),
    (NamedOption("hashed"), "hashed", "--text hashed"),
    (SetOption("weighting", "presence"), "weighting='presence'", "--text weighting=presence"),
    (SetOption("characters", True), "characters=True", "--text characters=yes"),
    (UseVerb("fit", (SetOption("like", "a b.candide"),)), "fit(..., like='a b.candide')",
     "candide fit ... --like 'a b.candide'"),
    (PythonCode("y.astype(str)"), "y.astype(str)", "y.astype(str)"),
    (Install("candide", upgrade=True), "pip install --upgrade candide", "pip install --upgrade candide"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _no_command_runs():
    before = running_command.set("")
    yield
    running_command.reset(before)


@pytest.mark.parametrize(("part", "python", "shell"), WORDED, ids=[python for _, python, _ in WORDED])
def test_every_kind_of_advice_is_worded_for_python_for_a_shell_and_for_programs(part, python, shell):
    said = Message("Do ", part, ".")
    assert said == joined_parts(["Do ", python, "."])
    if shell is not None:
        assert in_shell(said) == joined_parts(["Do ", shell, "."])
    assert read_part(json.loads(json.dumps(plain_part(part)))) == part
    assert read_message(json.loads(json.dumps(message_data(said)))).parts == said.parts


def test_no_kind_of_advice_is_left_out_above():
    assert {type(part) for part, _, _ in WORDED} == {*KINDS.values()}


@pytest.mark.parametrize("part", [part for part, _, _ in WORDED if isinstance(part, SetOption)], ids=str)
def test_what_a_shell_user_is_advised_to_type_is_understood(part):
    commands = commands_with(flag(part.name))
    if not commands or part.value is ...:
        return
    for name in commands:
        parsed = typed_into(name, shlex.split(typed_option(part)))
        assert parsed == given(part), name


def typed_into(command: str, words: list[str]) -> Any:
    """The value that the command understands."""
    running = COMMANDS[command]
    context = running.make_context(command, list(words), resilient_parsing=True)
    assert context.args == []
    name = next(one.name for one in running.params if words[0] in [*one.opts, *one.secondary_opts])
    found = context.params[name]
    return list(found) if isinstance(found, tuple) else found


def given(part: SetOption) -> Any:
    """What the command should understand."""
    if part.key is not None:
        return [f"{part.key}={part.value}"]
    if part.name == "columns":
        return ",".join(part.value)
    return part.value


def called_with_names(path: Path) -> Iterator[tuple[str, str]]:
    """The options that the advice in a file names."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and node.args and isinstance(first := node.args[0], ast.Constant):
            if isinstance(node.func, ast.Name) and node.func.id in KINDS:
                yield node.func.id, first.value
            elif isinstance(node.func, ast.Attribute) and node.func.attr == "of_option":
                yield "NamedOption", first.value


def in_python_and_shell() -> tuple[set[str], set[str]]:
    """Every parameter of a verb, the estimator, and what can be given by hand; and those that a shell user can give."""
    verb_names = [name for name in verbs.__all__ if callable(getattr(verbs, name))]
    methods = [NaiveBayes, NaiveBayes.fit, NaiveBayes.partial_fit, NaiveBayes.predict]
    functions = [*(getattr(verbs, name) for name in verb_names), *methods]
    named = {
        name
        for function in functions
        for name, one in signature(function).parameters.items()
        if one.kind is not Parameter.VAR_KEYWORD
    }
    python = named | BY_HAND | {*SourceOptions.__annotations__}
    return python, {name for name in python if commands_with(flag(name))}


def test_python_users_are_advised_of_parameters_that_are_there():
    python, shell = in_python_and_shell()
    advised = {one for path in BELOW_SHELL for one in called_with_names(path)}
    options = {name for kind, name in advised if kind in ("SetOption", "NamedOption")}
    assert len(options) > 20
    assert options - python == set()
    assert {name for kind, name in advised if kind == "UseVerb"} <= {*verbs.__all__} & {*COMMANDS}
    assert options - shell <= BY_HAND | {"half_life", "y", "classes"}


def plain_texts(path: Path) -> Iterator[tuple[int, str]]:
    """The texts in a file that are no docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


def test_no_message_below_the_shell_names_an_option_in_the_words_of_one_face():
    flags = {option for command in COMMANDS.values() for one in command.params for option in one.opts}
    flags = {option for option in flags if option.startswith("--")}
    for path in BELOW_SHELL:
        if path.name in TYPES_COMMANDS or path.name in ("advice.py", "messages.py"):
            continue
        for line, text in plain_texts(path):
            found = flags & set(re.findall(r"(?<![\w-])--[a-z-]+", text))
            assert not found, f"{path.name}, line {line}: {found}"
            python = re.search(r"\b(families|types)=\{|(?<![\w{])\w+=(\.\.\.|True\b)", text)
            assert not python or "force_alpha" in text, f"{path.name}, line {line}: {python}"


def subclasses(kind: type) -> Iterator[type]:
    for one in kind.__subclasses__():
        yield one
        yield from subclasses(one)


REFUSALS = {kind.__name__ for kind in (CandideError, *subclasses(CandideError))}
BELOW_FACES = [path for path in BELOW_SHELL if path.relative_to(SOURCE).parts[0] != "api"]
OF_ONE_FACE = re.compile(r"--\w|`|\bcandide [a-z]|\w+=\S|\w\(\S|\b[a-z]+_[a-z_]+")
"""A flag, code, a command, an argument, a call, a name as Python has them."""

CONTRACT = {"Input y contains infinity or a value too large for dtype('float64'): no label at all."}
"""What scikit-learn's own checks of an estimator look for."""

IMPERATIVE = re.compile(
    r"(?:^|[.:] )(?:Give|Use|Make|Choose|Leave|Write|Scale|Forget|Merge|Fit|Learn|Rename|Name|Put|Save|Unpack|Close"
    r"|Show|Begin|Ask|Add|Drop|Turn|Fill|Move|Mend|Did you mean) "
)
PLACE = re.compile(r"\b(?:[Cc]olumn|[Ff]ile|[Ff]older) '\{|\b(?:[Rr]ow|[Ll]ine) \{|, not \{")
FRAGMENTS = ("ValuesRefused", "ModelFileRefused")
"""Whose sentence is finished by whoever knows the column or the file."""


def refusals(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """Where a file makes an error, and of which kind."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in REFUSALS:
            yield f"{path.relative_to(SOURCE)}:{node.lineno}", node


def said_plainly(node: ast.expr) -> Iterator[str]:
    """The plain texts in what is said, with {} for what is filled in; advice that is data is none of them."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
    elif isinstance(node, ast.Tuple | ast.IfExp):
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                yield from said_plainly(part)


@pytest.mark.parametrize("path", BELOW_FACES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_what_is_refused_is_told_as_data_and_worded_by_the_faces(path):
    for line, call in refusals(path):
        named = {one.arg: one.value for one in call.keywords}
        what = [text for one in call.args for text in said_plainly(one)]
        for text in [*what, *(said_plainly(named["advice"]) if "advice" in named else ())]:
            assert text in CONTRACT or not OF_ONE_FACE.search(text), f"{line}: worded for one face: {text}"
        for text in what:
            assert not IMPERATIVE.search(text), f"{line}: advice in what was found: {text}"
            assert "where" in named or not PLACE.search(text), f"{line}: where it was found is not told as data: {text}"
        first = next(said_plainly(call.args[0]), "") if call.args else ""
        whole = call.func.id not in FRAGMENTS  # type: ignore[attr-defined]
        assert not (whole and first[:1].islower()), f"{line}: is it an option that is named? {first}"


def test_an_error_tells_programs_what_where_and_what_to_do():
    with pytest.raises(ColumnRefused) as raised:
        NaiveBayes(families={"visits": "poisson"}).fit({"visits": [1, 2.5, 3]}, ["a", "b", "a"])
    told = json.loads(json.dumps(raised.value.to_dict()))
    assert told["error"] == "ColumnRefused"
    assert told["message"] == str(raised.value)
    assert told["where"] == {"row": 2, "column": "visits", "value": 2.5}
    assert told["expected"] == "a count (0, 1, 2, ...)"
    assert {"kind": "SetOption", "name": "families", "value": "gaussian", "key": "visits"} in told["advice"]
    assert "families={'visits': 'gaussian'}" in told["message"]


def test_a_file_that_cannot_be_read_says_where(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("n,label\n" + "1,a\n2,b\n" * 300 + "oops,a\n")
    with pytest.raises(CandideError) as raised:
        fit(path, "label", types={"n": "number"})
    told = raised.value.to_dict()
    assert told["where"] == {"file": str(path), "column": "n", "value": "oops", "line": 602}
    assert [part["name"] for part in told["advice"] if isinstance(part, dict)] == ["na", "types", "on_error"]


def every_error() -> list[CandideError]:
    plain = [kind("What.", advice=("Try ", SetOption("force", True), "."), where=Location("f", 3, "c", "v"))
             for kind in subclasses(CandideError) if kind is not RowNeverLearned]  # fmt: skip
    return [*plain, RowNeverLearned(3, "a")]


@pytest.mark.parametrize("error", every_error(), ids=lambda error: type(error).__name__)
def test_an_error_survives_the_way_to_another_process(error):
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert copy.to_dict() == error.to_dict()
    assert copy.message.parts == error.message.parts
    json.dumps(error.to_dict())


def test_warnings_are_data_too():
    rows = {"nr": [f"id{n}" for n in range(200)], "size": [n % 7 for n in range(200)]}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = NaiveBayes().fit(rows, ["a" if n % 7 > 3 else "b" for n in range(200)])
        model.predict({"size": [1, 2], "nr": ["x", "y"]})
    told = [one.message for one in caught if isinstance(one.message, candide.ColumnWarning)]
    assert len(told) == 1
    assert SetOption("families", "guess", "nr") in told[0].message.advice
    assert "families={'nr': 'guess'}" in str(told[0])
    assert "--family nr=guess" in in_shell(told[0].message)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("visits,label\n" + "1,a\n2,b\n3,a\n4,b\n5,a\n6,b\n" * 20)
    Path("more.csv").write_text("visits,label\n2.5,a\n")
    fit("rows.csv", "label", "model.candide", families={"visits": "poisson"})


MISTAKES = {
    "fit row.csv -l label": lambda: fit("row.csv", "label"),
    "fit rows.csv": lambda: fit("rows.csv"),
    "fit rows.csv -l lable": lambda: fit("rows.csv", "lable"),
    "fit rows.csv -l label --family visits=poison": lambda: fit("rows.csv", "label", families={"visits": "poison"}),
    "fit rows.csv -l label --family visit=poisson": lambda: fit("rows.csv", "label", families={"visit": "poisson"}),
    "fit more.csv -l label --family visits=poisson": lambda: fit("more.csv", "label", families={"visits": "poisson"}),
    "fit rows.csv -l label --priors a=0.5,b=0.1": lambda: fit("rows.csv", "label", priors={"a": 0.5, "b": 0.1}),
    "fit rows.csv -l label --priors even": lambda: fit("rows.csv", "label", priors="even"),
    "fit rows.csv -l label --class-weight even": lambda: fit("rows.csv", "label", class_weight="even"),
    "fit rows.csv -l label --missing x": lambda: fit("rows.csv", "label", missing="x"),
    "fit rows.csv -l label --where 'visits ~ 3'": lambda: fit("rows.csv", "label", where="visits ~ 3"),
    "fit rows.csv -l label --columns visit": lambda: fit("rows.csv", "label", columns=["visit"]),
    "fit rows.csv -l label --on-error ignore": lambda: fit("rows.csv", "label", on_error="ignore"),
    "fit rows.csv -l label --delimiter ::": lambda: fit("rows.csv", "label", delimiter="::"),
    "fit rows.csv -l label --type visits=numbr": lambda: fit("rows.csv", "label", types={"visits": "numbr"}),
    "fit rows.csv -l label -o rows.csv": lambda: fit("rows.csv", "label", "rows.csv"),
    "fit rows.csv -l label --text model=poisson --text weighting=log": lambda: fit(
        "rows.csv", "label", text=TextOptions(model="poisson", weighting="log")
    ),
    "predict none.candide rows.csv": lambda: verbs.predict("none.candide", "rows.csv"),
    "predict rows.csv rows.csv": lambda: verbs.predict("rows.csv", "rows.csv"),
    "predict model.candide rows.csv --confidence 2": lambda: verbs.predict("model.candide", "rows.csv", confidence=2.0),
    "predict model.candide rows.csv --text x": lambda: verbs.predict("model.candide", "rows.csv", text="x"),
    "explain model.candide rows.csv --rows 999": lambda: verbs.explain("model.candide", "rows.csv", rows=[999]),
    "evaluate model.candide": lambda: verbs.evaluate("model.candide"),
    "evaluate rows.csv -l label --seed 3": lambda: verbs.evaluate("rows.csv", label="label", seed=3),
    "evaluate rows.csv -l label --folds 999": lambda: verbs.evaluate("rows.csv", label="label", folds=999),
    "compare model.candide": lambda: verbs.compare("model.candide"),
    "compare model.candide rows.csv": lambda: verbs.compare(["model.candide", "rows.csv"]),
    "compare model.candide model.candide --folds 3": lambda: verbs.compare(["model.candide"] * 2, folds=3),
    "learn model.candide more.csv": lambda: verbs.learn("model.candide", "more.csv"),
    "inspect model.candide --knows rows.csv": lambda: verbs.inspect("model.candide", knows="rows.csv"),
    "report model.candide -o x.svg": lambda: verbs.report("model.candide", "x.svg"),
    "sample model.candide --label z": lambda: verbs.sample("model.candide", label="z"),
}


@pytest.mark.parametrize("typed", MISTAKES)
def test_a_typical_mistake_is_told_to_each_face_in_its_own_words(files, typed):
    with pytest.raises(CandideError) as raised:
        MISTAKES[typed]()
    found = CliRunner().invoke(app, shlex.split(typed)).exception
    assert isinstance(found, type(raised.value))
    running_command.set(typed.split()[0])
    python, shell = str(raised.value), in_shell(found.message)
    assert not re.search(r"(?<![\w-])--[a-z]|\bcandide [a-z]+ ", python)
    assert not re.search(r"\w=(True|False|\.\.\.|['\[{])|\w\(\.\.\.", shell)
    assert python[0].isupper() or found.what.advice or found.where != NOWHERE
    assert "...." not in python + shell
    told = {**raised.value.to_dict(), "message": None}
    assert {**found.to_dict(), "message": None} == told


def test_a_shell_user_is_sent_to_the_command_that_has_the_option(files):
    found = CliRunner().invoke(app, ["learn", "model.candide", "more.csv"])
    assert isinstance(found.exception, ColumnRefused)
    assert "candide fit ... --family visits=gaussian" in in_shell(found.exception.message)
    found = CliRunner().invoke(app, ["fit", "more.csv", "-l", "label", "--family", "visits=poisson"])
    assert "such as --family visits=gaussian" in in_shell(found.exception.message)


def test_a_shell_user_sees_no_python_in_json_either(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = "".join(f"id{n},{n % 7},{'a' if n % 7 > 3 else 'b'}\n" for n in range(200))
    Path("rows.csv").write_text("nr,size,label\n" + lines)
    found = CliRunner().invoke(app, ["fit", "rows.csv", "-l", "label", "-o", "m.candide", "--format", "json"])
    assert found.exit_code == 0, found.output
    for shown in (found, CliRunner().invoke(app, ["inspect", "m.candide", "--format", "json"])):
        warning = next(c["warning"] for c in json.loads(shown.stdout)["columns"] if c["column"] == "nr")
        assert "--family nr=guess" in warning


def test_a_message_joins_others():
    first = Message("It is odd: ", SetOption("na"), ".")
    assert first.and_then("look twice") == "It is odd: na=... Look twice"
    assert Message("Odd").and_then("look twice") == "Odd. Look twice"
    assert Message("").and_then("look twice") == "look twice"


def test_files_of_the_first_release_have_advice_too():
    old = "it may give the label away. It is kept; to leave it out: families={'boat no': 'ignore'}."
    assert in_shell(read_message(old)).endswith("to leave it out: --family 'boat no=ignore'.")
    assert read_message(old) == old
    assert in_shell(read_message("make it numbers (types=... (--type)), else")) == "make it numbers (--type), else"
