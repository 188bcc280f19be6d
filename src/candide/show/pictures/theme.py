"""How every picture looks: clean, legible, readable by the colour-blind, in the light and in the dark.

Text, axes and grid are drawn in one ink, which an SVG leaves to its surroundings: `currentColor`. A page that shows the
picture inline gives it the colour of its own text; a file of its own turns light where the reader's screen is dark.
Text stays text, the background is transparent, and the same figure always gives the same bytes.
"""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from io import BytesIO
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

from candide.data.advice import Install
from candide.data.errors import Location, OptionRefused
from candide.store.atomic import replace_file
from candide.store.refusals import not_written

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK = "#1b1f23"
"""The colour of text and axes where nobody says otherwise. No line of data may have it."""

DARK_INK = "#e6e6e6"
PAPER = "#ffffff"
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""The colours of Okabe & Ito (2008), which people with any kind of colour vision can tell apart, on white and black."""

MARKERS = ("o", "s", "^", "D", "v", "P")
"""A second way to tell lines apart."""

FONTS = "system-ui, sans-serif"
JOINS = "stroke-linejoin: round; stroke-linecap: butt"
FAINT = 0.18
DOTS_PER_INCH = 160
ENDINGS = ("svg", "png")
DRAWING = RLock()

STYLE: dict[str, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 10.0,
    "text.color": INK,
    "text.parse_math": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlesize": 11.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 10.0,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "grid.color": INK,
    "grid.alpha": FAINT,
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "lines.linewidth": 1.8,
    "lines.markersize": 5.0,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "candide",
}


@contextmanager
def styled() -> Iterator[None]:
    """A while in which matplotlib draws in this style; its settings are as before afterwards. One thread at a time."""
    matplotlib = matplotlib_or_advice()
    with DRAWING, matplotlib.rc_context(STYLE), warnings.catch_warnings():
        for letters in ("Glyph .* missing from", "Matplotlib currently does not support .* natively"):
            warnings.filterwarnings("ignore", letters)  # the reader's own fonts have what the drawing font lacks
        yield


def new_figure(width: float = 7.0, height: float = 4.0) -> Figure:
    """An empty figure of so many inches, laid out so that nothing overlaps. Draw on it while `styled()`."""
    matplotlib_or_advice()
    from matplotlib.figure import Figure

    with styled():
        return Figure(figsize=(width, height), layout="constrained")


def as_svg(figure: Figure, inline: bool = False) -> str:
    """The figure as SVG: a file of its own, or `inline` to be put into a page, whose colour of text it takes."""
    buffer = BytesIO()
    with styled():
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    drawn = tidied_svg(buffer.getvalue().decode())
    return inline_element(drawn) if inline else own_file(drawn)


def as_png(figure: Figure) -> bytes:
    """The figure as PNG, on white, since dots cannot change their colour."""
    buffer = BytesIO()
    with styled():
        figure.savefig(buffer, format="png", dpi=DOTS_PER_INCH, facecolor=PAPER, metadata={"Software": None})
    return buffer.getvalue()


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write the figure to a file whose name ends in .svg or .png: whole, or not at all."""
    ending = ending_of(path)
    content = as_svg(figure).encode() if ending == "svg" else as_png(figure)
    try:
        replace_file(path, [content])
    except OSError as problem:
        raise not_written(f"'{os.fspath(path)}'", problem) from problem


def ending_of(path: str | os.PathLike[str]) -> str:
    """The kind of picture a path names.

    >>> ending_of("curves.SVG")
    'svg'
    """
    ending = Path(path).suffix.lower().removeprefix(".")
    if ending not in ENDINGS:
        raise OptionRefused.of_name(
            f"'{os.fspath(path)}' names no kind of picture that is drawn here.",
            ending,
            ENDINGS,
            where=Location(os.fspath(path)),
        )
    return ending


def matplotlib_or_advice() -> Any:
    """Matplotlib, or a sentence that says how to get it."""
    try:
        return import_module("matplotlib")
    except ImportError:
        raise OptionRefused(
            "Pictures are drawn by matplotlib, which is not installed:", advice=Install("candide[plot]")
        ) from None


def tidied_svg(svg: str) -> str:
    """What matplotlib wrote, shorter, and fit to stand beside other pictures on a page.

    Only tags are changed, so whatever text says, it stays as it is.
    """
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<style[^>]*>[^<]*</style>", "", svg)
    used = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', svg))
    prefix = f"p{hashlib.sha256(svg.encode()).hexdigest()[:8]}-"
    svg = re.sub(r"<[^<>]+>", lambda tag: tidied_tag(tag[0], used, prefix), svg)
    return re.sub(r">\s+<", ">\n<", svg)


def tidied_tag(tag: str, used: set[str], prefix: str) -> str:
    """A tag with the reader's font, ink left open, short numbers, and only the names that are referred to.

    >>> tidied_tag('<path id="patch_1" d="M 0.123456 2 \\nL 3.5 4" style="stroke: #1b1f23"/>', set(), "p-")
    '<path d="M 0.12 2 L 3.5 4" style="stroke: currentColor"/>'
    """

    def named(found: re.Match[str]) -> str:
        return f' id="{prefix}{found[1]}"' if found[1] in used else ""

    tag = tag.replace(INK, "currentColor")
    tag = re.sub(r"(font(?:-family)?:[^;\"]*?)'DejaVu Sans'(?:, [^;\"]*)?(?=[;\"])", rf"\1{FONTS}", tag)
    tag = re.sub(r' id="([^"]+)"', named, tag)
    tag = re.sub(r'(url\(#|href="#)', rf"\g<1>{prefix}", tag)
    tag = re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), tag)
    return re.sub(r"\s+", " ", tag).replace(' "', '"')


def inline_element(svg: str) -> str:
    """The element alone: it shrinks with its surroundings, and grows no larger than drawn."""
    return rooted(svg, lambda width: f"width: 100%; max-width: {width}; height: auto")


def own_file(svg: str) -> str:
    """A file of its own: ink by the reader's colour scheme."""
    scheme = f"svg {{ color: {INK} }} @media (prefers-color-scheme: dark) {{ svg {{ color: {DARK_INK} }} }}"
    element = rooted(svg, lambda width: "")
    end = element.index(">") + 1
    return f'<?xml version="1.0" encoding="utf-8"?>\n{element[:end]}\n<style>{scheme}</style>{element[end:]}\n'


def rooted(svg: str, sized: Callable[[str], str]) -> str:
    """The element from its first tag on, which says how lines join, and how it is sized where `sized` says so."""
    element = svg[svg.index("<svg") :].strip()
    size = re.search(r'width="([\d.]+pt)" height="[\d.]+pt"', element)
    assert size is not None
    style = "; ".join(filter(None, [JOINS, sized(size[1])]))
    return element.replace(size[0], f'style="{style}"' if sized(size[1]) else f'{size[0]} style="{style}"', 1)
