"""demo: the real commands on a small table, one after the other, in a folder of its own."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from candide.data.errors import Location
from candide.store.refusals import OverwritingRefused

ORCHARD = Path(__file__).with_name("orchard.csv")
LEARNED_FIRST = 300
LEARNED_LATER = 150

STEPS = (
    ("Learn a table of fruit. Every column gets a family, with a reason.",
     "fit monday.csv --label fruit -o orchard.candide"),
    ("How good is it, on rows it has never seen?", "evaluate orchard.candide new.csv"),
    ("Would another method do better? With 40 rows, say.", "compare monday.csv --label fruit --rows 40 --folds 2"),
    ("Answer rows; below 70 % it says that it is unsure.",
     "predict orchard.candide new.csv --confidence 0.7 -o answers.csv"),
    ("Why did the second row get its answer?", "explain orchard.candide new.csv --rows 2"),
    ("Tuesday's rows come in: learn them too. Nothing is read again.",
     "learn orchard.candide tuesday.csv"),
    ("And forget them, exactly: the file is as it was before.", "forget orchard.candide tuesday.csv"),
    ("Choose anew from the rows that are left: then not even a choice knows of Tuesday.",
     "refit orchard.candide monday.csv"),
    ("Or learn Tuesday apart, with the same choices, and add the two.",
     "fit tuesday.csv --like orchard.candide -o tuesday.candide"),
    ("", "merge orchard.candide tuesday.candide -o both.candide"),
    ("Draw plums that never grew.", "sample both.candide -n 3 --label plum --seed 4"),
    ("Had nobody named the fruit, which rows would go together?",
     "cluster monday.csv --groups 4 --family fruit=ignore --out grouped.csv"),
    ("Everything the model knows.", "inspect both.candide"),
    ("The same with pictures, on one page that works offline.", "report both.candide -o orchard.html"),
)  # fmt: skip
NEEDS_PICTURES = "report"


@dataclass(frozen=True)
class Step:
    """One command of the tour: what it is for, how it is typed, and what it printed where that was caught."""

    about: str
    command: str
    output: str | None = None


def demo(folder: str | os.PathLike[str] | None = None, announce: Callable[[Step], None] | None = None) -> list[Step]:
    """Run the tour in a folder (a temporary one unless named). Commands print as they go, if someone announces them."""
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="candide-demo-") as temporary:
            return tour(Path(temporary), announce)
    Path(folder).mkdir(parents=True, exist_ok=True)
    return tour(Path(folder), announce)


def tour(folder: Path, announce: Callable[[Step], None] | None) -> list[Step]:
    """Write the files, then run one command after the other."""
    header, *rows = ORCHARD.read_text(encoding="utf-8").splitlines(keepends=True)
    parts = {"monday": rows[:LEARNED_FIRST], "tuesday": rows[LEARNED_FIRST : LEARNED_FIRST + LEARNED_LATER],
             "new": rows[LEARNED_FIRST + LEARNED_LATER :]}  # fmt: skip
    for name, lines in parts.items():
        write_unless_taken(folder / f"{name}.csv", "".join([header, *lines]))
    steps = [Step(about, command) for about, command in STEPS]
    if find_spec("matplotlib") is None:
        steps = [step for step in steps if not step.command.startswith(NEEDS_PICTURES)]
    return [run(step, folder, announce) for step in steps]


def write_unless_taken(path: Path, text: str) -> None:
    """Write a file of the tour; somebody else's file of that name stays."""
    if path.exists() and path.read_bytes() != text.encode():
        raise OverwritingRefused(
            f"'{path}' is there already and is not the tour's.",
            advice="Give the tour an empty folder.",
            where=Location(str(path)),
        )
    path.write_text(text, encoding="utf-8")


def run(step: Step, folder: Path, announce: Callable[[Step], None] | None) -> Step:
    """One command, as a process of its own."""
    arguments = [sys.executable, "-m", "candide", *shlex.split(step.command)]
    if announce is not None:
        announce(step)
        subprocess.run(arguments, cwd=folder, check=True, env=environment())
        return step
    done = subprocess.run(
        [*arguments, "--format", "json"], cwd=folder, check=True, capture_output=True, text=True, env=environment()
    )
    return Step(step.about, step.command, done.stdout)


def environment() -> dict[str, str]:
    """The environment with this very package in it, wherever it was imported from."""
    here = str(Path(__file__).parents[2])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))}
