"""Kernels that another release left on disk are compiled anew, whatever has become of what they were made of."""

from __future__ import annotations

import os
import subprocess
import sys

RELEASE = '''
from typing import NamedTuple

from candide.kernels import compiled


class {name}(NamedTuple):
    first: int
    second: int


@compiled
def total(pair):
    return pair.first + pair.second


print(total({name}(1, {second})))
'''


CALLER = """
from callee import called
from candide.kernels import compiled


@compiled
def calling(number):
    return called(number) + 1


print(calling(1))
"""
CALLEE = """
from candide.kernels import compiled

MORE = {more}


@compiled
def called(number):
    return number + MORE
"""

DOUBLED = """
import os
from candide.kernels import compiled


@compiled
def doubled(number):
    return number + number


print(doubled(float(os.environ["NUMBER"]) if "." in os.environ["NUMBER"] else int(os.environ["NUMBER"])))
"""


def run(folder, release):
    """What a release prints, in a process of its own, with the folder's own cache."""
    source = folder / "release.py"
    if not source.exists() or source.read_text() != release:
        source.write_text(release)
    cache = {"NUMBA_CACHE_DIR": str(folder / "cache")}
    ran = subprocess.run(
        [sys.executable, "-c", "import release"], cwd=folder, env=os.environ | cache, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def test_a_renamed_tuple_is_no_stumbling_block(tmp_path):
    assert run(tmp_path, RELEASE.format(name="Former", second=2)) == "3"
    (index,) = tmp_path.rglob("*.nbi")
    before = index.read_bytes()
    assert b"Former" in before
    assert run(tmp_path, RELEASE.format(name="Latter", second=20)) == "21"
    assert b"Latter" in index.read_bytes()


def test_a_callee_in_another_file_that_changed_is_not_gone_on_with(tmp_path):
    for more, said in ((10, "12"), (200, "202"), (200, "202")):
        (tmp_path / "callee.py").write_text(CALLEE.format(more=more))
        assert run(tmp_path, CALLER) == said


def test_processes_that_compile_at_once_never_write_to_the_same_file(tmp_path, monkeypatch):
    """The second knows nothing of what the first has written, as where both begin before either ends.

    Numba would give both files one name, and a third process that had read the first index would run the wrong code.
    """
    for number, said in (("1", "2"), ("1.5", "3.0")):
        monkeypatch.setenv("NUMBER", number)
        assert run(tmp_path, DOUBLED) == said
        for index in tmp_path.rglob("*.nbi"):
            index.unlink()
    assert len(list(tmp_path.rglob("*.nbc"))) == 2
