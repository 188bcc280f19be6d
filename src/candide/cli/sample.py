"""candide sample"""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from candide.cli.options import Force, ModelPath
from candide.cli.predict import Written
from candide.cli.screen import rows_out
from candide.data.visible import visible


def sample(
    model: ModelPath,
    n: Annotated[int, typer.Option("-n", metavar="NUMBER", min=0, help="How many rows.")] = 10,
    label: Annotated[
        str | None, typer.Option(metavar="CLASS", help="Only of this class; else of all, by their priors.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="NUMBER", min=0, help="The same seed draws the same rows.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Where rows go; else standard output.")
    ] = None,
    safe: Annotated[
        bool,
        typer.Option("--safe", help="Put an apostrophe before fields that a spreadsheet would run, such as =cmd|..."),
    ] = False,
    format: Annotated[
        Written | None, typer.Option("--format", help="How rows are written; on a terminal, a table. json is jsonl.")
    ] = None,
    force: Force = False,
) -> None:
    """Draw new rows from what a model learned.

    Example: candide sample titanic.candide -n 10 --label yes --seed 1
    """
    from candide.cli.running import verb

    to_screen = output in (None, "-")
    as_table = to_screen and format is None and sys.stdout.isatty()
    drawn = verb("sample")(
        model,
        n,
        label,
        seed,
        None if as_table else rows_out(format) if to_screen else output,
        force=force,
        safe=safe,
        output_format={"json": "jsonl"}.get(format.value, format.value) if format else None,
    )
    if as_table:
        show(drawn)
    elif not to_screen:
        print(visible(f"{drawn.num_rows:,} rows written to {output}"))


def show(drawn: Any) -> None:
    """The rows as a table, numbers short."""
    from candide.cli.tables import show_table

    columns = drawn.to_pydict()
    right = [place for place, values in enumerate(columns.values()) if any(isinstance(v, float) for v in values)]
    rows = [[brief(value) for value in row] for row in zip(*columns.values(), strict=True)]
    show_table(list(columns), rows, right=right)


def brief(value: Any) -> str:
    """A value in few letters."""
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
