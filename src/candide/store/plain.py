"""Options as plain data: what a user may write in Python, as JSON that gives back the same.

Text, numbers, truth values, None, lists and mappings from text stand for themselves. Everything else is an object
with one name that begins with `$`: `{"$family": ...}`, `{"$bytes": "00ff"}`, `{"$map": [[key, value], ...]}`.

>>> from_plain(to_plain({"priors": {1: 0.25, True: 0.75}})) == {"priors": {1: 0.25, True: 0.75}}
True
"""

from __future__ import annotations

import datetime
import math
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import Field, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from candide import families
from candide.data.errors import Location, OptionRefused
from candide.families.base.family import AnyFamily, Family
from candide.families.words.options import TextOptions
from candide.store.container import to_json
from candide.store.refusals import ModelFileRefused

LARGEST_WHOLE = 2**53
TIMES: dict[str, type[Any]] = {
    "$datetime": datetime.datetime,
    "$date": datetime.date,
    "$time": datetime.time,
}


def to_plain(value: Any) -> Any:
    """JSON data for a value; equal values give equal data, so a whole float is written as a whole number."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if abs(value) < LARGEST_WHOLE else {"$whole": hex(value)}
    if isinstance(value, float):
        return plain_float(value)
    if isinstance(value, bytes):
        return {"$bytes": value.hex()}
    if isinstance(value, list):
        return [to_plain(item) for item in value]
    if isinstance(value, tuple):
        return {"$tuple": [to_plain(item) for item in value]}
    if isinstance(value, Mapping):
        return plain_mapping(value)
    if isinstance(value, Family):
        return {"$family": plain_family(value)}
    if isinstance(value, TextOptions):
        return {"$text": plain_fields(value)}
    for tag, kind in TIMES.items():
        if isinstance(value, kind):
            return {tag: value.isoformat()}
    raise OptionRefused(
        f"A {type(value).__name__} cannot be kept in a model file.",
        advice="Use text, numbers, truth values, lists, mappings or families.",
        where=Location(value=type(value).__name__),
        expected="text, numbers, truth values, lists, mappings or families",
    )


def plain_float(value: float) -> Any:
    """A number, or its name where JSON has none."""
    if not math.isfinite(value):
        return {"$float": repr(value)}
    return int(value) if abs(value) < LARGEST_WHOLE and value == int(value) else value


def plain_mapping(value: Mapping[Any, Any]) -> Any:
    """An object, or sorted pairs where a key is not text."""
    if all(isinstance(key, str) and not key.startswith("$") for key in value):
        return {key: to_plain(item) for key, item in value.items()}
    return {"$map": sorted(([to_plain(key), to_plain(item)] for key, item in value.items()), key=to_json)}


def plain_family(family: AnyFamily) -> dict[str, Any]:
    """A family's name and options."""
    return {"name": family.name, **plain_fields(family)}


def plain_fields(record: Any) -> dict[str, Any]:
    """The fields of a dataclass, dataclasses inside it too."""
    values = {stored_name(field): getattr(record, field.name) for field in fields(record)}
    return {name: plain_fields(v) if is_dataclass(v) else to_plain(v) for name, v in values.items()}


def from_plain(data: Any) -> Any:
    """The value that `to_plain` was given, up to equality."""
    if isinstance(data, list):
        return [from_plain(item) for item in data]
    if not isinstance(data, dict):
        return data
    if not any(key.startswith("$") for key in data):
        return {key: from_plain(item) for key, item in data.items()}
    ((tag, inside),) = data.items()
    return READERS[tag](inside)


def family_from_plain(data: Mapping[str, Any]) -> AnyFamily:
    """A family from its name and options; options that the file lacks have their defaults."""
    given = dict(data)
    family: AnyFamily = built(family_class(given.pop("name")), given)
    return family


@cache
def family_class(name: Any) -> type[AnyFamily]:
    """The class of a family's name."""
    if name not in families.names():
        raise ModelFileRefused(f"this Candide has no family {reprlib.repr(name)}, so a newer one may have written it")
    return families.class_named(name)


def built(kind: Any, given: Mapping[str, Any]) -> Any:
    """An instance of a dataclass from plain fields, each of the type that is declared."""
    known = stored_fields(kind)
    for name in given:
        if name not in known:
            raise ModelFileRefused(f"'{kind.__name__}' has no option {reprlib.repr(name)} in this Candide")
    values = {name: value_from_plain(value, known[name][1], name) for name, value in given.items()}
    return kind(**{known[name][0]: value for name, value in values.items()})


@cache
def stored_fields(kind: Any) -> dict[str, tuple[str, Any]]:
    """The name and the declared type of each field, by the name it has in a file."""
    hints = get_type_hints(kind)
    return {stored_name(field): (field.name, hints[field.name]) for field in fields(kind)}


def stored_name(field: Field[Any]) -> str:
    """What a field is called in a file: its name, or that of the release which first wrote it."""
    return str(field.metadata.get("stored", field.name))


def value_from_plain(data: Any, hint: Any, name: str) -> Any:
    """Plain data as a value of the declared type."""
    for kind in get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,):
        if is_dataclass(kind) and isinstance(data, dict):
            return built(kind, data)
        value = from_plain(data)
        if kind is float and type(value) in (int, float):
            return float(value)
        if (get_origin(kind) is Literal and value in get_args(kind)) or kind is Any:
            return value
        if type(value) is (NoneType if kind is None else get_origin(kind) or kind):
            return value
    raise ModelFileRefused(f"{reprlib.repr(data)} cannot be the option '{name}'")


READERS: dict[str, Callable[[Any], Any]] = {
    "$bytes": bytes.fromhex,
    "$float": lambda text: {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[text],
    "$tuple": lambda items: tuple(from_plain(item) for item in items),
    "$map": lambda pairs: {from_plain(key): from_plain(item) for key, item in pairs},
    "$family": family_from_plain,
    "$text": lambda options: built(TextOptions, options),
    "$whole": lambda text: int(text, 16),
    **{tag: kind.fromisoformat for tag, kind in TIMES.items()},
}
