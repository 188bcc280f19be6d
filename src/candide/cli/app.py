"""All commands in one place. A verb is listed here once it works."""

from __future__ import annotations

from typing import Annotated

import typer

from candide.cli.cluster import cluster
from candide.cli.compare import compare
from candide.cli.demo import demo
from candide.cli.ending import ended_quietly
from candide.cli.evaluate import evaluate
from candide.cli.explain import explain
from candide.cli.fit import fit
from candide.cli.inspect import inspect
from candide.cli.merge import merge
from candide.cli.predict import predict
from candide.cli.report import report
from candide.cli.sample import sample
from candide.cli.update import forget, learn, refit

COMMANDS = (
    fit, predict, explain, evaluate, compare, inspect, report, learn, forget, refit, merge, sample, cluster, demo,
)  # fmt: skip

app = typer.Typer(
    name="candide",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def show_version(asked: bool) -> None:
    """Print the version, if asked to, and end."""
    if asked:
        from candide import __version__

        print(f"candide {__version__}")
        raise typer.Exit


@app.callback()
def everything(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Naive Bayes taken seriously: learn tables and text exactly, answer, and always say why.

    Exit codes: 0 done, 1 ran and failed (a full disk), 2 the call or the data is wrong.
    """


for command in COMMANDS:
    app.command(no_args_is_help=command is not demo)(ended_quietly(command))
