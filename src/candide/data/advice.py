"""What people are told, with advice as data: each face words it in its own language; here it is worded for Python.

A message is made of plain sentences and of advice between them, such as an option to set. Plain sentences name no
option, so that a shell, a page or a server can say the same in its own words.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Self

ANYTHING: Any = ...
"""The value of an option that the user has to fill in."""


@dataclass(frozen=True)
class SetOption:
    """An option to give: `force=True`, or of one column, `families={'name': 'ignore'}`."""

    name: str
    value: Any = ANYTHING
    key: str | None = None


@dataclass(frozen=True)
class NamedOption:
    """An option that is spoken of, and not to be given."""

    name: str


@dataclass(frozen=True)
class UseVerb:
    """Another verb to call, with options: `fit(..., like='monday.candide')`."""

    name: str
    options: tuple[SetOption, ...] = ()


@dataclass(frozen=True)
class Install:
    """A package to install: the same in every language."""

    package: str
    upgrade: bool = False

    @property
    def command(self) -> str:
        """What is typed.

        >>> Install("candide", upgrade=True).command, Install("candide[plot]").command
        ('pip install --upgrade candide', "pip install 'candide[plot]'")
        """
        package = self.package if self.package.isidentifier() else repr(self.package)
        return f"pip install {'--upgrade ' if self.upgrade else ''}{package}"


@dataclass(frozen=True)
class PythonCode:
    """What to write in Python, about something that only Python users can meet: `y.astype(str)`."""

    code: str


Advice = SetOption | NamedOption | UseVerb | Install | PythonCode
Part = str | Advice
KINDS: dict[str, type[Advice]] = {
    kind.__name__: kind for kind in (SetOption, NamedOption, UseVerb, Install, PythonCode)
}


class Message(str):
    """A sentence or more that remembers its parts; as a string it is worded for Python.

    >>> said = Message("It is kept; to leave it out: ", SetOption("families", "ignore", "name"), ".")
    >>> said
    "It is kept; to leave it out: families={'name': 'ignore'}."
    >>> Message("First. ", said).advice
    (SetOption(name='families', value='ignore', key='name'),)
    """

    parts: tuple[Part, ...]

    def __new__(cls, *parts: Part) -> Self:
        flat = tuple(without_nesting(parts))
        made = super().__new__(cls, joined_parts(map(in_python, flat)))
        made.parts = flat
        return made

    @property
    def advice(self) -> tuple[Advice, ...]:
        """What can be done, without the words between."""
        return tuple(part for part in self.parts if not isinstance(part, str))

    def and_then(self, other: str) -> Message:
        """This, and another sentence behind it, which then begins with a capital."""
        first, *others = message_parts(other)
        begun = first[:1].upper() + first[1:] if isinstance(first, str) else first
        ends = self.parts and isinstance(self.parts[-1], str) and self.parts[-1].endswith(".")
        return Message(*self.parts, " " if ends else ". ", begun, *others) if self.parts else Message(first, *others)


def message_parts(said: Part) -> tuple[Part, ...]:
    """What a sentence is made of; a plain one of itself."""
    return said.parts if isinstance(said, Message) else (said,)


def without_nesting(parts: Iterable[Part]) -> list[Part]:
    """Parts without parts of their own, and with no two plain texts side by side."""
    found: list[Part] = []
    for part in (one for whole in parts for one in message_parts(whole)):
        if isinstance(part, str) and found and isinstance(found[-1], str):
            found[-1] += part
        elif part != "":
            found.append(part)
    return found


def joined_parts(words: Iterable[str]) -> str:
    """The words of a message in one; what is left open (`label=...`) ends a sentence without a further dot.

    >>> joined_parts(["Name it: ", "label=...", ". Else nothing is learned."])
    'Name it: label=... Else nothing is learned.'
    """
    return "".join(words).replace("....", "...")


def in_python(part: Part) -> str:
    """A part of a message as a Python user would type it.

    >>> in_python(SetOption("na", ["?"])), in_python(SetOption("rows")), in_python(SetOption("types", key="a"))
    ("na=['?']", 'rows=...', "types={'a': ...}")
    >>> in_python(UseVerb("fit", (SetOption("ledger", True),))), in_python(NamedOption("strict"))
    ('fit(..., ledger=True)', 'strict')
    """
    match part:
        case SetOption(name, value, key):
            written = "..." if value is ANYTHING else repr(value)
            return f"{name}={written}" if key is None else f"{name}={{{key!r}: {written}}}"
        case NamedOption(name):
            return name
        case UseVerb(name, options):
            return f"{name}({', '.join(['...', *map(in_python, options)])})"
        case Install():
            return part.command
        case PythonCode(code):
            return code
    return part


def plain_part(part: Part) -> Any:
    """A part as JSON says it: a text, or an object whose "kind" is the kind of advice.

    >>> plain_part(SetOption("families", "ignore", "name"))
    {'kind': 'SetOption', 'name': 'families', 'value': 'ignore', 'key': 'name'}
    """
    if isinstance(part, str):
        return part
    return {"kind": type(part).__name__, **without_blanks(asdict(part))}


def without_blanks(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields without what is not said."""
    blanks = {"key": None, "value": ANYTHING}
    said = {name: value for name, value in fields.items() if name not in blanks or value is not blanks[name]}
    if "options" in said:
        said["options"] = [without_blanks(option) for option in said["options"]]
    return said


def read_part(data: Any) -> Part:
    """A part from what JSON said; an error of Python's own where that makes no sense."""
    if isinstance(data, str):
        return data
    fields = dict(data)
    kind = KINDS[fields.pop("kind")]
    if not all(isinstance(fields.get(name, ""), str) for name in ("name", "package", "key", "code")):
        raise TypeError("what advice names is no text")
    if "options" in fields:
        fields["options"] = tuple(SetOption(**option) for option in fields["options"])
    return kind(**fields)
