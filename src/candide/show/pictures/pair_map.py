"""What two columns say together: a map of their values, the fuller the more a place says for one class over another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from candide.data.arrays import FloatArray
from candide.families.pairs.column_bins import ColumnBins
from candide.families.pairs.pair_look import PairLook
from candide.show.pictures.confusion import between
from candide.show.pictures.lettering import apart, lettered
from candide.show.pictures.subject import Subject
from candide.show.pictures.theme import INK, PALETTE, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PALEST, FULLEST = 0.05, 0.7
"""How full a place is: never so full that the ink of a light or a dark page could not be read on it."""
LONGEST_BIN = 16
WIDE, HIGH = 0.62, 0.36
"""Inches that a place takes."""


def pair_map(subject: Subject, look: PairLook, first: str | None = None, second: str | None = None) -> Figure:
    """One class set against another, in nats beyond what each column says; `first` and `second` name the classes."""
    one, other = subject.pair(first, second)
    lead, rows = look.evidence[:, :, one] - look.evidence[:, :, other], look.counts.sum(axis=2)
    (down, along), (downwards, sideways) = rows.shape, look.parts
    figure = new_figure(min(2.4 + WIDE * along, 8.2), min(1.6 + HIGH * down, 8.0))
    with styled():
        axes = figure.subplots()
        draw_places(axes, np.where(rows > 0, lead, np.nan), (PALETTE[0], PALETTE[1]))
        axes.set_xticks(np.arange(along) + 0.5, bin_names(sideways))
        axes.set_yticks(np.arange(down) + 0.5, bin_names(downwards))
        axes.tick_params(axis="x", length=0, rotation=30 if along > 3 else 0)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel(lettered(sideways.column, 40))
        axes.set_ylabel(lettered(downwards.column, 30))
        names = (lettered(subject.classes[label], 20) for label in (one, other))
        axes.set_title("Nats for {} rather than {}".format(*names), loc="left", x=0.0)
    return figure


def bin_names(bins: ColumnBins) -> list[str]:
    """The bins of a column, short and told apart."""
    return apart([bins.shown(place) for place in range(bins.bins)], LONGEST_BIN)


def draw_places(axes: Any, lead: FloatArray, colours: tuple[str, str]) -> None:
    """The places with what each says in them; nothing where no row is."""
    from matplotlib.patches import Rectangle

    down, along = lead.shape
    largest = max(float(np.nanmax(np.abs(lead), initial=0.0)), 1e-9)
    axes.set_xlim(0, along)
    axes.set_ylim(down, 0)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.plot(*between(down, along), color=INK, alpha=0.25, linewidth=0.6, clip_on=False)
    for (row, column), said in np.ndenumerate(lead):
        if np.isnan(said):
            continue
        depth = round(PALEST + (FULLEST - PALEST) * abs(float(said)) / largest, 2)
        colour = colours[0] if said > 0 else colours[1]
        axes.add_patch(Rectangle((column, row), 1, 1, facecolor=colour, alpha=depth, linewidth=0))
        written = f"{said:+.1f}".replace("-", "−")
        axes.text(column + 0.5, row + 0.5, written, ha="center", va="center", color=INK, fontsize=8)
