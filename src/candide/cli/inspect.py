"""candide inspect"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from candide.cli.options import ModelPath, Shape, ShapeOption
from candide.data.visible import visible

ROWS_NAMED = 10


def inspect(
    model: ModelPath,
    knows: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="Rows with labels: tell which are in the model (see fit --ledger)."),
    ] = None,
    format: ShapeOption = Shape.table,
) -> None:
    """Show what a model has learned.

    Its card: classes, how well left-out rows fared, columns with their families and what each tells about the class,
    what columns hold (missing and different values, quantiles), what values and words look like in each class, and what
    was learned. With --knows, only which rows it has learned.

    Example: candide inspect titanic.candide
    """
    from candide.cli.running import verb

    card = verb("inspect")(model, knows=knows)
    if format is Shape.json:
        from candide.cli.tables import print_json

        print_json({"model": model, **card})
        return
    if card["knows"] is None:
        show_card(card, model)
    else:
        print(known(**card["knows"]))


def known(rows: int, known: int, unknown: list[int]) -> str:
    """Which rows are in the model.

    >>> known(3, 3, []), known(3, 1, [2, 3])
    ('all 3 rows are in the model', '1 of 3 rows are in the model; not in it: row 2, 3')
    """
    if not unknown:
        return f"all {rows:,} rows are in the model"
    named = ", ".join(f"{row:,}" for row in unknown[:ROWS_NAMED])
    more = f" and {len(unknown) - ROWS_NAMED:,} more" if len(unknown) > ROWS_NAMED else ""
    return f"{known:,} of {rows:,} rows are in the model; not in it: row {named}{more}"


def show_card(card: dict[str, Any], model: str) -> None:
    """The card, part by part."""
    from candide.cli.cards import (
        model_in_a_line,
        show_calibration,
        show_class_priors,
        show_decisions,
        show_expected,
        show_holdings,
        show_layer,
        show_pairs,
        show_quality,
        show_values,
        show_warnings,
    )
    from candide.cli.tables import heading, show_table

    print(visible(model_in_a_line(card)))
    show_class_priors(card)
    show_quality(card, model)
    show_decisions(card)
    show_pairs(card)
    show_layer(card)
    show_holdings(card)
    show_warnings(card)
    show_calibration(card)
    show_expected(card)
    show_values(card)
    heading("Options and origin")
    rows = [(name, option_value(value)) for name, value in card["options"].items() if value not in (None, False)]
    show_table(("", ""), [*rows, *origin(card["provenance"])], flexible=1)


def origin(provenance: dict[str, Any]) -> list[tuple[str, str]]:
    """What was learned, when, and what was done since."""
    from candide.cli.cards import listed_sources

    rows = []
    if provenance.get("sources"):
        rows.append(("learned from", f"{provenance['rows']:,} rows of {listed_sources(provenance['sources'])}"))
    if "created" in provenance:
        rows.append(("created", f"{provenance['created'][:19].replace('T', ' ')} UTC"))
    for event in provenance.get("events", []):
        told = f"{event['rows']:,} rows of {listed_sources(event['sources'])}, " if "rows" in event else ""
        rows.append((event["verb"], f"{told}{event['when'][:10]}"))
    return rows


def option_value(value: Any) -> str:
    """An option's value in words."""
    if isinstance(value, dict):
        return ", ".join(f"{name}={one}" for name, one in value.items())
    return str(value)
