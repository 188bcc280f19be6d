"""The learning curve of one model: how its answers got better with the number of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from candide.show.pictures.rows_axis import draw_rows_axis
from candide.show.pictures.theme import PALETTE, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from candide.model.quality import Quality

TICKS = 6


def own_curve(found: Quality) -> Figure:
    """Accuracy above, log loss below, over the rows learned, with 95 % intervals of the accuracy."""
    from candide.data.metrics import wilson

    figure = new_figure(4.8, 4.6)
    rows = [point.rows for point in found.curve]
    shares = [point.accuracy for point in found.curve]
    ends = [wilson(round(point.accuracy * point.judged), point.judged) for point in found.curve]
    with styled():
        top, bottom = figure.subplots(2, 1, sharex=True)
        low, high = zip(*ends, strict=True)
        top.fill_between(rows, low, high, color=PALETTE[0], alpha=0.16, linewidth=0)
        top.plot(rows, shares, color=PALETTE[0], marker="o")
        top.axhline(found.baseline, color=PALETTE[1], linestyle="--", linewidth=1.2)
        top.annotate(
            "always the commonest", (rows[0], found.baseline), (2, 3), textcoords="offset points", fontsize=8.5
        )
        top.set_title("Accuracy")
        bottom.plot(rows, [point.log_loss for point in found.curve], color=PALETTE[2], marker="s")
        bottom.set_title("Log loss")
        number_own_curve(top, bottom, rows)
    return figure


def number_own_curve(top: Any, bottom: Any, rows: list[int]) -> None:
    """Rows on a logarithmic scale with plain numbers."""
    from matplotlib.ticker import FixedLocator, FuncFormatter

    ticks = FixedLocator(rows[::-1][:: -(-len(rows) // TICKS)])
    draw_rows_axis(bottom, max(rows[0], 1) / 1.2, rows[-1] * 1.2, ticks)
    bottom.set_ylim(0, 1.08 * bottom.get_ylim()[1])
    top.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g}%"))
