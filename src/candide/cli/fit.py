"""candide fit"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from candide.cli import options
from candide.cli.groups import with_groups
from candide.cli.options import Data, Force, LabelToLearn, ReadingOptions, Shape, ShapeOption
from candide.data.visible import visible


@with_groups
def fit(
    data: Data,
    label: LabelToLearn = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="MODEL", help="Where to save the model (NAME.candide).")
    ] = None,
    family: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=FAMILY",
            help="A family by hand, such as visits=poisson, or name=ignore to leave a column out. May be repeated; "
            "without COLUMN= for all.",
        ),
    ] = None,
    smoothing: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NUMBER|COLUMN=NUMBER",
            help="What is added to every count (Laplace: 1), for all columns or one. May be repeated.",
        ),
    ] = None,
    priors: Annotated[
        str,
        typer.Option(metavar="empirical|uniform|A=0.3,B=0.7", help="How likely each class is."),
    ] = "empirical",
    class_weight: Annotated[
        str | None,
        typer.Option(metavar="balanced|A=2,B=1", help="Factors on the priors, as if a class had more rows, or fewer."),
    ] = None,
    missing: Annotated[
        str,
        typer.Option(metavar="ignore|value", help="Whether a missing category says nothing, or is a value of its own."),
    ] = "ignore",
    text: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE|COLUMN.KEY=VALUE",
            help="How texts are read: ngrams=2, model=complement, weighting=log, stop_words=100, idf=yes and the other "
            "parts of TextOptions. May be repeated; with COLUMN. for one column.",
        ),
    ] = None,
    calibrate: Annotated[
        bool, typer.Option("--calibrate/--no-calibrate", help="Whether to make probabilities mean what they say.")
    ] = True,
    engine: Annotated[str, typer.Option(metavar="NAME", help="What does the work over rows.")] = "local",
    ledger: Annotated[
        bool,
        typer.Option(
            "--ledger",
            help="Note a hash of every row: forget then refuses each row that was never learned, and inspect --knows "
            "tells which rows are in the model.",
        ),
    ] = False,
    plain: Annotated[
        bool,
        typer.Option(
            "--plain",
            help="Choose nothing: families by the look of the values, usual smoothing, no calibration, unless said.",
        ),
    ] = False,
    like: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Choose everything as this model did, so that both can be merged."),
    ] = None,
    *,
    reading: ReadingOptions,
    force: Force = False,
    format: ShapeOption = Shape.table,
) -> None:
    """Learn to tell the classes of a column from all others.

    Families, smoothing and text recipe are chosen by leave-one-out from the first 50,000 rows; then all rows are
    learned, and probabilities are calibrated.

    Example: candide fit titanic.csv --label survived -o titanic.candide
    """
    from candide.cli.progress_bar import watch
    from candide.cli.running import verb
    from candide.cli.text_recipe import text_of

    if plain and any("=" in given for given in [*(family or ()), *(smoothing or ())]):
        raise typer.BadParameter("--plain decides about every column alike: leave it out to speak of single columns.")
    fitted = verb("fit")(
        options.one_or_all(data),
        label,
        output,
        families=options.families_of(family, "guess" if plain else "auto"),
        smoothing=options.smoothing_of(smoothing, "default" if plain else "auto"),
        priors=options.by_class(priors, "--priors"),
        class_weight=None if class_weight is None else options.by_class(class_weight, "--class-weight"),
        missing=missing,
        text=text_of(text),
        calibrate=calibrate and not plain,
        engine=engine,
        ledger=ledger,
        like=like,
        force=force,
        watch=watch,
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
    from candide.cli.cards import how_good, model_in_a_line, show_class_priors, show_decisions, show_warnings
    from candide.cli.tables import notes, shell_command, try_next

    print(visible(model_in_a_line(card)))
    if card["quality"]:
        print(how_good(card["quality"]))
    show_decisions(card)
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
