"""candide predict"""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from candide.cli import options
from candide.cli.groups import with_groups
from candide.cli.options import (
    EngineOptions,
    ModelPath,
    ReadingOptions,
    RowFormat,
    RowsOut,
    SomeData,
    Strict,
    TextOption,
)
from candide.cli.screen import rows_out
from candide.data.visible import visible


@with_groups
def predict(
    model: ModelPath,
    data: SomeData = None,
    *,
    text: TextOption = None,
    rows: RowsOut,
    priors: Annotated[
        str | None,
        typer.Option(
            metavar="empirical|uniform|A=0.3,B=0.7",
            help="How likely each class is where these rows come from; else as learned.",
        ),
    ] = None,
    confidence: Annotated[
        float,
        typer.Option(metavar="PROBABILITY", help="Decide 'unsure' where the probability is below this."),
    ] = 0.0,
    rarity: Annotated[
        float,
        typer.Option(metavar="SHARE", help="Decide 'unfamiliar' where so small a share of learned rows is as strange."),
    ] = 0.01,
    answer: Annotated[
        str | None,
        typer.Option(
            "--answer",
            "--as",
            metavar="NAME",
            help="What the answer is called: NAME, NAME_probability, NAME_decision. Else label, probability and "
            "decision, with _predicted behind a name that the rows use already.",
        ),
    ] = None,
    digits: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|all",
            help="How many significant digits of probabilities are written to csv and tsv: 6, unless given.",
        ),
    ] = None,
    probabilities: Annotated[bool, typer.Option("--probabilities", help="Add the probability of every class.")] = False,
    work: EngineOptions,
    reading: ReadingOptions,
    strict: Strict = False,
) -> None:
    """Answer rows, with a probability and a decision.

    Every row comes back as it was, followed by label, probability and decision: in order, and as it comes, so that
    there may be any number of them. From csv to csv, and from jsonl to jsonl, rows come back byte for byte; from
    parquet to parquet with the same types. On a terminal, what would move its cursor is spelled out.

    Example: candide predict titanic.candide new.csv -o answers.csv

    Example: candide predict spam.candide --text "win a prize now" --text "see you at noon"
    """
    from candide.cli.progress_bar import watch
    from candide.cli.running import verb
    from candide.cli.tables import notes

    predicted = verb("predict")(
        model,
        options.one_or_all(data) if data else None,
        rows_out(rows.format) if rows.to_screen else rows.output,
        text=text or None,
        answer=answer,
        safe=rows.safe,
        digits=int(digits) if digits is not None and digits.isdecimal() else digits,
        priors=options.by_class(priors, "--priors"),
        confidence=confidence,
        rarity=rarity,
        probabilities=probabilities,
        output_format=rows.format.for_verb if rows.format else None,
        strict=strict,
        force=rows.force,
        **({} if rows.to_screen and sys.stdout.isatty() else {"watch": watch}),
        **work.for_verb(),
        **reading.for_verb(),
    )
    notes(predicted.notes, sys.stderr)
    if not rows.to_screen:
        summed_up(predicted, rows.output, rows.format is RowFormat.json)


def summed_up(predicted: Any, output: str | None, as_json: bool) -> None:
    """How many rows got which decision."""
    from candide.cli.tables import print_json

    if as_json:
        found = {"rows": predicted.rows, "decisions": predicted.decisions, "skipped": predicted.skipped}
        print_json({"output": output, **found, "notes": list(predicted.notes)})
        return
    listed = list(predicted.decisions.items())
    said = "; ".join(f"{name}: {count:,}" for name, count in listed[:8]) + ("; ..." if len(listed) > 8 else "")
    print(visible(f"{predicted.rows:,} rows written to {output} ({said})"))
