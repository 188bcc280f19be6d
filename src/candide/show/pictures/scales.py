"""The arithmetic of a nomogram: evidence as points from 0 up, whose total is a probability.

One class is set against another. What a feature says is its evidence in log odds: factor * (table[value, one] -
table[value, other]). The feature whose evidence ranges widest gets 0 to 100 points, all others points of the same size,
so the points of a row's values add up to its log odds (Mozina, Demsar, Kattan and Zupan 2004).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from candide.data.arrays import FloatArray
from candide.data.errors import OptionRefused
from candide.families.base.profile import COUNTS, CURVE, EVENTS, STEPS, Profile
from candide.families.pairs.pair_look import PairLook
from candide.show.pictures.lettering import figure_of
from candide.show.pictures.subject import Subject

SCALES_DRAWN = 15
TIMES = (0, 1, 2)
CHANCES = np.array([0.9, 0.09, 0.01])
"""About how common it is that a word is there so many times: what is labelled first."""
LEAST = 0.03
"""A scale shorter than this share of the longest cannot be read."""
TAIL = 0.002
"""The share of both classes at either end of a curve that its scale leaves out: evidence has no end there."""


@dataclass(frozen=True)
class Scale:
    """One feature's values and the evidence of each, for one class against another.

    `values` are numbers along the feature where it has some, else 0, 1, 2, ... `chances` say how common each value is,
    so that where there is no room for all, the common ones are named. `smooth` is a curve between its values.
    """

    name: str
    labels: tuple[str, ...]
    values: FloatArray
    evidence: FloatArray
    chances: FloatArray
    smooth: bool = False
    is_word: bool = False
    low: float = 0.0
    unit: float = 1.0

    @property
    def range(self) -> float:
        """How far apart the strongest evidence for either class is."""
        return float(self.evidence.max() - self.evidence.min())

    @property
    def points(self) -> FloatArray:
        """The evidence of each value in points."""
        return (self.evidence - self.low) / self.unit

    @property
    def unknown(self) -> float:
        """The points of a value that is not known, which says nothing."""
        return -self.low / self.unit


@dataclass(frozen=True)
class Scales:
    """All scales of a nomogram: log odds = offset + unit * the total of points.

    `left` counts the features without a scale; `usual` tells that words are scaled for texts of the usual length.
    """

    one: str
    other: str
    several: bool
    scales: tuple[Scale, ...]
    offset: float
    unit: float
    left: int = 0
    usual: bool = False

    @classmethod
    def of(cls, subject: Subject, first: str | None = None, second: str | None = None) -> Scales:
        """The features that matter most, for one class against another."""
        one, other = subject.pair(first, second)
        begin = subject.start + subject.bias
        start = float(begin[one] - begin[other])
        found: list[Scale] = []
        adding = [profile for profile in subject.profiles if profile.column not in subject.joined]
        for profile in adding:
            if profile.kind == EVENTS:
                beginning = subject.occurrences(profile).beginning
                start += float(beginning[one] - beginning[other])
                found += word_scales(subject, profile, one, other)
            else:
                found += value_scale(profile, one, other)
        found += [pair_scale(look, one, other) for look in subject.pairs if look.ranked]
        widest = max((scale.range for scale in found), default=0.0)
        if not (widest > 0 and np.isfinite(start)):
            raise OptionRefused(
                f"No feature tells '{subject.classes[one]}' from '{subject.classes[other]}' by evidence that adds up, "
                "so there is no nomogram."
            )
        found = joined_words(found)
        ranked = sorted(found, key=lambda scale: -scale.range)
        scales = tuple(scale for scale in ranked[:SCALES_DRAWN] if scale.range > LEAST * widest)
        usual = any(scale.is_word for scale in scales) and not all(rule.adds_up for rule in subject.events.values())
        left = len(found) + len(subject.joined) - len(scales)
        return cls._made(subject, (one, other), scales, start, left, usual)

    @classmethod
    def _made(
        cls, subject: Subject, pair: tuple[int, int], scales: tuple[Scale, ...], start: float, left: int, usual: bool
    ) -> Scales:
        unit = scales[0].range / 100
        placed = tuple(replace(scale, low=float(scale.evidence.min()), unit=unit) for scale in scales)
        offset = start + sum(scale.low for scale in placed)
        one, other = (subject.classes[label] for label in pair)
        return cls(one, other, len(subject.classes) > 2, placed, offset, unit, left, usual)

    @property
    def largest(self) -> float:
        """The largest total there can be."""
        return float(sum(scale.range for scale in self.scales) / self.unit)

    def log_odds(self, total: FloatArray | float) -> FloatArray:
        """What a total of points means."""
        return np.asarray(self.offset + self.unit * np.asarray(total))

    def total(self, log_odds: FloatArray | float) -> FloatArray:
        """How many points make such log odds."""
        return np.asarray((np.asarray(log_odds) - self.offset) / self.unit)


def value_scale(profile: Profile, one: int, other: int) -> Iterator[Scale]:
    """The scale of a column; none where every value rules a class out."""
    with np.errstate(invalid="ignore"):
        evidence = profile.factor * (profile.table[:, one] - profile.table[:, other])
    widths = 1.0 if profile.widths is None else profile.widths
    chances = np.exp(profile.table[:, [one, other]]).mean(axis=1) * widths
    kept = np.isfinite(evidence)
    if profile.kind in (CURVE, COUNTS):
        kept &= in_the_middle(chances)
    if kept.any():
        labels = np.array(scale_labels(profile), dtype=object)[kept]
        numbers = profile.points if profile.kind in (CURVE, COUNTS) else range(len(kept))
        indices = np.array(numbers, dtype=np.float64)[kept]
        smooth = profile.kind == CURVE and len(indices) > 2 and not profile.times
        yield Scale(profile.column, tuple(labels), indices, evidence[kept], chances[kept], smooth)


def pair_scale(look: PairLook, one: int, other: int) -> Scale:
    """The scale of columns together, whose points come on top of those of each: a place for each of their cells."""
    cells = sorted(look.ranked)
    lead = look.evidence[..., one] - look.evidence[..., other]
    rows = look.counts.sum(axis=-1)
    labels = tuple(map(look.cell_named, cells))
    evidence, chances = (np.array([float(table[cell]) for cell in cells]) for table in (lead, rows / rows.sum()))
    return Scale(look.name, labels, np.arange(len(cells), dtype=np.float64), evidence, chances)


def in_the_middle(chances: FloatArray) -> FloatArray:
    """Which values hold all rows but the few at either end."""
    running = np.cumsum(chances) / max(float(chances.sum()), 1e-300)
    before = np.append(0.0, running[:-1])
    return np.asarray((running > TAIL) & (before < 1 - TAIL))


def scale_labels(profile: Profile) -> list[str]:
    """Each place as it is written on a scale."""
    if profile.kind == STEPS:
        starts = [profile.point_named(float(index), lambda number: figure_of(number, 3)) for index in profile.points]
        inner = [f"{a}–{b}" for a, b in pairwise(starts[1:])]
        return [f"< {starts[1]}", *inner, f"≥ {starts[-1]}"] if len(starts) > 1 else ["any"]
    if profile.kind in (CURVE, COUNTS):
        return [profile.point_named(float(index), figure_of) for index in profile.points]
    return [str(index) for index in profile.points]


def word_scales(subject: Subject, profile: Profile, one: int, other: int) -> Iterator[Scale]:
    """A scale for each of the loudest words: not there, once, twice."""
    rule = subject.occurrences(profile)
    amounts = np.array([rule.usual_amount(times) for times in TIMES])
    with np.errstate(invalid="ignore"):
        lead = profile.table[:, one] - profile.table[:, other]
    for index in np.flatnonzero(np.isfinite(lead)).tolist():
        evidence = rule.factor * amounts * lead[index]
        name = word_name(subject, profile, index)
        yield Scale(name, ("none", "once", "twice"), np.array(TIMES) * 1.0, evidence, CHANCES, is_word=True)


def word_name(subject: Subject, profile: Profile, index: int) -> str:
    """A word in quotation marks, a part of words between dots, and where it is read where that is not clear."""
    rule = subject.occurrences(profile)
    word = rule.spelled(profile.points[index])
    columns = {other.column for other in subject.events.values()}
    where = f" in {rule.column or profile.column}" if len(columns) > 1 else ""
    return f"“…{word}…”{where}" if rule.characters else f"“{word}”{where}"


def joined_words(found: list[Scale]) -> list[Scale]:
    """One scale for a word that several readings of a text speak of."""
    words: dict[str, Scale] = {}
    for scale in found:
        if scale.is_word:
            before = words.get(scale.name)
            words[scale.name] = replace(scale, evidence=scale.evidence + before.evidence) if before else scale
    return [scale for scale in found if not scale.is_word] + [there_or_not(scale) for scale in words.values()]


def there_or_not(scale: Scale) -> Scale:
    """A word's scale with only no and yes, where twice says no more than once."""
    if scale.evidence[1] != scale.evidence[2]:
        return scale
    first = slice(0, 2)
    return replace(
        scale, labels=("no", "yes"), values=scale.values[first], evidence=scale.evidence[first], chances=CHANCES[first]
    )
