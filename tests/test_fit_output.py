"""What a fit shows while it works and when it is done; and that Ctrl-C ends it wherever it is."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import IO

import numpy as np
import pytest
from typer.testing import CliRunner

from candide import evaluate, fit
from candide.api.verbs import reading
from candide.cli.app import app
from candide.data.progress import Size

LOOKED_AT = 400
IMPATIENT = f"""
from candide.cli import main, progress_bar
from candide.api.verbs import reading
progress_bar.PATIENCE, reading.ROWS_TO_LOOK_AT = 0.0, {LOOKED_AT}
main()
"""
"""Bars are drawn at once, so that nothing has to be timed; and more than a few rows need a second pass."""
RNG = np.random.default_rng(11)


def table(rows: int, columns: int) -> dict[str, list[float] | list[str]]:
    labels = RNG.random(rows) < 0.5
    numbers = {f"c{index}": (RNG.normal(size=rows) + labels * 0.3).tolist() for index in range(columns)}
    return {**numbers, "y": np.where(labels, "yes", "no").tolist()}


def written(path: Path, rows: int, columns: int) -> Path:
    data = table(rows, columns)
    lines = [",".join(data), *(",".join(map(str, row)) for row in zip(*data.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return path


class Recorder:
    """Who watches: what was done in which order, how much there was, and how much was reported."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, Size, int]] = []
        self.open = 0

    @contextmanager
    def __call__(self, work: str, size: Size) -> Iterator[object]:
        assert not self.open, "two bars at once"
        self.open, done = 1, [0]
        try:
            yield lambda amount: done.append(amount)
        finally:
            self.open = 0
            self.seen.append((work, size, sum(done)))


CHOOSING = ["Choosing", "Choosing without folds"]
TUNING = ["Leaving rows out", "Calibrating", "Pairing columns", "Weighing products", "Judging"]
PHASES = ["Reading", "Looking", "Learning", *CHOOSING, "Comparing", *TUNING]


@pytest.mark.parametrize("sampled", [False, True], ids=["all rows looked at", "longer than the sample"])
def test_every_part_of_a_fit_is_reported(tmp_path, monkeypatch, sampled):
    if sampled:
        monkeypatch.setattr(reading, "ROWS_TO_LOOK_AT", 60)
    recorder, path = Recorder(), written(tmp_path / "data.csv", 200, 12)
    fit(path, "y", watch=recorder)
    again = ["Looking"] if sampled else []
    assert [work for work, _, _ in recorder.seen] == [*PHASES[:3], *again, *PHASES[3:]]
    assert [done for work, _, done in recorder.seen if work == "Choosing"] == [12]
    for work, size, done in recorder.seen:
        if size.amount is not None and not (sampled and work == "Reading"):
            assert done == size.amount, work
    assert recorder.seen[PHASES.index("Learning")][1].unit == ("bytes" if sampled else "rows")


def test_evaluating_rows_without_a_model_shows_its_fit(tmp_path):
    recorder = Recorder()
    evaluate(written(tmp_path / "data.csv", 100, 3), label="y", watch=recorder)
    assert [work for work, _, _ in recorder.seen][: len(PHASES)] == PHASES


def test_a_fit_that_fails_closes_what_it_opened(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "ROWS_TO_LOOK_AT", 60)
    path = written(tmp_path / "data.csv", 100, 3)
    path.write_text(path.read_text() + "1,2\n")
    recorder = Recorder()
    with pytest.raises(ValueError, match="fields"):
        fit(path, "y", watch=recorder)
    assert not recorder.open


def candide(*words: str) -> str:
    done = CliRunner().invoke(app, words)
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout


def test_fit_prints_how_good_it_is_and_what_to_look_at_twice(tmp_path):
    path, model = written(tmp_path / "data.csv", 300, 2), str(tmp_path / "m.candide")
    header, *lines = path.read_text().splitlines()
    numbered = [f"nr,{header}", *(f"{index},{line}" for index, line in enumerate(lines))]
    path.write_text("\n".join(numbered) + "\n")
    told = candide("fit", str(path), "--label", "y", "-o", model)
    (line,) = [line for line in told.splitlines() if line.startswith("Rows judged by choices made without them")]
    assert "always the commonest class: 0.5" in line
    assert "log loss 0." in line
    for shown in (told, candide("inspect", model)):
        assert "Columns to look at twice" in shown
        assert "--family nr=guess" in shown


def test_a_plain_fit_measured_nothing_and_says_nothing_of_it(tmp_path):
    path = written(tmp_path / "data.csv", 100, 2)
    assert "Rows judged" not in candide("fit", str(path), "--label", "y", "--plain")


class OnTerminal:
    """A command whose standard error is a terminal."""

    def __init__(self, folder: Path, *words: str, stdin: int | None = None):
        self.screen, end = pty.openpty()
        command = [sys.executable, "-c", IMPATIENT, *words]
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
        self.running = subprocess.Popen(
            command, cwd=folder, stdin=stdin, stdout=subprocess.DEVNULL, stderr=end, env=environment
        )
        os.close(end)
        self.seen = b""

    def until(self, word: bytes) -> bool:
        """Read on until a word was seen; whether it was."""
        while word not in self.seen:
            try:
                more = os.read(self.screen, 65536)
            except OSError:
                return False
            self.seen += more
        return True

    def ended(self) -> int:
        self.until(b"never said")
        os.close(self.screen)
        return self.running.wait()


def test_bars_are_drawn_on_a_terminal_and_cleared(tmp_path):
    written(tmp_path / "wide.csv", 100, 8)
    command = OnTerminal(tmp_path, "fit", "wide.csv", "--label", "y")
    assert command.ended() == 0
    for word in (b"Choosing", b"Calibrating"):
        assert word in command.seen
    assert b"/8" in command.seen
    assert command.seen.rfind(b"\x1b[?25h") > command.seen.rfind(b"\x1b[?25l")


def endless(rows: bytes, pipe: IO[bytes]) -> None:
    """Write rows into a pipe over and over, until its reader has gone."""
    with contextlib.suppress(BrokenPipeError), pipe:
        while True:
            pipe.write(rows)


def once(rows: bytes, pipe: IO[bytes]) -> None:
    """Write rows into a pipe and close it."""
    with contextlib.suppress(BrokenPipeError), pipe:
        pipe.write(rows)


@pytest.mark.parametrize(("part", "columns"), [(b"Choosing", 500), (b"Learning", 3)])
def test_ctrl_c_ends_a_fit_and_changes_no_file(tmp_path, part, columns):
    """Rows that never end, or columns that take long to choose for: the signal comes before the fit is done."""
    header, rows = written(tmp_path / "data.csv", LOOKED_AT, columns).read_bytes().split(b"\n", 1)
    (tmp_path / "small.csv").write_text("x,y\n1,a\n2,b\n")
    fit(tmp_path / "small.csv", "y", tmp_path / "m.candide")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    command = OnTerminal(tmp_path, "fit", "-", "--label", "y", "-o", "m.candide", stdin=subprocess.PIPE)
    command.running.stdin.write(header + b"\n")
    if part == b"Learning":
        Thread(target=endless, args=(rows, command.running.stdin), daemon=True).start()
    else:
        Thread(target=once, args=(rows, command.running.stdin), daemon=True).start()
    assert command.until(part)
    command.running.send_signal(signal.SIGINT)
    assert command.ended() == 130
    assert b"Interrupted; no file was changed." in command.seen
    assert b"Traceback" not in command.seen
    assert command.seen.rfind(b"\x1b[?25h") > command.seen.rfind(b"\x1b[?25l")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
