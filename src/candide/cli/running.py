"""How a command gets at its verb: imported when it is called, not before."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from candide.cli.lean import load_numba, load_pyarrow


def verb(name: str) -> Callable[..., Any]:
    """The Python function behind a command."""
    load_pyarrow()
    load_numba()
    found: Callable[..., Any] = getattr(import_module("candide.api.verbs"), name)
    return found
