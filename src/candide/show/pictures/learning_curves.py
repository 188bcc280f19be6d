"""The learning curves of a comparison: accuracy and log loss over the number of rows learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from candide.evaluation.comparison import Compared, Comparison
from candide.show.pictures.rows_axis import draw_rows_axis
from candide.show.pictures.theme import INK, PALETTE, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, PURPLE = PALETTE[0], PALETTE[1], PALETTE[2], PALETTE[3]
LOOKS = {
    "naive Bayes": (BLUE, "-", "o"),
    "plain naive Bayes": (BLUE, "--", "o"),
    "linear naive Bayes": (BLUE, ":", "o"),
    "A1DE": (BLUE, "-.", "v"),
    "GDA, shared covariance": (GREEN, "-", "^"),
    "GDA, full covariance": (GREEN, "--", "^"),
    "logistic regression": (ORANGE, "-", "s"),
    "plain logistic regression": (ORANGE, "--", "s"),
    "linear SVM": (PURPLE, "-", "D"),
}
"""A method looks the same in every picture: kin share a colour, and the plainer has a broken line."""

BAND = 0.16
LEAST_LOSS = 1e-4
"""Log losses are drawn on a logarithmic scale, which has no room for 0."""


def learning_curves(found: Comparison) -> Figure:
    """Both measures side by side, with bands of one standard error, and a mark where curves cross."""
    figure = new_figure(9.5, 4.6)
    with styled():
        left, right = figure.subplots(1, 2)
        right.set_yscale("log")
        for method in found.methods:
            draw_curve(left, method, "accuracy")
            if method.best.log_loss is not None:
                draw_curve(right, method, "log_loss")
        mark_crossings(left, found)
        figure.suptitle(curves_title(found), x=0.01, ha="left", fontsize=10)
        left.set_title("Accuracy")
        right.set_title("Log loss")
        for axes in (left, right):
            number_curves(axes, found.sizes)
        figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def draw_curve(axes: Any, method: Compared, measure: str) -> None:
    """One method's line with its band."""
    colour, line, marker = LOOKS[method.name]
    rows = [point.rows for point in method.curve]
    mean = np.array([getattr(point, measure) for point in method.curve])
    error = np.array([getattr(point, f"{measure}_error") for point in method.curve])
    least = LEAST_LOSS if measure == "log_loss" else 0.0
    low, mean, high = (np.maximum(values, least) for values in (mean - error, mean, mean + error))
    axes.fill_between(rows, low, high, color=colour, alpha=BAND, linewidth=0)
    axes.plot(rows, mean, color=colour, linestyle=line, marker=marker, label=method.name)


def mark_crossings(axes: Any, found: Comparison) -> None:
    """A ring where the lead changes for good, on the curve of the method that takes it."""
    indices = [(rows, height_at(rows, found[duel.second])) for duel in found.duels for rows in duel.crossings]
    if indices:
        looks = {"marker": "o", "markersize": 11, "markerfacecolor": "none", "markeredgecolor": INK}
        axes.plot(*zip(*indices, strict=True), linestyle="none", label="the lead changes", **looks)


def height_at(rows: float, method: Compared) -> float:
    """The accuracy of a curve between its points."""
    sizes, heights = zip(*((point.rows, point.accuracy) for point in method.curve), strict=True)
    return float(np.interp(np.log(rows), np.log(sizes), heights))


def curves_title(found: Comparison) -> str:
    """What the picture is of."""
    of = f"{found.label}: " if found.label else ""
    return f"{of}{found.rows:,} rows, {found.folds} folds; bands of one standard error"


def number_curves(axes: Any, sizes: tuple[int, ...]) -> None:
    """Rows on a logarithmic scale with plain numbers, at powers of ten and where the curves end."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    draw_rows_axis(axes, sizes[0] / 1.15, sizes[-1] * 1.15, LogLocator(subs=(1.0, 3.0)))
    if axes.get_yscale() == "log":
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda loss, _: f"{loss:g}"))
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g}%"))
