"""The one container of all that was asked for, chosen and learned: faces, files and training pass it on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from candide.data.cached import cached_property
from candide.data.errors import CandideError
from candide.model.column_cells import column_cells
from candide.model.expected import Expected
from candide.model.options import Options
from candide.model.predictor import Predictor, Priors
from candide.model.schema import Schema
from candide.model.summary import Summary
from candide.model.tuning import UNTUNED, Tuning
from candide.statistics.ledger import Ledger

NO_COLUMNS = Schema(())


@dataclass(frozen=True)
class TrainedModel:
    """Everything that was asked for, chosen and learned. Learning more gives a new one; the old stays as it is.

    Equal when options, schema, summary, label, tuning, ledger and expected counts are; provenance (file names, times,
    versions) does not count.
    """

    options: Options
    schema: Schema
    summary: Summary
    label: str | None = None
    tuning: Tuning = UNTUNED
    ledger: Ledger | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict, compare=False)
    expected: Expected | None = None
    """What rows without a label are expected to be: apart from the summary, which stays exact."""

    def __post_init__(self) -> None:
        kept = [self.summary] if self.expected is None else [self.summary, self.expected.summary]
        if any(summary.blocks != self.schema.memory_blocks for summary in kept):
            raise CandideError(
                "The summary describes other columns or families than the schema.",
                advice="Keep the two that belong together.",
            )

    @classmethod
    def empty(cls, options: Options, schema: Schema = NO_COLUMNS, label: str | None = None) -> TrainedModel:
        """Choices, and not a row learned."""
        ledger = Ledger.empty() if options.ledger else None
        return cls(options, schema, Summary.empty(schema.memory_blocks), label, ledger=ledger)

    def with_priors(self, priors: Priors) -> TrainedModel:
        """The same for a world with other proportions; factors on the learned ones say nothing of that world."""
        self.predictor.refuse_other_priors()
        return replace(self, options=replace(self.options, priors=priors, class_weight=None))

    @cached_property
    def reading(self) -> Summary:
        """What the chosen families make of the summary, expected counts beside it: each its own statistic."""
        return self.schema.read(self.summary if self.expected is None else self.expected.beside(self.summary))

    @cached_property
    def predictor(self) -> Predictor:
        """The parameters, made when first asked for."""
        return self.predictor_for(self.options.priors, self.options.class_weight)

    def predictor_for(self, priors: Priors, class_weight: Priors | None) -> Predictor:
        """The parameters with other priors."""
        calibration, kinds = self.tuning.calibration_of(self.summary.rows), self.schema.kinds
        cells, layer = column_cells(self.summary), self.tuning.layer
        return Predictor.fit(self.reading, priors, class_weight, calibration, kinds, cells, layer)
