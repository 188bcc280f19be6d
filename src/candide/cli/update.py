"""candide learn, candide forget, candide refit"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from candide.cli import options
from candide.cli.options import Data, Force, ModelPath, Reading, Shape, ShapeOption, reads
from candide.data.visible import visible

Elsewhere = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="MODEL", help="Save here, and leave the model as it is."),
]


@reads
def learn(
    model: ModelPath,
    data: Data,
    output: Elsewhere = None,
    *,
    reading: Reading,
    force: Force = False,
    format: ShapeOption = Shape.table,
) -> None:
    """Learn more rows into a model file.

    The rows learned before are not needed again. New classes, values and columns are welcome.

    The file is replaced in one step: others may read it meanwhile, and a second writer waits.

    Example: candide learn titanic.candide more.csv
    """
    change("learn", model, data, output, {**reading, "force": force}, format)


@reads
def forget(
    model: ModelPath,
    data: Data,
    output: Elsewhere = None,
    *,
    reading: Reading,
    force: Force = False,
    format: ShapeOption = Shape.table,
) -> None:
    """Forget rows, as if they had never been learned.

    Exactly: all of them, or none if one never was learned. Words, classes and columns that only they had go too, and so
    does where rows came from. What was chosen before may bear traces of them: see refit.

    Example: candide forget titanic.candide withdrawn.csv
    """
    change("forget", model, data, output, {**reading, "force": force}, format)


@reads
def refit(
    model: ModelPath,
    data: Data,
    output: Elsewhere = None,
    *,
    reading: Reading,
    force: Force = False,
    format: ShapeOption = Shape.table,
) -> None:
    """Choose everything anew, from the same rows given again.

    After forget, this leaves nothing of the rows that are gone, not even in what was chosen: the model is then the one
    that fit makes of the rows that are left. Rows that are not exactly those of the model are refused.

    Example: candide refit titanic.candide remaining.csv
    """
    change("refit", model, data, output, {**reading, "force": force}, format)


DONE = {
    "learn": "{changed:,} rows learned; {target} now holds {rows:,}",
    "forget": "{changed:,} rows forgotten; {target} now holds {rows:,}",
    "refit": "{target} is chosen anew from its {rows:,} rows",
}


def change(name: str, model: str, data: list[str], output: str | None, reading: dict[str, Any], format: Shape) -> None:
    """Run one of the three, and say what changed."""
    from candide.cli.progress_bar import watch
    from candide.cli.running import verb
    from candide.cli.tables import notes, print_json

    fitted = verb(name)(model, options.one_or_all(data), output, watch=watch, **reading)
    target = output or model
    if format is Shape.json:
        counts = {str(c): n for c, n in zip(fitted.classes, fitted.trained.summary.counts.tolist(), strict=True)}
        print_json(
            {
                "output": target,
                "changed": fitted.changed,
                "rows": fitted.rows,
                "classes": counts,
                "notes": list(fitted.notes),
            }
        )
        return
    print(visible(DONE[name].format(changed=fitted.changed, rows=fitted.rows, target=target)))
    notes(fitted.notes)
