"""The command line: it reads options, calls the verb of the same name, and shows what came of it.

Start-up is a feature: nothing is imported before it is used, so one prediction costs little more than its model.
"""

from __future__ import annotations


def main() -> None:
    """Run the command that was typed, and end the process with its exit code."""
    from candide.cli.failures import guarded
    from candide.cli.lean import without
    from candide.cli.screen import screened

    def run() -> None:
        from candide.cli.app import app

        app(prog_name="candide")

    with screened(), without("pandas"):  # PyArrow imports it whenever it meets a Python value, for half a second
        code = guarded(run)
    raise SystemExit(code)
