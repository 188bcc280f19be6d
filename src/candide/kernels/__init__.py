"""The hot loops: plain functions on NumPy arrays, compiled by Numba.

A kernel knows nothing of classes, names or objects: arrays come in, arrays are filled, numbers come back. Kernels
are serial and release the interpreter lock, so that an engine's thread pool runs them side by side; they never use
`parallel=True` or `prange`, which abort under threads and after a fork. They are compiled once and cached on disk.
Fast-math stays off: the same rows must give the same bits on every machine.
"""

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba

from candide.kernels import first_run

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def compiled(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Compile a kernel: serial, without the interpreter lock, cached on disk, bits as IEEE says."""
    decorate = numba.njit(cache=True, nogil=True, error_model="numpy")
    return cast(Callable[_Parameters, _Result], decorate(function))


first_run.listen()
