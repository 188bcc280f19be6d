"""candide predict"""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated, Any

import typer

from candide.command_line import options
from candide.command_line.options import Data, Force, ModelPath, Reading, reads
from candide.command_line.screen import rows_out
from candide.visible import visible


class Written(StrEnum):
    """How rows are written; json means one object a line."""

    csv = "csv"
    tsv = "tsv"
    jsonl = "jsonl"
    json = "json"
    parquet = "parquet"


@reads
def predict(
    model: ModelPath,
    data: Data,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Where rows go; else standard output.")
    ] = None,
    confidence: Annotated[
        float,
        typer.Option(metavar="PROBABILITY", help="Decide 'unsure' where the probability is below this."),
    ] = 0.0,
    rarity: Annotated[
        float,
        typer.Option(metavar="SHARE", help="Decide 'unfamiliar' where so small a share of learned rows is as strange."),
    ] = 0.01,
    probabilities: Annotated[bool, typer.Option("--probabilities", help="Add the probability of every class.")] = False,
    format: Annotated[
        Written | None,
        typer.Option("--format", help="How rows are written: by the output's name, else csv. json is jsonl."),
    ] = None,
    *,
    reading: Reading,
    force: Force = False,
) -> None:
    """Answer rows, with a probability and a decision.

    Every row comes back as it was, followed by label, probability and decision: in order, and as it comes, so that
    there may be any number of them.

    Example: candide predict titanic.candide new.csv -o answers.csv
    """
    from candide.command_line.progress import watch
    from candide.command_line.running import verb

    to_screen = output in (None, "-")
    predicted = verb("predict")(
        model,
        options.one_or_all(data),
        rows_out() if to_screen else output,
        confidence=confidence,
        rarity=rarity,
        probabilities=probabilities,
        output_format={"json": "jsonl"}.get(format.value, format.value) if format else None,
        force=force,
        **({} if to_screen and sys.stdout.isatty() else {"watch": watch}),
        **reading,
    )
    if not to_screen:
        summed_up(predicted, output, format is Written.json)


def summed_up(predicted: Any, output: str | None, as_json: bool) -> None:
    """How many rows got which decision."""
    from candide.command_line.showing import print_json

    if as_json:
        print_json({"output": output, "rows": predicted.rows, "decisions": predicted.decisions})
        return
    listed = list(predicted.decisions.items())
    said = "; ".join(f"{name}: {count:,}" for name, count in listed[:8]) + ("; ..." if len(listed) > 8 else "")
    print(visible(f"{predicted.rows:,} rows written to {output} ({said})"))
