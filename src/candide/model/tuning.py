"""What was fitted on leave-one-out scores beside the summary: calibration, novelty, and how well all of it did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from candide.model.calibration import Calibration
from candide.model.linear_layer import LinearLayer
from candide.model.novelty import LEVELS, SCORE_LEVELS, Novelty
from candide.model.quality import Quality

LARGEST = {"bias": 1e6, "weight": 1e6, "power": 16.0}
"""What calibration may add or multiply by: beyond it products would overflow."""


@dataclass(frozen=True)
class Tuning:
    """Choices that more rows do not change: learning, forgetting and merging keep them, `fit` makes them anew."""

    calibration: Calibration | None = None
    novelty: Novelty | None = None
    quality: Quality | None = field(default=None, compare=False)
    """How well the fit did: like provenance, a record of what happened, outside equality."""
    rows: float = 0
    """How many rows there were when all this was fitted: it may be older than the counts."""

    layer: LinearLayer | None = None
    """A linear layer, fitted on the calibrated scores; its weights are arrays of their own in a file."""

    @property
    def calibration_alone(self) -> Calibration | None:
        """The calibration where no layer speaks: beside one, less of what naive Bayes says may count."""
        if self.calibration is None or self.layer is None or self.layer.table is None:
            return self.calibration
        return self.calibration.scaled(1 / self.layer.table.beside)

    def calibration_of(self, rows: float) -> Calibration | None:
        """The calibration, unless it is only what was usual of other rows: it was measured on none."""
        is_measured = self.quality is not None or self.novelty is not None or not self.rows
        return self.calibration if is_measured or self.rows == rows else None

    def to_dict(self) -> dict[str, Any]:
        """Plain mappings and numbers, for a model file."""
        parts: dict[str, Any] = {} if self.quality is None else {"quality": self.quality.to_file()}
        if self.calibration is not None:
            parts["calibration"] = {name: dict(part) for name, part in vars(self.calibration).items()}
        if self.novelty is not None:
            parts["familiarity"] = {name: list(part) for name, part in self.novelty.quantiles.items()}
            if self.novelty.families:
                parts["familiar families"] = dict(self.novelty.families)
            if self.novelty.scores:
                parts["familiar rows"] = {"rows": self.novelty.rows, "scores": list(self.novelty.scores)}
        return {**parts, "rows": self.rows} if self.rows else parts

    @classmethod
    def from_dict(cls, parts: Mapping[str, Any]) -> Tuning:
        """What `to_dict` gave."""
        calibration, quality = parts.get("calibration"), parts.get("quality")
        return cls(
            None if calibration is None else Calibration(**{k: numbers(v, LARGEST[k]) for k, v in calibration.items()}),
            novelty_from(parts) if "familiarity" in parts else None,
            None if quality is None else Quality.from_file(quality),
            parts.get("rows", 0),
        )


def novelty_from(parts: Mapping[str, Any]) -> Novelty:
    """What is kept of how familiar rows were; files of earlier releases know nothing of whole rows."""
    quantiles = {key: tuple(map(float, part)) for key, part in parts["familiarity"].items()}
    families = {str(key): str(name) for key, name in parts.get("familiar families", {}).items()}
    whole = parts.get("familiar rows", {"rows": 0, "scores": ()})
    scores = tuple(map(float, whole["scores"]))
    if len(scores) not in (0, len(SCORE_LEVELS)) or any(len(part) != len(LEVELS) for part in quantiles.values()):
        raise ValueError("how familiar rows were is told by another number of quantiles")
    return Novelty(quantiles, families, scores, int(whole["rows"]))


def numbers(part: Mapping[Any, Any], largest: float) -> dict[Any, float]:
    """The same mapping, its values as floats; larger ones are no calibration."""
    if not all(abs(float(value)) <= largest for value in part.values()):
        raise ValueError(f"a number of the calibration is beyond {largest:g}")
    return {key: float(value) for key, value in part.items()}


UNTUNED = Tuning()
