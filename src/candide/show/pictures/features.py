"""One feature, class by class: curves for numbers, bars for values, and for texts the words that tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.families.base.profile import COUNTS, CURVE, EVENTS, STEPS, VALUES, Profile
from candide.show.pictures.data_behind import bars_of, reach_of
from candide.show.pictures.lettering import apart, figure_of, lettered, share_of
from candide.show.pictures.subject import Subject
from candide.show.pictures.theme import INK, MARKERS, PALETTE, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 4.6
"""Inches: a little more than a phone is wide, so that letters stay readable there."""

POINTS = 250
VALUES_DRAWN = 12
WORDS_DRAWN = 9
WORDS_A_CLASS = 4
BARS_SIDE_BY_SIDE = 4
"""Up to so many classes have bars beside each other; more are dots on one line."""

UNEVEN = 40.0
"""Where the widest interval is so many times the narrowest, intervals are drawn equally wide."""

PEAKED = 12.0
"""The same where a density is so many times as high as an even one."""

NO_BARS = np.zeros((0, 0))
LIGHT, BAR_ABOVE = 0.18, 1.4
"""How strong the colour of rows behind a curve is, and how many times as high as all curves a bar may be."""

COUNTS_AS_BARS = 13
FEW_VALUES = 5


def feature(subject: Subject, column: str) -> Figure:
    """A feature's values, or the words of a text, in each class."""
    profile = subject.profile(column)
    draw = {CURVE: curves, STEPS: draw_steps, COUNTS: draw_counts, VALUES: values, EVENTS: words}[profile.kind]
    with styled():
        return draw(subject, profile)


def curves(subject: Subject, profile: Profile) -> Figure:
    """A density for each class, as far as its column reaches, and the rows behind it where they are known."""
    figure, axes = canvas(subject, profile, 2.9)
    points = np.asarray(profile.points, dtype=np.float64)
    inside = points_within_reach(subject, profile)
    kept = inside[np.unique(np.linspace(0, len(inside) - 1, min(POINTS, len(inside))).round().astype(int))]
    for rank, label in enumerate(subject.drawn):
        heights = np.exp(profile.table[kept, label])
        axes.plot(points[kept], heights, color=PALETTE[rank], label=name(subject, label))
    end_at(axes, np.exp(profile.table[kept][:, subject.drawn]), draw_behind(axes, subject, profile))
    density_axis(axes)
    number_axis(axes, profile)
    return finished(figure, subject)


def points_within_reach(subject: Subject, profile: Profile) -> IntArray:
    """The points that are drawn: as far as classes reach, and not far beyond the numbers there were.

    All of them where these are not known, or would leave no curve.
    """
    cells, every = subject.cells.get(profile.column), np.arange(len(profile.points))
    if cells is None or profile.kind not in (CURVE, COUNTS) or len(every) < 2:
        return every
    points = np.asarray(profile.points, dtype=np.float64)
    low, high = reach_of(cells, float(points[0]), float(points[-1]))
    inside = np.flatnonzero((points >= low) & (points <= high))
    return inside if len(inside) > 1 else every


def draw_behind(axes: Any, subject: Subject, profile: Profile) -> FloatArray:
    """The rows of each class as light bars, and how high these are; nothing where cells were not kept."""
    cells, inside = subject.cells.get(profile.column), points_within_reach(subject, profile)
    if cells is None or not len(inside):
        return NO_BARS
    bars = bars_of(cells, float(profile.points[inside[0]]), float(profile.points[inside[-1]]))
    if bars is None:
        return NO_BARS
    for rank, label in enumerate(subject.drawn):
        axes.stairs(bars.density[:, label], bars.edges, color=PALETTE[rank], alpha=LIGHT, fill=True, zorder=1)
    return bars.density[:, subject.drawn]


def draw_steps(subject: Subject, profile: Profile) -> Figure:
    """A density that is level in each interval."""
    figure, axes = canvas(subject, profile, 2.9)
    starts, widths = np.asarray(profile.points, dtype=np.float64), np.asarray(profile.widths)
    edges = np.append(starts, starts[-1] + widths[-1])
    peaked = np.exp(profile.table[:, subject.drawn]).max() * widths.sum() > PEAKED
    uneven = bool(peaked or widths.max() > UNEVEN * widths.min())
    shown = np.arange(len(edges), dtype=np.float64) if uneven else edges
    heights = np.exp(profile.table) * (widths[:, None] if uneven else 1.0)
    for rank, label in enumerate(subject.drawn):
        looks = {"color": PALETTE[rank], "label": name(subject, label), "linewidth": 1.8}
        axes.stairs(heights[:, label], shown, **looks)
        axes.stairs(heights[:, label], shown, color=PALETTE[rank], alpha=0.1, fill=True)
    if uneven:
        step = max(1, -(-len(edges) // 9))
        named = [profile.point_named(edge, figure_of) for edge in edges[::step]]
        axes.set_xticks(shown[::step], named, rotation=30, ha="right")
        share_axis(axes, "y", "share in each interval")
    else:
        density_axis(axes)
        number_axis(axes, profile)
    return finished(figure, subject)


def draw_counts(subject: Subject, profile: Profile) -> Figure:
    """A chance for each whole number: bars where there are few, else dots on a line, and the rows behind it."""
    figure, axes = canvas(subject, profile, 2.9)
    inside = points_within_reach(subject, profile)
    points, chances = np.array([float(point) for point in profile.points])[inside], np.exp(profile.table[inside])
    drawn = subject.drawn
    as_bars = len(points) <= COUNTS_AS_BARS and len(drawn) <= BARS_SIDE_BY_SIDE
    for rank, label in enumerate(drawn):
        if as_bars:
            wide = 0.8 / len(drawn)
            where = points + (rank - (len(drawn) - 1) / 2) * wide
            axes.bar(where, chances[:, label], wide * 0.94, color=PALETTE[rank], label=name(subject, label))
        else:
            small = {"marker": MARKERS[rank], "markersize": 3.5 if len(points) < 40 else 0, "linewidth": 1.2}
            axes.plot(points, chances[:, label], color=PALETTE[rank], label=name(subject, label), **small)
    share_axis(axes, "y", "chance")
    number_axis(axes, profile, whole=True)
    behind = draw_behind(axes, subject, profile) if profile.kind == COUNTS and not as_bars else NO_BARS
    top = with_bars(float(chances[:, drawn].max(initial=0.0)), behind)
    axes.set_ylim(0, 1.06 * top if behind.size else None)
    return finished(figure, subject)


def values(subject: Subject, profile: Profile) -> Figure:
    """A chance for each of the commonest values; many that are numbers are drawn as such."""
    if looks_ordered(profile) and len(profile.points) > FEW_VALUES and len(subject.drawn) > BARS_SIDE_BY_SIDE:
        return draw_counts(subject, profile)
    chances = np.exp(profile.table)
    order = np.argsort(-(chances @ subject.prior), kind="stable")[:VALUES_DRAWN]
    if looks_ordered(profile):
        order = np.sort(order)
    names = apart([profile.points[index] for index in order], 20)
    drawn = subject.drawn
    slot = 0.3 if len(drawn) > BARS_SIDE_BY_SIDE else 0.14 + 0.13 * len(drawn)
    figure, axes = canvas(subject, profile, 1.25 + slot * len(order))
    rows = np.arange(len(order), dtype=np.float64)
    for rank, label in enumerate(drawn):
        widths = chances[order, label]
        if len(drawn) <= BARS_SIDE_BY_SIDE:
            high = 0.8 / len(drawn)
            where = rows + (rank - (len(drawn) - 1) / 2) * high
            axes.barh(where, widths, high * 0.94, color=PALETTE[rank], label=name(subject, label))
        else:
            looks = {"linestyle": "none", "marker": MARKERS[rank], "color": PALETTE[rank], "alpha": 0.85}
            axes.plot(widths, rows + 0.09 * (rank - (len(drawn) - 1) / 2), label=name(subject, label), **looks)
    axes.set_yticks(rows, names)
    axes.set_ylim(len(order) - 0.4, -0.6)
    axes.set_xlim(left=0 if len(drawn) <= BARS_SIDE_BY_SIDE else -0.02 * float(chances[order].max()))
    axes.grid(axis="y", visible=len(drawn) > BARS_SIDE_BY_SIDE)
    share_axis(axes, "x", left_over(profile, order, chances, subject))
    return finished(figure, subject)


def left_over(profile: Profile, order: Any, chances: FloatArray, subject: Subject) -> str:
    """The label of the axis, which says what is not drawn."""
    rest = len(profile.points) - len(order)
    if not rest:
        return "chance"
    share = max(0.0, 1.0 - float((chances[order] @ subject.prior).sum()))
    return f"chance; {rest:,} rarer value{'s' if rest > 1 else ''} ({share_of(share)}) not drawn"


def looks_ordered(profile: Profile) -> bool:
    """Whether the values are numbers, so that their own order says more than how common they are."""
    try:
        numbers = [float(point) for point in profile.points]
    except (TypeError, ValueError):
        return False
    return numbers == sorted(numbers)


def words(subject: Subject, profile: Profile) -> Figure:
    """The words that speak loudest: of two classes on either side, of more each class's own."""
    return words_of_two(subject, profile) if len(subject.classes) == 2 else words_of_many(subject, profile)


def words_of_two(subject: Subject, profile: Profile) -> Figure:
    """What one occurrence says for the one class or for the other, in log odds."""
    said = usual_evidence(subject, profile)
    lead = said[:, 1] - said[:, 0]
    lead = np.where(np.isfinite(lead), lead, 0.0)
    order = np.argsort(-lead, kind="stable")
    ups, downs = order[lead[order] > 0][:WORDS_DRAWN], order[lead[order] < 0][-WORDS_DRAWN:]
    shown = np.concatenate([ups, downs])
    figure, axes = canvas(subject, profile, 1.3 + 0.22 * max(len(shown), 2))
    colours = [PALETTE[1] if value > 0 else PALETTE[0] for value in lead[shown]]
    axes.barh(np.arange(len(shown)), lead[shown], 0.72, color=colours)
    axes.axvline(0, color=INK, linewidth=0.8)
    word_rows(axes, [subject.occurrences(profile).spelled(profile.points[index]) for index in shown])
    first, second = apart(subject.classes, 13)
    axes.set_xlabel(f"← {first}   log odds of one occurrence   {second} →", fontsize=9)
    return figure


def words_of_many(subject: Subject, profile: Profile) -> Figure:
    """The words of each class: what one occurrence says for it against all others together."""
    said = usual_evidence(subject, profile)
    chosen: list[tuple[int, int, float]] = []
    for rank, label in enumerate(subject.drawn):
        lead = against_the_rest(said, subject.prior, label)
        best = np.argsort(-lead, kind="stable")[:WORDS_A_CLASS]
        chosen += [(rank, int(index), float(lead[index])) for index in best if lead[index] > 0]
    figure, axes = canvas(subject, profile, 1.8 + 0.22 * max(len(chosen), 2))
    for rank, label in enumerate(subject.drawn):
        rows = [row for row, (of, _, _) in enumerate(chosen) if of == rank]
        axes.barh(rows, [chosen[row][2] for row in rows], 0.72, color=PALETTE[rank], label=name(subject, label))
    word_rows(axes, [subject.occurrences(profile).spelled(profile.points[index]) for _, index, _ in chosen])
    axes.set_xlabel("log odds of one occurrence,\nagainst the rest")
    return finished(figure, subject)


def usual_evidence(subject: Subject, profile: Profile) -> FloatArray:
    """What one occurrence of each word adds to the reported scores, in a usual text."""
    rule = subject.occurrences(profile)
    return rule.factor * rule.usual_amount(1) * profile.table


def against_the_rest(said: FloatArray, prior: FloatArray, label: int) -> FloatArray:
    """What is said for one class less what is said, on average by the prior, for the others."""
    others = np.arange(len(prior)) != label
    shares = prior[others] / max(prior[others].sum(), 1e-300)
    with np.errstate(divide="ignore", invalid="ignore"):
        lead = said[:, label] - np.log(np.exp(said[:, others]) @ shares)
    return np.where(np.isfinite(lead), lead, 0.0)


def word_rows(axes: Any, names: list[Any]) -> None:
    """One line for each word, from the top down."""
    axes.set_yticks(np.arange(len(names)), apart(names, 20))
    axes.set_ylim(max(len(names), 1) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)


def canvas(subject: Subject, profile: Profile, height: float) -> tuple[Figure, Any]:
    """An empty picture with the feature's name."""
    figure = new_figure(WIDTH, height)
    axes = figure.subplots()
    axes.set_title(lettered(profile.column, 28))
    return figure, axes


def finished(figure: Figure, subject: Subject) -> Figure:
    """The picture with the names of its classes, and a word on those that have no colour."""
    drawn, there = len(subject.drawn), len(subject.classes)
    axes = figure.axes[0]
    handles, labels = axes.get_legend_handles_labels()
    columns = max(2, min(len(labels), 44 // (max(map(len, labels), default=1) + 5)))
    title = f"the {drawn} commonest of {there:,} classes" if drawn < there else None
    looks = {"fontsize": 8.5, "title_fontsize": 8.5, "handlelength": 1.4, "columnspacing": 1.2}
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, title=title, **looks)
    return figure


def name(subject: Subject, label: int) -> str:
    """A class as the legend says it."""
    names = apart([subject.classes[index] for index in subject.drawn], 18)
    return names[subject.drawn.index(label)]


def end_at(axes: Any, heights: FloatArray, behind: FloatArray) -> None:
    """Heights from nothing up; a peak that would flatten everything else is cut off, a bar behind curves sooner."""
    finite = np.where(np.isfinite(heights), heights, 0.0)
    peaks = np.sort(finite.max(axis=0))
    top = peaks[-1] if len(peaks) < 2 or peaks[-1] <= 6 * peaks[-2] else 3 * peaks[-2]
    axes.set_ylim(0, 1.06 * with_bars(top, behind) if top > 0 else 1.0)


def with_bars(top: float, behind: FloatArray) -> float:
    """How high a picture is that has bars behind curves as high as `top`: a bar may stand out, not dwarf them."""
    return max(top, min(float(behind.max(initial=0.0)), BAR_ABOVE * top))


def density_axis(axes: Any) -> None:
    """Heights of densities are compared, not read."""
    axes.set_yticks([])
    axes.set_ylabel("density")


def share_axis(axes: Any, which: str, label: str) -> None:
    """An axis of chances, in percent."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(MaxNLocator(5))
    axis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g}%"))
    axis.set_label_text(label)


def number_axis(axes: Any, profile: Profile, whole: bool = False) -> None:
    """Plain numbers, or times, along the feature, few enough not to meet."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(4 if profile.times else 6, integer=whole))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda point, _: profile.point_named(point, figure_of)))
