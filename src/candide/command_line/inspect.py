"""candide inspect"""

from __future__ import annotations

from typing import Any

from candide.command_line.options import ModelPath, Shape, ShapeOption


def inspect(model: ModelPath, format: ShapeOption = Shape.table) -> None:
    """Show what a model has learned.

    Its card: classes, columns with their families and reasons, and what the values of each look like.

    Example: candide inspect titanic.candide
    """
    from candide.command_line.running import verb

    card = verb("inspect")(model)
    if format is Shape.json:
        from candide.command_line.showing import print_json

        print_json({"model": model, **card})
        return
    show(card)


def show(card: dict[str, Any]) -> None:
    """The card, part by part."""
    from candide.command_line.cards import show_classes, show_decisions, show_values, summed_up
    from candide.command_line.showing import heading, show_table

    print(summed_up(card))
    show_classes(card)
    show_decisions(card)
    show_values(card)
    heading("Options and origin")
    rows = [(name, said(value)) for name, value in card["options"].items() if value not in (None, False)]
    origin = card["provenance"]
    rows += [("learned from", ", ".join(origin.get("sources", [])))] if origin.get("sources") else []
    rows += [("created", origin["created"].replace("T", " "))] if "created" in origin else []
    for event in origin.get("events", []):
        rows.append((event["verb"], f"{event['rows']:,} rows of {', '.join(event['sources'])}, {event['when'][:10]}"))
    show_table(("", ""), rows, flexible=1)


def said(value: Any) -> str:
    """An option's value in words."""
    if isinstance(value, dict):
        return ", ".join(f"{name}={one}" for name, one in value.items())
    return str(value)
