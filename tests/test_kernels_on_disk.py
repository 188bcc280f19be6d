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


def run(folder, release):
    """What a release prints, in a process of its own, with the folder's own cache."""
    (folder / "release.py").write_text(release)
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
