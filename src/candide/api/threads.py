"""Classifiers that threads may share: every call sees one state, and changes take turns.

A call that reads works on a twin, which holds the state of one moment and which nobody changes. A call that changes
something works on a twin too, and then puts the twin's state in place of the old one: all of it in one step, or none of
it where the call was refused. So readers never wait, and never see half a change.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

Owner = TypeVar("Owner", bound="Shared")
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

TURN = "_turn"


class Shared:
    """An object whose attributes are its state. Copies and pickles have a turn of their own to wait for."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self._still()).items() if name != TURN}

    @property
    def _writing(self) -> threading.RLock:
        """Held by whoever changes the state. Made when first needed: `__init__` may only keep its arguments."""
        return vars(self).get(TURN) or vars(self).setdefault(TURN, threading.RLock())

    def _twin(self) -> Self:
        """The same state in another object."""
        twin = object.__new__(type(self))
        twin.__dict__ = vars(self).copy()
        return twin

    def _still(self) -> Self:
        """The state of this moment, which nobody changes: what a call that reads goes by."""
        return self._twin()

    def _take_on(self, twin: Self) -> None:
        """Take on what a twin has learned, in one step; the arguments of `__init__` stay what they are by now."""
        now, after = vars(self).copy(), vars(twin)
        arguments = {name: value for name, value in now.items() if not is_learned(name)}
        self.__dict__ = arguments | {name: value for name, value in after.items() if is_learned(name)}


def is_learned(attribute: str) -> bool:
    """Whether an attribute is state, by scikit-learn's convention, and not an argument."""
    return attribute.startswith("_") or attribute.endswith("_")


def reads(method: Callable[Concatenate[Owner, Arguments], Result]) -> Callable[Concatenate[Owner, Arguments], Result]:
    """A method that sees one state from beginning to end, whatever other threads learn meanwhile."""

    @wraps(method)
    def reading(self: Owner, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        return method(self._still(), *args, **kwargs)

    return reading


def writes(method: Callable[Concatenate[Owner, Arguments], Any]) -> Callable[Concatenate[Owner, Arguments], Owner]:
    """A method that changes the state: one at a time, and wholly or not at all. It returns its object."""

    @wraps(method)
    def writing(self: Owner, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Owner:
        with self._writing:
            twin = self._twin()
            method(twin, *args, **kwargs)
            self._take_on(twin)
        return self

    return writing
