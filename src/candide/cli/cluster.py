"""candide cluster"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from candide.cli import options
from candide.cli.groups import with_groups
from candide.cli.options import (
    Data,
    FamilyOption,
    Force,
    ReadingOptions,
    RecipeOption,
    SavedModel,
    Seed,
    Shape,
    ShapeOption,
)
from candide.data.visible import visible


@with_groups
def cluster(
    data: Data,
    groups: Annotated[int, typer.Option("--groups", "-g", metavar="NUMBER", help="How many groups to find.")],
    output: Annotated[str | None, SavedModel] = None,
    *,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="Where to write the rows with the group of each.")
    ] = None,
    seed: Seed = 0,
    starts: Annotated[int, typer.Option(metavar="NUMBER", help="How many starts to choose the best of.")] = 8,
    family: FamilyOption = None,
    text: RecipeOption = None,
    reading: ReadingOptions,
    force: Force = False,
    format: ShapeOption = Shape.table,
) -> None:
    """Find groups among rows that have no labels, and tell what is typical of each.

    Rows are a mixture of so many classes that nobody has named: EM finds those under which the rows are most probable,
    from several starts. The model's classes are the groups, and every other command takes it like any model.

    Example: candide cluster titanic.csv --groups 2 -o groups.candide --out grouped.csv
    """
    from candide.cli.progress_bar import watch
    from candide.cli.running import verb
    from candide.cli.text_recipe import text_of

    fitted = verb("cluster")(
        options.one_or_all(data),
        groups,
        output,
        out=out,
        seed=seed or 0,
        starts=starts,
        families=options.families_of(family),
        text=text_of(text),
        force=force,
        watch=watch,
        **reading.for_verb(),
    )
    card = verb("inspect")(fitted)
    if format is Shape.json:
        from candide.cli.tables import print_json

        print_json({"output": output, "out": out, **card})
        return
    show_groups(card, output, out)


def show_groups(card: dict[str, Any], output: str | None, out: str | None) -> None:
    """How large the groups are, what is typical of each, and how they were found."""
    from candide.cli.cards import show_class_priors, show_values, show_warnings
    from candide.cli.tables import heading, notes, shell_command, show_table, try_next

    print(visible(f"{card['rows']:,.0f} rows in {len(card['classes']):,} groups"))
    show_class_priors({**card, "classes": [{**one, "rows": round(one["rows"])} for one in card["classes"]]})
    show_values(card)
    show_warnings(card)
    heading("Starts")
    found = card["provenance"]["groups"]
    show_table(
        ("start", "log likelihood of a row after its first steps"),
        [(f"{number}", f"{mean:,.3f}") for number, mean in enumerate(found["starts"], start=1)],
        right=(0, 1),
    )
    print()
    notes(card["notes"])
    if out is not None:
        print(f"\nRows with their groups written to {visible(out)}")
    if output is not None:
        print(f"\nSaved as {visible(output)}")
        try_next(
            (shell_command("predict", output, "new.csv"), "the groups of new rows"),
            (shell_command("explain", output, "new.csv"), "why a row is in its group"),
            (shell_command("report", output, "-o", "groups.html"), "pictures of the groups"),
        )
