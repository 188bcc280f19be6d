"""Where the numbers of columns lie whose families were left open."""

from __future__ import annotations

from candide.model.summary import Summary
from candide.statistics.cells import Cells
from candide.statistics.column_memory import ColumnMemory


def column_cells(summary: Summary) -> dict[str, Cells]:
    """The cells of each column that is remembered whole and holds numbers and nothing else."""
    found: dict[str, Cells] = {}
    for block, seen in zip(summary.blocks, summary.statistics, strict=True):
        if isinstance(seen, ColumnMemory):
            named = {slot[0] for slot in seen.others.open_slots if slot[1] != "missing"}
            columns = zip(block.columns, seen.cells, strict=True)
            found |= {name: cells for name, cells in columns if len(cells) and name not in named}
    return found
