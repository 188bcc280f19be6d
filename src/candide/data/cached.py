"""Properties that are worked out once, when first asked for, by threads that do not wait for each other.

In Python 3.11 `functools.cached_property` holds one lock for all objects of a class while it works. Work in parallel
then takes turns, and never ends where whoever holds the lock waits for a thread that asks for it. From 3.12 on there is
no such lock.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any, TypeVar

Value = TypeVar("Value")

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(functools.cached_property[Value]):  # noqa: N801
        """As from Python 3.12 on: two threads that ask at once may both do the work, and get one result."""

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            return vars(instance).setdefault(self.attrname, self.func(instance))


__all__ = ["cached_property"]
