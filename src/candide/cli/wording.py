"""Advice as it is typed in a shell: options of the command that runs, or of the one that has them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from contextvars import ContextVar
from functools import cache
from typing import Any

from candide.data.advice import (
    ANYTHING,
    Install,
    NamedOption,
    Part,
    PythonCode,
    SetOption,
    UseVerb,
    in_python,
    joined_parts,
    message_parts,
)

NAMES = {"families": "family", "types": "type", "output_format": "format"}
"""What options are called here where a shell user gives one at a time."""

WITH_COMMAS = ("columns",)
"""Options whose values are typed in one word."""

running_command: ContextVar[str] = ContextVar("running_command", default="")
"""The name of the command that runs."""


def in_shell(said: str) -> str:
    """A message with its advice worded for a shell; a plain sentence as it is.

    >>> from candide.data.advice import Message
    >>> _ = running_command.set("fit")
    >>> in_shell(Message("Leave it out with ", SetOption("families", "ignore", "first name"), "."))
    "Leave it out with --family 'first name=ignore'."
    """
    return joined_parts(map(typed_part, message_parts(said)))


def typed_part(part: Part) -> str:
    """A part of a message as it is typed."""
    match part:
        case SetOption():
            return where_it_is(part)
        case NamedOption(name):
            return flag(name) if commands_with(flag(name)) else f"--text {name}" if is_of_recipe(name) else name
        case UseVerb(name, options):
            return " ".join(["candide", name, "...", *map(typed_option, options)])
        case Install() | PythonCode():
            return in_python(part)
    return part


def typed_option(option: SetOption) -> str:
    """An option with its value, in quotation marks where a shell needs them.

    >>> typed_option(SetOption("na", ["?", "-"])), typed_option(SetOption("calibrate", False))
    ("--na '?' --na -", '--no-calibrate')
    >>> typed_option(SetOption("types", "text", "age")), typed_option(SetOption("columns", ["age", "sex"]))
    ('--type age=text', '--columns age,sex')
    >>> typed_option(SetOption("rows")), typed_option(SetOption("types", key="age"))
    ('--rows', '--type age=...')
    """
    name, value = flag(option.name), option.value
    if option.key is not None:
        value = "..." if value is ANYTHING else value
        return f"{name} {in_quotes(f'{option.key}={value}')}"
    if isinstance(value, bool):
        return name if value else f"--no-{name[2:]}"
    if value is ANYTHING:
        return name
    return " ".join(f"{name} {in_quotes(str(one))}" for one in each(option.name, value))


def in_quotes(text: str) -> str:
    """A text as a shell takes it for one word.

    >>> print(in_quotes("age"), in_quotes("first name"), in_quotes("split = 'train'"))
    age 'first name' "split = 'train'"
    """
    return f'"{text}"' if "'" in text and not set(text) & set('"$`\\!') else shlex.quote(text)


def each(name: str, value: Any) -> Iterable[Any]:
    """The values of an option, as often as it is typed."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return [value]
    return [",".join(value)] if name in WITH_COMMAS else value


def flag(name: str) -> str:
    """How an option is typed."""
    return f"--{NAMES.get(name, name).replace('_', '-')}"


def where_it_is(option: SetOption) -> str:
    """What is typed: behind the name of its command where the one that runs has no such option.

    What no command has, only Python users can have asked for.
    """
    if not commands_with(flag(option.name)) and is_of_recipe(option.name):
        option = SetOption("text", typed_value(option.value), option.name)
    found = commands_with(flag(option.name))
    if not found:
        return in_python(option)
    written = typed_option(option)
    return written if running_command.get() in ("", *found) else f"candide {found[0]} ... {written}"


def is_of_recipe(name: str) -> bool:
    """Whether an option is a part of how texts are read, which is typed behind --text."""
    from candide.families.words.options import TextOptions

    return name in TextOptions.__dataclass_fields__


def typed_value(value: Any) -> Any:
    """A value of a text recipe as it is typed."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value


@cache
def commands_with(option: str) -> tuple[str, ...]:
    """The commands that have an option, fit first."""
    from typer.main import get_command

    from candide.cli.app import app

    commands: dict[str, Any] = getattr(get_command(app), "commands", {})
    return tuple(name for name, command in commands.items() if any(option in one.opts for one in command.params))
