"""What came out: counts and sums over rows with known labels, and all that follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from candide.data.arrays import AnyArray
from candide.data.metrics import calibration_error, wilson
from candide.data.visible import visible
from candide.data.written_numbers import three_digits

CROSS_FITTED = "cross-fitted"
"""Rows judged by choices and a calibration that were made without their fold."""

CLASSES_SHOWN = 12
SUSPECTS_SHOWN = 5


def whole(number: Any) -> Any:
    """A number as a whole one, where it is.

    >>> whole(np.float64(3.0)), whole(2.5)
    (3, 2.5)
    """
    return int(number) if number == int(number) else float(number)


@dataclass(frozen=True)
class ClassScore:
    """How well one class is found."""

    rows: int
    answered: int
    right: int

    @property
    def precision(self) -> float | None:
        """Of the rows given this label, how many have it."""
        return self.right / self.answered if self.answered else None

    @property
    def recall(self) -> float | None:
        """Of the rows that have this label, how many were given it."""
        return self.right / self.rows if self.rows else None

    @property
    def f1(self) -> float | None:
        """The harmonic mean of both."""
        return 2 * self.right / (self.rows + self.answered) if self.rows + self.answered else None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {**vars(self), "precision": self.precision, "recall": self.recall, "f1": self.f1}


@dataclass(frozen=True)
class Bin:
    """Rows whose answers were about equally probable: where probabilities mean what they say, so many are right."""

    low: float
    high: float
    rows: int
    right: int
    chances: float
    """The sum of the probabilities of the answers."""

    @property
    def probability(self) -> float | None:
        """The mean probability of the answers."""
        return self.chances / self.rows if self.rows else None

    @property
    def accuracy(self) -> float | None:
        """The share of answers that are right."""
        return self.right / self.rows if self.rows else None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "from": self.low, "to": self.high, "rows": self.rows, "right": self.right,
            "probability": self.probability, "accuracy": self.accuracy,
        }  # fmt: skip


@dataclass(frozen=True, order=True)
class Suspect:
    """A row whose label looks wrong: the answer is far more probable. Ordered from the least probable label up."""

    label_probability: float
    row: int
    label: str
    answer: str
    answer_probability: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        names = ("row", "label", "answer", "label_probability", "answer_probability")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How answers compare with labels; a row counts as often as it weighs.

    `kind` is "cross-fitted", "leave-one-out", "hold-out" or "10-fold". `confusion[truth, answer]` counts rows; a label
    of which nothing could be learned is a truth without an answer of its own. `log_loss` is the mean of -log P(label),
    `brier` the mean squared distance of the probabilities from the truth; with two classes it is that of one of them,
    as is usual. `suspicious` lists the rows whose label looks wrong, the least probable first.
    """

    kind: str
    label: str | None
    classes: tuple[str, ...]
    truths: tuple[str, ...]
    confusion: AnyArray
    log_loss: float
    brier: float
    reliability: tuple[Bin, ...]
    suspicious: tuple[Suspect, ...] = ()
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> Any:
        """How many rows were judged: a whole number, unless weights are not."""
        return whole(self.confusion.sum())

    @property
    def right(self) -> int:
        """How many answers are the label."""
        return sum(score.right for score in self.by_class.values())

    @property
    def accuracy(self) -> float:
        """The share of answers that are right."""
        return self.right / self.rows

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the accuracy (Wilson 1927)."""
        return wilson(self.right, self.rows)

    @property
    def baseline(self) -> float:
        """The accuracy of always giving the commonest answer."""
        return float(self.confusion.sum(axis=1).max() / self.rows)

    @property
    def calibration_error(self) -> float:
        """How far the probability of the answer lies from the share that is right, on average over 15 bins (ECE)."""
        sums = np.array([(part.rows, part.right, part.chances) for part in self.reliability])
        return calibration_error(*sums.T)

    @property
    def by_class(self) -> dict[str, ClassScore]:
        """Precision, recall and F1 of each class."""
        answers = {name: index for index, name in enumerate(self.classes)}
        found = {}
        for index, name in enumerate(self.truths):
            column = self.confusion[:, answers[name]] if name in answers else np.zeros(len(self.truths), dtype=np.int64)
            found[name] = ClassScore(*map(whole, (self.confusion[index].sum(), column.sum(), column[index])))
        return found

    @property
    def macro_f1(self) -> float:
        """The mean F1 of all classes that were there or were answered."""
        scores = [score.f1 for score in self.by_class.values() if score.f1 is not None]
        return sum(scores) / len(scores)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "kind": self.kind,
            "label": self.label,
            "rows": self.rows,
            "right": self.right,
            "accuracy": self.accuracy,
            "accuracy_interval": list(self.interval),
            "baseline": self.baseline,
            "log_loss": self.log_loss,
            "brier": self.brier,
            "calibration_error": self.calibration_error,
            "macro_f1": self.macro_f1,
            "classes": {name: score.to_dict() for name, score in self.by_class.items()},
            "confusion": {
                truth: dict(zip(self.classes, self.confusion[index].tolist(), strict=True))
                for index, truth in enumerate(self.truths)
            },
            "reliability": [part.to_dict() for part in self.reliability],
            "suspicious": [row.to_dict() for row in self.suspicious],
            "unknown_labels": list(self.unknown),
            "notes": list(self.notes),
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Evaluation) and self.to_dict() == other.to_dict()

    def __str__(self) -> str:
        """A short table for people; `to_dict` has everything."""
        low, high = self.interval
        parts = [
            f"{self.accuracy:.1%} of {self.rows:,} rows are right ({self.kind})",
            f"accuracy {self.accuracy:.4f} (95% interval {low:.4f} to {high:.4f}; always the commonest answer: "
            f"{self.baseline:.4f})\nlog loss {self.log_loss:.4f}   Brier {self.brier:.4f}   "
            f"calibration error {self.calibration_error:.4f}   macro F1 {self.macro_f1:.4f}",
            aligned([(self.label or "class", "rows", "precision", "recall", "F1"), *self._class_lines()]),
        ]
        if self.suspicious:
            parts.append(f"Rows whose label looks wrong:\n{aligned(self._suspect_lines())}")
        return "\n\n".join([*parts, *([f"note: {visible(note)}" for note in self.notes])])

    def _class_lines(self) -> list[tuple[str, ...]]:
        shown = list(self.by_class.items())[:CLASSES_SHOWN]
        lines = [(name, f"{s.rows:,}", *map(three_digits, (s.precision, s.recall, s.f1))) for name, s in shown]
        more = len(self.truths) - len(shown)
        return [*lines, (f"... {more:,} more", "", "", "", "")] if more else lines

    def _suspect_lines(self) -> list[tuple[str, ...]]:
        header = ("row", "label", "probability", "answer", "probability")
        lines = [
            (str(s.row), s.label, f"{s.label_probability:.4f}", s.answer, f"{s.answer_probability:.4f}")
            for s in self.suspicious[:SUSPECTS_SHOWN]
        ]
        return [header, *lines]


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """Columns as wide as they need be, numbers to the right.

    >>> print(aligned([("fruit", "rows"), ("fig", "7")]))
    fruit  rows
    fig       7
    """
    lines = [[visible(cell) for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    numeric = [all(cell[:1] in "0123456789-" for cell in column[1:]) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        ).rstrip()
        for line in lines
    )
