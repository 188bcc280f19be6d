"""What columns hold, whatever their family makes of it: bounds, quantiles, how many values are missing or different."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from candide.data.times import is_time, shown_time
from candide.model.column_cells import column_cells
from candide.model.summary import Summary
from candide.statistics.cells import Cells
from candide.statistics.column_memory import ColumnMemory

QUANTILES = {"5%": 0.05, "25%": 0.25, "50%": 0.5, "75%": 0.75, "95%": 0.95}


def what_columns_hold(summary: Summary, kinds: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """By column, where families were left open; columns of numbers alone also have bounds and quantiles.

    `missing` is a share of all rows. `different` counts the values, and is nothing where there are so many numbers that
    neighbours were counted as one: then bounds and quantiles are as near as those lie, and not `exact`.
    """
    found, numbers, rows = {}, column_cells(summary), float(summary.rows)
    for block, seen in zip(summary.blocks, summary.statistics, strict=True):
        others = other_values(seen) if isinstance(seen, ColumnMemory) else {}
        for index, name in enumerate(block.columns if isinstance(seen, ColumnMemory) else ()):
            cells, counts = seen.cells[index], others.get(name, [])
            known = float(cells.counts.sum()) + sum(counts)
            found[name] = {
                "missing": max(rows - known, 0.0) / rows if rows else 0.0,
                "different": len(cells) + len(counts) if cells.is_exact else None,
                "exact": cells.is_exact,
                "quantiles": quantiles_of(cells, kinds.get(name, "")) if name in numbers else None,
            }
    return found


def other_values(seen: ColumnMemory) -> dict[str, list[float]]:
    """How often each value was there that is no number, by column."""
    found: dict[str, list[float]] = {}
    for (column, kind, _), count in zip(seen.others.open_slots, seen.others.counts.sum(axis=1).tolist(), strict=True):
        if kind != "missing":
            found.setdefault(column, []).append(float(count))
    return found


def quantiles_of(cells: Cells, kind: str = "") -> dict[str, Any]:
    """The least number, five between, and the largest; as times where they are some.

    >>> import numpy as np
    >>> quantiles_of(Cells.of(np.arange(101.0), np.zeros(101, np.int64), classes=1))
    {'min': 0.0, '5%': 5.0, '25%': 25.0, '50%': 50.0, '75%': 75.0, '95%': 95.0, 'max': 100.0}
    """
    low, high = cells.bounds
    numbers = {"min": low, **{name: cells.quantile(share) for name, share in QUANTILES.items()}, "max": high}
    return {name: shown_time(number, kind) for name, number in numbers.items()} if is_time(kind) else numbers
