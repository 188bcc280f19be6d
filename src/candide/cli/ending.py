"""How a command can end besides finishing: interrupted, or left by whoever read its output."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from candide.cli.wording import running_command


class Interrupted(Exception):
    """Ctrl-C was pressed."""


class ReaderLeft(Exception):
    """The other end of the pipe was closed."""


def ended_quietly(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose interruptions reach `guarded`: Typer would turn them into exit code 1."""

    @wraps(command)
    def run(*arguments: object, **options: object) -> None:
        before = running_command.set(command.__name__)
        try:
            command(*arguments, **options)
        except (KeyboardInterrupt, SystemError) as problem:
            if isinstance(problem, SystemError) and not isinstance(problem.__cause__, KeyboardInterrupt):
                raise
            raise Interrupted from None  # also where it came while a kernel handed over what it had found
        except BrokenPipeError:
            raise ReaderLeft from None
        running_command.reset(before)  # not where it failed: what is said of that comes later

    return run
