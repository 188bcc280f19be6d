"""Processes that share a model file: nothing acknowledged is lost, and what killed writers left is cleared away."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from candide.api import verbs
from candide.store import locked
from candide.store.atomic import replace_file

ROUNDS = 6
ROWS = {"size": [1.0, 2.0, 8.0, 9.0], "colour": ["red", "red", "blue", "blue"], "kind": ["a", "a", "b", "b"]}

PEER = """
import sys
{imported}
print("ready", flush=True)
sys.stdin.readline()
"""


def python(folder, imported, code):
    """A process that says "ready" once what it needs is imported, and goes on when told to."""
    code = PEER.format(imported=imported) + code
    return subprocess.Popen(
        [sys.executable, "-c", code], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def ready(peers):
    assert [peer.stdout.readline() for peer in peers] == ["ready\n"] * len(peers)


def go(peers):
    for peer in peers:
        peer.stdin.write("go\n")
        peer.stdin.flush()


def plain(data=ROWS, output=None, **options):
    return verbs.fit(data, "kind", output, families="guess", smoothing="default", calibrate=False, **options)


def test_no_acknowledged_row_is_lost_whatever_writes_at_once(tmp_path):
    for name in ("a", "b"):
        plain(output=tmp_path / f"{name}.candide")
    row, other = ({"size": [3.0], "colour": [colour], "kind": ["a"]} for colour in ("red", "green"))
    works = [
        "verbs.merge(['a.candide', 'b.candide'], 'a.candide')",
        f"verbs.learn('a.candide', {row})",
        f"verbs.learn('a.candide', {other}), verbs.forget('a.candide', {other}), "
        "verbs.merge(['a.candide', 'b.candide'], 'a.candide')",
    ]
    peers = [python(tmp_path, "from candide.api import verbs", f"for _ in range({ROUNDS}): {work}") for work in works]
    ready(peers)
    go(peers)
    assert [peer.wait() for peer in peers] == [0] * len(peers)
    landed = {name: (1 + 2 * ROUNDS) * ROWS[name] + ROUNDS * row[name] for name in ROWS}
    expected = verbs.fit(landed, like=tmp_path / "b.candide")
    assert verbs.load(tmp_path / "a.candide").trained.summary == expected.trained.summary
    assert not list(tmp_path.glob(".*"))


def is_locked(path: Path) -> bool:
    side = path.with_name(f".{path.name}.lock")
    if not side.exists():
        return False
    handle = os.open(side, os.O_RDWR)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


class Watched(dict):
    """Rows, or a model, that note whether a file is locked when they are read."""

    def __init__(self, path, model=None):
        super().__init__(ROWS)
        self.path, self.model, self.held = path, model, []

    def items(self):
        self.held.append(is_locked(self.path))
        return super().items()

    @property
    def trained_(self):
        if self.model is None:
            raise AttributeError("trained_")
        self.held.append(is_locked(self.path))
        return self.model.trained


WRITERS = {
    "fit": lambda path, rows, model: plain(rows, path),
    "fit like": lambda path, rows, model: verbs.fit(ROWS, output=path, like=model),
    "learn": lambda path, rows, model: verbs.learn(path, rows),
    "forget": lambda path, rows, model: verbs.forget(path, rows),
    "merge": lambda path, rows, model: verbs.merge([path, model], path),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_verb_locks_before_it_reads(writer, tmp_path):
    path = tmp_path / "model.candide"
    fitted = plain(output=path)
    rows, model = Watched(path), Watched(path, fitted)
    WRITERS[writer](path, rows, model)
    seen = rows.held + model.held
    assert seen[-1:] == [True]
    assert not is_locked(path)
    assert not list(tmp_path.glob(".*"))


WRITE = """
def pieces():
    yield b"x" * 100_000
    print("half", flush=True)
    sys.stdin.readline()
    yield b"y"
replace_file("{name}", pieces())
"""


def halfway(folder, *names):
    """Processes in the middle of writing a file each."""
    peers = [python(folder, "from candide.store.atomic import replace_file", WRITE.format(name=name)) for name in names]
    ready(peers)
    go(peers)
    assert [peer.stdout.readline() for peer in peers] == ["half\n"] * len(peers)
    return peers


def parts(folder):
    return set(folder.glob(".*.candide-part"))


def test_the_next_writer_removes_what_killed_ones_left_and_nothing_else(tmp_path):
    living, *killed = halfway(tmp_path, "living.bin", "1.bin", "2.bin")
    for peer in killed:
        os.kill(peer.pid, signal.SIGKILL)
        peer.wait()
    assert len(parts(tmp_path)) == 3
    replace_file(tmp_path / "other.bin", [b"whole"])
    assert len(parts(tmp_path)) == 1
    go([living])
    assert living.wait() == 0
    assert (tmp_path / "living.bin").read_bytes() == b"x" * 100_000 + b"y"
    assert not parts(tmp_path)


def test_a_killed_writer_leaves_its_lock_to_the_next(tmp_path):
    code = "with locked('m'): print('held', flush=True), input()"
    peer = python(tmp_path, "from candide.store import locked", code)
    ready([peer])
    go([peer])
    assert peer.stdout.readline() == "held\n"
    os.kill(peer.pid, signal.SIGKILL)
    peer.wait()
    with locked(tmp_path / "m"):
        pass
    assert not list(tmp_path.iterdir())


def test_parts_of_others_that_may_not_be_opened_stay(tmp_path):
    part = tmp_path / f".{'a' * 16}.candide-part"
    part.mkdir()
    replace_file(tmp_path / "other.bin", [b"whole"])
    assert part.exists()
