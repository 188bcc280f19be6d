"""Pieces of HTML that every section is made of. Whatever comes from a user is made safe here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from candide.show.explanations.html import safe
from candide.show.pictures.theme import as_svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def section(name: str, title: str, *parts: str) -> str:
    """A part of the page under its heading."""
    inside = "\n".join(part for part in parts if part)
    heading = f'<h2 id="{name}-title">{safe(title)}</h2>'
    return f'<section id="{name}" aria-labelledby="{name}-title">\n{heading}\n{inside}\n</section>'


def paragraph(text: str, kind: str = "") -> str:
    """A sentence."""
    return f'<p class="{kind}">{safe(text)}</p>' if kind else f"<p>{safe(text)}</p>"


def picture(name: str, figure: Figure, alternative: str, caption: str = "", wide: bool = False) -> str:
    """A drawing with words for those who cannot see it."""
    beneath = f"<figcaption>{safe(caption)}</figcaption>" if caption else ""
    kind = "picture wide" if wide else "picture"
    focus = ' tabindex="0"' if wide else ""
    return (
        f'<figure id="{name}" class="{kind}"{focus}><div role="img" aria-label="{safe(alternative)}">'
        f"{as_svg(figure, inline=True)}</div>{beneath}</figure>"
    )


def html_table(header: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """A table that scrolls by itself where the screen is narrow; columns in `numbers` are aligned to the right."""
    kinds = [' class="n"' if index in numbers else "" for index in range(len(header))]
    heads = "".join(f'<th scope="col"{kind}>{safe(name)}</th>' for name, kind in zip(header, kinds, strict=True))
    lines = (
        "<tr>" + "".join(f"<td{kind}>{safe(cell)}</td>" for cell, kind in zip(row, kinds, strict=True)) + "</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """A few numbers to see first."""
    cards = "".join(f"<div><dt>{safe(name)}</dt><dd>{safe(value)}</dd></div>" for name, value in pairs)
    return f'<dl class="facts">{cards}</dl>'


def details(title: str, inside: str) -> str:
    """Something to be opened by those who want it."""
    return f"<details><summary>{safe(title)}</summary>{inside}</details>"
