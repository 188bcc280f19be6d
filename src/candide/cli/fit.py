"""candide fit"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from candide.cli import options
from candide.cli.groups import with_groups
from candide.cli.options import Data, Force, LabelToLearn, ModelOptions, ReadingOptions, SavedModel, Shape, ShapeOption
from candide.data.visible import visible


@with_groups
def fit(
    data: Data,
    label: LabelToLearn = None,
    output: Annotated[str | None, SavedModel] = None,
    *,
    asked: ModelOptions,
    ledger: Annotated[
        bool,
        typer.Option(
            "--ledger",
            help="Note a hash of every row: forget then refuses each row that was never learned, and inspect --knows "
            "tells which rows are in the model.",
        ),
    ] = False,
    unlabelled: Annotated[
        str,
        typer.Option(
            metavar="refuse|em",
            help="Rows whose label is missing: refuse them, or let them take part by EM as far as labelled rows gain.",
        ),
    ] = "refuse",
    like: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Choose everything as this model did, so that both can be merged."),
    ] = None,
    reading: ReadingOptions,
    force: Force = False,
    format: ShapeOption = Shape.table,
) -> None:
    """Learn to tell the classes of a column from all others.

    Families and smoothing are chosen by what all rows leave behind, text recipes from 50,000 rows of all over; then
    probabilities are calibrated, and rows judged by choices made without them tell how good it all is.

    Example: candide fit titanic.csv --label survived -o titanic.candide
    """
    from candide.cli.progress_bar import watch
    from candide.cli.running import verb

    fitted = verb("fit")(
        options.one_or_all(data),
        label,
        output,
        ledger=ledger,
        unlabelled=unlabelled,
        like=like,
        force=force,
        watch=watch,
        **asked.for_verb(),
        **reading.for_verb(),
    )
    card = verb("inspect")(fitted)
    if format is Shape.json:
        from candide.cli.tables import print_json

        print_json({"output": output, **card})
        return
    show_fit(card, output, data)


def show_fit(card: dict[str, Any], output: str | None, data: list[str]) -> None:
    """What was decided and why, what was learned, what to try next."""
    from candide.cli.cards import (
        how_good,
        model_in_a_line,
        show_class_priors,
        show_decisions,
        show_layer,
        show_pairs,
        show_warnings,
    )
    from candide.cli.tables import notes, shell_command, try_next

    print(visible(model_in_a_line(card)))
    if card["quality"]:
        print(how_good(card["quality"]))
    show_decisions(card)
    show_pairs(card)
    show_layer(card)
    show_class_priors(card)
    show_warnings(card)
    if card["notes"]:
        print()
        notes(card["notes"])
    if output is None:
        try_next(
            (shell_command("fit", *data, "--label", str(card["label"]), "-o", "model.candide"), "to keep the model")
        )
        return
    print(f"\nSaved as {visible(output)}")
    try_next(
        (shell_command("evaluate", output, "test.csv"), "how good is it on new rows"),
        (shell_command("predict", output, "new.csv"), "labels, probabilities, decisions"),
        (shell_command("explain", output, "new.csv"), "why a row gets its answer"),
        (shell_command("inspect", output), "what was learned about each column"),
    )
