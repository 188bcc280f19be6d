"""What is taken for what: rows by their label and by the answer they got."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from candide.data.arrays import AnyArray, FloatArray
from candide.show.pictures.lettering import apart, share_of
from candide.show.pictures.theme import INK, PALETTE, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from candide.model.evaluation import Evaluation

CLASSES_DRAWN = 20
CLASSES_WITH_SHARES = 8
"""Up to so many classes each cell has room for a share under its count."""
PALEST, FULLEST = 0.04, 0.7
"""How full a cell is: never so full that the ink of a light or a dark page could not be read on it."""


def confusion(found: Evaluation) -> Figure:
    """A square for each label and answer, the fuller the larger its share of the label's rows."""
    table, truths, answers = most_confused(found)
    shares = table / np.maximum(np.asarray(found.confusion)[truths].sum(axis=1, keepdims=True), 1)
    side = 0.5 if len(answers) <= CLASSES_WITH_SHARES else 0.3
    size = max(2.6, side * len(answers))
    rows = max(1.4, side * len(truths))
    figure = new_figure(min(1.9 + size, 8.2), min(1.8 + rows, 8.0))
    with styled():
        axes = figure.subplots()
        draw_cells(axes, table, shares)
        longest = 18 if len(answers) <= CLASSES_WITH_SHARES else 14
        name_axes(axes, [found.truths[index] for index in truths], [found.classes[index] for index in answers], longest)
        axes.set_title(confusion_title(found, len(truths)), loc="left", x=0.0)
    return figure


def most_confused(found: Evaluation) -> tuple[AnyArray, list[int], list[int]]:
    """The matrix, or of very many classes the part about those that are mistaken most."""
    table = np.asarray(found.confusion)
    if max(table.shape) <= CLASSES_DRAWN:
        return table, list(range(len(found.truths))), list(range(len(found.classes)))
    wrong = {name: 0 for name in (*found.truths, *found.classes)}
    for index, truth in enumerate(found.truths):
        for answer, count in zip(found.classes, table[index].tolist(), strict=True):
            if truth != answer:
                wrong[truth] += count
                wrong[answer] += count
    kept = set(sorted(wrong, key=lambda name: (-wrong[name], name))[:CLASSES_DRAWN])
    truths = [index for index, name in enumerate(found.truths) if name in kept]
    answers = [index for index, name in enumerate(found.classes) if name in kept]
    return table[np.ix_(truths, answers)], truths, answers


def draw_cells(axes: Any, table: AnyArray, shares: FloatArray) -> None:
    """The squares, with counts in them and, where there is room, shares of the label's rows."""
    from matplotlib.patches import Rectangle

    with_shares = max(table.shape) <= CLASSES_WITH_SHARES
    rows, columns = table.shape
    axes.set_xlim(0, columns)
    axes.set_ylim(rows, 0)
    axes.set_aspect("equal")
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.plot(*between(rows, columns), color=INK, alpha=0.25, linewidth=0.6, clip_on=False)
    for row, column in np.argwhere(table).tolist():
        depth = round(PALEST + (FULLEST - PALEST) * float(shares[row, column]), 2)
        axes.add_patch(Rectangle((column, row), 1, 1, facecolor=PALETTE[0], alpha=depth, linewidth=0))
    for (row, column), count in np.ndenumerate(table):
        if count or table.shape[0] <= CLASSES_WITH_SHARES:
            said = f"{count:,}\n{share_of(float(shares[row, column]))}" if with_shares else short_count(int(count))
            size = 8.5 if with_shares else 7
            axes.text(column + 0.5, row + 0.5, said, ha="center", va="center", color=INK, fontsize=size)


def between(rows: int, columns: int) -> tuple[list[float], list[float]]:
    """The lines between cells, as one path that is lifted at each nan."""
    across = [part for row in range(rows + 1) for part in ((0.0, row), (columns, row), (np.nan, np.nan))]
    down = [part for column in range(columns + 1) for part in ((column, 0.0), (column, rows), (np.nan, np.nan))]
    along, height = zip(*(across + down), strict=True)
    return list(along), list(height)


def short_count(count: int) -> str:
    """A count in at most four letters.

    >>> short_count(999), short_count(12345), short_count(2_000_000)
    ('999', '12k', '2M')
    """
    return str(count) if count < 10_000 else f"{count // 1000}k" if count < 1_000_000 else f"{count // 1_000_000}M"


def name_axes(axes: Any, truths: list[str], answers: list[str], longest: int) -> None:
    """Labels at the left, answers at the top."""
    slanted = max(map(len, answers), default=0) > 4 or len(answers) > 12
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    looks = {"rotation": 45, "ha": "left", "rotation_mode": "anchor"} if slanted else {}
    axes.set_xticks(np.arange(len(answers)) + 0.5, apart(answers, longest), **looks)
    axes.set_yticks(np.arange(len(truths)) + 0.5, apart(truths, longest))
    axes.tick_params(length=0)
    axes.set_xlabel("answer")
    axes.set_ylabel("label")


def confusion_title(found: Evaluation, drawn: int) -> str:
    """What is shown."""
    there = len(found.truths)
    return f"The {drawn} most confused of {there:,} classes" if drawn < there else f"Labels and answers ({found.kind})"
