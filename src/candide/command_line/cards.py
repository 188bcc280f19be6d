"""The card of a model, as people read it."""

from __future__ import annotations

from typing import Any

from candide.command_line.showing import heading, percent, show_table

CLASSES_BESIDE = 4
"""Up to so many classes are shown beside each other."""

CLASSES_SHOWN = 20


def summed_up(card: dict[str, Any]) -> str:
    """One line about a model."""
    columns = sum(1 for column in card["columns"] if column["family"])
    return (
        f"{card['rows']:,} rows: {card['label'] or 'the label'}, one of {len(card['classes']):,} classes, from "
        f"{columns:,} column{'s' if columns != 1 else ''}"
    )


def show_decisions(card: dict[str, Any]) -> None:
    """Each column with its family and the reason."""
    heading("Columns")
    rows = [(c["column"], c["family"] or "left out", c["reason"]) for c in card["columns"]]
    show_table(("column", "family", "because"), rows, flexible=2)


def show_classes(card: dict[str, Any]) -> None:
    """Each class with its rows and prior, the commonest first where there are many."""
    heading("Classes")
    classes = card["classes"]
    if len(classes) > CLASSES_SHOWN:
        classes = sorted(classes, key=lambda one: -one["rows"])[:CLASSES_SHOWN]
    rows = [(str(one["class"]), f"{one['rows']:,}", percent(one["prior"])) for one in classes]
    show_table((str(card["label"] or "class"), "rows", "prior"), rows, right=(1, 2))
    if len(classes) < len(card["classes"]):
        print(f"and {len(card['classes']) - len(classes):,} more")


def show_values(card: dict[str, Any]) -> None:
    """What the values of each column look like in each class."""
    speaking = [column for column in card["columns"] if column["values"]]
    if not speaking:
        return
    heading("What each class looks like (mean ± deviation, commonest values, telling words)")
    names = [str(one["class"]) for one in card["classes"]]
    if len(names) <= CLASSES_BESIDE:
        rows = [(c["column"], *(c["values"].get(name, "") for name in names)) for c in speaking]
        show_table(("column", *names), rows)
        return
    kept = [str(one["class"]) for one in sorted(card["classes"], key=lambda one: -one["rows"])[:CLASSES_SHOWN]]
    for column in speaking:
        rows = [(name, column["values"].get(name, "")) for name in kept]
        show_table((column["column"], ""), rows)
        print()
