"""The families, one file each: a file dropped into this folder is a family, found by its name.

>>> names()[:4]
['bernoulli', 'binomial', 'calendar', 'categorical']
>>> named("poisson").name
'poisson'
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from candide.data.errors import OptionRefused
from candide.families.base.family import AnyFamily


def names() -> list[str]:
    """Every family there is, by name."""
    return list(_names(tuple(os.stat(folder).st_mtime_ns for folder in __path__)))


@cache
def _names(folders_changed: tuple[int, ...]) -> tuple[str, ...]:
    """The files of the folder, looked at again only when one has come or gone."""
    return tuple(sorted(module.name for module in iter_modules(__path__) if not module.ispkg))


def classes() -> tuple[type[AnyFamily], ...]:
    """Every family's class, by rank and then by name."""
    return _classes(tuple(names()))


@cache
def _classes(of_names: tuple[str, ...]) -> tuple[type[AnyFamily], ...]:
    return tuple(sorted(map(class_named, of_names), key=lambda family: family.rank))


def class_named(name: str) -> type[AnyFamily]:
    """The class that lives in the file of that name."""
    if name not in names():
        raise OptionRefused.of_name(f"There is no family '{name}'.", name, names())
    module = import_module(f"{__name__}.{name}")
    found: type[AnyFamily] = getattr(module, "".join(part.capitalize() for part in name.split("_")))
    return found


def named(name: str, **options: Any) -> AnyFamily:
    """A family by name, with its options."""
    return class_named(name)(**options)
