"""What a model keeps of how well it did when it was fitted: rows left out, and a learning curve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np

from candide.data.grid import quantized_number
from candide.data.metrics import BINS
from candide.model.evaluation import Bin, Evaluation, whole
from candide.model.ranking import ClassRanking


class Point(NamedTuple):
    """One point of a learning curve: how good answers are once so many rows are learned, by so many other rows."""

    rows: int
    judged: int
    accuracy: float
    log_loss: float


@dataclass(frozen=True, eq=False)
class Quality(Evaluation):
    """How good the answers were in `fit`, and how that grew with the number of rows.

    More rows, fewer rows and other models added change the answers, not this: it stays what it was when measured.
    `raw_log_loss` is without calibration. The curve holds all choices fixed (families, smoothing, calibration) and
    judges each point by rows not yet learned; its last point leaves out each row of all.
    """

    raw_log_loss: float = 0.0
    curve: tuple[Point, ...] = ()

    @classmethod
    def of(cls, found: Evaluation, raw_log_loss: float, curve: tuple[Point, ...]) -> Quality:
        """An evaluation to keep: numbers on the grid, and no single rows."""
        parts = {part.name: getattr(found, part.name) for part in fields(Evaluation) if part.name != "suspicious"}
        parts |= {"log_loss": quantized_number(found.log_loss), "brier": quantized_number(found.brier)}
        bins = (replace(part, chances=quantized_number(part.chances)) for part in found.reliability)
        points = tuple(point._replace(log_loss=quantized_number(point.log_loss)) for point in curve)
        parts |= {"reliability": tuple(bins), "raw_log_loss": quantized_number(raw_log_loss), "curve": points}
        return cls(**parts)

    def to_file(self) -> dict[str, Any]:
        """Plain data for a model file: the pairs of label and answer that occurred, and the sums of each bin."""
        truth, answer = np.nonzero(self.confusion)
        pairs = truth, answer, self.confusion[truth, answer]
        return {
            "kind": self.kind,
            "label": self.label,
            "classes": list(self.classes),
            "truths": list(self.truths),
            "pairs": [list(pair) for pair in zip(*map(np.ndarray.tolist, pairs), strict=True)],
            "log_loss": self.log_loss,
            "brier": self.brier,
            "bins": [[part.rows, part.right, part.chances] for part in self.reliability],
            "unknown": list(self.unknown),
            "notes": list(self.notes),
            "raw_log_loss": self.raw_log_loss,
            "curve": [list(point) for point in self.curve],
            "ranking": [one.to_file() for one in self.ranking],
        }

    @classmethod
    def from_file(cls, parts: Mapping[str, Any]) -> Quality:
        """What `to_file` gave; anything else raises."""
        classes, truths = checked_names(parts["classes"]), checked_names(parts["truths"])
        fractions = any(type(rows) is float for _, _, rows in parts["pairs"])
        confusion = np.zeros((len(truths), len(classes)), dtype=np.float64 if fractions else np.int64)
        for truth, answer, rows in parts["pairs"]:
            if min(truth, answer, rows) < 0:
                raise ValueError("a count of rows is negative")
            confusion[truth, answer] = rows
        if len(parts["bins"]) != BINS:
            raise ValueError(f"there are {len(parts['bins'])} bins of probability")
        return cls(
            str(parts["kind"]),
            None if parts["label"] is None else str(parts["label"]),
            classes,
            truths,
            confusion,
            float(parts["log_loss"]),
            float(parts["brier"]),
            tuple(
                Bin(index / BINS, (index + 1) / BINS, whole(rows), whole(right), float(chances))
                for index, (rows, right, chances) in enumerate(parts["bins"])
            ),
            unknown=checked_names(parts["unknown"]),
            notes=checked_names(parts["notes"]),
            raw_log_loss=float(parts["raw_log_loss"]),
            curve=tuple(Point(whole(r), whole(j), float(a), float(loss)) for r, j, a, loss in parts["curve"]),
            ranking=tuple(ClassRanking.from_file(one) for one in parts.get("ranking", ())),
        )


def checked_names(parts: Any) -> tuple[str, ...]:
    """Strings from a list."""
    return tuple(str(part) for part in parts)
