"""The hot loops: plain functions on NumPy arrays, compiled by Numba.

A kernel knows nothing of classes, names or objects: arrays come in, arrays are filled, numbers come back. Kernels
are serial and release the interpreter lock, so that an engine's thread pool runs them side by side; they never use
`parallel=True` or `prange`, which abort under threads and after a fork. They are compiled once and cached on disk.
Fast-math stays off: the same rows must give the same bits on every machine.
"""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba
from numba.core.types.misc import unliteral

from candide.kernels import first_run
from candide.kernels.on_disk import compiled_anew_if_changed
from candide.kernels.uninterrupted import compiled_in_peace

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def compiled(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Compile a kernel: serial, without the interpreter lock, cached on disk, bits as IEEE says."""
    return _compiled(function, inline="never")


def inlined(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """A part of a kernel that has a name of its own: compiled where it is called, not by itself as well.

    For what kernels call in one place, or in two if it is short: each kernel of its own costs a tenth of a second or
    more when it is compiled.
    """
    return _compiled(function, inline="always")


def _compiled(function: Callable[_Parameters, _Result], inline: str) -> Callable[_Parameters, _Result]:
    # Python and other kernels call kernels, C never does: what it would need is not compiled.
    options = numba.njit(cache=True, nogil=True, error_model="numpy", no_cfunc_wrapper=True, inline=inline)
    kept = compiled_in_peace(compiled_anew_if_changed(options(function)))
    return cast(Callable[_Parameters, _Result], for_types_alone(kept))


def for_types_alone(kernel: Any) -> Any:
    """The same kernel, compiled once for the types of its arguments, whichever constants other kernels call it with.

    Numba takes a constant at a call (`True`, `0`, a counter before its loop) for a type of its own and compiles the
    callee anew for it, with all that it calls. LLVM puts constants into what it inlines in any case.
    """
    choose = kernel.get_call_template

    def get_call_template(arguments: Any, keywords: Any) -> Any:
        plain = {name: unliteral(argument) for name, argument in keywords.items()}
        return choose(tuple(unliteral(argument) for argument in arguments), plain)

    kernel.get_call_template = get_call_template
    return kernel


first_run.listen()
