"""The arrays of one thing in a model file, taken one by one and checked as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from candide.data.arrays import AnyArray
from candide.store.refusals import ModelFileRefused


class Parts:
    """Arrays by name, each to be taken once.

    >>> import numpy as np
    >>> parts = Parts({"classes.ends": np.arange(3)}).under("classes")
    >>> parts.take("ends", np.int64, None).tolist()
    [0, 1, 2]
    """

    def __init__(self, arrays: Mapping[str, AnyArray], prefix: str = "") -> None:
        self.prefix = prefix
        self.held = sum(array.nbytes for array in arrays.values())
        self.arrays: dict[str, AnyArray] = {}
        self.groups: dict[str, dict[str, AnyArray]] = {}
        for name, array in arrays.items():
            group, dot, rest = name.partition(".")
            index = self.groups.setdefault(group, {}) if dot else self.arrays
            index[rest or name] = array

    def under(self, name: str) -> Parts:
        """The parts whose names begin with this one and a dot."""
        return Parts(self.groups.pop(name, {}), f"{self.prefix}{name}.")

    def has(self, name: str) -> bool:
        """Whether there is such an array, not taken yet."""
        return name in self.arrays

    def holds(self, name: str, dtype: Any) -> bool:
        """Whether there is such an array, not taken yet, of this type."""
        return name in self.arrays and self.arrays[name].dtype == dtype

    def take(self, name: str, dtype: Any, *shape: int | None) -> AnyArray:
        """One array, which must be of this type and of this shape, None being any length."""
        array = self.arrays.pop(name, None)
        if array is None:
            raise ModelFileRefused(f"its array '{self.prefix}{name}' is missing")
        fits = len(array.shape) == len(shape) and all(
            want is None or want == have for want, have in zip(shape, array.shape, strict=True)
        )
        if array.dtype != dtype or not fits:
            expected = " × ".join("any" if length is None else str(length) for length in shape)
            found = " × ".join(map(str, array.shape))
            raise ModelFileRefused(
                f"its array '{self.prefix}{name}' holds {array.dtype}, {found}, where {np.dtype(dtype)}, {expected} "
                "numbers belong"
            )
        return array

    def refuse_rest(self) -> None:
        """Raise where an array was not taken."""
        rest = self.arrays or self.groups
        if rest:
            raise ModelFileRefused(f"its array '{self.prefix}{min(rest)}' belongs to nothing")


def named_under(name: str, arrays: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    """The inverse of `Parts.under`: the same arrays with a longer name."""
    return {f"{name}.{key}": array for key, array in arrays.items()}
