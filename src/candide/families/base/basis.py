"""What a term was made of: counts and smoothing, or the numbers of a curve. Plain data that a reader can check."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from candide.data.arrays import FloatArray
from candide.data.times import LATEST, shown_duration, shown_time

SHARE, INVERSE, ODDS = "share", "inverse", "odds"
PLACES, MEAN_OF = ("mean", "centre"), "mean of "
"""Parameters that say where a curve lies; and how the mean of one of several columns is called."""


@dataclass(frozen=True)
class CountBasis:
    """A share of what each class counted, smoothed: (count + smoothing) / (total + smoothing * slots).

    `form` says how the share speaks: as itself; "inverse", as one over the share in all other classes, whose counts
    these are (the complement); or as "odds", count against the rest (a word that is there, when absence was said once
    for all words). It speaks `times` times. `note` says what was counted where that is not the value itself.

    >>> dear = CountBasis(np.array([8, 2]), np.array([17, 7]), smoothing=1.0, slots=4, unit="words")
    >>> dear.fraction(0), dear.text(["normal", "spam"])
    ((9.0, 21.0), 'seen in 8 of 17 words of normal and 2 of 7 words of spam')
    """

    counts: FloatArray
    totals: FloatArray
    smoothing: float
    slots: int
    unit: str = "rows"
    times: float = 1.0
    form: str = SHARE
    note: str = ""
    #: Where an interval of numbers begins and ends, infinite where it does not.
    interval: tuple[float, float] | None = None

    def in_time(self, kind: str) -> CountBasis:
        """The same of a column of times."""
        if self.interval is None:
            return self
        return replace(self, note=interval_named(*self.interval, lambda number: shown_time(number, kind)))

    def fraction(self, label: int) -> tuple[float, float]:
        """Numerator and denominator for one class; one of the slots where the class saw nothing at all."""
        count, total = float(self.counts[label]), float(self.totals[label])
        raised, whole = count + self.smoothing, total + self.smoothing * self.slots
        if whole == 0:
            raised, whole = 1.0, float(max(self.slots, 1))
        if self.form == ODDS:
            return raised, whole - raised
        return (whole, raised) if self.form == INVERSE else (raised, whole)

    def text(self, classes: Sequence[Any], labels: Sequence[int] | None = None) -> str:
        """The counts in words, for some of the classes."""
        said = [
            f"{short_number(self.counts[label])} of {short_number(self.totals[label])} {self._whole(classes[label])}"
            for label in (range(len(classes)) if labels is None else labels)
        ]
        return f"{f'{self.note}: ' if self.note else ''}seen in {and_list(said)}"

    def _whole(self, name: Any) -> str:
        """What the total counts: "ham", or "rows of 1" where a bare name would read like a number."""
        other = "all but " if self.form == INVERSE else ""
        bare = self.unit == "rows" and not other and str(name)[:1].isalpha()
        return f"{name}" if bare else f"{self.unit} of {other}{name}"

    def to_dict(self) -> dict[str, Any]:
        """Lists and numbers, ready for JSON."""
        return {
            "counts": np.asarray(self.counts).tolist(),
            "totals": np.asarray(self.totals).tolist(),
            "smoothing": self.smoothing,
            "slots": self.slots,
            "unit": self.unit,
            "times": self.times,
            "form": self.form,
            "note": self.note,
        }


@dataclass(frozen=True)
class DensityBasis:
    """A curve: its family, what it is given for each class, and its formula with places for the numbers.

    >>> bell = DensityBasis("gaussian", {"mean": np.array([3.0, 9.0]), "deviation": np.array([2.0, 1.5])}, "")
    >>> bell.text(["low", "high"])
    'gaussian with mean 3, deviation 2 in low and mean 9, deviation 1.5 in high'
    """

    family: str
    parameters: dict[str, FloatArray]
    formula: str
    value: str = ""
    #: The kind of times that a parameter is of, by its name, where its column holds times.
    times: Mapping[str, str] = field(default_factory=dict)

    def in_time(self, kind: str) -> DensityBasis:
        """The same of a column of times."""
        lies = any(name in PLACES for name in self.parameters)
        value = shown_time(float(self.value), kind) if lies and self.value else self.value
        return replace(self, times=dict.fromkeys(self.parameters, kind), value=value)

    def in_times(self, kinds: Mapping[str, str]) -> DensityBasis:
        """The same of several columns, some of which hold times."""
        return replace(self, times={f"{MEAN_OF}{column}": kind for column, kind in kinds.items()})

    def numbers(self, label: int) -> dict[str, str]:
        """The parameters of one class, as they are written."""
        return {
            name: parameter_of_times(name, float(values[label]), self.times[name])
            if name in self.times
            else short_number(values[label])
            for name, values in self.parameters.items()
        }

    def text(self, classes: Sequence[Any], labels: Sequence[int] | None = None) -> str:
        """The parameters in words, for some of the classes."""
        said = [
            ", ".join(f"{name} {number}" for name, number in self.numbers(label).items()) + f" in {classes[label]}"
            for label in (range(len(classes)) if labels is None else labels)
        ]
        return f"{self.family} with {and_list(said)}"

    def filled(self, label: int) -> str:
        """The formula with the numbers of one class in it.

        >>> DensityBasis("poisson", {"rate": np.array([2.5])}, "{rate}^{x} · e^-{rate} / {x}!", "3").filled(0)
        '2.5^3 · e^-2.5 / 3!'
        """
        return self.formula.format(x=self.value, **self.numbers(label))

    def to_dict(self) -> dict[str, Any]:
        """Lists and numbers, ready for JSON."""
        given = {name: np.asarray(values).tolist() for name, values in self.parameters.items()}
        return {"family": self.family, "parameters": given, "formula": self.formula}


Basis = CountBasis | DensityBasis


def interval_named(low: float, high: float, shown: Callable[[float], str]) -> str:
    """An interval of numbers in words.

    >>> interval_named(2.0, float("inf"), short_number)
    'anything from 2'
    """
    since = f" from {shown(low)}" if math.isfinite(low) else ""
    until = f" to {shown(high)}" if math.isfinite(high) else ""
    return f"anything{since}{until}"


def parameter_of_times(name: str, number: float, kind: str) -> str:
    """A parameter of a curve over times: a time where it says where the curve lies, else how long, or a number.

    >>> parameter_of_times("mean", 0.25, "time"), parameter_of_times("deviation", 7200.0, "time")
    ('1970-01-01 00:00', '2 hours')
    """
    if name in PLACES or name.startswith(MEAN_OF):
        return shown_time(round(number) if abs(number) < LATEST else number, kind)
    return shown_duration(number) if name in ("deviation", "scale") else short_number(number)


def short_number(number: float) -> str:
    """A number in few letters, whole ones in full.

    >>> short_number(4825), short_number(0.123456), short_number(2.0)
    ('4,825', '0.1235', '2')
    """
    value = float(number)
    return f"{value:,.0f}" if abs(value) < 1e15 and value == round(value) else f"{value:.4g}"


def and_list(said: Sequence[str]) -> str:
    """Some things as a sentence lists them.

    >>> and_list(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(filter(None, [", ".join(said[:-1]), *said[-1:]]))
