"""What the command line does without, so that it answers sooner."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType


class Refusing:
    """An import hook to which a package is not installed."""

    def __init__(self, package: str):
        self.package = package

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == self.package:
            raise ModuleNotFoundError(f"the command line does without {name}", name=name)
        return None


@contextmanager
def without_package(package: str) -> Iterator[None]:
    """A while in which a package cannot be imported, unless it is there already."""
    hook = Refusing(package)
    sys.meta_path.insert(0, hook)
    try:
        yield
    finally:
        sys.meta_path.remove(hook)


def load_numba() -> None:
    """Have Numba start without looking for BLAS, which takes a tenth of a second: kernels multiply no matrices."""
    with without_package("scipy.linalg"):
        import numba.np.arraymath  # noqa: F401


def load_pyarrow() -> None:
    """Have PyArrow look for pandas once, in vain: with the first Python value it takes, it would import it.

    That takes a fifth of a second. Frames of pandas that come later, as from Dask, are taken all the same.
    """
    import pyarrow

    with without_package("pandas"):
        pyarrow.array([0])
