"""All that a report tells, gathered before anything is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from candide.data.cached import cached_property
from candide.data.values import shown
from candide.model.trained_model import TrainedModel
from candide.show.pictures.subject import Subject

COUNTING = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


@dataclass(frozen=True)
class Findings:
    """A model, where it came from, and how good its answers are.

    `tested` is what was found on rows given for the report; without it what the model keeps of its own fit is told.
    """

    trained: TrainedModel
    provenance: Mapping[str, Any] = field(default_factory=dict)
    tested: Any = None
    name: str = ""
    notes: Sequence[str] = ()
    of: str | None = None
    against: str | None = None

    @cached_property
    def subject(self) -> Subject:
        """The model as pictures see it."""
        return Subject.of(self.trained.predictor, self.trained.label)

    @property
    def quality(self) -> Any:
        """What the model keeps of how good it was when it was fitted; nothing where it was not measured."""
        return self.trained.tuning.quality

    @property
    def measured(self) -> Any:
        """What is told about answers: on the rows given, or by leaving out."""
        return self.tested if self.tested is not None else self.quality

    @property
    def label(self) -> str:
        """What is predicted."""
        return self.trained.label or "label"

    @property
    def classes(self) -> list[tuple[str, int, float]]:
        """Each class with its rows and its prior, the commonest first."""
        summary = self.trained.summary
        prior = np.exp(self.trained.predictor.log_prior).tolist()
        found = [
            (shown(key), int(count), share)
            for key, count, share in zip(summary.classes, summary.counts.tolist(), prior, strict=True)
        ]
        return sorted(found, key=lambda one: -one[1])


def count_in_words(count: int, one: str, many: str = "") -> str:
    """How many there are of something.

    >>> count_in_words(1, "class", "classes"), count_in_words(2048, "row")
    ('one class', '2,048 rows')
    """
    number = COUNTING[count] if count < len(COUNTING) else f"{count:,}"
    return f"{number} {one if count == 1 else many or one + 's'}"
