"""The rows behind a curve: a histogram of each class from the cells of its column, and how far the rows reach."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from candide.data.arrays import FloatArray
from candide.statistics.cells import Cells

BARS = 48
"""About so many bars lie between the smallest and the largest number that is drawn; fewer where rows are few."""

ROWS_A_BAR = 6
FEWEST_BARS = 12

MARGIN = 0.12
"""By this share of the whole spread a curve is drawn beyond the outermost numbers."""

LEAST_SPREAD = 1e-290
"""Numbers that lie closer have no density that a double could hold."""

UNEVEN = 1e-6
"""By this share of a step numbers may lie off a grid, since decimals are rounded."""


class Bars(NamedTuple):
    """Bars between ascending edges, and density[bar, class]: the share of a class's numbers in a bar by its width."""

    edges: FloatArray
    density: FloatArray


def reach_of(cells: Cells, low: float, high: float) -> tuple[float, float]:
    """From where to where a curve that reaches from `low` to `high` is worth drawing: a little beyond its numbers.

    None is drawn below zero where no number lies there.

    >>> ages = Cells.of(np.array([2.0, 82.0]), np.zeros(2, np.int64), classes=1)
    >>> reach_of(ages, -40.0, 85.0), reach_of(ages, 10.0, 200.0)
    ((0.0, 85.0), (10.0, 91.6))
    """
    least, largest = cells.bounds
    room = MARGIN * (largest - least)
    if not 0 < room < np.inf:
        return low, high
    least_drawn = max(least - room, 0.0) if least >= 0 else least - room
    return max(low, least_drawn), min(high, largest + room)


def bars_of(cells: Cells, low: float, high: float) -> Bars | None:
    """Bars of equal width from `low` to `high`, each class by itself; nothing where they would tell nothing.

    >>> seen = Cells.of(np.array([1.0, 2.0, 2.0, 4.0]), np.zeros(4, np.int64), classes=1)
    >>> bars_of(seen, 1.0, 4.0)
    Bars(edges=array([0.5, 1.5, 2.5, 3.5, 4.5]), density=array([[0.25],
           [0.5 ],
           [0.  ],
           [0.25]]))
    """
    least, largest = max(low, cells.bounds[0]), min(high, cells.bounds[1])
    if len(cells) < 2 or not LEAST_SPREAD < largest - least < np.inf:
        return None
    grain, counts = grain_of(cells), np.asarray(cells.counts, dtype=np.float64)
    bars = int(np.clip(counts.sum() / ROWS_A_BAR, FEWEST_BARS, BARS))
    width = (largest - least) / bars
    if grain:
        width = grain * np.ceil((largest - least + grain) / grain / bars)
        least, largest = least - grain / 2, largest + grain / 2
    edges = least + width * np.arange(np.ceil((largest - least) / width - UNEVEN) + 1)
    if largest == cells.bounds[1]:
        edges[-1] = max(edges[-1], cells.beyond[-1])
    below = np.stack([mass_below(cells, counts[:, label], grain, edges) for label in range(cells.classes)], axis=1)
    return Bars(edges, np.diff(below, axis=0) / np.maximum(counts.sum(axis=0), 1e-300) / width)


def mass_below(cells: Cells, counts: FloatArray, grain: float, edges: FloatArray) -> FloatArray:
    """How much lies below each edge, each cell's numbers being spread evenly over it; those of a grid over a step."""
    if grain:
        starts, ends = grid_ends(cells, grain)
    else:
        starts, ends = cells.lowest, np.maximum(cells.beyond, np.nextafter(cells.lowest, np.inf))
    running = np.cumsum(counts)
    knots = np.maximum.accumulate(np.stack([starts, ends], axis=1).ravel())
    return np.interp(edges, knots, np.stack([running - counts, running], axis=1).ravel())


def grid_ends(cells: Cells, grain: float) -> tuple[FloatArray, FloatArray]:
    """Where the steps of a grid begin and end that the numbers of each cell lie on."""
    if cells.is_exact:
        return cells.lowest - grain / 2, cells.highest + grain / 2
    return np.ceil(cells.lowest) - grain / 2, np.floor(cells.highest) + grain / 2


def grain_of(cells: Cells) -> float:
    """The step between numbers that lie on a grid, such as whole ones or those of one decimal; 0 where they do not.

    Bars as wide as some steps hold equally many numbers of the grid, so that none stands out by chance.

    >>> grain_of(Cells.of(np.array([0.5, 0.7, 1.1]), np.zeros(3, np.int64), classes=1))
    0.2
    """
    if not cells.is_exact:
        return 0.0 if cells.fractions.any() else 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        gaps = np.diff(cells.lowest)
        step = float(gaps.min(initial=np.inf))
        steps = gaps / step
    on_grid = np.isfinite(steps).all() and np.abs(steps - np.rint(steps)).max(initial=0.0) < UNEVEN * len(gaps)
    return float(f"{step:.12g}") if on_grid and np.isfinite(step) else 0.0
