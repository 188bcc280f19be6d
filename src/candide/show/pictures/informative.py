"""Which features tell most about the class: how many bits each gives away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from candide.families.base.profile import EVENTS
from candide.show.pictures.lettering import apart
from candide.show.pictures.subject import Subject
from candide.show.pictures.theme import PALETTE, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEATURES_DRAWN = 20


def telling(subject: Subject) -> Figure:
    """A bar for each of the most telling features."""
    ranked = subject.ranked[:FEATURES_DRAWN]
    figure = new_figure(5.2, 1.2 + 0.24 * max(len(ranked), 2))
    with styled():
        axes = figure.subplots()
        rows = np.arange(len(ranked))
        bits = [profile.information for profile in ranked]
        axes.barh(rows, bits, 0.7, color=PALETTE[0])
        for row, value in zip(rows, bits, strict=True):
            axes.annotate(f"{value:.3f}", (value, row), (3, 0), textcoords="offset points", va="center", fontsize=8)
        axes.set_yticks(rows, apart([profile.column for profile in ranked], 32))
        axes.set_ylim(max(len(ranked), 1) - 0.4, -0.6)
        axes.set_xlim(0, 1.14 * max([*bits, 1e-9]))
        axes.grid(axis="y", visible=False)
        axes.set_title("Most telling features")
        axes.set_xlabel(measured_in(subject, len(ranked)))
    return figure


def measured_in(subject: Subject, drawn: int) -> str:
    """The axis: bits, of how many there are to know."""
    there = len(subject.profiles)
    chances = subject.prior[subject.prior > 0]
    entropy = float(-(chances * np.log2(chances)).sum())
    more = f"\n{drawn} of {there:,} features" if drawn < there else ""
    words = "\nof a text: of one word" if any(profile.kind == EVENTS for profile in subject.profiles) else ""
    return f"bits about the class, which has {entropy:.2f}{words}{more}"
