"""What a report costs: seconds, memory and size, for texts of up to a million words and for a table.

    python benchmarks/report.py

The goal is less than a minute and less than 5 MB for a million words.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np

from candide.api import verbs
from explain import mixed
from measure import extra_memory, machine, publish, table, wall_time

COMMON, RARE = 20, 20
"""Words of each text that other texts have too, and words that no other text has."""


def texts(words: int, classes: int, rng: np.random.Generator) -> dict[str, list[str]]:
    """Texts with so many different words in all."""
    rows = words // RARE
    labels = rng.integers(0, classes, rows)
    common = rng.zipf(1.3, (rows, COMMON)) % 20_000
    leaning = rng.random((rows, COMMON)) < 0.1
    drawn = np.where(leaning, 30_000 + labels[:, None], common)
    rare = 100_000 + np.arange(rows * RARE).reshape(rows, RARE)
    lines = [" ".join(f"w{word}" for word in line) for line in np.column_stack([drawn, rare]).tolist()]
    return {"text": lines, "label": [f"class {label}" for label in labels.tolist()]}


def measured(name: str, rows: dict[str, list], folder: Path) -> tuple[str, ...]:
    """Fit, save, and report from the file."""
    model, page = folder / "m.candide", folder / "m.html"
    fitted = verbs.fit(rows, "label", model)
    found = {"memory": 0.0}

    def report() -> None:
        found["memory"] = extra_memory(lambda: verbs.report(model, page))

    seconds = wall_time(report)
    readings = sum(1 + len(choice.auxiliary) for choice in fitted.trained.schema.choices if choice.family)
    size = os.path.getsize(page) / 1e6
    return name, f"{readings}", f"{seconds:.1f}", f"{found['memory']:.0f}", f"{size:.2f}"


def main() -> None:
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as index:
        folder = Path(index)
        columns, labels = mixed(2_000, rng)
        lines = [measured("10 numbers and 10 categories, 3 classes", {**columns, "label": labels}, folder)]
        for words, classes in ((100_000, 2), (1_000_000, 2), (1_000_000, 20)):
            name = f"{words:,} words, {classes} classes"
            lines.append(measured(name, texts(words, classes, rng), folder))
            print(lines[-1], flush=True)
    head = ("model", "blocks", "seconds", "MB of memory", "MB of page")
    title = "# What a report costs\n\nReading the model file, drawing and writing the page."
    publish("report", f"{title} {machine('numpy', 'matplotlib')}.\n\n{table(head, lines)}")


if __name__ == "__main__":
    main()
