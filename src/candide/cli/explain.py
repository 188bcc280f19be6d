"""candide explain"""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated, Any

import typer

from candide.cli import options
from candide.cli.groups import with_groups
from candide.cli.options import Force, ModelPath, OutputFile, ReadingOptions, SomeData, Strict, TextOption
from candide.cli.screen import as_is
from candide.data.visible import visible


class Rendered(StrEnum):
    """How explanations are shown: a table for people, json for programs, or a page for a browser."""

    table = "table"
    json = "json"
    html = "html"


@with_groups
def explain(
    model: ModelPath,
    data: SomeData = None,
    rows: Annotated[
        list[str] | None,
        typer.Option("--rows", "-r", metavar="NUMBERS", help="Which rows, from 1: 3,7. The first unless given."),
    ] = None,
    row: Annotated[list[str] | None, typer.Option("--row", hidden=True)] = None,
    text: TextOption = None,
    worked: Annotated[
        bool, typer.Option("--worked", help="Bayes' rule step by step, with the counts as fractions.")
    ] = False,
    output: OutputFile = None,
    *,
    reading: ReadingOptions,
    strict: Strict = False,
    force: Force = False,
    format: Annotated[
        Rendered | None,
        typer.Option("--format", help="A table for people, json for programs, html for a browser; else by the output."),
    ] = None,
) -> None:
    """Say why a row gets its answer.

    The prior and what each column or word of a text adds, in log odds that sum up to the answer; what was silent, and
    why; and what would have to be gone for another answer. With --worked, the whole calculation as a teacher writes it.

    Example: candide explain titanic.candide new.csv --rows 3
    """
    from candide.cli.running import verb
    from candide.cli.tables import notes

    shape = format or by_name(output)
    if worked and shape is not Rendered.table:
        raise typer.BadParameter(f"--worked is written as text. Leave out --format {shape.value}.")
    if output not in (None, "-"):
        from candide.store.overwriting import kind_written, refuse_overwriting

        refuse_overwriting(output, kind_written(output, shape.value), [model, data], force)
    found = verb("explain")(
        model,
        options.one_or_all(data) if data else None,
        numbers_of([*(rows or ()), *(row or ())]) or (1,),
        strict=strict,
        text=text or None,
        **reading.for_verb(),
    )
    titled = [(title_of(one.row, len(found), bool(text)), one) for one in found]
    notes(found[0].notes, sys.stderr)
    print_or_write(rendered(titled, shape, worked, output), output)


def numbers_of(given: list[str]) -> tuple[int, ...]:
    """Numbers of rows, in one word or several.

    >>> numbers_of(["3,7", "1"])
    (3, 7, 1)
    """
    words = [word.strip() for one in given for word in one.split(",")]
    for word in words:
        if not word.lstrip("-").isdecimal():
            raise typer.BadParameter(f"--rows takes numbers such as 3,7, not {word!r}.")
    return tuple(map(int, words))


def title_of(row: int, rows: int, is_text: bool) -> str:
    """What an explanation is of.

    >>> title_of(3, 2, False), title_of(1, 1, True), title_of(2, 2, True)
    ('Row 3', 'The text', 'Text 2')
    """
    return f"Row {row:,}" if not is_text else "The text" if rows == 1 else f"Text {row:,}"


def by_name(output: str | None) -> Rendered:
    """The format that a file's name asks for.

    >>> by_name("why.html").value, by_name(None).value
    ('html', 'table')
    """
    ending = (output or "").lower().rpartition(".")[2]
    return {"html": Rendered.html, "htm": Rendered.html, "json": Rendered.json}.get(ending, Rendered.table)


def rendered(titled: list[tuple[str, Any]], shape: Rendered, worked: bool, output: str | None) -> str:
    """All explanations in one text."""
    if shape is Rendered.json:
        from candide.cli.tables import as_json

        return as_json([one.to_dict() for _, one in titled])
    if shape is Rendered.html:
        from candide.show.explanations.html import explanations_page

        return explanations_page([(f"{title}: {one.label or 'label'} is", one.explanation) for title, one in titled])
    from candide.show.explanations.terminal import lines, printable

    if worked:
        parts = [
            f"{title}: {printable(one.label or 'label', 40)}\n\n{one.explanation.worked()}" for title, one in titled
        ]
        return "\n\n".join(parts)
    colour = output in (None, "-") and may_colour()
    return "\n\n".join("\n".join(lines(one.explanation, title, one.label or "label", colour)) for title, one in titled)


def may_colour() -> bool:
    """Whether standard output is a terminal that should be coloured."""
    import os

    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def print_or_write(text: str, output: str | None) -> None:
    """Print a text, or write it to a file that is whole or not there."""
    if output in (None, "-"):
        print(text, file=as_is(sys.stdout))
        return
    from candide.api.verbs.writing import write_text
    write_text(text + "\n", str(output))
    print(f"Written to {visible(str(output))}")
