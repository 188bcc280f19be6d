"""candide report"""

from __future__ import annotations

from typing import Annotated

import typer

from candide.cli import options
from candide.cli.groups import with_groups
from candide.cli.options import Force, LabelOfRows, ModelPath, ReadingOptions, Shape, ShapeOption, Strict
from candide.data.visible import visible


@with_groups
def report(
    model: ModelPath,
    data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DATA]",
            help="Rows with labels that the model has not learned, to measure it on. Without them the report tells "
            "what fit measured by leaving out rows.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write. Named after the model unless given."),
    ] = None,
    label: LabelOfRows = None,
    picture: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Only this picture, as .svg or .png: nomogram, feature, telling, reliability, confusion, roc, "
            "precision_recall or learning_curve.",
        ),
    ] = None,
    column: Annotated[
        str | None, typer.Option("--column", metavar="COLUMN", help="Which feature: for --picture feature.")
    ] = None,
    of: Annotated[
        str | None, typer.Option(metavar="CLASS", help="The class whose probability the nomogram shows.")
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="CLASS", help="The class that the nomogram sets it against.")
    ] = None,
    *,
    reading: ReadingOptions,
    strict: Strict = False,
    force: Force = False,
    format: ShapeOption = Shape.table,
) -> None:
    """Show a model on one page.

    A single HTML file with pictures of every feature, a nomogram, a panel to try what-if, how good the answers are and
    how the model was chosen. It opens from disk and needs no network.

    Example: candide report titanic.candide -o titanic.html

    Example: candide report titanic.candide --picture nomogram -o nomogram.svg
    """
    from candide.cli.progress_bar import watch
    from candide.cli.running import verb

    found = verb("report")(
        model,
        output,
        options.one_or_all(data) if data else None,
        label,
        picture=picture,
        column=column,
        of=of,
        against=against,
        strict=strict,
        force=force,
        watch=watch,
        **reading.for_verb(),
    )
    if format is Shape.json:
        from candide.cli.tables import print_json

        print_json({"model": model, "output": found.output, "bytes": found.size})
        return
    print(visible(f"Written to {found.output} ({in_kilobytes(found.size)})"))


def in_kilobytes(size: int) -> str:
    """A size as people say it.

    >>> in_kilobytes(41), in_kilobytes(123_456), in_kilobytes(4_500_000)
    ('1 kB', '123 kB', '4.5 MB')
    """
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(1, round(size / 1000))} kB"
