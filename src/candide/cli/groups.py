"""Groups of options that several commands share: a dataclass is declared once, and is one parameter of each command.

Typer reads the signature of a command. A parameter whose type is a group stands there for the fields of the group, and
the command is given the group, made of what was typed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from inspect import Parameter, signature
from typing import Any, get_type_hints


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """A command that has every option of its groups, at the place where the group stands."""
    own = signature(command, eval_str=True)

    @wraps(command)
    def run(**given: Any) -> None:
        command(**regrouped(own.parameters.values(), given))

    every = [one for parameter in own.parameters.values() for one in group_parameters(parameter)]
    run.__signature__ = own.replace(parameters=every)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in every}
    return run


def is_group(annotation: Any) -> bool:
    """Whether a parameter of this type stands for several options."""
    return is_dataclass(annotation)


def group_parameters(parameter: Parameter) -> Iterator[Parameter]:
    """A parameter itself, or those that a group stands for; a group may hold groups."""
    if not is_group(parameter.annotation):
        yield parameter.replace(kind=Parameter.KEYWORD_ONLY)
        return
    for one in members(parameter.annotation):
        yield from group_parameters(one)


def members(group: Any) -> Iterable[Parameter]:
    """The fields of a group as parameters."""
    hints = get_type_hints(group, include_extras=True)
    for one in fields(group):
        default = Parameter.empty if one.default is MISSING else one.default
        yield Parameter(one.name, Parameter.KEYWORD_ONLY, default=default, annotation=hints[one.name])


def regrouped(parameters: Iterable[Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """What was typed, with groups made of their options."""
    found = {}
    for one in parameters:
        group: Any = one.annotation
        found[one.name] = group(**regrouped(members(group), given)) if is_group(group) else given[one.name]
    return found
