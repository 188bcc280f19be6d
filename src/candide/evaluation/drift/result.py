"""What came of comparing two models: rows, classes, and each column with how far it moved and what moved in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from candide.data.visible import visible
from candide.data.written_numbers import percent, three_digits
from candide.evaluation.drift.changes import MEDIAN, QUARTILES, WORD, Shift
from candide.evaluation.drift.divergence import Divergence
from candide.model.evaluation import aligned

SAID = 3
"""So many changes are told of a column in its sentence, and as many words again."""


@dataclass(frozen=True)
class ClassShift:
    """A class, its rows and its share of them, before and after; no rows where a model does not have it."""

    name: str
    rows_before: float
    rows_after: float
    before: float
    after: float


@dataclass(frozen=True)
class ColumnDrift:
    """How far one column moved, all classes taken together and in the mean within classes, and what moved.

    A column may move only since the shares of the classes did; then it has not moved within them. Where what it says
    of the classes changed while it looks the same over all, it has moved within them alone.
    """

    column: str
    overall: Divergence
    within: Divergence
    changes: tuple[Shift, ...] = ()
    in_class: str | None = None
    """The class that the changes are of, where they are not of all rows."""
    times: str = ""
    """The kind of times that it holds, where it holds some."""
    singled_out: bool = False
    """Whether a single value or word moved so far that it tells by itself."""
    follows_classes: bool = False
    """Whether it moved, as the shares of the classes did, but not within classes."""

    @property
    def has_moved(self) -> bool:
        """Whether it moved beyond chance, overall or within classes, or something in it did by itself."""
        return self.overall.is_beyond_chance or self.within.is_beyond_chance or self.singled_out

    @property
    def sentence(self) -> str:
        """What moved, in few words."""
        told = "; ".join(change.in_words(self.times) for change in said_of_all(self.changes))
        return f"in {self.in_class}: {told}" if self.in_class is not None and told else told

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "column": self.column,
            "moved": self.has_moved,
            "follows_classes": self.follows_classes,
            "singled_out": self.singled_out,
            "overall": self.overall.to_dict(),
            "within": self.within.to_dict(),
            "in_class": self.in_class,
            "changes": [change.to_dict() for change in self.changes],
            "sentence": self.sentence,
        }


@dataclass(frozen=True)
class Drift:
    """What moved from one model to the other, found in their counts alone; columns that moved farthest come first."""

    label: str | None
    names: tuple[str, str]
    rows: tuple[float, float]
    classes: tuple[ClassShift, ...]
    class_divergence: Divergence
    columns: tuple[ColumnDrift, ...]
    only_before: tuple[str, ...] = ()
    """Columns that only the first model has."""
    only_after: tuple[str, ...] = ()
    not_compared: tuple[tuple[str, str], ...] = ()
    """Columns of which the two remember what cannot be compared, with the reason."""

    @property
    def moved(self) -> tuple[ColumnDrift, ...]:
        """The columns that moved beyond chance."""
        return tuple(column for column in self.columns if column.has_moved)

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be compared."""
        said = [f"Column '{column}' is not compared: {reason}." for column, reason in self.not_compared]
        for name, columns in zip(self.names, (self.only_before, self.only_after), strict=True):
            said += [f"Only {name} has {listed_columns(columns)}."] if columns else []
        return tuple(said)

    def __getitem__(self, column: str) -> ColumnDrift:
        """A column by its name."""
        return {one.column: one for one in self.columns}[column]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "label": self.label,
            "names": list(self.names),
            "rows": list(self.rows),
            "classes": [asdict(one) for one in self.classes],
            "class_divergence": self.class_divergence.to_dict(),
            "columns": [column.to_dict() for column in self.columns],
            "only_before": list(self.only_before),
            "only_after": list(self.only_after),
            "not_compared": dict(self.not_compared),
        }

    @property
    def title(self) -> str:
        """One line about the two models."""
        before, after = (f"{name} ({rows:,} rows)" for name, rows in zip(self.names, self.rows, strict=True))
        return f"From {before} to {after}"

    def class_table(self) -> list[tuple[str, ...]]:
        """Every class: a header, then a line each."""
        header = (self.label or "class", "rows before", "rows after", "before", "after")
        return [header, *map(class_line, self.classes)]

    @property
    def class_sentence(self) -> str:
        """Whether the shares of the classes moved."""
        found = self.class_divergence
        moved = "moved" if found.is_beyond_chance else "did not move beyond chance"
        return f"The shares of the classes {moved}: {in_bits(found)} bits, where chance explains {in_bits(found, True)}"

    def table(self) -> list[tuple[str, ...]]:
        """Every column that moved: a header, then a line each."""
        return [("column", "bits", "chance", "within", "chance", "what moved"), *map(column_line, self.moved)]

    @property
    def still(self) -> str:
        """The columns that did not move, in a sentence; nothing where all did."""
        names = [one.column for one in self.columns if not one.has_moved]
        if not names:
            return ""
        return f"Not moved beyond chance: {listed_columns(names)}"

    def __str__(self) -> str:
        """Tables and sentences for people; `to_dict` has everything."""
        parts = [visible(self.title), aligned(self.class_table()), self.class_sentence]
        parts += [aligned(self.table())] if self.moved else []
        parts += [visible(self.still)] if self.still else []
        return "\n\n".join([*parts, *(f"note: {visible(note)}" for note in self.notes)])


def class_line(one: ClassShift) -> tuple[str, ...]:
    """A class's line in the table."""
    return one.name, f"{one.rows_before:,}", f"{one.rows_after:,}", percent(one.before), percent(one.after)


def column_line(one: ColumnDrift) -> tuple[str, ...]:
    """A column's line in the table."""
    told = f"{one.sentence or 'its distribution'}{' (as the classes did)' if one.follows_classes else ''}"
    bits = [in_bits(found, by_chance) for found in (one.overall, one.within) for by_chance in (False, True)]
    return one.column, *bits, told


def in_bits(found: Divergence, by_chance: bool = False) -> str:
    """Bits as people read them; the most that chance explains, where that is asked for."""
    bits = found.limit if by_chance else found.bits
    return three_digits(bits) if bits >= 0.0005 or not bits else "<0.001"


def said_of_all(changes: Sequence[Shift]) -> list[Shift]:
    """The few changes that a sentence tells: quartiles only where the median stayed; words in both directions."""
    has_median = any(change.what == MEDIAN for change in changes)
    kept = [change for change in changes if not (has_median and change.what in QUARTILES)]
    words = [change for change in kept if change.what == WORD]
    others = [change for change in kept if change.what != WORD]
    grown = [word for word in words if word.after > word.before][:SAID]
    return [*others[:SAID], *grown, *[word for word in words if word.after <= word.before][:SAID]]


def listed_columns(columns: Sequence[str], most: int = 8) -> str:
    """Some columns by name, and how many more.

    >>> listed_columns(["age", "sex"]), listed_columns([f"x{index}" for index in range(11)])
    ('age, sex', 'x0, x1, x2, x3, x4, x5, x6, x7 and 3 more')
    """
    more = f" and {len(columns) - most:,} more" if len(columns) > most else ""
    return ", ".join(columns[:most]) + more
