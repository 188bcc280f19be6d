"""What people see: tables as narrow as their words, numbers they can read; and JSON for programs."""

from __future__ import annotations

import json
import math
import shlex
import sys
from collections.abc import Sequence
from typing import Any, TextIO

from candide.cli.screen import as_is
from candide.cli.wording import in_shell
from candide.data.advice import Message
from candide.data.visible import visible, visible_json


def print_json(data: Any) -> None:
    """Plain JSON on standard output; what is no number there is null."""
    print(as_json(data))


def as_json(data: Any) -> str:
    """Data as JSON that people can read too."""
    return visible_json(json.dumps(json_safe(data), indent=2, ensure_ascii=False, default=str))


def json_safe(data: Any) -> Any:
    """Data that JSON can say: infinite numbers become null, keys text, and advice is worded for a shell."""
    if isinstance(data, dict):
        return {str(key): json_safe(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [json_safe(value) for value in data]
    if isinstance(data, Message):
        return in_shell(data)
    return None if isinstance(data, float) and not math.isfinite(data) else data


def console() -> Any:
    """Where tables go: coloured on a terminal, plain in a pipe, and as wide there as they need."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else 200
    return Console(file=as_is(sys.stdout), highlight=False, soft_wrap=False, width=width)


def show_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = (), flexible: int = -1
) -> None:
    """A table without lines; columns in `right` hold numbers, and `flexible` may wrap where the screen is narrow."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=any(header), pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for index, name in enumerate(header):
        justify: Any = "right" if index in right else "left"
        wraps = index == flexible
        overflow: Any = "fold" if wraps else "ellipsis"
        table.add_column(Text(visible(name)), justify=justify, no_wrap=not wraps, overflow=overflow)
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    printed(table)


def printed(what: Any) -> None:
    """Print something of Rich's, without spaces at the ends of lines when it goes into a pipe."""
    screen = console()
    if sys.stdout.isatty():
        screen.print(what)
        return
    with screen.capture() as captured:
        screen.print(what)
    print("\n".join(line.rstrip() for line in captured.get().splitlines()))


def heading(text: str) -> None:
    """A line that starts a part."""
    from rich.text import Text

    print()
    printed(Text(visible(text), style="bold"))


def notes(said: Sequence[str], stream: TextIO | None = None) -> None:
    """What should be known besides."""
    for note in said:
        print(f"note: {visible(in_shell(note))}", file=stream)


def try_next(*lines: tuple[str, str]) -> None:
    """Commands that make sense now."""
    heading("Try next")
    width = max(len(visible(command)) for command, _ in lines)
    for command, about in lines:
        print(f"  {visible(command):{width}}   {about}".rstrip())


def shell_command(*words: str) -> str:
    """A command as it can be pasted into a shell."""
    return shlex.join(["candide", *words])
