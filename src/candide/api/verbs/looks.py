"""What the values of a column look like in each class, in few words: a profile as the card tells it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.families.base.basis import parameter_of_times
from candide.families.base.explaining import shown_number
from candide.families.base.informative import NOTHING, all_pairs, how_many, how_telling
from candide.families.base.profile import COUNTS, CURVE, EVENTS, STEPS, Profile

FEW = 3
"""Up to so many values are all shown; of more, so many of the most telling."""

WORDS_SHOWN = 8
VALUES_KEPT = 50
LONGEST = 24


def in_words(profile: Profile, names: list[str], best: list[list[int]]) -> dict[str, str]:
    """A few words for each class; `best` are the most telling points of each."""
    if profile.kind in (CURVE, COUNTS):
        return {
            name: ", ".join(f"{called} {short(number)}" for called, number in numbers.items())
            for name, numbers in parameters_of(profile, names).items()
        }
    values = value_names(profile)
    if profile.kind == EVENTS:
        return {
            name: ", ".join(quoted_word(values[index]) for index in best[label]) for label, name in enumerate(names)
        }
    masses = profile.masses
    return {name: shares_in_words(profile, masses[:, label], label, best) for label, name in enumerate(names)}


def shares_in_words(profile: Profile, shares: FloatArray, label: int, best: list[list[int]]) -> str:
    """Some values of one class with their shares: all, if they are few, else the most telling."""
    if profile.counts is not None and not profile.counts[:, label].any():
        return "never seen"
    values, indices = value_names(profile), commonest(shares, FEW)
    if len(values) > FEW and best:
        indices = best[label][:FEW] or indices
    return ", ".join(f"{short_value(values[index])} {share(shares[index])}" for index in indices)


def parameters_of(profile: Profile, names: list[str]) -> dict[str, dict[str, Any]]:
    """The numbers behind a column, class by class: a curve's as its family calls them, the share of every value.

    Of very many values there are only the commonest; what words say is told by their counts.
    """
    if profile.kind == EVENTS:
        return {}
    if profile.kind in (CURVE, COUNTS):
        named = profile.parameters or moments_of(profile)
        return {
            name: {called: parameter(called, float(of[label]), profile.times) for called, of in named.items()}
            for label, name in enumerate(names)
        }
    values, masses = value_names(profile), profile.masses
    return {
        name: {values[index]: float(masses[index, label]) for index in commonest(masses[:, label], VALUES_KEPT)}
        for label, name in enumerate(names)
    }


def parameter(called: str, number: float, times: str) -> Any:
    """A parameter as it is told: a number, or a time or how long, where the column holds times."""
    return parameter_of_times(called, number, times) if times else number


def moments_of(profile: Profile) -> dict[str, FloatArray]:
    """Mean and deviation by the profile itself, for a family that has no names for its numbers."""
    masses, points = profile.masses, np.asarray(profile.points, dtype=np.float64)
    mean = points @ masses
    return {"mean": mean, "deviation": np.sqrt((masses * (points[:, None] - mean) ** 2).sum(axis=0))}


def telling_of(profile: Profile, names: list[str], best: list[list[int]]) -> dict[str, dict[str, int | float]]:
    """The most telling values, intervals or words of each class with their counts; nothing for curves."""
    counts, values = profile.counts, value_names(profile)
    if counts is None:
        return {}
    return {
        name: {values[index]: plain_count(counts[index, label]) for index in best[label]}
        for label, name in enumerate(names)
    }


def most_telling_points(profile: Profile, prior: FloatArray) -> list[list[int]]:
    """The points that speak most for each class, the most telling first; none for curves."""
    if profile.counts is None:
        return []
    said = how_telling(all_pairs(profile.counts, profile.table), prior, len(profile.points))
    table = said.reshape(profile.table.shape)
    order = np.argsort(-table, axis=0, kind="stable")[: min(WORDS_SHOWN, how_many(len(prior)))]
    least = NOTHING * said.max(initial=0.0)
    return [[int(index) for index in order[:, label] if table[index, label] > least] for label in range(len(prior))]


def plain_count(count: Any) -> int | float:
    """A count as JSON has it: whole where it is."""
    return int(count) if float(count).is_integer() else float(count)


def commonest(shares: FloatArray, most: int) -> list[int]:
    """Where the largest shares are."""
    order: IntArray = np.argsort(-shares, kind="stable")[:most]
    return [int(index) for index in order]


def value_names(profile: Profile) -> list[str]:
    """What the points are called: intervals by where they begin and end.

    >>> value_names(Profile("age", STEPS, np.array([0.0, 16.0]), np.zeros((2, 1)), np.array([16.0, 64.0])))
    ['below 16', 'from 16']
    """
    if profile.kind != STEPS:
        return [str(point) for point in profile.points]
    starts = [profile.point_named(start, shown_number) for start in np.asarray(profile.points).tolist()]
    if len(starts) == 1:
        return ["anything"]
    inner = [f"{low} to {high}" for low, high in pairwise(starts[1:])]
    return [f"below {starts[1]}", *inner, f"from {starts[-1]}"]


def quoted_word(word: str) -> str:
    """A word among others: in quotation marks where spaces or commas belong to it.

    >>> quoted_word("mrs"), quoted_word(" mr")
    ('mrs', '" mr"')
    """
    return f'"{word}"' if word != word.strip() or "," in word else short_value(word)


def share(part: float) -> str:
    """A share in few letters.

    >>> share(0.25), share(0.001), share(0.999), share(0.0)
    ('25%', '<1%', '>99%', '0%')
    """
    return "<1%" if 0 < part < 0.005 else ">99%" if 0.995 <= part < 1 else f"{part:.0%}"


def short_value(value: str) -> str:
    """A value in few letters."""
    return value if len(value) <= LONGEST else value[: LONGEST - 1] + "…"


def short(number: Any) -> str:
    """A number in few letters; words as they are.

    >>> short(190340.9), short(36.783), short(0.00012345)
    ('190,341', '36.78', '0.0001234')
    """
    if isinstance(number, str):
        return number
    return f"{number:,.0f}" if 1000 <= abs(number) < 1e9 else f"{number:.4g}"
