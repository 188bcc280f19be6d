"""Do probabilities mean what they say? Of the answers given with 80 %, about 80 % should be right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from candide.show.pictures.theme import INK, PALETTE, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from candide.model.evaluation import Evaluation


def reliability(found: Evaluation) -> Figure:
    """The share that is right against the probability said, with its 95 % interval, and the rows of each bin below."""
    from candide.data.metrics import wilson

    bins = [part for part in found.reliability if part.rows]
    figure = new_figure(4.6, 4.8)
    with styled():
        top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[3.2, 1])
        top.plot([0, 1], [0, 1], color=INK, linestyle="--", linewidth=0.9, alpha=0.6, label="as it should be")
        said, right = [part.chances / part.rows for part in bins], [part.right / part.rows for part in bins]
        ends = [wilson(part.right, part.rows) for part in bins]
        low = [max(0.0, share - end[0]) for share, end in zip(right, ends, strict=True)]
        high = [max(0.0, end[1] - share) for share, end in zip(right, ends, strict=True)]
        looks = {"color": PALETTE[0], "marker": "o", "markersize": 5, "linewidth": 1.4, "elinewidth": 1.0, "capsize": 2}
        top.errorbar(said, right, [low, high], label="answers, with 95% intervals", **looks)
        top.set_title(f"Probabilities and truth ({found.kind})")
        top.set_ylabel("share that is right")
        top.set_ylim(-0.02, 1.03)
        top.legend(loc="upper left", fontsize=8.5)
        middles = [(part.low + part.high) / 2 for part in bins]
        widths = [0.9 * (part.high - part.low) for part in bins]
        bottom.bar(middles, [part.rows for part in bins], widths, color=PALETTE[0], alpha=0.75)
        bottom.set_xlim(left_end(bins), 1.02)
        bottom.set_ylabel("rows")
        bottom.set_xlabel(f"probability of the answer; calibration error {found.calibration_error:.3f}")
        in_percent(top, bottom)
    return figure


def left_end(bins: list[Any]) -> float:
    """Answers are never less probable than one in so many classes: no room is left for that."""
    least = min((part.low for part in bins), default=0.0)
    return max(-0.02, least - 0.04)


def in_percent(top: Any, bottom: Any) -> None:
    """Shares as percent, rows as plain numbers."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    percent = FuncFormatter(lambda share, _: f"{100 * share:g}%")
    top.yaxis.set_major_formatter(percent)
    bottom.xaxis.set_major_formatter(percent)
    bottom.yaxis.set_major_locator(MaxNLocator(3, integer=True))
    bottom.yaxis.set_major_formatter(FuncFormatter(lambda rows, _: f"{rows:,.0f}"))
