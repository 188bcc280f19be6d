"""What a model says about some rows, as columns: the label, its probability, the decision, and every class's chance."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from candide.api.verbs.digits import to_digits
from candide.api.verbs.writing import column_as_text
from candide.data.arrays import FloatArray, IntArray
from candide.data.batch import Batch
from candide.data.cached import cached_property
from candide.data.values import shown
from candide.model.decision import UNFAMILIAR, UNSURE, decided
from candide.model.predictor import Predictor
from candide.model.trained_model import TrainedModel


@dataclass(frozen=True)
class Answers:
    """The answers to some rows. `decisions` are places among the classes, then "unsure" and "unfamiliar".

    A decision that is a label is that label: in JSON in its own type, elsewhere, where a column has one type, as text.
    """

    model: Predictor
    labels: IntArray
    decisions: IntArray
    posterior: FloatArray
    with_chances: bool

    @classmethod
    def of(cls, trained: TrainedModel, batch: Batch, thresholds: tuple[float, float], with_chances: bool) -> Answers:
        """Ask a model about rows."""
        model = trained.predictor
        best, posterior, _ = made = decided(model, trained.tuning.novelty, batch)
        states, classes = made.states(*thresholds), len(model.classes)
        others = np.where(states == UNSURE, classes, classes + 1)
        return cls(model, best, np.where(states == "", best, others), posterior, with_chances)

    @classmethod
    def none(cls, trained: TrainedModel, with_chances: bool) -> Answers:
        """The answers to no rows."""
        nothing = np.zeros(0, dtype=np.int64)
        return cls(trained.predictor, nothing, nothing, np.zeros((0, len(trained.predictor.classes))), with_chances)

    def counted(self) -> dict[str, int]:
        """How often each decision was made."""
        names = [*map(shown, self.model.classes), UNSURE, UNFAMILIAR]
        counts = np.bincount(self.decisions, minlength=len(names)).tolist()
        return {name: count for name, count in zip(names, counts, strict=True) if count}

    def columns(self) -> list[Any]:
        """As Arrow columns."""
        decisions = self._texts.take(pa.array(self.decisions))
        return [self._values.take(pa.array(self.labels)), *self._chances(decisions)]

    def texts(self, digits: int | None = None) -> list[Any]:
        """As text, probabilities with so many digits."""
        label, decision = self._texts.take(pa.array(self.labels)), self._texts.take(pa.array(self.decisions))
        return [label, *map(column_as_text, self._chances(decision, digits))]

    def literals(self) -> list[Any]:
        """As JSON writes them."""
        values = [value for _, value in self.model.classes]
        written = [json.dumps(value, ensure_ascii=False, default=str) for value in (*values, UNSURE, UNFAMILIAR)]
        words = pa.array(written, pa.large_string())
        label, decision = words.take(pa.array(self.labels)), words.take(pa.array(self.decisions))
        return [label, *map(column_as_text, self._chances(decision))]

    @cached_property
    def _values(self) -> Any:
        return pa.array([value for _, value in self.model.classes])

    @cached_property
    def _texts(self) -> Any:
        """Every decision as text."""
        return pa.concat_arrays([column_as_text(self._values), pa.array([UNSURE, UNFAMILIAR], pa.large_string())])

    def _chances(self, decision: Any, digits: int | None = None) -> list[Any]:
        """The probability of the label, the decision, and the probability of each class where asked for."""
        chance = self.posterior[np.arange(len(self.labels)), self.labels]
        classes = self.posterior.T if self.with_chances else ()
        return [
            pa.array(to_digits(chance, digits)),
            decision,
            *(pa.array(to_digits(of_class, digits)) for of_class in classes),
        ]
