"""The array types that signatures speak of."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from typing_extensions import TypeIs

AnyArray = np.ndarray[Any, Any]
FloatArray = np.ndarray[Any, np.dtype[np.float64]]
IntArray = np.ndarray[Any, np.dtype[np.int64]]
BoolArray = np.ndarray[Any, np.dtype[np.bool_]]


class Sparse(Protocol):
    """What is asked of a sparse matrix in compressed rows, as SciPy's CSR has it."""

    indptr: AnyArray
    indices: AnyArray
    data: AnyArray
    shape: tuple[int, int]

    def toarray(self) -> AnyArray: ...


Counts = FloatArray | Sparse


def readonly(array: AnyArray) -> AnyArray:
    """The same array, closed. A kernel is compiled anew for arrays that may be written: words always come closed."""
    array.flags.writeable = False
    return array


def is_sparse(values: Counts) -> TypeIs[Sparse]:
    """Whether rows are stored sparsely."""
    return not isinstance(values, np.ndarray)


def is_scipy_sparse(rows: Any) -> bool:
    """Whether rows are a SciPy sparse matrix. Nobody has one before SciPy is loaded, which takes a quarter second."""
    loaded = sys.modules.get("scipy.sparse")
    return loaded is not None and bool(loaded.issparse(rows))
