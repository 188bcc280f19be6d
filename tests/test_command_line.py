"""The command line as a user meets it: real processes on real files, whatever goes wrong."""

from __future__ import annotations

import csv
import json
import os
import random
import resource
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import commands
from candide import store
from candide.api import verbs
from candide.api.verbs import touring
from candide.cli import failures
from candide.cli.app import app
from commands import ENVIRONMENT

ROOT = Path(__file__).parents[1]
ORCHARD = ROOT / "examples" / "orchard.csv"
HEADER, *LINES = ORCHARD.read_text().splitlines(keepends=True)
KILLS = 100 if os.environ.get("CANDIDE_THOROUGH") else 15
LAST_STEPS = 15
"""About as many steps as it takes to write a file."""


def typed(*words: object) -> list[str]:
    return [sys.executable, "-m", "candide", *map(str, words)]


def candide(*words: object, folder: Path, **options: object) -> subprocess.CompletedProcess[str]:
    options = {"capture_output": True, "text": True, **options}
    return subprocess.run(typed(*words), cwd=folder, env=ENVIRONMENT, **options)


@pytest.fixture(scope="module")
def forked(place):
    """A command line, typed as it is in the folder of the files."""
    return lambda words, **options: commands.candide(*words.split(), folder=place, **options)


def write(folder: Path, name: str, lines: list[str]) -> Path:
    path = folder / name
    path.write_text("".join([HEADER, *lines]))
    return path


def parts_left(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.endswith(".candide-part")]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a model of 400 rows, 100 more to learn and 100 new ones."""
    folder = tmp_path_factory.mktemp("orchard")
    first = write(folder, "first.csv", LINES[:400])
    write(folder, "more.csv", LINES[400:500])
    write(folder, "new.csv", LINES[500:])
    verbs.fit(first, "fruit", folder / "m.candide")
    return folder


CALLS = {
    "fit": "fit first.csv --label fruit --family spots=poisson --priors uniform --smoothing 2 -o fitted.candide",
    "predict": "predict m.candide new.csv",
    "explain": "explain m.candide new.csv --row 3 --rows 1",
    "evaluate": "evaluate m.candide new.csv",
    "inspect": "inspect m.candide",
    "learn": "learn m.candide more.csv -o learned.candide",
    "forget": "forget m.candide first.csv -o empty.candide",
    "merge": "merge m.candide m.candide -o twice.candide",
    "sample": "sample m.candide -n 3 --label plum --seed 1",
    "cluster": "cluster first.csv --groups 3 --family fruit=ignore -o groups.candide --out grouped.csv",
}
SAID = {
    "fit": ["400 rows: fruit, one of 4 classes", "poisson", "as you said", "Saved as fitted.candide", "Try next"],
    "predict": ["label,probability,decision"],
    "explain": ["Row 3: fruit is", "Row 1: fruit is", "(prior)", "(sum)", "log odds"],
    "evaluate": ["of 100 rows are right (rows given)", "95% interval", "log loss", "Brier", "calibration", "precision",
                 "Truth in rows", "Do probabilities mean what they say?"],
    "inspect": ["negative_binomial", "counts from 0", "deviation", "prior", "first.csv", "400 rows of", "bits",
                "Quality"],
    "learn": ["100 rows learned; learned.candide now holds 500"],
    "forget": ["400 rows forgotten; empty.candide now holds 0"],
    "merge": ["2 models added; twice.candide holds 800 rows"],
    "sample": ["plum", "weight_g"],
    "cluster": ["400 rows in 3 groups", "group 1", "deviation", "steps from the best of 8 starts", "grouped.csv"],
}


@pytest.mark.parametrize("name", CALLS)
def test_each_command_works_for_people(forked, name):
    done = forked(CALLS[name])
    assert (done.returncode, done.stderr) == (0, "")
    for words in SAID[name]:
        assert words in done.stdout
    assert "\x1b" not in done.stdout
    assert all(line == line.rstrip() for line in done.stdout.splitlines()), "spaces at the end of a line"


@pytest.mark.parametrize("name", CALLS)
def test_each_command_works_for_programs(forked, name):
    done = forked(f"{CALLS[name]} --format json")
    assert (done.returncode, done.stderr) == (0, "")
    if name in ("predict", "sample"):
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(rows) == (100 if name == "predict" else 3)
    else:
        assert json.loads(done.stdout)


def test_an_explanation_can_be_worked_out_or_written_as_a_page(forked, place):
    done = forked("explain m.candide new.csv --rows 3 --worked")
    assert (done.returncode, done.stderr) == (0, "")
    for words in ("Row 3: fruit", "1. Priors", "Bayes' rule", "Decision"):
        assert words in done.stdout
    done = forked("explain m.candide new.csv --rows 3,1 -o why.html")
    assert (done.returncode, done.stdout) == (0, "Written to why.html\n")
    assert (place / "why.html").read_text().count('<div class="candide-why">') == 2
    assert "<!doctype html>" in forked("explain m.candide new.csv --format html").stdout
    assert "--worked is written as text" in forked("explain m.candide new.csv --worked --format json").stderr


EVALUATIONS = {
    "evaluate m.candide first.csv --leave-one-out": ("leave-one-out", 400),
    "evaluate first.csv --label fruit --family spots=ignore": ("cross-fitted", 400),
    "evaluate first.csv more.csv --label fruit --plain": ("leave-one-out", 500),
    "evaluate more.csv --label fruit --folds 3 --plain": ("3-fold", 100),
}


@pytest.mark.parametrize("words", EVALUATIONS)
def test_no_test_set_is_needed(forked, words):
    kind, rows = EVALUATIONS[words]
    done = forked(words)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"of {rows} rows are right ({kind})" in done.stdout
    found = json.loads(forked(f"{words} --format json").stdout)
    assert ("Rows whose label looks wrong" in done.stdout) == bool(found["suspicious"])
    assert (found["kind"], found["rows"], found["label"]) == (kind, rows, "fruit")
    assert found["accuracy"] > 0.8
    assert len(found["reliability"]) == 15
    assert {row["label"] for row in found["suspicious"]} <= {"apple", "pear", "plum", "quince"}


def test_rows_to_evaluate_may_come_through_a_pipe(forked, place):
    done = forked("evaluate - --label fruit --plain", given=place / "more.csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert "of 100 rows are right (leave-one-out)" in done.stdout


def test_an_emptied_model_can_be_inspected_and_says_so_when_asked(forked):
    assert forked(CALLS["forget"]).returncode == 0
    shown = forked("inspect empty.candide")
    assert shown.returncode == 0
    assert "0 rows" in shown.stdout
    refused = forked("predict empty.candide new.csv")
    assert refused.returncode == 2
    assert "every row was forgotten" in refused.stderr


FAILURES = {
    "missing file": ("fit frist.csv --label fruit", 2, "no file 'frist.csv'. Did you mean 'first.csv'?"),
    "misspelt label": ("fit first.csv --label friut", 2, "Did you mean 'fruit'?"),
    "no label": ("fit first.csv", 2, "Name it: --label. The columns of first.csv: 'fruit', 'weight_g'"),
    "empty file": ("fit empty.csv --label fruit", 2, "empty.csv is empty"),
    "header only": ("fit header.csv --label fruit", 2, "has a header but no rows"),
    "unknown family": ("fit first.csv -l fruit --family spots=poison", 2, "Did you mean 'poisson'?"),
    "family cannot": ("fit first.csv -l fruit --family sugar_percent=poisson", 2, "--family sugar_percent=gaussian"),
    "bad pair": ("fit first.csv -l fruit --type spots", 2, "--type age=number"),
    "bad priors": ("fit first.csv -l fruit --priors plum=1", 2, "nothing is said about class 'apple'"),
    "lacking column": (
        "predict m.candide renamed.csv --strict",
        2,
        "'colour' is not in these rows. Did you mean 'color'?",
    ),
    "bad model": ("predict first.csv new.csv", 2, "'first.csv' cannot be used as a Candide model"),
    "no model": ("predict n.candide new.csv", 2, "There is no file 'n.candide'"),
    "bad value": ("predict m.candide bad.csv", 2, "bad.csv, line 3: column 'weight_g' holds 'heavy'"),
    "no such row": ("explain m.candide new.csv --rows 101", 2, "There is no row 101: new.csv has 100 rows"),
    "not learned": ("forget m.candide twice.csv", 2, "Forget only rows that were learned"),
    "do not fit": ("merge other.candide third.candide -o x.candide", 2, "'spots' is poisson here and geometric there"),
    "no such class": ("sample m.candide --label plom", 2, "Did you mean 'plum'?"),
    "no such command": ("fti first.csv", 2, "Did you mean 'fit'?"),
    "model after rows": ("evaluate new.csv m.candide", 2, "The model comes first"),
    "no rows to judge": ("evaluate m.candide", 2, "give some with labels: new ones, or those it learned"),
    "no label to judge by": ("evaluate first.csv", 2, "Name it: --label. The columns of first.csv: 'fruit'"),
    "folds of a model": ("evaluate m.candide new.csv --folds 3", 2, "--folds fits anew in each part"),
    "a fold too many": ("evaluate new.csv -l fruit --folds 101", 2, "from 2 to the number of rows (100), not 101"),
    "left out, not learned": ("evaluate m.candide twice.csv --leave-one-out", 2, "Only rows that were learned"),
    "no folder": ("fit first.csv -l fruit -o nowhere/m.candide", 1, "its folder does not exist"),
    "no folder for rows": ("predict m.candide new.csv -o nowhere/out.csv", 1, "its folder does not exist"),
}


@pytest.fixture(scope="module")
def mistakes(place):
    """Files that are wrong in one way each."""
    (place / "empty.csv").write_text("")
    (place / "header.csv").write_text(HEADER)
    (place / "renamed.csv").write_text(HEADER.replace("colour", "color") + LINES[0])
    write(place, "bad.csv", [LINES[500], LINES[501].replace(LINES[501].split(",")[1], "heavy", 1)])
    verbs.fit(place / "first.csv", "fruit", place / "other.candide", families={"spots": "poisson"}, calibrate=False)
    verbs.fit(place / "first.csv", "fruit", place / "third.candide", families={"spots": "geometric"}, calibrate=False)
    write(place, "twice.csv", LINES[:400] * 2)
    return place


@pytest.mark.parametrize("case", FAILURES)
def test_what_goes_wrong_is_said_in_a_sentence(mistakes, forked, case):
    words, code, sentence = FAILURES[case]
    before = {path.name: path.stat().st_mtime_ns for path in mistakes.iterdir()}
    done = forked(words)
    assert before == {path.name: path.stat().st_mtime_ns for path in mistakes.iterdir()}, "files were changed"
    assert done.returncode == code
    assert sentence in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_bad_rows_can_be_skipped_and_are_listed(mistakes, forked, place):
    done = forked("predict m.candide bad.csv --on-error skip --rejects rejects.csv")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 2
    assert "heavy" in (place / "rejects.csv").read_text()


def test_a_full_disk_is_a_sentence_and_leaves_the_old_model(place, tmp_path):
    model = tmp_path / "m.candide"
    model.write_bytes((place / "m.candide").read_bytes())

    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    done = candide("learn", model, "more.csv", folder=place, preexec_fn=no_room)
    assert done.returncode == 1
    assert "could not be saved" in done.stderr
    assert "Traceback" not in done.stderr
    assert model.read_bytes() == (place / "m.candide").read_bytes()
    assert not parts_left(tmp_path)
    commands.forked().start(["predict", "m.candide", "new.csv"], place, "/dev/full", tmp_path / "said")
    assert commands.forked().ended() == 1
    assert "no space left" in (tmp_path / "said").read_text().lower()


def test_predict_streams_a_pipe_in_order(forked, place):
    done = forked("predict m.candide -", given=place / "new.csv")
    found = list(csv.DictReader(done.stdout.splitlines()))
    expected = list(csv.DictReader([HEADER, *LINES[500:]]))
    assert [{name: row[name] for name in expected[0]} for row in found] == expected
    assert {row["decision"] for row in found} <= {"apple", "pear", "plum", "quince"}


def test_a_reader_that_leaves_is_no_failure(place, tmp_path):
    write(tmp_path, "many.csv", LINES * 20)
    running = subprocess.Popen(typed("predict", place / "m.candide", "many.csv"), cwd=tmp_path, env=ENVIRONMENT,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    assert running.stdout is not None
    assert running.stderr is not None
    assert running.stdout.readline().startswith(b"fruit,")
    running.stdout.close()
    said = running.stderr.read()
    running.stderr.close()
    assert (running.wait(), said) == (0, b"")


@pytest.mark.parametrize("words", ["fit - --label fruit -o out.candide", "predict {model} - -o out.csv"])
def test_ctrl_c_leaves_no_half_written_file(place, tmp_path, words):
    """It is pressed once there is a lock or a half-written file; rows come until then, and never end."""
    running = subprocess.Popen(typed(*words.format(model=place / "m.candide").split()), cwd=tmp_path, env=ENVIRONMENT,
                               stdin=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    assert running.stdin is not None
    running.stdin.write(HEADER.encode())
    while not any(tmp_path.iterdir()):
        running.stdin.write("".join(LINES).encode())
    running.send_signal(signal.SIGINT)
    _, said = running.communicate()
    assert running.returncode == 130
    assert b"Interrupted" in said
    assert b"Traceback" not in said
    assert {path.name for path in tmp_path.iterdir()} <= {".out.candide.lock"}


def test_learn_then_forget_and_shards_merged_are_the_same_bytes(place, forked, tmp_path):
    model = tmp_path / "m.candide"
    model.write_bytes((place / "m.candide").read_bytes())
    for verb in ("learn", "forget"):
        assert forked(f"{verb} {model} more.csv").returncode == 0
    assert store.canonical_bytes(store.load(model)) == store.canonical_bytes(store.load(place / "m.candide"))
    assert forked(f"fit more.csv --like {model} -o {tmp_path}/b.candide").returncode == 0
    assert forked(f"merge {model} {tmp_path}/b.candide -o {tmp_path}/c.candide").returncode == 0
    assert forked(f"refit {tmp_path}/c.candide").returncode == 0
    whole = verbs.refit(verbs.fit([place / "first.csv", place / "more.csv"], like=place / "m.candide"))
    assert store.canonical_bytes(store.load(tmp_path / "c.candide")) == store.canonical_bytes(whole.trained)


def test_killed_at_any_moment_the_file_is_the_old_or_the_new_one(place, forked, tmp_path):
    many = write(tmp_path, "many.csv", LINES[:100])
    old = verbs.load(place / "m.candide")
    model, answers = tmp_path / "m.candide", tmp_path / "out.csv"
    calls = {
        "fit": f"fit {many} --like m.candide -o {model}",
        "learn": f"learn {model} {many}",
        "predict": f"predict m.candide {many} -o {answers}",
    }
    steps, allowed = {}, {}
    for name, command in calls.items():
        old.save(model)
        assert forked(command).returncode == 0
        steps[name] = commands.forked().steps
        allowed[name] = {store.canonical_bytes(old.trained), store.canonical_bytes(store.load(model))}
    whole_answers = answers.read_bytes()
    chance = random.Random(1759)
    for number in range(KILLS):
        name = list(calls)[number % len(calls)]
        old.save(model)
        answers.write_text("old")
        last = chance.choice([steps[name], LAST_STEPS])
        killed = forked(calls[name], killed_at=steps[name] - chance.randrange(last))
        assert killed.returncode in (0, -signal.SIGKILL)
        assert answers.read_bytes() in (b"old", whole_answers)
        assert store.canonical_bytes(store.load(model)) in allowed[name]
    assert forked(calls["learn"]).returncode == 0


def test_an_unexpected_fault_is_one_sentence_unless_asked_for(place, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("CANDIDE_DEBUG", raising=False)
    assert failures.guarded(lambda: print(1 / 0)) == 1
    said = capsys.readouterr().err
    assert "ZeroDivisionError" in said
    assert "CANDIDE_DEBUG=1" in said
    assert "Traceback" not in said
    (tmp_path / "sitecustomize.py").write_text(
        "import candide.api.verbs.inspecting as fault\nfault.inspect = lambda model, **more: 1 / 0\n"
    )
    paths = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ENVIRONMENT['PYTHONPATH']}"}
    asked = {**ENVIRONMENT, **paths, "CANDIDE_DEBUG": "1"}
    done = subprocess.run(typed("inspect", "m.candide"), cwd=place, env=asked, capture_output=True, text=True)
    assert done.returncode == 1
    assert "Traceback" in done.stderr


@pytest.mark.parametrize(
    ("words", "light"),
    [
        (["predict", "m.candide", "new.csv", "-o", "lean.csv"], {"rich", "scipy.linalg"}),
        (["fit", "first.csv", "--label", "fruit", "-o", "lean.candide"], set()),
    ],
    ids=["predict", "fit"],
)
def test_commands_import_nothing_they_do_not_use(place, words, light):
    code = (
        f"import sys; sys.argv = {['candide', *words]}\n"
        "from candide.cli import main\n"
        "try: main()\n"
        "except SystemExit as ended: assert not ended.code\n"
        f"heavy = {({'sklearn', 'pandas', 'scipy.sparse', 'scipy.stats', 'duckdb', 'sqlite3'} | light)!r}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=place, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr


def test_the_demo_runs_every_command(tmp_path, monkeypatch):
    """Here they are forked; `make demo` starts each, as a user's demo does."""

    def forked_step(step, folder, announce):
        announce(step)
        done = commands.candide(*shlex.split(step.command), folder=folder)
        assert (done.returncode, done.stderr) == (0, ""), step.command
        return step

    monkeypatch.setattr(touring, "run", forked_step)
    done = CliRunner().invoke(app, ["demo", "--folder", str(tmp_path)])
    assert done.exit_code == 0, done.output
    for command in verbs_of_commands() - {"demo"}:
        assert f"$ candide {command} " in done.output


def verbs_of_commands() -> set[str]:
    from candide.cli.app import COMMANDS

    return {command.__name__ for command in COMMANDS}


def test_commands_functions_and_the_page_have_the_same_verbs():
    functions = {name for name in verbs.__all__ if name.islower()} - {"load"}
    page = (ROOT / "docs/cli.md").read_text()
    sections = {line.split()[-1] for line in page.splitlines() if line.startswith("## candide ")}
    assert verbs_of_commands() == functions == sections


def test_every_command_has_an_example():
    from candide.cli.app import COMMANDS

    for command in COMMANDS:
        assert f"Example: candide {command.__name__}" in (command.__doc__ or "")


def test_the_page_is_what_the_help_says():
    made = subprocess.run([sys.executable, "-c", "import make_cli; print(make_cli.page(), end='')"], text=True,
                          cwd=ROOT / "docs", env=ENVIRONMENT, capture_output=True)  # fmt: skip
    assert made.stdout == (ROOT / "docs/cli.md").read_text(), "run: python docs/make_cli.py"
