"""candide sample"""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from candide.cli.groups import with_groups
from candide.cli.options import ModelPath, RowsOut, Seed
from candide.cli.screen import rows_out
from candide.data.visible import visible


@with_groups
def sample(
    model: ModelPath,
    n: Annotated[int, typer.Option("-n", metavar="NUMBER", min=0, help="How many rows.")] = 10,
    label: Annotated[
        str | None, typer.Option(metavar="CLASS", help="Only of this class; else of all, by their priors.")
    ] = None,
    seed: Seed = None,
    *,
    rows: RowsOut,
) -> None:
    """Draw new rows from what a model learned.

    Example: candide sample titanic.candide -n 10 --label yes --seed 1
    """
    from candide.cli.running import verb

    as_table = rows.to_screen and rows.format is None and sys.stdout.isatty()
    drawn = verb("sample")(
        model,
        n,
        label,
        seed,
        None if as_table else rows_out(rows.format) if rows.to_screen else rows.output,
        force=rows.force,
        safe=rows.safe,
        output_format=rows.format.for_verb if rows.format else None,
    )
    if as_table:
        show_rows(drawn)
    elif not rows.to_screen:
        print(visible(f"{drawn.num_rows:,} rows written to {rows.output}"))


def show_rows(drawn: Any) -> None:
    """The rows as a table, numbers short."""
    from candide.cli.tables import show_table

    columns = drawn.to_pydict()
    right = [index for index, values in enumerate(columns.values()) if any(isinstance(v, float) for v in values)]
    rows = [[short_cell(value) for value in row] for row in zip(*columns.values(), strict=True)]
    show_table(list(columns), rows, right=right)


def short_cell(value: Any) -> str:
    """A value in few letters."""
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
