"""What the command line does without."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType


class Refusing:
    """An import hook to which pandas is not installed."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == "pandas":
            raise ModuleNotFoundError("the command line does without pandas", name=name)
        return None


def without_pandas() -> None:
    """Keep PyArrow from importing pandas, which it does whenever it meets a Python value and takes half a second."""
    if "pandas" not in sys.modules:
        sys.meta_path.insert(0, Refusing())
