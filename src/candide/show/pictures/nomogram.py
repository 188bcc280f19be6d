"""A nomogram: a model on one sheet of paper, to be read with a ruler.

Find each value on its feature's scale, read its points above, add them up, find the total below, and read the
probability beside it. Evidence that rises and falls again along a number has a line for each direction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.show.pictures.lettering import apart, figure_of, lettered, width
from candide.show.pictures.scales import Scale, Scales
from candide.show.pictures.subject import Subject
from candide.show.pictures.theme import PALETTE, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 8.0
LETTER = 1.22
"""Points that a letter of a label takes, and the gap between labels."""
GAP = 1.2
MARGIN = 2.0
"""Points by which labels may stand out at either end."""
LANE = 0.21
"""Inches that a line of labels takes."""
LONGEST_LABEL = 14
TITLE_LETTERS = 44
"""Letters of names that fit into a title of one line."""
LONELY = 4.0
"""Points of free room to both sides that a less round number needs."""
PIECES = 4
"""Evidence that turns more often is drawn as single values."""
WIGGLE = 2.0
"""Points by which evidence may turn without having a line of its own."""
PROBABILITIES = (
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998,
    0.999,
)  # fmt: skip
FARTHEST = 7.0
"""Log odds at which the scale of totals ends, if not before."""


@dataclass(frozen=True)
class Mark:
    """A tick with a label, above its line or below."""

    points: float
    label: str
    above: bool


@dataclass(frozen=True)
class Line:
    """One line of a scale: from where to where, its marks, and the small ticks that have no label."""

    marks: tuple[Mark, ...]
    ticks: tuple[float, ...]
    ends: tuple[float, float]

    @property
    def lanes(self) -> float:
        """How many lines of labels it needs, itself included."""
        return 2.2 if any(not mark.above for mark in self.marks) else 1.35


def nomogram(subject: Subject, first: str | None = None, second: str | None = None) -> Figure:
    """All scales, the strongest first; `first` against `second`, two names of classes, where there are more."""
    scales = Scales.of(subject, first, second)
    with styled():
        return draw_nomogram(scales, subject.label)


def draw_nomogram(scales: Scales, label: str) -> Figure:
    """Points on top, one scale a feature, and at the bottom the total with its probability."""
    lines = [lines_of(scale) for scale in scales.scales]
    heights = [LANE * (0.5 + sum(line.lanes for line in found)) for found in lines]
    notes = notes_of(scales)
    body, foot, head = sum(heights), 0.95, 0.85
    figure = new_figure(WIDTH, body + foot + head + 0.2 * len(notes))
    top, bottom = figure.subplots(2, 1, height_ratios=[body + 0.3, foot])
    top.set_title(nomogram_title(scales, label), pad=8)
    draw_scales(top, scales, lines, heights)
    draw_total(bottom, scales)
    figure.supxlabel("\n".join(notes), fontsize=8.5, x=0.01, ha="left")
    return figure


def nomogram_title(scales: Scales, label: str) -> str:
    """What the probability is of, in two lines where one is too short."""
    one, other = lettered(scales.one, 24), lettered(scales.other, 24)
    said = f"Nomogram: {lettered(label, 16)} = {one}" if label else f"Nomogram: {one}"
    if not scales.several:
        return said
    gap = " " if width(said) + width(other) < TITLE_LETTERS else "\n"
    return f"{said}{gap}rather than {other}"


def notes_of(scales: Scales) -> list[str]:
    """What a reader should know."""
    said = ["Add up the points of all values; ◇ is a value that is not known. The total gives the probability."]
    if scales.left:
        said.append(f"Left out, as if not known: {scales.left:,} weaker scale{'s' if scales.left > 1 else ''}.")
    if scales.usual:
        said.append("What a word says depends on how long the text is: these are for a text of usual length.")
    if scales.several:
        one, other = lettered(scales.one, 20), lettered(scales.other, 20)
        said.append(f"The probability is that of {one} where it is either {one} or {other}.")
    return said


def draw_scales(axes: Any, scales: Scales, lines: list[list[Line]], heights: list[float]) -> None:
    """The points axis and below it every feature."""
    axes.set_xlim(-2.5, 102.5)
    axes.set_ylim(sum(heights), -0.1)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlabel("points")
    axes.set_xticks(range(0, 101, 10))
    axes.set_xticks(range(0, 101, 2), minor=True)
    axes.spines["bottom"].set_visible(False)
    axes.spines["left"].set_visible(False)
    axes.spines["top"].set_visible(True)
    axes.spines["top"].set_bounds(0, 100)
    axes.grid(axis="y", visible=False)
    middles, start = [], 0.0
    for scale, found, height in zip(scales.scales, lines, heights, strict=True):
        middles.append(start + height / 2)
        for index, line in enumerate(found):
            before = sum(other.lanes for other in found[:index])
            draw_line(axes, line, start + LANE * (1.3 + before))
            if line.ends[0] <= scale.unknown <= line.ends[1] or len(found) == 1:
                draw_unknown(axes, scale, start + LANE * (1.3 + before))
        start += height
    axes.set_yticks(middles, apart([scale.name for scale in scales.scales], 24))
    axes.tick_params(axis="y", length=0)


def draw_line(axes: Any, line: Line, height: float) -> None:
    """One line with its ticks and labels."""
    axes.plot(line.ends, [height, height], color=PALETTE[0], linewidth=1.4, solid_capstyle="butt")
    ticks = np.unique(np.round(line.ticks, 1))
    across = np.stack([ticks, ticks, np.full(len(ticks), np.nan)], axis=1).ravel()
    along = np.tile([height - 0.025, height + 0.025, np.nan], len(ticks))
    axes.plot(across, along, color=PALETTE[0], linewidth=0.8)
    for mark in line.marks:
        reach = -0.05 if mark.above else 0.05
        axes.plot([mark.points, mark.points], [height, height + reach], color=PALETTE[0], linewidth=1.2)
        where, side = (height - 0.06, "bottom") if mark.above else (height + 0.06, "top")
        axes.text(sum(span_of(mark.points, mark.label)) / 2, where, mark.label, ha="center", va=side, fontsize=8)


def draw_unknown(axes: Any, scale: Scale, height: float) -> None:
    """Where a value that is not known stands."""
    if -2 <= scale.unknown <= 102 and not scale.is_word:
        looks = {"marker": "D", "markersize": 4.5, "markerfacecolor": "#ffffff", "markeredgecolor": PALETTE[1]}
        axes.plot([scale.unknown], [height], linestyle="none", zorder=5, **looks)


def lines_of(scale: Scale) -> list[Line]:
    """A line for values, or for each two directions in which a curve's evidence runs."""
    pieces = directions(scale) if scale.smooth else []
    if not pieces or len(pieces) > PIECES:
        return [line_of_values(scale)]
    pairs = [pieces[index : index + 2] for index in range(0, len(pieces), 2)]
    return [line_of_pieces(scale, pair) for pair in pairs]


def directions(scale: Scale) -> list[IntArray]:
    """The values of a curve in stretches along which evidence only rises or only falls, but for small wiggles."""
    points = scale.points
    turns = [0]
    direction = 0.0
    extreme = 0
    for index in range(1, len(points)):
        step = points[index] - points[extreme]
        if direction == 0.0:
            if abs(step) > WIGGLE:
                direction, extreme = np.sign(step), index
        elif step * direction > 0:
            extreme = index
        elif abs(step) > WIGGLE:
            turns.append(extreme)
            direction, extreme = -direction, index
    turns.append(len(points) - 1)
    return [np.arange(a, b + 1) for a, b in pairwise(turns) if b > a]


def line_of_pieces(scale: Scale, pieces: list[IntArray]) -> Line:
    """Round numbers along a curve: those of the first direction above the line, those of the second below."""
    marks: list[Mark] = []
    ticks: list[float] = []
    for index, piece in enumerate(pieces):
        coarse, fine = (round_numbers(scale.values[piece], count) for count in (12, 60))
        numbers = np.array(list(dict.fromkeys([fine[0], fine[-1], *coarse, *fine])))
        where = np.interp(numbers, scale.values[piece], scale.points[piece])
        marks += without_meeting(where, numbers, 2 + len(coarse), above=index == 0)
        ticks += np.interp(coarse, scale.values[piece], scale.points[piece]).tolist()
    points = np.concatenate([scale.points[piece] for piece in pieces])
    return Line(tuple(marks), tuple(ticks), (float(points.min()), float(points.max())))


def round_numbers(indices: FloatArray, count: int) -> FloatArray:
    """Numbers in a stretch of a feature that are easily read, about so many."""
    from matplotlib.ticker import MaxNLocator

    low, high = float(indices.min()), float(indices.max())
    found = np.asarray(MaxNLocator(count, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high))
    inside = found[(found >= low) & (found <= high)]
    return inside if len(inside) > 1 else np.array([low, high])


def without_meeting(points: FloatArray, numbers: FloatArray, welcome: int, above: bool) -> Iterator[Mark]:
    """Those labels that have room, first come, first served; beyond the welcome ones only where there is much."""
    taken: list[tuple[float, float]] = []
    for rank, (point, number) in enumerate(zip(points.tolist(), numbers.tolist(), strict=True)):
        label = figure_of(number)
        span = span_of(point, label)
        room = 0.0 if rank < welcome else LONELY
        if not any(meets((span[0] - room, span[1] + room), other) for other in taken):
            taken.append(span)
            yield Mark(point, label, above)


def line_of_values(scale: Scale) -> Line:
    """Values on one line, labelled above or below where there is room: both ends first, then the commonest."""
    points = scale.points
    ends = [int(points.argmin()), int(points.argmax())]
    order = dict.fromkeys([*ends, *np.argsort(-scale.chances, kind="stable").tolist()])
    taken: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    marks = []
    for index in order:
        label = lettered(scale.labels[index], LONGEST_LABEL)
        span = span_of(float(points[index]), label)
        for above in (True, False):
            if not any(meets(span, other) for other in taken[above]):
                taken[above].append(span)
                marks.append(Mark(float(points[index]), label, above))
                break
    return Line(tuple(marks), tuple(points.tolist()), (float(points.min()), float(points.max())))


def span_of(points: float, label: str) -> tuple[float, float]:
    """From where to where a label goes: around its tick, but not beyond the picture."""
    half = LETTER * width(label) / 2
    middle = min(max(points, half - MARGIN), 100 + MARGIN - half)
    return middle - half, middle + half


def meets(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether two labels are too near."""
    return one[0] < other[1] + GAP and other[0] < one[1] + GAP


def draw_total(axes: Any, scales: Scales) -> None:
    """The total of points above a line, the probability below it."""
    low, high = ends_of_total(scales)
    axes.set_xlim(low - 0.025 * (high - low), high + 0.025 * (high - low))
    axes.set_ylim(-1, 1)
    axes.grid(visible=False)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlabel("total points")
    axes.spines["left"].set_visible(False)
    axes.spines["bottom"].set_visible(False)
    axes.spines["top"].set_visible(True)
    axes.spines["top"].set_bounds(low, high)
    totals = round_numbers(np.array([low, high]), 10)
    axes.set_xticks(totals, [figure_of(total) for total in totals])
    axes.set_yticks([0.35], [f"P({lettered(scales.one, 20)})"])
    axes.tick_params(axis="y", length=0)
    axes.plot([low, high], [0.35, 0.35], color=PALETTE[1], linewidth=1.4, solid_capstyle="butt")
    for probability, total in probabilities_within(scales, low, high):
        axes.plot([total, total], [0.35, 0.1], color=PALETTE[1], linewidth=1.2)
        axes.text(total, 0.02, f"{100 * probability:g}%", ha="center", va="top", fontsize=8)


def ends_of_total(scales: Scales) -> tuple[float, float]:
    """The totals that can be, as far as they make a difference."""
    least, most = (float(total) for total in scales.total(np.array([-FARTHEST, FARTHEST])))
    low, high = max(0.0, least), min(scales.largest, most)
    return (low, high) if high > low else (0.0, scales.largest)


def probabilities_within(scales: Scales, low: float, high: float) -> Iterator[tuple[float, float]]:
    """Probabilities that have room on the scale of totals, the roundest first."""
    ends = 1 / (1 + np.exp(-scales.log_odds(np.array([low, high]))))
    asked = sorted({*PROBABILITIES, *np.round(round_numbers(ends, 8), 6).tolist()}, key=priority)
    taken: list[float] = []
    room = 0.052 * (high - low)
    for probability in asked:
        if 0 < probability < 1:
            total = float(scales.total(np.log(probability) - np.log1p(-probability)))
            if low <= total <= high and all(abs(total - other) > room for other in taken):
                taken.append(total)
                yield probability, total


def priority(probability: float) -> tuple[int, float]:
    """A half before tenths, tenths before others."""
    rank = 0 if probability == 0.5 else 1 if probability in (0.1, 0.9, 0.01, 0.99) else 2
    return rank if probability in PROBABILITIES else 3, probability
