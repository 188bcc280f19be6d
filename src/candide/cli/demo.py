"""candide demo"""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from candide.cli.options import Shape, ShapeOption
from candide.cli.screen import as_is


def demo(
    folder: Annotated[
        str | None,
        typer.Option("--folder", metavar="FOLDER", help="Where to leave the files of the tour; else they are removed."),
    ] = None,
    format: ShapeOption = Shape.table,
) -> None:
    """Show every command at work on a small table of fruit; report only where matplotlib is installed.

    Example: candide demo
    """
    from candide.cli.running import verb

    steps = verb("demo")(folder, announce if format is Shape.table else None)
    if format is Shape.json:
        from candide.cli.tables import print_json

        print_json([{"about": s.about, "command": f"candide {s.command}", "output": parsed(s.output)} for s in steps])


def announce(step: Any) -> None:
    """The command as it is typed."""
    colour = sys.stdout.isatty()
    line = f"$ candide {step.command}"
    print(f"\n{step.about}".rstrip())
    print(f"\x1b[1m{line}\x1b[0m\n" if colour else f"{line}\n", flush=True, file=as_is(sys.stdout))


def parsed(output: str) -> Any:
    """What a command printed as JSON, or as one object a line."""
    try:
        return json.loads(output)
    except ValueError:
        return [json.loads(line) for line in output.splitlines()]
