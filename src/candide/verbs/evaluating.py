"""evaluate: how good the answers are on rows whose labels are known."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np

from candide.arrays import AnyArray, FloatArray
from candide.batch import Batch
from candide.engines.local import in_parallel
from candide.model import Model, log_normalised
from candide.values import Key, shown
from candide.verbs.fitted import opened
from candide.verbs.reading import Reading, expected_kinds, labelled
from candide.verbs.watching import Watch, unwatched

UNIT = 2.0**40
LEAST_LOG = -52 * math.log(2)
"""A probability counts as at least 2^-52 in the log loss, so that one impossible row does not hide all others."""

NINETY_FIVE = 1.959963984540054


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


@dataclass(frozen=True)
class Evaluation:
    """Counts and sums over rows with known labels, and what follows from them.

    `confusion[truth][answer]` counts rows. A label the model never learned is a truth without an answer of its own.
    """

    label: str | None
    classes: tuple[str, ...]
    truths: tuple[str, ...]
    confusion: AnyArray
    log_loss: float
    brier: float
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def rows(self) -> int:
        return int(self.confusion.sum())

    @property
    def right(self) -> int:
        answers = {name: place for place, name in enumerate(self.classes)}
        return sum(int(self.confusion[t, answers[name]]) for t, name in enumerate(self.truths) if name in answers)

    @property
    def accuracy(self) -> float:
        return self.right / self.rows

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the accuracy (Wilson 1927)."""
        return wilson(self.right, self.rows)

    @property
    def baseline(self) -> float:
        """The accuracy of always giving the commonest answer."""
        return int(self.confusion.sum(axis=1).max()) / self.rows

    @property
    def by_class(self) -> dict[str, ClassScore]:
        """Precision, recall and F1 of each class."""
        answers = {name: place for place, name in enumerate(self.classes)}
        found = {}
        for place, name in enumerate(self.truths):
            column = self.confusion[:, answers[name]] if name in answers else np.zeros(len(self.truths), dtype=np.int64)
            found[name] = ClassScore(int(self.confusion[place].sum()), int(column.sum()), int(column[place]))
        return found

    @property
    def macro_f1(self) -> float:
        """The mean F1 of all classes that were there or were answered."""
        scores = [score.f1 for score in self.by_class.values() if score.f1 is not None]
        return sum(scores) / len(scores)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "label": self.label,
            "rows": self.rows,
            "right": self.right,
            "accuracy": self.accuracy,
            "accuracy_interval": list(self.interval),
            "baseline": self.baseline,
            "log_loss": self.log_loss,
            "brier": self.brier,
            "macro_f1": self.macro_f1,
            "classes": {
                name: {"rows": s.rows, "answered": s.answered, "right": s.right, "precision": s.precision,
                       "recall": s.recall, "f1": s.f1}
                for name, s in self.by_class.items()
            },
            "confusion": {
                truth: dict(zip(self.classes, self.confusion[place].tolist(), strict=True))
                for place, truth in enumerate(self.truths)
            },
            "unknown_labels": list(self.unknown),
            "notes": list(self.notes),
        }  # fmt: skip


def evaluate(model: Any, data: Any, *, watch: Watch = unwatched, **reading: Unpack[Reading]) -> Evaluation:
    """Compare answers with the labels of rows the model has not learned."""
    fitted = opened(model)
    source = labelled(data, fitted.label, expected_kinds(fitted.learned), reading)
    scoring = Scoring(fitted.learned.model)
    with watch("Evaluating", source.size) as report:
        for part in in_parallel(scoring, source.batches(report)):
            scoring.add(part)
    return scoring.evaluation(fitted.label)


@dataclass(frozen=True)
class Part:
    """What one batch adds: counts by (truth, answer), and sums in whole units so that their order does not matter."""

    pairs: dict[tuple[Key, int], int]
    loss: int
    brier: int


class Scoring:
    """Adds up how the answers to batches compare with their labels."""

    def __init__(self, model: Model):
        self.model = model
        self.pairs: dict[tuple[Key, int], int] = {}
        self.loss = self.brier = 0

    def __call__(self, batch: Batch) -> Part:
        assert batch.labels is not None
        model, labels = self.model, batch.labels
        log_posterior = log_normalised(model.joint(batch), model.log_prior)
        best = log_posterior.argmax(axis=1)
        places = labels.renumbered({key: place for place, key in enumerate(model.classes)})
        codes, counts = np.unique(labels.codes * len(model.classes) + best, return_counts=True)
        pairs = {
            (labels.keys[code // len(model.classes)], code % len(model.classes)): count
            for code, count in zip(codes.tolist(), counts.tolist(), strict=True)
        }
        known = places >= 0
        logs = np.where(known, log_posterior[np.arange(len(places)), places], LEAST_LOG)
        return Part(pairs, units(-np.maximum(logs, LEAST_LOG)), units(squares(np.exp(log_posterior), places)))

    def add(self, part: Part) -> None:
        """Take in the part of one batch."""
        for pair, count in part.pairs.items():
            self.pairs[pair] = self.pairs.get(pair, 0) + count
        self.loss += part.loss
        self.brier += part.brier

    def evaluation(self, label: str | None) -> Evaluation:
        """All parts together."""
        classes = self.model.classes
        truths = sorted({*classes, *(truth for truth, _ in self.pairs)})
        confusion = np.zeros((len(truths), len(classes)), dtype=np.int64)
        for (truth, answer), count in self.pairs.items():
            confusion[truths.index(truth), answer] += count
        rows = int(confusion.sum())
        half = 2 if len(truths) <= 2 else 1
        unknown = tuple(shown(key) for key in truths if key not in classes)
        return Evaluation(
            label,
            tuple(shown(key) for key in classes),
            tuple(shown(key) for key in truths),
            confusion,
            self.loss / UNIT / rows,
            self.brier / UNIT / rows / half,
            unknown,
            tuple(f"The model never learned class '{name}', so its rows count as wrong." for name in unknown),
        )


def squares(posterior: FloatArray, places: AnyArray) -> FloatArray:
    """The squared distance of each posterior from the truth (Brier 1950); unknown truths are one away from all."""
    truth = np.where(places >= 0, posterior[np.arange(len(places)), places], 0.0)
    return np.asarray((posterior**2).sum(axis=1) - 2 * truth + 1)


def units(values: FloatArray) -> int:
    """The sum in units of 2^-40: whole numbers add up alike in any order."""
    return int(np.rint(values * UNIT).astype(np.int64).sum())


def wilson(right: int, rows: int) -> tuple[float, float]:
    """The interval that holds the true share 95 times in 100 (Wilson 1927).

    >>> [round(end, 3) for end in wilson(9, 10)]
    [0.596, 0.982]
    """
    share, z2 = right / rows, NINETY_FIVE**2
    middle = (share + z2 / (2 * rows)) / (1 + z2 / rows)
    half = NINETY_FIVE * math.sqrt(share * (1 - share) / rows + z2 / (4 * rows**2)) / (1 + z2 / rows)
    return max(0.0, middle - half), min(1.0, middle + half)
