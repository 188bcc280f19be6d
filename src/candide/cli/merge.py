"""candide merge"""

from __future__ import annotations

from typing import Annotated

import typer

from candide.cli.options import Force, SavedModel, Shape, ShapeOption
from candide.data.visible import visible


def merge(
    models: Annotated[list[str], typer.Argument(metavar="MODEL", help="Model files.", show_default=False)],
    output: Annotated[str, SavedModel],
    force: Force = False,
    format: ShapeOption = Shape.table,
) -> None:
    """Add models, as if one had learned all their rows.

    Families of columns that were left open are read off the sum; calibration and text recipes are those of the first.

    Example: candide merge monday.candide tuesday.candide -o week.candide
    """
    from candide.cli.running import verb
    from candide.cli.tables import notes, print_json

    merged = verb("merge")(models, output, force=force)
    if format is Shape.json:
        counts = {str(c): n for c, n in zip(merged.classes, merged.trained.summary.counts.tolist(), strict=True)}
        print_json({"output": output, "rows": merged.rows, "classes": counts, "notes": list(merged.notes)})
        return
    print(visible(f"{len(models)} models added; {output} holds {merged.rows:,} rows"))
    notes(merged.notes)
