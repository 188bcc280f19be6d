"""Commands in processes of their own, forked from one that has imported everything: real, but fast.

Whatever a command prints, writes, refuses or breaks is as when it is typed; only the second that Python takes to start
is spent once. How a command starts is tested where `python -m candide` is run.
"""

from __future__ import annotations

import atexit
import json
import os
import pty
import select
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).parents[1] / "src"
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if name not in ("CANDIDE_DEBUG", "FORCE_COLOR", "NO_COLOR")},
    "PYTHONPATH": str(SOURCES),
    "COLUMNS": "100",
}

FORKING = """
import importlib, json, os, pathlib, signal, sys, traceback
import rich.console, rich.table
from candide.cli import app, cards, failures, lean, main, progress_bar, running, tables, text_recipe
with lean.without_package("pandas"):
    lean.load_numba()
    from candide.api import verbs
    [getattr(verbs, name) for name in verbs.__all__]
    rows = {"x": [n / 7 for n in range(60)], "c": ["a", "b"] * 30, "t": [f"some word{n % 3} {n}" for n in range(60)]}
    fitted = verbs.fit({**rows, "y": ["u", "v"] * 30}, "y")
    verbs.predict(fitted, rows), verbs.explain(fitted, rows), verbs.inspect(fitted)
    orchard = verbs.fit(pathlib.Path(verbs.__path__[0], "orchard.csv"), "fruit")
LATER = {"compare": ["sklearn.linear_model", "sklearn.svm", "matplotlib.figure"],
         "report": ["candide.show.report.page", "matplotlib.figure", "matplotlib.backends.backend_svg"]}


def load_for(command):
    # What it imports beyond all others, once it is asked for.
    with lean.without_package("pandas"):
        for name in LATER.pop(command, []):
            importlib.import_module(name)


def run(words, folder, environment, given, out, err, patience, killed_at):
    steps = []

    def step(*event):
        steps.append(None)
        if len(steps) == killed_at:
            os.kill(os.getpid(), signal.SIGKILL)

    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    os.dup2(os.open(given, os.O_RDONLY), 0)
    for number, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOCTTY, 0o600), number)
    sys.argv = ["candide", *words]
    if patience is not None:
        progress_bar.PATIENCE = patience
    sys.addaudithook(step)
    code = 99
    try:
        main()
        code = 0
    except SystemExit as ended:
        code = ended.code or 0
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush(), sys.stderr.flush()
    os.write(told, str(len(steps)).encode())
    os._exit(code)


for line in sys.stdin:
    load_for(json.loads(line)["words"][0])
    counted, told = os.pipe()
    child = os.fork()
    if not child:
        run(**json.loads(line))
    os.close(told)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(json.dumps([code, int(os.read(counted, 99) or 0)]), flush=True)
    os.close(counted)
"""


class Forked:
    """A server of forked commands.

    A command can be killed at any of its steps: whenever it opens, locks, renames or removes a file, starts a thread,
    imports. `steps` says how many the last command took that was not killed.
    """

    def __init__(self) -> None:
        self.outputs = tempfile.TemporaryDirectory(prefix="candide-tests-")
        self.server = subprocess.Popen([sys.executable, "-c", FORKING], env=ENVIRONMENT, text=True,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
        self.steps = 0
        atexit.register(self.close)

    def __call__(self, *words: object, folder: Path, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run a command, its outputs into files."""
        out, err = Path(self.outputs.name, "out"), Path(self.outputs.name, "err")
        out.write_bytes(b""), err.write_bytes(b"")
        self.start(words, folder, out, err, **options)
        code = self.ended()
        return subprocess.CompletedProcess(words, code, out.read_text("utf-8"), err.read_text("utf-8"))

    def start(
        self, words: object, folder: Path, out: object, err: object, environment: Mapping[str, str] = ENVIRONMENT,
        given: object = os.devnull, patience: float | None = None, killed_at: int | None = None,
    ) -> None:  # fmt: skip
        """Let a command begin, which reads what it is given and writes to some paths, be they files or terminals."""
        assert self.server.stdin is not None
        call = {"words": [*map(str, words)], "folder": str(folder), "environment": {**environment},
                "given": str(given), "out": str(out), "err": str(err), "patience": patience,
                "killed_at": killed_at}  # fmt: skip
        print(json.dumps(call), file=self.server.stdin, flush=True)

    def on_terminal(self, words: object, folder: Path, **options: Any) -> tuple[int, str]:
        """Run a command on a terminal of its own: the exit code, and both outputs together."""
        reading, writing = pty.openpty()
        path, said = os.ttyname(writing), b""
        self.start(words, folder, path, path, **options)
        while not self.has_ended() or select.select([reading], [], [], 0)[0]:
            if select.select([reading], [], [], 0.02)[0]:
                said += os.read(reading, 1 << 16)
        os.close(reading), os.close(writing)
        return self.ended(), said.decode("utf-8", "surrogateescape")

    def has_ended(self) -> bool:
        """Whether the command that was started is over."""
        return bool(select.select([self.server.stdout], [], [], 0)[0])

    def ended(self) -> int:
        """Wait for the command that was started; its exit code."""
        assert self.server.stdout is not None
        code, steps = json.loads(self.server.stdout.readline())
        self.steps = steps or self.steps
        return int(code)

    def close(self) -> None:
        self.server.communicate()
        self.outputs.cleanup()


@cache
def forked() -> Forked:
    """The one server of this test process."""
    return Forked()


def candide(*words: object, folder: Path, **options: object) -> subprocess.CompletedProcess[str]:
    """What a command does, without the time to start."""
    return forked()(*words, folder=folder, **options)
