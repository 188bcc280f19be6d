"""How --text is typed: parts of a text recipe, for every column of text or for one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer

EXAMPLE = "ngrams=2"
TRUTHS = {"yes": True, "true": True, "no": False, "false": False}


def text_of(given: Sequence[str] | None) -> Any:
    """--text KEY=VALUE as often as wanted, or COLUMN.KEY=VALUE: what `TextOptions` takes; None where none is given.

    >>> text_of(["ngrams=2", "idf=yes"]).ngrams, sorted(text_of(["note.stop_words=a,the"]))
    (2, ['note'])
    """
    if not given:
        return None
    from candide.cli.options import pairs
    from candide.families.words.options import TextOptions

    by_column: dict[str, dict[str, Any]] = {}
    for name, value in pairs(given, "--text", EXAMPLE).items():
        column, _, key = name.rpartition(".")
        refuse_no_key(key, [*TextOptions.__dataclass_fields__])
        by_column.setdefault(column, {})[key] = recipe_value(key, value)
    if len(by_column) > 1 and "" in by_column:
        raise typer.BadParameter("--text speaks of every text (KEY=VALUE), or of columns (COLUMN.KEY=VALUE); not both.")
    recipes = {column: TextOptions(**parts) for column, parts in by_column.items()}
    return recipes.get("", recipes)


def refuse_no_key(key: str, known: list[str]) -> None:
    """Raise where a recipe has no such part."""
    from candide.data.errors import suggestion

    if key not in known:
        raise typer.BadParameter(f"--text knows no '{key}'. {suggestion(key, known)}")


def recipe_value(key: str, text: str) -> Any:
    """A number, yes or no, or a word; of stop words a list, where it is no number."""
    if text.isdecimal():
        return int(text)
    if key == "stop_words":
        return tuple(word.strip() for word in text.split(","))
    return TRUTHS.get(text.lower(), text)
