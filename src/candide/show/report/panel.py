"""The panel: set the features you know and see what the model would answer, computed by the page itself.

The page holds the tables of the profiles, so it computes as the model does: the softmax of what each class begins with
plus what every feature says. What is the same for all classes is left out of the tables, which changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.data.written_numbers import percent
from candide.families.base.profile import COUNTS, CURVE, EVENTS, STEPS, Profile
from candide.families.pairs.linear_table import LinearTable
from candide.families.pairs.pair_look import PairLook
from candide.model.predictor import normalised
from candide.show.explanations.html import safe
from candide.show.pictures.lettering import figure_of, lettered
from candide.show.pictures.occurrences import Occurrences
from candide.show.pictures.scales import scale_labels
from candide.show.pictures.subject import Subject
from candide.show.report.text_box import ROOM, TextReading, alphabet_for, can_be_typed

FEATURES = 40
CELLS = 60_000
"""Numbers that all tables together may hold: about half a megabyte."""
WORDS = 40
VALUES = 120
POINTS = 101
FEWEST = 9
TAIL = 0.0005
"""The share of rows at either end of a slider that it leaves out."""
DIGITS, TERM_DIGITS = 12, 6
NEVER = -1e300
"""Stands for minus infinity, which JSON cannot say."""
CLASSES_SHOWN = 12
LONGEST = 60
"""Letters of a value or a word."""


@dataclass(frozen=True)
class Control:
    """One feature that can be set: to one of its points, or, for words, to how often each is there."""

    name: str
    kind: str
    labels: tuple[str, ...]
    table: FloatArray
    rule: Occurrences | None = None
    readings: tuple[TextReading, ...] = ()
    """How a text is read, where one can be typed."""
    places: tuple[float | str, ...] = ()
    """The value that each point stands for: what pairs of columns ask."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for the page."""
        found: dict[str, Any] = {"name": self.name, "kind": self.kind}
        if self.readings:
            return {**found, "readings": [reading_for_page(reading) for reading in self.readings]}
        found |= {"labels": self.labels, "table": cells(self.table)}
        return found if self.rule is None else {**found, "rule": rule_for_page(self.rule)}


def rule_for_page(rule: Occurrences) -> dict[str, Any]:
    """How occurrences weigh, as plain data."""
    constant = cells(rule.constant[None])[0]
    return {"weighting": rule.weighting, "weight": rule.weight, "power": rule.power, "constant": constant}


def reading_for_page(reading: TextReading) -> dict[str, Any]:
    """One way to read a text, as plain data: few digits, as there are many terms."""
    return {
        "recipe": reading.recipe,
        "rule": {**rule_for_page(reading.rule), "rate": reading.rate.tolist()},
        "terms": reading.terms,
        "table": cells(reading.table, digits=TERM_DIGITS),
    }


@dataclass(frozen=True)
class Panel:
    """Everything that can be set, and what every class begins with."""

    classes: tuple[str, ...]
    start: FloatArray
    bias: FloatArray
    log_prior: FloatArray
    controls: tuple[Control, ...]
    left: int = 0
    joined: int = 0
    pairs: tuple[PairLook, ...] = ()
    products: tuple[LinearTable, FloatArray] | None = None

    @classmethod
    def of(cls, subject: Subject) -> Panel:
        """The most telling features, as many as there is room for."""
        able = [profile for profile in subject.ranked if profile.column not in subject.joined and len(profile.points)]
        chosen = able[: max(4, min(FEATURES, CELLS // (FEWEST * len(subject.classes))))]
        room = max(FEWEST, CELLS // (len(subject.classes) * max(len(chosen), 1)))
        with np.errstate(divide="ignore"):
            log_prior = np.log(subject.prior)
        typed = typed_texts(subject, chosen)
        controls = tuple(
            typed[column] if column in typed else control_of(subject, profile, room)
            for profile in chosen
            for column in [text_column(subject, profile)]
            if column not in typed or typed[column].name == profile.column
        )
        left, joined = len(able) - len(chosen), len(subject.joined)
        bias = np.zeros_like(subject.start) + subject.bias
        together = subject.pairs, subject.products
        return cls(subject.classes, subject.start, bias, log_prior, controls, left, joined, *together)

    def pair_data(self) -> list[dict[str, Any]]:
        """The pairs all of whose columns can be set, as plain data: the bin of every point, and what cells say."""
        number = {control.name: index for index, control in enumerate(self.controls) if control.places}
        found = []
        for look in self.pairs:
            if all(part.column in number for part in look.parts):
                where = [number[part.column] for part in look.parts]
                points = zip(look.parts, (self.controls[index].places for index in where), strict=True)
                found.append({
                    "features": where,
                    "bins": [[part.code_of(place) for place in places] for part, places in points],
                    "widths": [part.bins for part in look.parts],
                    "table": cells(look.evidence.reshape(-1, len(self.classes))),
                })
        return found

    def product_data(self) -> dict[str, Any] | None:
        """What a linear layer makes of the points of features that can be set, as plain data: others are not known."""
        if self.products is None:
            return None
        reading, weights = self.products
        number = {control.name: index for index, control in enumerate(self.controls) if control.places}
        able = [(scale, number[scale.column]) for scale in reading.scales if scale.column in number]
        points = [[scale.at(place).ravel().tolist() for place in self.controls[index].places] for scale, index in able]
        return {
            "columns": len(reading.scales),
            "features": [index for _, index in able],
            "points": [[[short_float(one, DIGITS) for one in point] for point in of_one] for of_one in points],
            "weights": cells(weights[reading.among([scale.column for scale, _ in able])], centred=False),
        }

    def to_json(self) -> str:
        """Data for the page: nothing in it can end the element it stands in."""
        data = {
            "classes": self.classes,
            "start": cells(self.start[None], centred=False)[0],
            "bias": self.bias.tolist(),
            "prior": cells(self.log_prior[None], centred=False)[0],
            "features": [control.to_dict() for control in self.controls],
            "pairs": self.pair_data(),
            "products": self.product_data(),
            "alphabet": alphabet_for(reading for control in self.controls for reading in control.readings),
        }
        text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
        return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")

    def to_html(self) -> str:
        """The controls beside the answer; without JavaScript the answer to nothing known."""
        controls = "\n".join(control_html(number, control) for number, control in enumerate(self.controls))
        return (
            f'<div id="panel"><div class="answer"><h3>Probability of each class</h3>{self._bars()}'
            '<p><button type="button" id="forget-all" disabled>Forget everything</button></p></div>'
            f'<fieldset id="controls" disabled><legend>What is known</legend>{controls}</fieldset></div>'
        )

    def _bars(self) -> str:
        chances = normalised(self.start[None], self.log_prior)[0].tolist()
        order = range(len(chances))
        if len(chances) > CLASSES_SHOWN:
            order = sorted(order, key=lambda label: -chances[label])  # type: ignore[assignment]
        lines = "".join(bar(label, self.classes[label], chances[label], rank) for rank, label in enumerate(order))
        return f'<ol id="posterior" data-shown="{CLASSES_SHOWN}">{lines}</ol><p id="others" class="soft"></p>'


def bar(label: int, name: str, chance: float, rank: int) -> str:
    """One class with its probability."""
    hidden = " hidden" if rank >= CLASSES_SHOWN else ""
    return (
        f'<li data-class="{label}"{hidden}><span class="name">{safe(name)}</span> '
        f'<span class="chance">{safe(percent(chance))}</span>'
        f'<span class="track"><span class="fill" style="width:{100 * chance:.2f}%"></span></span></li>'
    )


def text_column(subject: Subject, profile: Profile) -> str:
    """The column of text that a feature is read from; none where it is no text."""
    rule = subject.events.get(profile.column)
    return rule.column if rule is not None else ""


def typed_texts(subject: Subject, chosen: Sequence[Profile]) -> dict[str, Control]:
    """A control for each column of text whose readings the page can all follow, named by the first of them."""
    by_column: dict[str, list[str]] = {}
    for profile in chosen:
        by_column.setdefault(text_column(subject, profile), []).append(profile.column)
    able = {
        column: names
        for column, names in by_column.items()
        if column and all(can_be_typed(subject.events.get(name)) for name in names)
    }
    room = ROOM // max(sum(map(len, able.values())), 1)
    found = {}
    for column, names in able.items():
        rules = [subject.events[name] for name in names]
        rules += [subject.layer[column]] if column in subject.layer else []
        readings = tuple(TextReading.of(rule, rule.parameters, room) for rule in rules if rule.parameters is not None)
        found[column] = Control(names[0], "text", (column,), np.zeros((0, len(subject.classes))), None, readings)
    return found


def control_of(subject: Subject, profile: Profile, room: int) -> Control:
    """A feature as something to be set."""
    if profile.kind == EVENTS:
        rule = subject.occurrences(profile)
        words = tuple(rule.spelled(word) for word in profile.points[: min(WORDS, room)])
        return Control(profile.column, "words", words, profile.table[: len(words)], rule)
    table = profile.factor * profile.table
    if profile.kind in (CURVE, COUNTS):
        kept = spread_out(subject, profile, min(POINTS, room))
        numbers = tuple(profile.point_named(float(profile.points[index]), six_digits) for index in kept)
        return Control(profile.column, "number", numbers, table[kept], places=places_of(profile, kept))
    common = np.argsort(-(np.exp(profile.table) @ subject.prior), kind="stable")
    kept = np.sort(common[: min(VALUES, room)])
    names = scale_labels(profile)
    labels = tuple(names[index] for index in kept)
    return Control(profile.column, "value", labels, table[kept], places=places_of(profile, kept))


def places_of(profile: Profile, kept: IntArray) -> tuple[float | str, ...]:
    """The values that some points stand for: names, numbers, or the middle of an interval."""
    if isinstance(profile.points, tuple):
        return tuple(profile.points[index] for index in kept.tolist())
    numbers = np.asarray(profile.points, dtype=np.float64)
    if profile.kind == STEPS and profile.widths is not None:
        numbers = numbers + profile.widths / 2
    return tuple(numbers[kept].tolist())


def six_digits(number: float) -> str:
    """A number that can be told from its neighbours."""
    return figure_of(number, 6)


def spread_out(subject: Subject, profile: Profile, most: int) -> IntArray:
    """Points of a number, evenly chosen from where rows are."""
    chances = (np.exp(profile.table) @ subject.prior) * (1.0 if profile.widths is None else profile.widths)
    running = np.cumsum(chances) / max(float(chances.sum()), 1e-300)
    inside = np.flatnonzero((running > TAIL) & (np.append(0.0, running[:-1]) < 1 - TAIL))
    inside = inside if len(inside) else np.arange(len(chances))
    numbers = np.asarray(profile.points, dtype=np.float64)[inside]
    if len(inside) <= most:
        return inside
    wanted = np.linspace(numbers[0], numbers[-1], most)
    return np.unique(inside[np.clip(np.searchsorted(numbers, wanted), 0, len(numbers) - 1)])


def cells(table: FloatArray, centred: bool = True, digits: int = DIGITS) -> list[list[float]]:
    """A table as short numbers, less what is the same for all classes."""
    finite = np.where(np.isfinite(table), table, np.nan)
    largest = np.nan_to_num(np.nanmax(finite, axis=1, keepdims=True, initial=-np.inf), neginf=0.0) if centred else 0.0
    less = np.where(np.isneginf(table), NEVER, np.where(np.isfinite(table), table - largest, 0.0))
    return [[short_float(cell, digits) for cell in row] for row in less.tolist()]


def short_float(number: float, digits: int) -> float:
    """A number with so many digits after the point that nobody sees the difference."""
    rounded = round(number, digits)
    return int(rounded) if rounded == int(rounded) and abs(rounded) < 1e15 else rounded


def control_html(number: int, control: Control) -> str:
    """What a feature is set with: a slider, a list, a box for each word, or one for a text."""
    ways = {"number": slider, "value": choice, "words": boxes, "text": text_area}
    inside = ways[control.kind](f"set-{number}", control)
    return f'<div class="control {control.kind}" data-feature="{number}">{inside}</div>'


def slider(name: str, control: Control) -> str:
    """Points along a number, and a way back to not knowing it."""
    last = len(control.labels) - 1
    return (
        f'<label for="{name}">{safe(control.name)}</label> <output for="{name}" class="unknown">unknown</output>'
        f'<span class="slide"><input type="range" id="{name}" min="0" max="{last}" value="{last // 2}">'
        f'<button type="button" class="forget" aria-label="forget {safe(control.name)}">×</button></span>'
    )


def choice(name: str, control: Control) -> str:
    """A list of values."""
    options = "".join(
        f'<option value="{index}">{safe(lettered(label, LONGEST))}</option>'
        for index, label in enumerate(control.labels)
    )
    return (
        f'<label for="{name}">{safe(control.name)}</label>'
        f'<select id="{name}"><option value="">unknown</option>{options}</select>'
    )


def text_area(name: str, control: Control) -> str:
    """A box to type a text into."""
    return (
        f'<label for="{name}">{safe(control.labels[0])}</label>'
        f'<textarea id="{name}" rows="5" placeholder="Type or paste a text"></textarea>'
        f'<p class="soft"><output for="{name}"></output></p>'
    )


def boxes(name: str, control: Control) -> str:
    """A box for each word, saying how often it is there."""
    found = "".join(
        f'<label class="word"><input type="number" min="0" max="99" value="0" data-word="{index}"> '
        f"{safe(lettered(word, LONGEST))}</label>"
        for index, word in enumerate(control.labels)
    )
    what = "run of characters" if control.rule is not None and control.rule.characters else "word"
    return f"<details><summary>{safe(control.name)}: how often each {what} is there</summary>{found}</details>"
