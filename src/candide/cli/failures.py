"""From what went wrong to a sentence and an exit code: 0 done, 1 ran and failed, 2 the call or the data is wrong."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from candide.cli.ending import Interrupted, ReaderLeft
from candide.cli.screen import as_is
from candide.cli.wording import in_shell
from candide.data.visible import visible

DONE, FAILED, WRONG, INTERRUPTED = 0, 1, 2, 130


def guarded(run: Callable[[], None]) -> int:
    """Run, and turn whatever is raised into an exit code; nobody sees a traceback unless CANDIDE_DEBUG is set."""
    try:
        run()
    except SystemExit as ended:
        return exit_code(ended)
    except (KeyboardInterrupt, Interrupted):
        say("Interrupted; no file was changed.")
        return INTERRUPTED
    except (BrokenPipeError, ReaderLeft):
        return reader_left()
    except Exception as problem:
        if os.environ.get("CANDIDE_DEBUG"):
            raise
        return explain_problem(problem)
    return DONE


def exit_code(ended: SystemExit) -> int:
    """The code asked for. What was printed must still get out; if the reader left, that is no failure."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return reader_left()
    except OSError as problem:
        quiet_stdout()
        say(f"The output could not be written: {(problem.strerror or str(problem)).lower()}.")
        return FAILED
    if ended.code is None or isinstance(ended.code, int):
        return ended.code or DONE
    say(str(ended.code))
    return FAILED


def reader_left() -> int:
    """`candide predict ... | head` is done once head has seen enough."""
    quiet_stdout()
    return DONE


def quiet_stdout() -> None:
    """Let what is still waiting to be printed go nowhere, so that Python does not complain at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def explain_problem(problem: Exception) -> int:
    """Say what is wrong: in our words where it is about the data, else in one line with the way to more."""
    from candide.data.errors import CandideError

    if isinstance(problem, CandideError):
        from candide.store.refusals import ModelFileNotWritten

        say(in_shell(problem.message))
        return FAILED if isinstance(problem, ModelFileNotWritten) else WRONG
    if isinstance(problem, MemoryError):
        say("There is not enough memory for this. A model grows with its classes times its different values.")
        return FAILED
    if isinstance(problem, OSError):
        name = f"'{problem.filename}': " if problem.filename else ""
        say(f"{name}{(problem.strerror or str(problem))}.")
        return FAILED
    what = ": ".join([type(problem).__name__, *str(problem).splitlines()[:1]])
    say(
        f"Something unexpected went wrong ({what})."
        " This is a fault of Candide. Run the command again with CANDIDE_DEBUG=1 in front to see where, and report it."
    )
    return FAILED


def say(sentence: str) -> None:
    """A sentence for people, on standard error."""
    colour = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    mark = "\x1b[31merror:\x1b[0m" if colour else "error:"
    print(f"{mark} {visible(sentence)}", file=as_is(sys.stderr))
