"""Receiver operating and precision-recall curves: what is found, and at what price, wherever the threshold is put."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from candide.show.pictures.lettering import lettered
from candide.show.pictures.theme import INK, PALETTE, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from candide.model.evaluation import Evaluation

LONGEST = 22
"""Letters of a class in a legend."""


def roc_curves(found: Evaluation) -> Figure:
    """The share of a class that is found over the share of others taken for it, from the highest threshold down."""
    figure = new_figure(4.6, 4.4)
    with styled():
        axes = figure.subplots()
        axes.plot([0, 1], [0, 1], color=INK, linestyle="--", linewidth=0.9, alpha=0.6, label="by chance")
        for colour, one in zip(PALETTE, drawn_rankings(found), strict=False):
            axes.plot(*one.roc.T, color=colour, label=f"{lettered(one.name, LONGEST)}: area {one.roc_area:.3f}")
        axes.set_title(f"Receiver operating curve ({found.kind})")
        axes.set_xlabel("share of other rows taken for the class")
        axes.set_ylabel("share of its rows found")
        finish(axes, "lower right")
    return figure


def precision_recall_curves(found: Evaluation) -> Figure:
    """The share of those named that are right over the share of a class that is found."""
    figure = new_figure(4.6, 4.4)
    with styled():
        axes = figure.subplots()
        for colour, one in zip(PALETTE, drawn_rankings(found), strict=False):
            said = f"{lettered(one.name, LONGEST)}: average {one.average_precision:.3f}"
            points = np.vstack([(0.0, one.precision_recall[0, 1]), one.precision_recall])
            axes.plot(*points.T, color=colour, label=said)
            axes.axhline(one.share, color=colour, linestyle="--", linewidth=0.9, alpha=0.6)
        axes.set_title(f"Precision and recall ({found.kind})")
        axes.set_xlabel("recall: share of its rows found; broken: by chance")
        axes.set_ylabel("precision: share of those named that are right")
        finish(axes, "lower left")
    return figure


def drawn_rankings(found: Evaluation) -> list[Any]:
    """The classes with a curve, the worst first."""
    return sorted((one for one in found.ranking if one.curve), key=lambda one: (one.roc_area, one.name))


def finish(axes: Any, legend: str) -> None:
    """Shares in percent along both axes."""
    from matplotlib.ticker import FuncFormatter

    percent = FuncFormatter(lambda share, _: f"{100 * share:g}%")
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.03)
    axes.xaxis.set_major_formatter(percent)
    axes.yaxis.set_major_formatter(percent)
    axes.legend(loc=legend, fontsize=8.5)
