"""candide learn, candide forget, candide refit"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from candide.cli import options
from candide.cli.groups import with_groups
from candide.cli.options import EngineOptions, Force, ModelPath, ReadingOptions, Shape, ShapeOption, SomeData
from candide.data.visible import visible

DONE = {
    "learn": "{changed:,} rows learned; {target} now holds {rows:,}",
    "forget": "{changed:,} rows forgotten; {target} now holds {rows:,}",
    "refit": "{target} is chosen anew from its {rows:,} rows",
}


@dataclass(frozen=True, kw_only=True)
class Change:
    """What is changed in a model file: the options of all three. Where rows are not needed, they may be left out."""

    model: ModelPath
    data: SomeData
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="MODEL", help="Save here, and leave the model as it is."),
    ] = None
    reading: ReadingOptions
    force: Force = False
    format: ShapeOption = Shape.table


@dataclass(frozen=True, kw_only=True)
class RowsChanged(Change):
    """What is added to a model file, or taken from it: a cluster may count it."""

    work: EngineOptions


@with_groups
def learn(change: RowsChanged) -> None:
    """Learn more rows into a model file.

    The rows learned before are not needed again. New classes, values and columns are welcome.

    The file is replaced in one step: others may read it meanwhile, and a second writer waits.

    Example: candide learn titanic.candide more.csv
    """
    run_change("learn", change)


@with_groups
def forget(change: RowsChanged) -> None:
    """Forget rows, as if they had never been learned.

    Exactly: all of them, or none if one never was learned. Words, classes and columns that only they had go too, and so
    does where rows came from. What was chosen before may bear traces of them: see refit.

    Example: candide forget titanic.candide withdrawn.csv
    """
    run_change("forget", change)


@dataclass(frozen=True, kw_only=True)
class Rechoice(Change):
    """What is chosen anew: rows are not needed for what can be read off the model."""

    data: SomeData = None


@with_groups
def refit(change: Rechoice) -> None:
    """Choose anew: families and smoothing from the model alone, everything from the same rows given again.

    With rows the model is then the one that fit makes of them: after forget, nothing is left of the rows that are gone,
    not even in what was chosen. Rows that are not exactly those of the model are refused.

    Example: candide refit titanic.candide
    """
    run_change("refit", change)


def run_change(name: str, change: Change) -> None:
    """Run one of the three, and say what changed."""
    from candide.cli.progress_bar import watch
    from candide.cli.running import verb
    from candide.cli.tables import notes, print_json

    data, more = options.one_or_all(change.data) if change.data else None, change.reading.for_verb()
    if isinstance(change, RowsChanged):
        more |= change.work.for_verb()
    fitted = verb(name)(change.model, data, change.output, force=change.force, watch=watch, **more)
    target = change.output or change.model
    if change.format is Shape.json:
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
