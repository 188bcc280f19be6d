"""Another processor, as far as variables make this one behave like it: `python tests/other_processor.py COMMAND ...`.

NumPy does without the vector instructions it found, OpenBLAS takes the routines of one of 2008, the C library those
without fused multiply-add, and everything runs on one thread. Files made this way are compared with files made without
it, and for these (`test_machines.py`) Numba compiles for any processor of this kind, too. A command runs the kernels
that there are: to compile all that documents need once more takes minutes.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

from numpy._core import _multiarray_umath as numpy_build

COMPILED = Path(__file__).parent / "__pycache__" / "any_processor"
"""Kernels compiled for any processor, kept apart from those for this one."""

IS_X86 = platform.machine().lower() in ("x86_64", "amd64")


def vector_instructions() -> list[str]:
    """What NumPy found in this processor beyond what it cannot do without."""
    return [name for name in numpy_build.__cpu_dispatch__ if numpy_build.__cpu_features__[name]]


def variables(kernels: bool = False) -> dict[str, str]:
    """The environment of a process that is yet to start, perhaps with kernels of its own."""
    found = {"OPENBLAS_NUM_THREADS": "1", "CANDIDE_THREADS": "1", "CANDIDE_TESTS_RUN_FIRST": "no"}
    if kernels:
        found |= {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(COMPILED)}
    if vector_instructions():
        found["NPY_DISABLE_CPU_FEATURES"] = " ".join(vector_instructions())
    if IS_X86:
        found |= {"OPENBLAS_CORETYPE": "Nehalem", "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX"}
    return {**os.environ, **found}


if __name__ == "__main__":
    sys.exit(subprocess.run(sys.argv[1:], env=variables(), check=False).returncode)
