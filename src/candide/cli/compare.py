"""candide compare"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from candide.cli import options
from candide.cli.groups import with_groups
from candide.cli.options import Data, FamilyOption, Folds, Force, LabelToLearn, ReadingOptions, Seed, Shape, ShapeOption
from candide.data.visible import visible

CLASSES_SHOWN, COLUMNS_SHOWN = 20, 20
"""So many classes and columns are shown; JSON has them all."""


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
    """Set naive Bayes beside other methods, or tell two models apart.

    Of rows: Gaussian discriminant analysis, averaged one-dependence estimators (A1DE), logistic regression and, for
    text, a linear SVM: how often each is right, whether its probabilities mean something, how long it takes, and how
    all that grows with the number of rows. A family by hand is for naive Bayes; a column that is left out is left out
    everywhere.

    Of two model files: the drift, or what moved from the first to the second. It is in their counts, and no rows are
    read. How far each column moved is told in bits, over all rows and in the mean within classes, each beside the most
    that chance explains; then what moved in it. All options but --format are for rows.

    Example: candide compare titanic.csv --label survived -o curves.svg

    Example: candide compare monday.candide tuesday.candide
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
    from candide.evaluation.drift import Drift

    if format is Shape.json:
        from candide.cli.tables import print_json

        print_json(found.to_dict() if isinstance(found, Drift) else {"output": output, **found.to_dict()})
        return
    if isinstance(found, Drift):
        show_drift(found)
    else:
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


def show_drift(found: Any) -> None:
    """The classes, the columns that moved with what moved in them, and the names of those that did not."""
    from candide.cli.cards import short_name
    from candide.cli.tables import heading, notes, show_table

    print(visible(found.title))
    heading("Classes")
    header, *lines = found.class_table()
    show_table(header, lines[:CLASSES_SHOWN], right=range(1, len(header)))
    if len(lines) > CLASSES_SHOWN:
        print(f"and {len(lines) - CLASSES_SHOWN:,} more, which --format json tells of")
    print(found.class_sentence)
    heading("Columns that moved, the farthest first" if found.moved else "Columns")
    header, *lines = found.table()
    lines = [(short_name(name), *cells) for name, *cells in lines]
    if lines:
        show_table(header, lines[:COLUMNS_SHOWN], right=(1, 2, 3, 4), flexible=5)
        if len(lines) > COLUMNS_SHOWN:
            print(f"and {len(lines) - COLUMNS_SHOWN:,} more, which --format json tells of")
        print("bits: from 0, nothing moved, to 1, nothing is as it was; within: within classes")
        print("chance: the most that chance explains")
    if found.still:
        print(visible(found.still))
    if found.notes:
        print()
        notes(found.notes)
