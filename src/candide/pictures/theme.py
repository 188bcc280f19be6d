"""How every picture looks: clean, legible, readable by the colour-blind, in the light and in the dark.

Text, axes and grid are drawn in one ink, which an SVG leaves to its surroundings: `currentColor`. A page that shows the
picture inline gives it the colour of its own text; a file of its own turns light where the reader's screen is dark.
Text stays text, the background is transparent, and the same figure always gives the same bytes.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from io import BytesIO
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

from candide.errors import OptionRefused, suggestion
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

FONTS = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif"
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
    with DRAWING, matplotlib.rc_context(STYLE):
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
    drawn = with_fonts(with_own_names(in_current_colour(buffer.getvalue().decode())))
    return only_the_element(drawn) if inline else with_colour_scheme(drawn)


def as_png(figure: Figure) -> bytes:
    """The figure as PNG, on white, since dots cannot change their colour."""
    buffer = BytesIO()
    with styled():
        figure.savefig(buffer, format="png", dpi=DOTS_PER_INCH, facecolor=PAPER, metadata={"Software": None})
    return buffer.getvalue()


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
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
        raise OptionRefused(
            f"'{os.fspath(path)}' names no kind of picture that is drawn here. {suggestion(ending, ENDINGS)}"
        )
    return ending


def matplotlib_or_advice() -> Any:
    """Matplotlib, or a sentence that says how to get it."""
    try:
        return import_module("matplotlib")
    except ImportError:
        raise OptionRefused(
            "Pictures are drawn by matplotlib, which is not installed: pip install 'candide[plot]'"
        ) from None


def in_current_colour(svg: str) -> str:
    """The ink left to whoever shows the picture.

    >>> in_current_colour('<path style="stroke: #1b1f23"/>')
    '<path style="stroke: currentColor"/>'
    """
    return svg.replace(INK, "currentColor")


def with_fonts(svg: str) -> str:
    """Text in the reader's own font, and not in the one that its room was measured with."""
    return re.sub(r"(font(?:-family)?:[^;\"]*?)'DejaVu Sans'(?:, [^;\"]*)?(?=[;\"])", rf"\1{FONTS}", svg)


def with_own_names(svg: str) -> str:
    """Only the names that are referred to, made unlike those of any other picture on a page."""
    used = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', svg))
    prefix = f"p{hashlib.sha256(svg.encode()).hexdigest()[:8]}-"

    def renamed(found: re.Match[str]) -> str:
        return f' id="{prefix}{found[1]}"' if found[1] in used else ""

    svg = re.sub(r' id="([^"]+)"', renamed, svg)
    return re.sub(r'(url\(#|href="#)', rf"\g<1>{prefix}", svg)


def only_the_element(svg: str) -> str:
    """Without what comes before it in a file; it shrinks with its surroundings, and grows no larger than drawn."""
    element = svg[svg.index("<svg") :]
    width = re.search(r'width="([\d.]+pt)" height="[\d.]+pt"', element)
    assert width is not None
    return element.replace(width[0], f'style="width: 100%; max-width: {width[1]}; height: auto"', 1).strip()


def with_colour_scheme(svg: str) -> str:
    """A file of its own: ink by the reader's colour scheme."""
    scheme = (
        f"<style>svg {{ color: {INK} }} @media (prefers-color-scheme: dark) {{ svg {{ color: {DARK_INK} }} }}</style>"
    )
    end = svg.index(">", svg.index("<svg")) + 1
    return f"{svg[:end]}\n {scheme}{svg[end:]}"
