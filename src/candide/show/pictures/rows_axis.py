"""The axis that learning curves share: rows learned, on a logarithmic scale with plain numbers."""

from __future__ import annotations

from typing import Any


def draw_rows_axis(axes: Any, low: float, high: float, ticks: Any) -> None:
    """Rows from low to high, numbered where the locator `ticks` says; shares beside them are for the caller."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    axes.set_xscale("log")
    axes.set_xlabel("rows learned")
    axes.set_xlim(low, high)
    axes.xaxis.set_major_locator(ticks)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda rows, _: f"{rows:,.0f}"))
    axes.xaxis.set_minor_locator(NullLocator())
