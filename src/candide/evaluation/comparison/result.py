"""What came out of a comparison: a table, learning curves, and where they cross."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from candide.data.arrays import FloatArray
from candide.data.visible import visible
from candide.evaluation.comparison.crossing import Duel, mean_and_error
from candide.evaluation.comparison.methods import Method
from candide.evaluation.comparison.scoring import DrawScore, joint_calibration_error
from candide.model.evaluation import aligned


@dataclass(frozen=True)
class CurvePoint:
    """How good a method is after so many rows: means over repeats, with their standard errors."""

    rows: int
    repeats: int
    accuracy: float
    accuracy_error: float
    log_loss: float | None
    log_loss_error: float | None

    @classmethod
    def of(cls, rows: int, scores: Sequence[DrawScore], probable: bool) -> CurvePoint:
        """From all draws of one size."""
        accuracy = mean_and_error(accuracies(scores))
        loss = mean_and_error(np.array([score.log_loss for score in scores])) if probable else (None, None)
        return cls(rows, len(scores), *accuracy, *loss)


@dataclass(frozen=True)
class Compared:
    """One method: what it is, how good with all rows, how long it took on average, and its learning curve.

    The seconds are from rows to model and from rows to answers, in the mean over folds, with all rows.
    """

    name: str
    about: str
    calibration_error: float | None
    curve: tuple[CurvePoint, ...]
    fit_seconds: float = field(compare=False)
    predict_seconds: float = field(compare=False)

    @classmethod
    def of(cls, method: Method, by_size: dict[int, list[DrawScore]]) -> Compared:
        """From the scores of every draw."""
        last = by_size[max(by_size)]
        return cls(
            method.name,
            method.about,
            joint_calibration_error(last) if method.probable else None,
            tuple(CurvePoint.of(rows, scores, method.probable) for rows, scores in by_size.items()),
            float(np.mean([score.fit_seconds for score in last])),
            float(np.mean([score.predict_seconds for score in last])),
        )

    @property
    def best(self) -> CurvePoint:
        """The end of the curve, where all rows but those of a fold were learned."""
        return self.curve[-1]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "name": self.name,
            "about": self.about,
            "accuracy": self.best.accuracy,
            "accuracy_error": self.best.accuracy_error,
            "log_loss": self.best.log_loss,
            "calibration_error": self.calibration_error,
            "fit_seconds": self.fit_seconds,
            "predict_seconds": self.predict_seconds,
            "curve": [vars(point) for point in self.curve],
        }


@dataclass(frozen=True)
class Comparison:
    """Methods side by side on the same folds: equal rows and an equal seed give an equal comparison."""

    label: str | None
    rows: int
    classes: tuple[str, ...]
    folds: int
    seed: int
    methods: tuple[Compared, ...]
    duels: tuple[Duel, ...]
    notes: tuple[str, ...] = ()

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of rows at which the curves were measured."""
        return tuple(point.rows for point in self.methods[0].curve)

    def __getitem__(self, name: str) -> Compared:
        """A method by its name."""
        return {method.name: method for method in self.methods}[name]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "label": self.label,
            "rows": self.rows,
            "classes": list(self.classes),
            "folds": self.folds,
            "seed": self.seed,
            "sizes": list(self.sizes),
            "methods": [method.to_dict() for method in self.methods],
            "crossings": [duel.to_dict() for duel in self.duels],
            "notes": list(self.notes),
        }

    def table(self) -> list[tuple[str, ...]]:
        """Every method with all rows: a header, then a line each."""
        header = ("method", "accuracy", "log loss", "calibration", "fit s", "predict s")
        return [header, *map(method_line, self.methods)]

    def curves(self) -> list[tuple[str, ...]]:
        """The accuracy of every method at every size, in percent, with its standard error below."""
        lines = [("rows", *(f"{rows:,}" for rows in self.sizes))]
        for method in self.methods:
            lines.append((method.name, *(f"{100 * point.accuracy:.1f}" for point in method.curve)))
            lines.append(("", *(f"±{100 * point.accuracy_error:.1f}" for point in method.curve)))
        return lines

    def __str__(self) -> str:
        """Tables and sentences for people; `to_dict` has everything."""
        parts = [
            f"{len(self.methods)} methods on {self.rows:,} rows in {self.folds} folds",
            aligned(self.table()),
            f"Accuracy after so many rows, in percent:\n{aligned(self.curves())}",
            "\n".join(visible(duel.sentence) for duel in self.duels),
        ]
        return "\n\n".join([*parts, *(f"note: {visible(note)}" for note in self.notes)])


def method_line(method: Compared) -> tuple[str, ...]:
    """A method's line in the table; a dash where it gives no probabilities."""
    loss, error = method.best.log_loss, method.calibration_error
    return (
        method.name,
        f"{100 * method.best.accuracy:.1f} ± {100 * method.best.accuracy_error:.1f}%",
        "-" if loss is None else f"{loss:.3f}",
        "-" if error is None else f"{error:.3f}",
        f"{method.fit_seconds:.3f}",
        f"{method.predict_seconds:.3f}",
    )


def accuracies(scores: Sequence[DrawScore]) -> FloatArray:
    """The accuracy in every draw."""
    return np.array([score.accuracy for score in scores])
