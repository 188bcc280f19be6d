"""The learning curve of one model: how its answers got better with the number of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from candide.show.pictures.theme import PALETTE, new_figure, styled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

TICKS = 6


class Measured(Protocol):
    """What a model keeps of its learning."""

    @property
    def curve(self) -> Sequence[Any]: ...
    @property
    def baseline(self) -> float: ...


def own_curve(found: Measured) -> Figure:
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
        number_axes(top, bottom, rows)
    return figure


def number_axes(top: Any, bottom: Any, rows: list[int]) -> None:
    """Rows on a logarithmic scale with plain numbers."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    bottom.set_xscale("log")
    bottom.set_xlim(max(rows[0], 1) / 1.2, rows[-1] * 1.2)
    bottom.xaxis.set_major_locator(FixedLocator(rows[::-1][:: -(-len(rows) // TICKS)]))
    bottom.xaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:,.0f}"))
    bottom.xaxis.set_minor_locator(NullLocator())
    bottom.set_xlabel("rows learned")
    bottom.set_ylim(0, 1.08 * bottom.get_ylim()[1])
    top.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g}%"))
