"""Logarithms of chances that may be zero."""

from __future__ import annotations

import numpy as np

from candide.data.arrays import FloatArray


def safe_log(numbers: FloatArray | float, out: FloatArray | None = None) -> FloatArray:
    """The logarithm, -inf at zero without a warning; written where asked, such as in place of the numbers.

    >>> safe_log(0.0).item(), safe_log(1.0).item()
    (-inf, 0.0)
    """
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.asarray(numbers, dtype=np.float64), out=out))
