"""The command line: it reads options, calls the verb of the same name, and shows what came of it.

Start-up is a feature: nothing is imported before it is used, so one prediction costs little more than its model.
"""

from __future__ import annotations


def main() -> None:
    """Run the command that was typed, and end the process with its exit code."""
    from candide.cli.failures import guarded
    from candide.cli.lean import without_package
    from candide.cli.screen import screened_output

    def run() -> None:
        from candide.cli.app import app

        app(prog_name="candide")

    # PyArrow imports pandas whenever it meets a Python value, for half a second
    with screened_output(), without_package("pandas"):
        code = guarded(run)
    raise SystemExit(code)
