"""Classes as users name them: in the shell everything is text, so "1" may stand for 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from candide.data.values import Key, shown
from candide.model.predictor import Priors

Given = TypeVar("Given", Priors, Priors | None)


def meant_class(name: Any, classes: tuple[Key, ...]) -> Any:
    """The class a user means by a name: the class itself, or the one that reads so ("1" for 1).

    >>> meant_class("1", (("number", 0), ("number", 1)))
    1
    """
    by_name = {shown(key): key[1] for key in classes}
    values = [value for _, value in classes]
    return name if name in values or not isinstance(name, str) else by_name.get(name, name)


def by_meant_class(given: Given, classes: tuple[Key, ...]) -> Given:
    """Numbers by the classes that are meant; anything else as it is."""
    if not isinstance(given, Mapping):
        return given
    return {meant_class(name, classes): amount for name, amount in given.items()}
