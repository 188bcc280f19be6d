"""What came out: counts and sums over rows with known labels, and all that follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from candide.data.arrays import AnyArray
from candide.data.metrics import calibration_error, calibration_error_by_chance, wilson
from candide.data.visible import visible
from candide.data.written_numbers import three_digits
from candide.model.ranking import ClassRanking

ROWS_GIVEN = "rows given"
"""The kind of an evaluation by rows of which nobody says whether the model has learned them."""

CROSS_FITTED = "cross-fitted"
"""Rows judged by choices and a calibration that were made without their fold."""

LEARNED_AND_JUDGED = 100
"""Rows that judge a model made from the others say as much as fewer that had no part in it at all: what they judge
differs from fold to fold, the more so the fewer rows. Measured: `tests/test_honesty.py`."""

CLASSES_SHOWN = 12
SUSPECTS_SHOWN = 5
UNEQUAL = 2
"""Classes are unequal where one has more than so many times the rows of another."""


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

    `kind` is "cross-fitted", "leave-one-out", "rows given" or "10-fold". `confusion[truth, answer]` counts rows; a
    label of which nothing could be learned is a truth without an answer of its own. `log_loss` is the mean of
    -log P(label), `brier` the mean squared distance of the probabilities from the truth; with two classes it is that of
    one of them, as is usual. `suspicious` lists the rows whose label looks wrong, the least probable first. `ranking`
    tells how well the rows of each class are ranked above all others; of two classes, the rows of the second.
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
    ranking: tuple[ClassRanking, ...] = ()

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
        """The 95 % interval of the accuracy (Wilson 1927); wider where few rows also made what they judge."""
        alone = self.rows / (self.rows + LEARNED_AND_JUDGED) if self.kind == CROSS_FITTED else 1.0
        return wilson(self.right * alone, self.rows * alone)

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
    def calibration_error_by_chance(self) -> float:
        """What the calibration error would stay below, 95 times in 100, did all probabilities mean what they say."""
        sums = np.array([(part.rows, part.chances) for part in self.reliability], dtype=np.float64)
        return calibration_error_by_chance(*sums.T)

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

    @property
    def balanced_accuracy(self) -> float:
        """The mean recall of all classes that were there: each counts as much, however few its rows."""
        recalls = [score.recall for score in self.by_class.values() if score.recall is not None]
        return sum(recalls) / len(recalls)

    @property
    def roc_area(self) -> float | None:
        """The area under the receiver operating curve: of two classes, or the mean of each against all others."""
        return mean_or_none([one.roc_area for one in self.ranking])

    @property
    def average_precision(self) -> float | None:
        """The average precision of the second of two classes, or the mean of all classes."""
        return mean_or_none([one.average_precision for one in self.ranking])

    @property
    def unequal(self) -> bool:
        """Whether some class has many more rows than another, so that accuracy says little of the smaller one."""
        rows = [score.rows for score in self.by_class.values() if score.rows]
        return max(rows) > UNEQUAL * min(rows)

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
            "calibration_error_by_chance": self.calibration_error_by_chance,
            "macro_f1": self.macro_f1,
            "balanced_accuracy": self.balanced_accuracy,
            "roc_area": self.roc_area,
            "average_precision": self.average_precision,
            "classes": {name: score.to_dict() for name, score in self.by_class.items()},
            "confusion": {
                truth: dict(zip(self.classes, self.confusion[index].tolist(), strict=True))
                for index, truth in enumerate(self.truths)
            },
            "reliability": [part.to_dict() for part in self.reliability],
            "ranking": {one.name: one.to_dict() for one in self.ranking},
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
            f"calibration error {self.calibration_error:.4f} (by chance up to {self.calibration_error_by_chance:.4f})\n"
            f"balanced accuracy {self.balanced_accuracy:.4f}   macro F1 {self.macro_f1:.4f}   "
            f"ROC area {three_digits(self.roc_area)}   average precision {three_digits(self.average_precision)}",
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


def mean_or_none(numbers: Sequence[float]) -> float | None:
    """The mean, where there is one."""
    return sum(numbers) / len(numbers) if numbers else None


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
