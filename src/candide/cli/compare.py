"""candide compare"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from candide.cli import options
from candide.cli.groups import with_groups
from candide.cli.options import Data, FamilyOption, Folds, Force, LabelToLearn, ReadingOptions, Seed, Shape, ShapeOption
from candide.data.visible import visible


@with_groups
def compare(
    data: Data,
    label: LabelToLearn = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="PICTURE", help="Where to draw the learning curves: .svg or .png."),
    ] = None,
    family: FamilyOption = None,
    folds: Annotated[int, Folds] = 5,
    rows: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, help="Of more rows than this, so many are picked by chance.")
    ] = 20_000,
    seed: Seed = 0,
    *,
    reading: ReadingOptions,
    force: Force = False,
    format: ShapeOption = Shape.table,
) -> None:
    """Set naive Bayes beside other methods, on the same rows.

    Gaussian discriminant analysis, logistic regression and, for text, a linear SVM: how often each is right, whether
    its probabilities mean something, how long it takes, and how all that grows with the number of rows. A family by
    hand is for naive Bayes; a column that is left out is left out everywhere.

    Example: candide compare titanic.csv --label survived -o curves.svg
    """
    from candide.cli.progress_bar import watch
    from candide.cli.running import verb

    found = verb("compare")(
        options.one_or_all(data),
        label,
        output,
        families=options.families_of(family),
        folds=folds,
        rows=rows,
        seed=seed or 0,
        force=force,
        watch=watch,
        **reading.for_verb(),
    )
    if format is Shape.json:
        from candide.cli.tables import print_json

        print_json({"output": output, **found.to_dict()})
        return
    show_comparison(found, output)


def show_comparison(found: Any, output: str | None) -> None:
    """Every method with all rows, then with fewer, then who is ahead where."""
    from candide.cli.tables import heading, notes, show_table

    print(f"{len(found.methods)} methods on {found.rows:,} rows in {found.folds} folds\n")
    header, *lines = found.table()
    show_table(header, lines, right=range(1, len(header)))
    heading("Accuracy after so many rows, in percent")
    header, *lines = found.curves()
    show_table(header, lines, right=range(1, len(header)))
    heading("Who is ahead")
    for duel in found.duels:
        print(visible(f"{duel.sentence[0].upper()}{duel.sentence[1:]}"))
    if found.notes:
        print()
        notes(found.notes)
    if output is not None:
        print(f"\nDrawn in {visible(output)}")
